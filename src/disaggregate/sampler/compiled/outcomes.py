"""Compiled twin of ``model.count_vectors``: the likelihood of reports on several outcomes, over all groups."""

import math
from typing import NamedTuple

import numpy as np

from disaggregate.model.outcomes import UNIT
from disaggregate.model.reports import EXACT, NORMAL, SAMPLE
from disaggregate.sampler.compiled.compile import kernel, part

_LOG_TWO_PI = math.log(2.0 * math.pi)

# All nodes lead to counts that the evidence allows. Where one of them has so much less probability than the
# likeliest of its layer, all is worked out again by logarithms.
_LEAST = 1e-250


class Own(NamedTuple):
    """One group's rows and report; calls with all of the reports cost more than what most functions do."""

    counts: np.ndarray
    is_exact: bool
    category: np.ndarray
    free: int  # categories but one
    constant: float
    reported: np.ndarray
    noise: np.ndarray
    layers: np.ndarray
    successor: np.ndarray
    evidence: np.ndarray


@kernel
def replica_gradients(reports, contrasts, scores, by_group, by_score):
    """Log likelihood of each group's report, shape (n_replicas, n_groups), and its gradient in the scores g.

    That has the shape of the scores, (n_replicas, n_contrasts, n_rows).
    """
    workspace = make_workspace(reports)
    for r in range(len(scores)):
        for j in range(len(reports.law)):
            first, last = reports.offsets[j], reports.offsets[j + 1]
            by_group[r, j] = 0.0
            if reports.law[j] != EXACT and reports.law[j] != NORMAL:
                for a in range(scores.shape[1]):
                    for i in range(first, last):
                        by_score[r, a, i] = 0.0
                continue
            p, expected = workspace[0], workspace[1]
            _probabilities(contrasts, scores[r], first, last, p)
            by_group[r, j] = expect(own_report(reports, j), p, expected, workspace)
            for i in range(last - first):
                people = reports.counts[first + i]
                for a in range(scores.shape[1]):
                    total = 0.0
                    for k in range(p.shape[1]):
                        total += contrasts[a, k] * (expected[i, k] - people * p[i, k])
                    by_score[r, a, first + i] = UNIT * total


@kernel
def offset_slopes(reports, contrasts, scores, wanted, value, slope, information):
    """Log likelihood of each wanted group's report, its gradient in the group's offsets, and its information.

    A report informs about the expected counts mu, with a weight that is the inverse of the covariance of counts
    and report: with J the slopes of mu in the offsets, the information is J' covariance^-1 J.
    """
    workspace = make_workspace(reports)
    p, expected, q, covariance, inverse = workspace[0], workspace[1], workspace[2], workspace[6], workspace[7]
    n_contrasts, n_outcomes = contrasts.shape
    jacobian = np.empty((n_outcomes, n_contrasts))
    for j in range(len(reports.law)):
        if not wanted[j]:
            continue
        value[j] = 0.0
        slope[j, :] = 0.0
        information[j, :, :] = 0.0
        if reports.law[j] != EXACT and reports.law[j] != NORMAL:
            continue
        first, last, free = reports.offsets[j], reports.offsets[j + 1], reports.n_categories[j] - 1
        _probabilities(contrasts, scores, first, last, p)
        value[j] = expect(own_report(reports, j), p, expected, workspace)
        jacobian[:, :] = 0.0
        for c in range(free):
            for d in range(free):
                covariance[c, d] = reports.noise[j, c, d]
        for i in range(last - first):
            people = float(reports.counts[first + i])
            for a in range(n_contrasts):
                mean = 0.0
                for k in range(n_outcomes):
                    mean += contrasts[a, k] * p[i, k]
                    slope[j, a] += UNIT * contrasts[a, k] * (expected[i, k] - people * p[i, k])
                for k in range(n_outcomes):
                    jacobian[reports.category[j, k], a] += UNIT * people * p[i, k] * (contrasts[a, k] - mean)
            for c in range(free):
                covariance[c, c] += people * q[i, c]
                for d in range(free):
                    covariance[c, d] -= people * q[i, c] * q[i, d]
        invert(covariance, inverse, free)
        for a in range(n_contrasts):
            for b in range(n_contrasts):
                for c in range(free):
                    for d in range(free):
                        information[j, a, b] += jacobian[c, a] * inverse[c, d] * jacobian[d, b]


@kernel
def group_log_likelihoods(reports, contrasts, scores, by_group):
    """Log likelihood of each group's report, shape (n_replicas, n_groups)."""
    workspace = make_workspace(reports)
    for r in range(len(scores)):
        for j in range(len(reports.law)):
            by_group[r, j] = 0.0
            if reports.law[j] == EXACT or reports.law[j] == NORMAL:
                _probabilities(contrasts, scores[r], reports.offsets[j], reports.offsets[j + 1], workspace[0])
                by_group[r, j] = expect(own_report(reports, j), workspace[0], workspace[1], workspace)


@kernel
def replica_expectations(reports, contrasts, scores, label_sums, share_tallies):
    """Add the expected labels, and the probabilities of each group's shares, given scores and reports."""
    workspace = make_workspace(reports)
    p, expected = workspace[0], workspace[1]
    n_outcomes = p.shape[1]
    for r in range(len(scores)):
        for j in range(len(reports.law)):
            first, last = reports.offsets[j], reports.offsets[j + 1]
            _probabilities(contrasts, scores[r], first, last, p)
            if reports.law[j] == EXACT or reports.law[j] == NORMAL:
                expect(own_report(reports, j), p, expected, workspace)
            for i in range(last - first):
                people = reports.counts[first + i]
                total = 0.0
                for k in range(n_outcomes):
                    if reports.law[j] != EXACT and reports.law[j] != NORMAL:
                        expected[i, k] = people * p[i, k]
                    expected[i, k] = min(max(expected[i, k], 0.0), float(people))
                    total += expected[i, k]
                for k in range(n_outcomes):
                    expected[i, k] *= people / total if total > 0.0 else 1.0
                    label_sums[r, (first + i) * n_outcomes + k] += expected[i, k] / people
            if reports.law[j] == SAMPLE:
                continue  # its share is that of a population, which is none of these people's
            for k in range(n_outcomes):
                _tally(reports, j, k, p, expected, workspace, share_tallies[r])


@part
def make_workspace(reports):
    """Make work space: p and expected labels of a group's rows, by outcome and by category; and for the laws."""
    n_rows = 1
    for j in range(len(reports.law)):
        n_rows = max(n_rows, reports.offsets[j + 1] - reports.offsets[j])
    n_outcomes = reports.category.shape[1]
    return (
        np.empty((n_rows, n_outcomes)),
        np.empty((n_rows, n_outcomes)),
        np.empty((n_rows, n_outcomes)),
        np.empty((n_rows, n_outcomes)),
        np.empty(reports.capacity[1]),  # ahead
        np.empty(reports.capacity[1]),  # visited
        np.empty((n_outcomes, n_outcomes)),
        np.empty((n_outcomes, n_outcomes)),
        np.empty((3, n_outcomes)),
        np.empty(reports.capacity[0]),  # scales of layers
        np.empty(reports.capacity[0], dtype=np.int64),  # row of each person
    )


@part
def _probabilities(contrasts, scores, first, last, p):
    """Softmax of the logits UNIT H' g of some rows; none is exactly zero."""
    n_outcomes = contrasts.shape[1]
    for i in range(last - first):
        largest = -np.inf
        for k in range(n_outcomes):
            logit = 0.0
            for a in range(len(scores)):
                logit += contrasts[a, k] * scores[a, first + i]
            p[i, k] = UNIT * logit
            if not p[i, k] <= largest:
                largest = p[i, k]
        total = 0.0
        for k in range(n_outcomes):
            p[i, k] = math.exp(p[i, k] - largest) + 1e-300
            total += p[i, k]
        for k in range(n_outcomes):
            p[i, k] /= total


@part
def own_report(reports, j):
    """One group's rows and report."""
    first, last, width = reports.offsets[j], reports.offsets[j + 1], reports.n_categories[j]
    is_exact = reports.law[j] == EXACT
    layers, successor = reports.layers[:0], reports.successor[:0, :width]
    if is_exact:
        lattice = reports.lattice[j]
        layers = reports.layers[reports.layer_starts[lattice] : reports.layer_starts[lattice + 1]]
        successor = reports.successor[layers[0] : layers[len(layers) - 1], :width]
    return Own(
        reports.counts[first:last],
        is_exact,
        reports.category[j],
        width - 1,
        (width - 1) * (reports.log_unit[j] - 0.5 * _LOG_TWO_PI),
        reports.reported[j],
        reports.noise[j],
        layers,
        successor,
        reports.log_likelihood[reports.evidence_starts[j] : reports.evidence_starts[j + 1]],
    )


@part
def expect(own, p, expected, workspace):
    """Log likelihood of one group's report; fill the expected number of people of each row with each outcome.

    Under the normal law the inverse of the covariance of counts and report stays in the work space.
    """
    q, by_category, category = workspace[2], workspace[3], own.category
    n_rows, n_outcomes = len(own.counts), p.shape[1]
    for i in range(n_rows):
        for c in range(own.free + 1):
            q[i, c] = 0.0
        for k in range(n_outcomes):
            q[i, category[k]] += p[i, k]
    if own.is_exact:
        value = _exact(own.layers, own.successor, own.evidence, own.counts, q, by_category, workspace)
    else:
        value = own.constant + normal_likelihood(
            own.counts,
            own.reported,
            own.noise,
            own.free,
            q,
            by_category,
            workspace[6],
            workspace[7],
            workspace[8],
        )
    for i in range(n_rows):
        for k in range(n_outcomes):
            c = category[k]
            expected[i, k] = by_category[i, c] * p[i, k] / q[i, c]
    return value


@part
def _exact(layers, successor, evidence, counts, q, expected, workspace):
    """Sum labels out along the lattice; layers are scaled to a largest probability of one."""
    ahead, visited, scales, row_of = workspace[4], workspace[5], workspace[9], workspace[10]
    n, root, width = len(layers) - 2, layers[0], successor.shape[1]
    person = 0
    for row in range(len(counts)):
        for c in range(width):
            expected[row, c] = 0.0
        for _ in range(counts[row]):
            row_of[person] = row
            person += 1
    largest = -np.inf
    for s in range(len(evidence)):
        largest = max(largest, evidence[s])
    last = layers[n] - root
    for s in range(len(evidence)):
        ahead[last + s] = math.exp(evidence[s] - largest)
    value = largest
    for back in range(n):
        i = n - 1 - back
        chance = q[row_of[i]]
        largest, smallest = 0.0, np.inf
        for node in range(layers[i] - root, layers[i + 1] - root):
            total = 0.0
            for c in range(width):
                after = successor[node, c]
                if after >= 0:
                    total += chance[c] * ahead[after]
            ahead[node] = total
            largest = max(largest, total)
            smallest = min(smallest, total)
        if not (largest > _LEAST and smallest > _LEAST * largest):
            return _exact_by_logarithms(layers, successor, evidence, q, expected, workspace)
        inverse = 1.0 / largest
        for node in range(layers[i] - root, layers[i + 1] - root):
            ahead[node] *= inverse
        scales[i] = largest
        value += math.log(largest)
    for node in range(layers[n + 1] - root):
        visited[node] = 0.0
    visited[0] = 1.0
    for i in range(n):
        row = row_of[i]
        chance = q[row]
        for node in range(layers[i] - root, layers[i + 1] - root):
            here = visited[node] / (ahead[node] * scales[i])
            for c in range(width):
                after = successor[node, c]
                if after >= 0:
                    step = here * chance[c] * ahead[after]
                    visited[after] += step
                    expected[row, c] += step
    return value


@part
def _exact_by_logarithms(layers, successor, evidence, q, expected, workspace):
    """Do the same where probabilities are too small for numbers."""
    ahead, visited, row_of = workspace[4], workspace[5], workspace[10]
    n, root, width = len(layers) - 2, layers[0], successor.shape[1]
    last = layers[n] - root
    for s in range(len(evidence)):
        ahead[last + s] = evidence[s]
    for back in range(n):
        i = n - 1 - back
        row = row_of[i]
        for node in range(layers[i] - root, layers[i + 1] - root):
            largest = -np.inf
            for c in range(width):
                after = successor[node, c]
                if after >= 0:
                    largest = max(largest, math.log(q[row, c]) + ahead[after])
            total = 0.0
            for c in range(width):
                after = successor[node, c]
                if after >= 0:
                    total += math.exp(math.log(q[row, c]) + ahead[after] - largest)
            ahead[node] = largest + math.log(total)
    for node in range(layers[n + 1] - root):
        visited[node] = 0.0
    visited[0] = 1.0
    for i in range(n):
        row = row_of[i]
        for node in range(layers[i] - root, layers[i + 1] - root):
            for c in range(width):
                after = successor[node, c]
                if after >= 0:
                    step = visited[node] * math.exp(math.log(q[row, c]) + ahead[after] - ahead[node])
                    visited[after] += step
                    expected[row, c] += step
    return ahead[0]


@part
def normal_likelihood(counts, reported, noise, free, q, expected, covariance, inverse, vectors):
    """Take counts and report for normal; see ``normal_expected``. The log density is without its constant."""
    n_rows = len(counts)
    error, scaled_error, by_p = vectors[0], vectors[1], vectors[2]
    for a in range(free):
        error[a] = reported[a]
        for b in range(free):
            covariance[a, b] = noise[a, b]
    for i in range(n_rows):
        people = float(counts[i])
        for a in range(free):
            error[a] -= people * q[i, a]
            covariance[a, a] += people * q[i, a]
            for b in range(free):
                covariance[a, b] -= people * q[i, a] * q[i, b]
    log_determinant = invert(covariance, inverse, free)
    square = 0.0
    for a in range(free):
        scaled_error[a] = 0.0
        for b in range(free):
            scaled_error[a] += inverse[a, b] * error[b]
        square += scaled_error[a] * error[a]
    for i in range(n_rows):
        people = float(counts[i])
        mean = 0.0
        for a in range(free):
            by_p[a] = scaled_error[a] + 0.5 * (scaled_error[a] * scaled_error[a] - inverse[a, a])
            for b in range(free):
                by_p[a] -= (scaled_error[a] * scaled_error[b] - inverse[a, b]) * q[i, b]
            mean += q[i, a] * by_p[a]
        for a in range(free):
            expected[i, a] = people * q[i, a] * (1.0 + by_p[a] - mean)
        expected[i, free] = people * q[i, free] * (1.0 - mean)
    return -0.5 * (square + log_determinant)


@part
def invert(matrix, inverse, n):
    """Invert a positive definite matrix by its Cholesky factor, which replaces it; return its log determinant."""
    log_determinant = 0.0
    for a in range(n):
        for b in range(a + 1):
            total = matrix[a, b]
            for k in range(b):
                total -= matrix[a, k] * matrix[b, k]
            if a == b:
                total = math.sqrt(max(total, 1e-12))
                log_determinant += 2.0 * math.log(total)
                matrix[a, a] = total
            else:
                matrix[a, b] = total / matrix[b, b]
    for column in range(n):
        for a in range(n):
            total = 1.0 if a == column else 0.0
            for k in range(a):
                total -= matrix[a, k] * inverse[k, column]
            inverse[a, column] = total / matrix[a, a]
        for a in range(n - 1, -1, -1):
            total = inverse[a, column]
            for k in range(a + 1, n):
                total -= matrix[k, a] * inverse[k, column]
            inverse[a, column] = total / matrix[a, a]
    return log_determinant


@part
def _tally(reports, j, k, p, expected, workspace, tallies):
    """Add the probabilities of the shares of one outcome in one group."""
    n_outcomes = p.shape[1]
    start, stop = reports.tally_starts[j * n_outcomes + k], reports.tally_starts[j * n_outcomes + k + 1]
    first, n_rows = reports.offsets[j], reports.offsets[j + 1] - reports.offsets[j]
    people, mean, variance = 0.0, 0.0, 0.0
    c = reports.category[j, k]
    for i in range(n_rows):
        own = float(reports.counts[first + i])
        people += own
        mean += expected[i, k]
        variance += own * p[i, k] * (1.0 - p[i, k])
    # An outcome that is reported by itself has the law of the allowed counts; others one that is about normal.
    is_alone = True
    for other in range(n_outcomes):
        if other != k and reports.category[j, other] == c:
            is_alone = False
    steps = stop - start - 1
    if reports.law[j] == EXACT and is_alone:
        lattice = reports.lattice[j]
        own_layers = reports.layers[reports.layer_starts[lattice] : reports.layer_starts[lattice + 1]]
        before = own_layers[len(own_layers) - 2] - own_layers[0]
        n_final = reports.final_starts[lattice + 1] - reports.final_starts[lattice]
        for s in range(n_final):
            count = reports.final[reports.final_starts[lattice] + s, c]
            tallies[start + round(count * steps / people)] += workspace[5][before + s]
        return
    if reports.law[j] == NORMAL and is_alone:
        # Of two normal sources of a count, the report and the probabilities, both count by their precision.
        noise = _own_noise(reports, j, c)
        variance = variance * noise / (variance + noise) if variance + noise > 0.0 else 0.0
    deviation = math.sqrt(max(variance, 1e-12)) * steps / people
    center = mean * steps / people
    low = max(0, math.floor(center - 8.0 * deviation) - 1)
    high = min(steps, math.ceil(center + 8.0 * deviation) + 1)
    inside = 0.0
    for step in range(low, high + 1):
        inside += _between(step, center, deviation)
    if not inside > 0.0:
        nearest = round(min(max(center, 0.0), float(steps)))
        tallies[start + nearest] += 1.0
        return
    for step in range(low, high + 1):
        tallies[start + step] += _between(step, center, deviation) / inside


@part
def _own_noise(reports, j, c):
    """Variance of the report's error in one category; the last one's is that of the sum of the others."""
    free = reports.n_categories[j] - 1
    if c < free:
        return reports.noise[j, c, c]
    total = 0.0
    for a in range(free):
        for b in range(free):
            total += reports.noise[j, a, b]
    return total


@part
def _between(step, center, deviation):
    """Return the normal probability of the interval around a step."""
    root = math.sqrt(0.5) / deviation
    return 0.5 * (math.erf((step + 0.5 - center) * root) - math.erf((step - 0.5 - center) * root))

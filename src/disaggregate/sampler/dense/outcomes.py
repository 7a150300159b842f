"""The back end for several outcomes: all data at once, the weights of all scores in one position.

A position holds the weights of the columns for the first score, then for the second, and so on; then the context
of each score, and the log scales, which all scores share. Intercepts of groups are integrated out
(:mod:`disaggregate.sampler.dense.outcome_places`). Where groups are samples of populations, or outcomes are many,
they are weights like those of context.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from disaggregate.model.components import Components
from disaggregate.model.outcome_places import LARGEST, SMALLEST
from disaggregate.model.outcome_populations import (
    OutcomeSamples,
    mean_slopes,
    outcome_share_gradient,
    outcome_share_law,
)
from disaggregate.model.outcome_reports import OutcomeReports
from disaggregate.model.outcomes import UNIT, contrasts, logits_of, probabilities_of
from disaggregate.model.reports import EXACT, NORMAL
from disaggregate.parallel.one_blas_thread import one_blas_thread_here
from disaggregate.sampler.dense.advance import advance_in_numpy
from disaggregate.sampler.dense.metric import Information
from disaggregate.sampler.dense.outcome_places import Integrated, OutcomePlaces, integrated
from disaggregate.sampler.dense.state import Sweeps
from disaggregate.sampler.dense.target import LikelihoodGradient, Query, Target

# Numbers of a group's slopes in memory at once.
VALUES_AT_ONCE = 2**22


class OutcomeLikelihood:
    """The likelihood of reports on several outcomes; see :class:`disaggregate.sampler.dense.target.Likelihood`.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Columns that every score has, rows sorted by group.
    reports : OutcomeReports
        What the groups report.
    samples : OutcomeSamples, optional
        Groups that are samples of populations.
    """

    def __init__(
        self, columns: np.ndarray, reports: OutcomeReports, samples: OutcomeSamples | None = None
    ) -> None:
        self.columns, self.reports, self.samples = columns, reports, samples
        self._contrasts = contrasts(reports.n_outcomes)
        self._sizes = np.diff(reports.offsets)

    def individual(self, query: Query) -> np.ndarray:
        """Individual component of the scores g of all rows, shape (n_replicas, n_contrasts, n_rows)."""
        weights = query.weights.reshape(-1, len(self.columns))
        return (weights @ self.columns).reshape(-1, len(self._contrasts), self.columns.shape[1])

    def offsets(self, query: Query) -> np.ndarray:
        """Offsets of the groups, shape (n_replicas, n_contrasts, n_groups)."""
        shape = len(query.weights), len(self._contrasts), len(self._sizes)
        return query.group.reshape(shape) if query.group.shape[1] else np.zeros(shape)

    def scores(self, query: Query) -> np.ndarray:
        """Scores g of all rows, shape (n_replicas, n_contrasts, n_rows)."""
        scores = self.individual(query)
        if query.group.shape[1]:
            scores += np.repeat(self.offsets(query), self._sizes, axis=2)
        return scores

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        """Log likelihood of each replica, and its gradient; there is one rung."""
        n_replicas = len(query.weights)
        if query.deviation.any():
            parts = self._integrated(query)
            log_likelihood = np.array([part.log_likelihood.sum() for part in parts])
            by_score = np.stack([part.by_score for part in parts])
            by_group = np.stack([part.by_center for part in parts])
            by_error, by_scale = np.zeros(n_replicas), np.array([part.by_scale for part in parts])
        else:
            log_likelihood, by_score, by_group, by_error = self._given_offsets(query)
            by_scale = np.zeros(n_replicas)
        by_columns = by_score.reshape(-1, by_score.shape[2]) @ self.columns.T
        return LikelihoodGradient(
            log_likelihood,
            by_columns.reshape(n_replicas, -1),
            by_group.reshape(n_replicas, -1),
            by_error,
            by_scale,
        )

    def _integrated(self, query: Query) -> list[Integrated]:
        """Log likelihood of each replica with offsets integrated out, and its gradient."""
        deviation = np.clip(query.deviation, SMALLEST, LARGEST).tolist()
        parts = zip(self.individual(query), self.offsets(query), deviation, strict=True)
        return [integrated(self.reports, self._contrasts, *part) for part in parts]

    def _places(self, query: Query) -> Iterator[OutcomePlaces]:
        """Offsets of the groups of each replica, where they are integrated out."""
        deviation = np.clip(query.deviation, SMALLEST, LARGEST).tolist()
        parts = zip(self.individual(query), self.offsets(query), deviation, strict=True)
        for part in parts:
            yield OutcomePlaces(self.reports, self._contrasts, *part)

    def _given_offsets(self, query: Query) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Log likelihood of each replica, and its gradient in scores, offsets and z, where these are known."""
        from disaggregate.sampler.compiled.outcomes import replica_gradients

        scores = self.scores(query)
        n_replicas = len(scores)
        by_score, by_report = np.empty_like(scores), np.empty((n_replicas, len(self._sizes)))
        replica_gradients(self.reports, self._contrasts, scores, by_report, by_score)
        log_likelihood = by_report.sum(axis=1)
        by_group, by_error = np.zeros((n_replicas, len(self._contrasts), 0)), np.zeros(n_replicas)
        if query.group.shape[1]:
            by_group = np.add.reduceat(by_score, self.reports.offsets[:-1], axis=2)
        if self.samples is not None:
            parts = zip(self.individual(query), self.offsets(query), query.error, strict=True)
            for r, part in enumerate(parts):
                found = outcome_share_gradient(self.samples, *part)
                log_likelihood[r] += found.log_density.sum()
                by_score[r] += found.individual
                by_group[r] += found.group if query.group.shape[1] else 0.0
                by_error[r] = found.error
        return log_likelihood, by_score, by_group, by_error

    def table(self, query: Query) -> np.ndarray:
        """Log likelihood of each replica under the one rung's evidence."""
        return self.by_group(query).sum(axis=1, keepdims=True)

    def by_group(self, query: Query) -> np.ndarray:
        """Log likelihood of each group's report, shape (n_replicas, n_groups)."""
        if query.deviation.any():
            return np.stack([part.log_likelihood for part in self._integrated(query)])
        return log_likelihood_of_scores(
            self.reports, self.individual(query), self.samples, self.offsets(query), query.error
        )

    def information(self, query: Query, rungs: np.ndarray) -> list[Information]:
        """Find the expected curvature at each replica.

        A report on counts informs about their expectations mu, with a weight that is the inverse of the covariance
        of counts and report: with J the slopes of mu in the coordinates, the information is J' covariance^-1 J.
        """
        if query.deviation.any():
            return [self._integrated_information(places) for places in self._places(query)]
        found = [self._information(scores, query.group.shape[1]) for scores in self.scores(query)]
        if self.samples is not None:
            parts = zip(self.individual(query), self.offsets(query), query.error, strict=True)
            for information, part in zip(found, parts, strict=True):
                self._add_samples(information, self.samples, *part)
        return found

    def _integrated_information(self, places: OutcomePlaces) -> Information:
        """Integrate offsets out of the information at the most probable ones, as if everything were normal."""
        given = self._information(places.mode_scores, places.modes.offsets.size)
        variance, eye = places.deviation**2, np.eye(len(self._contrasts))
        left = np.linalg.inv(eye + variance * given.group)  # what is not known of the offsets, by group
        cross = given.cross.reshape(len(given.cross), len(eye), -1)
        through = np.einsum("mag,gab->mbg", cross, left)
        of_offsets = variance * np.einsum("mag,nag->mn", through, cross)
        known = eye - left
        return Information(
            given.columns - of_offsets,
            through.reshape(given.cross.shape),
            given.group @ left,
            0.5 * float(np.einsum("gab,gba->", known, known)),
        )

    def _information(self, scores: np.ndarray, n_offsets: int) -> Information:
        n_scores, size = len(scores), len(scores) * len(self.columns) + (self.samples is not None)
        p = probabilities_of(logits_of(scores.T))
        total = Information(
            np.zeros((size, size)),
            np.zeros((size, n_offsets)),
            np.zeros((len(self._sizes) if n_offsets else 0, n_scores, n_scores)),
            0.0,
        )
        informative = np.flatnonzero((self.reports.law == EXACT) | (self.reports.law == NORMAL))
        at_once = max(1, VALUES_AT_ONCE // (size * (n_scores + 1)))
        for first in range(0, len(informative), at_once):
            self._add_groups(total, informative[first : first + at_once], p)
        return total

    def _add_groups(self, total: Information, groups: np.ndarray, p: np.ndarray) -> None:
        reports, (n_scores, n_outcomes) = self.reports, self._contrasts.shape
        rows = np.concatenate([np.arange(*reports.offsets[j : j + 2]) for j in groups])
        starts = np.concatenate([[0], np.cumsum(self._sizes[groups])[:-1]])
        own, people = p[rows], reports.counts[rows]
        # Probabilities of the categories, all but the last of each group, which the others determine.
        category = np.repeat(reports.category[groups], self._sizes[groups], axis=0)
        width = np.repeat(reports.n_categories[groups], self._sizes[groups])
        is_in = (category[:, :, None] == np.arange(n_outcomes - 1)) & (category < width[:, None] - 1)[:, :, None]
        q = np.einsum("ik,ikc->ic", own, is_in)
        # d q_c / d g_a = UNIT (sum over k in c of p_k H_ak - q_c sum over k of p_k H_ak)
        mean = own @ self._contrasts.T
        slope = np.einsum("ik,ikc,ak->ica", own, is_in, self._contrasts) - q[:, :, None] * mean[:, None, :]
        slope *= UNIT * people[:, None, None]
        weighed = people[:, None] * q
        covariance = -np.add.reduceat(weighed[:, :, None] * q[:, None, :], starts, axis=0)
        diagonal = np.arange(n_outcomes - 1)
        covariance[:, diagonal, diagonal] += np.add.reduceat(weighed, starts, axis=0)
        covariance += reports.noise[groups][:, :-1, :-1]
        missing = diagonal >= (reports.n_categories[groups] - 1)[:, None]  # padding, not categories
        covariance[missing[:, :, None] | missing[:, None, :]] = 0.0
        covariance[:, diagonal, diagonal] += np.where(missing, 1.0, 1e-9)
        root = np.linalg.cholesky(np.linalg.inv(covariance))  # worth = root root'
        sums = np.add.reduceat(slope, starts, axis=0)
        by_column = np.stack(
            [
                [
                    np.add.reduceat(self.columns[:, rows] * slope[:, c, a], starts, axis=1).T
                    for a in range(n_scores)
                ]
                for c in range(n_outcomes - 1)
            ]
        )  # category, score, group, column
        pieces = np.einsum("gcd,cagm->dgam", root, by_column).reshape((n_outcomes - 1) * len(groups), -1)
        if self.samples is not None:  # which have z beside the weights
            pieces = np.pad(pieces, ((0, 0), (0, 1)))
        total.columns[:] += pieces.T @ pieces
        if not total.group.size:
            return
        of_groups = np.einsum("gcd,gca->dga", root, sums)
        by_piece = pieces.reshape(n_outcomes - 1, len(groups), -1)
        indices = [a * len(self._sizes) + groups for a in range(n_scores)]
        for a, index in enumerate(indices):
            total.cross[:, index] += np.einsum("dgm,dg->mg", by_piece, of_groups[:, :, a])
        total.group[groups] += np.einsum("dga,dgb->gab", of_groups, of_groups)

    def _add_samples(
        self, total: Information, samples: OutcomeSamples, individual: np.ndarray, group: np.ndarray, error: float
    ) -> None:
        """Add the information of the shares of populations by their means."""
        slopes = mean_slopes(samples, individual, group, error)
        for j, own in zip(samples.groups.tolist(), slopes, strict=True):
            root = np.linalg.cholesky(np.linalg.inv(own.covariance))
            pieces = np.column_stack([(own.rows @ self.columns.T).reshape(len(root), -1), own.error])
            pieces = root.T @ pieces
            total.columns[:] += pieces.T @ pieces
            if not total.group.size:
                continue
            indices = np.arange(len(self._contrasts)) * len(self._sizes) + j
            of_group = root.T @ own.group
            total.cross[:, indices] += pieces.T @ of_group
            total.group[j] += of_group.T @ of_group

    def add_expected(
        self, query: Query, noise: np.ndarray, label_sums: np.ndarray, share_tallies: np.ndarray
    ) -> np.ndarray:
        """Draw the offsets that are integrated out, and add the expected labels and shares."""
        from disaggregate.sampler.compiled.outcomes import replica_expectations

        if query.deviation.any():
            replicas = zip(self._integrated(query), self.offsets(query), query.deviation, noise, strict=True)
            drawn = [own.draw(center, scale, z.reshape(center.shape)) for own, center, scale, z in replicas]
            query = query._replace(group=np.stack(drawn).reshape(query.group.shape))
        if label_sums.shape[1]:
            replica_expectations(self.reports, self._contrasts, self.scores(query), label_sums, share_tallies)
            if self.samples is not None:
                parts = zip(self.individual(query), self.offsets(query), query.error, strict=True)
                for tallies, part in zip(share_tallies, parts, strict=True):
                    self._add_shares(tallies, self.samples, *outcome_share_law(self.samples, *part))
        return query.group

    def _add_shares(
        self, tallies: np.ndarray, samples: OutcomeSamples, mean: np.ndarray, variance: np.ndarray
    ) -> None:
        """Spread the probability of each population's shares over the steps of its tallies."""
        n_outcomes = mean.shape[1]
        for j, own_mean, own_variance in zip(samples.groups.tolist(), mean, variance, strict=True):
            for k, center, width in zip(range(n_outcomes), own_mean, np.sqrt(own_variance), strict=True):
                start, stop = self.reports.tally_starts[j * n_outcomes + k :][:2]
                steps = stop - start - 1
                ends = (np.arange(steps + 2) - 0.5) / steps
                ends[0], ends[-1] = -np.inf, np.inf
                tallies[start:stop] += np.diff(ndtr((ends - center) / width))


def log_likelihood_of_scores(
    reports: OutcomeReports,
    individual: np.ndarray,
    samples: OutcomeSamples | None,
    offsets: np.ndarray,
    error: np.ndarray,
) -> np.ndarray:
    """Log likelihood of each group's report, shape (n_replicas, n_groups).

    Parameters
    ----------
    reports : OutcomeReports
        What the groups report.
    individual : ndarray of shape (n_replicas, n_contrasts, n_rows)
        Individual component of the scores.
    samples : OutcomeSamples or None
        Groups that are samples of populations.
    offsets : ndarray of shape (n_replicas, n_contrasts, n_groups)
        Offsets of the groups.
    error : ndarray of shape (n_replicas,)
        z.
    """
    from disaggregate.sampler.compiled.outcomes import group_log_likelihoods

    by_group = np.empty((len(individual), len(reports.law)))
    scores = individual + np.repeat(offsets, np.diff(reports.offsets), axis=2)
    group_log_likelihoods(reports, contrasts(reports.n_outcomes), np.ascontiguousarray(scores), by_group)
    if samples is not None:
        for own, *part in zip(by_group, individual, offsets, error, strict=True):
            own[samples.groups] += outcome_share_gradient(samples, *part).log_density
    return by_group


class OutcomeData:
    """Sweeps over all rows at once, for several outcomes; see :class:`disaggregate.sampler.dense.backend.Backend`.

    Parameters
    ----------
    components : Components
        What weights mean, those of all scores together.
    columns, reports
        As for :class:`OutcomeLikelihood`.
    powers : ndarray of shape (1,)
        Powers of the evidence: the evidence itself.
    samples : OutcomeSamples, optional
        Groups that are samples of populations.
    """

    sweeps_per_batch = 50
    n_starts = 3
    n_adapting = 100

    def __init__(
        self,
        components: Components,
        columns: np.ndarray,
        reports: OutcomeReports,
        powers: np.ndarray,
        samples: OutcomeSamples | None = None,
    ) -> None:
        likelihood = OutcomeLikelihood(np.ascontiguousarray(columns), reports, samples)
        self.target = Target(components, likelihood, powers)
        self._columns, self._reports = columns, reports

    @property
    def n_rows(self) -> int:
        """Number of expected labels: rows times outcomes."""
        return self._columns.shape[1] * self._reports.n_outcomes

    @property
    def n_tallies(self) -> int:
        """Length of the tallies of all groups' shares."""
        return int(self._reports.tally_starts[-1])

    def with_powers(self, powers: np.ndarray) -> OutcomeData:
        """Return the same data; there is no ladder."""
        return self

    def advance(self, sweeps: Sweeps) -> int:
        """Do some sweeps; return how many draws were recorded."""
        with one_blas_thread_here():
            return advance_in_numpy(self.target, sweeps)

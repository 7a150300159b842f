"""The normal law of one group's counts at several offsets at once, side by side in registers of the processor.

For groups whose report distinguishes all outcomes; these are in the order of its categories, the largest last.
"""

import math

from disaggregate.sampler.compiled.compile import fused_part

# Offsets side by side. Loops over so many, a number that the compiler knows, become single instructions.
LANES = 8


@fused_part
def fill_values(
    counts,
    reported,
    noise,
    constant,
    exponents,
    factors,
    p,
    total,
    value,
    covariance,
    inverse,
    error,
    scaled,
):
    """Fill probabilities, inverse covariance, scaled error and log likelihood; see ``normal_expected``.

    Offsets are the last axis of all arrays from ``factors``, the exponentials of their logits, on. Arguments are
    many, as taking an array out of a tuple costs as much as what is done with it.
    """
    free = len(factors) - 1
    for c in range(free):
        for n in range(LANES):
            error[c, n] = reported[c]
        for d in range(c + 1):
            for n in range(LANES):
                covariance[c, d, n] = noise[c, d]
    for i in range(len(counts)):
        people = float(counts[i])
        for n in range(LANES):
            total[n] = 0.0
        for k in range(free + 1):
            exponent = exponents[i, k]
            for n in range(LANES):
                p[i, k, n] = exponent * factors[k, n]
                total[n] += p[i, k, n]
        for n in range(LANES):
            total[n] = 1.0 / total[n]
        for k in range(free + 1):
            for n in range(LANES):
                p[i, k, n] *= total[n]
        for c in range(free):
            for n in range(LANES):
                error[c, n] -= people * p[i, c, n]
                covariance[c, c, n] += people * p[i, c, n]
            for d in range(c + 1):
                for n in range(LANES):
                    covariance[c, d, n] -= people * p[i, c, n] * p[i, d, n]
    _factor(covariance, value, free)
    _invert(covariance, inverse, free)
    for n in range(LANES):
        total[n] = 0.0
    for c in range(free):
        for n in range(LANES):
            scaled[c, n] = 0.0
        for d in range(free):
            for n in range(LANES):
                scaled[c, n] += inverse[c, d, n] * error[d, n]
        for n in range(LANES):
            total[n] += scaled[c, n] * error[c, n]
    for n in range(LANES):
        value[n] = constant - 0.5 * (total[n] + math.log(value[n]))


@fused_part
def _factor(matrix, determinant, size):
    """Replace matrices by their Cholesky factors, with the inverses of the diagonal; fill the determinants."""
    for n in range(LANES):
        determinant[n] = 1.0
    for a in range(size):
        for b in range(a + 1):
            for c in range(b):
                for n in range(LANES):
                    matrix[a, b, n] -= matrix[a, c, n] * matrix[b, c, n]
            if a == b:
                for n in range(LANES):
                    square = max(matrix[a, a, n], 1e-12)
                    determinant[n] *= square
                    matrix[a, a, n] = 1.0 / math.sqrt(square)
            else:
                for n in range(LANES):
                    matrix[a, b, n] *= matrix[b, b, n]


@fused_part
def _invert(factor, inverse, size):
    """Invert matrices by their factors."""
    for column in range(size):
        for a in range(size):
            start = 1.0 if a == column else 0.0
            for n in range(LANES):
                inverse[a, column, n] = start
            for c in range(a):
                for n in range(LANES):
                    inverse[a, column, n] -= factor[a, c, n] * inverse[c, column, n]
            for n in range(LANES):
                inverse[a, column, n] *= factor[a, a, n]
        for back in range(size):
            a = size - 1 - back
            for c in range(a + 1, size):
                for n in range(LANES):
                    inverse[a, column, n] -= factor[c, a, n] * inverse[c, column, n]
            for n in range(LANES):
                inverse[a, column, n] *= factor[a, a, n]


@fused_part
def add_slopes(counts, p, total, inverse, by_p, scaled_error, chance, by_logit):
    """Add the slopes in the logits of all rows, those of each offset times its chance; ``by_p`` is work space."""
    free = len(by_p)
    for c in range(free):  # s s' - covariance^-1, with s the scaled error
        for d in range(free):
            for n in range(LANES):
                inverse[c, d, n] = scaled_error[c, n] * scaled_error[d, n] - inverse[c, d, n]
    for i in range(len(counts)):
        people = float(counts[i])
        for n in range(LANES):
            total[n] = 0.0
        for c in range(free):
            for n in range(LANES):
                by_p[c, n] = scaled_error[c, n] + 0.5 * inverse[c, c, n]
            for d in range(free):
                for n in range(LANES):
                    by_p[c, n] -= inverse[c, d, n] * p[i, d, n]
            for n in range(LANES):
                total[n] += p[i, c, n] * by_p[c, n]
        for c in range(free):
            added = 0.0
            for n in range(LANES):
                added += chance[n] * p[i, c, n] * (by_p[c, n] - total[n])
            by_logit[i, c] += people * added
        added = 0.0
        for n in range(LANES):
            added -= chance[n] * p[i, free, n] * total[n]
        by_logit[i, free] += people * added

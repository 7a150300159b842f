"""Likelihood of the groups' evidence for many draws of f at once."""

import numpy as np

from disaggregate.sampler.compiled.arrays import greater
from disaggregate.sampler.compiled.compile import kernel
from disaggregate.sampler.compiled.counts import log_evidence_given_fitted


@kernel
def evidence_by_draw(fitted, offsets, units, starts, likelihood, log_likelihood):
    """Log likelihood of each group's evidence in each draw; ``fitted`` has a row a draw."""
    n_groups = offsets.size - 1
    widest = 0
    for group in range(n_groups):
        widest = greater(widest, starts[group + 1] - starts[group])
    law = np.empty(widest)
    longer = np.empty(widest)
    result = np.empty((fitted.shape[0], n_groups))
    for draw in range(fitted.shape[0]):
        for group in range(n_groups):
            start = offsets[group]
            stop = offsets[group + 1]
            first = starts[group]
            last = starts[group + 1]
            result[draw, group] = log_evidence_given_fitted(
                fitted[draw, start:stop],
                units[start:stop],
                likelihood[first:last],
                log_likelihood[first:last],
                law,
                longer,
            )
    return result

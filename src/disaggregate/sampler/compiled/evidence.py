"""Likelihood of the groups' evidence for many draws of f at once."""

import numpy as np

from disaggregate.sampler.compiled.compile import kernel
from disaggregate.sampler.compiled.counts import log_evidence_given_fitted
from disaggregate.sampler.compiled.latent import largest_group


@kernel
def evidence_by_draw(fitted, offsets, likelihood, log_likelihood):
    """Log likelihood of each group's evidence in each draw; ``fitted`` has a row a draw."""
    n_groups = offsets.size - 1
    largest = largest_group(offsets)
    prefix = np.empty(largest + 1)
    result = np.empty((fitted.shape[0], n_groups))
    for draw in range(fitted.shape[0]):
        for group in range(n_groups):
            start = offsets[group]
            stop = offsets[group + 1]
            result[draw, group] = log_evidence_given_fitted(
                fitted[draw, start:stop],
                likelihood[start + group : stop + group + 1],
                log_likelihood[start + group : stop + group + 1],
                prefix,
            )
    return result

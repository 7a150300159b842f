"""Likelihood of the groups' evidence for many draws of f at once."""

import numpy as np

from disaggregate.sampler.compiled.arrays import greater
from disaggregate.sampler.compiled.compile import kernel
from disaggregate.sampler.compiled.counts import count_law, log_evidence_given_law
from disaggregate.sampler.compiled.normal import chances_of


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
        positive, negative, _ = chances_of(fitted[draw])
        for group in range(n_groups):
            start = offsets[group]
            stop = offsets[group + 1]
            first = starts[group]
            last = starts[group + 1]
            found = count_law(positive[start:stop], negative[start:stop], units[start:stop], law, longer)
            result[draw, group] = log_evidence_given_law(
                found, fitted[draw, start:stop], units[start:stop], likelihood[first:last],
                log_likelihood[first:last],
            )  # fmt: skip
    return result

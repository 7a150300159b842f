"""Gaussian processes for more than two outcomes, with the draws shared among kernels by their probability."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from disaggregate.fitting.dense import DenseSampling
from disaggregate.fitting.draws_place import DrawsPlace
from disaggregate.fitting.results import Fitted, even_draws
from disaggregate.posterior.draws import gather_outcome_draws
from disaggregate.posterior.mixture import weave


class OutcomeSampling(DenseSampling):
    """The same chains over the scores of several outcomes; see :class:`disaggregate.fitting.run.Sampling`."""

    def fitted(self, place: DrawsPlace) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""
        drawn = [[draws for chain in chains for draws in chain.draws()] for chains in self._chains]
        draws, missing = even_draws(drawn, self._planned())
        plan, data = self._plan, self._plan.data
        parts = [
            gather_outcome_draws(
                chains,
                replace(kernel.model.basis, context=plan.context is not None),
                kernel.model.to_kernels,
                plan.n_outcomes,
                0 if plan.context is None else plan.context.shape[1],
                len(data.names) if plan.has_places else 0,
                plan.context_norm,
                partial(place.put, number),
            )
            for number, (kernel, chains) in enumerate(zip(self._kernels, draws, strict=True))
        ]
        by_chain = [np.sum([part.label_sums for part in chain], axis=0) for chain in zip(*draws, strict=True)]
        labels = [data.in_caller_order(sums.reshape(len(data.order), -1)) for sums in by_chain]
        shares = np.sum([chain.share_tallies for chains in draws for chain in chains], axis=0)
        posterior = weave(parts, plan.streams.for_order())
        return Fitted(posterior, np.stack(labels), shares, None, self._scores, missing)

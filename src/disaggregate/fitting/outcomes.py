"""Gaussian processes for more than two outcomes, with the draws shared among kernels by their probability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disaggregate.fitting.dense import DenseSampling
from disaggregate.fitting.draw_storage import DrawStorage
from disaggregate.fitting.kernel_model import TunedKernel
from disaggregate.fitting.results import Fitted
from disaggregate.posterior.draws import KernelDraws, Put, gather_outcome_draws
from disaggregate.sampler.dense.chains import DenseDraws


class OutcomeSampling(DenseSampling):
    """The same chains over the scores of several outcomes; see :class:`disaggregate.fitting.run.Sampling`."""

    def fitted(self, storage: DrawStorage) -> Fitted:
        """Return what was drawn so far, with the draws where they are to be."""
        draws, missing = self._even_draws()
        data = self._plan.data
        by_chain = [np.sum([part.label_sums for part in chain], axis=0) for chain in zip(*draws, strict=True)]
        labels = [data.in_caller_order(sums.reshape(len(data.order), -1)) for sums in by_chain]
        shares = np.sum([chain.share_tallies for chains in draws for chain in chains], axis=0)
        posterior = self._beside_prior(self._posterior(draws, storage))
        return Fitted(posterior, np.stack(labels), shares, None, self._scores, missing)

    def _gathered(self, kernel: TunedKernel, chains: list[DenseDraws], put: Put) -> KernelDraws:
        plan = self._plan
        return gather_outcome_draws(
            chains,
            replace(kernel.model.basis, context=plan.context is not None, weights=None),
            kernel.model.to_kernels,
            plan.n_outcomes,
            0 if plan.context is None else plan.context.shape[1],
            len(plan.data.names) if plan.has_places else 0,
            bool(kernel.model.backend.target.components.n_places),
            plan.context_norm,
            put,
        )

"""The results of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disaggregate.groups import GroupedData
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.ladder import LadderReport
from disaggregate.posterior.mixture import Posterior


@dataclass(frozen=True)
class Fitted:
    """The results of a fit.

    Attributes
    ----------
    posterior : Posterior
        Draws.
    label_sums : ndarray of shape (n_chains, n_rows) or (n_chains, n_rows, n_outcomes)
        In how many draws each individual was positive, or is expected to be, in the caller's order; with more than
        two outcomes, of each of them.
    count_tallies : ndarray of shape (n_tallies,)
        How often each group had each share of positives, over the draws of all chains.
    ladder : LadderReport or None
        What the replicas say.
    kernels : list of KernelScore
        Kernels that were compared.
    stopped_early : str
        What is missing, in words, when the fit was interrupted; else empty.
    """

    posterior: Posterior
    label_sums: np.ndarray
    count_tallies: np.ndarray
    ladder: LadderReport | None
    kernels: list[KernelScore]
    stopped_early: str = ""


def even_draws(draws: Sequence[Sequence[Any]], planned: Sequence[int]) -> tuple[list[list], str]:
    """Cut the draws of an interrupted fit to as many in every chain, kernels in their proportions.

    Chains that have not drawn anything yet are left out.

    Parameters
    ----------
    draws : sequence of sequence of ChainDraws or DenseDraws
        Of each kernel, the draws of its chains.
    planned : sequence of int
        Draws per chain that were planned of each kernel.

    Returns
    -------
    draws : list of list
        Of each kernel, the draws of the chains that count.
    missing : str
        What is missing, in words; empty when nothing is.
    """
    drawn = np.array([[chain.n_draws for chain in chains] for chains in draws])
    counts = np.min(drawn, axis=0) > 0
    if not counts.any():
        raise KeyboardInterrupt  # nothing was drawn yet, so there is nothing to keep
    wanted = np.array(planned)
    share = float((drawn[:, counts] / wanted[:, None]).min())
    n_kept = np.maximum(np.floor(share * wanted + 1e-9).astype(int), 1)
    kept = [
        [chain.first(n) for chain, is_counted in zip(chains, counts, strict=True) if is_counted]
        for chains, n in zip(draws, n_kept.tolist(), strict=True)
    ]
    if share == 1.0 and counts.all():
        return kept, ""
    of_chains = "" if counts.all() else f" of {counts.sum()} chains out of {len(counts)}"
    return kept, f"Stopped early, with {n_kept.sum()} of {wanted.sum()} draws per chain{of_chains}."


def tallies(data: GroupedData, draws: Sequence[Sequence[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Add up over kernels what the chains say of the training individuals, and over chains too of the groups."""
    by_chain = [np.sum([part.label_sums for part in chain], axis=0) for chain in zip(*draws, strict=True)]
    shares = np.sum([chain.share_tallies for chains in draws for chain in chains], axis=0)
    return np.stack([data.in_caller_order(sums) for sums in by_chain]), shares

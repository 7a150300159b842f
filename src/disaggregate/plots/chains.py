"""Whether chains agree: their traces, and the ranks of their draws."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from disaggregate.plots.canvas import axes_or_new
from disaggregate.plots.districts import COLOURS
from disaggregate.posterior.convergence import bulk_ess, rank_rhat

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from disaggregate.posterior.mixture import Posterior

FloatArray = NDArray[np.float64]

QUANTITIES = ("delta2", "n_active")
BAND = 0.9
MOST_IN_LEGEND = 8


def chain_traces(draws: Posterior | ArrayLike, quantity: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the trace of one quantity in each chain, with R-hat and the effective sample size in the title.

    Chains that agree lie on top of each other and look like noise, without drifts or long flat stretches.

    Parameters
    ----------
    draws : Posterior or array of shape (n_chains, n_draws)
        Such as ``model.posterior_``, or ``model.predict_draws(X)[:, :, 0]`` for the first person.
    quantity : str, optional
        Of a posterior: "delta2" (the default) or "n_active". Of an array: its label.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    chains, name = _read(draws, quantity)
    ax = axes_or_new(ax)
    for index, chain in enumerate(chains):
        ax.plot(
            np.arange(1, len(chain) + 1),
            chain,
            color=COLOURS[index % len(COLOURS)],
            linewidth=0.7,
            alpha=0.75,
            label=f"chain {index + 1}" if index < MOST_IN_LEGEND else None,
        )
    ax.set(xlabel="draw", ylabel=name, xlim=(1, max(2, chains.shape[1])))
    ax.set_title(_verdict(chains), loc="left", fontsize="medium")
    _draw_legend(ax, len(chains))
    return ax


def chain_ranks(
    draws: Posterior | ArrayLike, quantity: str | None = None, *, bins: int = 20, ax: Axes | None = None
) -> Axes:
    """Draw histograms of the ranks of each chain's draws among all draws, one row per chain.

    If chains agree, each bin has about the same number of draws, the middle of the row. The grey
    band contains nine bins in ten of a chain that agrees with the others, given its effective sample size. A slope
    means a chain that is too low or too high, a hump one that varies too little, a valley one that varies too
    much.

    Parameters
    ----------
    draws : Posterior or array of shape (n_chains, n_draws)
        Such as ``model.posterior_``, or ``model.predict_draws(X)[:, :, 0]`` for the first person.
    quantity : str, optional
        Of a posterior: "delta2" (the default) or "n_active". Of an array: its label.
    bins : int, default=20
        Number of bins of the ranks.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    chains, name = _read(draws, quantity)
    if not isinstance(bins, Integral) or bins < 2:
        raise ValueError(f"bins must be an integer of at least 2, but got {bins!r}. Try bins=20.")
    edges = np.linspace(0.5, chains.size + 0.5, bins + 1)
    excess = np.array([np.histogram(ranks, edges)[0] * bins / len(ranks) - 1.0 for ranks in _ranks(chains)])
    bands = np.array([_half_band(chain, bins) for chain in chains])
    # Rows are as high as the farthest bin, so that none reaches into another.
    scale = 0.48 / max(float(np.abs(excess).max()), float(bands.max()))

    ax = axes_or_new(ax)
    for index, (row, half) in enumerate(zip(excess, bands * scale, strict=True)):
        ax.axhspan(index - half, index + half, color="0.9", linewidth=0.0, zorder=0)
        ax.axhline(index, color="0.5", linewidth=0.8, zorder=1)
        # The axis runs down the page, so that what is above the middle counts backwards.
        colour = COLOURS[index % len(COLOURS)]
        ax.stairs(index - scale * row, edges, baseline=index, fill=True, color=colour, alpha=0.8, zorder=2)
    ax.set_yticks(range(len(chains)), [f"chain {index + 1}" for index in range(len(chains))])
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(edges[0], edges[-1]), ylim=(len(chains) - 0.45, -0.55))
    ax.set_xlabel(f"rank of {name} among all draws")
    ax.set_title(_verdict(chains), loc="left", fontsize="medium")
    return ax


def _read(draws: Any, quantity: str | None) -> tuple[FloatArray, str]:
    if all(hasattr(draws, known) for known in QUANTITIES):
        name = QUANTITIES[0] if quantity is None else quantity
        if name not in QUANTITIES:
            raise ValueError(
                f"quantity must be one of {', '.join(QUANTITIES)} for a posterior, but got {name!r}. For a "
                "person's probability pass model.predict_draws(X)[:, :, person]."
            )
        return np.asarray(getattr(draws, name), dtype=np.float64), name
    chains = np.asarray(draws, dtype=np.float64)
    if chains.ndim != 2 or not chains.size or not np.isfinite(chains).all():
        raise ValueError(
            "This plot needs finite draws of one quantity, shape (n_chains, n_draws), but got shape "
            f"{chains.shape}. Of many people choose one: model.predict_draws(X)[:, :, person]."
        )
    return chains, "value" if quantity is None else quantity


def _ranks(chains: FloatArray) -> FloatArray:
    """Rank of each draw among all, from 1; equal draws share their average rank."""
    _, index, times = np.unique(chains.ravel(), return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    return (last - 0.5 * (times - 1))[index].reshape(chains.shape)


def _half_band(chain: FloatArray, bins: int) -> float:
    """How far a bin may be off: binomial, with the chain's effective draws in the place of its draws."""
    n = float(bulk_ess(chain[np.newaxis]))
    n = n if np.isfinite(n) else len(chain)
    return float(ndtri(0.5 + BAND / 2.0) * np.sqrt((bins - 1) / n))


def _verdict(chains: FloatArray) -> str:
    rhat, ess = float(rank_rhat(chains)), float(bulk_ess(chains))
    return f"R-hat {rhat:.3f}, {ess:.0f} effective draws of {chains.size}" if np.isfinite(ess) else "too few draws"


def _draw_legend(ax: Axes, n_chains: int) -> None:
    if n_chains > MOST_IN_LEGEND:
        ax.plot([], [], linestyle="none", label=f"and {n_chains - MOST_IN_LEGEND} more")
    legend = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")
    for line in legend.get_lines():
        line.set(linewidth=2.0, alpha=1.0)

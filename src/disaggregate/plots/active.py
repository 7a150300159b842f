"""How many kernels are active, with spike and slab."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from disaggregate.plots.canvas import axes_or_new
from disaggregate.plots.districts import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from disaggregate.posterior.mixture import Posterior

MOST_BARS = 40
MOST_CHAINS = 8


def active_kernels(posterior: Posterior, *, ax: Axes | None = None) -> Axes:
    """Draw the posterior distribution of the number of active kernels, over all chains and per chain.

    Parameters
    ----------
    posterior : Posterior
        ``model.posterior_`` of a fit with ``prior="spike_slab"``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    if not hasattr(posterior, "n_active"):
        raise ValueError(f"This plot needs model.posterior_, but got {type(posterior).__name__}.")
    if not posterior.is_sparse:
        raise ValueError(
            "All kernels are active in all draws of this posterior, because its weights are dense. Fit with "
            'prior="spike_slab" to have them selected.'
        )
    counts = posterior.n_active
    edges = _edges(int(counts.min()), int(counts.max()))
    whole = np.histogram(counts, edges)[0] / counts.size

    ax = axes_or_new(ax)
    ax.stairs(whole, edges, fill=True, color="0.85", label="all chains")
    for index, chain in enumerate(counts[:MOST_CHAINS]):
        share = np.histogram(chain, edges)[0] / len(chain)
        ax.stairs(share, edges, color=COLOURS[index], linewidth=1.2, label=f"chain {index + 1}")
    ax.axvline(counts.mean(), color="0.3", linewidth=1.0, linestyle="dashed", label=f"mean {counts.mean():.1f}")
    ax.set(xlabel=f"active kernels, of {len(posterior.parts[0].basis.centers)}", ylabel="share of draws")
    ax.set_ylim(bottom=0.0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", framealpha=0.9, fontsize="small")
    return ax


def _edges(fewest: int, most: int) -> np.ndarray:
    """Bins around whole numbers, of whole width, so that none holds more of them than another."""
    width = -(-(most - fewest + 1) // MOST_BARS)
    return np.arange(fewest, most + width + 1, width) - 0.5

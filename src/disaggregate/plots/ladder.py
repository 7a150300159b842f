"""How often neighbouring replicas swap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from disaggregate.plots.canvas import axes_or_new, write_beside
from disaggregate.plots.districts import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from disaggregate.posterior.ladder import LadderReport

# Below this the diagnostics advise more replicas.
FEW_SWAPS = 0.1


def replica_swaps(ladder: LadderReport | None, *, ax: Axes | None = None) -> Axes:
    """Draw the swap rate of each pair of neighbours on the ladder, from the posterior down to the prior.

    Parameters
    ----------
    ladder : LadderReport
        ``model.diagnostics_.ladder``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    powers, rates = _read(ladder)
    centers = np.arange(len(rates)) + 0.5
    colours = np.where(rates < FEW_SWAPS, COLOURS[1], COLOURS[0])

    ax = axes_or_new(ax)
    ax.bar(centers, rates, width=0.8, color=list(colours))
    ax.axhline(FEW_SWAPS, color="0.4", linewidth=1.0, linestyle="dashed")
    write_beside(ax, "too rare\nbelow this", FEW_SWAPS, distance=4)
    ax.set_xticks(np.arange(len(powers)), [_short(power) for power in powers])
    ax.tick_params(axis="x", rotation=90 if len(powers) > 12 else 0)
    ax.set(xlim=(-0.2, len(powers) - 0.8), ylim=(0.0, 1.0))
    ax.set(xlabel="power of the evidence on each rung, from the posterior to the prior", ylabel="swaps accepted")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _short(power: float) -> str:
    return f"{power:.2g}" if power >= 0.001 or power == 0.0 else f"{power:.0e}".replace("e-0", "e-")


def _read(ladder: Any) -> tuple[np.ndarray, np.ndarray]:
    if ladder is not None and not (hasattr(ladder, "powers") and hasattr(ladder, "swap_rates")):
        raise ValueError(f"This plot needs model.diagnostics_.ladder, but got {type(ladder).__name__}.")
    if ladder is None or len(ladder.powers) < 2:
        raise ValueError(
            "There is no ladder to draw, because each chain had one replica. Fit with n_replicas=8 or more "
            "to have one in any case."
        )
    return np.asarray(ladder.powers), np.asarray(ladder.swap_rates)

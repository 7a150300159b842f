"""Figure 2 and Table 1: three groups, one reported share each, and the surface learned from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from sklearn.metrics import roc_auc_score

from disaggregate.datasets import make_districts
from disaggregate.experiments.fits import fit_timed, tracked
from disaggregate.experiments.outcome import Outcome, Scope
from disaggregate.plots import group_scatter, probability_surface
from disaggregate.plots.canvas import new_figure
from disaggregate.sampler.prepare import prepare
from disaggregate.settings import published_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from sklearn.utils import Bunch

# The paper reports about 15 active kernels of 55, and 6 s on a 2.6 GHz Pentium 4.
PAPER = {"active kernels": "15", "seconds": "6"}

TEXT = """\
Three groups of 19, 16 and 20 individuals reported shares of 0.73, 0.25 and 0.85. No label is known to
the fit; AUC is against the hidden labels of the individuals in the figure, which are simulated because the
paper prints none. *Published*: the sampler of 2005, one chain. *Sparse*: the same prior with our moves and
an intercept. *Default*: what `GroupStatsClassifier()` does, dense weights averaged over kernels."""


def methods(scope: Scope) -> dict[str, dict[str, Any]]:
    """Name the samplers and give their settings."""
    length = {"n_draws": scope.n_draws, "n_burn": scope.n_burn, "random_state": scope.seed}
    return {
        "published": {**published_settings(), **length},
        "sparse": {"prior": "spike_slab", "kernel": "rbf", "gamma": "scale", **length},
        "default": length,
    }


def run(scope: Scope) -> Outcome:
    """Fit the three districts with each sampler."""
    data = make_districts(random_state=scope.seed)
    settings = methods(scope)
    for moves in ("published", "sparse", "dense"):
        prepare(moves)  # or the first fit would time the compiler
    models, rows = {}, []
    for name in tracked(settings, len(settings), "figure 2", scope.progress):
        models[name], seconds = fit_timed(settings[name], data.X, data.shares, data.groups)
        rows.append({"sampler": name, **_numbers(models[name], data, seconds)})
    raw = pd.DataFrame(rows)
    table = raw.assign(
        **{
            "AUC": raw["AUC"].map("{:.3f}".format),
            "active kernels": [_active(row) for row in rows],
            "chains": raw["chains"].astype(str),
            "seconds": raw["seconds"].map("{:.1f}".format),
            "worst R-hat": raw["worst R-hat"].map("{:.3f}".format),
        }
    )
    for name in models:
        implied = models[name].group_table().set_index("group")["implied"]
        for group, reported in data.shares.items():
            table.loc[table["sampler"] == name, f"group {group}: {reported:.2f}"] = f"{implied[group]:.2f}"
    paper = pd.DataFrame([{"sampler": "the paper", **PAPER}])
    table = pd.concat([table, paper], ignore_index=True).fillna("-")
    return Outcome("figure2", "Figure 2: three groups", TEXT, table, raw, _draw(models, data))


def _numbers(model: Any, data: Bunch, seconds: float) -> dict[str, Any]:
    sparse = model.posterior_.is_sparse
    return {
        "AUC": roc_auc_score(data.y, model.predict_proba(data.X)[:, 1]),
        "active kernels": model.posterior_.n_active.mean() if sparse else None,
        "chains": model.n_chains,
        "seconds": seconds,
        "worst R-hat": model.diagnostics_.worst_rhat,
    }


def _active(row: dict[str, Any]) -> str:
    return "all" if row["active kernels"] is None else f"{row['active kernels']:.1f}"


def _draw(models: dict[str, Any], data: Bunch) -> Figure:
    figure = new_figure(13.0, 10.0)
    panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    group_scatter(data.X, data.groups, data.shares, ax=panels[0])
    panels[0].set_title("Known: who is in which group, and what each group reported")
    for ax, (name, model) in zip(panels[1:], models.items(), strict=True):
        probability_surface(model, data.X, data.y, ax=ax)
        auc = roc_auc_score(data.y, model.predict_proba(data.X)[:, 1])
        ax.set_title(f"Learned, {name}: AUC {auc:.3f} against the hidden labels")
    return figure

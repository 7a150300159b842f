"""Figure 3: a cluster of positives hidden under the negatives, from shares and from "at least one"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from disaggregate.datasets import BAYES_AUC, make_hidden_cluster
from disaggregate.experiments.fits import fit_timed, mean_and_spread, tracked
from disaggregate.experiments.outcome import Outcome, Scope
from disaggregate.groups.evidence import AtLeast, Count, Evidence
from disaggregate.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.utils import Bunch

PAPER = {"multiple instance": 0.885, "fractions": 0.922}
FRESH_GROUPS = 1000
MIDDLE = 4.0
# A Gaussian kernel of width 1, the same for both kinds of evidence.
MODEL: dict[str, Any] = {"kernel": "rbf", "gamma": 0.5, "confidence": 1000.0}

TEXT = """\
75 groups of 8, of which 13 hold between one and six positives: a tight cluster in the middle of a wide
background. The best possible score, which knows both densities, has an AUC of exactly {bayes:.3f} in the
population and {empirical} on the training individuals of these {n_sets} data sets. *Multiple instance* sees
only which groups hold any positive (the system of 2004); *fractions* sees their shares, with a confidence
of 1,000. Both have the same Gaussian kernel of width 1, dense weights and an intercept. AUC is that of
`predict_proba`: on the training individuals, as in the paper, and on 8,000 fresh ones. ± is the standard
deviation over data sets.

On the training individuals fractions are ahead by {gain_train}, on fresh ones by {gain_fresh}."""


def evidence_of(data: Bunch) -> dict[str, dict[int, float | Evidence]]:
    """Report on the same groups in two ways."""
    some = {group: AtLeast(1) if share > 0 else Count(0) for group, share in data.shares.items()}
    return {"multiple instance": some, "fractions": dict(data.shares)}


def run(scope: Scope) -> Outcome:
    """Repeat the experiment on simulated data sets."""
    fresh = make_hidden_cluster(
        n_groups=FRESH_GROUPS, random_state=np.random.default_rng([scope.seed, scope.n_repeats])
    )
    length = {"n_draws": scope.n_draws, "n_burn": scope.n_burn, "random_state": scope.seed}
    rows, shown = [], {}
    for repeat in tracked(range(scope.n_repeats), scope.n_repeats, "figure 3", scope.progress):
        data = make_hidden_cluster(random_state=np.random.default_rng([scope.seed, repeat]))
        for name, evidence in evidence_of(data).items():
            model, seconds = fit_timed({**MODEL, **length}, data.X, evidence, data.groups)
            rows.append(
                {
                    "data set": repeat,
                    "evidence": name,
                    "training": roc_auc_score(data.y, model.predict_proba(data.X)[:, 1]),
                    "fresh": roc_auc_score(fresh.y, model.predict_proba(fresh.X)[:, 1]),
                    "best possible, training": roc_auc_score(data.y, data.bayes_score),
                    "worst R-hat": model.diagnostics_.worst_rhat,
                    "seconds": seconds,
                }
            )
            if repeat == 0:
                shown[name] = model
    raw = pd.DataFrame(rows)
    first = make_hidden_cluster(random_state=np.random.default_rng([scope.seed, 0]))
    return Outcome("figure3", "Figure 3: a hidden cluster", _text(raw), _table(raw), raw, _draw(shown, first, raw))


def _text(raw: pd.DataFrame) -> str:
    best = raw.groupby("data set")["best possible, training"].first()
    return TEXT.format(
        bayes=BAYES_AUC,
        empirical=mean_and_spread(best),
        n_sets=len(best),
        gain_train=_gain(raw, "training"),
        gain_fresh=_gain(raw, "fresh"),
    )


def _gain(raw: pd.DataFrame, where: str) -> str:
    wide = raw.pivot(index="data set", columns="evidence", values=where)
    gain = wide["fractions"] - wide["multiple instance"]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    return f"{gain.mean():.3f} (standard error {error:.3f})"


def _table(raw: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {
            "evidence": name,
            "AUC, training": mean_and_spread(cell["training"]),
            "the paper": f"{PAPER[str(name)]:.3f}",
            "AUC, fresh": mean_and_spread(cell["fresh"]),
            "worst R-hat, median": f"{cell['worst R-hat'].median():.3f}",
            "seconds per fit, median": f"{cell['seconds'].median():.1f}",
        }
        for name, cell in raw.groupby("evidence", sort=False)
    ]
    return pd.DataFrame(rows)


def _draw(models: dict[str, Any], data: Bunch, raw: pd.DataFrame) -> Figure:
    figure = new_figure(13.0, 10.5)
    (truth, known), learned = figure.subplots(2, 2)
    positive = data.y == 1
    truth.scatter(*data.X[~positive].T, s=14, c="#f1a340", label="negative")
    truth.scatter(*data.X[positive].T, s=22, c="#542788", label="positive")
    truth.set_title("Hidden: the labels of the individuals")
    share = data.shares.loc[data.groups].to_numpy()
    known.scatter(*data.X[share == 0].T, s=12, c="#cccccc", label="in a group without positives")
    some = known.scatter(
        *data.X[share > 0].T,
        s=24,
        c=share[share > 0],
        cmap="viridis",
        vmin=0,
        vmax=1,
        label="in one with positives",
    )
    figure.colorbar(some, ax=known, label="share reported by the group")
    known.set_title("Known: the share of positives in each group of eight")
    for ax in (truth, known):
        ax.legend(loc="upper right", fontsize="small", framealpha=0.9)
    means = raw.groupby("evidence")[["training", "fresh"]].mean()
    for ax, (name, model) in zip(learned, models.items(), strict=True):
        _surface(ax, model, data)
        auc = means.loc[name]
        ax.set_title(f"Learned from {name}\nmean AUC {auc['training']:.3f} training, {auc['fresh']:.3f} fresh")
    return figure


def _surface(ax: Axes, model: Any, data: Bunch) -> None:
    """Draw the probability in the middle, where the cluster is; its scale is the panel's own."""
    side = np.linspace(-MIDDLE, MIDDLE, 121)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])
    probability = model.predict_proba(grid)[:, 1].reshape(len(side), len(side))
    filled = ax.contourf(side, side, probability, levels=12, cmap="Purples")
    ax.figure.colorbar(filled, ax=ax, label="probability of a positive")
    for is_positive, size, colour, label in ((False, 5, "#f1a340", "negative"), (True, 26, "#2d004b", "positive")):
        shown = (data.y == is_positive) & (np.abs(data.X) < MIDDLE).all(axis=1)
        across, up = data.X[shown].T
        ax.scatter(across, up, s=size, c=colour, edgecolors="white" if is_positive else "none", label=label)
    ax.legend(loc="upper right", fontsize="small", framealpha=0.9)

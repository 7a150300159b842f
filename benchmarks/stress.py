"""What happens to intervals when the model is wrong, and whether the diagnostics notice.

Data are drawn as for the calibration, and then something is done that the model does not know of. For each kind of
harm: how often 50 % and 90 % intervals of the individuals' probabilities hold the truth, and in how many fits the
check of the reports (``diagnostics_.reports``) raises the alarm. Run

    python -m benchmarks.stress [--data-sets 100] [--row NAME ...]

It goes on where it stopped, and writes ``benchmarks/results/stress.csv`` and ``.md``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning

from benchmarks.calibration import FEWER, GAMMA, LEVELS, SHORT, dense_scores
from benchmarks.markdown import markdown_table, share_and_error
from benchmarks.resumable import read_rows, run_left
from disaggregate import GroupStatsClassifier

RESULTS = Path(__file__).parent / "results" / "stress.csv"
N_GROUPS, SIZE = 20, 10
CLAIMED = 1000.0
GROUP_OF = np.repeat(np.arange(N_GROUPS), SIZE)


def as_claimed(share: np.ndarray, rng: np.random.Generator, confidence: float = CLAIMED) -> np.ndarray:
    """Report shares with the noise of a confidence."""
    return rng.beta(confidence * share + 1.0, confidence * (1.0 - share) + 1.0)


def some_misreported(share: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Report one group in five with 0.3 too much or too little."""
    wrong = rng.permutation(N_GROUPS)[: N_GROUPS // 5]
    shifted = share.copy()
    shifted[wrong] = np.clip(shifted[wrong] + rng.choice([-0.3, 0.3], len(wrong)), 0.0, 1.0)
    return as_claimed(shifted, rng)


@dataclass(frozen=True)
class Harm:
    """What is done to the data.

    Attributes
    ----------
    description : str
        The same in words.
    between : float
        Standard deviation of what is added to f of all members of a group.
    context_effect : float
        How much the average features of a group's members count, beside an effect of their own.
    settings : dict
        Of the fit.
    report : callable
        From true shares to reports.
    """

    description: str
    between: float = 0.0
    context_effect: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    report: Callable[[np.ndarray, np.random.Generator], np.ndarray] = as_claimed

    @property
    def has_make_up(self) -> bool:
        """Whether the average features of groups differ."""
        return bool(self.context_effect) or "context" in self.settings


# Intercepts cost more per draw, and data sets are worth more than draws.
EFFECTS = {"group_effects": True, **FEWER}
CONTEXT = {"context": True}
LEARNED = {"confidence": "auto"}
HARMS = {
    "nothing": Harm("nothing: the model is right"),
    "nothing, effects": Harm("the same, `group_effects=True`", settings=EFFECTS),
    "nothing, auto": Harm('the same, `confidence="auto"`', settings=LEARNED),
    "misreported": Harm("one report in five is off by 0.3", report=some_misreported),
    "misreported, auto": Harm('the same, `confidence="auto"`', settings=LEARNED, report=some_misreported),
    "inexact": Harm(
        "reports have a confidence of 30, 1,000 is claimed", report=lambda s, rng: as_claimed(s, rng, 30.0)
    ),
    "inexact, auto": Harm(
        'the same, `confidence="auto"`', settings=LEARNED, report=lambda s, rng: as_claimed(s, rng, 30.0)
    ),
    "a little": Harm("groups differ in more than features, a little (0.3 on the probit scale)", between=0.3),
    "a little, effects": Harm("the same, `group_effects=True`", between=0.3, settings=EFFECTS),
    "a lot": Harm("groups differ in more than features, a lot (1.0 on the probit scale)", between=1.0),
    "a lot, effects": Harm("the same, `group_effects=True`", between=1.0, settings=EFFECTS),
    "make-up": Harm("make-up of groups matters as much as features", context_effect=1.0),
    "make-up, context": Harm("the same, `context=True`", context_effect=1.0, settings=CONTEXT),
    "make-up, auto": Harm('the same, `context="auto"`', context_effect=1.0, settings={"context": "auto"}),
    "make-up, effects": Harm("the same, `group_effects=True`", context_effect=1.0, settings=EFFECTS),
    "make-up, both": Harm(
        "the same, `group_effects=True` and `context=True`", context_effect=1.0, settings={**EFFECTS, **CONTEXT}
    ),
    "no make-up, context": Harm("make-up does not matter, `context=True`", settings=CONTEXT),
}


@dataclass(frozen=True)
class Harmed:
    """Data that the model may not fit."""

    X: np.ndarray
    probability: np.ndarray
    reports: np.ndarray


def harmed(rng: np.random.Generator, harm: Harm) -> Harmed:
    """Simulate a data set, and harm it."""
    X = rng.standard_normal((N_GROUPS * SIZE, 2))
    shift = harm.between * rng.standard_normal(N_GROUPS)
    if harm.has_make_up:
        X += rng.standard_normal((N_GROUPS, 2))[GROUP_OF]  # groups that have a make-up of their own
    slopes = harm.context_effect * rng.standard_normal(2)
    shift = shift + X.reshape(N_GROUPS, SIZE, 2).mean(axis=1) @ slopes
    probability = ndtr(dense_scores(rng, X, "rbf") + shift[GROUP_OF])
    labels = rng.random(len(X)) < probability
    return Harmed(X, probability, harm.report(labels.reshape(N_GROUPS, SIZE).mean(axis=1), rng))


def fit_one(seed: int, harm: Harm) -> dict[str, float]:
    """Simulate, harm, fit and judge one data set."""
    data = harmed(np.random.default_rng(seed), harm)
    settings = {"kernel": "rbf", "gamma": GAMMA, "confidence": CLAIMED, "random_state": seed}
    model = GroupStatsClassifier(**{**settings, **SHORT, **harm.settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.X, dict(enumerate(data.reports)), groups=GROUP_OF)
    found = {"alarm": float(model.diagnostics_.reports.is_surprising)}
    for level in LEVELS:
        low, high = model.predict_interval(data.X, level=level, groups=GROUP_OF).T
        found[f"{level:.0%}"] = float(np.mean((low <= data.probability) & (data.probability <= high)))
    return found


def description_of(name: str, rows: pd.DataFrame) -> str:
    """Describe the harm; "the same" only after what it is the same as."""
    base, *settings = name.split(", ")
    told = HARMS[name].description
    if not settings or base not in HARMS or (rows["case"] == base).any():
        return told
    return told.replace("the same", HARMS[base].description)


def report(rows: pd.DataFrame) -> str:
    """Write the table, in the order of the kinds of harm."""
    parts = [(name, rows[rows["case"] == name]) for name in HARMS]
    table = [
        [
            description_of(name, rows),
            str(len(part)),
            *(share_and_error(part[f"{level:.0%}"]) for level in LEVELS),
            f"{part['alarm'].mean():.0%}",
        ]
        for name, part in parts
        if len(part)
    ]
    lines = [
        "# When the model is wrong",
        "",
        f"Made by `python -m benchmarks.stress`: {N_GROUPS} groups of {SIZE}, Gaussian kernel; share of "
        "individuals whose true probability lies in its interval, ± standard error over data sets; and the share "
        'of fits whose verdict says that the model explains the reports badly. "The same" are the same data. '
        f"With group effects there are two chains of one replica and {FEWER['n_draws']} draws.",
        "",
        *markdown_table(["what is wrong", "data sets", "50 % interval", "90 % interval", "alarm"], table),
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    """Run all kinds of harm and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=100, help="data sets per row (default: 100)")
    parser.add_argument("--row", choices=list(HARMS), action="append", help="one row, or several (default: all)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    for name in arguments.row or HARMS:
        run_left(arguments.output, arguments.data_sets, lambda seed, n=name: fit_one(seed, HARMS[n]), case=name)
        text = report(read_rows(arguments.output))
        arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

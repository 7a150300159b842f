"""More than two outcomes in real groups whose truth is known: ours beside simple methods.

- precincts: party of registered voters by race, the 3 x 3 table of each precinct from its margins
- census areas: tenure with three outcomes and vehicles with four; 30 rows per area as a sample, with the shares of
  everybody in the area, judged on 8,000 others
- margins in census areas: tenure by age (3 x 3), and vehicles by tenure (3 x 4), the table of each area

Methods see features of people, or counts of cells, and the shares of each group. Run

    python -m benchmarks.truth.outcomes --data FOLDER [--task NAME ...] [--method NAME ...] [--seeds 1] [--quick]

with ``--draws N`` for chains of ours of another length than 500 draws, and ``--context S`` for another standard
deviation of the prior of context.

Every fit is written to ``benchmarks/results/truth_outcomes.csv`` as soon as it is done, what is there is not run
again, and the tables of what there is go to ``truth_outcomes.md`` beside it. The short form takes few groups and
short chains, and only prints.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

import disaggregate as dg
from benchmarks.markdown import markdown_table
from benchmarks.resumable import append_row, read_rows
from benchmarks.rivals.missing import RivalMissing
from benchmarks.truth import census, precincts
from benchmarks.truth.encoding import Encoder
from benchmarks.truth.outcome_rivals import EiPackTable, PyEITable
from benchmarks.truth.scores import of_rates, rates_of
from benchmarks.truth.task import COUNT, people_per_row, require_file
from disaggregate.model.priors import ScalePrior, half_normal
from disaggregate.settings import GaussianProcess

RESULTS = Path(__file__).parents[1] / "results" / "truth_outcomes.csv"
SETTINGS = {"kernel": "linear", "n_chains": 2, "n_draws": 500, "n_burn": 250}
SHORTEST = {"kernel": "linear", "n_chains": 2, "n_draws": 40, "n_burn": 40}
MOST_DRAWS = 500
BLOCK = 1_000  # rows that are predicted at once
N_ROWS = 30
FEWEST = 100
LEAST = 1e-6
AREA, KIND = "area", "people"


@dataclass(frozen=True)
class OutcomesTask:
    """What a method sees, and what it is judged on.

    Attributes
    ----------
    name : str
        The task.
    seed : int
        Which sample of people is given.
    outcomes : tuple of str
        Names, which are columns of the results.
    people, results : DataFrame
        One row per person or cell; one row per group, with a share or a count per outcome.
    roles : mapping
        Arguments of ``fit_tables``.
    labels : ndarray of shape (n_people, n_outcomes)
        Shares of outcomes in each row of people, for the supervised ceiling only.
    judges : DataFrame
        Rows to predict, with the same columns as people.
    truth : ndarray of shape (n_judges, n_outcomes)
        Shares of outcomes in each of them.
    by : DataFrame
        Columns of the judges that make subgroups.
    groupings : sequence of sequence of str
        Columns of ``by`` that are taken together.
    """

    name: str
    seed: int
    outcomes: tuple[str, ...]
    people: pd.DataFrame
    results: pd.DataFrame
    roles: Mapping[str, Any]
    labels: np.ndarray
    judges: pd.DataFrame
    truth: np.ndarray
    by: pd.DataFrame
    groupings: Sequence[Sequence[str]]

    @property
    def features(self) -> list[str]:
        """Columns of people by which individuals differ."""
        return [name for name in self.people if name not in (self.roles["group"], COUNT)]

    @property
    def shares(self) -> pd.DataFrame:
        """Share of each outcome in each group."""
        table = self.results.set_index(self.roles["group"])[list(self.outcomes)]
        return table.div(table.sum(axis=1), axis=0)

    @property
    def base_rates(self) -> np.ndarray:
        """Share of each outcome in all groups together."""
        return np.average(self.shares, axis=0, weights=self.results["size"])


def precincts_task(data: Path, seed: int, is_quick: bool) -> OutcomesTask:
    """Make the task of race by party; the quick form has one precinct in five."""
    table = pd.read_csv(require_file(data / precincts.FILE, data))
    table = table.iloc[:: 5 if is_quick else 1]
    area = (table["county"] + " " + table["precinct"].astype(str)).to_numpy()
    races, parties = precincts.RACES, list(precincts.PARTIES)
    cells = pd.DataFrame(
        {
            AREA: np.repeat(area, len(races)),
            KIND: np.tile(list(races), len(table)),
            COUNT: table[list(races)].to_numpy().ravel(),
        }
    )
    columns = [f"{start}{party}" for start in races.values() for party in parties]
    truth = table[columns].to_numpy().reshape(len(cells), len(parties)) / np.maximum(cells[[COUNT]], 1).to_numpy()
    some = cells[COUNT].to_numpy() > 0
    cells, truth = cells[some].reset_index(drop=True), truth[some]
    results = table[parties].assign(area=area, size=table[list(races)].sum(axis=1))
    return OutcomesTask(
        name="precincts, party by race",
        seed=seed,
        outcomes=tuple(parties),
        people=cells,
        results=results.reset_index(drop=True),
        roles={"group": AREA, "positives": parties, "total": "size", "count": COUNT},
        labels=truth,
        judges=cells,
        truth=truth,
        by=cells[[KIND]],
        groupings=[[KIND]],
    )


def tenure(column: pd.Series) -> pd.Series:
    """Three outcomes; who pays no rent is with the renters."""
    return column.map({"Owned, mortgage/loan": "with a loan", "Owned free and clear": "free and clear"}).fillna(
        "not owned"
    )


def vehicles(column: pd.Series) -> pd.Series:
    """Four outcomes."""
    few = {"No vehicles": "none", "1 vehicle": "one", "2 vehicles": "two"}
    return column.map(few).fillna("three or more")


def census_task(
    data: Path, seed: int, is_quick: bool, column: str, outcome_of: Callable[[pd.Series], pd.Series]
) -> OutcomesTask:
    """Make the task of a column of the census; the quick form has one area in six, and 10 rows of each."""
    group = census.GROUP
    everybody = pd.read_csv(require_file(data / census.FILE, data), dtype={group: str})
    everybody = everybody[everybody[group].isin(sorted(everybody[group].unique())[:: 6 if is_quick else 1])]
    everybody = everybody[[group, *census.FEATURES]].sample(frac=1.0, random_state=seed).reset_index(drop=True)
    rank = everybody.groupby(group).cumcount()
    given = everybody.index[rank < (10 if is_quick else N_ROWS)]
    others = everybody.index[rank >= max(census.ROWS)]
    judges = np.random.default_rng(seed).permutation(others)[: census.N_JUDGES]
    outcome = outcome_of(everybody[column])
    names = tuple(sorted(outcome.unique()))
    labels = (outcome.to_numpy()[:, None] == np.array(names)).astype(float)
    features = everybody.drop(columns=column)
    shares = pd.DataFrame(labels, columns=names).groupby(everybody[group]).mean()
    by = census.bands(features.loc[judges].drop(columns=group))
    return OutcomesTask(
        name=f"census, {column}",
        seed=seed,
        outcomes=names,
        people=features.loc[given].reset_index(drop=True),
        results=shares.assign(size=everybody.groupby(group).size()).reset_index(),
        roles={"group": group, "shares": list(names), "size": "size", "sampled": True},
        labels=labels[given],
        judges=features.loc[judges].reset_index(drop=True),
        truth=labels[judges],
        by=by,
        groupings=[*([name] for name in by), *map(list, combinations(by, 2))],
    )


def age_bands(everybody: pd.DataFrame) -> pd.Series:
    """Three bands of about as many people."""
    bands = pd.cut(everybody["age"], (0, 40, 60, 200), right=False, labels=["to 39", "40 to 59", "60 and over"])
    return bands.astype(str)


def census_margins_task(
    data: Path,
    seed: int,
    is_quick: bool,
    kind_of: Callable[[pd.DataFrame], pd.Series],
    column: str,
    outcome_of: Callable[[pd.Series], pd.Series],
) -> OutcomesTask:
    """Make the task of kinds of people by outcomes, from margins; the quick form has one area in six."""
    everybody = pd.read_csv(require_file(data / census.FILE, data), dtype={census.GROUP: str})
    areas = sorted(everybody[census.GROUP].unique())[:: 6 if is_quick else 1]
    everybody = everybody[everybody[census.GROUP].isin(areas)]
    kind, outcome = kind_of(everybody).rename(KIND), outcome_of(everybody[column])
    counts = pd.crosstab([everybody[census.GROUP].rename(AREA), kind], outcome)
    names = tuple(str(name) for name in counts)
    cells = counts.sum(axis=1).rename(COUNT).reset_index()
    results = counts.groupby(AREA).sum()
    truth = counts.to_numpy() / cells[[COUNT]].to_numpy()
    return OutcomesTask(
        name=f"census margins, {column} by {kind_of.__name__.replace('_', ' ')}",
        seed=seed,
        outcomes=names,
        people=cells,
        results=results.assign(size=results.sum(axis=1)).reset_index(),
        roles={"group": AREA, "positives": list(names), "total": "size", "count": COUNT},
        labels=truth,
        judges=cells,
        truth=truth,
        by=cells[[KIND]],
        groupings=[[KIND]],
    )


def kind_of_tenure(everybody: pd.DataFrame) -> pd.Series:
    """Who owns and who rents."""
    return tenure(everybody["tenure"])


TASKS: dict[str, Callable[[Path, int, bool], OutcomesTask]] = {
    "precincts": precincts_task,
    "tenure by age": lambda *given: census_margins_task(*given, age_bands, "tenure", tenure),
    "vehicles by tenure": lambda *given: census_margins_task(*given, kind_of_tenure, "vehicles", vehicles),
    "tenure": lambda *given: census_task(*given, "tenure", tenure),
    "vehicles": lambda *given: census_task(*given, "vehicles", vehicles),
}


@dataclass(frozen=True)
class OutcomesPrediction:
    """What a method says of the judges: probabilities (n_rows, n_outcomes), perhaps in each draw.

    Draws may be shares among the judges themselves.
    """

    probability: np.ndarray
    draws: np.ndarray | None = None
    of_these_people: bool = False


class Ours:
    """`fit_tables`, all outcomes at once."""

    name: ClassVar[str] = "disaggregate, linear kernel"
    settings: ClassVar[dict[str, Any]] = SETTINGS
    rhat = np.nan

    def fit(self, task: OutcomesTask) -> Self:
        """Fit to the tables."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            settings = {"random_state": task.seed, "n_jobs": 1, **self.settings}
            self._analysis = dg.fit_tables(task.people, task.results, settings=settings, **task.roles)
        classes = [str(name) for name in self._analysis.classifier.classes_]
        self._order = [classes.index(name) for name in task.outcomes]
        self.rhat = float(self._analysis.classifier.diagnostics_.worst_rhat)
        return self

    def predict(self, judges: pd.DataFrame) -> OutcomesPrediction:
        """Average and thin the draws."""
        table = self._analysis.read(judges)
        blocks = [table.iloc[start : start + BLOCK] for start in range(0, len(table), BLOCK)]
        means, kept = [], []
        for block in blocks:
            draws = self._analysis.predict_draws(block)
            draws = draws.reshape(-1, *draws.shape[2:])[..., self._order]
            means.append(draws.mean(axis=0))
            chosen = np.linspace(0, len(draws) - 1, min(len(draws), MOST_DRAWS)).astype(int)
            kept.append(draws[chosen].astype(np.float32))
        return OutcomesPrediction(np.concatenate(means), np.concatenate(kept, axis=1))


class WithContext(GaussianProcess):
    """The usual priors, but for the context: half-normal with another standard deviation."""

    def __init__(
        self, *, emphasis: Any = "auto", mu: Any = None, nu: Any = None, cells: bool = False, context: float
    ):
        super().__init__(emphasis=emphasis, mu=mu, nu=nu, cells=cells)
        self.context = context

    def component_priors(self, of_places: bool, of_tables: bool = False) -> dict[str, ScalePrior]:
        """Return the priors of the scales."""
        return {**super().component_priors(of_places, of_tables), "context": half_normal(self.context, 0.03)}


class OursShort(Ours):
    """Chains of another length, or with another prior of context, which name them."""

    @classmethod
    def of_length(cls, n_draws: int, context: float | None = None) -> type[Ours]:
        """Make the method with so many draws per chain, after as many sweeps of warm-up."""
        settings = {**SETTINGS, "n_draws": n_draws, "n_burn": n_draws}
        name = f"{Ours.name}, {n_draws} draws"
        if context is not None:
            settings["prior"], name = WithContext(context=context), f"{name}, context {context:g}"
        return type(cls.__name__, (cls,), {"name": name, "settings": settings})


class OursQuick(Ours):
    """The shortest chains that show whether it runs."""

    settings: ClassVar[dict[str, Any]] = SHORTEST


class BaseRates:
    """The shares of all groups together, for everybody."""

    name: ClassVar[str] = "base rate"

    def fit(self, task: OutcomesTask) -> Self:
        """Average the shares by the size of the groups."""
        self._rates = task.base_rates
        return self

    def predict(self, judges: pd.DataFrame) -> OutcomesPrediction:
        """Repeat them."""
        return OutcomesPrediction(np.tile(self._rates, (len(judges), 1)))


class GroupShares:
    """The shares of the group, for everybody in it."""

    name: ClassVar[str] = "share of the area"

    def fit(self, task: OutcomesTask) -> Self:
        """Look them up."""
        self._group, self._shares = task.roles["group"], task.shares
        return self

    def predict(self, judges: pd.DataFrame) -> OutcomesPrediction:
        """Repeat them."""
        return OutcomesPrediction(self._shares.loc[judges[self._group]].to_numpy())


class Goodman:
    """Least squares of the shares of groups on their means, outcome by outcome (Goodman, 1953)."""

    name: ClassVar[str] = "Goodman's regression"

    def fit(self, task: OutcomesTask) -> Self:
        """Regress."""
        self._encode = Encoder(task)
        people, groups = people_per_row(task.people), task.people[task.roles["group"]]
        sums = pd.DataFrame(self._encode(task.people) * people[:, None]).groupby(groups.to_numpy()).sum()
        means = sums.to_numpy() / pd.Series(people).groupby(groups.to_numpy()).sum().to_numpy()[:, None]
        shares = task.shares.loc[sums.index].to_numpy()
        self._coefficients = np.linalg.lstsq(np.column_stack([means, np.ones(len(means))]), shares, rcond=None)[0]
        return self

    def predict(self, judges: pd.DataFrame) -> OutcomesPrediction:
        """Fitted values, kept between 0.01 and 0.99, that add up to 1."""
        X = self._encode(judges)
        fitted = (np.column_stack([X, np.ones(len(X))]) @ self._coefficients).clip(0.01, 0.99)
        return OutcomesPrediction(fitted / fitted.sum(axis=1, keepdims=True))


class Supervised:
    """The ceiling: logistic regression on the labels of the same rows, which nobody else sees."""

    name: ClassVar[str] = "supervised on the same rows (sees labels)"

    def fit(self, task: OutcomesTask) -> Self:
        """Choose the penalty by the log loss of rows left out; a cell counts by its people of each outcome."""
        self._encode = Encoder(task)
        n_outcomes, weight = len(task.outcomes), people_per_row(task.people)[:, None] * task.labels
        X = np.repeat(self._encode(task.people), n_outcomes, axis=0)
        y, weight, some = np.tile(np.arange(n_outcomes), len(task.people)), weight.ravel(), weight.ravel() > 0.0
        search = GridSearchCV(
            LogisticRegression(max_iter=1000), {"C": 10.0 ** np.arange(-4, 2)}, scoring="neg_log_loss"
        )
        self._model = search.fit(X[some], y[some], sample_weight=weight[some] / weight[some].mean())
        return self

    def predict(self, judges: pd.DataFrame) -> OutcomesPrediction:
        """Predict probabilities."""
        return OutcomesPrediction(self._model.predict_proba(self._encode(judges)))


class OursByDefault(Ours):
    """All defaults: four chains, of as many draws as it takes."""

    name = "disaggregate, all defaults"
    settings: ClassVar[dict[str, Any]] = {}


class EiPack(EiPackTable):
    """All cells at once, from margins alone."""

    def predict(self, judges: pd.DataFrame) -> OutcomesPrediction:
        """Look them up."""
        draws = self.shares(judges)
        return OutcomesPrediction(draws.mean(axis=0), draws, of_these_people=True)


class PyEI(PyEITable):
    """All cells at once, from margins alone."""

    predict = EiPack.predict


METHODS: dict[str, Any] = {
    method.name: method
    for method in (Ours, OursByDefault, EiPack, PyEI, BaseRates, GroupShares, Goodman, Supervised)
}


def scores(task: OutcomesTask, prediction: OutcomesPrediction) -> dict[str, float]:
    """Log loss of people; mean error of the rates of subgroups over all outcomes, and how often intervals hold."""
    people = people_per_row(task.judges)
    probability = prediction.probability.clip(LEAST, 1.0)
    probability = probability / probability.sum(axis=1, keepdims=True)
    log_loss = -np.sum(people[:, None] * task.truth * np.log(probability)) / people.sum()
    drawn = prediction.draws
    if drawn is not None and not prediction.of_these_people:
        drawn = outcomes_of(drawn, people)
    tables = [
        rates_of(
            task.by,
            task.groupings,
            people,
            task.truth[:, k],
            probability[:, k],
            None if drawn is None else drawn[:, :, k],
            FEWEST,
        )
        for k in range(len(task.outcomes))
    ]
    return {"log_loss": float(log_loss), **of_rates(pd.concat(tables, ignore_index=True))}


def outcomes_of(draws: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Draw outcomes of these very people, as their true shares are those of outcomes and not of probabilities."""
    rng = np.random.default_rng(0)
    drawn = np.empty(draws.shape, dtype=np.float32)
    for index, p in enumerate(draws.astype(np.float64)):
        drawn[index] = rng.multinomial(people.astype(int), p / p.sum(axis=1, keepdims=True)) / people[:, None]
    return drawn


def _processor_seconds() -> float:
    """Seconds of the processor so far, with those of programs that were run and have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def run_one(method: type, task: OutcomesTask) -> dict[str, float]:
    """Fit one method and judge it; seconds are of the processor."""
    began = _processor_seconds()
    fitted = method().fit(task)
    seconds = _processor_seconds() - began
    found = scores(task, fitted.predict(task.judges))
    return {**found, "seconds": seconds, "rhat": float(getattr(fitted, "rhat", np.nan))}


def run(
    data: Path, names: Sequence[str], methods: Mapping[str, type], seeds: int, path: Path, quick: bool
) -> None:
    """Run what is not yet in the file."""
    for seed in range(seeds):
        for name in names:
            task = TASKS[name](data, seed, quick)
            for method in methods:
                key = {"task": task.name, "seed": seed, "method": methods[method].name}
                applies_to = getattr(methods[method], "applies_to", None)
                if len(read_rows(path, **key)) or (applies_to and not applies_to(task)):
                    continue
                try:
                    found = run_one(methods[method], task)
                except RivalMissing as missing:
                    print(missing)
                    continue
                append_row(path, {**key, **found})
                print({**key, **found}, flush=True)


def page(rows: pd.DataFrame) -> str:
    """Write the tables: means over seeds."""
    shown = {
        "log_loss": "log loss",
        "error": "error of rates",
        "coverage": "90 % holds",
        "width": "width",
        "seconds": "seconds",
        "rhat": "R-hat",
    }
    lines = []
    for (task, method), own in rows.groupby(["task", "method"], sort=False):
        means = own[list(shown)].mean()
        reported = ["" if np.isnan(means[name]) else f"{means[name]:.3g}" for name in shown]
        lines.append([task, str(own["seed"].nunique()), str(own["subgroups"].iloc[0]), method, *reported])
    header = ["task", "seeds", "rates", "method", *shown.values()]
    text = (__doc__ or "").split("\n\n")
    about = [
        text[1],
        "Rates are of subgroups of 100 judges or more, of each outcome; seconds are of the processor.",
    ]
    return (
        "\n\n".join(["# Several outcomes with known truth", *about, "\n".join(markdown_table(header, lines))])
        + "\n"
    )


def main(given: list[str] | None = None) -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds truth/")
    parser.add_argument("--task", action="append", choices=list(TASKS), help="only this one; may be repeated")
    parser.add_argument("--method", action="append", choices=list(METHODS), help="only this one; may be repeated")
    parser.add_argument("--seeds", type=int, default=1, help="samples of people (default: 1)")
    parser.add_argument("--draws", type=int, help="ours with so many draws per chain, after as much warm-up")
    parser.add_argument("--context", type=float, help="with --draws: standard deviation of the prior of context")
    parser.add_argument("--quick", action="store_true", help="few groups and short chains: does it run?")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args(given)
    known = {**METHODS, **({OursQuick.name: OursQuick} if arguments.quick else {})}
    methods = {name: known[name] for name in arguments.method or known}
    if arguments.draws is not None and Ours.name in methods:
        methods[Ours.name] = OursShort.of_length(arguments.draws, arguments.context)
    with tempfile.TemporaryDirectory() as temporary, threadpool_limits(1):
        path = Path(temporary) / "truth_outcomes.csv" if arguments.quick else arguments.output
        names = arguments.task or list(TASKS)
        run(arguments.data, names, methods, arguments.seeds, path, arguments.quick)
        text = page(pd.read_csv(path))
    if not arguments.quick:
        arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

"""New York 2016: who voted for Trump, learned from the official result of each congressional district.

Respondents of the Cooperative Congressional Election Study are a sample of their district, so that its share is
`Population` evidence on them. Their own reported votes are seen by nobody but the judge. Districts are left out
three at a time; all their respondents together are judged by one AUC, and the predicted share of each is compared
with the official one. Rivals, which know no `Population`, are given the share as if it were that of the
respondents; the likelihood of bags, which takes hours on groups of this size, is not among them. Run

    python -m benchmarks.cces --data FOLDER [--seeds 1]

It writes ``benchmarks/results/cces.md``, ``.csv`` and ``.png``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks.judge import calibration_error
from benchmarks.ours import Ours
from benchmarks.rivals.alternating_ridge import AlternatingRidge
from benchmarks.rivals.em_logistic import EMLogistic
from benchmarks.rivals.mean_map import MeanMap
from disaggregate import evidence
from disaggregate.settings import groups_are_places

RESULTS = Path(__file__).parent / "results"
FEATURES = ["age", "gender", "race", "hispanic", "educ", "faminc", "marstat", "newsint"]
CANDIDATES = ("Donald Trump", "Hilary Clinton")  # spelled as in the file
LEFT_OUT = 3
N_RESAMPLES = 2000
SHORT = {"n_draws": 250, "n_burn": 250}  # four chains of these tell means and 90 % intervals well enough


class OnDistricts(Ours):
    """The classifier with respondents as a sample of their district, whose make-up may matter."""

    name = "disaggregate"
    settings: ClassVar[dict[str, Any]] = {**SHORT, "kernel": "linear", **groups_are_places()}

    def probability(self, X: np.ndarray, districts: np.ndarray) -> np.ndarray:
        """Probability of the positive class, for people of these districts."""
        return self.model_.predict_proba(X, districts)[:, 1]

    def fit(self, X: np.ndarray, results: pd.DataFrame, groups: np.ndarray) -> OnDistricts:
        """Fit to the results of districts."""
        known = {
            district: evidence.Population(row["share"], size=int(row["size"]))
            for district, row in results.iterrows()
        }
        return super().fit(X, known, groups)


class WithoutContext(OnDistricts):
    """The same, but a district counts through its people alone."""

    name = "disaggregate, context=False"
    settings: ClassVar[dict[str, Any]] = {**OnDistricts.settings, "context": False}


class GroupRegression:
    """Ridge regression of the districts' shares on their mean features."""

    name = "linear group regression"

    def fit(self, X: np.ndarray, results: pd.DataFrame, groups: np.ndarray) -> GroupRegression:
        """Regress."""
        means = pd.DataFrame(X).groupby(groups).mean()
        self._model = Ridge(alpha=1.0).fit(means.to_numpy(), results.loc[means.index, "share"])
        return self

    def probability(self, X: np.ndarray, districts: np.ndarray) -> np.ndarray:
        """Fitted share, kept inside (0, 1)."""
        return self._model.predict(X).clip(0.01, 0.99)


def on_shares(rival: type) -> type:
    """Let a rival that knows shares only take the results of districts."""

    class OnShares(rival):  # type: ignore[misc, valid-type]
        def fit(self, X: np.ndarray, results: pd.DataFrame, groups: np.ndarray) -> Any:
            return super().fit(X, results["share"], groups)

        def probability(self, X: np.ndarray, districts: np.ndarray) -> np.ndarray:
            return super().probability(X)

    return OnShares


METHODS = (
    OnDistricts,
    WithoutContext,
    GroupRegression,
    *map(on_shares, (MeanMap, AlternatingRidge, EMLogistic)),
)


def read(data: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, pd.DataFrame]:
    """Features, districts and votes of respondents with a two-party vote; and the districts' results."""
    folder = data / "cces_ny"
    if not folder.is_dir():
        raise SystemExit(f"{folder} is missing: give the folder that holds cces_ny/ with --data.")
    people = pd.read_csv(folder / "cces2018_ny_individuals.csv")
    people = people[people["voted_pres_16"].isin(CANDIDATES)]
    X = pd.get_dummies(people[FEATURES].astype(str), dtype=float)
    results = pd.read_csv(folder / "ny_cd_results.csv").set_index("cd")
    results = results.rename(columns={"pct_trump": "share", "presvotes_DR_16": "size"})[["share", "size"]]
    scaled = StandardScaler().fit_transform(X.loc[:, X.mean() > 0.01])
    return scaled, people["cd"].to_numpy(), (people["voted_pres_16"] == CANDIDATES[0]).to_numpy(int), results


def predict_left_out(
    method: type, X: np.ndarray, districts: np.ndarray, results: pd.DataFrame, seed: int
) -> tuple[np.ndarray, pd.DataFrame, float]:
    """Probability of every respondent by fits that did not see the district; each district's share; seconds."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(results.index.to_numpy())
    probability, rows, seconds = np.empty(len(X)), [], 0.0
    for fold in np.array_split(names, -(-len(names) // LEFT_OUT)):
        inside = ~np.isin(districts, fold)
        started = time.perf_counter()
        fitted = method().fit(X[inside], results.drop(index=fold), districts[inside])
        seconds += time.perf_counter() - started
        probability[~inside] = fitted.probability(X[~inside], districts[~inside])
        for name in fold:
            there = districts == name
            rows.append(_district(fitted, X[there], districts[there], rng) | {"district": name, "n": there.sum()})
    table = pd.DataFrame(rows).set_index("district")
    return probability, table.assign(official=results["share"]), seconds


def _district(fitted: Any, X: np.ndarray, districts: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """Predicted share; with draws, an interval for the district, of which these people are a random sample."""
    predicted = {"predicted": float(fitted.probability(X, districts).mean())}
    if isinstance(fitted, OnDistricts):
        draws = fitted.model_.predict_draws(X, districts).reshape(-1, len(X))
        chosen = draws[rng.integers(len(draws), size=N_RESAMPLES)]
        people = rng.integers(len(X), size=(N_RESAMPLES, len(X)))
        low, high = np.quantile(np.take_along_axis(chosen, people, axis=1).mean(axis=1), [0.05, 0.95])
        predicted |= {"conf_low": float(low), "conf_high": float(high)}
    return predicted


def summary(y: np.ndarray, probability: np.ndarray, districts: pd.DataFrame) -> dict[str, float]:
    """Judge respondents and districts."""
    error = districts["predicted"] - districts["official"]
    row = {
        "auc": roc_auc_score(y, probability),
        "log_loss": log_loss(y, probability.clip(1e-6, 1.0 - 1e-6)),
        "calibration": calibration_error(y, probability),
        "district_error": float(error.abs().mean()),
    }
    if "conf_low" in districts:
        row["covered"] = float(districts["official"].between(districts["conf_low"], districts["conf_high"]).mean())
    return row


def ceiling(X: np.ndarray, y: np.ndarray) -> float:
    """AUC of supervised logistic regression on the very respondents that it was fitted to."""
    return float(roc_auc_score(y, LogisticRegression(max_iter=1000).fit(X, y).decision_function(X)))


def report(table: pd.DataFrame, top: float, n_people: int) -> str:
    """Write the table."""
    lines = [
        "# New York 2016",
        "",
        f"Made by `python -m benchmarks.cces`: {n_people} respondents, 27 districts, three left out at a time; "
        f"features: {', '.join(FEATURES)}; a linear kernel, as most rivals are linear. AUC, log loss and "
        "calibration error are those of all respondents in districts left out, against their reported votes; "
        "district error is the mean absolute error of a district's predicted share; covered is how often its "
        "90 % interval, which knows that respondents are a sample, holds the official share. Supervised logistic "
        f"regression, in sample: AUC {top:.3f}.",
        "",
        "| method | AUC | log loss | calibration error | district error | covered | seconds per fit |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for method, rows in table.groupby("method", sort=False):
        mean = rows.mean(numeric_only=True)
        covered = f"{mean['covered']:.0%}" if np.isfinite(mean["covered"]) else "-"
        shown = [f"{mean[c]:.3f}" for c in ("auc", "log_loss", "calibration", "district_error")]
        lines.append(f"| {method} | " + " | ".join(shown) + f" | {covered} | {mean['seconds']:.1f} |")
    return "\n".join([*lines, "", "![Predicted and official share of each district](cces.png)", ""])


def chart(districts: pd.DataFrame, path: Path) -> None:
    """Predicted against official share of the districts left out."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 5.6), layout="constrained")
    ax = figure.subplots()
    reach = np.abs(districts[["conf_low", "conf_high"]].sub(districts["predicted"], axis=0)).to_numpy().T
    ax.errorbar(districts["official"], districts["predicted"], yerr=reach, fmt="o", color="#542788", capsize=2)
    ax.plot([0, 0.75], [0, 0.75], color="grey", linestyle="dashed", label="perfect")
    ax.set(xlabel="official share for Trump", ylabel="predicted by a fit without the district, 90 % interval")
    ax.set_title("27 congressional districts of New York, left out three at a time")
    ax.legend(loc="upper left")
    figure.savefig(path, dpi=130)


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds cces_ny/")
    parser.add_argument("--seeds", type=int, default=1, help="ways to leave districts out")
    parser.add_argument("--output", type=Path, default=RESULTS / "cces.csv")
    arguments = parser.parse_args()
    X, districts, y, results = read(arguments.data)
    top, rows = ceiling(X, y), []
    for seed in range(arguments.seeds):
        for method in METHODS:
            probability, shares, seconds = predict_left_out(method, X, districts, results, seed)
            row = {"seed": seed, "method": method.name, **summary(y, probability, shares)}
            rows.append(row | {"seconds": seconds / -(-len(results) // LEFT_OUT)})
            print(rows[-1], flush=True)
            if method is OnDistricts and seed == 0:
                chart(shares, arguments.output.with_suffix(".png"))
            table = pd.DataFrame(rows)  # written after every method, as all of them take long
            table.to_csv(arguments.output, index=False, float_format="%.5g")
            arguments.output.with_suffix(".md").write_text(report(table, top, len(y)), encoding="utf-8")
    print(report(table, top, len(y)))


if __name__ == "__main__":
    main()

"""New York 2016 in four commands, and whether the intervals of subgroups hold the votes that people reported.

`disaggregate check`, `fit`, `subgroups` and `report` are run on the respondents of the Cooperative Congressional
Election Study, without their votes, and on the official result of each congressional district. Their own reported
votes are then the truth for every subgroup of 30 people or more, by one column or by two. Two more fits take a
district for no more than its people, one of them with less trust in the results. Run

    python -m benchmarks.cces_subgroups --data FOLDER [--centers 500] [--work FOLDER]

It writes ``benchmarks/results/cces_subgroups.md``, ``.csv`` and ``.png``. With ``--work`` tables, models and page
stay in that folder, and models that are there already are judged without another fit.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

import disaggregate as dg
from benchmarks.cces import CANDIDATES, FEATURES, LEFT_OUT
from disaggregate.analysis import Analysis
from disaggregate.cli.main import main as disaggregate
from disaggregate.posterior.subgroups import subgroup_draws

RESULTS = Path(__file__).parent / "results"
FEWEST = 30
LEVEL = 0.9
MOST_MISSES = 12
KINDS = {"people": "these very people (`--outcomes`)", "like_them": "many like them (default)"}
FITS = {
    "default": ["--size", "presvotes_DR_16", "--sampled"],
    "no places": ["--size", "presvotes_DR_16", "--sampled", "--context", "no", "--group-effects", "no"],
    "less trust": ["--confidence", "25", "--context", "no"],
}
CITY = [f"NY-{number:02d}" for number in range(5, 16)]


def read(data: Path) -> tuple[pd.DataFrame, np.ndarray, Path]:
    """People with a two-party vote, without it; their votes; and where the official results are."""
    folder = data / "cces_ny"
    if not folder.is_dir():
        raise SystemExit(f"{folder} is missing: give the folder that holds cces_ny/ with --data.")
    people = pd.read_csv(folder / "cces2018_ny_individuals.csv")
    people = people[people["voted_pres_16"].isin(CANDIDATES)].reset_index(drop=True)
    votes = (people["voted_pres_16"] == CANDIDATES[0]).to_numpy(float)
    return people[["cd", *FEATURES]], votes, folder / "ny_cd_results.csv"


# ---- the commands ---------------------------------------------------------------------------------------


def run_commands(results: Path, work: Path, centers: int | None) -> dict[str, Path]:
    """Check, fit, subgroups and report of the first fit, and the other fits; return where the models are."""
    people = str(work / "people.csv")
    roles = {name: ["--group", "cd", "--share", "pct_trump", *options] for name, options in FITS.items()}
    models = {name: work / f"{name.replace(' ', '_')}.dgz" for name in FITS}
    first = next(iter(FITS))
    timed("check", [people, str(results), *roles[first]])
    for name, model in models.items():
        if not model.is_file():
            landmarks = [] if centers is None else ["--centers", str(centers)]
            timed("fit", [people, str(results), *roles[name], *landmarks, "-o", str(model)])
    timed("subgroups", [str(models[first]), people, "--by", "educ,race"])
    timed("report", [str(models[first]), people, "-o", str(work / "report.html"), "--title", "New York 2016"])
    return models


def timed(command: str, arguments: list[str]) -> None:
    """Run a command and print how long it took."""
    started = time.perf_counter()
    if disaggregate([command, *arguments]) != 0:
        raise SystemExit(f"disaggregate {command} failed")
    print(f"disaggregate {command}: {time.perf_counter() - started:.0f} s", flush=True)


# ---- the judgement --------------------------------------------------------------------------------------


def judged(analysis: Analysis, people: pd.DataFrame, votes: np.ndarray) -> pd.DataFrame:
    """Tabulate every subgroup that is large enough: the truth, and the estimate with both kinds of intervals."""
    draws = analysis.predict_draws(people).reshape(-1, len(people))
    groupings = [[], *([name] for name in FEATURES), *map(list, combinations(FEATURES, 2))]
    return pd.concat([_by(draws, people, votes, by) for by in groupings], ignore_index=True)


def _by(draws: np.ndarray, people: pd.DataFrame, votes: np.ndarray, by: list[str]) -> pd.DataFrame:
    def rates(values: np.ndarray, outcomes: bool) -> pd.DataFrame:
        return subgroup_draws(lambda rows: values[:, rows], people, by, outcomes=outcomes).table(LEVEL)

    like_them, these, truth = rates(draws, False), rates(draws, True), rates(votes[None, :], False)
    keys = like_them[by].astype(object).where(like_them[by].notna(), "missing").astype(str)
    table = pd.DataFrame(
        {
            "by": " x ".join(by) or "everybody",
            "subgroup": [", ".join(row) or "everybody" for row in keys.to_numpy()],
            "n": like_them["n"],
            "truth": truth["estimate"],
            "estimate": like_them["estimate"],
            "std_error": these["std_error"],
            "like_them_low": like_them["conf_low"],
            "like_them_high": like_them["conf_high"],
            "people_low": these["conf_low"],
            "people_high": these["conf_high"],
        }
    )
    return table[table["n"] >= FEWEST]


def covered(table: pd.DataFrame, kind: str, shift: float = 0.0) -> pd.Series:
    """Whether the interval, moved by so much, holds the truth of each subgroup."""
    # Shares are counts over n: a bound that is such a count must not fail by rounding.
    low, high = table[f"{kind}_low"] + shift - 1e-9, table[f"{kind}_high"] + shift + 1e-9
    return table["truth"].between(low, high)


def width(table: pd.DataFrame, kind: str) -> float:
    """Mean width of the intervals."""
    return float((table[f"{kind}_high"] - table[f"{kind}_low"]).mean())


def slope(table: pd.DataFrame) -> float:
    """Slope of the truth on the estimate, by number of people: 1 if differences are as large as they should be."""
    return float(np.polyfit(table["estimate"], table["truth"], 1, w=np.sqrt(table["n"]))[0])


def districts(people: pd.DataFrame, votes: np.ndarray, results: Path) -> dict[str, float]:
    """Set respondents beside their districts: votes, and what the features of people make of a district.

    A logistic regression learns votes from features, districts left out in turn, and predicts the share of each.
    """
    features = pd.get_dummies(people[FEATURES].astype(str), dtype=float)
    folds = GroupKFold(people["cd"].nunique() // LEFT_OUT)
    model = LogisticRegression(max_iter=2000)
    chances = cross_val_predict(model, features, votes, groups=people["cd"], cv=folds, method="predict_proba")
    each = people[["cd"]].assign(vote=votes, predicted=chances[:, 1])
    white = each[people["race"] == "White"]
    rows, in_city = each.groupby("cd"), white.groupby(white["cd"].isin(CITY))[["vote", "predicted"]].mean()
    table = rows.mean().assign(n=rows.size(), official=pd.read_csv(results).set_index("cd")["pct_trump"])
    official = table["official"]
    chi2 = (table["vote"] - official) ** 2 / (official * (1.0 - official) / table["n"])
    return {
        "districts": len(table),
        "reported": float(votes.mean()),
        "official": float(np.average(official, weights=table["n"])),
        "chi2": float(chi2.sum()),
        "spread_predicted": float(table["predicted"].std()),
        "spread_official": float(official.std()),
        "correlation": float(np.corrcoef(table["predicted"], official)[0, 1]),
        "slope": float(np.polyfit(table["predicted"], official, 1)[0]),
        **{f"{name}_city": float(in_city.loc[True, name]) for name in in_city},
        **{f"{name}_elsewhere": float(in_city.loc[False, name]) for name in in_city},
    }


# ---- the page -------------------------------------------------------------------------------------------


def coverage_lines(name: str, table: pd.DataFrame) -> list[str]:
    """Rows of the table of coverage: by one column, by two, and all; both kinds; as they are and shifted."""
    everybody = table[table["by"] == "everybody"].iloc[0]
    shift = everybody["truth"] - everybody["estimate"]
    of_two = table["by"].str.contains(" x ")
    single = ~of_two & (table["by"] != "everybody")
    lines = []
    for label, part in {"one": table[single], "two": table[of_two], "all": table[single | of_two]}.items():
        error = (part["estimate"] - part["truth"]).abs().mean()
        for kind, interval in KINDS.items():
            held, shifted = covered(part, kind).mean(), covered(part, kind, shift).mean()
            lines.append(
                f"| {name} | {label} | {len(part)} | {interval} | {held:.0%} | {shifted:.0%} ({shift:+.3f}) | "
                f"{width(part, kind):.3f} | {error:.3f} | {slope(part):.2f} |"
            )
    return lines


def column_lines(tables: dict[str, pd.DataFrame]) -> list[str]:
    """Rows of the table that says where intervals fail: by each column, alone or with another."""
    lines = []
    for name in FEATURES:
        parts = [table[[name in by.split(" x ") for by in table["by"]]] for table in tables.values()]
        held = " | ".join(f"{covered(part, 'people').mean():.0%} | {slope(part):.2f}" for part in parts)
        lines.append(f"| {name} | {len(parts[0])} | {held} |")
    return lines


def miss_lines(table: pd.DataFrame) -> list[str]:
    """Rows of the subgroups that lie farthest outside, in standard errors."""
    outside = table[~covered(table, "people")]
    far = ((outside["truth"] - outside["estimate"]) / outside["std_error"]).abs().sort_values(ascending=False)
    return [
        f"| {row['by']} | {row['subgroup']} | {row['n']} | {row['truth']:.3f} | {row['estimate']:.3f} | "
        f"{row['people_low']:.3f} to {row['people_high']:.3f} |"
        for _, row in outside.loc[far.index[:MOST_MISSES]].iterrows()
    ]


def report(tables: dict[str, pd.DataFrame], figures: dict[str, float], verdicts: list[str], options: str) -> str:
    """Write the page."""
    first = next(iter(tables.values()))
    parts = first[first["by"] != "everybody"]
    one_share = (parts["truth"] - figures["official"]).abs().mean()
    correlation = np.corrcoef(parts["truth"], parts["estimate"])[0, 1]
    n_people = int(first["n"].max())
    kernels = "kernels on landmarks" if options else "kernels on all respondents"
    return f"""\
# New York 2016: subgroups of respondents

Made by `python -m benchmarks.cces_subgroups --data FOLDER{options}`: {n_people:,} respondents in \
{figures["districts"]} congressional districts; {kernels}.

The fits saw features and the official two-party result of each district. The truth is the share for Trump \
among the votes that the respondents of a subgroup reported, in all {len(parts)} subgroups of {FEWEST} people \
or more by one column or by two ({", ".join(FEATURES)}). Subgroups overlap, so that these are far fewer \
independent comparisons than rows.

| fit | options | verdict |
| --- | --- | --- |
{_lines(f"| {n} | `{' '.join(o)}` | {v} |" for (n, o), v in zip(FITS.items(), verdicts, strict=True))}

## How often the 90 % interval holds the truth

| fit | columns | subgroups | interval for | holds the truth | shifted | mean width | mean error | slope |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
{_lines(line for name, table in tables.items() for line in coverage_lines(name, table))}

The truth is a count of votes of these very people, so `--outcomes` is the interval to hold it against; the \
default speaks of many people like them, and is narrower by the chance in single votes. Shifted: all intervals \
moved by the difference between the overall reported and the overall estimated share, which a user without \
votes cannot know. Slope: of the truth on the estimate; below 1 the differences between subgroups are \
overstated. The mean error of one share for all, that of the districts together, is {one_share:.3f}; the \
correlation between truth and estimate is {correlation:.2f} in the first fit.

## What place does

A logistic regression that knows the reported votes, with the same features and districts left out in turn, \
predicts the shares of districts with a spread (standard deviation) of {figures["spread_predicted"]:.3f}; the \
official ones have {figures["spread_official"]:.3f}. The two are correlated ({figures["correlation"]:.2f}), \
but the official share changes by {figures["slope"]:.2f} where the features of the people account for 1. Place \
counts beyond the features, or something that goes with place and is not in the table: of white respondents in \
New York City (districts 5 to 15) {figures["vote_city"]:.3f} report a vote for Trump where the regression \
predicts {figures["predicted_city"]:.3f}; elsewhere it is {figures["vote_elsewhere"]:.3f} where it predicts \
{figures["predicted_elsewhere"]:.3f}.

**Without places**, neither context nor group effects, the fit takes all of that for an effect of the \
features, which then seem larger than they are: the estimates order subgroups well and set them too far apart, \
and no interval shows it.

**With both**, the default, part of it is put down to place. Results of \
districts cannot tell how large a part, so the intervals are wide; here the truth lies well inside most of \
them. Subgroups overlap and share the same doubt, so that nearly all or few of them hold the truth together: \
one state in one year does not show whether 90 % is right on average. Differences between subgroups are still \
overstated, but less.

**Less trust** in the results, each of which may be off by 0.1 (one standard deviation, at a share of a half), \
widens the intervals too. The value was chosen with the figures above in mind, which come from votes.

**Not the level.** {figures["reported"]:.3f} of the respondents report a vote for Trump; the official results of \
their districts, weighted by respondents, say {figures["official"]:.3f}.

**Nor is the sample random.** `--sampled` takes respondents for a random sample of their district. The sum of \
squared differences between reported and official shares, in standard errors, would then be about \
{figures["districts"]}, give or take {np.sqrt(2 * figures["districts"]):.0f}; it is {figures["chi2"]:.0f}.

## Where it fails

| column, alone or with another | subgroups | {" | ".join(f"{name}: holds | slope" for name in tables)} |
| --- | --- | {" | ".join(["--- | ---"] * len(tables))} |
{_lines(column_lines(tables))}

The farthest misses without places:

| by | subgroup | people | truth | estimate | 90 % interval |
| --- | --- | --- | --- | --- | --- |
{_lines(miss_lines(tables["no places"]))}

![Reported and estimated share of each subgroup](cces_subgroups.png)
"""


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def chart(tables: dict[str, pd.DataFrame], path: Path) -> None:
    """Truth against estimate, with intervals; those that miss stand out."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 5.0), layout="constrained")
    panels = figure.subplots(1, len(tables), sharex=True, sharey=True)
    for ax, (name, table) in zip(panels, tables.items(), strict=True):
        rows = table[table["by"] != "everybody"]
        held = covered(rows, "people")
        for part, colour, label in ((rows[held], "#542788", "holds"), (rows[~held], "#e08214", "misses")):
            reach = np.abs(part[["people_low", "people_high"]].sub(part["estimate"], axis=0)).to_numpy().T
            ax.errorbar(
                part["truth"],
                part["estimate"],
                yerr=reach,
                fmt="o",
                markersize=3.0,
                elinewidth=0.6,
                alpha=0.7,
                color=colour,
                label=f"{label} the truth ({len(part)})",
            )
        ax.plot([0, 0.9], [0, 0.9], color="grey", linestyle="dashed", linewidth=1.0)
        ax.set(title=name, xlabel="share for Trump in reported votes")
        ax.legend(loc="upper left")
    panels[0].set_ylabel("estimate, 90 % interval for these very people")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds cces_ny/")
    parser.add_argument("--centers", type=int, help="kernels on so many landmarks (default: on all respondents)")
    parser.add_argument("--work", type=Path, help="folder for tables, models and page (default: a temporary one)")
    parser.add_argument("--output", type=Path, default=RESULTS / "cces_subgroups.csv")
    arguments = parser.parse_args()
    people, votes, results = read(arguments.data)
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        people.to_csv(work / "people.csv", index=False)
        models = run_commands(results, work, arguments.centers)
        fitted = {name: dg.load(model) for name, model in models.items()}
        tables = {name: judged(fit, fit.read(work / "people.csv"), votes) for name, fit in fitted.items()}
    pd.concat([table.assign(fit=name) for name, table in tables.items()]).to_csv(
        arguments.output, index=False, float_format="%.5g"
    )
    verdicts = [fit.classifier.diagnostics_.verdict for fit in fitted.values()]
    options = "" if arguments.centers is None else f" --centers {arguments.centers}"
    text = report(tables, districts(people, votes, results), verdicts, options)
    print(text)
    arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
    chart(tables, arguments.output.with_suffix(".png"))


if __name__ == "__main__":
    main()

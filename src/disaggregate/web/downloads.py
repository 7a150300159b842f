"""What a user can download: tables, and the commands and the Python that repeat the analysis."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from disaggregate.analysis import Analysis
    from disaggregate.report.findings import Findings

_WIDTH = 76
_FLAGS = {"weight": "weights"}
_SETTINGS = {
    "n_draws": "--draws",
    "n_burn": "--burn",
    "n_chains": "--chains",
    "kernel": "--kernel",
    "random_state": "--seed",
}


def write_tables(analysis: Analysis, findings: Findings, folder: Path) -> None:
    """Write groups, subgroups, effects and predictions as CSV, and all as one workbook if that is possible.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    findings : Findings
        What was found for the report.
    folder : Path
        Where to.
    """
    import pandas as pd

    from disaggregate.tables.files import write_rows
    from disaggregate.tables.formulas import without_formulas

    people, effects = findings.people, findings.effects
    tables = {
        "groups": findings.groups,
        "subgroups": _subgroups(findings),
        "effects": pd.DataFrame() if effects is None else effects.table,
        "predictions": pd.concat([people, analysis.predict(people)], axis=1),
    }
    for name, table in tables.items():
        write_rows(folder / f"{name}.csv", [table], raw=False)
    try:
        with pd.ExcelWriter(folder / "tables.xlsx", engine="openpyxl") as book:
            for name, table in tables.items():
                without_formulas(table).to_excel(book, sheet_name=name, index=False)
    except ImportError:
        (folder / "tables.xlsx").unlink(missing_ok=True)


def _subgroups(findings: Findings) -> pd.DataFrame:
    """Put the rates by each column under each other."""
    import pandas as pd

    first = ["column", "label", "n", "estimate", "std_error", "conf_low", "conf_high"]
    if not findings.rates:
        return pd.DataFrame(columns=first)
    table = pd.concat([one.table.assign(column=one.name) for one in findings.rates], ignore_index=True)
    return table[[*first, *(name for name in table if name not in first)]]


def commands(job: dict[str, Any]) -> str:
    """Write the commands that repeat the analysis, with the tables of the fit."""
    words = ["disaggregate", "fit", "people.csv", "results.csv"]
    for role, value in job["roles"].items():
        if value:
            written = value if isinstance(value, str) else ",".join(value)
            words += [f"--{_FLAGS.get(role, role)}", written]
    words += ["--sampled"] if job["sampled"] else []
    words += ["--outcome", job["outcome"]] if job["outcome"] else []
    for name, flag in _SETTINGS.items():
        if name in job["settings"]:
            words += [flag, str(job["settings"][name])]
    column, fewest = shlex.quote(_first_feature(job)), job.get("min_group_size", 1)
    few = f"--min-group-size {fewest} " if fewest > 1 else ""
    return "\n".join(
        [
            _wrapped([*words, "-o", "model.dgz"]),
            f"disaggregate report model.dgz people.csv {few}-o report.html",
            f"disaggregate subgroups model.dgz people.csv --by {column} {few}-o subgroups.csv",
        ]
    )


def _wrapped(words: list[str]) -> str:
    """Break a long command before options, so that it can be read and pasted."""
    lines = [""]
    for index, word in enumerate(words):
        written = shlex.quote(word)
        value = "" if index + 1 == len(words) or words[index + 1].startswith("-") else words[index + 1]
        if word.startswith("-") and len(f"{lines[-1]} {written} {shlex.quote(value)}") > _WIDTH:
            lines.append("   ")
        lines[-1] = f"{lines[-1]} {written}" if lines[-1] else written
    return " \\\n".join(lines)


def python_code(job: dict[str, Any]) -> str:
    """Write the Python that repeats the analysis."""
    given = {name: value for name, value in job["roles"].items() if value}
    lines = [
        "import disaggregate as dg",
        "",
        "analysis = dg.fit_tables(",
        '    "people.csv",',
        '    "results.csv",',
    ]
    lines += [f"    {name}={value!r}," for name, value in given.items()]
    lines += ["    sampled=True,"] if job["sampled"] else []
    lines += [f"    outcome={job['outcome']!r},"] if job["outcome"] else []
    lines += ["    settings={", *(f"        {name!r}: {value!r}," for name, value in job["settings"].items())]
    lines += ["    },", ")"]
    fewest = job.get("min_group_size", 1)
    few = f", min_group_size={fewest}" if fewest > 1 else ""
    lines += [
        f'analysis.subgroups("people.csv", by={_first_feature(job)!r}{few})',
        f'analysis.report("people.csv", "report.html"{few})',
    ]
    return "\n".join(lines)


def _first_feature(job: dict[str, Any]) -> str:
    features = job["roles"].get("features") or ["COLUMN"]
    return str(features[0])

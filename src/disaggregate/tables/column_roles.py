"""The roles that columns may play. One entry per role serves checks, fits, the command line and reports."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal, TypedDict, TypeVar, cast

from disaggregate.tables.messages import did_you_mean

Function = TypeVar("Function", bound=Callable[..., Any])

Values = Literal["any", "shares", "counts", "numbers", "confidences"]


@dataclass(frozen=True)
class Role:
    """What a column says that plays a role.

    Parameters
    ----------
    table : {"people", "results", "both", "neither"}
        Where the column is looked for; in neither where the role is a name and no column.
    help : str
        What it says, for messages and for the command line.
    label : str, default=""
        The same in two or three words, for reports; a role without a label is not listed there.
    values : {"any", "shares", "counts", "numbers", "confidences"}
        What its cells may be: shares from 0 to 1, whole numbers of 0 or more, or numbers of 0 or more.
    several : bool, default=False
        Whether a caller may name several columns.
    option : str, optional
        Its option on the command line, by default its own name; empty if it has none, or one of its own making.
    needs : tuple of str
        The roles of which one must be there beside it.
    of_sample : bool or None, default=None
        True if it has a meaning only where people are a sample of their group, False if only where they are not.
    of_outcomes : bool, default=False
        Whether it may stand beside the columns of several outcomes.
    """

    table: Literal["people", "results", "both", "neither"]
    help: str
    label: str = ""
    values: Values = "any"
    several: bool = False
    option: str | None = None
    needs: tuple[str, ...] = ()
    of_sample: bool | None = None
    of_outcomes: bool = False


def _one(table: Literal["people", "results", "neither"], help: str, label: str = "", **more: Any) -> Any:
    return field(default=None, metadata={"role": Role(table, help, label, **more)})


def _several(table: Literal["people", "results"], help: str, label: str = "", **more: Any) -> Any:
    return field(default=(), metadata={"role": Role(table, help, label, several=True, **more)})


@dataclass(frozen=True)
class Roles:
    """Column names by the role that they play; ``ROLES`` says what each of them means.

    ``tallies`` are the columns of ``positives`` where these are several, one per outcome.
    """

    group: str = field(metadata={"role": Role("both", "group of each person, and of each result", option="")})
    share: str | None = _one("results", "share of positives, from 0 to 1", "share of the outcome", values="shares")
    positives: str | None = _one(
        "results",
        "count of positives; several columns are several outcomes",
        "count of the outcome",
        values="counts",
        several=True,
    )
    total: str | None = _one(
        "results",
        "number of people among whom the positives were counted",
        "counted among",
        values="counts",
        needs=("positives", "tallies"),
        of_outcomes=True,
    )
    confidence: str | None = _one(
        "results",
        "confidence in the share: how far it is trusted",
        "confidence",
        values="confidences",
        option="",
        needs=("share", "shares"),
        of_sample=False,
        of_outcomes=True,
    )
    low: str | None = _one(
        "results", "lowest possible share or count", "lowest possible", values="numbers", of_sample=False
    )
    high: str | None = _one(
        "results", "highest possible share or count", "highest possible", values="numbers", of_sample=False
    )
    noise: str | None = _one(
        "results",
        "scale of the privacy noise on a count",
        "privacy noise",
        values="numbers",
        needs=("positives",),
        of_sample=False,
    )
    rounded_to: str | None = _one(
        "results",
        "number to a multiple of which a count was rounded at random, such as 5",
        "rounded to multiples of",
        values="counts",
        option="rounded-to",
        needs=("positives",),
        of_sample=False,
    )
    size: str | None = _one(
        "results",
        "size of the population that the people are a sample of",
        "size of the population",
        values="counts",
        of_sample=True,
        of_outcomes=True,
    )
    count: str | None = _one(
        "people", "number of people per row, where rows are cells of a table (default: 1)", "people per row"
    )
    weight: str | None = _one(
        "people", "survey weight of each person, in shares and subgroups", "survey weight", option="weights"
    )
    replicates: tuple[str, ...] = _several("people", "replicate weights")
    features: tuple[str, ...] = _several("people", "features to learn from (default: all other columns)")
    ignore: tuple[str, ...] = field(
        default=(), metadata={"role": Role("both", "columns to leave out", several=True)}
    )
    shares: tuple[str, ...] = _several(
        "results",
        "share of each of several outcomes",
        "share of each outcome",
        values="shares",
        of_outcomes=True,
    )
    tallies: tuple[str, ...] = _several(
        "results",
        "count of each of several outcomes",
        "count of each outcome",
        values="counts",
        option="",
        of_outcomes=True,
    )
    rest: str | None = _one(
        "neither",
        "name of the outcome that the others leave of the whole, such as 'at home'",
        "name of the rest",
        of_outcomes=True,
    )

    @property
    def names_outcomes(self) -> bool:
        """Whether results are about several outcomes."""
        return bool(self.shares or self.tallies)

    def names(self, role: str) -> tuple[str, ...]:
        """Return the columns that play a role, none, one or several."""
        value = getattr(self, role)
        if value is None:
            return ()
        return value if isinstance(value, tuple) else (value,)


def _role(of: Field[Any]) -> Role:
    return cast(Role, of.metadata["role"])


ROLES: dict[str, Role] = {known.name: _role(known) for known in fields(Roles)}
OF_RESULTS = tuple(name for name, role in ROLES.items() if role.table == "results")
OF_PEOPLE = tuple(name for name, role in ROLES.items() if role.table == "people")


class ColumnNames(TypedDict, total=False):
    """Columns as a caller names them by their roles; group and confidence are arguments of their own."""

    share: str | None
    positives: str | Iterable[str] | None
    total: str | None
    low: str | None
    high: str | None
    noise: str | None
    rounded_to: str | None
    size: str | None
    count: str | None
    weight: str | None
    replicates: str | Iterable[str]
    features: str | Iterable[str]
    ignore: str | Iterable[str]
    shares: str | Iterable[str]
    rest: str | None


def takes_columns(function: Function) -> Function:
    """Show the roles in the signature and the docstring of a function that takes them as ``**columns``.

    The line ``{columns}`` of the docstring becomes one entry per role.
    """
    own = inspect.signature(function)
    given = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    shown = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None if getattr(Roles, name) is None else ()
        )
        for name in ColumnNames.__annotations__
    ]
    after = 1 + next(index for index, one in enumerate(given) if one.name == "group")
    function.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*given[:after], *shown, *given[after:]]
    )
    function.__doc__ = _with_entries(function.__doc__ or "")
    return function


def require_roles(columns: Iterable[str]) -> None:
    """Refuse names of arguments that are no roles, as Python does."""
    known = sorted(ColumnNames.__annotations__)
    for name in columns:
        if name not in known:
            raise TypeError(f"got an unexpected keyword argument {name!r}; {did_you_mean(name, known)}")


def _with_entries(text: str) -> str:
    """Put one entry per role where a docstring has the line ``{columns}``."""
    lines = []
    for line in text.splitlines():
        if line.strip() != "{columns}":
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        for name in ColumnNames.__annotations__:
            role = ROLES[name]
            kind = "str or iterable of str, optional" if role.several else "str, optional"
            noun = "Columns" if role.several else "Column"
            where = {"neither": "No column", "both": f"{noun} of either table"}.get(
                role.table, f"{noun} of {role.table}"
            )
            lines += [f"{indent}{name} : {kind}", f"{indent}    {where}: {role.help}."]
    return "\n".join(lines)

"""Numbers as people write them: 45.500,00 or $45,500 or 56.4 %; which is the decimal mark is found per file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas as pd

from disaggregate.tables.messages import some
from disaggregate.tables.problems import Choice, Problem, TableError, column_of
from disaggregate.tables.reading import DECIMALS

_BLANKS = " \u00a0\u2009\u202f\u2019"  # and a curly apostrophe, which sets thousands apart too
_MINUS = "\u2212"
_CURRENCY = r"[$€£¥₹]|(?:USD|EUR|GBP|CHF)\b"
_AMOUNT = re.compile(
    rf"(?P<sign>[-+{_MINUS}]?)\s*(?P<before>{_CURRENCY})?\s*(?P<minus>[-{_MINUS}]?)\s*"
    rf"(?P<number>\d[\d.,'{_BLANKS}]*|[.,]\d+)(?P<power>[eE][-+]?\d+)?\s*(?P<after>{_CURRENCY})?\s*(?P<percent>%)?"
)
_IN_BRACKETS = re.compile(r"\s*\((.*)\)\s*")  # as accounts show negative numbers
_GROUPS = rf"[1-9]\d{{0,2}}(?:['{_BLANKS}]\d{{3}})+"
_BY_DECIMAL = {
    ".": re.compile(rf"(?:\d+|{_GROUPS}|[1-9]\d{{0,2}}(?:,\d{{3}})+)?(?:\.\d*)?"),
    ",": re.compile(rf"(?:\d+|{_GROUPS}|[1-9]\d{{0,2}}(?:\.\d{{3}})+)?(?:,\d*)?"),
}
_DROPPED = {".": re.compile(rf"[,'{_BLANKS}]"), ",": re.compile(rf"[.'{_BLANKS}]")}
# Signs of currencies whose amounts are written with decimal points.
_POINT_CURRENCIES = frozenset("$£¥₹")
_LONGEST = 60


class Amount(NamedTuple):
    """What a text says: its value with either decimal mark, None where it is no number with it."""

    by_decimal: Mapping[str, float | None]
    percent: bool
    currency: str
    is_plain: bool


def amount_of(text: str) -> Amount | None:
    """Read a text as an amount, None where it is none.

    Parameters
    ----------
    text : str
        A field of a table.
    """
    if len(text) > _LONGEST:
        return None
    in_brackets = _IN_BRACKETS.fullmatch(text)
    found = _AMOUNT.fullmatch((in_brackets[1] if in_brackets else text).strip())
    if not found or (found["before"] and found["after"]) or (found["sign"] and found["minus"]):
        return None
    if in_brackets and (found["sign"] or found["minus"]):
        return None
    number = found["number"].strip(_BLANKS)
    power = int((found["power"] or "e0")[1:]) - (2 if found["percent"] else 0)
    values = {decimal: _value(number, power, decimal) for decimal in DECIMALS}
    if all(value is None for value in values.values()):
        return None
    sign = -1.0 if in_brackets or {found["sign"], found["minus"]} & {"-", _MINUS} else 1.0
    known = {decimal: None if value is None else sign * value for decimal, value in values.items()}
    currency = found["before"] or found["after"] or ""
    return Amount(known, bool(found["percent"]), currency, is_plain_number(text))


@dataclass
class Form:
    """How the numbers of one column are written, as far as its values show."""

    possible: set[str] = field(default_factory=lambda: set(DECIMALS))
    differ: str | None = None
    odd: str | None = None
    percent: set[bool] = field(default_factory=set)
    currencies: set[str] = field(default_factory=set)
    is_number: bool = True
    examples: dict[str, str] = field(default_factory=dict)

    def look(self, texts: Iterable[str]) -> None:
        """Take note of values."""
        for text in texts:
            amount = amount_of(text)
            if amount is None:
                self.is_number = False
                return
            fitting = {decimal for decimal, value in amount.by_decimal.items() if value is not None}
            self.possible &= fitting
            if len(fitting) == 1:
                self.examples.setdefault(next(iter(fitting)), text)
            elif amount.by_decimal["."] != amount.by_decimal[","]:
                self.differ = self.differ or text
            if not amount.is_plain:
                self.odd = self.odd or text
            self.percent.add(amount.percent)
            self.currencies.add(amount.currency)

    @property
    def is_mixed(self) -> str | None:
        """Say in which two ways the column is written, None where it is one."""
        if not self.possible:
            return f"{self.examples['.']!r} and {self.examples[',']!r}"
        if len(self.percent) > 1:
            return "with and without a percent sign"
        if len(self.currencies - {""}) > 1:
            return f"in {' and '.join(sorted(self.currencies - {''}))}"
        return None


class AmountForms:
    """The forms of all columns of a table, whose values come in one piece or in several.

    Parameters
    ----------
    where : str
        The file, for messages.
    decimal : {".", ","}, optional
        What the owner says of numbers that can be read in two ways.
    usual : {".", ","}, optional
        The decimal mark of plain numbers such as 1.234, where nothing else decides.
    """

    def __init__(self, where: str, decimal: str | None, usual: str | None) -> None:
        self.where = where
        self.decimal = decimal
        self.usual = usual
        self.forms: dict[str, Form] = {}
        self.seen: set[str] = set()

    def look(self, name: str, column: pd.Series) -> None:
        """Take note of the values of a column, or of more of them."""
        form = self.forms.setdefault(name, Form())
        if not form.is_number:
            return
        known = column.dropna()
        if not known.map(lambda value: isinstance(value, (str, Real)) and value is not True).all():
            form.is_number = False  # lists, dates and the like
            return
        values = known.unique()
        texts = [value for value in values if isinstance(value, str)]
        form.look(texts)
        if len(texts) < len(values):  # numbers beside texts, in a workbook or a dataframe
            form.percent.add(False)

    def has_point(self) -> None:
        """Take note of a column of plain numbers with decimal points."""
        self.seen.add(".")

    def resolve(self) -> tuple[dict[str, str], list[Problem]]:
        """Return the decimal mark of each column that needs one to be read, and what was done.

        Raises
        ------
        TableError
            If the numbers of a column could be read with either mark, and nothing decides which.
        """
        numbers = {name: form for name, form in self.forms.items() if form.is_number and form.percent}
        notes = [self._mixed(name, form) for name, form in numbers.items() if form.is_mixed]
        numbers = {name: form for name, form in numbers.items() if not form.is_mixed}
        evidence = self.seen | {
            next(iter(form.possible)) for form in numbers.values() if len(form.possible) == 1 and form.examples
        }
        settled = {}
        for name, form in numbers.items():
            decimal = self._decimal(name, form, evidence)
            if form.odd or (form.differ and decimal == ","):
                settled[name] = decimal
        return settled, [*notes, *self._notes(settled)]

    def _decimal(self, name: str, form: Form, evidence: set[str]) -> str:
        if len(form.possible) == 1:
            return next(iter(form.possible))
        if form.differ is None:
            return "."
        if self.decimal is not None:
            return self.decimal
        if len(evidence) == 1:
            return next(iter(evidence))
        if form.odd is None and self.usual is not None:
            return self.usual
        if form.currencies - {""} and form.currencies <= _POINT_CURRENCIES | {""} and "," not in evidence:
            return "."
        raise TableError(
            f"{self.where}, column {name!r}: {form.differ!r} is {_shown(form.differ, '.')} with a decimal point "
            f"and {_shown(form.differ, ',')} with a decimal comma, and nothing in the table decides which; say it "
            "(--decimal . or --decimal ,).",
            "decimal",
            tuple(Choice("decimal", mark, f"{form.differ} is {_shown(form.differ, mark)}") for mark in DECIMALS),
        )

    def _mixed(self, name: str, form: Form) -> Problem:
        return Problem(
            "warning",
            column_of(self.where, name),
            f"numbers are written in two ways, {form.is_mixed}, so that it stays text; write them alike.",
            "numbers in two ways",
        )

    def _notes(self, settled: dict[str, str]) -> list[Problem]:
        """One line per way of writing, with an example."""
        kinds: dict[tuple[str, str], list[str]] = {}
        for name, decimal in settled.items():
            kinds.setdefault(_way(self.forms[name], decimal), []).append(name)
        notes = []
        for (kind, words), names in kinds.items():
            form, decimal = self.forms[names[0]], settled[names[0]]
            example = form.examples.get(decimal) or form.differ or form.odd or ""
            example = example if amount_of(example) and form.odd is None else form.odd or example
            where = f"{self.where}, column{'s' if len(names) > 1 else ''} {some(names)}"
            said = f"{words}: {example.strip()!r} is read as {_shown(example, decimal)}."
            notes.append(Problem("note", where, said, kind))
        return notes


def read_amounts(column: pd.Series, decimal: str) -> pd.Series:
    """Turn texts into numbers; other values, and texts that are no amounts, stay as they are.

    Parameters
    ----------
    column : Series
        Texts, and perhaps numbers.
    decimal : {".", ","}
        The decimal mark.
    """
    codes, values = pd.factorize(column)
    read = [_number(value, decimal) for value in values]
    numbers = pd.Series([*read, np.nan], dtype=object).infer_objects()
    return pd.Series(numbers.to_numpy()[codes], index=column.index, name=column.name).infer_objects()


def _number(value: object, decimal: str) -> object:
    amount = amount_of(value) if isinstance(value, str) else None
    if amount is None or amount.by_decimal[decimal] is None:
        return value
    return amount.by_decimal[decimal]


def _way(form: Form, decimal: str) -> tuple[str, str]:
    words = []
    if True in form.percent:
        words.append("percentages")
    if form.currencies - {""}:
        words.append("amounts of money")
    if decimal == ",":
        words.append("decimal commas")
    kind = {"percentages": "percent", "amounts of money": "currency", "decimal commas": "decimal"}
    if words:
        return kind[words[0]], " with ".join(words)
    is_set_apart = form.odd is None or _DROPPED[decimal].search(form.odd.strip())
    return ("thousands", "thousands set apart") if is_set_apart else ("signs", "signs or digits as in print")


def _value(number: str, power: int, decimal: str) -> float | None:
    if not _BY_DECIMAL[decimal].fullmatch(number) or not any(sign.isdigit() for sign in number):
        return None
    return float(_DROPPED[decimal].sub("", number).replace(",", ".") + f"e{power}")


def is_plain_number(text: str) -> bool:
    """Tell whether Python reads a text as a number, of ASCII digits without underscores.

    Parameters
    ----------
    text : str
        A field of a table.
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


def _shown(text: str, decimal: str) -> str:
    amount = amount_of(text)
    value = None if amount is None else amount.by_decimal[decimal]
    return "no number" if value is None else f"{value:.15g}"

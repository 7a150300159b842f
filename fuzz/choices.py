"""Bytes as a series of choices, so that a fuzzer that knows only bytes can build things with structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

Thing = TypeVar("Thing")

ODD_NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 0.5, -0.0, 1.5, 100.0, 1e-300, 5e-324, 1.7976931348623157e308, -1e308),
    *(10**9, 2**31, 2**63, -(2**63), 2**64, 10**18, 10**400, -(10**400), 10**4000),
    *(float("nan"), float("inf"), float("-inf")),
)
ODD_TEXTS = (
    *("", " ", "a", "0", "007", "1e5", "NaN", "nan", "inf", "-inf", "None", "null", "NA", "true", "1,5", "50%"),
    *("ä", "北京", "🗳", "\u202e", "\ufeff", "\x00", "a\nb", "a\rb", '"', "'", "../../x", "/etc/passwd", "C:\\x"),
    *("<script>", "=1+1", "{}", "$class", "2024-01-31", "0000-00-00", "9999-99-99", "1e999", "0x10", "1_000"),
    *("٣", "½", "\uff11", "\ud7ff", "a" * 300, "9" * 400, "1" * 5000),
)


class Choices:
    """Choices that bytes make; when they are used up, the first of everything is chosen.

    Parameters
    ----------
    data : bytes
        What the fuzzer came up with.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def below(self, n: int) -> int:
        """Choose a whole number from 0 to n - 1."""
        width = 1 if n <= 256 else 4
        piece = self._data[self._place : self._place + width]
        self._place += width
        return int.from_bytes(piece, "little") % n

    def one_of(self, things: Sequence[Thing]) -> Thing:
        """Choose a thing."""
        return things[self.below(len(things))]

    def flip(self) -> bool:
        """Choose between True and False; False when the bytes are used up."""
        return self.below(2) == 1

    def raw(self, n: int) -> bytes:
        """Take bytes as they are."""
        piece = self._data[self._place : self._place + n]
        self._place += n
        return piece

    def rest(self) -> bytes:
        """Take all bytes that are left."""
        return self.raw(len(self._data))

    def number(self) -> Any:
        """Choose a number, an odd one more often than not."""
        return self.below(2**32) / 2**16 if self.below(4) == 3 else self.one_of(ODD_NUMBERS)

    def text(self) -> str:
        """Choose a text, an odd one more often than not."""
        if self.below(4) == 3:
            return self.raw(self.below(12)).decode("utf-8", "replace")
        return self.one_of(ODD_TEXTS)

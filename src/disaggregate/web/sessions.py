"""One analysis of one user: its folder, and the steps that are done."""

from __future__ import annotations

import secrets
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STEPS = ("columns", "check", "fit", "answer", "take-home")


class TooMany(Exception):
    """Raised where another session would be more than allowed."""


@dataclass
class Session:
    """What is known of one analysis.

    Attributes
    ----------
    key : str
        Its name in addresses.
    folder : Path
        Where its files are; no other user may read them.
    names : dict
        Names of the files as their owner calls them, to show and nothing else.
    files : dict
        Names of the files in the folder.
    readings : dict
        Of each table, what its owner says of how it is written.
    unread : list of dict
        Ways to read the tables, where there are several and none was chosen yet.
    looked, choice, checked : dict or None
        What was found in the tables, what their owner chose, and what the check said of it.
    answers : dict
        Subgroups that were requested, by their columns.
    started : float
        When it was made.
    """

    key: str
    folder: Path
    names: dict[str, str]
    files: dict[str, str]
    readings: dict[str, dict[str, str]] = field(default_factory=dict)
    unread: list[dict[str, Any]] = field(default_factory=list)
    looked: dict[str, Any] | None = None
    choice: dict[str, Any] | None = None
    checked: dict[str, Any] | None = None
    answers: dict[str, str] = field(default_factory=dict)
    started: float = field(default_factory=time.time)

    @property
    def outcome(self) -> str:
        """What the outcome is called, as far as its owner said."""
        return "" if self.choice is None else self.choice["outcome"]

    def take(self, found: dict[str, Any]) -> str:
        """Keep the findings about the tables, and return the next step."""
        self.unread = found.get("unread", [])
        self.looked = None if self.unread else {"outcome": "", **found}
        self.choice = self.checked = None
        return "tables" if self.unread else "columns"

    def resolve(self, settled: dict[str, dict[str, str]]) -> None:
        """Learn how tables are to be read; which sheet of a workbook is part of its path."""
        for kind, chosen in settled.items():
            for setting, value in chosen.items():
                if setting == "sheet":
                    self.files = {**self.files, kind: f"{self.files[kind].partition('#')[0]}#{value}"}
                else:
                    self.readings = {**self.readings, kind: {**self.readings.get(kind, {}), setting: value}}

    def unsettle(self) -> None:
        """Forget what was said of how the tables are written."""
        self.readings = {}
        self.files = {kind: file.partition("#")[0] for kind, file in self.files.items()}

    @property
    def is_settled(self) -> bool:
        """Whether something was said of how the tables are written; the pages ask."""
        return bool(self.readings) or any("#" in file for file in self.files.values())

    def reached(self, has_answer: bool) -> str:
        """Return the last step that can be opened."""
        if has_answer:
            return "take-home"
        if self.checked is not None and self.checked["ready"]:
            return "fit"
        return "check" if self.choice is not None else "columns"


class Sessions:
    """All sessions of a server.

    Parameters
    ----------
    folder : Path
        Private folder in which each has its own.
    most : int
        How many there may be.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._known: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._known)

    def new(self) -> Session:
        """Open a session, or raise TooMany."""
        if len(self._known) >= self._most:
            raise TooMany(f"{self._most} analyses are open, the maximum. Close one on the start page.")
        key = secrets.token_urlsafe(9)
        folder = self._folder / key
        folder.mkdir(mode=0o700)
        self._known[key] = Session(key, folder, {}, {})
        return self._known[key]

    def get(self, key: str) -> Session | None:
        """Return a session; None if there is none of this name."""
        return self._known.get(key)

    def remove(self, key: str) -> None:
        """Close a session, and remove its files."""
        session = self._known.pop(key, None)
        if session is not None:
            shutil.rmtree(session.folder, ignore_errors=True)

    def all(self) -> list[Session]:
        """Return all sessions whose tables were looked at, the newest first."""
        ready = [session for session in self._known.values() if session.looked is not None or session.unread]
        return sorted(ready, key=lambda session: -session.started)

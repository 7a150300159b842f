"""What is known of a group's counts of several outcomes: a likelihood over count vectors.

A report names some of the outcomes, or all of them; those that it does not name are one remainder. Each kind is a
small frozen object that answers ``log_likelihood(counts)`` for vectors with a column per named outcome, in its own
order, and the remainder last where there is one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from disaggregate.groups.forms import is_missing
from disaggregate.groups.report_values import (
    confidence_of,
    is_number,
    require_whole_population,
    set_fields,
    whole_number,
)

__all__ = ["Bounds", "Counts", "OutcomeEvidence", "PopulationShares", "Shares"]

# Shares may fail to add up to one by this much: they are rounded in print.
ROUNDING = 0.005

# Beyond this confidence the Dirichlet density is a spike at one count vector.
_SHARPEST = 1e9

# Of a count that is known exactly the normal law has the whole interval from half below to half above, as if the
# count had been rounded: its variance.
_OF_ROUNDING = 1.0 / 12.0


class NormalReport(NamedTuple):
    """A report as counts with a normal error.

    Attributes
    ----------
    counts : ndarray of shape (n_categories,)
        The reported counts.
    noise : ndarray of shape (n_categories, n_categories)
        Covariance of their error.
    log_unit : float
        Log of the unit of the report in counts, per category.
    """

    counts: np.ndarray
    noise: np.ndarray
    log_unit: float


class OutcomeEvidence(ABC):
    """Evidence about the counts of several outcomes in one group."""

    nouns: ClassVar[tuple[str, str]] = ("other report", "other reports")  # one of it, and several
    takes_weights: ClassVar[bool] = False  # whether survey weights say how much members count in it

    @property
    @abstractmethod
    def named_outcomes(self) -> tuple[Hashable, ...]:
        """The outcomes that the report names."""

    @abstractmethod
    def log_likelihood(self, counts: np.ndarray) -> np.ndarray:
        """Log likelihood of some count vectors of the same sum, shape (n_vectors,); -inf where impossible.

        Parameters
        ----------
        counts : ndarray of int, shape (n_vectors, n_named) or (n_vectors, n_named + 1)
            Counts of the named outcomes, and of the remainder where there is one.
        """

    @abstractmethod
    def likely(self, n: int, has_rest: bool) -> np.ndarray:
        """Return a count vector of about the highest likelihood.

        All others of any weight can be reached from it by moving one person at a time between outcomes, and the
        likelihood does not grow on the way.

        Parameters
        ----------
        n : int
            Number of people of the group.
        has_rest : bool
            Whether there are outcomes that the report does not name.
        """

    def normal(self, n: int, has_rest: bool) -> NormalReport | None:
        """Return the report as counts with a normal error; None where it has no such form.

        Parameters
        ----------
        n, has_rest
            As for :meth:`likely`.
        """
        return None

    def reported_shares(self, n: int) -> dict[Hashable, float]:
        """Return the reported share of each outcome of a group of ``n``, for tables."""
        return {}

    @property
    def is_uninformative(self) -> bool:
        """Whether it carries no information."""
        return False

    @property
    def is_complete(self) -> bool:
        """Whether it names all outcomes of the group."""
        return False

    @property
    def stated_confidence(self) -> float | None:
        """The confidence of the report, if it is a number."""
        return None

    def trusted_less(self, most: float, divisor: float) -> OutcomeEvidence:
        """Return the report with a lower confidence, if it has one; otherwise the report itself.

        Parameters
        ----------
        most, divisor : float
            As of :meth:`disaggregate.groups.evidence.Evidence.trusted_less`.
        """
        return self

    @property
    def population(self) -> PopulationShares | None:
        """The population of which the members are a sample, if there is one."""
        return None


@dataclass(frozen=True)
class Counts(OutcomeEvidence):
    """Exact counts of members with each outcome.

    Parameters
    ----------
    counts : mapping
        Outcome to number of members. Outcomes that are left out, or whose number is missing, share the remainder.

    Examples
    --------
    >>> from disaggregate.evidence import Counts
    >>> Counts({"purple": 12, "green": 7, "other": 1})
    Counts(counts={'purple': 12, 'green': 7, 'other': 1})
    """

    nouns: ClassVar[tuple[str, str]] = ("count of each outcome", "counts of each outcome")

    counts: Mapping[Hashable, int]

    def __post_init__(self) -> None:
        known = _named("Counts", self.counts)
        object.__setattr__(
            self, "counts", {name: whole_number("Counts", repr(name), n) for name, n in known.items()}
        )

    def __hash__(self) -> int:
        return hash(tuple(self.counts.items()))

    @property
    def named_outcomes(self) -> tuple[Hashable, ...]:
        return tuple(self.counts)

    def log_likelihood(self, counts: np.ndarray) -> np.ndarray:
        agrees = (counts[:, : len(self.counts)] == list(self.counts.values())).all(axis=1)
        return np.where(agrees, 0.0, -np.inf)

    def likely(self, n: int, has_rest: bool) -> np.ndarray:
        numbers = list(self.counts.values())
        left = n - sum(numbers)
        if left < 0 or (left > 0 and not has_rest):
            advice = "lower them"
            if left > 0:
                advice = "name the outcome of the others, or leave one outcome out for them"
            raise ValueError(f"Counts add up to {sum(numbers)}, but the group has {n} members; {advice}.")
        return np.array([*numbers, left] if has_rest else numbers)

    def normal(self, n: int, has_rest: bool) -> NormalReport:
        counts = self.likely(n, has_rest).astype(float)
        # Errors add up to zero, and treat all categories alike: whichever is left out, the volume is the same.
        size = len(counts)
        noise = _OF_ROUNDING * size ** (1.0 / (size - 1)) * (np.eye(size) - 1.0 / size)
        return NormalReport(counts, noise, 0.0)

    def reported_shares(self, n: int) -> dict[Hashable, float]:
        return {name: count / n for name, count in self.counts.items()}


@dataclass(frozen=True)
class Shares(OutcomeEvidence):
    """Reported shares of the outcomes, with a Dirichlet error, as the paper's Beta is for two outcomes.

    The shares m given the true ones lambda have density Dirichlet(m; chi lambda + 1), normaliser kept.

    Parameters
    ----------
    shares : mapping
        Outcome to share, from 0 to 1. Outcomes that are left out, or whose share is missing, share the remainder.
        No member has an outcome of share 0.
    confidence : float, default=1000.0
        chi, from 0 (no information) to infinity (the counts nearest to the shares).
    """

    nouns: ClassVar[tuple[str, str]] = ("share of each outcome", "shares of each outcome")

    shares: Mapping[Hashable, float]
    confidence: float = 1000.0

    def __post_init__(self) -> None:
        if isinstance(self.confidence, str):
            raise ValueError(
                'confidence="auto" is not yet supported for shares that name outcomes; give a number.'
            )
        known = _sound_shares("Shares", self.shares)
        set_fields(self, shares=known, confidence=confidence_of("Shares", self.confidence))

    def __hash__(self) -> int:
        return hash((tuple(self.shares.items()), self.confidence))

    @property
    def named_outcomes(self) -> tuple[Hashable, ...]:
        return tuple(self.shares)

    @property
    def is_complete(self) -> bool:
        return sum(self.shares.values()) >= 1.0

    @property
    def stated_confidence(self) -> float | None:
        return self.confidence

    @property
    def is_uninformative(self) -> bool:
        return self.confidence == 0.0

    def trusted_less(self, most: float, divisor: float) -> Shares:
        return Shares(self.shares, min(most, self.confidence / divisor))

    def log_likelihood(self, counts: np.ndarray) -> np.ndarray:
        chi, shares = min(self.confidence, _SHARPEST), _partition(self.shares, counts.shape[1] > len(self.shares))
        alpha = chi * counts / counts.sum(axis=1, keepdims=True)
        normaliser = gammaln(chi + len(shares)) - gammaln(alpha + 1.0).sum(axis=1)
        log_density: np.ndarray = normaliser + xlogy(alpha, shares).sum(axis=1)
        return log_density

    def likely(self, n: int, has_rest: bool) -> np.ndarray:
        return _nearest_counts(n * _partition(self.shares, has_rest), n)

    def normal(self, n: int, has_rest: bool) -> NormalReport:
        chi, shares = min(self.confidence, _SHARPEST), _partition(self.shares, has_rest)
        length = chi + len(shares)  # the mean report is (chi lambda + 1) / length
        unit = n * length / chi
        typical = (chi * shares + 1.0) / length
        noise = unit**2 * (np.diag(typical) - np.outer(typical, typical)) / (length + 1.0)
        return NormalReport(n * (length * shares - 1.0) / chi, noise, math.log(unit))

    def reported_shares(self, n: int) -> dict[Hashable, float]:
        return dict(self.shares)


@dataclass(frozen=True)
class PopulationShares(OutcomeEvidence):
    """The shares of the outcomes in a population of which the members are a random sample.

    It carries no information about the counts among the members. It is
    about the average probabilities over the population, whose composition the members show with sampling
    error.
    See :mod:`disaggregate.model.outcome_populations`.

    Parameters
    ----------
    shares : mapping
        Outcome to share in the population, from 0 to 1. Outcomes that are left out share the remainder.
    size : int, optional
        Number of people in the population; infinite by default.

    Examples
    --------
    >>> from disaggregate.evidence import PopulationShares
    >>> PopulationShares({"purple": 0.31, "green": 0.27, "did not vote": 0.42}, size=48_120).size
    48120
    """

    nouns: ClassVar[tuple[str, str]] = (
        "share of each outcome in the whole group",
        "shares of each outcome in whole groups",
    )
    takes_weights: ClassVar[bool] = True

    shares: Mapping[Hashable, float]
    size: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", _sound_shares("PopulationShares", self.shares))
        if self.size is not None:
            object.__setattr__(self, "size", whole_number("PopulationShares", "size", self.size))

    def __hash__(self) -> int:
        return hash((tuple(self.shares.items()), self.size))

    @property
    def named_outcomes(self) -> tuple[Hashable, ...]:
        return tuple(self.shares)

    @property
    def population(self) -> PopulationShares:
        return self

    @property
    def is_complete(self) -> bool:
        return sum(self.shares.values()) >= 1.0

    def log_likelihood(self, counts: np.ndarray) -> np.ndarray:
        return np.zeros(len(counts))

    def likely(self, n: int, has_rest: bool) -> np.ndarray:
        require_whole_population("PopulationShares", self.size, n)
        return _nearest_counts(n * self.partition(has_rest), n)

    def partition(self, has_rest: bool) -> np.ndarray:
        """Return the shares of the named outcomes, and what they leave where ``has_rest``."""
        return _partition(self.shares, has_rest)

    def reported_shares(self, n: int) -> dict[Hashable, float]:
        return dict(self.shares)


@dataclass(frozen=True)
class Bounds(OutcomeEvidence):
    """Lower and upper bounds of the number of members with each outcome, both included.

    Parameters
    ----------
    bounds : mapping
        Outcome to (least, greatest) number of members. Outcomes that are left out have no bounds.
    """

    nouns: ClassVar[tuple[str, str]] = ("range of some outcomes", "ranges of some outcomes")

    bounds: Mapping[Hashable, tuple[int, int]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", {n: _bounds(n, b) for n, b in _named("Bounds", self.bounds).items()})

    def __hash__(self) -> int:
        return hash(tuple(self.bounds.items()))

    @property
    def named_outcomes(self) -> tuple[Hashable, ...]:
        return tuple(self.bounds)

    def log_likelihood(self, counts: np.ndarray) -> np.ndarray:
        low, high = np.array(list(self.bounds.values())).T
        own = counts[:, : len(low)]
        return np.where(((own >= low) & (own <= high)).all(axis=1), 0.0, -np.inf)

    def likely(self, n: int, has_rest: bool) -> np.ndarray:
        low, high = np.array(list(self.bounds.values())).T
        if low.sum() > n or (not has_rest and high.sum() < n):
            raise ValueError(f"{self} cannot hold in a group of {n}: no counts agree with it.")
        counts, left = low.copy(), n - low.sum()
        for index in range(0 if has_rest else len(low)):
            more = min(high[index] - low[index], left)
            counts[index] += more
            left -= more
        return np.append(counts, left) if has_rest else counts


def _sound_shares(kind: str, shares: Any) -> dict[Hashable, float]:
    """Check shares; those that add up to a little more than 1 are rounded, and divided by their sum."""
    known = {name: _share(kind, name, share) for name, share in _named(kind, shares).items()}
    total = math.fsum(known.values())
    if total > 1.0 + ROUNDING:
        counts = " For numbers of members give Counts." if all(v.is_integer() for v in known.values()) else ""
        raise ValueError(
            f"{kind} must not add up to more than 1; they add up to {total:.6g}. Divide them by their sum, or "
            f"correct them.{counts}"
        )
    return {name: share / total for name, share in known.items()} if total > 1.0 else known


def _partition(known: Mapping[Hashable, float], has_rest: bool) -> np.ndarray:
    """Shares of the named outcomes, and what they leave where there are others."""
    shares = list(known.values())
    left = 1.0 - math.fsum(shares)
    if has_rest:
        return np.array([*shares, max(left, 0.0)])
    if left > ROUNDING:
        raise ValueError(
            f"Shares of all outcomes must add up to 1; they add up to {1.0 - left:.6g}. Divide them by their "
            "sum, or leave the outcome out whose share is not known."
        )
    return np.array(shares) / math.fsum(shares)


def _nearest_counts(exact: np.ndarray, n: int) -> np.ndarray:
    """Round counts so that they add up to n."""
    counts = np.floor(exact + 1e-9).astype(np.int64)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: n - counts.sum()]] += 1
    return counts


def _named(kind: str, values: Any) -> dict[Hashable, Any]:
    """Take the outcomes that have a number; at least one must."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{kind} expects a mapping from outcomes to numbers, got {values!r}.")
    known = {name: value for name, value in values.items() if not is_missing(value)}
    if not known:
        raise ValueError(
            f"{kind} carries no information: no outcome has a number. Give Unknown() where nothing was reported."
        )
    return known


def _share(kind: str, name: Hashable, value: Any) -> float:
    if is_number(value) and 0.0 <= float(value) <= 1.0:
        return float(value)
    advice = ""
    if is_number(value) and float(value) > 1.0:
        advice = " (divide percentages by 100; give Counts for numbers of members)"
    raise ValueError(f"{kind} expects the share of {name!r} to be a number from 0 to 1, got {value!r}{advice}.")


def _bounds(name: Hashable, value: Any) -> tuple[int, int]:
    pair = tuple(value) if isinstance(value, (tuple, list)) else ()
    if len(pair) != 2:
        raise ValueError(f"Bounds expects (least, greatest) for {name!r}, got {value!r}.")
    low, high = (whole_number("Bounds", f"each bound of {name!r}", bound) for bound in pair)
    if low > high:
        raise ValueError(f"Bounds expects least <= greatest for {name!r}, got {value!r}; swap the two.")
    return low, high

"""What is known of a group.

Most kinds are a likelihood over the group's count of positives. Each is a small frozen object that answers
``log_likelihood(n)``: for a group of ``n`` members, how well does "k of the n are positive" agree with the report,
for k = 0, ..., n. A report on a population of which the members are a sample says so by ``population``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, Literal, TypeGuard

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

__all__ = [
    "AllOf",
    "AtLeast",
    "AtMost",
    "Between",
    "Count",
    "Evidence",
    "Fraction",
    "NoisyCount",
    "Population",
    "Survey",
    "Unknown",
]

# Beyond this confidence the Beta density is a spike at one count, and its terms cancel to noise.
_CERTAIN = 1e12

# Learned confidence. A report is anything at all with the probability of the tail; else its own confidence is one
# of these, around the one of all groups. Until it is known it is taken to be that of the paper.
TAIL = 0.1
CONFIDENCES = 10.0 ** np.arange(0.0, 5.5, 0.5)
_LOG_STEP = 0.5 * math.log(10.0)
_UNTIL_KNOWN = 1000.0

# From this confidence on, that of the paper, bounds take a share for exact.
_AS_GOOD_AS_EXACT = 1000.0

# Sharper than any grid of weighted counts.
_SHARPEST_WEIGHTED = 1e6

# Standard deviations beyond which a report leaves no weight to speak of.
_FARTHEST = 12.0

# Beyond it sums of whole numbers overflow, and there are no such crowds.
_LARGEST_COUNT = 2**62


class Evidence(ABC):
    """What is known of the count of positives in one group."""

    nouns: ClassVar[tuple[str, str]] = ("other report", "other reports")  # one of it, and several
    takes_weights: ClassVar[bool] = False  # whether survey weights say how much members count in it
    is_uninformative: ClassVar[bool] = False

    @abstractmethod
    def log_likelihood(self, n: int) -> np.ndarray:
        """Log likelihood of each possible count of positives.

        Parameters
        ----------
        n : int
            Number of members of the group.

        Returns
        -------
        ndarray of shape (n + 1,)
            Entry k is the log likelihood of the report if k members are positive; -inf where impossible.
        """

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        """Log likelihood of some counts of positives, for groups too large to list all of them.

        Parameters
        ----------
        counts : ndarray of int
            From 0 to ``n``.
        n : int
            Number of members of the group.
        """
        return self.log_likelihood(n)[counts]

    def support(self, n: int) -> tuple[int, int]:
        """Return the least and the greatest count that the report leaves any weight to speak of.

        Parameters
        ----------
        n : int
            Number of members of the group.
        """
        return 0, n

    @property
    def population(self) -> Population | None:
        """The population that the report describes, where the members are a sample of it."""
        return None

    @property
    def learns_confidence(self) -> bool:
        """Whether it is to be learned how exact the report is."""
        return False

    @property
    def stated_confidence(self) -> float | None:
        """How exact the report says it is, where it says so by a number."""
        return None

    def trusted_less(self, most: float, divisor: float) -> Evidence:
        """Return the report with a lower confidence, where it states one; else itself.

        Parameters
        ----------
        most, divisor : float
            The confidence becomes this much at most, and this part of what it was at most.
        """
        return self

    def densities(self, counts: np.ndarray, n: int) -> np.ndarray:
        """Density of the report by confidence and count, where the confidence is learned.

        Parameters
        ----------
        counts : ndarray of int
            From 0 to ``n``.
        n : int
            Largest count.

        Returns
        -------
        ndarray of shape (n_confidences, n_counts)
        """
        raise NotImplementedError(f"the confidence of {type(self).__name__} is not learned.")

    def weighted_log_likelihood(self, units: int, effective: float) -> np.ndarray:
        """Log likelihood of each weighted count, when members count with unequal survey weights.

        Parameters
        ----------
        units : int
            Sum of the members' weights, in whole units.
        effective : float
            Effective number of members.

        Returns
        -------
        ndarray of shape (units + 1,)
            Entry k is the log likelihood of the report if the weighted share is k / units.
        """
        raise ValueError(
            f"{type(self).__name__} counts members, which says nothing of a share that is weighted by "
            "sample_weight; give Fraction, Population or Unknown, or leave the weights out."
        )

    def reported_share(self, n: int) -> float:
        """Return the share of positives that a table should print for a group of ``n``; NaN without one."""
        return math.nan

    def share_bounds(self, n: int) -> tuple[float, float]:
        """Return the least and the greatest share of positives in a group of ``n`` that are possible.

        Only what is told as certain counts; a report that may be off leaves everything possible.
        """
        return 0.0, 1.0


@dataclass(frozen=True)
class Fraction(Evidence):
    """A reported fraction of positives, as in the paper (section 3.1).

    The report m given the true fraction lambda = k/n has density
    Beta(m; chi lambda + 1, chi (1 - lambda) + 1). Its normaliser depends on lambda and is kept.

    Parameters
    ----------
    share : float
        The reported fraction m, from 0 to 1. At 0 every member is negative, at 1 every member is positive.
    confidence : float or "auto", default=1000.0
        The paper's chi, from 0 (the report says nothing) to infinity (the counts nearest to the share). "auto"
        learns it, one for all groups that say so, with a heavy tail for single ones; see
        :mod:`disaggregate.model.report_noise`.
    """

    nouns: ClassVar[tuple[str, str]] = ("share", "shares")
    takes_weights: ClassVar[bool] = True

    share: float
    confidence: float | Literal["auto"] = 1000.0

    def __post_init__(self) -> None:
        if isinstance(self.confidence, str) and self.confidence == "auto":
            _settle(self, share=_share("Fraction", self.share))
            return
        if not (_is_number(self.confidence) and float(self.confidence) >= 0.0):
            raise ValueError(
                f"Fraction expects a confidence of 0 or more, got {self.confidence!r}; use 0 for a report "
                "that says nothing and infinity for one that is exact."
            )
        _settle(self, share=_share("Fraction", self.share), confidence=float(self.confidence))

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    @property
    def stated_confidence(self) -> float | None:
        return None if isinstance(self.confidence, str) else self.confidence

    def trusted_less(self, most: float, divisor: float) -> Evidence:
        confidence = self.stated_confidence
        return self if confidence is None else Fraction(self.share, min(most, confidence / divisor))

    @property
    def learns_confidence(self) -> bool:
        return self.confidence == "auto"

    def densities(self, counts: np.ndarray, n: int) -> np.ndarray:
        return np.exp([Fraction(self.share, chi).log_likelihood_at(counts, n) for chi in CONFIDENCES])

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        fraction = counts / n
        if self.confidence == "auto":
            cells, weights = mixing_weights(math.log(_UNTIL_KNOWN))
            return np.log(TAIL + (1.0 - TAIL) * (weights @ self.densities(counts, n)[cells]))
        if self.confidence >= _CERTAIN:
            return _nearest_counts(fraction, self.share, n)
        positive = self.confidence * fraction
        negative = self.confidence * (1.0 - fraction)
        return (
            xlogy(positive, self.share) + xlog1py(negative, -self.share) - betaln(positive + 1.0, negative + 1.0)
        )

    def support(self, n: int) -> tuple[int, int]:
        if self.confidence == "auto":
            return 0, n
        if self.share in (0.0, 1.0) and self.confidence > 0.0:
            return round(self.share) * n, round(self.share) * n
        reach = _FARTHEST * math.sqrt(
            (self.share * (1.0 - self.share) + 1.0 / (self.confidence + 1.0)) / (self.confidence + 1.0)
        )
        low, high = n * (self.share - reach) - 1.0, n * (self.share + reach) + 1.0
        return max(math.floor(low), 0), min(math.ceil(high), n)

    def weighted_log_likelihood(self, units: int, effective: float) -> np.ndarray:
        if self.confidence == "auto":
            return self.log_likelihood(units)
        # No labels may have the very share that was reported, so that none would be possible if it were exact.
        return Fraction(self.share, min(self.confidence, _SHARPEST_WEIGHTED)).log_likelihood(units)

    def reported_share(self, n: int) -> float:
        return self.share

    def share_bounds(self, n: int) -> tuple[float, float]:
        is_exact = self.confidence != "auto" and self.confidence >= _AS_GOOD_AS_EXACT
        return (self.share, self.share) if is_exact else (0.0, 1.0)


@dataclass(frozen=True)
class Count(Evidence):
    """An exact tally: ``positives`` members are positive."""

    nouns: ClassVar[tuple[str, str]] = ("count", "counts")

    positives: int

    def __post_init__(self) -> None:
        _settle(self, positives=_whole("Count", "positives", self.positives))

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        return _inside(counts, n, self.positives, self.positives, f"Count({self.positives})")

    def support(self, n: int) -> tuple[int, int]:
        return min(self.positives, n), min(self.positives, n)

    def reported_share(self, n: int) -> float:
        return self.positives / n

    def share_bounds(self, n: int) -> tuple[float, float]:
        return self.positives / n, self.positives / n


@dataclass(frozen=True)
class Between(Evidence):
    """From ``low`` to ``high`` members are positive, both bounds included."""

    nouns: ClassVar[tuple[str, str]] = ("range", "ranges")

    low: int
    high: int

    def __post_init__(self) -> None:
        _settle(self, low=_whole("Between", "low", self.low), high=_whole("Between", "high", self.high))
        if self.low > self.high:
            raise ValueError(
                f"Between expects low <= high, got low={self.low} and high={self.high}; swap the two."
            )

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        return _inside(counts, n, self.low, self.high, f"Between({self.low}, {self.high})")

    def support(self, n: int) -> tuple[int, int]:
        return min(self.low, n), min(self.high, n)

    def share_bounds(self, n: int) -> tuple[float, float]:
        return self.low / n, min(self.high / n, 1.0)


@dataclass(frozen=True)
class AtLeast(Evidence):
    """At least ``positives`` members are positive; ``AtLeast(1)`` is multiple-instance learning."""

    nouns: ClassVar[tuple[str, str]] = ("lower bound", "lower bounds")

    positives: int = 1

    def __post_init__(self) -> None:
        _settle(self, positives=_whole("AtLeast", "positives", self.positives))

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        return _inside(counts, n, self.positives, max(n, self.positives), f"AtLeast({self.positives})")

    def support(self, n: int) -> tuple[int, int]:
        return min(self.positives, n), n

    def share_bounds(self, n: int) -> tuple[float, float]:
        return self.positives / n, 1.0


@dataclass(frozen=True)
class AtMost(Evidence):
    """At most ``positives`` members are positive."""

    nouns: ClassVar[tuple[str, str]] = ("upper bound", "upper bounds")

    positives: int

    def __post_init__(self) -> None:
        _settle(self, positives=_whole("AtMost", "positives", self.positives))

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        return _inside(counts, n, 0, self.positives, f"AtMost({self.positives})")

    def support(self, n: int) -> tuple[int, int]:
        return 0, min(self.positives, n)

    def share_bounds(self, n: int) -> tuple[float, float]:
        return 0.0, min(self.positives / n, 1.0)


@dataclass(frozen=True)
class Population(Evidence):
    """The members are a random sample of a larger group that has this share of positives.

    It says nothing about the members' own count, as others of the same features may answer otherwise. It is
    about the average probability over the whole group, whose composition the members show with the noise of
    a sample.
    See :mod:`disaggregate.model.populations`.

    Parameters
    ----------
    share : float
        Share of positives in the larger group, from 0 to 1.
    size : int, optional
        Number of people in the larger group; without it, as many as make the share exact.
    """

    nouns: ClassVar[tuple[str, str]] = ("share of the whole group", "shares of whole groups")
    takes_weights: ClassVar[bool] = True

    share: float
    size: int | None = None

    def __post_init__(self) -> None:
        _settle(self, share=_share("Population", self.share))
        if self.size is not None:
            _settle(self, size=_whole("Population", "size", self.size))

    @property
    def population(self) -> Population:
        return self

    def log_likelihood(self, n: int) -> np.ndarray:
        if self.size is not None and self.size < n:
            raise ValueError(
                f"Population(size={self.size}) expects at least as many people as its {n} sampled members; "
                "give the size of the whole group, or leave it out."
            )
        return np.zeros(n + 1)

    def weighted_log_likelihood(self, units: int, effective: float) -> np.ndarray:
        return np.zeros(units + 1)

    def reported_share(self, n: int) -> float:
        return self.share


@dataclass(frozen=True)
class Survey(Evidence):
    """A poll of ``sampled`` of the members, taken at random, found ``positives`` positives."""

    nouns: ClassVar[tuple[str, str]] = ("poll", "polls")

    positives: int
    sampled: int

    def __post_init__(self) -> None:
        _settle(
            self,
            positives=_whole("Survey", "positives", self.positives),
            sampled=_whole("Survey", "sampled", self.sampled),
        )
        if self.positives > self.sampled:
            raise ValueError(
                f"Survey expects no more positives than people asked, got positives={self.positives} "
                f"and sampled={self.sampled}."
            )

    def log_likelihood(self, n: int) -> np.ndarray:
        if self.sampled > n:
            raise ValueError(
                f"Survey(sampled={self.sampled}) expects at most the group's {n} members to have been asked; "
                "use Population if the members are the sample."
            )
        return _log_hypergeometric(self.positives, n, np.arange(n + 1), self.sampled)

    def reported_share(self, n: int) -> float:
        return self.positives / self.sampled if self.sampled else math.nan

    def share_bounds(self, n: int) -> tuple[float, float]:
        return self.positives / n, (self.positives + n - self.sampled) / n


@dataclass(frozen=True)
class NoisyCount(Evidence):
    """A count of positives with noise added to it, as for differential privacy.

    Parameters
    ----------
    value : float
        The published count; it may be negative or fractional.
    scale : float
        Scale of the Laplace noise, or standard deviation of the Gaussian noise.
    noise : {"laplace", "gaussian"}, default="laplace"
        Kind of noise.
    """

    nouns: ClassVar[tuple[str, str]] = ("count with privacy noise", "counts with privacy noise")

    value: float
    scale: float
    noise: Literal["laplace", "gaussian"] = "laplace"

    def __post_init__(self) -> None:
        if not (_is_number(self.value) and math.isfinite(self.value)):
            raise ValueError(f"NoisyCount expects a finite value, got {self.value!r}.")
        if not (_is_number(self.scale) and 0.0 < float(self.scale) < math.inf):
            raise ValueError(
                f"NoisyCount expects a positive, finite scale, got {self.scale!r}; use Count for an exact tally."
            )
        if self.noise not in ("laplace", "gaussian"):
            raise ValueError(f"NoisyCount expects noise='laplace' or 'gaussian', got {self.noise!r}.")
        _settle(self, value=float(self.value), scale=float(self.scale))

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    def support(self, n: int) -> tuple[int, int]:
        reach = (4.0 if self.noise == "laplace" else 1.0) * _FARTHEST * self.scale + 1.0
        center = min(max(self.value, 0.0), float(n))
        return math.floor(max(center - reach, 0.0)), math.ceil(min(center + reach, float(n)))

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        with np.errstate(over="ignore"):  # beyond all numbers is -inf: impossible
            error = (self.value - counts) / self.scale
            if self.noise == "laplace":
                return -np.abs(error) - math.log(2.0) - math.log(self.scale)
            return -0.5 * error**2 - math.log(self.scale) - 0.5 * math.log(2.0 * math.pi)

    def reported_share(self, n: int) -> float:
        return self.value / n


@dataclass(frozen=True)
class Unknown(Evidence):
    """Nothing is known of the count; the group still shapes the basis and gets predictions."""

    nouns: ClassVar[tuple[str, str]] = ("group without a result", "groups without a result")
    takes_weights: ClassVar[bool] = True
    is_uninformative: ClassVar[bool] = True

    def log_likelihood(self, n: int) -> np.ndarray:
        return np.zeros(n + 1)

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        return np.zeros(len(counts))

    def weighted_log_likelihood(self, units: int, effective: float) -> np.ndarray:
        return np.zeros(units + 1)


# Reports that exclude all counts outside their support.
_FIRM = (Count, Between, AtLeast, AtMost)


@dataclass(frozen=True)
class AllOf(Evidence):
    """Several independent reports on one group, such as a rough share and "at least one".

    Parameters
    ----------
    parts : tuple of Evidence
        Every one of them holds.
    """

    nouns: ClassVar[tuple[str, str]] = ("group with several results", "groups with several results")

    parts: tuple[Evidence, ...]

    def __post_init__(self) -> None:
        parts = tuple(self.parts) if isinstance(self.parts, (list, tuple)) else ()
        if not parts or not all(isinstance(part, Evidence) for part in parts):
            raise ValueError(
                "AllOf expects some pieces of evidence, such as AllOf((Fraction(0.3), AtLeast(1))); got "
                f"{self.parts!r}."
            )
        object.__setattr__(self, "parts", parts)

    @property
    def population(self) -> Population | None:
        return next((part.population for part in self.parts if part.population is not None), None)

    def log_likelihood(self, n: int) -> np.ndarray:
        return self._together([part.log_likelihood(n) for part in self.parts])

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        return np.sum([part.log_likelihood_at(counts, n) for part in self.parts], axis=0)

    def support(self, n: int) -> tuple[int, int]:
        supports = [part.support(n) for part in self.parts]
        # What a firm report excludes no other one can bring back. Two others may meet where both are unlikely.
        firm: list[tuple[int, int]] = []
        others: list[tuple[int, int]] = []
        for part, (low, high) in zip(self.parts, supports, strict=True):
            (firm if isinstance(part, _FIRM) or low == high else others).append((low, high))
        lows, highs = zip(*(others or [(0, n)]), strict=True)
        least = max(min(lows), *(low for low, _ in firm), 0)
        greatest = min(max(highs), *(high for _, high in firm), n)
        if least > greatest:  # they contradict each other, which their likelihood will tell
            return min(low for low, _ in supports), max(high for _, high in supports)
        return least, greatest

    def weighted_log_likelihood(self, units: int, effective: float) -> np.ndarray:
        return self._together([part.weighted_log_likelihood(units, effective) for part in self.parts])

    def _together(self, parts: list[np.ndarray]) -> np.ndarray:
        together = np.sum(parts, axis=0)
        if not np.isfinite(together).any():
            n = len(together) - 1
            raise ValueError(f"{self} cannot hold in a group of {n}: its parts contradict each other.")
        return together

    def reported_share(self, n: int) -> float:
        shares = [part.reported_share(n) for part in self.parts]
        return next((share for share in shares if not math.isnan(share)), math.nan)

    def share_bounds(self, n: int) -> tuple[float, float]:
        lows, highs = zip(*(part.share_bounds(n) for part in self.parts), strict=True)
        return max(lows), min(highs)


def mixing_weights(log_confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Which confidences a report may have where that of all groups is this, and how probable each of them is.

    Weights are those of a cubic B-spline; beyond the ends of the grid nothing changes.

    Parameters
    ----------
    log_confidence : float
        Logarithm of the confidence chi of all groups.

    Returns
    -------
    cells : ndarray of int, shape (4,)
        Indices into ``CONFIDENCES``.
    weights : ndarray of shape (4,)
        Their probabilities.
    """
    x = min(max(log_confidence / _LOG_STEP, 0.0), len(CONFIDENCES) - 1.0)
    cell = int(x)
    u = x - cell
    weights = np.array([(1.0 - u) ** 3, 3.0 * u**3 - 6.0 * u**2 + 4.0, 3.0 * (u + u**2 - u**3) + 1.0, u**3]) / 6.0
    return np.clip(np.arange(cell - 1, cell + 3), 0, len(CONFIDENCES) - 1), weights


def _nearest_counts(fraction: np.ndarray, share: float, n: int) -> np.ndarray:
    """Limit of the paper's Beta as confidence grows: the counts of least divergence KL(k/n || share)."""
    if share in (0.0, 1.0):
        return np.where(fraction == share, 0.0, -np.inf)
    beside = np.array([math.floor(n * share), math.ceil(n * share)]) / n
    return np.where(_divergence(fraction, share) <= _divergence(beside, share).min() + 1e-12, 0.0, -np.inf)


def _divergence(fraction: np.ndarray, share: float) -> np.ndarray:
    return (
        xlogy(fraction, fraction)
        + xlog1py(1.0 - fraction, -fraction)
        - xlogy(fraction, share)
        - xlog1py(1.0 - fraction, -share)
    )


def _inside(counts: np.ndarray, n: int, low: int, high: int, described: str) -> np.ndarray:
    """Zero for counts from low to high, -inf elsewhere; at least one count must be possible."""
    if low > n:
        raise ValueError(f"{described} cannot hold in a group of {n}: no count from 0 to {n} agrees with it.")
    return np.where((counts >= low) & (counts <= high), 0.0, -np.inf)


def _log_choose(total: float | np.ndarray, chosen: float | np.ndarray) -> np.ndarray:
    """Log binomial coefficient, -inf outside 0 <= chosen <= total."""
    possible = (np.asarray(chosen) >= 0) & (np.asarray(chosen) <= np.asarray(total))
    inside = np.where(possible, chosen, 0)
    # Through the Beta function, which keeps its digits where the factorials of large groups cancel.
    value = -betaln(inside + 1.0, total - inside + 1.0) - np.log1p(total)
    return np.where(possible, value, -np.inf)


def _log_hypergeometric(
    drawn_positives: int | np.ndarray, size: int, positives: int | np.ndarray, drawn: float
) -> np.ndarray:
    """Log probability of drawing so many positives in a sample without replacement."""
    return (
        _log_choose(positives, drawn_positives)
        + _log_choose(size - positives, drawn - np.asarray(drawn_positives))
        - _log_choose(size, drawn)
    )


def _share(kind: str, value: Any) -> float:
    if _is_number(value) and 0.0 <= float(value) <= 1.0:
        return float(value)
    percent = " (divide a percentage by 100)" if _is_number(value) and 1.0 < float(value) <= 100.0 else ""
    raise ValueError(f"{kind} expects a share from 0 to 1, got {value!r}{percent}.")


def _whole(kind: str, name: str, value: Any) -> int:
    if _is_number(value) and float(value).is_integer() and 0 <= value <= _LARGEST_COUNT:
        return int(value)
    raise ValueError(f"{kind} expects {name} to be a whole number of 0 or more, got {value!r}.")


def _is_number(value: Any) -> TypeGuard[float]:
    """Tell numbers from everything else; True and False are answers, not numbers."""
    if not isinstance(value, (Real, Decimal)) or isinstance(value, bool):
        return False
    try:
        float(value)
    except (OverflowError, ValueError):  # beyond all floats, or a NaN that signals
        return False
    return True


def _settle(evidence: Evidence, **values: float) -> None:
    """Keep plain Python numbers, so that equal reports are equal objects whatever they were typed as."""
    for name, value in values.items():
        object.__setattr__(evidence, name, value)

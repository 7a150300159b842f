"""Evidence: what is known about the count of positives in a group.

Most kinds are a likelihood over the group's count of positives. Each is a small frozen object that answers
``log_likelihood(n)``: for a group of ``n`` members, how well does "k of the n are positive" agree with the report,
for k = 0, ..., n. A report on a population of which the members are a sample says so by ``population``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from disaggregate.groups.count_probabilities import log_hypergeometric, nearest_counts
from disaggregate.groups.learned_confidence import CONFIDENCES, TAIL, UNTIL_KNOWN, mixing_weights
from disaggregate.groups.report_values import (
    confidence_of,
    is_number,
    require_whole_population,
    set_fields,
    share_of,
    whole_number,
)

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
    "RoundedCount",
    "Survey",
    "Unknown",
]

# Beyond this confidence the Beta density is a spike at one count, and its terms cancel to noise.
_CERTAIN = 1e12

# From this confidence on, that of the paper, bounds take a share as exact.
_AS_GOOD_AS_EXACT = 1000.0

# Sharper than any grid of weighted counts.
_SHARPEST_WEIGHTED = 1e6

# Standard deviations beyond which a report leaves negligible weight.
_FARTHEST = 12.0


class Evidence(ABC):
    """Evidence about the count of positives in one group."""

    nouns: ClassVar[tuple[str, str]] = ("other report", "other reports")  # one of it, and several
    takes_weights: ClassVar[bool] = False  # whether survey weights say how much members count in it
    is_uninformative: ClassVar[bool] = False
    can_be_simulated: ClassVar[bool] = False  # whether the report can be drawn, to compare it with draws
    excludes_others: ClassVar[bool] = False  # whether counts outside its support are impossible, and not only rare

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
        at_counts: np.ndarray = self.log_likelihood(n)[counts]
        return at_counts

    def support(self, n: int) -> tuple[int, int]:
        """Return the least and the greatest count with more than negligible likelihood.

        Parameters
        ----------
        n : int
            Number of members of the group.
        """
        return 0, n

    @property
    def population(self) -> Population | None:
        """The population that the report describes, if the members are a sample of it."""
        return None

    @property
    def learns_confidence(self) -> bool:
        """Whether the confidence of the report is learned."""
        return False

    @property
    def stated_confidence(self) -> float | None:
        """The confidence of the report, if it is a number."""
        return None

    def trusted_less(self, most: float, divisor: float) -> Evidence:
        """Return the report with a lower confidence, if it has one; otherwise the report itself.

        Parameters
        ----------
        most, divisor : float
            The confidence becomes at most this number, and at most itself over the divisor.
        """
        return self

    def densities(self, counts: np.ndarray, n: int) -> np.ndarray:
        """Density of the report by confidence and count, if the confidence is learned.

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
        """Return the reported share of positives of a group of ``n``, for tables; NaN without one."""
        return math.nan

    def share_bounds(self, n: int) -> tuple[float, float]:
        """Return the least and the greatest share of positives in a group of ``n`` that are possible.

        Only certain bounds count; a report with an error gives none.
        """
        return 0.0, 1.0


@dataclass(frozen=True)
class Fraction(Evidence):
    """A reported fraction of positives, as in the paper (section 3.1).

    The report m given the true fraction lambda = k/n has density
    Beta(m; chi lambda + 1, chi (1 - lambda) + 1). Its normaliser depends on lambda and is included.

    Parameters
    ----------
    share : float
        The reported fraction m, from 0 to 1. At 0 every member is negative, at 1 every member is positive.
    confidence : float or "auto", default=1000.0
        The paper's chi, from 0 (no information) to infinity (the counts nearest to the share). "auto"
        learns one confidence for all groups with "auto", with a heavy tail for single reports; see
        :mod:`disaggregate.model.report_noise`.
    """

    nouns: ClassVar[tuple[str, str]] = ("share", "shares")
    takes_weights: ClassVar[bool] = True
    can_be_simulated: ClassVar[bool] = True

    share: float
    confidence: float | Literal["auto"] = 1000.0

    def __post_init__(self) -> None:
        if isinstance(self.confidence, str) and self.confidence == "auto":
            set_fields(self, share=share_of("Fraction", self.share))
            return
        confidence = confidence_of("Fraction", self.confidence)
        set_fields(self, share=share_of("Fraction", self.share), confidence=confidence)

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
            cells, weights = mixing_weights(math.log(UNTIL_KNOWN))
            return np.asarray(np.log(TAIL + (1.0 - TAIL) * (weights @ self.densities(counts, n)[cells])))
        if self.confidence >= _CERTAIN:
            return nearest_counts(fraction, self.share, n)
        positive = self.confidence * fraction
        negative = self.confidence * (1.0 - fraction)
        kernel = xlogy(positive, self.share) + xlog1py(negative, -self.share)
        log_density: np.ndarray = kernel - betaln(positive + 1.0, negative + 1.0)
        return log_density

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
        # An exact share may be no multiple of 1/n, and would then exclude all counts.
        return Fraction(self.share, min(self.confidence, _SHARPEST_WEIGHTED)).log_likelihood(units)

    def reported_share(self, n: int) -> float:
        return self.share

    def share_bounds(self, n: int) -> tuple[float, float]:
        is_exact = self.confidence != "auto" and self.confidence >= _AS_GOOD_AS_EXACT
        return (self.share, self.share) if is_exact else (0.0, 1.0)


class _Limits(Evidence):
    """All counts between two limits are equally likely, and no others are possible."""

    excludes_others: ClassVar[bool] = True

    @abstractmethod
    def limits(self, n: int) -> tuple[int, int]:
        """Return the least and the greatest possible count in a group of ``n``; they may be above ``n``."""

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        low, high = self.limits(n)
        if low > n:
            numbers = ", ".join(str(getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
            raise ValueError(
                f"{type(self).__name__}({numbers}) cannot hold in a group of {n}: no count from 0 to {n} agrees "
                "with it."
            )
        return np.where((counts >= low) & (counts <= high), 0.0, -np.inf)

    def support(self, n: int) -> tuple[int, int]:
        low, high = self.limits(n)
        return min(low, n), min(high, n)

    def share_bounds(self, n: int) -> tuple[float, float]:
        low, high = self.limits(n)
        return low / n, min(high, max(low, n)) / n


@dataclass(frozen=True)
class Count(_Limits):
    """An exact count: ``positives`` members are positive."""

    nouns: ClassVar[tuple[str, str]] = ("count", "counts")
    can_be_simulated: ClassVar[bool] = True

    positives: int

    def __post_init__(self) -> None:
        set_fields(self, positives=whole_number("Count", "positives", self.positives))

    def limits(self, n: int) -> tuple[int, int]:
        return self.positives, self.positives

    def reported_share(self, n: int) -> float:
        return self.positives / n


@dataclass(frozen=True)
class Between(_Limits):
    """From ``low`` to ``high`` members are positive, both bounds included."""

    nouns: ClassVar[tuple[str, str]] = ("range", "ranges")

    low: int
    high: int

    def __post_init__(self) -> None:
        low, high = (whole_number("Between", name, getattr(self, name)) for name in ("low", "high"))
        set_fields(self, low=low, high=high)
        if low > high:
            raise ValueError(f"Between expects low <= high, got low={low} and high={high}; swap the two.")

    def limits(self, n: int) -> tuple[int, int]:
        return self.low, self.high


@dataclass(frozen=True)
class AtLeast(_Limits):
    """At least ``positives`` members are positive; ``AtLeast(1)`` is multiple-instance learning."""

    nouns: ClassVar[tuple[str, str]] = ("lower bound", "lower bounds")

    positives: int = 1

    def __post_init__(self) -> None:
        set_fields(self, positives=whole_number("AtLeast", "positives", self.positives))

    def limits(self, n: int) -> tuple[int, int]:
        return self.positives, n


@dataclass(frozen=True)
class AtMost(_Limits):
    """At most ``positives`` members are positive."""

    nouns: ClassVar[tuple[str, str]] = ("upper bound", "upper bounds")

    positives: int

    def __post_init__(self) -> None:
        set_fields(self, positives=whole_number("AtMost", "positives", self.positives))

    def limits(self, n: int) -> tuple[int, int]:
        return 0, self.positives


@dataclass(frozen=True)
class Population(Evidence):
    """The share of positives in a population of which the members are a random sample.

    It carries no information about the count among the members. It is
    about the average probability over the population, whose composition the members show with sampling
    error.
    See :mod:`disaggregate.model.populations`.

    Parameters
    ----------
    share : float
        Share of positives in the population, from 0 to 1.
    size : int, optional
        Number of people in the population; infinite by default.
    """

    nouns: ClassVar[tuple[str, str]] = ("share of the whole group", "shares of whole groups")
    takes_weights: ClassVar[bool] = True

    share: float
    size: int | None = None

    def __post_init__(self) -> None:
        set_fields(self, share=share_of("Population", self.share))
        if self.size is not None:
            set_fields(self, size=whole_number("Population", "size", self.size))

    @property
    def population(self) -> Population:
        return self

    def log_likelihood(self, n: int) -> np.ndarray:
        require_whole_population("Population", self.size, n)
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
        set_fields(
            self,
            positives=whole_number("Survey", "positives", self.positives),
            sampled=whole_number("Survey", "sampled", self.sampled),
        )
        if self.positives > self.sampled:
            raise ValueError(
                f"Survey expects no more positives than people sampled, got positives={self.positives} "
                f"and sampled={self.sampled}."
            )

    def log_likelihood(self, n: int) -> np.ndarray:
        if self.sampled > n:
            raise ValueError(
                f"Survey(sampled={self.sampled}) expects at most the group's {n} members to have been sampled; "
                "use Population if the members are the sample."
            )
        return log_hypergeometric(self.positives, n, np.arange(n + 1), self.sampled)

    def reported_share(self, n: int) -> float:
        return self.positives / self.sampled if self.sampled else math.nan

    def share_bounds(self, n: int) -> tuple[float, float]:
        return self.positives / n, (self.positives + n - self.sampled) / n


@dataclass(frozen=True)
class NoisyCount(Evidence):
    """A count of positives with added noise, as for differential privacy.

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
        if not (is_number(self.value) and math.isfinite(self.value)):
            raise ValueError(f"NoisyCount expects a finite value, got {self.value!r}.")
        if not (is_number(self.scale) and 0.0 < float(self.scale) < math.inf):
            raise ValueError(
                f"NoisyCount expects a positive, finite scale, got {self.scale!r}; use Count for an exact count."
            )
        if self.noise not in ("laplace", "gaussian"):
            raise ValueError(f"NoisyCount expects noise='laplace' or 'gaussian', got {self.noise!r}.")
        set_fields(self, value=float(self.value), scale=float(self.scale))

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    def support(self, n: int) -> tuple[int, int]:
        reach = (4.0 if self.noise == "laplace" else 1.0) * _FARTHEST * self.scale + 1.0
        center = min(max(self.value, 0.0), float(n))
        return math.floor(max(center - reach, 0.0)), math.ceil(min(center + reach, float(n)))

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        with np.errstate(over="ignore"):  # -inf beyond the range of floats: impossible
            error = (self.value - counts) / self.scale
            if self.noise == "laplace":
                return -np.abs(error) - math.log(2.0) - math.log(self.scale)
            return -0.5 * error**2 - math.log(self.scale) - 0.5 * math.log(2.0 * math.pi)

    def reported_share(self, n: int) -> float:
        return self.value / n


@dataclass(frozen=True)
class RoundedCount(Evidence):
    """A count of positives that was rounded at random to a multiple of some base, as census offices do.

    A count is rounded to the multiple below or above it, with probabilities such that the result is
    unbiased. Statistics Canada rounds to multiples of 5, Stats NZ to multiples of 3. Where counts were
    rounded to the nearest multiple, use :class:`Between`.

    Parameters
    ----------
    value : int
        The published count, a multiple of ``base``.
    base : int
        The base of the rounding; 1 is an exact count.
    """

    nouns: ClassVar[tuple[str, str]] = ("rounded count", "rounded counts")
    excludes_others: ClassVar[bool] = True

    value: int
    base: int

    def __post_init__(self) -> None:
        value, base = (whole_number("RoundedCount", name, getattr(self, name)) for name in ("value", "base"))
        set_fields(self, value=value, base=base)
        if base == 0 or value % base:
            raise ValueError(
                f"RoundedCount expects value to be a multiple of base, got value={value} and base={base}; use "
                "NoisyCount for a count with other noise."
            )

    def log_likelihood(self, n: int) -> np.ndarray:
        return self.log_likelihood_at(np.arange(n + 1), n)

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        if self.value - self.base >= n:
            raise ValueError(
                f"RoundedCount({self.value}, {self.base}) cannot hold in a group of {n}: no count from 0 to {n} "
                "is rounded to it."
            )
        with np.errstate(divide="ignore"):  # beyond the base is -inf: impossible
            return np.asarray(np.log(np.maximum(1.0 - np.abs(counts - self.value) / self.base, 0.0)))

    def support(self, n: int) -> tuple[int, int]:
        reach = self.base - 1
        return min(max(self.value - reach, 0), n), min(self.value + reach, n)

    def reported_share(self, n: int) -> float:
        return min(self.value / n, 1.0)

    def share_bounds(self, n: int) -> tuple[float, float]:
        low, high = self.support(n)
        return low / n, high / n


@dataclass(frozen=True)
class Unknown(Evidence):
    """No report; the people of the group are still part of the fit and get predictions."""

    nouns: ClassVar[tuple[str, str]] = ("group without a result", "groups without a result")
    takes_weights: ClassVar[bool] = True
    is_uninformative: ClassVar[bool] = True

    def log_likelihood(self, n: int) -> np.ndarray:
        return np.zeros(n + 1)

    def log_likelihood_at(self, counts: np.ndarray, n: int) -> np.ndarray:
        return np.zeros(len(counts))

    def weighted_log_likelihood(self, units: int, effective: float) -> np.ndarray:
        return np.zeros(units + 1)


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
        return np.asarray(np.sum([part.log_likelihood_at(counts, n) for part in self.parts], axis=0))

    def support(self, n: int) -> tuple[int, int]:
        supports = [part.support(n) for part in self.parts]
        # No report can make a count possible that another one excludes. Two reports may agree on a count that is
        # unlikely for each.
        firm: list[tuple[int, int]] = []
        others: list[tuple[int, int]] = []
        for part, (low, high) in zip(self.parts, supports, strict=True):
            (firm if part.excludes_others or low == high else others).append((low, high))
        lows, highs = zip(*(others or [(0, n)]), strict=True)
        least = max(min(lows), *(low for low, _ in firm), 0)
        greatest = min(max(highs), *(high for _, high in firm), n)
        if least > greatest:  # they contradict each other, which their likelihood will show
            return min(low for low, _ in supports), max(high for _, high in supports)
        return least, greatest

    def weighted_log_likelihood(self, units: int, effective: float) -> np.ndarray:
        return self._together([part.weighted_log_likelihood(units, effective) for part in self.parts])

    def _together(self, parts: list[np.ndarray]) -> np.ndarray:
        together: np.ndarray = np.sum(parts, axis=0)
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

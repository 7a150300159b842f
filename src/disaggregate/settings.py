"""The settings of a fit: which values are sound, and the ones of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from disaggregate.model.priors import ScalePrior, gamma, half_normal, inverse_gamma

# Sparse: delta2 near 100, spread over all rows by the prior (5). Dense: delta2 is the variance of f, about e^2.
_SCALE_PRIOR = {"sparse": (10.0, 1000.0), "dense": (3.0, 15.0)}

# Groups in tables, such as districts, are seldom thrown together at random. Their make-up may matter to their
# members; and they differ along the directions in which people differ most, as places do in other ways, so that a
# prior that favours these directions would put too much of it down to people.
GROUPS_ARE_PLACES = {"context": "auto", "emphasis": 1.0}

# Nor are the regions of a picture: rooms and landscapes differ as places do.
GROUPS_ARE_PICTURES: dict[str, Any] = {"emphasis": 1.0}

# Groups of which the analyst knows that they were.
GROUPS_AT_RANDOM = {"context": False, "emphasis": "auto", "group_effects": False}

# Nobody waits for so many draws, chains or threads.
_TOO_MANY = 2**31
# Bounds against typos; no prior of a scale needs more.
_LEAST_PRIOR, _MOST_PRIOR = 1e-9, 1e9
_MOST_CHAINS = 10_000


def published_settings() -> dict[str, Any]:
    """Return the constructor arguments that make the classifier the sampler of 2005.

    ``GroupStatsClassifier(**published_settings())`` has the paper's priors (a = b = mu = nu = 1), its
    confidence chi = 1000, a kernel on every individual, no intercept, one chain without replicas, and the
    published moves, the random-walk latent step among them; 1,000 draws after 1,000.
    """
    return {
        "kernel": "rbf",
        "gamma": "scale",
        "centers": "all",
        "intercept": False,
        "context": False,
        "weights": "sparse",
        "a": 1.0,
        "b": 1.0,
        "mu": 1.0,
        "nu": 1.0,
        "confidence": 1000.0,
        "latent": "metropolis",
        "n_replicas": 1,
        "n_chains": 1,
        "n_draws": 1000,
        "n_burn": 1000,
        "thin": 1,
    }


# Standard deviations of the half-normal priors of what context and place do to groups, on the probit scale.
_CONTEXT, _PLACE = 0.15, 0.2

# Where groups are samples or cells, the variance of what individual features do is gamma distributed. Reports on
# groups hardly tell people's own features from those of the people around them, so this prior decides how much is
# put down to each. A half-normal prior lets the individual part vanish, and was wrong on real groups.
_INDIVIDUAL_SHAPE, _INDIVIDUAL_MEAN = 2.0, 0.64

# Standard deviations below this change no probability by more than some 0.01. Those of places are integrated out,
# so that chains do not mind if they nearly vanish; and where places do not differ, a higher floor takes what the
# noise of small samples does for differences between places, and makes those between people too small.
_FLOOR, _PLACE_FLOOR = 0.03, 0.01


def scale_priors(settings: Mapping[str, Any], of_places: bool) -> dict[str, ScalePrior]:
    """Return the priors of the scales of the score components "individual", "context" and "place".

    Parameters
    ----------
    settings : mapping
        Constructor arguments of the classifier.
    of_places : bool
        Whether rows are samples or cells of places: what individuals differ by is then smaller than in groups
        that were thrown together at random, and the base rate is a component of its own.
    """
    is_given = settings["mu"] is not None or settings["nu"] is not None
    individual = inverse_gamma(*scale_prior("dense", settings["mu"], settings["nu"]))
    if of_places and not is_given:
        individual = gamma(_INDIVIDUAL_SHAPE, _INDIVIDUAL_MEAN, _FLOOR)
    return {
        "individual": individual,
        "context": half_normal(_CONTEXT, _FLOOR),
        "place": half_normal(_PLACE, _PLACE_FLOOR),
    }


def scale_prior_around(settings: Mapping[str, Any], of_places: bool) -> tuple[float, float]:
    """Return mu and nu of an inverse-gamma prior with the median of the prior that a fit has.

    Parameters
    ----------
    settings : mapping
        Constructor arguments of the classifier.
    of_places : bool
        As for :func:`scale_priors`.
    """
    mu, nu = scale_prior(settings["weights"], settings["mu"], settings["nu"])
    if settings["weights"] == "sparse":
        return mu, nu
    found, wanted = inverse_gamma(mu, nu).median, scale_priors(settings, of_places)["individual"].median
    return mu, nu * wanted / found


def scale_prior(weights: str, mu: float | None, nu: float | None) -> tuple[float, float]:
    """Fill in the default prior of delta2, whose meaning differs between sparse and dense weights."""
    default_mu, default_nu = _SCALE_PRIOR[weights]
    return float(default_mu if mu is None else mu), float(default_nu if nu is None else nu)


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise ValueError, saying what was expected, for the first setting that is not sound.

    Parameters
    ----------
    settings : mapping
        Constructor arguments of the classifier.
    """
    for name in ("a", "b"):
        _require(_is_positive(settings[name]), name, "a positive, finite number", settings[name])
    for name in ("mu", "nu"):
        value = settings[name]
        sound = value is None or (_is_positive(value) and _LEAST_PRIOR <= value <= _MOST_PRIOR)
        expected = f"a number from {_LEAST_PRIOR:g} to {_MOST_PRIOR:g}, or None for the default"
        _require(sound, name, expected, value)
    n_chains = settings["n_chains"]
    sound = _is_whole(n_chains, 1) and n_chains <= _MOST_CHAINS
    _require(sound, "n_chains", f"a whole number from 1 to {_MOST_CHAINS:,}", n_chains)
    n_draws, n_burn, thin = settings["n_draws"], settings["n_burn"], settings["thin"]
    sound = _is_whole(n_draws, 1) or _is_one_of(n_draws, "auto")
    _require(sound, "n_draws", 'a whole number of 1 or more, or "auto"', n_draws)
    sound = _is_whole(n_burn, 0) or _is_one_of(n_burn, "auto")
    _require(sound, "n_burn", 'a whole number of 0 or more, or "auto"', n_burn)
    _require(_is_whole(thin, 1), "thin", "a whole number of 1 or more", thin)
    _require(
        isinstance(settings["intercept"], (bool, np.bool_)), "intercept", "True or False", settings["intercept"]
    )
    progress = settings["progress"]
    sound = isinstance(progress, (bool, np.bool_)) or callable(progress)
    _require(sound, "progress", "True, False or a function of sweeps done, sweeps in all and what for", progress)
    context = settings["context"]
    sound = isinstance(context, (bool, np.bool_)) or _is_one_of(context, "auto")
    _require(sound, "context", 'True, False or "auto"', context)
    effects = settings["group_effects"]
    sound = isinstance(effects, (bool, np.bool_)) or _is_one_of(effects, "auto")
    _require(sound, "group_effects", 'True, False or "auto"', effects)
    emphasis = settings["emphasis"]
    sound = _is_positive(emphasis) or _is_one_of(emphasis, "auto")
    _require(sound, "emphasis", 'a positive, finite number, or "auto"', emphasis)
    latent, weights, n_replicas = settings["latent"], settings["weights"], settings["n_replicas"]
    _require(_is_one_of(latent, "exact", "metropolis"), "latent", '"exact" or "metropolis"', latent)
    _require(_is_one_of(weights, "sparse", "dense"), "weights", '"sparse" or "dense"', weights)
    storage, ways = settings["storage"], ("auto", "float64", "float32", "recomputed")
    _require(_is_one_of(storage, *ways), "storage", " or ".join(f'"{way}"' for way in ways), storage)
    sound = n_replicas is None or _is_whole(n_replicas, 1)
    _require(sound, "n_replicas", "None, for as many as swap well, or a whole number of 1 or more", n_replicas)
    if weights == "sparse":
        _require(not context, "context", 'False with weights="sparse", which choose among kernels alone', context)
        only = 'False or "auto" with weights="sparse", which choose among kernels alone'
        _require(effects in (False, "auto"), "group_effects", only, effects)
    if weights == "dense":
        _require(latent == "exact", "latent", '"exact" with weights="dense", which have no other step', latent)
    if latent == "metropolis":
        _require(n_replicas in (None, 1), "n_replicas", '1 with latent="metropolis" (no ladder)', n_replicas)
    _require_confidence(settings["confidence"])
    _require_place(settings["n_jobs"], settings["executor"])


def _require_confidence(confidence: Any) -> None:
    expected = "a number of 0 or more, infinity included, or one such number for each group"
    if hasattr(confidence, "items"):
        for group, value in confidence.items():
            _require(_is_at_least_zero(value), f"confidence of group {group!r}", expected, value)
    else:
        _require(_is_at_least_zero(confidence), "confidence", expected, confidence)


def _require_place(n_jobs: Any, executor: Any) -> None:
    is_number_of_threads = n_jobs is None or (_is_whole(n_jobs, -np.inf) and n_jobs != 0)
    _require(is_number_of_threads, "n_jobs", "None, -1 or a whole number of threads", n_jobs)
    can_map = executor is None or callable(getattr(executor, "map", None))
    _require(can_map, "executor", "None or an object with a map method, as concurrent.futures has", executor)


def _require(sound: bool, name: str, expected: str, came: Any) -> None:
    if not sound:
        raise ValueError(f"{name} must be {expected}; got {came!r}.")


def _is_positive(value: Any) -> bool:
    return _is_number(value) and 0 < value < np.inf


def _is_at_least_zero(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_one_of(value: Any, *names: str) -> bool:
    return isinstance(value, str) and value in names


def _is_whole(value: Any, least: float) -> bool:
    return isinstance(value, Integral) and _is_number(value) and least <= value < _TOO_MANY


def _is_number(value: Any) -> TypeGuard[float]:
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True

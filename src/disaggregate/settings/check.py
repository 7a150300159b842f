"""Which settings of the classifier are sound, one by one and together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from disaggregate.settings.conditions import is_flag, is_number, is_one_of, is_whole, require
from disaggregate.settings.priors import SpikeSlab, as_prior

_MOST_CHAINS = 10_000

# Each has a mass matrix of its own; with more than 24 neighbours hardly ever refuse to swap.
_MOST_REPLICAS = 200
_WAYS_TO_STORE = ("auto", "float64", "float32", "recomputed")
_KERNEL_PARAMS = ("degree", "coef0")


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise ValueError, saying what was expected, for the first setting that is not sound.

    Parameters
    ----------
    settings : mapping
        Constructor arguments of the classifier.
    """
    _check_model(settings)
    _check_sampler(settings)
    _check_running(settings)
    if isinstance(as_prior(settings["prior"]), SpikeSlab):
        _check_spike_slab(settings)


def _check_model(settings: Mapping[str, Any]) -> None:
    as_prior(settings["prior"]).check()
    known = settings["kernel_params"]
    sound = known is None or (isinstance(known, Mapping) and set(known) <= set(_KERNEL_PARAMS))
    require(sound, "kernel_params", 'None or a dict with "degree", "coef0" or both', known)
    require(is_flag(settings["intercept"]), "intercept", "True or False", settings["intercept"])
    for name in ("context", "group_effects"):
        value = settings[name]
        require(is_flag(value) or is_one_of(value, "auto"), name, 'True, False or "auto"', value)
    _check_confidence(settings["confidence"])


def _check_confidence(confidence: Any) -> None:
    expected = 'a number of 0 or more, infinity included, one such number for each group, or "auto"'
    if is_one_of(confidence, "auto"):
        return
    if hasattr(confidence, "items"):
        for group, value in confidence.items():
            require(is_number(value) and value >= 0, f"confidence of group {group!r}", expected, value)
    else:
        require(is_number(confidence) and confidence >= 0, "confidence", expected, confidence)


def _check_sampler(settings: Mapping[str, Any]) -> None:
    n_chains = settings["n_chains"]
    sound = is_whole(n_chains, 1) and n_chains <= _MOST_CHAINS
    require(sound, "n_chains", f"a whole number from 1 to {_MOST_CHAINS:,}", n_chains)
    for name, least in (("n_draws", 1), ("n_burn", 0)):
        value = settings[name]
        sound = is_whole(value, least) or is_one_of(value, "auto")
        require(sound, name, f'a whole number of {least} or more, or "auto"', value)
    require(is_whole(settings["thin"], 1), "thin", "a whole number of 1 or more", settings["thin"])
    n_replicas = settings["n_replicas"]
    sound = n_replicas is None or (is_whole(n_replicas, 1) and n_replicas <= _MOST_REPLICAS)
    wanted = f"None, for as many as swap well, or a whole number from 1 to {_MOST_REPLICAS}"
    require(sound, "n_replicas", wanted, n_replicas)


def _check_running(settings: Mapping[str, Any]) -> None:
    n_jobs, executor, progress = settings["n_jobs"], settings["executor"], settings["progress"]
    sound = n_jobs is None or (is_whole(n_jobs, -np.inf) and n_jobs != 0)
    require(sound, "n_jobs", "None, -1 or a whole number of threads", n_jobs)
    sound = is_flag(progress) or is_one_of(progress, "auto") or callable(progress)
    wanted = 'True, False, "auto" or a function of sweeps done, sweeps in all and what for'
    require(sound, "progress", wanted, progress)
    sound = executor is None or callable(getattr(executor, "map", None))
    require(sound, "executor", "None or an object with a map method, as concurrent.futures has", executor)
    ways = " or ".join(f'"{way}"' for way in _WAYS_TO_STORE)
    require(is_one_of(settings["storage"], *_WAYS_TO_STORE), "storage", ways, settings["storage"])


def _check_spike_slab(settings: Mapping[str, Any]) -> None:
    """Refuse what spike and slab, which chooses among kernels alone, does not have."""
    prior = 'with prior="spike_slab", the model of 2005'
    require(not settings["context"], "context", f"False {prior}", settings["context"])
    require(settings["group_effects"] in (False, "auto"), "group_effects", f'False or "auto" {prior}', True)
    require(not is_one_of(settings["confidence"], "auto"), "confidence", f"a number {prior}", "auto")
    if as_prior(settings["prior"]).get_params()["latent"] == "metropolis":
        n_replicas = settings["n_replicas"]
        require(n_replicas in (None, 1), "n_replicas", '1 with latent="metropolis" (no ladder)', n_replicas)

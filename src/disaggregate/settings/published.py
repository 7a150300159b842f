"""Settings that belong together: those of the paper, and those of groups of several kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disaggregate.settings.priors import GaussianProcess, SpikeSlab


def published_settings() -> dict[str, Any]:
    """Return the constructor arguments that make the classifier the sampler of 2005.

    ``GroupStatsClassifier(**published_settings())`` has the paper's priors (a = b = mu = nu = 1), its
    confidence chi = 1000, a kernel at every individual, no intercept, one chain without replicas, and the
    published moves, including the random-walk step of the latent scores; 1,000 draws after a burn-in of 1,000.
    """
    return {
        "kernel": "rbf",
        "gamma": "scale",
        "centers": "all",
        "intercept": False,
        "prior": SpikeSlab(a=1.0, b=1.0, mu=1.0, nu=1.0, latent="metropolis"),
        "context": False,
        "confidence": 1000.0,
        "n_chains": 1,
        "n_draws": 1000,
        "n_burn": 1000,
        "thin": 1,
        "n_replicas": 1,
    }


def groups_are_places() -> dict[str, Any]:
    """Return the settings of groups in tables, such as districts, which are seldom formed at random.

    The composition of such groups may affect their members. They also differ most along the directions in which
    people differ most, and so in whatever is correlated with these; a prior that favours these directions would
    attribute too much of it to people. Where rows are cells, their rates are overdispersed.
    """
    return {"context": "auto", "prior": GaussianProcess(emphasis=1.0, cells=True)}


def groups_are_pictures() -> dict[str, Any]:
    """Return the settings of regions of pictures: rooms and landscapes differ as places do."""
    return {"prior": GaussianProcess(emphasis=1.0)}


def groups_at_random() -> dict[str, Any]:
    """Return the settings of groups of which the analyst knows that they were formed at random."""
    return {"context": False, "prior": GaussianProcess(), "group_effects": False}


def settings_of_tables(given: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the settings of a fit of tables, where groups are taken for places.

    Parameters
    ----------
    given : mapping
        What the caller gave. A prior that is an object is taken as it is.
    """
    if is_sparse(given):
        return dict(given)
    named = {"prior": "gaussian_process"}
    return {**groups_are_places(), **{name: value for name, value in given.items() if named.get(name) != value}}


def is_sparse(settings: Mapping[str, Any]) -> bool:
    """Return whether settings, of today or with old names, choose spike and slab."""
    prior = settings.get("prior")
    return isinstance(prior, SpikeSlab) or prior == "spike_slab" or settings.get("weights") == "sparse"

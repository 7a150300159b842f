"""Where chains start: around modes that they find from where the prior puts them."""

from __future__ import annotations

import numpy as np

from disaggregate.model.components import Components, draw_from_prior, within_bounds
from disaggregate.sampler.dense.metric import displaced
from disaggregate.sampler.dense.mode import Mode, find_mode
from disaggregate.sampler.dense.target import Target

# Chains start this many times as far from their mode as the posterior is wide, so that agreeing means something.
_DISPERSION = 2.0

# A mode around which the posterior has less than exp of minus this of its mass is left: a chain might never find
# its way from there.
NEGLIGIBLE = 6.0

# By how much the logarithms of the group components' scales are lowered at the start of a search.
_LOWER = 4.0

# A start may have this much more energy than its mode, beyond what the dispersion brings; else it comes nearer.
_SLACK, _HALVINGS = 20.0, 8


def prior_center(components: Components) -> np.ndarray:
    """Weights of zero, and typical scales."""
    position = np.zeros(components.n_coordinates)
    position[_scales(components)] = [prior.center for prior in components.scale_priors]
    return within_bounds(components, position)


def best_mode(target: Target, n_starts: int, rng: np.random.Generator) -> Mode:
    """Search from the middle of the prior and from some draws of it; return the mode of the greatest mass.

    A search that lets places explain everything from its first step never learns what individuals would explain,
    so the scales of the groups' own components start low in all searches but the first.
    """
    center = prior_center(target.components)
    starts = [center, _with_low_group_scales(target.components, center)][:n_starts]
    starts += [random_start(target.components, rng) for _ in range(n_starts - 2)]
    return max((find_mode(target, start) for start in starts), key=lambda mode: mode.log_evidence)


def random_start(components: Components, rng: np.random.Generator) -> np.ndarray:
    """Draw weights from the prior, at half their size, with scales that are typical of it."""
    position, center = draw_from_prior(components, rng), prior_center(components)
    scales = _scales(components)
    position *= 0.5
    position[scales] = center[scales]
    return _with_low_group_scales(components, position)


def _with_low_group_scales(components: Components, position: np.ndarray) -> np.ndarray:
    """Lower the scales of context and places."""
    position = position.copy()
    position[components.n_weights + 1 : components.n_weights + len(components.priors)] -= _LOWER
    return position


def start_chains(target: Target, numbers: list[int], best: Mode, rngs: list[np.random.Generator]) -> np.ndarray:
    """Put all replicas of some chains somewhere, shape (n_chains, n_rungs, n_coordinates).

    The first chain of a fit starts around the best mode that is known, the others around those that they find
    from a draw of the prior. Where there are several modes of about the same mass, chains may find different
    ones, and their disagreement shows. On higher rungs replicas start between there and the prior.

    Parameters
    ----------
    target : Target
        Densities.
    numbers : list of int
        Which chains of the fit these are.
    best : Mode
        The best mode that is known.
    rngs : list of numpy.random.Generator
        One per chain.
    """
    return np.stack([_one_chain(target, number, best, rng) for number, rng in zip(numbers, rngs, strict=True)])


def _one_chain(target: Target, number: int, best: Mode, rng: np.random.Generator) -> np.ndarray:
    components, mode = target.components, best
    if number > 0:
        found = find_mode(target, random_start(components, rng))
        mode = found if found.log_evidence > best.log_evidence - NEGLIGIBLE else best
    return start_around(target, mode, rng)


def start_around(target: Target, mode: Mode, rng: np.random.Generator) -> np.ndarray:
    """Put the replicas of one chain around a mode, those of higher rungs between there and the prior."""
    components, aside = target.components, _perturbed(target, mode, rng)
    position = np.empty((len(target.powers), components.n_coordinates))
    for rung, power in enumerate(target.powers):
        position[rung] = power * aside + np.sqrt(1.0 - power**2) * draw_from_prior(components, rng)
    return within_bounds(components, position)


def _perturbed(target: Target, mode: Mode, rng: np.random.Generator) -> np.ndarray:
    """Leave a mode, as far as the posterior is wide but not where it is out of reach."""
    components, first = target.components, np.zeros(1, dtype=np.int64)
    noise = rng.standard_normal((1, components.n_coordinates))
    away = _DISPERSION * displaced(mode.metric, first, noise)[0]
    scales = _scales(components)
    away[scales] = np.clip(away[scales], -1.0, 1.0)
    allowed = _DISPERSION**2 * components.n_coordinates + _SLACK
    energy = target.evaluate(mode.position[None], first)[0][0]
    for _ in range(_HALVINGS):
        if target.evaluate((mode.position + away)[None], first)[0][0] < energy + allowed:
            break
        away = 0.5 * away
    return mode.position + away


def _scales(components: Components) -> slice:
    return slice(components.n_weights, components.n_weights + len(components.priors))

"""People of groups that were not in the fit: their intercept is averaged over, not left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from disaggregate.basis import Basis, Kernel
from disaggregate.posterior.draws import KernelDraws
from disaggregate.posterior.individuals import Individuals

N_DRAWS = 6


@pytest.fixture
def draws(rng: np.random.Generator) -> KernelDraws:
    basis = Basis(Kernel("linear", 1.0, 1.0, 0.0), np.eye(2), True)
    return KernelDraws(
        basis=basis,
        delta2=np.ones((2, N_DRAWS // 2)),
        n_active=np.full((2, N_DRAWS // 2), 2),
        weights=rng.standard_normal((N_DRAWS, 3)),
        places=rng.standard_normal((N_DRAWS, 4)),
        place_delta2=rng.uniform(0.5, 3.0, (2, N_DRAWS // 2)),
    )


def simulated(draws: KernelDraws, X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Mean probability over many new places, and its standard error."""
    f = draws.weights @ draws.basis.columns(X)
    place = np.sqrt(draws.place_delta2.reshape(-1, 1, 1)) * rng.standard_normal((N_DRAWS, 1, 20_000))
    chance = ndtr(f[:, :, None] + place)
    return chance.mean(axis=2), chance.std(axis=2) / np.sqrt(chance.shape[2])


@pytest.mark.parametrize("place", [None, np.full(5, -1)], ids=["nothing known", "new groups"])
def test_new_places_are_averaged_over(
    draws: KernelDraws, place: np.ndarray | None, rng: np.random.Generator
) -> None:
    X = 2.0 * rng.standard_normal((5, 2))
    mean, error = simulated(draws, X, rng)
    found = ndtr(draws.scores(Individuals(X, None, place)))
    assert np.all(np.abs(found - mean) < 5.0 * error + 1e-9)


def test_a_place_that_is_left_out_of_the_variance_is_caught(
    draws: KernelDraws, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = 2.0 * rng.standard_normal((5, 2))
    mean, error = simulated(draws, X, rng)
    monkeypatch.setattr(KernelDraws, "at_place", lambda self, scores, place: scores)
    assert np.abs((ndtr(draws.scores(X)) - mean) / error).max() > 7.0


def test_known_places_have_their_own_intercept(draws: KernelDraws, rng: np.random.Generator) -> None:
    X = rng.standard_normal((3, 2))
    f = draws.weights @ draws.basis.columns(X)
    place = np.array([2, -1, 0])
    found = draws.scores(Individuals(X, None, place))
    np.testing.assert_allclose(found[:, 0], f[:, 0] + draws.places[:, 2])
    np.testing.assert_allclose(found[:, 2], f[:, 2] + draws.places[:, 0])
    np.testing.assert_allclose(found[:, 1], f[:, 1] / np.sqrt(1.0 + draws.place_delta2.ravel()))
    offsets = draws.offsets(None, np.array([1, -1]))
    np.testing.assert_allclose(offsets, np.column_stack([draws.places[:, 1], np.zeros(N_DRAWS)]))

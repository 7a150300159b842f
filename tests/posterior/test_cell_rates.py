"""Counts of cells given what their group reports, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom

from disaggregate.posterior.cell_rates import draw_counts

N_DRAWS = 4000


def law(people: int, p: float, rho: float) -> np.ndarray:
    """Beta-binomial probabilities of all counts."""
    precision = 1.0 / rho - 1.0
    return betabinom(people, p * precision, (1.0 - p) * precision).pmf(np.arange(people + 1))


def drawn(people: list[int], p: list[float], rho: float, report: dict[int, float], rng: np.random.Generator):
    nodes = np.array(sorted(report), dtype=float)
    evidence = np.log([report[int(node)] for node in nodes])
    found = draw_counts(
        np.tile(p, (N_DRAWS, 1)),
        np.array(people, dtype=float),
        (nodes, evidence - evidence.max()),
        np.full((N_DRAWS, 1), rho),
        rng,
    )
    total = found.sum(axis=1)
    assert np.isin(np.rint(total), nodes).all()
    assert (found >= -1e-9).all()
    assert (found <= np.array(people) + 1e-9).all()
    return found


@pytest.mark.parametrize("people", [[20, 30], [300, 500]])
def test_two_cells(people: list[int], rng: np.random.Generator) -> None:
    p, rho, count = [0.7, 0.4], 0.05, sum(people) // 2
    found = drawn(people, p, rho, {count: 1.0}, rng)[:, 0]
    values = np.arange(max(0, count - people[1]), min(people[0], count) + 1)
    chance = law(people[0], p[0], rho)[values] * law(people[1], p[1], rho)[count - values]
    chance /= chance.sum()
    mean = values @ chance
    deviation = np.sqrt((values - mean) ** 2 @ chance)
    assert abs(found.mean() - mean) < 4.0 * deviation / np.sqrt(N_DRAWS)
    assert found.std() == pytest.approx(deviation, rel=0.06)


def test_three_cells_one_of_them_a_person(rng: np.random.Generator) -> None:
    people, p, rho, count = [25, 1, 40], [0.8, 0.3, 0.2], 0.03, 26
    found = drawn(people, p, rho, {count: 1.0}, rng)
    laws = [law(n, q, rho) for n, q in zip(people, p, strict=True)]
    joint = np.array([[laws[0][i] * laws[1][j] * laws[2][count - i - j] for j in (0, 1)] for i in range(26)])
    joint /= joint.sum()
    assert found[:, 0].mean() == pytest.approx(np.arange(26) @ joint.sum(axis=1), abs=0.25)
    assert found[:, 1].mean() == pytest.approx(joint[:, 1].sum(), abs=0.03)


def test_a_report_that_leaves_a_choice(rng: np.random.Generator) -> None:
    """The more probable count is drawn more often."""
    found = drawn([60, 60], [0.5, 0.5], 0.02, {60: 1.0, 80: 1.0}, rng).sum(axis=1)
    assert 0.6 < np.mean(np.rint(found) == 60) < 1.0

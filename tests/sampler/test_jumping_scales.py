"""Which scales jump in a sweep: all of them where likelihoods are cheap, alternately where they are not."""

from collections.abc import Callable

import numpy as np
import pytest

from disaggregate.model.components import Components
from disaggregate.sampler.dense.sweep import JUMP_EVERY, jump_in_scales, jumping_scales
from tests.helpers.dense_problems import CASES, components_for, reports_of


@pytest.fixture
def components(rng: np.random.Generator) -> Callable[..., Components]:
    def make(name: str, **parts: bool) -> Components:
        return components_for(reports_of(CASES[name], rng, 1)[0], rng, **parts)

    return make


def test_a_single_scale_jumps_now_and_then(components: Callable[..., Components]) -> None:
    alone = components("fractions", context=False, places=False)
    jumps = [len(jumping_scales(alone, sweep)) for sweep in range(2 * JUMP_EVERY)]
    assert sum(jumps) == 2


def test_all_scales_jump_in_every_sweep_with_counts(components: Callable[..., Components]) -> None:
    assert jumping_scales(components("fractions", places=False), 1) == [0, 1]


@pytest.mark.parametrize("name", ["fractions", "samples"])
def test_scales_jump_by_turns_with_intercepts(components: Callable[..., Components], name: str) -> None:
    turns = [jumping_scales(components(name), sweep) for sweep in range(6)]
    assert turns == [[0], [1], [2], [0], [1], [2]]


def test_scales_jump_by_turns_with_samples(components: Callable[..., Components]) -> None:
    turns = [jumping_scales(components("samples", places=False), sweep) for sweep in range(3)]
    assert turns == [[0], [1], [0]]


def test_a_sweep_in_which_none_jumps_looks_at_nothing(rng):
    before = rng.bit_generator.state
    jump_in_scales(None, None, [rng], [])
    assert rng.bit_generator.state == before

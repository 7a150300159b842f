"""What blocks answer, against plain NumPy, differences and formulas."""

from __future__ import annotations

import numpy as np
import pytest
from disaggregate.sampler.blocks.answers import (
    Draw,
    Question,
    gradient_of,
    information_of,
    labels_of,
    likely_labels_of,
    table_of,
)
from disaggregate.sampler.blocks.block import Recipe, RowsInMemory, make_block
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from disaggregate.basis import Basis, Kernel
from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Count, Fraction, Unknown
from disaggregate.model.counts import log_evidence_given_fitted
from disaggregate.sampler.collapsed import collapsed_gradient
from disaggregate.sampler.evidence import WHOLE_GROUP, group_evidence, group_rows_of, make_evidence, rung_of
from disaggregate.sampler.exchange import likelihood_table

SIZES = (6, 1, 9, 4, WHOLE_GROUP + 7)
REPORTS = (Fraction(0.3), Count(1), AtLeast(2), Fraction(0.0), Fraction(0.6, 300.0))
POWERS = np.array([1.0, 0.3, 0.0])


def block_of(rng, *, reports=REPORTS, sizes=SIZES, in_one_piece=1000, powers=POWERS):
    ids = np.repeat(np.arange(len(sizes)), sizes).tolist()
    evidence = make_evidence(group_rows(ids, dict(enumerate(reports))))
    X = rng.standard_normal((len(ids), 3))
    basis = Basis(Kernel("linear", 1.0, 1.0, 0.0), np.eye(3), True)
    recipe = Recipe(basis, rng.standard_normal((3, 4)), powers, in_one_piece=in_one_piece)
    return make_block(RowsInMemory(0, X, evidence), recipe)


def question(rng, rungs=(0, 1, 2)):
    return Question(0.5 * rng.standard_normal((len(rungs), 3)), np.array(rungs))


def plain_fitted(block, asked):
    return asked.weights @ np.concatenate([columns for _, columns in block.columns()]).T


@pytest.mark.parametrize("in_one_piece", [WHOLE_GROUP, 1000])
def test_gradient(in_one_piece, rng: np.random.Generator) -> None:
    """Small and held groups exactly; of a large group in one piece the likelihood."""
    block, asked = block_of(rng, in_one_piece=in_one_piece), question(rng)
    bits = likely_labels_of(block, None, asked)
    assert (bits is None) == (in_one_piece == 1000)
    labels = None if bits is None else np.unpackbits(bits, axis=1, count=block.n_rows)
    found = gradient_of(block, bits, asked)
    fitted = plain_fitted(block, asked)
    columns = np.concatenate([part for _, part in block.columns()])
    for place, rung in enumerate(asked.rungs):
        total, pull = 0.0, 0.0
        for tile in block.tiles:
            evidence = rung_of(tile.ladder, int(rung))
            own = fitted[place, tile.rows]
            scores = np.zeros(len(own)) if labels is None else labels[place, tile.rows] - 0.5
            value, gradient = collapsed_gradient(evidence, scores, own)
            if in_one_piece == 1000:
                groups = range(len(evidence.offsets) - 1)
                value = sum(
                    log_evidence_given_fitted(
                        own[group_rows_of(evidence, g)], evidence.units[group_rows_of(evidence, g)],
                        group_evidence(evidence, g),
                    )
                    for g in groups
                )  # fmt: skip
            total, pull = total + value, pull + gradient @ columns[tile.rows]
        assert_allclose(found.log_likelihood[place], total, rtol=1e-9, atol=1e-9)
        if in_one_piece == WHOLE_GROUP:
            assert_allclose(found.pull[place], pull, rtol=1e-7, atol=1e-9)


def test_gradient_of_a_normal_count(rng: np.random.Generator) -> None:
    block, asked = block_of(rng), question(rng)
    pull = gradient_of(block, None, asked, False).pull
    for column in range(3):
        step = np.zeros(3)
        step[column] = 1e-5
        ahead, behind = (
            gradient_of(block, None, Question(asked.weights + sign * step, asked.rungs), False).log_likelihood
            for sign in (1.0, -1.0)
        )
        assert_allclose((ahead - behind) / 2e-5, pull[:, column], rtol=1e-4, atol=1e-5)


def test_a_normal_count_is_nearly_right(rng: np.random.Generator) -> None:
    block, asked = block_of(rng, reports=(Fraction(0.5, 300.0),), sizes=(700,)), question(rng)
    near, exact = (gradient_of(block, None, asked, is_exact).log_likelihood for is_exact in (False, True))
    assert not np.array_equal(near, exact)
    assert_allclose(near, exact, atol=0.2, rtol=0.02)


@pytest.mark.parametrize("in_one_piece", [WHOLE_GROUP, 1000])
def test_table(in_one_piece, rng: np.random.Generator) -> None:
    block, asked = block_of(rng, in_one_piece=in_one_piece), question(rng)
    bits = likely_labels_of(block, None, asked)
    [table] = table_of(block, bits, asked)
    exact = gradient_of(block, bits, asked).log_likelihood
    if in_one_piece == 1000:
        assert_allclose(np.diag(table), exact, rtol=1e-9, atol=1e-9)
        return
    fitted = plain_fitted(block, asked)
    scores = np.unpackbits(bits, axis=1, count=block.n_rows) - 0.5
    expected = sum(
        likelihood_table(tile.ladder, fitted[:, tile.rows], scores[:, tile.rows]) for tile in block.tiles
    )
    assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


def test_labels_agree_with_the_reports_and_with_their_stream(rng: np.random.Generator) -> None:
    block, asked = block_of(rng), question(rng, rungs=(0, 0))
    draw = Draw(7, ((0, 0, 3, 1), (1, 0, 3, 1)), 0, False)
    one, again = (labels_of(block, None, asked, draw) for _ in range(2))
    assert_array_equal(one.bits, again.bits)
    assert (one.counts[:, 1] == 1).all()
    assert (one.counts[:, 2] >= 2).all()
    assert (one.counts[:, 3] == 0).all()
    labels = np.unpackbits(one.bits, axis=1, count=block.n_rows)
    assert_array_equal(np.add.reduceat(labels, np.cumsum((0, *SIZES[:-1])), axis=1), one.counts)
    other = labels_of(block, None, asked, Draw(8, draw.keys, 0, False))
    assert not np.array_equal(one.bits, other.bits)


def test_information_of_labels_is_that_of_probit(rng: np.random.Generator) -> None:
    """A forced label tells its own curvature; nothing tells nothing."""
    block = block_of(rng, reports=(Count(1), Count(0), Unknown()), sizes=(1, 1, 5), powers=np.ones(1))
    asked = question(rng, rungs=(0,))
    [found] = information_of(block, None, asked, True)
    columns = np.concatenate([part for _, part in block.columns()])[:2]
    f = columns @ asked.weights[0]
    signed = np.array([1.0, -1.0]) * f
    ratio = np.exp(-0.5 * f**2) / np.sqrt(2.0 * np.pi) / ndtr(signed)
    columns = np.column_stack([columns, f])
    assert_allclose(found, (columns * (ratio * (ratio + signed))[:, None]).T @ columns, rtol=1e-9)

"""Rows in partitions give what all rows at once give."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from disaggregate.basis import Basis, Kernel
from disaggregate.groups.evidence import Population
from disaggregate.model.reports import make_reports
from disaggregate.parallel.partitions import LocalPartitions
from disaggregate.sampler.dense import partition, partitioned
from disaggregate.sampler.dense.partition import Recipe, make_partition
from disaggregate.sampler.dense.partitioned import PartitionedData, is_for_partitions, partition_rows
from disaggregate.sampler.dense.state import Sweeps, empty_tally, new_record, new_state
from disaggregate.sampler.dense.target import Query
from disaggregate.sampler.dense.whole import WholeData
from tests.helpers.dense_problems import (
    CASES,
    WITHOUT_SAMPLES,
    components_for,
    grouped,
    metric_for,
    positions,
    powers_for,
)

HERE = SimpleNamespace(map=map)
STORAGES = {"float64": 1e-10, "recomputed": 1e-10, "float32": 2e-5}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions and tiles of a few groups each."""
    monkeypatch.setattr(partition, "PARTITION_ROWS", 25)
    monkeypatch.setattr(partitioned, "PARTITION_ROWS", 25)
    monkeypatch.setattr(partition, "TILE_ROWS", 10)


def both(
    name: str, n_rungs: int, storage: str, rng: np.random.Generator
) -> tuple[WholeData, PartitionedData, LocalPartitions]:
    data = CASES[name].data(rng)
    X = rng.standard_normal((int(data.offsets[-1]), 3))
    basis = Basis(Kernel("linear", 1.0, 1.0, 0.0), np.eye(3), True)
    to_kernels, powers = rng.standard_normal((4, 4)), powers_for(n_rungs)
    recipe = Recipe(basis, to_kernels, powers, storage)
    columns = to_kernels @ basis.columns(X)
    components = components_for(data, rng)
    sizes = partition_rows(X, data)
    rows = LocalPartitions(sizes.rows, HERE)
    whole = WholeData(components, columns, make_reports(data), powers)
    return whole, PartitionedData(components, rows, sizes, recipe), rows.map(make_partition, recipe)


def query(n: int, n_groups: int, deviation: float, rng: np.random.Generator) -> Query:
    weights, group = 0.4 * rng.standard_normal((n, 4)), 0.4 * rng.standard_normal((n, n_groups))
    alike = np.linspace(0.0, 0.05, n) if deviation > 0.0 else None
    return Query(weights, group, np.full(n, deviation), np.zeros(n), None, alike)


@pytest.mark.parametrize("deviation", [0.0, 0.5])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", WITHOUT_SAMPLES)
def test_likelihood(name: str, storage: str, deviation: float, rng: np.random.Generator) -> None:
    whole, parted, held = both(name, 3, storage, rng)
    if name in ("every kind", "more than a few"):
        assert len(held._parts) > 2
    components, tolerance = whole.target.components, STORAGES[storage]
    where, rungs = query(4, components.n_groups, deviation, rng), np.array([0, 1, 2, 0])
    one = whole.target.likelihood.gradient(where, rungs)
    other = parted.target.likelihood.gradient(where, rungs)
    for mine, theirs in zip(one, other, strict=True):
        scale = 1.0 + np.abs(mine).max()
        np.testing.assert_allclose(theirs / scale, mine / scale, atol=tolerance)
    table = [side.target.likelihood.table(where) for side in (whole, parted)]
    np.testing.assert_allclose(table[1], table[0], rtol=tolerance, atol=10.0 * tolerance)
    found = [side.target.likelihood.information(where, rungs) for side in (whole, parted)]
    for mine, theirs in zip(*found, strict=True):
        for field, own, part in zip(mine._fields, mine, theirs, strict=True):
            scale = 1.0 + np.abs(own).max()
            np.testing.assert_allclose(part / scale, own / scale, atol=100.0 * tolerance, err_msg=field)
    sums = [
        (np.zeros((4, side.n_rows)), np.zeros((4, side.n_tallies))) for side in (whole, parted)
    ]  # the same on both sides
    assert sums[0][1].shape == sums[1][1].shape
    noise = rng.standard_normal((4, components.n_groups))
    drawn = [
        side.target.likelihood.add_expected(where, noise, labels, tallies)
        for side, (labels, tallies) in zip((whole, parted), sums, strict=True)
    ]
    np.testing.assert_allclose(drawn[1], drawn[0], atol=100.0 * tolerance)
    assert np.all((drawn[0] == where.group) == (deviation == 0.0))
    alone = parted.target.likelihood.add_expected(where, noise, np.zeros((4, 0)), np.zeros((4, 0)))
    np.testing.assert_array_equal(alone, drawn[1])  # labels that nobody asks for change nothing
    np.testing.assert_allclose(sums[1][0], sums[0][0], atol=100.0 * tolerance)
    if storage != "float32":
        np.testing.assert_allclose(sums[1][1], sums[0][1], atol=1e-9)
    assert sums[0][0].max() > 0.1


@pytest.mark.parametrize("n_rungs", [1, 3])
def test_sweeps(n_rungs: int, rng: np.random.Generator) -> None:
    whole, parted, _ = both("more than a few", n_rungs, "float64", rng)
    components = whole.target.components
    metric = metric_for(components, n_rungs, rng)
    start = positions(components, n_rungs, rng)[None]
    records = []
    for side in (whole, parted):
        record, tally = new_record(side, 1, n_rungs, 4), empty_tally(1, n_rungs)
        state = new_state(start.copy())
        assert side.advance(Sweeps(metric, state, [np.random.default_rng(3)], 8, 0, 2, tally, record)) == 4
        records.append((*record, *tally, state.position))
    for mine, theirs in zip(*records, strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=1e-6, atol=1e-7)


def test_another_ladder(rng: np.random.Generator) -> None:
    whole, parted, _ = both("every kind", 3, "float64", rng)
    powers = np.array([1.0, 0.5, 0.2, 0.0])
    where = query(2, whole.target.components.n_groups, 0.3, rng)
    tables = [side.with_powers(powers).target.likelihood.table(where) for side in (whole, parted)]
    assert tables[0].shape == (2, 4)
    np.testing.assert_allclose(tables[1], tables[0], rtol=1e-9)


def test_a_partition_that_is_left_out_is_noticed(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parted, _ = both("fractions", 1, "float64", rng)
    where = query(1, 3, 0.3, rng), np.zeros(1, dtype=np.int64)
    real = LocalPartitions.query
    monkeypatch.setattr(LocalPartitions, "query", lambda self, *rest: real(self, *rest)[:-1])
    right = whole.target.likelihood.gradient(*where).log_likelihood
    assert abs(parted.target.likelihood.gradient(*where).log_likelihood - right)[0] > 0.1


def test_who_goes_to_partitions() -> None:
    rows = grouped([CASES["fractions"].evidence[0]], [30])
    assert is_for_partitions(30, rows)
    assert not is_for_partitions(20, rows)
    assert not is_for_partitions(30, grouped([Population(0.5)], [30]))

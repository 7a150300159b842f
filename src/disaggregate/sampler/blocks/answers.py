"""What a block answers: pure functions of the block and the question, so that it does not matter where they run.

Replicas of all chains come in one question: one product with the columns serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from disaggregate.execute.one_blas_thread import one_blas_thread_here
from disaggregate.sampler.blocks.block import Block, Tile
from disaggregate.sampler.dense.starts import likely_labels
from disaggregate.sampler.evidence import rung_of
from disaggregate.sampler.streams import stream_of_block


@dataclass(frozen=True)
class Question:
    """Where some replicas are.

    Attributes
    ----------
    weights : ndarray of shape (n_replicas, n_columns)
        Weights of the columns.
    rungs : ndarray of int, shape (n_replicas,)
        On which rung of the ladder each one stands.
    """

    weights: np.ndarray
    rungs: np.ndarray


@dataclass(frozen=True)
class Draw:
    """Which labels to draw, and from which random numbers.

    Attributes
    ----------
    seed : int
        Seed of the fit.
    keys : tuple of tuple of int
        For each replica what tells its stream from all others: chain, rung, sweep and turn.
    larger_than : int
        Draw in groups of more than so many members.
    with_gradient : bool
        Whether to tell likelihood and pull with the new labels, too.
    """

    seed: int
    keys: tuple[tuple[int, ...], ...]
    larger_than: int
    with_gradient: bool


class Pull(NamedTuple):
    """Log likelihood of the evidence, shape (n_replicas,), and its gradient, shape (n_replicas, n_columns)."""

    log_likelihood: np.ndarray
    pull: np.ndarray


class Labels(NamedTuple):
    """Labels in bits, shape (n_replicas, n_bytes); positive units, shape (n_replicas, n_groups); and the pull."""

    bits: np.ndarray
    counts: np.ndarray
    pull: Pull | None


def gradient_of(
    block: Block, bits: np.ndarray | None, question: Question, is_exact: bool = True, hold: bool = True
) -> Pull:
    """Log p(evidence given f) and its gradient in the weights, with labels summed out.

    The gradient takes the count of a group of more than ``WHOLE_GROUP`` members for normal: a force that is nearly
    right leads along nearly the same paths, whose ends are accepted by the exact likelihood.

    Parameters
    ----------
    block : Block
        Data.
    bits : ndarray of uint8, shape (n_replicas, n_bytes), or None
        Present labels, on which large groups are conditioned.
    question : Question
        Weights.
    is_exact : bool
        Whether the likelihood of such groups is exact, or that of a normal count, too.
    hold : bool
        Whether labels of the largest groups are held; else their count is taken for normal, too.
    """
    from disaggregate.sampler.compiled.blocks import tile_gradient

    labels = _unpacked(block, bits, question)
    in_one_piece = _in_one_piece(block, hold)
    answer = _nothing(question)
    table = np.empty(block.n_table)
    for tile, columns, fitted in _fitted(block, question):
        gradient = np.empty_like(fitted)
        own = np.ascontiguousarray(labels[:, tile.rows])
        tile_gradient(
            tile.ladder,
            question.rungs,
            own,
            fitted,
            in_one_piece,
            is_exact,
            table,
            gradient,
            answer.log_likelihood,
        )
        answer.pull[:] += gradient @ columns
    return answer


def labels_of(block: Block, bits: np.ndarray | None, question: Question, draw: Draw) -> Labels:
    """Draw labels from p(y given f, evidence)."""
    from disaggregate.sampler.compiled.blocks import count_positives, tile_gradient, tile_labels

    labels = _unpacked(block, bits, question, needed=True)
    streams = [stream_of_block(draw.seed, (*key, block.place)) for key in draw.keys]
    counts = np.empty((len(labels), block.n_groups), dtype=np.int64)
    in_one_piece = block.recipe.in_one_piece
    answer = _nothing(question)
    table = np.empty(block.n_table)
    for tile, columns, fitted in _fitted(block, question):
        own = np.ascontiguousarray(labels[:, tile.rows])
        for place, rung in enumerate(question.rungs):
            tile_labels(
                tile.ladder, rung, own[place], fitted[place], in_one_piece, draw.larger_than, table, streams[place]
            )
            count_positives(tile.ladder.offsets, tile.ladder.units, own[place], counts[place, tile.groups])
        labels[:, tile.rows] = own
        if draw.with_gradient:
            gradient = np.empty_like(fitted)
            tile_gradient(
                tile.ladder,
                question.rungs,
                own,
                fitted,
                in_one_piece,
                True,
                table,
                gradient,
                answer.log_likelihood,
            )
            answer.pull[:] += gradient @ columns
    return Labels(np.packbits(labels, axis=1), counts, answer if draw.with_gradient else None)


def table_of(block: Block, bits: np.ndarray | None, question: Question) -> np.ndarray:
    """Log likelihood of each replica under the evidence of each rung, shape (n_chains, n_rungs, n_rungs).

    The replicas of a chain follow each other, from the first rung to the last.
    """
    from disaggregate.sampler.compiled.blocks import tile_table

    labels = _unpacked(block, bits, question)
    n_rungs = len(block.recipe.powers)
    tables = np.zeros((len(labels) // n_rungs, n_rungs, n_rungs))
    for tile, _, fitted in _fitted(block, question):
        for chain, table in enumerate(tables):
            own = slice(chain * n_rungs, (chain + 1) * n_rungs)
            own_labels = np.ascontiguousarray(labels[own, tile.rows])
            tile_table(tile.ladder, own_labels, fitted[own], block.recipe.in_one_piece, table)
    return tables


def information_of(block: Block, bits: None, question: Question, hold: bool) -> np.ndarray:
    """Find the expected curvature of the log likelihood in the weights and in a factor of all of them.

    Parameters
    ----------
    block : Block
        Data.
    bits : None
        Labels do not matter for it.
    question : Question
        Weights.
    hold : bool
        Whether labels of the largest groups are held, as Hamiltonian paths take them.

    Returns
    -------
    ndarray of shape (n_replicas, n_columns + 1, n_columns + 1)
        The last row and column belong to the factor.
    """
    from disaggregate.sampler.compiled.blocks import tile_information

    n_replicas, n_columns = question.weights.shape
    in_one_piece = _in_one_piece(block, hold)
    total = np.zeros((n_replicas, n_columns + 1, n_columns + 1))
    room = np.empty((block.largest_tile, n_columns + 1))
    for tile, columns, fitted in _fitted(block, question):
        n_rows = fitted.shape[1]
        slope, starts, worth = np.empty(n_rows), np.empty(n_rows, dtype=np.int64), np.empty(n_rows)
        sloped = room[:n_rows]
        for place, rung in enumerate(question.rungs):
            n = tile_information(tile.ladder, rung, fitted[place], in_one_piece, slope, starts, worth)
            np.multiply(columns, slope[:, None], out=sloped[:, :-1])
            np.multiply(fitted[place], slope, out=sloped[:, -1])
            pieces = sloped if n == n_rows else np.add.reduceat(sloped, starts[:n], axis=0)
            pieces *= np.sqrt(worth[:n, None])
            total[place] += pieces.T @ pieces
    return total


def likely_labels_of(block: Block, bits: None, question: Question) -> np.ndarray | None:
    """Give each group its likeliest count of positives, those of the highest scores; where labels matter."""
    if not block.has_large_groups:
        return None
    labels = np.zeros((len(question.weights), block.n_rows), dtype=bool)
    for tile, _, fitted in _fitted(block, question):
        for place, rung in enumerate(question.rungs):
            labels[place, tile.rows] = likely_labels(rung_of(tile.ladder, int(rung)), fitted[place])
    return np.packbits(labels, axis=1)


def _fitted(block: Block, question: Question) -> Iterator[tuple[Tile, np.ndarray, np.ndarray]]:
    """Go through the tiles; yield each with its columns and with f of every replica, on one thread of BLAS."""
    with one_blas_thread_here(), np.errstate(over="ignore", invalid="ignore"):
        for tile, columns in block.columns():
            yield tile, columns, question.weights @ columns.T


def _in_one_piece(block: Block, hold: bool) -> int:
    return block.recipe.in_one_piece if hold else np.iinfo(np.int64).max


def _nothing(question: Question) -> Pull:
    return Pull(np.zeros(len(question.weights)), np.zeros_like(question.weights))


def _unpacked(block: Block, bits: np.ndarray | None, question: Question, needed: bool = False) -> np.ndarray:
    """Labels as 0 and 1; none where nothing depends on them."""
    if bits is not None:
        return np.unpackbits(bits, axis=1, count=block.n_rows)
    return np.zeros((len(question.weights), block.n_rows if needed else 0), dtype=np.uint8)

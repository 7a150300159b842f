r"""Rank-normalised R-hat and effective sample sizes, for many variables at once.

The definitions are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner, "Rank-normalization, folding, and
localization: an improved R-hat for assessing convergence of MCMC" (Bayesian Analysis, 2021). Every function
takes draws of shape (chain, draw, \*variables) and returns an array of shape ``variables``. Where the
definitions are silent, all of them follow the same conventions:

- fewer than four draws per chain, or a draw that is not finite: NaN;
- a variable that never changes: R-hat 1, and an effective sample size equal to the number of draws;
- chains that never move but sit at different values: infinite R-hat, and an effective sample size equal to
  the number of chains.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
from joblib import cpu_count
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri

__all__ = ["bulk_ess", "rank_rhat", "tail_ess"]

FloatArray = NDArray[np.float64]

MIN_DRAWS = 4
TAIL_PROBABILITIES = (0.05, 0.95)
BLOM_OFFSET = 3 / 8
# Chunks of this many draws keep the temporary arrays inside the processor's cache.
CHUNK_DRAWS = 50_000


def rank_rhat(draws: ArrayLike) -> FloatArray:
    r"""Rank-normalised split R-hat: the larger of its bulk and its folded (tail) version.

    Parameters
    ----------
    draws : array-like of shape (chain, draw, \*variables)
        One chain is enough, because every chain is split into halves.

    Returns
    -------
    ndarray of shape ``variables``
        Near 1 when the chains agree; above 1.01 they have not mixed. 1 for a variable that never changes,
        infinite for chains that never move but differ, NaN with fewer than four draws per chain or with a draw
        that is not finite.
    """
    return _diagnose(_as_chains(draws), _larger_rhat, constant=1.0, stuck=np.inf)


def bulk_ess(draws: ArrayLike) -> FloatArray:
    r"""Effective sample size of the rank-normalised draws: how well the centre of the posterior is known.

    Parameters
    ----------
    draws : array-like of shape (chain, draw, \*variables)

    Returns
    -------
    ndarray of shape ``variables``
        The number of draws for a variable that never changes, the number of chains for chains that never move
        but differ, NaN with fewer than four draws per chain or with a draw that is not finite.
    """
    return _effective(draws, _ess_of_ranks)


def tail_ess(draws: ArrayLike) -> FloatArray:
    r"""Effective sample size of the tails: the smaller of those of the 5 % and of the 95 % quantile.

    Parameters
    ----------
    draws : array-like of shape (chain, draw, \*variables)

    Returns
    -------
    ndarray of shape ``variables``
        The number of draws for a variable that never changes, the number of chains for chains that never move
        but differ, NaN with fewer than four draws per chain or with a draw that is not finite.
    """
    return _effective(draws, _smaller_quantile_ess)


def _effective(draws: ArrayLike, statistic: Callable[[FloatArray], FloatArray]) -> FloatArray:
    chains = _as_chains(draws)
    n_chains, n_draws = chains.shape[:2]
    return _diagnose(chains, statistic, constant=n_chains * n_draws, stuck=n_chains)


def _as_chains(draws: ArrayLike) -> NDArray:
    chains = np.asarray(draws)
    if chains.ndim < 2:
        raise ValueError(
            f"draws must have shape (chain, draw, *variables), got {chains.shape}. "
            "For a single chain pass draws[np.newaxis]."
        )
    return chains


def _diagnose(
    chains: NDArray, statistic: Callable[[FloatArray], FloatArray], *, constant: float, stuck: float
) -> FloatArray:
    """Apply a statistic of (variable, chain, draw) arrays chunk by chunk, and the conventions around it."""
    n_chains, n_draws, *variables = chains.shape
    result = np.full(int(np.prod(variables)), np.nan)
    if n_draws >= MIN_DRAWS and n_chains > 0:
        columns = chains.reshape(n_chains, n_draws, result.size)
        chunk = max(1, CHUNK_DRAWS // (n_chains * n_draws))

        def fill(start: int) -> None:
            part = np.ascontiguousarray(np.moveaxis(columns[:, :, start : start + chunk], 2, 0), dtype=float)
            result[start : start + chunk] = _with_conventions(part, statistic, constant, stuck)

        # Sorting and Fourier transforms, most of the work, let other threads run.
        with ThreadPoolExecutor(cpu_count()) as pool:
            list(pool.map(fill, range(0, result.size, chunk)))
    return result.reshape(variables)


def _with_conventions(
    draws: FloatArray, statistic: Callable[[FloatArray], FloatArray], constant: float, stuck: float
) -> FloatArray:
    finite = np.isfinite(draws).all(axis=(1, 2))
    never_moves = finite & (draws == draws[:, :, :1]).all(axis=(1, 2))
    all_equal = never_moves & (draws[:, :, 0] == draws[:, :1, 0]).all(axis=1)
    moving = finite & ~never_moves
    result = np.full(len(draws), np.nan)
    result[never_moves] = stuck
    result[all_equal] = constant
    if moving.any():
        result[moving] = statistic(draws[moving])
    return result


def _larger_rhat(draws: FloatArray) -> FloatArray:
    halves = _split(draws)
    order, ordered = _sort(halves)
    bulk = _rhat(_normal_scores(order, ordered, halves.shape))
    folded = _rhat(_normal_scores(*_fold(order, ordered), halves.shape))
    # A two-valued variable may fold to a constant, which says nothing: fmax then keeps the bulk.
    larger = np.fmax(bulk, folded)
    # Nothing differs when the only change was in the middle draw, which the halves leave out.
    return np.where(np.isnan(larger), 1.0, larger)


def _ess_of_ranks(draws: FloatArray) -> FloatArray:
    halves = _split(draws)
    return _ess(_normal_scores(*_sort(halves), halves.shape))


def _smaller_quantile_ess(draws: FloatArray) -> FloatArray:
    quantiles = np.quantile(draws, TAIL_PROBABILITIES, axis=(1, 2))
    low, high = (_ess(_split((draws <= bound[:, None, None]).astype(float))) for bound in quantiles)
    return np.minimum(low, high)


def _split(draws: FloatArray) -> FloatArray:
    """Halve each chain; the middle draw of an odd number is left out."""
    half = draws.shape[2] // 2
    return np.concatenate((draws[:, :, :half], draws[:, :, -half:]), axis=1)


def _sort(draws: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Sort each variable's draws over all chains together: the order, and the sorted draws."""
    pooled = draws.reshape(len(draws), -1)
    order = np.argsort(pooled, axis=1)
    return order, np.take_along_axis(pooled, order, axis=1)


def _fold(order: NDArray[np.intp], ordered: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Turn the sorted draws, even in number, into their sorted distances from the median."""
    middle = ordered.shape[1] // 2
    distance = np.abs(ordered - ordered[:, middle - 1 : middle + 1].mean(axis=1, keepdims=True))
    # From the median outwards the distances are two sorted runs: a stable sort has only to merge them.
    outwards = np.append(np.arange(middle)[::-1], np.arange(middle, ordered.shape[1]))
    merged = outwards[np.argsort(distance[:, outwards], axis=1, kind="stable")]
    return np.take_along_axis(order, merged, axis=1), np.take_along_axis(distance, merged, axis=1)


def _normal_scores(order: NDArray[np.intp], ordered: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Put the normal quantiles of the ranks in the places of the draws."""
    scores = np.empty(ordered.shape)
    np.put_along_axis(scores, order, _quantiles_of_ordered(ordered), axis=1)
    return scores.reshape(shape)


def _quantiles_of_ordered(ordered: FloatArray) -> FloatArray:
    """Find the normal quantile of each value's rank in its sorted row; equal values share their average rank."""
    size = ordered.shape[1]
    quantile = _quantile_by_twice_rank(size)
    result = np.tile(quantile[2::2], (len(ordered), 1))
    starts = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    tied = ~(starts & np.roll(starts, -1))
    if tied.any():
        run_starts = np.flatnonzero(starts & tied)
        run_ends = np.flatnonzero(np.roll(starts, -1) & tied)
        twice_rank = run_starts % size + run_ends % size + 2
        result[tied] = np.repeat(quantile[twice_rank], run_ends - run_starts + 1)
    return result


@lru_cache(maxsize=2)
def _quantile_by_twice_rank(size: int) -> FloatArray:
    """Tabulate the quantiles; average ranks are multiples of one half, so that twice the rank is an index."""
    return ndtri((np.arange(2 * size + 1) / 2 - BLOM_OFFSET) / (size - 2 * BLOM_OFFSET + 1))


def _rhat(draws: FloatArray) -> FloatArray:
    """Potential scale reduction; infinite when no chain moves but they differ, NaN when nothing differs."""
    n_draws = draws.shape[2]
    within = draws.var(axis=2, ddof=1).mean(axis=1)
    between = n_draws * draws.mean(axis=2).var(axis=1, ddof=1)
    # Rounding in the variance of equal numbers must not pass for movement.
    within[(draws == draws[:, :, :1]).all(axis=(1, 2))] = 0.0
    between[(draws == draws[:, :1, :1]).all(axis=(1, 2))] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((between / within + n_draws - 1) / n_draws)


def _ess(draws: FloatArray) -> FloatArray:
    """Effective sample size by Geyer's initial monotone sequence: all draws counted where nothing differs."""
    _, n_chains, n_draws = draws.shape
    size = n_chains * n_draws
    result = np.full(len(draws), float(size))
    varies = ~(draws == draws[:, :1, :1]).all(axis=(1, 2))
    if varies.any():
        time = _autocorrelation_time(_autocorrelation(draws[varies]))
        result[varies] = size / np.maximum(time, 1 / np.log10(size))
    return result


def _autocorrelation(draws: FloatArray) -> FloatArray:
    """Autocorrelation at each lag, over all chains, with the disagreement between chains counted in."""
    n_draws = draws.shape[2]
    means = draws.mean(axis=2, keepdims=True)
    covariance = _mean_autocovariance(draws - means)
    within = covariance[:, :1] * n_draws / (n_draws - 1)
    total = covariance[:, :1] + means.var(axis=1, ddof=1)
    correlation = 1 - (within - covariance) / total
    correlation[:, 0] = 1.0
    return correlation


def _mean_autocovariance(deviations: FloatArray) -> FloatArray:
    """Autocovariance at each lag, averaged over chains before the one inverse transform that this leaves."""
    n_draws = deviations.shape[2]
    padded = next_fast_len(2 * n_draws, real=True)
    spectrum = rfft(deviations, n=padded, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    return irfft(power, n=padded, axis=1)[:, :n_draws] / n_draws


def _autocorrelation_time(correlation: FloatArray) -> FloatArray:
    """Sum of the autocorrelations over the initial monotone sequence of sums of neighbouring lags."""
    n_pairs = max(1, (correlation.shape[1] - 1) // 2)
    even = correlation[:, 0 : 2 * n_pairs : 2]
    pair = even + correlation[:, 1 : 2 * n_pairs : 2]
    ended = pair <= 0
    last = np.where(ended.any(axis=1), ended.argmax(axis=1), n_pairs - 1)[:, np.newaxis]
    before_last = np.arange(n_pairs) < last
    monotone_sum = np.where(before_last, np.minimum.accumulate(pair, axis=1), 0.0).sum(axis=1)
    last_even, last_pair = (np.take_along_axis(values, last, axis=1)[:, 0] for values in (even, pair))
    remainder = np.where(last_pair >= 0, last_even, np.maximum(last_even, 0.0))
    return -1.0 + 2.0 * monotone_sum + remainder

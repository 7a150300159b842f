"""From cheap to thorough: modes, then single replicas from dispersed starts, a ladder only where it is needed.

Every decision follows from the data and the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace

import numpy as np

from disaggregate.basis import Basis
from disaggregate.fitting.kernel_model import KernelModel, TunedKernel, kernel_model, tuned
from disaggregate.fitting.plan import FitPlan
from disaggregate.model.powers import log_maxima
from disaggregate.parallel.dispatch import run_tasks
from disaggregate.posterior.bridge import bridge_evidence
from disaggregate.posterior.convergence import rank_rhat
from disaggregate.posterior.log_evidence import LogEvidence, log_evidence
from disaggregate.sampler.dense.chains import DenseDraws
from disaggregate.sampler.dense.mode import Mode, find_mode
from disaggregate.sampler.dense.start import prior_center
from disaggregate.sampler.dense.trial import best_modes, distinct_modes, run_trial, search_modes, trial_sweeps
from disaggregate.sampler.dense.tuning import ENOUGH_TO_COMPARE, ENOUGH_TO_TUNE, pilot_sweeps, tune
from disaggregate.sampler.dense.whole import WholeData
from disaggregate.sampler.evenly_spaced import evenly_spaced
from disaggregate.sampler.rungs import first_powers

# Searches for modes: enough to drop kernels of negligible weight, and more for the others, in pairs from opposite
# sides of the prior, as searches from one side alone sometimes miss one of two modes.
_FIRST_SEARCHES, MORE_SEARCHES = 2, 6

# Log odds against the best kernel beyond which the normal approximation at the mode settles that a kernel is
# negligible: what leaves a kernel out, and again as much, as it was off by up to 2.6.
NEGLIGIBLE = 5.5

# Log odds beyond which a kernel would be left out anyway; and the largest error of the evidence of those within.
_NEAR_TIE = 2.5
_LARGEST_ERROR = 0.75

# Draws per start of a trial. Its starts agree up to this R-hat: draws are few, and hundreds of sweeps follow.
TRIAL_DRAWS = 40
AGREE = 1.3

# Rows whose scores are judged when the chains are done.
_MOST_ROWS = 60


@dataclass(frozen=True)
class _SearchedKernel:
    """A kernel with its data and the modes that were found, the best one first."""

    model: KernelModel
    data: WholeData
    modes: list[Mode]
    rng: np.random.Generator

    @property
    def log_evidence(self) -> float:
        return float(self.modes[0].log_evidence)


@dataclass(frozen=True)
class _SearchTask:
    plan: FitPlan
    basis: Basis
    rng: np.random.Generator
    on_sweeps: Callable[[int], None] | None = None


@dataclass(frozen=True)
class _TrialTask:
    kernel: _SearchedKernel
    lengths: Lengths
    log_maximum: float
    on_sweeps: Callable[[int], None] | None = None


@dataclass(frozen=True)
class Lengths:
    """How long the runs before the chains are; short chains are not worth long ones.

    Attributes
    ----------
    n_draws : int
        Draws per start of a trial.
    n_compared : int
        Sweeps of the last phase of a ladder's pilot.
    """

    n_draws: int
    n_compared: int


def lengths_for(plan: FitPlan) -> Lengths:
    """Bound the runs before the chains by the length of the chains."""
    n_sweeps = plan.schedule.n_sweeps
    return Lengths(
        int(np.clip(n_sweeps // 10, 10, TRIAL_DRAWS)), int(np.clip(n_sweeps // 2, 20, ENOUGH_TO_COMPARE))
    )


def try_kernels(plan: FitPlan, bases: Sequence[Basis]) -> tuple[list[LogEvidence], list[TunedKernel | None]]:
    """Find the evidence of each kernel, and tune those that are in the running; the others are None."""
    plan.prepare()
    log_maximum, lengths = float(log_maxima(plan.data).sum()), lengths_for(plan)
    tasks = [
        _SearchTask(plan, basis, rng)
        for basis, rng in zip(bases, plan.streams.for_pilots(len(bases)), strict=True)
    ]
    searched = run_tasks(_search, tasks, 0, threads=plan.threads)  # fast: no progress is shown
    log_prior = np.log(plan.odds / plan.odds.sum())
    evidence = [LogEvidence(kernel.log_evidence + log_maximum, np.nan) for kernel in searched]
    found: dict[int, TunedKernel] = {}
    # A trial may find less evidence than the mode suggested, and so bring a kernel back that seemed negligible.
    while running := _in_the_running(evidence, log_prior, found):
        trials = [_TrialTask(searched[index], lengths, log_maximum) for index in running]
        n_sweeps = len(trials) * (pilot_sweeps(ENOUGH_TO_TUNE) + trial_sweeps(lengths.n_draws))
        what = "tuning" if len(bases) == 1 else "comparing kernels"
        for index, kernel in zip(running, _run(plan, _tune, trials, n_sweeps, what), strict=True):
            evidence[index], found[index] = kernel.log_evidence, kernel
        unclear = unclear_kernels(evidence, log_prior, sorted(found))
        ladders = [_TrialTask(searched[index], lengths, log_maximum) for index in unclear]
        n_sweeps = len(ladders) * pilot_sweeps(lengths.n_compared)
        for index, kernel in zip(unclear, _run(plan, _tune_ladder, ladders, n_sweeps, what), strict=True):
            evidence[index] = kernel.log_evidence
            found[index] = replace(found[index], log_evidence=kernel.log_evidence)
    return evidence, [found.get(index) for index in range(len(bases))]


def _in_the_running(evidence: list[LogEvidence], log_prior: np.ndarray, tried: Container[int]) -> list[int]:
    """List the kernels that are not negligible and were not tried yet."""
    log_odds = log_prior + [one.value for one in evidence]
    return [i for i in np.flatnonzero(log_odds >= log_odds.max() - NEGLIGIBLE).tolist() if i not in tried]


def worst_rhat(kernel: TunedKernel, chains: Sequence[DenseDraws]) -> float:
    """Return the largest R-hat of some rows' scores over the chains of a kernel.

    Parameters
    ----------
    kernel : TunedKernel
        The kernel.
    chains : sequence of DenseDraws
        What its chains drew, as many draws each.
    """
    data = _whole(kernel.model)
    rows = evenly_spaced(data.n_rows, _MOST_ROWS)
    scores = np.stack([data.individual_scores(chain.weights, rows) for chain in chains])
    return float(np.nanmax(rank_rhat(scores), initial=1.0))


def tune_ladders(plan: FitPlan, kernels: Sequence[TunedKernel], reasons: Sequence[str]) -> list[TunedKernel]:
    """Tune ladders for kernels whose single chains are not to be trusted.

    Parameters
    ----------
    plan : FitPlan
        Data and model.
    kernels : sequence of TunedKernel
        The kernels, tuned on single replicas.
    reasons : sequence of str
        Why each needs a ladder.
    """
    lengths = lengths_for(plan)
    tasks = [
        _TrialTask(_SearchedKernel(kernel.model, _whole(kernel.model), [kernel.tuning.mode], rng), lengths, 0.0)
        for kernel, rng in zip(kernels, plan.streams.for_ladders(len(kernels)), strict=True)
    ]
    ladders = _run(plan, _tune_ladder, tasks, len(tasks) * pilot_sweeps(lengths.n_compared), "tuning")
    return [
        replace(ladder, index=kernel.index, weight=kernel.weight, log_evidence=None, reason=reason)
        for ladder, kernel, reason in zip(ladders, kernels, reasons, strict=True)
    ]


def _run(plan: FitPlan, function: Callable, tasks: Sequence, n_sweeps: int, what: str) -> list:
    if not tasks:
        return []
    return run_tasks(function, tasks, n_sweeps, what=what, threads=plan.threads, progress=plan.progress)


def unclear_kernels(evidence: list[LogEvidence], log_prior: np.ndarray, running: list[int]) -> list[int]:
    """List the kernels in a near tie whose evidence is not known well enough to share the draws by."""
    error = np.array([np.inf if np.isnan(one.std_error) else one.std_error for one in evidence])
    log_odds = log_prior + [one.value for one in evidence]
    least = log_odds[running].max() - _NEAR_TIE
    tied = [i for i in running if error[i] == np.inf or log_odds[i] + 2.0 * error[i] > least]
    return [i for i in tied if error[i] > _LARGEST_ERROR] if len(tied) > 1 else []


def _search(task: _SearchTask) -> _SearchedKernel:
    """Build the columns of a kernel, and search for its modes from the middle of the prior and from elsewhere."""
    model = kernel_model(task.plan, task.basis, np.ones(1))
    data = _whole(model)
    target = data.target
    modes = [find_mode(target, prior_center(target.components))]
    modes += search_modes(target, _FIRST_SEARCHES - 1, task.rng)
    return _SearchedKernel(model, data, best_modes(modes), task.rng)


def _whole(model: KernelModel) -> WholeData:
    data = model.backend
    if not isinstance(data, WholeData):
        raise TypeError("trials are for data that are in memory as a whole, and for two outcomes.")
    return data


def _tune(task: _TrialTask) -> TunedKernel:
    """Tune a kernel on a single replica and judge starts; on a ladder where starts or modes require it."""
    kernel, data = task.kernel, task.kernel.data
    modes = best_modes([*kernel.modes, *search_modes(data.target, MORE_SEARCHES, kernel.rng)])
    kernel = replace(kernel, modes=modes)
    n_modes = len(distinct_modes(data, modes))
    if n_modes > 1:
        return _tune_ladder(replace(task, kernel=kernel), f"searches found {n_modes} modes of comparable weight")
    tuning = tune(data, 1, ENOUGH_TO_TUNE, kernel.rng, task.on_sweeps, modes[0])
    trial = run_trial(data, tuning, modes, task.lengths.n_draws, kernel.rng, task.on_sweeps)
    rhat = float(np.nanmax(rank_rhat(trial.judged), initial=1.0))
    seen = f"short chains from {len(trial.position)} starts"
    if rhat > AGREE:
        return _tune_ladder(replace(task, kernel=kernel), f"{seen} disagreed (R-hat {rhat:.2f})")
    bridge = bridge_evidence(data.target, trial.position, task.log_maximum, kernel.rng)
    reason = f"{seen} agreed (R-hat {rhat:.2f}) and searches found one mode"
    return replace(tuned(kernel.model, tuning), log_evidence=bridge, reason=reason)


def _tune_ladder(task: _TrialTask, reason: str = "") -> TunedKernel:
    """Tune a kernel on a ladder, whose pilot run estimates the evidence too."""
    kernel = task.kernel
    ladder = kernel.data.with_powers(first_powers(None))
    tuning = tune(ladder, None, task.lengths.n_compared, kernel.rng, task.on_sweeps, kernel.modes[0])
    evidence = log_evidence([tuning.log_ratios], task.log_maximum)
    return replace(tuned(kernel.model, tuning), log_evidence=evidence, reason=reason)

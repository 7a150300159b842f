"""Chains of replicas from their start to their last draw, batch after batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from disaggregate.sampler.chain import Schedule, copies, first_sums
from disaggregate.sampler.dense.backend import Backend
from disaggregate.sampler.dense.start import start_chains
from disaggregate.sampler.dense.state import Record, State, Sweeps, Tally, empty_tally, new_record, new_state
from disaggregate.sampler.dense.tuning import Tuning, adapted
from disaggregate.storage.draw_store import Batch, DrawStore, InMemoryDraws

# A chain adapts its steps every so many sweeps, less and less: first to come away from where it starts, and then,
# from those of the pilot run again, where it is by then. Steps that suit the start may be far too short elsewhere.
_LEARN_EVERY, _FIRST_RATE = 10, 1.0

# By how much its steps may differ from those of the pilot in the end.
_OWN_FACTOR = 2.0


@dataclass(frozen=True)
class DenseDraws:
    """The kept draws of one chain.

    Attributes
    ----------
    weights : ndarray of shape (n_draws, n_weights + n_places)
        Weights of the individual component and of context, and the groups' intercepts.
    scales : ndarray of shape (n_draws, n_scales)
        Scales delta2.
    label_sums : ndarray of shape (n_rows,)
        Expected labels, added up over draws.
    share_tallies : ndarray of shape (n_tallies,)
        Probabilities of each group's shares, added up over draws.
    log_ratios : ndarray of shape (n_draws, n_rungs - 1, 2)
        Log likelihood ratios between neighbouring rungs; see :func:`disaggregate.sampler.exchange.swap_order`.
    swap_rates : ndarray of shape (n_rungs - 1,)
        How often neighbours swap.
    """

    weights: np.ndarray
    scales: np.ndarray
    label_sums: np.ndarray
    share_tallies: np.ndarray
    log_ratios: np.ndarray
    swap_rates: np.ndarray

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.scales)

    def first(self, n_draws: int) -> DenseDraws:
        """Keep the first draws only; the sums over all draws are taken for theirs."""
        if n_draws == self.n_draws:
            return self
        own = {"weights": self.weights[:n_draws], "scales": self.scales[:n_draws]}
        return replace(self, **own, **first_sums(self, n_draws))


class DenseChains:
    """Some chains that move in lock step: one on the back end that holds all data, all of them on the other.

    Parameters
    ----------
    backend : Backend
        Data.
    tuning : Tuning
        What the pilot run found.
    schedule : Schedule
        Length.
    numbers : list of int
        Which chains of the fit these are.
    rngs : list of numpy.random.Generator
        One per chain.
    """

    def __init__(
        self,
        backend: Backend,
        tuning: Tuning,
        schedule: Schedule,
        numbers: list[int],
        rngs: list[np.random.Generator],
    ) -> None:
        self._backend, self._tuning = backend, tuning
        self._numbers, self._rngs = numbers, rngs
        self.schedule = schedule
        self.n_done = 0  # sweeps done, all of them with their draws written down
        self.store: DrawStore = InMemoryDraws()
        self._state: State | None = None
        self._metric = tuning.metric
        n_chains, n_rungs = len(rngs), len(tuning.powers)
        self._tally = empty_tally(n_chains, n_rungs)
        self._label_sums = np.zeros((n_chains, backend.n_rows))
        self._share_tallies = np.zeros((n_chains, backend.n_tallies))

    @property
    def n_sweeps(self) -> int:
        """Sweeps to do in all, with those that adapt the steps."""
        return self._backend.n_adapting + self.schedule.n_sweeps

    def advance(self) -> None:
        """Do a batch of sweeps; the first one starts the chains."""
        if self._state is None:
            position = start_chains(self._backend.target, self._numbers, self._tuning.mode, self._rngs)
            self._state = new_state(position)
        n_sweeps = min(self._backend.sweeps_per_batch, self.n_sweeps - self.n_done)
        n_burn = self._backend.n_adapting + self.schedule.n_burn
        is_adapting = self.n_done < self._backend.n_adapting
        if is_adapting:
            n_sweeps = min(n_sweeps, _LEARN_EVERY)
        record, tally = self._record(n_sweeps), empty_tally(len(self._rngs), len(self._tuning.powers))
        thin = self.schedule.thin
        sweeps = Sweeps(self._metric, self._state, self._rngs, n_sweeps, n_burn, thin, tally, record)
        n_kept = self._backend.advance(sweeps)
        self.store.append((record.weights[:n_kept], record.scales[:n_kept], record.log_ratios[:n_kept]))
        for total, new in zip(self._tally, tally, strict=True):
            total += new
        if is_adapting:
            self._adapt(tally)
        self.n_done += n_sweeps

    def _adapt(self, tally: Tally) -> None:
        """Adapt the steps to what was accepted with them; those that suited the start are forgotten."""
        n_leaving, pilot = 3 * self._backend.n_adapting // 5, self._tuning.metric.step
        is_leaving = self.n_done < n_leaving
        n_learned = self.n_done if is_leaving else self.n_done - n_leaving
        step = adapted(self._metric.step, tally, _FIRST_RATE / np.sqrt(1.0 + n_learned / _LEARN_EVERY))
        if not is_leaving:
            step = np.clip(step, pilot / _OWN_FACTOR, pilot * _OWN_FACTOR)
        elif self.n_done + _LEARN_EVERY >= n_leaving:
            step = pilot.copy()
        self._metric = self._metric._replace(step=step)

    def _record(self, n_kept: int) -> Record:
        workspace = new_record(self._backend, len(self._rngs), len(self._tuning.powers), n_kept, labels=False)
        return workspace._replace(label_sums=self._label_sums, share_tallies=self._share_tallies)

    def _nothing(self) -> Batch:
        return self._record(0)[:3]

    def draws(self) -> list[DenseDraws]:
        """Return what each chain drew so far."""
        weights, scales, log_ratios = self.store.joined(self._nothing())
        rates = self._tally.swapped / max(self.n_done, 1)
        return [
            DenseDraws(
                weights[:, chain],
                scales[:, chain],
                self._label_sums[chain],
                self._share_tallies[chain],
                log_ratios[:, chain],
                rates[chain],
            )
            for chain in range(len(self._rngs))
        ]

    def snapshot(self) -> dict[str, Any]:
        """Take a snapshot: everything that the next batch depends on, and what was drawn so far."""
        return {
            "n_done": self.n_done,
            "state": None if self._state is None else copies(self._state),
            "generators": [rng.bit_generator.state for rng in self._rngs],
            "kept": self.store.snapshot(),
            "sums": copies((self._label_sums, self._share_tallies)),
            "tally": copies(self._tally),
            "step": self._metric.step.copy(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Resume from there."""
        self.n_done = snapshot["n_done"]
        self._state = None if snapshot["state"] is None else State(*copies(snapshot["state"]))
        for rng, state in zip(self._rngs, snapshot["generators"], strict=True):
            rng.bit_generator.state = state
        self.store.restore(snapshot["kept"])
        self._label_sums, self._share_tallies = copies(snapshot["sums"])
        self._tally = Tally(*copies(snapshot["tally"]))
        self._metric = self._tuning.metric._replace(step=snapshot["step"].copy())

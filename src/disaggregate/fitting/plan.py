"""What a fit is given: data, model, length and where to run, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from disaggregate.basis import Basis
from disaggregate.groups import GroupedData
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.model.components import Components, make_components
from disaggregate.model.outcome_places import MOST_OUTCOMES
from disaggregate.model.outcome_populations import OutcomeSamples, make_outcome_samples
from disaggregate.model.outcome_reports import OutcomeReports, make_outcome_reports
from disaggregate.model.priors import ScalePrior
from disaggregate.model.report_noise import ReportNoise, make_report_noise
from disaggregate.model.reports import Reports, has_alike_cells, make_reports
from disaggregate.parallel.monitor import ProgressCallback
from disaggregate.parallel.runners import Executor
from disaggregate.parallel.threads import Threads
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.partitioned import PartitionSources
from disaggregate.sampler.model import Prior
from disaggregate.sampler.prepare import prepare, prepare_dense, prepare_outcomes
from disaggregate.sampler.streams import Streams

# Prior standard deviation of a constant that stands outside the scale of the individual component: base rates
# from 1 to 99 per cent.
CONSTANT_DEVIATION = 1.5


def fewest_bytes(n_draws: int, n_weights: int) -> int:
    """Say how much dense weights take in a file at least: a quarter of their size, as some kernels need fewer.

    Parameters
    ----------
    n_draws : int
        Draws of all chains.
    n_weights : int
        Weights per draw.
    """
    return 2 * n_draws * n_weights


class ScalePriors(NamedTuple):
    """Priors of the scales of the score components, of the noise of reports, and of cells."""

    individual: ScalePrior
    context: ScalePrior
    place: ScalePrior
    report: ScalePrior
    cell: ScalePrior | None = None


@dataclass(frozen=True)
class FitPlan:
    """Everything that a fit needs.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Individuals sorted by group; evenly spaced ones where there are partitions.
    data : GroupedData
        What the groups report.
    partitions : PartitionSources or None
        The rows in partitions, for large data.
    bases : list of Basis
        Kernels to average over or to choose from.
    odds : ndarray
        Their prior odds, in any unit.
    context : ndarray of shape (n_groups, n_features) or None
        Context of each group, where it is a component.
    context_norm : float
        Root mean square length of it; in its units the scale of the component is the variance of what context does
        to groups.
    has_places : bool
        Whether groups have an intercept of their own.
    separate_constant : bool
        Whether the intercept stands outside the individual component's scale.
    scale_priors : ScalePriors
        Of dense weights.
    prior : Prior
        Hyper-parameters of sparse weights.
    schedule : Schedule
        Length of a chain, and its moves.
    n_chains : int
        How many chains.
    n_replicas : int or None
        Replicas of each; None for just enough.
    streams : Streams
        Random streams.
    threads : Threads
        Where to run.
    executor : Executor or None
        Where to run instead.
    progress : callable or None
        Called with progress.
    storage : {"auto", "float64", "float32", "recomputed"}
        How partitions keep their columns.
    """

    X: np.ndarray
    data: GroupedData
    partitions: PartitionSources | None
    bases: list[Basis]
    odds: np.ndarray
    context: np.ndarray | None
    context_norm: float
    has_places: bool
    separate_constant: bool
    scale_priors: ScalePriors
    prior: Prior
    schedule: Schedule
    n_chains: int
    n_replicas: int | None
    streams: Streams
    threads: Threads
    executor: Executor | None
    progress: ProgressCallback | None
    storage: str = "auto"

    @property
    def least_bytes(self) -> int:
        """Bytes that the draws will take at least: dense weights hardly shrink, sparse ones are few."""
        if self.schedule.moves != "dense":
            return 0
        n_weights = min(basis.n_columns for basis in self.bases)
        return fewest_bytes(self.n_chains * self.schedule.n_draws, n_weights)

    @property
    def has_samples(self) -> bool:
        """Whether some groups' members are a sample of a population."""
        return any(population is not None for population in self.data.populations)

    @property
    def learns_confidence(self) -> bool:
        """Whether it is learned how exact reports are."""
        return not isinstance(self.data, GroupedOutcomes) and any(
            known.learns_confidence for known in self.data.evidence
        )

    @cached_property
    def has_cells(self) -> bool:
        """Whether the overdispersion of cells is learned."""
        if self.scale_priors.cell is None or not self.has_places or isinstance(self.data, GroupedOutcomes):
            return False
        return has_alike_cells(self.reports)

    @property
    def escalates(self) -> bool:
        """Whether the fit finds out if its chains need a ladder: there may be several modes."""
        has_one_mode = self.has_places or self.learns_confidence
        is_whole = self.partitions is None and self.n_outcomes == 2
        return self.schedule.moves == "dense" and self.n_replicas is None and is_whole and not has_one_mode

    @property
    def n_outcomes(self) -> int:
        """Number of outcomes."""
        return len(self.data.outcomes) if isinstance(self.data, GroupedOutcomes) else 2

    @cached_property
    def reports(self) -> Reports:
        """What the groups report, where there are two outcomes; all kernels share it."""
        return make_reports(self.data)

    @cached_property
    def report_noise(self) -> ReportNoise | None:
        """Densities of the reports whose confidence is learned."""
        return make_report_noise(self.data)

    @cached_property
    def outcome_reports(self) -> OutcomeReports:
        """What the groups report, where there are more than two outcomes."""
        if not isinstance(self.data, GroupedOutcomes):
            raise TypeError("reports on two outcomes are no count vectors.")
        return make_outcome_reports(self.data, self.has_places and not self.intercepts_are_weights)

    @cached_property
    def outcome_samples(self) -> OutcomeSamples | None:
        """Groups that are samples of populations, where there are more than two outcomes."""
        return make_outcome_samples(self.data) if isinstance(self.data, GroupedOutcomes) else None

    @property
    def intercepts_are_weights(self) -> bool:
        """Whether intercepts of groups, for more than two outcomes, are not integrated out."""
        return self.has_samples or self.n_outcomes > MOST_OUTCOMES

    def prepare(self) -> None:
        """Ensure that what the fit needs is compiled."""
        if self.n_outcomes > 2:
            prepare_outcomes(self.has_places and not self.intercepts_are_weights)
        elif self.schedule.moves == "dense":
            prepare_dense(
                has_places=self.has_places or self.has_samples, in_partitions=self.partitions is not None
            )
        else:
            prepare(self.schedule.moves)

    def components(self, spread: np.ndarray, n_fixed: int, n_rows: int) -> Components:
        """Return the score components, for the directions of one kernel.

        Parameters
        ----------
        spread : ndarray
            Prior variance of the directions' weights.
        n_fixed : int
            1 where the first column is a separate constant.
        n_rows : int
            Rows over which the columns are orthonormal.
        """
        n_groups = len(self.data.names)
        return make_components(
            n_columns=len(spread) + n_fixed,
            column_deviation=np.sqrt(spread),
            n_fixed=n_fixed,
            fixed_deviation=CONSTANT_DEVIATION,
            individual=self.scale_priors.individual,
            context=None if self.context is None else self.context / self.context_norm,
            context_prior=self.scale_priors.context,
            n_places=n_groups if self.has_places else 0,
            place_prior=self.scale_priors.place,
            n_groups=n_groups,
            has_samples=self.has_samples,
            column_square=1.0 / n_rows,
            report_prior=self.scale_priors.report if self.learns_confidence else None,
            cell_prior=self.scale_priors.cell if self.has_cells else None,
        )

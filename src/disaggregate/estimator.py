"""The classifier: it assembles the stages and holds no mathematics."""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from disaggregate.basis import Basis, candidate_kernels, choose_centers
from disaggregate.fitting import FitPlan, FitSession, ScalePriors
from disaggregate.fitting.partition_context import context_of_partitions
from disaggregate.fitting.results import Fitted
from disaggregate.fitting.supported import require_known_confidence, require_no_counts, require_supported
from disaggregate.groups import GroupedData
from disaggregate.groups.context import Context, context_of
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.parallel.dispatch import distribute
from disaggregate.parallel.fit_progress import ShowProgress, fit_progress
from disaggregate.parallel.interrupts import defer_interrupts, deferred_interrupts, is_interrupted
from disaggregate.parallel.monitor import ProgressCallback
from disaggregate.parallel.one_blas_thread import one_blas_thread
from disaggregate.parallel.runners import Executor
from disaggregate.parallel.threads import Threads
from disaggregate.posterior.diagnostics import diagnose
from disaggregate.posterior.group_score import group_log_scores
from disaggregate.posterior.individuals import ContextByGroup, GroupEffects, Individuals
from disaggregate.posterior.log_evidence import LogEvidence
from disaggregate.posterior.outcomes import outcome_log_scores
from disaggregate.posterior.predictive import check_reports
from disaggregate.posterior.predictor import Predictor
from disaggregate.posterior.stopping import BURN, EXPECTED, FIRST, missing_draws
from disaggregate.sampler.chain import Moves, Schedule
from disaggregate.sampler.dense.partitioned import PartitionSources, is_for_partitions, partition_rows
from disaggregate.sampler.model import Prior
from disaggregate.sampler.streams import Streams
from disaggregate.settings import (
    GaussianProcess,
    OldSettings,
    SpikeSlab,
    as_prior,
    check_settings,
    is_sparse,
    with_old_names,
)
from disaggregate.storage.locks import locked
from disaggregate.tables.features import read_features
from disaggregate.tables.labels import label_column, read_labels
from disaggregate.tables.per_row import read_row_counts, read_sample_weight, require_no_weights
from disaggregate.tables.targets import is_about_groups, read_target

_LOG = logging.getLogger("disaggregate")

_INTERRUPTED_LATE = "an interrupt came after the last sweep; no draws are lost."

_MOVES: dict[bool, Moves] = {False: "dense", True: "sparse"}


class GroupStatsClassifier(OldSettings, Predictor, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier of individuals that is learned from statistics of groups.

    A Bayesian kernel probit model (Kück & de Freitas, UAI 2005), fitted by MCMC to the reported
    fraction of positives, or other evidence, of each group. With a label for every row and no groups it is
    the supervised model on which the paper is based (Tham, Doucet & Ramamohanarao, ICML 2002).

    Parameters come in three groups: the model (``kernel`` to ``confidence``), the sampler (``n_chains`` to
    ``n_replicas``), and how it runs (``n_jobs`` to ``storage``).

    Parameters
    ----------
    kernel : str or callable, default="auto"
        Name of a kernel of ``sklearn.metrics.pairwise.pairwise_kernels``, "matern32", "matern52", or a function of
        two matrices that returns their kernel matrix. "average" averages over "linear" and "rbf" by their
        probability given the reports; with spike and slab it is the most probable one. "auto" is "linear" where
        rows are a sample (:class:`disaggregate.evidence.Population`) or cells (``counts``), and else "average".
    gamma : float, "scale" or "auto", default="auto"
        Width of the kernel under its scikit-learn name; "scale" is 1 / (n_features * X.var()), "auto" averages
        in the same way over a quarter, once and four times that.
    kernel_params : dict, optional
        "degree" of the polynomial kernel, by default 3, and "coef0" of the polynomial and the sigmoid kernel, by
        default 1.
    centers : "auto", "all", int or array, default="auto"
        Centres of the kernels: all individuals, this many k-means++ landmarks, or these points. "auto" is
        all individuals if there are up to 2,000, otherwise 1,000 landmarks; with spike and slab all individuals.
    intercept : bool, default=True
        Whether the model has a constant, which is not subject to the selection of kernels.
    prior : "gaussian_process", "spike_slab", GaussianProcess or SpikeSlab, default="gaussian_process"
        Prior of the weights of the kernels: a Gaussian process, or spike and slab as in the paper. Objects such as
        ``GaussianProcess(emphasis=1.0)`` or ``SpikeSlab(a=1, b=9)`` set parameters of the prior.
    context : bool or "auto", default=False
        Whether the average features of a group predict the labels of its members: the composition of a district
        may affect the vote of each of its people. Reports can hardly separate that from an
        effect of people's own features, so intervals become wider. The component has its own scale, which shrinks
        where the reports do not need it. "auto" is True where ``y`` describes groups. For Gaussian processes.
    group_effects : bool or "auto", default="auto"
        Whether each group has an intercept of its own, for differences between places beyond the features of
        their people. For groups that were not in the fit it is integrated out. The component has its own scale.
        "auto" is True where rows are a sample (:class:`disaggregate.evidence.Population`) or cells (``counts``).
        For Gaussian processes.
    confidence : float, mapping or "auto", default=1000
        Confidence chi in plain shares, from 0 to infinity, one for all or one per group. "auto" learns how exact
        reports are: one confidence for all groups, with a heavy tail for single reports, for two outcomes and up
        to 50,000 rows. ``posterior_.confidence`` has the draws, and the verdict names groups whose report does not
        fit. For Gaussian processes.
    n_chains : int, default=4
        Number of chains.
    n_draws : int or "auto", default="auto"
        Kept draws per chain. "auto" adds draws in rounds, from 250 to 4,000, until R-hat is at most 1.01 and
        the effective sample size at least 400.
    n_burn : int or "auto", default="auto"
        Sweeps that are discarded first. "auto" is 250 if draws are added in rounds, otherwise 1,000.
    thin : int, default=1
        Sweeps per kept draw.
    n_replicas : int or None, default=None
        Number of replicas of each chain on a ladder of powers of the evidence. None chooses the number: with a
        Gaussian process, 1 if a trial finds one mode and chains from dispersed starts agree, otherwise just enough
        that neighbours swap well. It is 1 where groups have intercepts, because the posterior then has one mode,
        and with spike and slab, because replicas are expensive there.
    n_jobs : int or None, default=None
        Threads over which chains run; None and -1 mean one per core. The draws do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed; the same one gives the same draws.
    progress : bool, "auto" or callable, default="auto"
        Whether to show a line on standard error with the current stage, the progress and the time left; "auto" for
        fits of more than some ten seconds. Or a function that is called instead, as
        ``progress(n_done, n_sweeps, what)``, by any of the threads. It is not saved in files.
    executor : object with ``map``, or distributed.Client, optional
        Runs chains instead of threads of this process: a ``concurrent.futures`` executor, or a Dask client.
        The draws are the same. Clones share it; pickles omit it. With large data the executor holds the
        partitions, and this process advances the chains.
    storage : "auto", "float64", "float32" or "recomputed", default="auto"
        How Gaussian processes on more than 50,000 rows store the kernels' columns: in double precision, in single
        precision (half the memory; sums stay double), or not at all (recomputed in every step; the same
        draws as in double precision). "auto" is double precision if it fits into memory, otherwise recomputed.
    **deprecated
        Names of release 0.1, accepted with a FutureWarning: ``weights``, ``a``, ``b``, ``mu``, ``nu``, ``latent``
        and ``emphasis``, which are now parameters of the prior, and ``degree`` and ``coef0``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes: [0, 1] if groups report shares, the outcomes if reports name them, and the labels in
        supervised learning.
    posterior_ : Posterior
        Draws of the parameters.
    label_proba_ : ndarray of shape (n_rows,)
        Probability that each training individual is positive, given the evidence of its own group too; with more
        than two classes, the probability of each class, shape (n_rows, n_classes).
    context_ : Context or None
        Average features of the groups, with ``context``.
    group_effects_ : GroupEffects or None
        The groups that have an intercept, in the order of ``posterior_``.
    stopped_early_ : str
        What is missing, in words, if the fit was interrupted; otherwise empty.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, swaps, the weights of the kernels, and a verdict in words.
    log_evidence_ : LogEvidence
        Log marginal likelihood of the reports, ``value`` and ``std_error``, from a ladder of replicas, or from the
        trial that found that none is needed. It is missing with ``n_replicas=1``, and where kernels are compared
        by their modes alone.
    n_features_in_, feature_names_in_
        As usual in scikit-learn.

    Examples
    --------
    >>> import disaggregate as dg
    >>> town = dg.datasets.make_districts(random_state=0)
    >>> model = dg.GroupStatsClassifier(random_state=0)
    >>> model.fit(town.X, town.shares, groups=town.groups)  # doctest: +SKIP
    >>> model.predict_proba(town.X)[:, 1]  # doctest: +SKIP
    """

    # With metadata routing on: groups that reach a splitter belong to the fit and to the score too.
    __metadata_request__fit: ClassVar = {"groups": True}
    __metadata_request__score: ClassVar = {"groups": True}

    _fitted: Fitted

    def __init__(
        self,
        *,
        # the model
        kernel: str | Callable[[np.ndarray, np.ndarray], np.ndarray] = "auto",
        gamma: float | Literal["scale", "auto"] = "auto",
        kernel_params: Mapping[str, float] | None = None,
        centers: Any = "auto",
        intercept: bool = True,
        prior: Literal["gaussian_process", "spike_slab"] | GaussianProcess | SpikeSlab = "gaussian_process",
        context: bool | Literal["auto"] = False,
        group_effects: bool | Literal["auto"] = "auto",
        confidence: float | Mapping[Any, float] | Literal["auto"] = 1000.0,
        # the sampler
        n_chains: int = 4,
        n_draws: int | Literal["auto"] = "auto",
        n_burn: int | Literal["auto"] = "auto",
        thin: int = 1,
        n_replicas: int | None = None,
        # how it runs
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: ShowProgress | ProgressCallback = "auto",
        executor: Executor | None = None,
        storage: Literal["auto", "float64", "float32", "recomputed"] = "auto",
        **deprecated: Any,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.centers = centers
        self.intercept = intercept
        self.prior = prior
        self.context = context
        self.group_effects = group_effects
        self.confidence = confidence
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_burn = n_burn
        self.thin = thin
        self.n_replicas = n_replicas
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.executor = executor
        self.storage = storage
        self._accept(deprecated)

    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        sample_weight: Any = None,
        counts: Any = None,
        *,
        warm_start: bool = False,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        draws_to: str | Path | None = None,
    ) -> GroupStatsClassifier:
        """Learn from groups, or from labels.

        Parameters
        ----------
        X : dataframe or array-like of shape (n_rows, n_features)
            One row per individual; numeric features.
        y : mapping, Series, array-like, dataframe or structured target
            Reports of the groups: a mapping from group to share or evidence; one share per row; a dataframe
            [group, share]; or :func:`disaggregate.group_target`. For several outcomes: a dataframe of shares with
            a row per group and a column per outcome, or group to ``{outcome: share}`` or to
            :class:`disaggregate.evidence.Counts`, ``Shares`` or ``Bounds``. Without groups: one label per row.
        groups : array-like of shape (n_rows,), optional
            Group id of each row; any hashable values.
        sample_weight : array-like of shape (n_rows,), optional
            Survey weights: the share of a group is the weighted share of its members. They are rounded to whole
            units, equal ones to one unit each; ``diagnostics_`` says by how much that can move a share. In a group
            that reports a :class:`disaggregate.evidence.Population` they say how many people of it each row
            represents.
        counts : array-like of shape (n_rows,), optional
            How many people each row stands for: rows are then cells of a table, of several people with the same
            features, and a group's report covers all of them.
        warm_start : bool, default=False
            Whether to continue the last fit of this object, on the same data and settings, and add
            ``n_draws`` draws. An object that was not fitted yet is fitted as usual.
        checkpoint : str or Path, optional
            File to which the state of all chains is written, regularly and at the end.
        resume : bool, default=False
            Whether to continue from the checkpoint, with the same draws as an uninterrupted fit. Without a file
            there the fit starts from the beginning.
        draws_to : str or Path, optional
            Empty folder for the draws, if they are too many for memory. The model reads them
            there, so do not remove it while you use the model; a saved model has its own copy.

        Returns
        -------
        GroupStatsClassifier
            This object, fitted.
        """
        check_settings(self.get_params(deep=False))
        features = read_features(self, X, fitting=True)
        weights = read_sample_weight(sample_weight, len(features))
        people = read_row_counts(counts, len(features))
        classes, data = self._read_target(X, y, groups, len(features), weights, people)
        has_groups = is_about_groups(y, groups)
        require_supported(self.get_params(deep=False), data, self._has_places(data))
        if self.group_effects is True and not has_groups:
            raise ValueError("group_effects=True needs groups: plain labels define none.")
        context = self._find_context(features, data, has_groups)
        partitions = None
        is_binary = not isinstance(data, GroupedOutcomes)
        if not self._is_sparse and is_binary and is_for_partitions(len(features), data):
            partitions = partition_rows(features[data.order], data)
        if partitions is not None:
            require_known_confidence(data)
        training = _training_rows(features, data, context)
        return self._run(
            classes, features, training, data, context, partitions, warm_start, checkpoint, resume, draws_to
        )

    def _fit_partitions(
        self,
        sample: np.ndarray,
        everybody: Any,
        partitions: PartitionSources,
        data: GroupedData,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        draws_to: str | Path | None = None,
    ) -> GroupStatsClassifier:
        """Learn from partitions whose rows are read when they are needed.

        Parameters
        ----------
        sample : ndarray of shape (n_sampled, n_features)
            Evenly spaced individuals, for centres and widths.
        everybody : sequence
            The individuals in the caller's order; ``everybody[rows]`` are the features of some.
        partitions : PartitionSources
            The partitions.
        data : GroupedData
            Groups and evidence.
        checkpoint, resume, draws_to
            As for :meth:`fit`.
        """
        check_settings(self.get_params(deep=False))
        if self._is_sparse or (isinstance(self.centers, str) and self.centers != "auto"):
            raise ValueError(
                'data in partitions need prior="gaussian_process" and landmarks: centers="auto", or a number, '
                "such as 500."
            )
        if any(population is not None for population in data.populations):
            raise ValueError(
                "people who are a sample of their group must be in one table, as the composition of groups is "
                "pooled over all of them; a random part of each group's people is enough."
            )
        require_known_confidence(data)
        features = read_features(self, sample, fitting=True)
        context = None
        if self.context:
            with one_blas_thread(), Threads(self.n_jobs) as threads:
                context = context_of_partitions(distribute(partitions.rows, self.executor, threads), data)
        training = _training_rows(everybody, data, context)
        return self._run(
            np.array([0, 1]), features, training, data, context, partitions, False, checkpoint, resume, draws_to
        )

    @deferred_interrupts()
    def _run(
        self,
        classes: np.ndarray,
        features: np.ndarray,
        training: Individuals,
        data: GroupedData,
        context: Context | None,
        partitions: PartitionSources | None,
        warm_start: bool,
        checkpoint: str | Path | None,
        resume: bool,
        draws_to: str | Path | None,
    ) -> GroupStatsClassifier:
        """Start or resume the chains, run them, and store and judge what they drew."""
        _LOG.info("fitting %d rows in %d groups", len(features), len(data.names))
        from disaggregate.saving.checkpoint import CheckpointFiles

        with (
            locked(checkpoint=checkpoint, draws_to=draws_to),
            one_blas_thread(),
            Threads(self.n_jobs) as threads,
            fit_progress(self._expected_sweeps, self.progress) as progress,
        ):
            session = FitSession(
                CheckpointFiles(),
                with_old_names(self.get_params(deep=False)),
                features,
                data,
                checkpoint,
                resume,
                draws_to,
            )
            if warm_start and self.__sklearn_is_fitted__():
                last = getattr(self, "_session", None)
                session.warm_start(last, self._schedule.n_draws, progress)
                plan = session.plan
            else:
                streams = Streams(session.seed_or(self.random_state))
                plan = self._plan(features, data, context, partitions, streams, threads, progress)
                session.start_or_resume(plan)
            defer_interrupts()  # from the first sweep on
            fitted = session.run(partial(missing_draws, X=training) if self.n_draws == "auto" else None)
            if fitted.stopped_early:
                defer_interrupts()  # that an interrupt was noted
        self.classes_, self._session = classes, session
        self.context_ = context
        self.group_effects_ = GroupEffects(data.names) if plan.has_places else None
        self.posterior_ = fitted.posterior
        self.label_proba_ = fitted.label_sums.mean(axis=0) / self.posterior_.shape[1]
        self._fitted, self._data = fitted, data
        self.diagnostics_ = diagnose(
            self.posterior_,
            training,
            fitted.ladder,
            fitted.kernels,
            data.rounding_error,
            fitted.stopped_early,
            None if len(classes) > 2 else check_reports(self.posterior_, training, data),
        )
        _LOG.info("fitted: %s", self.diagnostics_.verdict)
        if is_interrupted():
            warnings.warn(_INTERRUPTED_LATE, UserWarning, stacklevel=4)
        if not self.diagnostics_.converged or fitted.stopped_early:
            warnings.warn(self.diagnostics_.verdict, ConvergenceWarning, stacklevel=4)
        return self

    @property
    def stopped_early_(self) -> str:
        """What is missing, in words, when the fit was interrupted; else empty."""
        check_is_fitted(self)
        return self._fitted.stopped_early

    @property
    def log_evidence_(self) -> LogEvidence:
        """Log marginal likelihood of the reports, with its standard error."""
        check_is_fitted(self)
        if self._fitted.ladder is None:
            raise AttributeError(
                'log_evidence_ comes from a ladder of replicas: fit with prior="gaussian_process" and '
                "n_replicas=8 or more."
            )
        return self._fitted.ladder.log_evidence

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, counts: Any = None) -> float:
        """Score predictions: accuracy for labels, mean log-likelihood of the evidence for groups.

        The second is a proper scoring rule, which chooses hyperparameters without labels.

        Parameters
        ----------
        X, y, groups
            As for :meth:`fit`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of labelled rows in the accuracy, or of members in their group's share.
        counts : array-like of shape (n_rows,), optional
            How many people each row stands for, in groups.
        """
        check_is_fitted(self)
        features = read_features(self, X, fitting=False)
        people = read_row_counts(counts, len(features))
        if not is_about_groups(y, groups):
            require_no_counts(people)
            labels = label_column(y, len(features))
            return float(accuracy_score(labels, self.predict(X), sample_weight=sample_weight))
        weights = read_sample_weight(sample_weight, len(features))
        _, data = self._read_target(X, y, groups, len(features), weights, people, self.classes_)
        rows = self._individuals(features, data.ids)
        if isinstance(data, GroupedOutcomes) or self.posterior_.n_outcomes > 2:
            return float(np.mean(outcome_log_scores(self.posterior_, rows, data)))
        return float(np.mean(group_log_scores(self.posterior_, rows, data)))

    def save(self, path: str | Path, *, anonymise: bool = False, min_group_size: int = 5) -> None:
        """Write the fitted model to a file, which :func:`disaggregate.load` reads.

        The file holds arrays and plain data, no code. With ``centers="all"`` it holds the features of every
        training individual, with a number or "auto" those of some, so protect it like the data. With
        ``centers=disaggregate.privacy.landmarks(X, 200)`` and ``anonymise=True`` it holds no person's.

        Parameters
        ----------
        path : str or Path
            File to write, usually ``*.dgz``; an existing file is replaced once the new one is complete.
        anonymise : bool, default=False
            Whether to leave out all data on training individuals; predictions stay the same. Refused, with
            advice, if kernels are centred at individuals.
        min_group_size : int, default=5
            Smaller groups are left out when anonymising.
        """
        from disaggregate.saving import save_model

        check_is_fitted(self)
        save_model(self, path, anonymise=anonymise, min_group_size=min_group_size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._is_sparse
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def __sklearn_clone__(self) -> GroupStatsClassifier:
        twin: GroupStatsClassifier = BaseEstimator.__sklearn_clone__(copy.copy(self))
        twin.executor = self.executor
        return twin

    def __getstate__(self) -> dict[str, Any]:
        # Pools of threads or processes cannot be copied, and belong to the machine, not to the model.
        state = {**super().__getstate__(), "executor": None}
        return {name: value for name, value in state.items() if name != "_session"}

    def _find_context(self, features: np.ndarray, data: GroupedData, has_groups: bool) -> Context | None:
        if not self.context or (self.context == "auto" and not has_groups):
            return None
        if not has_groups:
            raise ValueError("context=True needs groups: plain labels define none.")
        return context_of(features, data)

    @property
    def _is_sparse(self) -> bool:
        return is_sparse({"prior": self.prior})

    def _has_places(self, data: GroupedData) -> bool:
        if self.group_effects != "auto":
            return bool(self.group_effects)
        return not self._is_sparse and data.rows_stand_for_places

    def _read_target(
        self,
        X: Any,
        y: Any,
        groups: Any,
        n_rows: int,
        weights: np.ndarray | None,
        counts: np.ndarray | None,
        classes: np.ndarray | None = None,
    ) -> tuple[np.ndarray, GroupedData]:
        """Return classes and groups; reports that name outcomes name those of an earlier fit, if there is one."""
        if is_about_groups(y, groups):
            known = None if classes is None else classes.tolist()
            return read_target(X, y, groups, n_rows, self.confidence, weights, counts, known)
        require_no_weights(weights)
        require_no_counts(counts)
        return read_labels(y, n_rows)

    def _candidates(
        self, features: np.ndarray, of_places: bool, streams: Streams
    ) -> tuple[list[Basis], np.ndarray]:
        is_open = isinstance(self.centers, str) and self.centers == "auto"
        wanted = "all" if is_open and self._is_sparse else self.centers
        centers = choose_centers(features, wanted, streams.for_centers())
        weights = None if self._is_sparse else centers.weights
        prior = as_prior(self.prior)
        emphasis = prior.emphasis if isinstance(prior, GaussianProcess) else 1.0
        parameters = self.kernel_params or {}
        candidates = candidate_kernels(self.kernel, self.gamma, parameters, emphasis, features, of_places)
        bases = [
            Basis(candidate.kernel, centers.points, bool(self.intercept), False, candidate.emphasis, weights)
            for candidate in candidates
        ]
        return bases, np.array([candidate.odds for candidate in candidates])

    @property
    def _schedule(self) -> Schedule:
        """Length of a chain, to begin with, and its moves."""
        prior, moves = as_prior(self.prior), _MOVES[self._is_sparse]
        if isinstance(prior, SpikeSlab) and prior.latent == "metropolis":
            moves = "published"
        n_draws = FIRST if self.n_draws == "auto" else self.n_draws
        n_burn = self.n_burn
        if n_burn == "auto":
            n_burn = BURN if self.n_draws == "auto" else 1000
        return Schedule(n_burn, n_draws, self.thin, moves)

    @property
    def _expected_sweeps(self) -> int:
        """Sweeps of all chains, of all rounds of draws."""
        schedule = self._schedule
        n_more = EXPECTED - FIRST if self.n_draws == "auto" else 0
        return self.n_chains * (schedule.n_sweeps + schedule.thin * n_more)

    def _plan(
        self,
        features: np.ndarray,
        data: GroupedData,
        context: Context | None,
        partitions: PartitionSources | None,
        streams: Streams,
        threads: Threads,
        progress: ProgressCallback | None,
    ) -> FitPlan:
        """Put together all that a fit needs."""
        of_places = not self._is_sparse and data.rows_stand_for_places
        bases, odds = self._candidates(features, of_places, streams)
        prior = as_prior(self.prior)
        # Spike and slab gives no evidence, so its kernel is chosen as for a Gaussian process.
        process, slab = (kind() if not isinstance(prior, kind) else prior for kind in (GaussianProcess, SpikeSlab))
        of_tables = isinstance(data, GroupedOutcomes) and data.counts is not None
        return FitPlan(
            X=features if partitions is not None else features[data.order],
            data=data,
            partitions=partitions,
            bases=bases,
            odds=odds,
            context=None if context is None else context.relative_means,
            context_norm=1.0 if context is None else context.norm,
            has_places=self._has_places(data),
            separate_constant=of_places,
            scale_priors=ScalePriors(**process.component_priors(of_places, of_tables)),
            prior=Prior(float(slab.a), float(slab.b), *prior.scale_prior()),
            schedule=self._schedule,
            n_chains=self.n_chains,
            n_replicas=self.n_replicas,
            streams=streams,
            threads=threads,
            executor=self.executor,
            progress=progress,
            storage=self.storage,
        )


def _training_rows(features: Any, data: GroupedData, context: Context | None) -> Individuals:
    """Return the rows of the fit, in the caller's order, as the posterior sees them."""
    group = data.in_caller_order(np.repeat(np.arange(len(data.names)), data.sizes))
    of_rows = None if context is None else ContextByGroup(context.relative_means, group)
    return Individuals(features, of_rows, group)

"""Predictions of a fitted classifier: probabilities, draws, and tables of groups and subgroups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from disaggregate.groups.context import Context, indices_of
from disaggregate.groups.grouped import GroupedData
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.groups.reports import known_groups
from disaggregate.posterior.batches import Probability
from disaggregate.posterior.bounds import reported_shares
from disaggregate.posterior.group_table import group_table
from disaggregate.posterior.individuals import GroupEffects, Individuals
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.outcomes import by_outcome, of_outcome, outcome_tables
from disaggregate.posterior.predictions import probability_draws, probability_interval, probability_mean
from disaggregate.posterior.subgroups import SubgroupDraws, subgroup_draws
from disaggregate.posterior.thinning import monte_carlo_error, thin_to
from disaggregate.tables.dataframes import in_container, require_container
from disaggregate.tables.features import read_features
from disaggregate.tables.people import as_names, numbers, require_columns
from disaggregate.tables.suppression import SHARES, members_of_groups, withhold

if TYPE_CHECKING:
    from pandas import DataFrame


class Predictor:
    """Predictions of a fitted classifier."""

    classes_: np.ndarray
    posterior_: Posterior
    context_: Context | None
    group_effects_: GroupEffects | None
    _data: GroupedData
    _fitted: Any

    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
        """Choose what :meth:`predict_proba` and :meth:`predict_interval` return: arrays, or dataframes.

        Dataframes have a column per class, or the bounds ``conf_low`` and ``conf_high``, and those of pandas the
        index of ``X``. Everything else stays an array. The argument has the name that it has in scikit-learn,
        where it mentions ``transform``. A pipeline's own ``set_output`` does not reach its last step where that
        is a classifier, and the global ``transform_output`` does not either: scores of scikit-learn need arrays.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            "default" for arrays; None to leave it as it is.
        """
        if transform is not None:
            require_container(transform)
            self._sklearn_output_config = {"transform": transform}  # where clone looks for it
        return self

    def _in_container(self, values: np.ndarray, columns: Sequence[Any], X: Any) -> Any:
        kind = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        return in_container(values.reshape(len(values), -1), columns, X, kind) if kind != "default" else values

    def predict_proba(self, X: Any, groups: Any = None, *, precision: float | None = None) -> np.ndarray:
        """Probability of each class for each row, shape (n_rows, n_classes); columns follow ``classes_``.

        Parameters
        ----------
        X : dataframe or array-like of shape (n_rows, n_features)
            Rows to predict; processed in batches, so that memory does not grow with their number.
        groups : array-like of shape (n_rows,), optional
            Group id of each row, for a fit with ``context`` or ``group_effects``. Without it all rows are taken
            as members of a new group with the averages of all training individuals. The averages of a group that
            was not in the fit are those of the rows given, and its intercept is integrated out.
        precision : float, optional
            Use only as many draws as needed for a Monte Carlo standard error of the probabilities below this
            value, measured on some of the rows: much faster for millions of rows. All draws by default.
        """
        posterior, rows = self._fitted_and_rows(X, groups)
        if precision is not None:
            posterior = thin_to(posterior, rows, precision)
        found = probability_mean(posterior, rows)
        both = found if found.ndim == 2 else np.column_stack([1.0 - found, found])
        shown: np.ndarray = self._in_container(both, self.classes_.tolist(), X)
        return shown

    def monte_carlo_error(self, X: Any, groups: Any = None) -> float:
        """Largest Monte Carlo standard error of the probabilities, measured on evenly spaced rows."""
        return monte_carlo_error(*self._fitted_and_rows(X, groups))

    def predict(self, X: Any, groups: Any = None) -> np.ndarray:
        """Most probable class of each row, shape (n_rows,); arguments as for :meth:`predict_proba`."""
        found = probability_mean(*self._fitted_and_rows(X, groups))
        most_probable: np.ndarray = self.classes_[
            found.argmax(axis=1) if found.ndim == 2 else (found > 0.5).astype(int)
        ]
        return most_probable

    def predict_interval(self, X: Any, level: float = 0.9, groups: Any = None) -> np.ndarray:
        """Central credible interval of each row's probability of the positive class, shape (n_rows, 2).

        With more than two classes there is one for each, shape (n_rows, n_classes, 2).
        """
        posterior, rows = self._fitted_and_rows(X, groups)
        bounds = ["conf_low", "conf_high"]
        if len(self.classes_) > 2:
            bounds = [f"{bound}_{name}" for name in self.classes_.tolist() for bound in bounds]
        shown: np.ndarray = self._in_container(probability_interval(posterior, rows, level), bounds, X)
        return shown

    def predict_draws(self, X: Any, groups: Any = None) -> np.ndarray:
        """Probability of the positive class in each posterior draw, shape (n_chains, n_draws, n_rows).

        With more than two classes there is one for each, shape (n_chains, n_draws, n_rows, n_classes).
        """
        return probability_draws(*self._fitted_and_rows(X, groups))

    def group_table(self, level: float = 0.9, *, min_group_size: int = 1) -> DataFrame:
        """Tabulate the training groups: the reported share, and the share that the posterior implies.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the credible intervals.
        min_group_size : int, default=1
            Groups of fewer people, and rows that would reveal them, have no numbers but ``n``, and a ``note`` says
            so.

        Returns
        -------
        DataFrame
            Columns ``group, n, reported, implied, conf_low, conf_high``; a row per group. With more than two
            classes a row for each class of a group, named by ``outcome`` after the group.
        """
        check_is_fitted(self)
        members = members_of_groups(self._data)
        if isinstance(self._data, GroupedOutcomes):
            tables = outcome_tables(self._data, self._fitted.count_tallies, level)
            return by_outcome(tables, lambda one: withhold(one, min_group_size, SHARES, members), 1)
        table = group_table(self._data, self._fitted.count_tallies, level)
        return withhold(table, min_group_size, SHARES, members)

    def subgroups(
        self,
        people: Any,
        by: str | Sequence[str],
        weights: str | None = None,
        *,
        groups: str | None = None,
        level: float = 0.9,
        min_group_size: int = 1,
    ) -> DataFrame:
        """Estimate the rate of each subgroup, post-stratified over the people of a table.

        Parameters
        ----------
        people : dataframe
            One row per person, with the features of the fit, the columns of ``by`` and the weights.
        by : str or sequence of str
            Columns that make the subgroups.
        weights : str, optional
            Column of survey weights.
        groups : str, optional
            Column of group ids, for a fit with ``context`` or ``group_effects``.
        level : float, default=0.9
            Probability of the credible intervals.
        min_group_size : int, default=1
            Subgroups of fewer people, and rows that would reveal them, have no estimate, and a ``note`` says so.
            People without weight do not count.

        Returns
        -------
        DataFrame
            The columns of ``by``, then ``estimate, std_error, conf_low, conf_high, n, weight``. With more than two
            classes a row for each class of a subgroup, named by ``outcome`` after the columns of ``by``.
            ``bound_low`` and ``bound_high`` are bounds of the share that hold under any assumption, if ``groups``
            are given and the people are those of the fit; ``contraction`` is the share of the prior variance that
            the reports removed, and ``rests_on`` says in words whether the estimate rests on the groups.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            raise ValueError("subgroups needs named features: fit on a dataframe, then give people as one too.")
        require_columns(people, [*names, *as_names(by), *(name for name in (weights, groups) if name)])
        weight = numbers(people, weights) if weights else None
        _, rows = self._fitted_and_rows(people[list(names)], people[groups] if groups else None)

        prior = self.posterior_.prior
        known = (
            None
            if groups is None or weights
            else reported_shares(self._data, people[groups].tolist(), None, min_group_size)
        )

        def drawn_of(wanted: Callable[[Probability], Probability]) -> SubgroupDraws:
            def probability(posterior: Posterior) -> Probability:
                return wanted(lambda some: probability_draws(posterior, rows[some]))

            drawn = subgroup_draws(probability(self.posterior_), people, by, weight, reported=known)
            return drawn if prior is None else drawn.beside(subgroup_draws(probability(prior), people, by, weight))

        if len(self.classes_) > 2:
            drawn_by_class = {
                name: drawn_of(partial(of_outcome, number=k)) for k, name in enumerate(self.classes_.tolist())
            }
            return by_outcome(
                drawn_by_class,
                lambda drawn: withhold(
                    drawn.table(level), min_group_size, members=drawn.effective, by=as_names(by)
                ),
                len(as_names(by)),
            )
        drawn = drawn_of(lambda probability: probability)
        return withhold(drawn.table(level), min_group_size, members=drawn.effective, by=as_names(by))

    def _fitted_and_rows(self, X: Any, groups: Any) -> tuple[Posterior, Individuals]:
        """Return the posterior, and features with the context and the group of each row, if the fit knows any."""
        check_is_fitted(self)
        features = read_features(self, X, fitting=False)
        if self.context_ is None and self.group_effects_ is None:
            return self.posterior_, Individuals(features)
        return self.posterior_, self._individuals(features, known_groups(groups, len(features)))

    def _individuals(self, features: np.ndarray, ids: Any) -> Individuals:
        context = None if self.context_ is None else self.context_.of_rows(features, ids)
        group_index = None
        if self.group_effects_ is not None and ids is not None:
            group_index = indices_of(ids, self.group_effects_.names)
        return Individuals(features, context, group_index)

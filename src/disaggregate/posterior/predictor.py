"""What a fitted classifier says of people: probabilities, their draws and intervals, as arrays or dataframes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from disaggregate.groups.context import Context, indices_of
from disaggregate.groups.reports import known_groups
from disaggregate.posterior.individuals import GroupEffects, Individuals
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.predictions import probability_draws, probability_interval, probability_mean
from disaggregate.posterior.thinning import monte_carlo_error, thin_to
from disaggregate.tables.containers import in_container, require_container
from disaggregate.tables.features import read_features


class Predictor:
    """The part of the classifier that predicts once it is fitted."""

    classes_: np.ndarray
    posterior_: Posterior
    context_: Context | None
    group_effects_: GroupEffects | None

    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
        """Choose what :meth:`predict_proba` and :meth:`predict_interval` return: arrays, or dataframes.

        Dataframes have a column per class, or the bounds ``conf_low`` and ``conf_high``, and those of pandas the
        index of ``X``. Everything else stays an array. The argument has the name that it has in scikit-learn,
        where it speaks of ``transform``. A pipeline's own ``set_output`` does not reach its last step where that
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
            Rows to predict; worked on in pieces, so that memory does not grow with them.
        groups : array-like of shape (n_rows,), optional
            Group id of each row, for a fit with ``context`` or ``group_effects``. Without it everybody is taken
            for a member of a new group that is like all training individuals together. A group that was not in
            the fit is known by the average of the rows given, and its own intercept is integrated over.
        precision : float, optional
            Use only as many of the draws as keep the Monte Carlo standard error of the probabilities below this,
            as measured on some of the rows: much faster for millions of them. All draws by default.
        """
        posterior, rows = self._fitted_and_rows(X, groups)
        if precision is not None:
            posterior = thin_to(posterior, rows, precision)
        found = probability_mean(posterior, rows)
        both = found if found.ndim == 2 else np.column_stack([1.0 - found, found])
        return self._in_container(both, self.classes_.tolist(), X)

    def monte_carlo_error(self, X: Any, groups: Any = None) -> float:
        """Largest Monte Carlo standard error of the probabilities, measured on an even choice of the rows."""
        return monte_carlo_error(*self._fitted_and_rows(X, groups))

    def predict(self, X: Any, groups: Any = None) -> np.ndarray:
        """Most probable class of each row, shape (n_rows,); arguments as for :meth:`predict_proba`."""
        found = probability_mean(*self._fitted_and_rows(X, groups))
        return self.classes_[found.argmax(axis=1) if found.ndim == 2 else (found > 0.5).astype(int)]

    def predict_interval(self, X: Any, level: float = 0.9, groups: Any = None) -> np.ndarray:
        """Central credible interval of each row's probability of the positive class, shape (n_rows, 2).

        With more than two classes of each of them, shape (n_rows, n_classes, 2).
        """
        posterior, rows = self._fitted_and_rows(X, groups)
        bounds = ["conf_low", "conf_high"]
        if len(self.classes_) > 2:
            bounds = [f"{bound}_{name}" for name in self.classes_.tolist() for bound in bounds]
        return self._in_container(probability_interval(posterior, rows, level), bounds, X)

    def predict_draws(self, X: Any, groups: Any = None) -> np.ndarray:
        """Probability of the positive class in each posterior draw, shape (n_chains, n_draws, n_rows).

        With more than two classes of each of them, shape (n_chains, n_draws, n_rows, n_classes).
        """
        return probability_draws(*self._fitted_and_rows(X, groups))

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

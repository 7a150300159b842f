"""The posterior: draws of one kernel, or of several that share the draws by their probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from disaggregate.model.outcomes import probabilities_of
from disaggregate.posterior.draws import KernelDraws

if TYPE_CHECKING:
    from xarray import DataTree


@dataclass(frozen=True)
class Posterior:
    """Posterior draws of the model's parameters.

    Attributes
    ----------
    parts : tuple of KernelDraws
        Draws of each kernel, in proportion to its probability.
    part_of_draw : ndarray of int, shape (n_draws,)
        Which part each draw of a chain comes from; the same in all chains.
    """

    parts: tuple[KernelDraws, ...]
    part_of_draw: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of chains and of draws in each."""
        return self.parts[0].shape[0], len(self.part_of_draw)

    @property
    def delta2(self) -> np.ndarray:
        """Scale of the weights, shape (n_chains, n_draws)."""
        return self._in_order([part.delta2 for part in self.parts])

    @property
    def n_active(self) -> np.ndarray:
        """Number of active kernels, shape (n_chains, n_draws); an intercept does not count."""
        return self._in_order([part.n_active for part in self.parts])

    @property
    def is_sparse(self) -> bool:
        """Whether kernels come and go; with dense weights all are active, always."""
        return not isinstance(self.parts[0].weights, np.ndarray)

    @property
    def scales(self) -> dict[str, np.ndarray]:
        """Scale delta2 of each component, shape (n_chains, n_draws): "individual", "context" and "place".

        "report" is 1 / chi, if the confidence of reports is learned; "cell" is phi, if the overdispersion of
        cells is learned.
        """
        found = {"individual": self.delta2}
        for name in ("context", "place", "report", "cell"):
            parts = [getattr(part, f"{name}_delta2") for part in self.parts]
            known = [part for part in parts if part is not None]
            if len(known) == len(parts):
                found[name] = self._in_order(known)
        return found

    @property
    def confidence(self) -> np.ndarray | None:
        """Confidence chi of reports in each draw, shape (n_chains, n_draws), where it was learned."""
        noise = self.scales.get("report")
        return None if noise is None else 1.0 / noise

    @property
    def correlation(self) -> np.ndarray | None:
        """Correlation of two people of one cell in each draw, chain after chain; None where it was not learned."""
        scale = self.scales.get("cell")
        return None if scale is None else (scale / (1.0 + scale)).ravel()

    @property
    def log_confidence(self) -> float | None:
        """Median of the logarithm of that confidence; None where it was not learned."""
        noise = self.scales.get("report")
        return None if noise is None else -float(np.median(np.log(noise)))

    @property
    def has_places(self) -> bool:
        """Whether groups have an intercept of their own."""
        return self.parts[0].places is not None

    @property
    def n_outcomes(self) -> int:
        """Number of outcomes."""
        return self.parts[0].n_outcomes

    @property
    def prior(self) -> Posterior | None:
        """Draws from the prior, of the same kernels in the same proportions; None where there are none."""
        parts = [part.prior for part in self.parts if part.prior is not None]
        if len(parts) < len(self.parts):
            return None
        return Posterior(tuple(parts), np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts]))

    def scores(self, rows: Any) -> np.ndarray:
        """Score of each row in each draw; see :meth:`disaggregate.posterior.draws.KernelDraws.scores`."""
        trailing = (len(rows), self.n_outcomes) if self.n_outcomes > 2 else (len(rows),)
        by_part = [part.scores(rows).reshape(*part.shape, *trailing) for part in self.parts]
        return self._in_order(by_part).reshape(-1, *trailing)

    def probabilities(self, rows: Any) -> np.ndarray:
        """Probability of each row in each draw, shape (n_chains * n_draws, n_rows): of the positive class.

        With more than two outcomes of all of them, shape (n_chains * n_draws, n_rows, n_outcomes).
        """
        scores = self.scores(rows)
        return probabilities_of(scores) if self.n_outcomes > 2 else ndtr(scores)

    def offsets(self, context: np.ndarray | None, group_index: np.ndarray) -> np.ndarray:
        """Offset of some groups in each draw; see :meth:`disaggregate.posterior.draws.KernelDraws.offsets`."""
        found = [part.offsets(context, group_index) for part in self.parts]
        by_part = [own.reshape(*part.shape, *own.shape[1:]) for own, part in zip(found, self.parts, strict=True)]
        return self._in_order(by_part).reshape(-1, *found[0].shape[1:])

    def place_deviation(self, group_index: np.ndarray) -> np.ndarray:
        """Return the standard deviation of groups' intercepts; see the draws of one kernel."""
        by_part = [part.place_deviation(group_index).reshape(*part.shape, len(group_index)) for part in self.parts]
        return self._in_order(by_part).reshape(-1, len(group_index))

    def to_datatree(self, X: np.ndarray | None = None) -> DataTree:
        """Return the draws as a DataTree for ArviZ.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features), optional
            Individuals whose probabilities to include, as variable ``probability``.

        Returns
        -------
        xarray.DataTree
            With a group ``posterior`` of dimensions ``chain`` and ``draw``.
        """
        try:
            import xarray as xr
        except ImportError as error:
            raise ImportError("to_datatree needs xarray: pip install 'disaggregate[arviz]'") from error
        variables: dict = {"delta2": (("chain", "draw"), self.delta2)}
        for name, values in self.scales.items():
            if name != "individual":
                variables[f"delta2_{name}"] = (("chain", "draw"), values)
        if self.is_sparse:
            variables["n_active"] = (("chain", "draw"), self.n_active)
        constants = [part.constant for part in self.parts if part.constant is not None]
        if constants:
            variables["intercept"] = (("chain", "draw"), self._in_order(constants))
        if X is not None:
            probability = self.probabilities(np.asarray(X, dtype=np.float64))
            names = ("chain", "draw", "individual", "outcome")[: probability.ndim + 1]
            variables["probability"] = (names, probability.reshape(*self.shape, *probability.shape[1:]))
        coordinates = {"chain": np.arange(self.shape[0]), "draw": np.arange(self.shape[1])}
        return xr.DataTree.from_dict({"posterior": xr.Dataset(variables, coords=coordinates)})

    def _in_order(self, values: list[np.ndarray]) -> np.ndarray:
        """Interleave the parts' values, of shape (n_chains, draws of the part, ...), into one series per chain."""
        if len(values) == 1:
            return values[0]
        woven = np.empty((*self.shape, *values[0].shape[2:]), dtype=values[0].dtype)
        for part, value in enumerate(values):
            woven[:, self.part_of_draw == part] = value
        return woven


def interleave(parts: list[KernelDraws], rng: np.random.Generator) -> Posterior:
    """Shuffle the draws of several kernels into one posterior, each kernel's own draws in their order.

    Any stretch of the draws then holds the kernels in about their proportions, so that whatever compares one
    stretch with another, such as R-hat, sees the posterior and not its parts.

    Parameters
    ----------
    parts : list of KernelDraws
        Draws of each kernel.
    rng : numpy.random.Generator
        Shuffles.
    """
    part_of_draw = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
    return Posterior(tuple(parts), rng.permutation(part_of_draw) if len(parts) > 1 else part_of_draw)


def allocate(n_draws: int, weights: np.ndarray) -> np.ndarray:
    """Divide draws by weight, in whole numbers; the rest goes to the largest remainders.

    Parameters
    ----------
    n_draws : int
        Draws to divide.
    weights : ndarray
        Weights that add up to one.
    """
    exact = n_draws * np.asarray(weights)
    shares = np.floor(exact).astype(int)
    left_over = np.argsort(shares - exact, kind="stable")[: n_draws - shares.sum()]
    shares[left_over] += 1
    return shares

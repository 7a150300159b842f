"""Priors of the weights of kernels: a Gaussian process, or spike and slab as in the paper."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, cast

from sklearn.base import BaseEstimator

from disaggregate.model.priors import ScalePrior, gamma, half_normal, inverse_gamma
from disaggregate.settings.conditions import is_one_of, is_positive, require

# Bounds against typos; no prior of a scale needs more.
_LEAST, _MOST = 1e-9, 1e9

# Standard deviations of the half-normal priors of the effects of context and place, on the probit scale: for
# places, chosen on real ones; and for other groups of single people, where effects of features are larger, too.
_CONTEXT, _PLACE = 0.15, 0.2
_CONTEXT_OF_PEOPLE, _PLACE_OF_PEOPLE = 1.0, 1.0

# The same for cells with more than two outcomes. The model has one context effect for all people. Where subgroups
# have different ones, as in the precincts on which this was chosen, a wider prior would attribute differences
# between subgroups to context.
_CONTEXT_OF_TABLES = 0.03

# Where groups are samples or cells, the variance of the individual component is gamma distributed. Reports on
# groups hardly separate the effect of people's own features from that of the composition of their group, so this
# prior decides how much is attributed to each. A half-normal prior lets the individual component vanish: wrong on
# real groups.
_INDIVIDUAL_SHAPE, _INDIVIDUAL_MEAN = 2.0, 0.64

# Standard deviations below this change no probability by more than some 0.01. Intercepts of places are integrated
# out, so that chains mix even if their scale nearly vanishes. If places do not differ, a higher floor would
# attribute the sampling noise of small samples to places, and make differences between people too small.
_FLOOR, _PLACE_FLOOR = 0.03, 0.01

# Overdispersion of cells: phi is gamma distributed, where phi / (1 + phi) is the correlation of two people of one
# cell. Rates of cells then differ by some 3 to 10 points. Reports hardly separate that from differences between
# places, and with a prior that allows phi to vanish chains would not mix.
_CELL_SHAPE, _CELL_MEAN = 2.0, 0.02

# Learned confidence: 1 / sqrt(chi), about twice the standard deviation of a reported share near one half, is
# half-normal with this deviation. Below the floor, a confidence of some 100,000, shares are as good as exact.
_REPORT, _REPORT_FLOOR = 0.2, 0.003


class WeightPrior(BaseEstimator):  # type: ignore[misc]
    """A prior of the weights, with an inverse-gamma prior of their scale delta2; equal if all parameters are."""

    name: ClassVar[str]
    default_scale: ClassVar[tuple[float, float]]

    mu: float | None
    nu: float | None

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.get_params() == self.get_params()

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(self.get_params().items()))))

    def scale_prior(self) -> tuple[float, float]:
        """Return mu and nu, with the defaults filled in."""
        mu, nu = self.default_scale
        return float(mu if self.mu is None else self.mu), float(nu if self.nu is None else self.nu)

    def scale_prior_around(self, of_places: bool) -> tuple[float, float]:
        """Return mu and nu of an inverse-gamma prior with the median of the prior that a fit has.

        Parameters
        ----------
        of_places : bool
            Whether rows are samples or cells of places.
        """
        return self.scale_prior()

    def check(self) -> None:
        """Raise ValueError for the first parameter that is not sound."""
        for name, value in (("mu", self.mu), ("nu", self.nu)):
            sound = value is None or (is_positive(value) and _LEAST <= value <= _MOST)
            require(sound, name, f"a number from {_LEAST:g} to {_MOST:g}, or None for the default", value)


class GaussianProcess(WeightPrior):
    """A Gaussian process: every kernel has a weight, and f is smooth along the directions in which people differ.

    Parameters
    ----------
    emphasis : float or "auto", default="auto"
        How much the prior favours the main directions in which individuals differ, over those in which they
        differ little: the power to which it takes the kernel's variance along each. 1 is the Gaussian process
        with this kernel. "auto" is 1 where rows are samples or cells of places; elsewhere it is 2, and averages
        over 1 and 2 with the linear kernel.
    mu, nu : float, optional
        Inverse-gamma(mu/2, nu/2) prior of the scale delta2, the prior variance of f; by default 3 and 15.
    cells : bool, default=False
        Whether rates of cells (``counts``) are overdispersed, by a learned amount: people of one cell are then
        more alike than their features and place predict, intervals of cells are wider, and chains mix more slowly.
        For two outcomes, where groups have intercepts. Fits of tables have it by default.

    Examples
    --------
    >>> import disaggregate as dg
    >>> dg.GroupStatsClassifier(prior=dg.GaussianProcess(emphasis=1.0)).get_params()["prior__emphasis"]
    1.0
    """

    name: ClassVar[str] = "gaussian_process"
    default_scale: ClassVar[tuple[float, float]] = (3.0, 15.0)  # delta2 is about e^2

    def __init__(
        self,
        *,
        emphasis: float | Literal["auto"] = "auto",
        mu: float | None = None,
        nu: float | None = None,
        cells: bool = False,
    ) -> None:
        self.emphasis = emphasis
        self.mu = mu
        self.nu = nu
        self.cells = cells

    def component_priors(self, of_places: bool, of_tables: bool = False) -> dict[str, ScalePrior]:
        """Return the priors of the scales of the components, by name, with those of cells and of reports.

        Parameters
        ----------
        of_places : bool
            Whether rows are samples or cells of places: differences between individuals are then smaller than in
            groups that were formed at random, and the base rate is a separate component.
        of_tables : bool, default=False
            Whether rows are cells with more than two outcomes.
        """
        context = _CONTEXT_OF_TABLES if of_tables else _CONTEXT if of_places else _CONTEXT_OF_PEOPLE
        individual = inverse_gamma(*self.scale_prior())
        if of_places and self.mu is None and self.nu is None:
            individual = gamma(_INDIVIDUAL_SHAPE, _INDIVIDUAL_MEAN, _FLOOR)
        of_cells = {"cell": gamma(_CELL_SHAPE, _CELL_MEAN)} if self.cells else {}
        return {
            "individual": individual,
            "context": half_normal(context, _FLOOR),
            "place": half_normal(_PLACE if of_places else _PLACE_OF_PEOPLE, _PLACE_FLOOR),
            "report": half_normal(_REPORT, _REPORT_FLOOR),
            **of_cells,
        }

    def scale_prior_around(self, of_places: bool) -> tuple[float, float]:
        """Return mu and nu of an inverse-gamma prior with the median of the prior that a fit has.

        Parameters
        ----------
        of_places : bool
            As for :meth:`component_priors`.
        """
        mu, nu = self.scale_prior()
        wanted = self.component_priors(of_places)["individual"].median
        return mu, nu * wanted / inverse_gamma(mu, nu).median

    def check(self) -> None:
        """Raise ValueError for the first parameter that is not sound."""
        super().check()
        sound = is_positive(self.emphasis) or is_one_of(self.emphasis, "auto")
        require(sound, "emphasis", 'a positive, finite number, or "auto"', self.emphasis)
        require(isinstance(self.cells, bool), "cells", "True or False", self.cells)


class SpikeSlab(WeightPrior):
    """Spike and slab: few kernels are active at a time, as in the paper. For two outcomes.

    Parameters
    ----------
    a, b : float, default=1
        Beta prior of the share of active kernels.
    mu, nu : float, optional
        Inverse-gamma(mu/2, nu/2) prior of the scale delta2 of the weights; by default 10 and 1000.
    latent : "exact" or "metropolis", default="exact"
        How latent scores are drawn: exactly, group by group, or with the moves published in 2005.

    Examples
    --------
    >>> import disaggregate as dg
    >>> model = dg.GroupStatsClassifier(kernel="rbf", prior=dg.SpikeSlab(mu=1.0, nu=1.0))
    """

    name: ClassVar[str] = "spike_slab"
    default_scale: ClassVar[tuple[float, float]] = (
        10.0,
        1000.0,
    )  # delta2 near 100, over all rows by the prior (5)

    def __init__(
        self,
        *,
        a: float = 1.0,
        b: float = 1.0,
        mu: float | None = None,
        nu: float | None = None,
        latent: Literal["exact", "metropolis"] = "exact",
    ) -> None:
        self.a = a
        self.b = b
        self.mu = mu
        self.nu = nu
        self.latent = latent

    def check(self) -> None:
        """Raise ValueError for the first parameter that is not sound."""
        for name, value in (("a", self.a), ("b", self.b)):
            require(is_positive(value), name, "a positive, finite number", value)
        super().check()
        require(is_one_of(self.latent, "exact", "metropolis"), "latent", '"exact" or "metropolis"', self.latent)


Prior = GaussianProcess | SpikeSlab
PRIORS: dict[str, type[GaussianProcess] | type[SpikeSlab]] = {
    kind.name: kind for kind in (GaussianProcess, SpikeSlab)
}


def as_prior(prior: Any) -> Prior:
    """Return the prior that a name stands for; a prior itself is one already.

    Parameters
    ----------
    prior : {"gaussian_process", "spike_slab"}, GaussianProcess or SpikeSlab
        The setting.
    """
    if is_one_of(prior, *PRIORS):
        return PRIORS[prior]()
    names = " or ".join(f'"{name}"' for name in PRIORS)
    require(isinstance(prior, (GaussianProcess, SpikeSlab)), "prior", f"{names}, or such an object", prior)
    return cast("GaussianProcess | SpikeSlab", prior)

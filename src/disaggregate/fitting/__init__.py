"""From kernels and reports to a posterior: compares kernels, runs chains, stops and resumes them."""

from disaggregate.fitting.plan import FitPlan, ScalePriors
from disaggregate.fitting.results import Fitted
from disaggregate.fitting.run import Sampling
from disaggregate.fitting.session import FitSession

__all__ = ["FitPlan", "FitSession", "Fitted", "Sampling", "ScalePriors"]

"""From kernels and reports to a posterior: one way for dense weights, one for sparse ones."""

from disaggregate.fitting.blocks import BlockSampling
from disaggregate.fitting.dense import DenseSampling
from disaggregate.fitting.plan import Fitted, Plan
from disaggregate.fitting.run import Sampling, run
from disaggregate.fitting.sparse import SparseSampling

__all__ = ["BlockSampling", "DenseSampling", "Fitted", "Plan", "Sampling", "SparseSampling", "run"]

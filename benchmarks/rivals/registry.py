"""The rivals in the order of the tables: simple ones first, other packages after ours, the ceiling last."""

from __future__ import annotations

from benchmarks.rivals.alternating_ridge import AlternatingRidge
from benchmarks.rivals.bag_likelihood import BagLikelihood
from benchmarks.rivals.em_logistic import EMLogistic
from benchmarks.rivals.group_logistic import GroupLogistic
from benchmarks.rivals.inverse_calibration import InverseCalibration
from benchmarks.rivals.llp_learn import LLPLearn
from benchmarks.rivals.mean_map import MeanMap
from benchmarks.rivals.milwrap_counts import MilwrapCounts
from benchmarks.rivals.oracle import Oracle
from benchmarks.rivals.proportion_svm import ProportionSVM
from benchmarks.rivals.published_sampler import PublishedSampler
from benchmarks.rivals.sawmil_bags import SawmilBags

BUILT_IN = (
    GroupLogistic,
    MeanMap,
    InverseCalibration,
    AlternatingRidge,
    ProportionSVM,
    EMLogistic,
    BagLikelihood,
    PublishedSampler,
)
PACKAGES = (MilwrapCounts, SawmilBags, LLPLearn)  # these raise RivalMissing where they are not installed
CEILING = Oracle  # its ``fit`` takes ``labels`` too
RIVALS = (*BUILT_IN, *PACKAGES, CEILING)

"""Report on a ladder of replicas: swap rates, evidence, and why there is a ladder or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from disaggregate.groups import GroupedData
from disaggregate.model.powers import log_maxima
from disaggregate.model.priors import ScalePrior
from disaggregate.model.reports import make_reports
from disaggregate.posterior.log_evidence import LogEvidence, log_evidence, log_evidence_of_constant
from disaggregate.sampler.chain import ChainDraws
from disaggregate.sampler.dense.chains import DenseDraws


@dataclass(frozen=True)
class LadderReport:
    """Powers, swap rates and evidence of a ladder of replicas.

    Attributes
    ----------
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence, from 1 down to 0.
    swap_rates : ndarray of shape (n_rungs - 1,)
        How often neighbours swap, on average over chains.
    log_evidence : LogEvidence
        Log marginal likelihood of the reports.
    log_evidence_constant : float
        The same for a model in which all people have the same probability; NaN if it was not compared.
    reason : str
        Why there is a ladder or not, if the fit decided it.
    """

    powers: np.ndarray
    swap_rates: np.ndarray
    log_evidence: LogEvidence
    log_evidence_constant: float
    reason: str = ""

    @property
    def is_ladder(self) -> bool:
        """Whether there are several replicas."""
        return len(self.powers) > 1

    @property
    def gain(self) -> float:
        """Log Bayes factor of the model against one with the same probability for all people."""
        return self.log_evidence.value - self.log_evidence_constant


def mixture_report(reports: Sequence[LadderReport], evidence: LogEvidence) -> LadderReport:
    """Sum up the ladders of several kernels: the swaps of the worst of them, the evidence of them all.

    Parameters
    ----------
    reports : sequence of LadderReport
        One per kernel, that of the greatest weight first where none has a ladder.
    evidence : LogEvidence
        Averaged over kernels.
    """
    worst = min(reports, key=lambda report: report.swap_rates.min(initial=1.0) if report.is_ladder else 2.0)
    return replace(worst, log_evidence=evidence)


def ladder_report(
    chains: Sequence[DenseDraws | ChainDraws],
    powers: np.ndarray,
    data: GroupedData,
    constant: ScalePrior | None,
    known: LogEvidence | None = None,
    reason: str = "",
) -> LadderReport | None:
    """Sum up the ladders of all chains; None where there is only one rung and the evidence is not known.

    Parameters
    ----------
    chains : sequence of DenseDraws or ChainDraws
        What the chains recorded.
    powers : ndarray of shape (n_rungs,)
        The ladder.
    data : GroupedData
        What the groups report.
    constant : ScalePrior or None
        Prior of the variance of a constant f; None where a constant is no rival worth comparing with.
    known : LogEvidence, optional
        The evidence as it was found before the chains; a ladder's own is better.
    reason : str, default=""
        Why there is a ladder, or none.
    """
    if len(powers) == 1 and known is None:
        return None
    log_maximum = float(log_maxima(data).sum())
    if len(powers) > 1 or known is None:
        known = log_evidence([chain.log_ratios for chain in chains], log_maximum)
    return LadderReport(
        powers=powers,
        swap_rates=np.mean([chain.swap_rates for chain in chains], axis=0),
        log_evidence=known,
        log_evidence_constant=np.nan
        if constant is None
        else log_maximum + log_evidence_of_constant(make_reports(data), constant),
        reason=reason,
    )

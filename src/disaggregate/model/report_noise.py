"""Learned confidence of reported shares: one chi for all groups, with a heavy tail for single reports.

A share m that is reported with ``confidence="auto"`` has the density

    p(m given lambda, chi) = TAIL + (1 - TAIL) sum over c of w_c(log chi) Beta(m; c lambda + 1, c (1 - lambda) + 1)

With a probability of TAIL the report is anything at all. Else its own confidence c lies around the chi of all
groups: the weights w are a cubic B-spline on a grid of log c, so that they add up to one, four of them are above
zero, and the density is smooth in chi. What depends on c is worked out once; each likelihood mixes four tables.

1 / chi is the scale "report" among those of :mod:`disaggregate.model.components`; its root is about twice the
standard deviation of a share near one half.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.groups.grouped import GroupedData
from disaggregate.groups.learned_confidence import CONFIDENCES, TAIL, mixing_weights
from disaggregate.model.powers import log_maxima
from disaggregate.model.reports import Reports, make_reports

__all__ = ["CONFIDENCES", "TAIL", "ReportNoise", "make_report_noise", "reports_with_confidence"]


class ReportNoise(NamedTuple):
    """Densities of the reports whose confidence is learned.

    Attributes
    ----------
    entries : ndarray of int, shape (n_entries,)
        Where their counts are in the tables of :class:`disaggregate.model.reports.Reports`.
    densities : ndarray of shape (n_confidences, n_entries)
        Density of each report at each count, by confidence, in units of the report's largest likelihood.
    tail : ndarray of shape (n_entries,)
        That of a report that is anything at all, in the same units.
    """

    entries: np.ndarray
    densities: np.ndarray
    tail: np.ndarray

    def log_likelihood(self, log_scale: float) -> np.ndarray:
        """Log likelihood of each entry where the logarithm of 1 / chi is this."""
        cells, weights = mixing_weights(-log_scale)
        return np.log(TAIL * self.tail + (1.0 - TAIL) * (weights @ self.densities[cells]))

    def tables(self, reports: Reports, rungs: np.ndarray, log_scales: np.ndarray) -> Reports:
        """Return the reports with one table per replica: at the power of its rung, and with its own confidence.

        Parameters
        ----------
        reports : Reports
            With the evidence at the powers of all rungs.
        rungs : ndarray of int, shape (n_replicas,)
            Rung of each replica.
        log_scales : ndarray of shape (n_replicas,)
            Logarithm of 1 / chi of each.
        """
        log_likelihood = reports.log_likelihood[rungs]
        scales = np.nan_to_num(log_scales)  # if a trajectory diverges, its energy shows it
        known = {float(value): self.log_likelihood(float(value)) for value in np.unique(scales)}
        for row, rung, log_scale in zip(log_likelihood, rungs, scales, strict=True):
            row[self.entries] = reports.powers[rung] * known[float(log_scale)]
        return reports._replace(
            log_likelihood=log_likelihood,
            likelihood=np.exp(log_likelihood),
            fewest=reports.fewest[rungs],
            most=reports.most[rungs],
            powers=reports.powers[rungs],
        )


def reports_with_confidence(data: GroupedData, log_confidence: float | None) -> Reports:
    """Lay out what the groups report, with this confidence where it is to be learned.

    Parameters
    ----------
    data : GroupedData
        Groups and evidence.
    log_confidence : float or None
        Logarithm of chi; None where no fit has learned it.
    """
    reports, noise = make_reports(data), make_report_noise(data)
    if noise is None or log_confidence is None:
        return reports
    return noise.tables(reports, np.zeros(1, dtype=np.int64), np.array([-log_confidence]))


def make_report_noise(data: GroupedData) -> ReportNoise | None:
    """Work out the densities of reports whose confidence is learned; None where there are none.

    Parameters
    ----------
    data : GroupedData
        Groups and evidence.
    """
    groups = [j for j, known in enumerate(data.evidence) if known.learns_confidence]
    if not groups:
        return None
    starts, totals, maxima = data.starts, data.totals, log_maxima(data)
    entries, densities, tails = [], [], []
    for j in groups:
        own = np.arange(starts[j], starts[j + 1])
        counts = own - starts[j] if data.nodes is None else data.nodes[own]
        unit = np.exp(-maxima[j])
        entries.append(own)
        densities.append(unit * data.evidence[j].densities(counts, int(totals[j])))
        tails.append(np.full(len(own), unit))
    return ReportNoise(np.concatenate(entries), np.hstack(densities), np.concatenate(tails))

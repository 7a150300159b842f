"""Which compiled kernels the reports need: those of counts alone, or those that integrate over intercepts too.

The second are several times as much code, and only fits that need them wait for them to be compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from disaggregate.model.reports import Reports, with_correlation


def kernels_for(reports: Reports, deviation: np.ndarray | float) -> Any:
    """Return the module of the kernels.

    Parameters
    ----------
    reports : Reports
        What the groups report.
    deviation : ndarray or float
        Deviations of the groups' offsets, 0 without intercepts.
    """
    if reports.is_sample.any() or np.any(deviation):
        from disaggregate.sampler.compiled import place_kernels

        return place_kernels
    from disaggregate.sampler.compiled import count_kernels

    return count_kernels


def log_likelihood_by_draw(
    reports: Reports,
    individual: np.ndarray,
    group: np.ndarray,
    deviation: np.ndarray,
    correlation: np.ndarray | None = None,
) -> np.ndarray:
    """Log likelihood of each group's report in each draw, shape (n_draws, n_groups), with z = 0.

    Parameters
    ----------
    reports : Reports
        What the groups report.
    individual : ndarray of shape (n_draws, n_rows)
        u.
    group, deviation : ndarray of shape (n_draws, n_groups)
        Centres of the groups' offsets, and deviations around them; 0 where the offset is known.
    correlation : ndarray of shape (n_draws,), optional
        Overdispersion of cells.
    """
    if correlation is not None:
        draws = [slice(i, i + 1) for i in range(len(group))]
        found = [
            log_likelihood_by_draw(with_correlation(reports, float(rho)), individual[i], group[i], deviation[i])
            for i, rho in zip(draws, correlation, strict=True)
        ]
        return np.concatenate(found)
    has_cells = bool(reports.correlation.any())  # their kernels are those of intercepts
    module = kernels_for(reports, 1.0 if has_cells else deviation)
    by_draw: np.ndarray = module.evidence_by_draw(reports, individual, group, deviation)
    return by_draw

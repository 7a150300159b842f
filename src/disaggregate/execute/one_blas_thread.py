"""Linear algebra on one thread."""

from __future__ import annotations

from threadpoolctl import threadpool_limits


def one_blas_thread() -> threadpool_limits:
    """Keep products and decompositions on one thread as long as the context lasts.

    Chains already fill the cores; and sums that are split over threads round differently with their number, so
    that the draws would depend on the machine.
    """
    return threadpool_limits(limits=1, user_api="blas")

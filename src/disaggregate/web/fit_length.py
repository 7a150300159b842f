"""Rough estimate of the time of a fit before it starts."""

from __future__ import annotations

QUICK: dict[str, object] = {"kernel": "linear", "n_draws": 500, "n_burn": 500, "n_chains": 4, "random_state": 0}
FULL: dict[str, object] = {"n_draws": "auto", "n_burn": "auto", "n_chains": 4, "random_state": 0}
LARGE = 5_000
LENGTHS = {"quick": QUICK, "full": FULL}

# Seconds on two cores: start, per row, measured with 500 to 2,300 rows.
_START = {"quick": 8.0, "full": 15.0}
_PER_ROW = {"quick": 0.01, "full": 0.06}


def settings_of(length: str, n_rows: int) -> dict[str, object]:
    """Return the settings of a fit; kernels sit on landmarks where there are many rows."""
    return {**LENGTHS[length], **({"centers": 500} if n_rows > LARGE else {})}


def expected_seconds(length: str, n_rows: int) -> float:
    """Return about how long a fit takes.

    Parameters
    ----------
    length : {"quick", "full"}
        Kind of fit.
    n_rows : int
        Rows of people.
    """
    return _START[length] + _PER_ROW[length] * min(n_rows, LARGE) + 0.002 * max(0, n_rows - LARGE)


def estimate(length: str, n_rows: int) -> str:
    """Say about how long a fit takes; parameters as of :func:`expected_seconds`."""
    seconds = expected_seconds(length, n_rows)
    if seconds < 50.0:
        return "less than a minute"
    minutes = round(seconds / 60.0)
    return f"about {minutes} to {2 * minutes} minutes" if minutes > 1 else "one to two minutes"

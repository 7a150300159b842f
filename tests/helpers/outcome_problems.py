"""Small problems with several outcomes for tests: reports of every kind, and what enumeration says of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.special import logsumexp

from disaggregate.groups.evidence import Unknown
from disaggregate.groups.outcome_evidence import Bounds, Counts, OutcomeEvidence, Shares
from disaggregate.groups.outcomes import GroupedOutcomes, group_outcomes
from disaggregate.model.outcomes import logits_of, probabilities_of

# Of five people and three outcomes.
REPORTS_OF_FIVE: dict[str, OutcomeEvidence] = {
    "counts": Counts({"a": 2, "b": 0, "c": 3}),
    "counts of some": Counts({"b": 2}),
    "shares": Shares({"a": 0.3, "b": 0.5, "c": 0.2}, 8.0),
    "sharp shares": Shares({"a": 0.2, "b": 0.6, "c": 0.2}),
    "shares of some": Shares({"c": 0.35}, 20.0),
    "no share": Shares({"a": 0.0, "b": 0.6, "c": 0.4}, 10.0),
    "bounds": Bounds({"a": (1, 3), "c": (0, 1)}),
}
OUTCOMES = ("a", "b", "c")


def grouped(
    evidence: list[Any], sizes: list[int], outcomes: Any = OUTCOMES, counts: Any = None
) -> GroupedOutcomes:
    """Groups of these sizes, with these reports."""
    ids = np.repeat(np.arange(len(sizes)), sizes).tolist()
    return group_outcomes(ids, dict(enumerate(evidence)), outcomes, counts)


def enumerated(p: np.ndarray, report: Any, outcomes: Any = OUTCOMES) -> tuple[float, np.ndarray]:
    """Log likelihood of a report on single people, and expected labels, from all labels that they may have."""
    n, n_outcomes = p.shape
    labels = np.array(list(itertools.product(range(n_outcomes), repeat=n)))
    log_p = np.log(p)[np.arange(n), labels].sum(axis=1)
    if not isinstance(report, Unknown):
        reported = [outcomes.index(name) for name in report.named_outcomes]
        counts = np.stack([(labels == k).sum(axis=1) for k in reported], axis=1)
        if len(reported) < n_outcomes:
            counts = np.column_stack([counts, n - counts.sum(axis=1)])
        log_p = log_p + report.log_likelihood(counts)
    total = logsumexp(log_p)
    chance = np.exp(log_p - total)
    expected = np.stack([[chance[labels[:, i] == k].sum() for k in range(n_outcomes)] for i in range(n)])
    return float(total), expected


def some_probabilities(rng: np.random.Generator, n: int, n_outcomes: int = 3, spread: float = 1.0) -> np.ndarray:
    """Probabilities of some people."""
    return probabilities_of(logits_of(spread * rng.standard_normal((n, n_outcomes - 1))))

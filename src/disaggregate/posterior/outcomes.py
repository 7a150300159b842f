"""Results for more than two outcomes: tables with a row per outcome, and how well reports are predicted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from disaggregate.groups.grouped import GroupedData
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.model.outcome_populations import make_outcome_samples
from disaggregate.model.outcome_reports import make_outcome_reports
from disaggregate.model.outcomes import scores_of
from disaggregate.posterior.batches import Probability
from disaggregate.posterior.group_table import share_summary
from disaggregate.posterior.individuals import as_individuals
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.summaries import interval_ends
from disaggregate.posterior.thinning import thinned_to
from disaggregate.sampler.dense.outcomes import log_likelihood_of_scores
from disaggregate.tables.dataframes import dataframe_of

if TYPE_CHECKING:
    from disaggregate.tables.people import Rows

OUTCOME = "outcome"

VALUES_AT_ONCE = 2**23
_FARTHEST = 1e6

Found = TypeVar("Found")


def of_outcome(probability: Probability, number: int) -> Probability:
    """Take the probabilities of one outcome, by its number."""

    def of_one(rows: Rows) -> np.ndarray:
        return probability(rows)[..., number]

    return of_one


def by_outcome(
    found: Mapping[Hashable, Found], table_of: Callable[[Found], pd.DataFrame], position: int
) -> pd.DataFrame:
    """Make one table of one per outcome: rows of the same thing follow each other, one for each outcome.

    Parameters
    ----------
    found : mapping
        Results by outcome.
    table_of : callable
        Makes the table of one of them; all have the same rows.
    position : int
        Where the column ``outcome`` stands.
    """
    tables = [table_of(one) for one in found.values()]
    if OUTCOME in tables[0]:
        raise ValueError(f"column {OUTCOME!r} has the name of a result; rename it first.")
    n_rows = len(tables[0])
    joined = pd.concat(tables, ignore_index=True)
    names = pd.Series(np.repeat(np.arange(len(tables)), n_rows)).map(dict(enumerate(found)))
    joined.insert(position, OUTCOME, names.infer_objects())
    order = np.arange(n_rows * len(tables)).reshape(len(tables), n_rows).T.ravel()
    return joined.iloc[order].reset_index(drop=True)


def outcome_tables(data: GroupedOutcomes, tallies: np.ndarray, level: float) -> dict[Hashable, pd.DataFrame]:
    """Tabulate the groups for each outcome; columns as of :func:`disaggregate.posterior.group_table.group_table`.

    Parameters
    ----------
    data : GroupedOutcomes
        Groups and evidence.
    tallies : ndarray
        How often each group had each share of each outcome; see ``GroupedOutcomes.tally_starts``.
    level : float
        Probability of the credible intervals.
    """
    tails, starts, n_outcomes = interval_ends(level), data.tally_starts, len(data.outcomes)
    reported = data.reported_shares
    tables = {}
    for k, outcome in enumerate(data.outcomes):
        indices = np.arange(len(data.names)) * n_outcomes + k
        shares = [share_summary(tallies[starts[index] : starts[index + 1]], tails) for index in indices]
        implied, low, high = np.array(shares).T
        tables[outcome] = dataframe_of(
            {
                "group": data.names,
                "n": data.people,
                "reported": reported[:, k],
                "implied": implied,
                "conf_low": low,
                "conf_high": high,
            }
        )
    return tables


def outcome_log_scores(posterior: Posterior, rows: Any, data: GroupedData) -> np.ndarray:
    """Log posterior predictive likelihood of each group's report, with labels summed out.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    rows : Individuals or ndarray of shape (n_rows, n_features)
        Individuals in the caller's order.
    data : GroupedOutcomes
        Groups and evidence.
    """
    if not isinstance(data, GroupedOutcomes) or len(data.outcomes) != posterior.n_outcomes:
        raise ValueError(
            f"the model was fitted with {posterior.n_outcomes} outcomes; give reports that name these outcomes."
        )
    reports, individuals = make_outcome_reports(data), as_individuals(rows)[data.order]
    thinned = thinned_to(posterior, VALUES_AT_ONCE // (len(data.order) * posterior.n_outcomes))
    logits = np.clip(thinned.scores(individuals), -_FARTHEST, _FARTHEST)
    scores, of_groups = scores_of(logits), individuals[data.offsets[:-1]]
    offsets = thinned.offsets(of_groups.context, of_groups.known_groups)
    by_draw = log_likelihood_of_scores(
        reports,
        np.moveaxis(scores - np.repeat(offsets, data.sizes, axis=1), 2, 1),
        make_outcome_samples(data),
        np.moveaxis(offsets, 2, 1),
        np.zeros(len(scores)),
    )
    return logsumexp(by_draw, axis=0) - np.log(len(by_draw))

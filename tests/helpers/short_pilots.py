"""Fits whose pilots are short: most tests ask what is drawn and not how well."""

from __future__ import annotations

import pytest


def shorten_pilots(patch: pytest.MonkeyPatch) -> None:
    """Search, tune and adapt less before the chains of a fit."""
    from disaggregate.fitting import escalation, kernels
    from disaggregate.sampler.dense import outcomes, tuning, whole

    patch.setattr(tuning, "PHASES", (10, 10, 10))
    for where in (kernels, escalation):
        patch.setattr(where, "ENOUGH_TO_TUNE", 10)
        patch.setattr(where, "ENOUGH_TO_COMPARE", 20)
    patch.setattr(escalation, "MORE_SEARCHES", 2)
    patch.setattr(escalation, "TRIAL_DRAWS", 10)
    patch.setattr(escalation, "AGREE", 10.0)  # so few draws say nothing of where chains go
    for data in (whole.WholeData, outcomes.OutcomeData):
        patch.setattr(data, "n_adapting", 10)
        patch.setattr(data, "n_starts", 2)


def shorten_for_good() -> None:
    """Do so for the life of this process, which a test has started."""
    shorten_pilots(pytest.MonkeyPatch())

"""The settings of a fit: priors of the weights, which values are sound, those of the paper, and old names."""

from disaggregate.settings.check import check_settings
from disaggregate.settings.old_names import NAMES_IN_FILES, OLD_NAMES, OldSettings, with_new_names, with_old_names
from disaggregate.settings.priors import GaussianProcess, SpikeSlab, as_prior
from disaggregate.settings.published import (
    groups_are_pictures,
    groups_are_places,
    groups_at_random,
    is_sparse,
    published_settings,
    settings_of_tables,
)

__all__ = [
    "NAMES_IN_FILES",
    "OLD_NAMES",
    "GaussianProcess",
    "OldSettings",
    "SpikeSlab",
    "as_prior",
    "check_settings",
    "groups_are_pictures",
    "groups_are_places",
    "groups_at_random",
    "is_sparse",
    "published_settings",
    "settings_of_tables",
    "with_new_names",
    "with_old_names",
]

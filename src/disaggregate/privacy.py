"""What results reveal about single people, under the public name ``disaggregate.privacy.disclosure(model)``."""

from disaggregate.analysis.privacy import *  # noqa: F403
from disaggregate.analysis.privacy import __all__ as __all__

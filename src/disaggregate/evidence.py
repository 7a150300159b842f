"""The kinds of evidence, under their public name: ``disaggregate.evidence.Count(3)``."""

from disaggregate.groups.evidence import *  # noqa: F403
from disaggregate.groups.evidence import __all__ as __all__

"""The kinds of evidence, under their public name: ``disaggregate.evidence.Count(3)``."""

from disaggregate.groups.evidence import *  # noqa: F403
from disaggregate.groups.evidence import __all__ as _of_two
from disaggregate.groups.outcome_evidence import *  # noqa: F403
from disaggregate.groups.outcome_evidence import __all__ as _of_several

__all__ = [*_of_two, *_of_several]

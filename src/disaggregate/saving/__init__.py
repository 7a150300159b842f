"""Models in files: arrays and plain data in a checked archive, never code."""

from disaggregate.saving.archive import ArchiveError
from disaggregate.saving.model import read_saved, save_analysis, save_model

__all__ = ["ArchiveError", "read_saved", "save_analysis", "save_model"]

"""What the methods are judged on: each file makes splits, with group statistics to learn from."""

from benchmarks.tasks.split import Split

__all__ = ["Split"]

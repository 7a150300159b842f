"""The paper's experiments: each runs, tabulates its numbers beside the paper's, and draws a figure."""

from disaggregate.experiments.outcome import Outcome, Scope, write_outcome

__all__ = ["Outcome", "Scope", "write_outcome"]

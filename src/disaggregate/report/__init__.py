"""One self-contained HTML page with the question, the answer, and how far to rely on it."""

from disaggregate.report.page import write_report

__all__ = ["write_report"]

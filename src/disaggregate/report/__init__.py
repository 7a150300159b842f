"""One self-contained HTML page that says what was asked, what was found, and how far to rely on it."""

from disaggregate.report.page import write_report

__all__ = ["write_report"]

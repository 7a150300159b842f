"""What every task needs, imported once by the process that tasks are forked from."""

import disaggregate.analysis
import disaggregate.report
import disaggregate.tables.check
import disaggregate.tables.guess
import disaggregate.tables.two_tables
import disaggregate.web.tasks  # noqa: F401

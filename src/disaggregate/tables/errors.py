"""The one error that a table raises when its owner can put things right."""


class TableError(ValueError):
    """A mistake in a table, or in what was said of it: what was expected, what came, what to do."""

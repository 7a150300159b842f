"""The one error that a command raises when its user can put things right."""


class CommandError(Exception):
    """A mistake of the user: told in one message, without a traceback, and exit code 2."""

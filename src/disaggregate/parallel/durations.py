"""Times in words, for the terminal and for the page, which loads nothing heavy for it."""


def duration(seconds: float) -> str:
    """Say a time in seconds or minutes."""
    if seconds < 90.0:
        whole = max(1, round(seconds) if seconds < 20.0 else 5 * round(seconds / 5.0))
        return f"{whole} second{'s' if whole != 1 else ''}"
    return f"{round(seconds / 60.0)} minutes"

"""Translates messages from Python arguments to options of the command line."""

from __future__ import annotations

import re

# In order: the first that matches wins.
_OPTIONS = (
    (r'\b(group_effects|context)="auto"', r"--\1 auto"),
    (r"\b(group_effects|context)=True", r"--\1 yes"),
    (r"\b(group_effects|context)=False", r"--\1 no"),
    (r'\bconfidence="auto"', "--confidence auto"),
    (r"\bresume=True", "--resume"),
    (r"\brandom_state=(?=\d)", "--seed "),
    (r"\bn_(draws|burn|chains)=(?=\d)", r"--\1 "),
    (r"\b(centers|min_group_size)=(?=\d)", r"--\1 "),
    (r"\b(checkpoint|draws_to)=(?=')", r"--\1 "),
    (r"\b(checkpoint|draws_to)=", r"--\1"),
    (r"\bn_(draws|burn|chains)\b", r"--\1"),
    (r"(?<=, )centers(?=\))", "--centers"),
    (r"\(sampled, evidence Population\)", "(--sampled)"),
    (r": sampled, which is dg\.evidence\.Population", ": --sampled"),
)
_UNDERSCORE = re.compile(r"(?<=--)[a-z]+(?:_[a-z]+)+")


def as_options(text: str) -> str:
    """Return a message with the options of `disaggregate fit` in place of the arguments that they stand for."""
    for argument, option in _OPTIONS:
        text = re.sub(argument, option, text)
    return _UNDERSCORE.sub(lambda found: found[0].replace("_", "-"), text)

"""Messages on the command line name its options."""

import re

import pytest

from disaggregate.cli.main import build_parser
from disaggregate.cli.wording import as_options

CASES = [
    ("run longer, for instance n_draws=4000.", "run longer, for instance --draws 4000."),
    ("Run longer (n_burn=4000, n_draws=4000)", "Run longer (--burn 4000, --draws 4000)"),
    ("set n_draws to 100 or more", "set --draws to 100 or more"),
    ('set group_effects=True, or (confidence="auto")', "set --group-effects yes, or (--confidence auto)"),
    ("context=False", "--context no"),
    (
        "checkpoint='run.dgc' exists. Resume it (resume=True)",
        "--checkpoint 'run.dgc' exists. Resume it (--resume)",
    ),
    ("resume=True needs checkpoint=, the file", "--resume needs --checkpoint, the file"),
    ("draws_to='x' is not empty", "--draws-to 'x' is not empty"),
    ("a number such as centers=500", "a number such as --centers 500"),
    ("fewer than min_group_size=10: nothing", "fewer than --min-group-size 10: nothing"),
    ("a fit with random_state=3, not 4", "a fit with --seed 3, not 4"),
    ("fewer draws or kernels (n_draws, centers)", "fewer draws or kernels (--draws, --centers)"),
    ("say so: sampled, which is dg.evidence.Population.", "say so: --sampled."),
    ("say so (sampled, evidence Population)", "say so (--sampled)"),
    ("column 'n_draws_total' of people", "column 'n_draws_total' of people"),
    ("set n_replicas=16.", "set n_replicas=16."),
]


@pytest.mark.parametrize(("python", "options"), CASES)
def test_arguments_become_options(python, options):
    assert as_options(python) == options


def test_every_option_that_is_named_exists():
    parsers = build_parser()._subparsers._group_actions[0].choices.values()
    known = {option for parser in parsers for option in parser._option_string_actions}
    named = {option for _, text in CASES for option in re.findall(r"--[a-z-]+", text)}
    assert len(named) > 8
    assert named <= known

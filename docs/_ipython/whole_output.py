"""Cells print the output of a command (`!disaggregate …`) as a whole.

IPython prints it in pieces, which may end inside a character.
"""

import subprocess

from IPython import get_ipython


def system(command):
    """Run a command, and print what it wrote."""
    done = subprocess.run(
        command, shell=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    print(done.stdout, end="")


get_ipython().system = system

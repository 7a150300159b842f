"""matplotlib is an extra: nothing imports it before something is drawn, and its absence is explained."""

import subprocess
import sys

import numpy as np
import pytest

from disaggregate.plots import group_scatter
from disaggregate.plots.canvas import new_figure


def test_importing_the_plots_does_not_import_matplotlib():
    code = "import sys, disaggregate, disaggregate.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_matplotlib_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'disaggregate\[plots\]'"):
        group_scatter(np.zeros((2, 2)), [0, 1])
    with pytest.raises(ImportError, match=r"pip install 'disaggregate\[plots\]'"):
        new_figure(4.0, 3.0)

"""Importing is quick: what is slow is loaded when it is needed."""

import subprocess
import sys

import pytest


def modules_after(code):
    show = "import sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_package_alone_loads_nothing():
    loaded = modules_after("import disaggregate")
    assert "disaggregate" in loaded
    assert not loaded & {"numpy", "sklearn", "pandas", "numba"}


@pytest.fixture(scope="module")
def loaded():
    """What a classifier loads."""
    return modules_after("import disaggregate; disaggregate.GroupStatsClassifier()")


def test_the_classifier_waits_with_numba_and_plots_until_the_first_fit(loaded):
    assert "disaggregate.estimator" in loaded
    assert not loaded & {"numba", "llvmlite", "matplotlib", "xarray", "polars", "sklearn.cluster"}


def test_the_classifier_loads_little_beside_scikit_learn(loaded):
    """scikit-learn itself loads scipy.stats and pandas, and that is most of the time."""
    theirs = modules_after("import sklearn.base, sklearn.metrics, rich.progress")
    extra = {name.split(".")[0] for name in loaded - theirs} - {"disaggregate"}
    assert extra <= {"pandas", "pytz", "dateutil", "rich", "joblib"}, extra


IMPORT_EACH_FIRST = """
import pkgutil, sys
from importlib import import_module
import disaggregate
names = [m.name for m in pkgutil.walk_packages(disaggregate.__path__, "disaggregate.")]
assert len(names) > 30
for name in names:
    folder = ".".join(name.split(".")[:2])  # the order of folders is a test of its own
    for loaded in [key for key in sys.modules if key == folder or key.startswith(folder + ".")]:
        del sys.modules[loaded]
    import_module(name)
"""


def test_every_module_can_be_imported_first():
    """No import depends on another having come before it."""
    assert "disaggregate" in modules_after(IMPORT_EACH_FIRST)

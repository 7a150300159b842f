import os
import signal
import zlib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


# One folder for each numba, because two of them that run side by side would throw away each other's work. This
# must come before anything imports numba.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / version("numba")))


@pytest.fixture
def seed(request):
    """A seed that is this test's own and never changes."""
    return zlib.crc32(request.node.name.encode())


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """A generator seeded by the test's own name."""
    return np.random.default_rng(seed)


# Where fits are short, unless a test says otherwise.
SHORT = (
    *("tests/cli/", "tests/contract/", "tests/fitting/", "tests/report/"),
    *("tests/fuzz/test_random", "tests/fuzz/test_fuzzers", "tests/parallel/test_dask_partitions"),
    *("tests/analysis/", "tests/posterior/test_predictive", "tests/saving/", "tests/experiments/"),
)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Tune for a few sweeps only: most tests ask what is drawn and not how well.

    Tests that are marked ``full_pilots`` are left alone, with the fixtures that are set up for them. Other
    processes know nothing of it, unless they begin with ``shorten_for_good``.
    """
    is_short = item.nodeid.startswith(SHORT) and not item.get_closest_marker("full_pilots")
    if not is_short:
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        from tests.helpers.short_pilots import shorten_pilots

        shorten_pilots(patch)
        return (yield)


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard():
    """Let tests interrupt themselves even in the background of a shell, where Ctrl-C is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

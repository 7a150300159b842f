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


@pytest.fixture
def short_pilots(request, monkeypatch):
    """Tune for a few sweeps only, where a test asks what is drawn and not how well.

    A test that is marked ``full_pilots`` is left alone. Other processes know nothing of it.
    """
    if request.node.get_closest_marker("full_pilots"):
        return
    from disaggregate.fitting import escalation, kernels
    from disaggregate.sampler.dense import tuning

    monkeypatch.setattr(tuning, "PHASES", (10, 10, 10))
    for where in (kernels, escalation):
        monkeypatch.setattr(where, "ENOUGH_TO_TUNE", 10)
        monkeypatch.setattr(where, "ENOUGH_TO_COMPARE", 20)
    monkeypatch.setattr(escalation, "TRIAL_DRAWS", 10)


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard():
    """Let tests interrupt themselves even in the background of a shell, where Ctrl-C is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

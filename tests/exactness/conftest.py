from __future__ import annotations

import zlib

import numpy as np
import pytest


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed made of the test's own name."""
    return zlib.crc32(request.node.name.encode())


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """A generator seeded by the test's own name."""
    return np.random.default_rng(seed)

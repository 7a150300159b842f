"""Workers that start in a moment."""

import multiprocessing

import pytest


@pytest.fixture(scope="session", autouse=True)
def fork_workers():
    """Let a server that has imported everything fork them, where each would take seconds to do so."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    dask, utils = pytest.importorskip("dask"), pytest.importorskip("distributed.utils")
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        utils.get_mp_context().set_forkserver_preload(["distributed", "tests.helpers.workers"])
        yield

"""Stage 5, where chains run: on threads, on an executor or on a Dask cluster; the sampler does not know which."""

from disaggregate.parallel.dispatch import distribute, run_tasks
from disaggregate.parallel.monitor import Monitor
from disaggregate.parallel.one_blas_thread import one_blas_thread
from disaggregate.parallel.round_robin import run_round_robin
from disaggregate.parallel.runners import Executor, Runner, Watcher
from disaggregate.parallel.threads import Threads

__all__ = [
    "Executor",
    "Monitor",
    "Runner",
    "Threads",
    "Watcher",
    "distribute",
    "one_blas_thread",
    "run_round_robin",
    "run_tasks",
]

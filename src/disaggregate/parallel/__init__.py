"""Stage 5, where it runs: chains are handed to an executor, and the sampler never asks which one."""

from disaggregate.parallel.dispatch import run_tasks
from disaggregate.parallel.hold import hold
from disaggregate.parallel.monitor import Monitor
from disaggregate.parallel.one_blas_thread import one_blas_thread
from disaggregate.parallel.protocol import Executor
from disaggregate.parallel.runners import Runner, Watcher
from disaggregate.parallel.threads import Threads
from disaggregate.parallel.turns import run_in_turns

__all__ = [
    "Executor",
    "Monitor",
    "Runner",
    "Threads",
    "Watcher",
    "hold",
    "one_blas_thread",
    "run_in_turns",
    "run_tasks",
]

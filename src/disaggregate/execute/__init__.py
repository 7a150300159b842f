"""Stage 5, where it runs: chains are handed to an executor, and the sampler never asks which one."""

from disaggregate.execute.dispatch import run_tasks
from disaggregate.execute.hold import hold
from disaggregate.execute.monitor import Monitor
from disaggregate.execute.one_blas_thread import one_blas_thread
from disaggregate.execute.protocol import Executor
from disaggregate.execute.threads import Threads
from disaggregate.execute.turns import Runner, Watcher, run_in_turns

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

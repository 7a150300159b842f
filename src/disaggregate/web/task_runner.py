"""Short tasks in processes of their own: bounded in time, memory and number, so that the page always answers.

Processes are forked from a server that has imported the library already, where the system can do that: a task
starts in milliseconds, and what it does to its memory ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import traceback
from multiprocessing.connection import Connection
from typing import Any

from disaggregate.web import tasks
from disaggregate.web.limits import Limits

POLL_SECONDS = 0.02
_EXPECTED = (ValueError, ImportError, OSError)


class TaskError(Exception):
    """What a task could not do, in words for the user."""


class TaskRunner:
    """Runs functions of :mod:`disaggregate.web.tasks` by their name.

    Parameters
    ----------
    limits : Limits
        Bounds.
    """

    def __init__(self, limits: Limits) -> None:
        kinds = multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("forkserver" if "forkserver" in kinds else "spawn")
        if "forkserver" in kinds:
            multiprocessing.set_forkserver_preload(["disaggregate.web.task_imports"])
        self._limits = limits
        self._free = asyncio.Semaphore(limits.tasks)

    async def warm_up(self) -> None:
        """Let the library be imported before the first task waits for it."""
        with contextlib.suppress(TaskError):
            await self.run("ready")

    async def run(self, name: str, *arguments: Any) -> Any:
        """Run a task and return its result, or raise a TaskError.

        Parameters
        ----------
        name : str
            Function of :mod:`disaggregate.web.tasks`.
        *arguments
            What it is given: plain data.
        """
        async with self._free:
            ours, theirs = self._context.Pipe(duplex=False)
            given = (theirs, name, arguments, self._limits.task_memory)
            process = self._context.Process(target=work, args=given, daemon=True)
            await asyncio.to_thread(process.start)
            theirs.close()
            try:
                return await self._result(ours, process)
            finally:
                ours.close()
                if process.is_alive():
                    process.kill()
                await asyncio.to_thread(process.join)
                process.close()

    async def _result(self, connection: Connection, process: Any) -> Any:
        loop = asyncio.get_running_loop()
        started = loop.time()
        while not connection.poll():
            if not process.is_alive() and not connection.poll():
                raise TaskError(
                    "Too much for this page: the task took too much memory, or was ended from outside."
                )
            waited = loop.time() - started
            if waited > self._limits.task_seconds:
                raise TaskError(f"Too much for this page: it took over {self._limits.task_seconds:.0f} seconds.")
            await asyncio.sleep(POLL_SECONDS if waited < 2.0 else 10 * POLL_SECONDS)
        try:
            is_well, result = connection.recv()
        except EOFError:
            raise TaskError("Too much for this page: the task took too much memory, or was ended.") from None
        if not is_well:
            raise TaskError(result)
        return result


def work(connection: Connection, name: str, arguments: tuple[Any, ...], memory: int) -> None:
    """Run one task in its own process."""
    _bound_memory(memory)
    try:
        answer = (True, getattr(tasks, name)(*arguments))
    except _EXPECTED as error:
        answer = (False, str(error))
    except MemoryError:
        answer = (False, "Too large for this page: reading it takes more memory than is allowed.")
    except Exception:  # an internal error: reported, and the page continues
        answer = (False, f"Something unexpected happened: {traceback.format_exc(limit=-2)}")
    connection.send(answer)
    connection.close()


def _bound_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

"""Chains on Dask workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from disaggregate.parallel.interrupts import is_interrupted

# Seconds between two looks at the workers, and how long they are waited for after an interrupt.
POLL_SECONDS, GRACE_SECONDS = 0.5, 5.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class DaskWorkers:
    """Run tasks on the workers of a cluster; a worker that is lost has its tasks run again elsewhere.

    Parameters
    ----------
    client : distributed.Client
        The cluster. Its workers need this library, in the same version.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """Apply ``function`` to each of ``items``; the results keep their order.

        The tasks are functions of their items alone, so that it does not matter where or how often they run.
        """
        # Not pure: a second fit with the same seed is computed again instead of being looked up on the cluster.
        futures = self._client.map(function, list(items), pure=False)
        _wait_unless_interrupted(self._client, futures)
        return _results(self._client, futures)


class DaskPartitions:
    """Partitions on the workers of a cluster; see :class:`disaggregate.parallel.partitions.Partitions`.

    Every partition is the result of a task, which the scheduler remembers: those of a worker that is lost are made
    again on another one, and what it was working on is computed again there.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    futures : list of distributed.Future
        The partitions.
    """

    def __init__(self, client: Any, futures: list[Any]) -> None:
        self._client, self._futures = client, futures

    @classmethod
    def scattered(cls, client: Any, parts: Sequence[Any]) -> DaskPartitions:
        """Send partitions out one by one, as arguments of tasks: scattered data would be lost with a worker."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return cls(client, [client.submit(_itself, part, pure=False) for part in parts])

    def map(self, function: Callable[..., Any], *shared: Any) -> DaskPartitions:
        """Apply a function to each partition where it is, and leave the results there."""
        return DaskPartitions(self._client, self._submitted(function, [], shared))

    def query(self, function: Callable[..., Any], each: Sequence[Any] | None, *shared: Any) -> list[Any]:
        """Return a result for each partition, computed where it is."""
        own = [None] * len(self._futures) if each is None else each
        return _results(self._client, self._submitted(function, [own], shared))

    def _submitted(
        self, function: Callable[..., Any], each: list[Sequence[Any]], shared: tuple[Any, ...]
    ) -> list[Any]:
        """One message for all partitions: one for each would take the scheduler longer."""
        same = [[item] * len(self._futures) for item in shared]
        return self._client.map(function, self._futures, *each, *same, pure=False)


def _wait_unless_interrupted(client: Any, futures: list[Any]) -> None:
    """Wait for all; after an interrupt not for long, as a terminal interrupts workers on this machine too."""
    from distributed import wait

    patience = GRACE_SECONDS
    while True:
        try:
            wait(futures, timeout=POLL_SECONDS)
            return
        except TimeoutError:
            patience -= POLL_SECONDS if is_interrupted() else 0.0
        except CancelledError:
            return  # there is no scheduler any more, which the results will show
        if patience < 0.0:
            client.cancel(futures)
            raise ConnectionError("the fit was interrupted, and the workers did not come back.")


def _results(client: Any, futures: list[Any]) -> list[Any]:
    """Wait for the results; without a scheduler there will be none."""
    try:
        return client.gather(futures)
    except CancelledError as error:
        raise ConnectionError(
            "the connection to the Dask scheduler was lost, and its work too. After a fit with checkpoint=, fit "
            "again with resume=True, on another cluster or without executor=, and it continues to the same draws."
        ) from error
    except BaseException:
        client.cancel(futures)
        raise


def _itself(part: Item) -> Item:
    return part


def executor_of(candidate: Any) -> Any:
    """Return an executor of a Dask client; any other executor is one already."""
    return DaskWorkers(candidate) if is_dask_client(candidate) else candidate


def is_dask_client(candidate: Any) -> bool:
    """Return whether this is a Dask client, without importing Dask, which few fits need."""
    return any(
        f"{kind.__module__}.{kind.__qualname__}" == "distributed.client.Client" for kind in type(candidate).__mro__
    )

"""Chains on Dask workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

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
        # Not pure: a second fit with the same seed is worked out again, and not looked up on the cluster.
        futures = self._client.map(function, list(items), pure=False)
        try:
            return self._client.gather(futures)
        except BaseException:
            self._client.cancel(futures)
            raise


class HeldByDask:
    """Parts on the workers of a cluster; see :class:`disaggregate.execute.held.Held`.

    Every part is the result of a task, which the scheduler remembers: the parts of a worker that is lost are made
    again on another one, and questions that it was working on are asked again there.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    futures : list of distributed.Future
        The parts.
    """

    def __init__(self, client: Any, futures: list[Any]) -> None:
        self._client, self._futures = client, futures

    @classmethod
    def scattered(cls, client: Any, parts: Sequence[Any]) -> HeldByDask:
        """Send parts out one by one, as arguments of tasks: scattered data would be lost with a worker."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return cls(client, [client.submit(_itself, part, pure=False) for part in parts])

    def then(self, function: Callable[..., Any], *shared: Any) -> HeldByDask:
        """Apply a function to each part where it is, and leave the results there."""
        return HeldByDask(self._client, self._submitted(function, [()] * len(self._futures), shared))

    def ask(self, function: Callable[..., Any], each: Sequence[Any] | None, *shared: Any) -> list[Any]:
        """Ask each part where it is."""
        own = [None] * len(self._futures) if each is None else each
        futures = self._submitted(function, [(item,) for item in own], shared)
        try:
            return self._client.gather(futures)
        except BaseException:
            self._client.cancel(futures)
            raise

    def _submitted(self, function: Callable[..., Any], own: list[tuple], shared: tuple[Any, ...]) -> list[Any]:
        return [
            self._client.submit(function, part, *mine, *shared, pure=False)
            for part, mine in zip(self._futures, own, strict=True)
        ]


def _itself(part: Item) -> Item:
    return part


def is_dask_client(candidate: Any) -> bool:
    """Tell a Dask client without importing Dask, which few fits need."""
    return any(
        f"{kind.__module__}.{kind.__qualname__}" == "distributed.client.Client" for kind in type(candidate).__mro__
    )

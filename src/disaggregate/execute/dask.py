"""Chains on Dask workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def is_dask_client(candidate: Any) -> bool:
    """Tell a Dask client without importing Dask, which few fits need."""
    return any(
        f"{kind.__module__}.{kind.__qualname__}" == "distributed.client.Client" for kind in type(candidate).__mro__
    )

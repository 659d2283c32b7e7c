"""The workers of a cluster or, where there is none, dask's own scheduler in this process.

Both take a function and columns of arguments, one entry for each partition, and return handles of the results; `fetch`
brings results here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from time import monotonic
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import dask
import distributed
from distributed.scheduler import KilledWorker

from pegasos.errors import PegasosError

PREFIX = "pegasos-"  # of the names of all tasks
_LOOK_SECONDS = 0.5  # seconds between checks that the workers are still alive
_SMALL_BYTES = 65536
most_lost = 5  # most times that workers may be lost in one piece of work
too_many_lost = (
    f"workers were lost {most_lost} times in one piece of work; give them more memory or smaller partitions."
)
_NO_SCHEDULER = (
    "the connection to the scheduler is lost, and with it all partitions; start it again, connect a new client, and "
    "fit again."
)


class WorkerLostError(Exception):
    """A worker that had partitions is gone."""


class Workers(Protocol):
    """The interface of the workers."""

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Return handles of the blocks, computed and kept where they are."""

    def locate(self, blocks: Sequence[Any]) -> None:
        """Locate the blocks once they are computed: work on a block is done only where it is."""

    def place(self, value: Any) -> Any:
        """Send one value to all workers, separately from the tasks or, if it is small, with them."""

    def map(self, function: Callable[..., Any], places: Sequence[int], *columns: Sequence[Any]) -> list[Any]:
        """Return handles of the function's results on the arguments, each where the block of that number is."""

    def fetch(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results."""


def workers_of(client: Any, timeout: float | None) -> Workers:
    """The workers of the given client, or of the current one; without one, this process."""
    if client is None:
        client = _current_client()
        if client is None:
            return InThisProcess()
    if not isinstance(client, distributed.Client):
        raise PegasosError(f"client must be a dask.distributed.Client or None, got {client!r}.")
    if client.asynchronous:
        raise PegasosError(
            "the client is asynchronous, and a fit waits for its end; connect one without asynchronous=True."
        )
    if client.status != "running":
        raise PegasosError(f"the client is {client.status}; connect a new one to the cluster.")
    return OnCluster(client, timeout)


def _current_client() -> Any:
    """None if there is no client, and within a task, which would block its own slot while waiting for others."""
    try:
        distributed.get_worker()
        return None
    except ValueError:
        pass
    try:
        return distributed.get_client()
    except ValueError:
        return None


def patiently(workers: Workers, blocks: Sequence[Any], work: Callable[[], Any]) -> Any:
    """Work on blocks once they are available; if a worker is lost, repeat as soon as its blocks are back."""
    for _ in range(most_lost):
        try:
            workers.locate(blocks)
            return work()
        except WorkerLostError:
            continue
    raise PegasosError(too_many_lost)


class InThisProcess:
    """The scheduler that ``dask.config`` names, threads by default; a handle is the result itself."""

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """The blocks."""
        return list(dask.compute(*delayed))

    def locate(self, blocks: Sequence[Any]) -> None:
        """They are here."""

    def place(self, value: Any) -> Any:
        """It is here."""
        return value

    def map(self, function: Callable[..., Any], places: Sequence[int], *columns: Sequence[Any]) -> list[Any]:
        """One task for each row of the columns."""
        task = dask.delayed(function, pure=False, traverse=False)
        return list(dask.compute(*(task(*arguments) for arguments in zip(*columns, strict=True))))

    def fetch(self, handles: Sequence[Any]) -> list[Any]:
        """Themselves."""
        return list(handles)


class OnCluster:
    """The workers of a cluster; a handle is a future."""

    def __init__(self, client: Any, timeout: float | None):
        self.client, self.timeout = client, timeout
        self.addresses: list[str] = []  # worker address of each block
        # futures, and the only worker that may compute them
        self.bound: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Futures of the blocks. Dask chooses the workers, again if one dies."""
        return list(self.client.compute(list(delayed)))

    def locate(self, blocks: Sequence[Any]) -> None:
        """Wait for all blocks. What dask cannot recompute is lost for good."""
        try:
            self._wait(blocks)
        except CancelledError as error:
            self._check_scheduler()
            lost = [k for k, block in enumerate(blocks) if block.status != "finished"]
            raise PegasosError(
                f"partitions {lost} were lost with their worker, and dask cannot recompute them: build them "
                "from files or tasks and not by scatter."
            ) from error
        except KilledWorker as error:
            failed = [k for k, block in enumerate(blocks) if block.status == "error"]
            what = f"partition {failed[0]}" if len(failed) == 1 else f"one of the partitions {failed}"
            raise PegasosError(
                f"{what} kills the workers that make it, probably for lack of memory; cut the rows into smaller "
                f"partitions, or give the workers more memory. {error}"
            ) from error
        except (OSError, ValueError, KeyError, MemoryError) as error:
            failed = [k for k, block in enumerate(blocks) if block.status == "error"]
            if isinstance(error, PegasosError) or not failed:
                raise
            raise PegasosError(f"partition {failed[0]} cannot be made: {type(error).__name__}: {error}") from error
        where = self._asked(self.client.who_has, list(blocks))
        if not all(where.get(block.key) for block in blocks):
            raise WorkerLostError
        self.addresses = [sorted(where[block.key])[0] for block in blocks]

    def place(self, value: Any) -> Any:
        """Send to every worker once, whatever the number of its partitions; a small value goes with the tasks."""
        if value.nbytes <= _SMALL_BYTES:
            return value
        self._check_scheduler()
        try:
            return self.client.scatter([value], broadcast=True, hash=False)[0]
        except (OSError, CancelledError, TimeoutError) as error:
            raise WorkerLostError from error

    def map(self, function: Callable[..., Any], places: Sequence[int], *columns: Sequence[Any]) -> list[Any]:
        """Bind each task to the worker of its block, so that rows never move."""
        self._check_scheduler()
        of_address: dict[str, list[int]] = {}
        for position, block in enumerate(places):
            of_address.setdefault(self.addresses[block], []).append(position)
        futures: list[Any] = [None] * len(places)
        for address, positions in of_address.items():
            arguments = [[column[position] for position in positions] for column in columns]
            # The dashboard shows the progress of each name, up to the first part that is not a word.
            name = PREFIX + getattr(function, "func", function).__name__.replace("_", "-")
            made = self.client.map(function, *arguments, workers=[address], pure=False, key=name)
            for position, future in zip(positions, made, strict=True):
                futures[position] = future
                self.bound[future] = address
        return futures

    def fetch(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for results while monitoring the workers: one may die even while it transfers its results."""
        try:
            self._wait(handles)
            return self._gathered(handles)
        except (CancelledError, KilledWorker) as error:
            raise WorkerLostError from error

    def _gathered(self, handles: Sequence[Any]) -> list[Any]:
        gathering = self.client.gather(list(handles), asynchronous=True)
        task = asyncio.run_coroutine_threadsafe(gathering, self.client.loop.asyncio_loop)
        begun = monotonic()
        try:
            while True:
                try:
                    return list(task.result(_LOOK_SECONDS))
                except TimeoutError:
                    self._look_after(handles, monotonic() - begun)
        finally:
            task.cancel()

    def _wait(self, futures: Sequence[Any]) -> None:
        begun = monotonic()
        while True:
            try:
                with self.client.as_current():  # `wait` takes the current client, which may be another one
                    distributed.wait(list(futures), timeout=_LOOK_SECONDS)
                break
            except TimeoutError:
                self._look_after(futures, monotonic() - begun)
        for future in futures:
            if future.status == "error":
                future.result()  # raises what the task raised

    def _look_after(self, futures: Sequence[Any], seconds: float) -> None:
        """Check that the workers are alive, because a bound task would wait for its worker forever."""
        late = [future for future in futures if not future.done()]
        if not {self.bound[future] for future in late if future in self.bound} <= set(
            self._asked(self.client.nthreads)
        ):
            raise WorkerLostError
        if self.timeout is not None and seconds > self.timeout:
            raise PegasosError(f"{self._who_is_late(late)} after timeout={self.timeout:g} seconds; look at its log.")

    def _asked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the scheduler answers."""
        self._check_scheduler()
        try:
            return function(*arguments)
        except (OSError, CancelledError) as error:
            raise PegasosError(_NO_SCHEDULER) from error

    def _check_scheduler(self) -> None:
        """Without its scheduler a client answers nothing, and some of its calls wait for a new one."""
        if self.client.status != "running":
            raise PegasosError(_NO_SCHEDULER)

    def _who_is_late(self, late: Sequence[Any]) -> str:
        keys = {future.key for future in late}
        names = {self.bound[future] for future in late if future in self.bound}
        names |= {address for address, tasks in self.client.processing().items() if keys & set(tasks)}
        if not names:
            return f"no worker of {self.client!r} has taken up the work"
        return f"worker {', '.join(sorted(names))} had not finished its partitions"

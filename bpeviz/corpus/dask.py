"""Count a corpus on a Dask cluster: workers count parts, and this process adds the counts.

Dask is imported only when used. The count and the first position of a pre-token do not depend on
the order of the parts, so the result equals counting on one machine.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import regex

from bpeviz.corpus.files import PART_BYTES, CorpusError, CorpusPart, parts, read
from bpeviz.pretokenizers.counts import PreTokenCounts, Tally, count_blocks
from bpeviz.pretokenizers.patterns import SplitError

CONNECT_TIMEOUT = 10.0
"""The time limit for a scheduler to answer, in seconds."""

SCHEDULER_SECONDS = 60.0
"""The time limit without a worker or scheduler, in seconds."""

_AHEAD = 4
"""Number of parts submitted per thread of the workers."""

_POLL = 2.0
"""Seconds between two checks of the workers."""


class ClusterError(ValueError):
    """A cluster failed to count the corpus; the message is user-facing."""


def count(
    address: str,
    paths: Sequence[str],
    pattern: str,
    expression: str = "",
    *,
    part: int = PART_BYTES,
    patience: float | None = None,
    connecting: float | None = None,
) -> PreTokenCounts:
    """Count the pre-tokens of files, as one text, on the workers of a Dask scheduler.

    The workers must have the files at the same paths and the same version of bpeviz. If a worker is
    lost, another one counts its parts.

    Args:
        address: The scheduler, such as "tcp://127.0.0.1:8786".
        paths: The files.
        pattern: The pre-tokenization pattern.
        expression: The expression of the pattern.
        part: The approximate size of a part in bytes.
        patience: The time limit without a worker in seconds, by default `SCHEDULER_SECONDS`.
        connecting: The time limit for the scheduler in seconds, by default `CONNECT_TIMEOUT`.

    Raises:
        ClusterError: The cluster cannot count the corpus.
        CorpusError: A file cannot be read as text.
        SplitError: The pattern is unknown, not valid, or took too long.
    """
    try:
        import distributed as dask
    except ImportError:
        raise ClusterError(
            "Counting on a cluster requires Dask, which is not installed here. Install it: "
            "python -m pip install distributed"
        ) from None

    patience = SCHEDULER_SECONDS if patience is None else patience
    connecting = CONNECT_TIMEOUT if connecting is None else connecting
    wait: Any = dask.wait
    tally = Tally(pattern, expression)
    waiting = parts([str(Path(path).absolute()) for path in paths], pattern, part)
    with _quiet(), _connected(dask, address, connecting) as client:
        running: set[Any] = set()
        seen = time.monotonic()  # the last time with a worker
        room = 1
        while True:
            for _ in range(room - len(running)):
                next_part = next(waiting, None)
                if next_part is None:
                    break
                running.add(client.submit(_count_part, next_part, pattern, expression, pure=False))
            if not running:
                return tally.result()
            threads = _threads(client)
            if threads:
                seen, room = time.monotonic(), _AHEAD * threads
            elif time.monotonic() - seen > patience:
                raise ClusterError(
                    f"The scheduler at {address} has had no workers for {patience:g} seconds."
                    if threads == 0
                    else f"The scheduler at {address} has not responded for {patience:g} seconds."
                )
            try:
                done, _ = wait(running, timeout=_POLL, return_when="FIRST_COMPLETED")
            except TimeoutError:
                continue
            for future in done:
                tally.add(_result(dask, future, address))
            running -= done


def _count_part(part: CorpusPart, pattern: str, expression: str) -> tuple[str, PreTokenCounts]:
    """Count a part on a worker; return the version of its `regex` package and the counts."""
    counts = count_blocks(read(part.spans), pattern, expression, at=part.at)
    return regex.__version__, counts


def _result(dask: Any, future: Any, address: str) -> PreTokenCounts:
    """Return the counts of a worker. Raises the errors of `count`."""
    try:
        version, counts = future.result()
    except (CorpusError, SplitError, CancelledError):
        raise
    except dask.KilledWorker:
        raise ClusterError(
            "Several workers crashed while counting the same part of the corpus. They may need "
            "more memory."
        ) from None
    except MemoryError:
        raise ClusterError("A worker ran out of memory.") from None
    except Exception as error:  # any error on the worker
        details = " ".join(f"{type(error).__name__}: {error}".split())
        raise ClusterError(
            "A worker failed. Check that all workers have the same version of bpeviz. "
            f"Its error: {details[:300]}"
        ) from error
    if version != regex.__version__:
        raise ClusterError(
            f"A worker has version {version} of the package regex, and this machine has "
            f"{regex.__version__}. Their Unicode tables may differ. Install the same version."
        )
    trusted: PreTokenCounts = counts
    return trusted


def _threads(client: Any) -> int | None:
    """Return the number of threads of the workers, or None if the scheduler does not respond."""
    try:
        workers = client.sync(client.scheduler.ncores, callback_timeout=_POLL)
        return sum(map(int, workers.values()))
    except (OSError, TimeoutError, ValueError):
        return None


@contextmanager
def _connected(dask: Any, address: str, connecting: float) -> Iterator[Any]:
    """Connect to a scheduler, and disconnect at the end. Raises `ClusterError`."""

    async def identify() -> Any:
        async with dask.rpc(address) as scheduler:
            return await scheduler.identity()

    async def identify_in_time() -> Any:
        # Without this limit, a client waits forever if a server accepts the connection only.
        return await asyncio.wait_for(identify(), connecting)

    try:
        # In a thread of its own: in a notebook, this one already runs an event loop.
        with ThreadPoolExecutor(1) as executor:
            identity = executor.submit(asyncio.run, identify_in_time()).result()
        if identity["type"] != "Scheduler":
            raise ValueError("the server is not a scheduler")
        client = dask.Client(address, timeout=connecting, set_as_default=False)
    except TimeoutError:
        raise ClusterError(
            f"No Dask scheduler responded at {address} within {connecting:g} seconds."
        ) from None
    except Exception as error:  # not an address, or another kind of server
        raise ClusterError(f"There is no Dask scheduler at {address}: {error}.") from error
    try:
        with client.as_current():
            yield client
    except CancelledError:
        raise ClusterError(f"The connection to the scheduler at {address} was lost.") from None
    finally:
        client.close(timeout=connecting)


@contextmanager
def _quiet() -> Iterator[None]:
    """Disable Dask's log on standard error; errors are still raised."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)

"""Counting a corpus on a Dask cluster: its workers count parts; what they find is added up here.

Dask is asked for only where it is used. The same parts would be counted on this machine, and a
pre-token's count and first place do not depend on who counts first; so the result is the same.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import regex

from bpeviz.corpus.files import PART, CorpusError, Part, parts, read
from bpeviz.pretokenizers.counts import PreTokenCounts, Tally, count_blocks
from bpeviz.pretokenizers.patterns import SplitError

CONNECTING = 10.0
"""Seconds in which a scheduler must answer."""

PATIENCE = 60.0
"""Seconds after which it is over, if there is no worker or the scheduler is gone."""

_AHEAD = 4
"""Parts that wait or are counted, for each thread of the workers."""

_GLANCE = 2.0
"""Seconds between two looks whether anybody is still there."""


class ClusterError(ValueError):
    """A cluster that cannot do the work; the message is a sentence."""


def count(
    address: str,
    paths: Sequence[str],
    pattern: str,
    expression: str = "",
    *,
    part: int = PART,
    patience: float | None = None,
    connecting: float | None = None,
) -> PreTokenCounts:
    """Count the pre-tokens of files, which are one text, on the workers of a Dask scheduler.

    address: of the scheduler, such as "tcp://127.0.0.1:8786". part: bytes of a part, more or less.
    patience, connecting: seconds; None: `PATIENCE` and `CONNECTING`.

    The workers must see the files under the same names, and import the same bpeviz. A part that a
    lost worker had is counted by another. Raises `ClusterError`, `CorpusError` and `SplitError`.
    """
    try:
        import distributed as dask
    except ImportError:
        raise ClusterError(
            "To count on a cluster, Dask is needed, which is not installed here. Install it: "
            "python -m pip install distributed"
        ) from None

    patience = PATIENCE if patience is None else patience
    connecting = CONNECTING if connecting is None else connecting
    wait: Any = dask.wait
    tally = Tally(pattern, expression)
    waiting = parts([str(Path(path).absolute()) for path in paths], pattern, part)
    with _quiet(), _connected(dask, address, connecting) as client:
        running: set[Any] = set()
        seen = time.monotonic()  # when there was last a worker
        room = 1
        while True:
            for _ in range(room - len(running)):
                one = next(waiting, None)
                if one is None:
                    break
                running.add(client.submit(_count_part, one, pattern, expression, pure=False))
            if not running:
                return tally.result()
            threads = _threads(client)
            if threads:
                seen, room = time.monotonic(), _AHEAD * threads
            elif time.monotonic() - seen > patience:
                raise ClusterError(
                    f"The scheduler at {address} has had no worker for {patience:g} seconds."
                    if threads == 0
                    else f"The scheduler at {address} has not answered for {patience:g} seconds."
                )
            try:
                done, _ = wait(running, timeout=_GLANCE, return_when="FIRST_COMPLETED")
            except TimeoutError:
                continue
            for future in done:
                tally.add(_result(dask, future, address))
            running -= done


def _count_part(part: Part, pattern: str, expression: str) -> tuple[str, PreTokenCounts]:
    """Count a part, on a worker; return also what tells letters from digits there."""
    counts = count_blocks(read(part.spans), pattern, expression, at=part.at)
    return regex.__version__, counts


def _result(dask: Any, future: Any, address: str) -> PreTokenCounts:
    """Return what a worker counted. Raises `ClusterError`, and what `count` names."""
    try:
        version, counts = future.result()
    except (CorpusError, SplitError, CancelledError):
        raise
    except dask.KilledWorker:
        raise ClusterError(
            "A part of the corpus ended several workers, one after the other. Perhaps they have "
            "too little memory."
        ) from None
    except MemoryError:
        raise ClusterError("A worker has too little memory for its part.") from None
    except Exception as error:  # whatever went wrong there
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise ClusterError(
            f"The workers could not count. Do they have the same bpeviz? They say: {what[:300]}"
        ) from error
    if version != regex.__version__:
        raise ClusterError(
            f"A worker has version {version} of the package regex, here is {regex.__version__}: "
            "they may not agree what a letter is. Install the same."
        )
    found: PreTokenCounts = counts
    return found


def _threads(client: Any, patience: float = _GLANCE) -> int | None:
    """Return how many threads the workers have; None if the scheduler does not say."""
    try:
        workers = client.sync(client.scheduler.ncores, callback_timeout=patience)
        return sum(map(int, workers.values()))
    except (OSError, TimeoutError, ValueError):
        return None


@contextmanager
def _connected(dask: Any, address: str, connecting: float) -> Iterator[Any]:
    """Connect to a scheduler, and leave it in the end. Raises `ClusterError`."""

    async def ask() -> Any:
        async with dask.rpc(address) as scheduler:
            return await scheduler.identity()

    async def ask_in_time() -> Any:
        # A client by itself would wait for ever for one that takes the call and says nothing.
        return await asyncio.wait_for(ask(), connecting)

    try:
        if asyncio.run(ask_in_time())["type"] != "Scheduler":
            raise ValueError("there is no scheduler")
        client = dask.Client(address, timeout=connecting, set_as_default=False)
    except TimeoutError:
        raise ClusterError(
            f"No Dask scheduler answered at {address} within {connecting:g} seconds."
        ) from None
    except Exception as error:  # an address that is none, or something else that answers there
        raise ClusterError(f"There is no Dask scheduler at {address}: {error}.") from error
    try:
        with client.as_current():
            yield client
    except CancelledError:
        raise ClusterError(f"The scheduler at {address} went away while it was at work.") from None
    finally:
        client.close(timeout=connecting)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep from standard error what Dask tells its operators; what matters here is raised."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)

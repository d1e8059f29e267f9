"""Files of users, read by functions that workers call.

A file can take any time and memory: an expression backtracks, or an archive is a bomb. So the
server's process parses none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from bpeviz import limits
from bpeviz.jobs import processors, worker
from bpeviz.text import counted
from bpeviz.workers.child import Child, EndedError, StartError
from bpeviz.workers.pool import BusyError, Places, Pool, Request

Value = TypeVar("Value")

QUEUE_SECONDS = 30.0
"""Seconds that a file waits for a worker."""

LARGEST_RESULT = 300_000_000
"""The most bytes of a result, pickled: a table has its cells beside its content."""

_pool = Pool(
    lambda key: Child(worker.__name__),
    Places(max(2, processors.available())),
    patience=QUEUE_SECONDS,
    large=300_000_000,
)


def read(
    name: str, refusal: type[ValueError], function: Callable[..., Value], *arguments: object
) -> Value:
    """Return the result of a function that a worker calls.

    Args:
        name: The name of the file, for messages.
        refusal: The error where a limit stops it.
        function: A function of a module without Streamlit.
        arguments: Its arguments. A `PickleBuffer` is sent without a copy, as a `memoryview`.

    Raises:
        ValueError: The function raises it, or a limit stops it; the message is user-facing.
    """
    request = Request()
    try:
        with _pool.worker(request) as child:
            is_result, parts = child.ask(
                worker.CALL,
                *worker.packed((function, arguments, LARGEST_RESULT)),
                seconds=limits.LIBRARY_SECONDS,
                memory=limits.LIBRARY_MEMORY * 1_000_000,
                listen=lambda code, parts: worker.reply(parts, request.user),
            )
    except (BusyError, StartError) as error:
        raise refusal(f"The server is too busy to read {name}. Try again.") from error
    except EndedError as error:
        raise refusal(f"Reading {name} was interrupted: {error}. Try again.") from error
    except (TimeoutError, MemoryError) as error:
        limit = f"{limits.LIBRARY_MEMORY:,} MB of memory"
        if isinstance(error, TimeoutError):
            limit = counted(limits.LIBRARY_SECONDS, "second")
        raise refusal(f"Reading {name} takes more than {limit}, this server's limit.") from error
    if is_result:
        return cast(Value, worker.unpacked(parts))
    if not parts:
        most = f"{LARGEST_RESULT // 1_000_000} MB"
        raise refusal(f"{name} contains more than {most}, this server's limit.")
    raised, cause = worker.unpacked(parts)
    raise raised from cause


def start() -> None:
    """Start a worker before it is needed, and keep one free."""
    _pool.spares = 1
    _pool.start_spare()


def stop() -> None:
    """End all workers."""
    _pool.close()

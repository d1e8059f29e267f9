"""Apply tokenizer files with their libraries in workers, which can be killed.

A file from a user runs native code: a chain of `Replace` normalizers aborts its process for lack of
memory, and a regular expression may backtrack for hours. So each file has a worker of its own
(`bpeviz.libraries.worker`) with limits of time and memory. This process never loads it.

If a file has no worker, a new one replaces an unused one: of the user who has loaded the most
files, the one unused for longest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.util import find_spec

from bpeviz import context, installation, limits
from bpeviz.libraries import worker
from bpeviz.workers.child import Child, OvertimeError, StartError
from bpeviz.workers.pool import BusyError, Places, Pool, Request

QUEUE_SECONDS = 30.0
"""Seconds that a request waits for a worker."""

_PER_BYTE = 1_000
"""Bytes of memory added for each byte of a text."""

_PER_MEGABYTE = 5.0
"""Processor seconds added for each megabyte of a text."""

_MEMORY = dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(2**25))
"""Settings of glibc: a worker keeps up to 32 MB for the next text.

Otherwise it returns them after each text, and zeroing the pages again takes a third of the time.
"""


class LibraryError(ValueError):
    """A library refuses a file or a text; the message is a clause with the reason."""


@dataclass(frozen=True)
class File:
    """A tokenizer file and the library that applies it.

    Attributes:
        library: A constant of `worker`.
        content: The bytes of the file.
        key: Its digest.
    """

    library: str = field(compare=False)
    content: bytes = field(repr=False, compare=False)
    key: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        digest = blake2b(self.content, digest_size=16, salt=self.library.encode()).digest()
        object.__setattr__(self, "key", digest)


def _allowed(operation: str, payload: bytes) -> tuple[float, int]:
    """Return the limits of a request: processor seconds, and bytes of address space."""
    seconds, memory = float(limits.LIBRARY_SECONDS), limits.LIBRARY_MEMORY * 1_000_000
    if operation != worker.LOAD:
        seconds += _PER_MEGABYTE * len(payload) / 1e6
        memory += _PER_BYTE * len(payload)
    return seconds, memory


_BUSY = (
    "the server limits how many tokenizer files are applied at once, and is busy with those of "
    "other users. Try again in a minute"
)
_BUSY_OWN = "a tokenizer file is busy in another of your tabs. Try again when it is done"
_OVERTIME = f"it takes more than {limits.LIBRARY_SECONDS} seconds"
_ABORTED = f"the library stopped, or needs more than {limits.LIBRARY_MEMORY:,} MB of memory"


def _start(file: File) -> Child:
    spec = find_spec(file.library)
    if spec is None or spec.origin is None:
        raise LibraryError(installation.missing(file.library))
    return Child(worker.__name__, spec.origin, **_MEMORY)


_places = Places(limits.LIBRARY_PROCESSES, limits.USER_LIBRARY_PROCESSES)
_pool = Pool(_start, _places, patience=QUEUE_SECONDS)


def ask(file: File, operation: str, payload: bytes = b"", *, reuse: bool = True) -> bytes:
    """Return the result of an operation of `bpeviz.libraries.worker` with a file.

    Args:
        file: The file.
        operation: The operation.
        payload: Its argument: a text in UTF-8, or ids.
        reuse: Whether the worker may be reused.

    Raises:
        LibraryError: The library refuses the file or the text, or a limit stops it.
    """
    answer: bytes = context.current().call(_ask, file, operation, payload, reuse)
    return answer


def _ask(file: File, operation: str, payload: bytes, reuse: bool, user: str | None = None) -> bytes:
    """Do what `ask` does, for the user of a request. Raises `LibraryError`."""
    try:
        with _pool.worker(Request(user, file, reuse=reuse)) as child:
            if child.info is None:
                child.info = _answer(child, file, worker.LOAD, file.content)
            if operation == worker.LOAD:
                return child.info
            return _answer(child, file, operation, payload)
    except StartError as error:
        raise LibraryError(f"its process could not be used: {error}. Try again") from error
    except BusyError as error:
        raise LibraryError(_BUSY_OWN if error.own else _BUSY) from error
    except OvertimeError:
        raise LibraryError(_OVERTIME) from None
    except TimeoutError as error:  # on a busy machine, another attempt may succeed
        raise LibraryError(_OVERTIME) from error
    except MemoryError:
        raise LibraryError(_ABORTED) from None


def _answer(child: Child, file: File, operation: str, payload: bytes) -> bytes:
    seconds, memory = _allowed(operation, payload)
    parts = (file.library.encode(), operation.encode(), payload)
    is_result, content = child.ask(0, *parts, seconds=seconds, memory=memory)
    if not is_result:
        raise LibraryError(f"{file.library} refuses it: {str(content[0], 'utf-8')}")
    return bytes(content[0])

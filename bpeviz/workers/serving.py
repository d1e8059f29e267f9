"""The loop of a worker process, which answers the requests of `bpeviz.workers.child`.

A frame is a header and parts of bytes; a request and an answer are one each. This file imports
only the standard library, since many workers do not import the package.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import FileIO
from mmap import mmap

HEADER = struct.Struct("<BdQI")
"""The code, the limits of a request (processor seconds, bytes of memory), the number of parts."""

Buffer = bytearray | mmap
"""A part that was read."""

READY, RESULT, REFUSED, MEMORY = range(4)
"""Codes of the first frame, and of answers: a result, the reason why there is none, or a lack of
memory. Higher codes are messages that a worker sends before its answer."""

WORKER_CLOCK = 4
"""A worker may take this many times its processor seconds by the clock, on a busy machine."""

_UNLIMITED = -1

_MAPPED = 1_000_000
"""Bytes from which a part has a memory map of its own."""


class Refused(Exception):  # noqa: N818 - not an error of the worker
    """A request has no result. Its arguments are the parts of the answer."""


def write(
    file: FileIO, code: int, *parts: bytes | memoryview, seconds: float = 0.0, memory: int = 0
) -> None:
    """Write a frame. Raises `OSError` if the other process has ended."""
    views = [memoryview(part).cast("B") for part in parts]
    sizes = struct.pack(f"<{len(views)}Q", *(view.nbytes for view in views))
    header = HEADER.pack(code, seconds, memory, len(views)) + sizes
    for rest in (memoryview(header), *views):
        while rest:
            rest = rest[file.write(rest) :]


def read(file: FileIO) -> tuple[int, list[Buffer], float, int]:
    """Return a frame: the code, the parts and the limits. Raises `OSError` where it ends."""
    code, seconds, memory, number = HEADER.unpack(_read(file, HEADER.size))
    sizes = struct.unpack(f"<{number}Q", _read(file, 8 * number))
    return code, [_read(file, size) for size in sizes], seconds, memory


def _read(file: FileIO, size: int) -> Buffer:
    # A map is filled with zeros while other threads run, and returned to the system afterwards.
    content = bytearray(size) if size < _MAPPED else mmap(-1, size)
    rest = memoryview(content)
    while rest:
        read = file.readinto(rest)
        if not read:
            raise BrokenPipeError
        rest = rest[read:]
    return content


def serve(
    answer: Callable[[int, Sequence[Buffer]], Sequence[bytes | memoryview]],
    niceness: int = 0,
    idle: float = 0.0,
) -> None:
    """Answer requests within their limits until the server ends or closes the pipe.

    Args:
        answer: Returns the result of a request, or raises `Refused`.
        niceness: By how much this process yields to others.
        idle: The seconds without a request after which it exits; 0 means never.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this one
    sys.stdout = sys.stderr  # prints must not mix with the answers
    with suppress(AttributeError, OSError):
        os.nice(niceness)
    # If the machine runs out of memory, Linux ends a worker rather than the server.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
        file.write("1000")
    base = _address_space()
    result: Sequence[bytes | memoryview]
    with suppress(BrokenPipeError):
        send(READY)
        while True:
            _exit_after(idle, by_clock=True)
            operation, parts, seconds, memory = receive()
            _exit_after(seconds)
            _limit_memory(base + memory if base else _UNLIMITED)
            try:
                code, result = RESULT, answer(operation, parts)
            except Refused as error:
                code, result = REFUSED, error.args
            except (MemoryError, ImportError):  # the latter where a library does not fit
                code, result = MEMORY, ()
            _exit_after(0)
            _limit_memory(_UNLIMITED)
            send(code, *result)
            result, parts = (), []


def send(code: int, *parts: bytes | memoryview) -> None:
    """Send a frame from a worker to the server. Raises `OSError` if it has ended."""
    write(FileIO(1, "w", closefd=False), code, *parts)


def receive() -> tuple[int, list[Buffer], float, int]:
    """Return the next frame that the server sends to this worker."""
    return read(FileIO(0, closefd=False))


def _exit_after(seconds: float, *, by_clock: bool = False) -> None:
    """Exit after some seconds, even while native code runs; 0 means never.

    Args:
        seconds: Processor seconds.
        by_clock: Whether they are seconds of the clock instead.
    """
    if hasattr(signal, "setitimer"):  # the signal's default action ends the process
        signal.setitimer(signal.ITIMER_REAL if by_clock else signal.ITIMER_PROF, seconds)
        if by_clock:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
    elif seconds:  # later than the server ends it
        faulthandler.dump_traceback_later(
            seconds if by_clock else 2 * WORKER_CLOCK * seconds, exit=True
        )
    else:
        faulthandler.cancel_dump_traceback_later()


def _address_space() -> int:
    """Return the bytes of address space of this process, or 0 if the system hides them."""
    with suppress(OSError, AttributeError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _limit_memory(size: int) -> None:
    """Limit the address space of this process, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on every system

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would contain the text
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard if size < 0 else size, hard))

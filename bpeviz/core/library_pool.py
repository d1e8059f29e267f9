"""Apply tokenizer files with their libraries in child processes, which can be killed.

A file from a user runs native code: a chain of `Replace` normalizers aborts its process for lack of
memory, and a regular expression may backtrack for hours. So each file has a child of its own
(`bpeviz.core.library_worker`) with limits of time and memory. This process never loads it.

Children are reused. If there is none for a file, a new one replaces an unused one: of the user who
has loaded the most files, the one unused for longest. A user has a share of the requests that run
at once.
"""

from __future__ import annotations

import signal
import threading
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.util import find_spec
from time import monotonic

from bpeviz import limits, users
from bpeviz.core import library_worker as worker
from bpeviz.pretokenizers import child_process
from bpeviz.pretokenizers.child_process import ChildPool, ChildProcess

AT_ONCE = limits.LIBRARY_PROCESSES
"""The largest number of children."""

SHARE = limits.USER_LIBRARY_PROCESSES
"""The largest number of them that work for a user at once."""

IDLE = 600.0
"""Seconds after which an unused child ends."""

LATE = 0.1
"""Seconds after which the pause of a request begins."""

PATIENCE = 30.0
"""Seconds that a request waits for a child."""

_START = 20.0
"""Seconds of the clock added to the time limit of a request, to start a child on a busy machine."""

_PER_BYTE = 1_000
"""Bytes of memory added for each byte of a text."""

_PER_MEGABYTE = 5.0
"""Processor seconds added for each megabyte of a text."""

_LIBRARIES = {
    worker.HUGGING_FACE: "tokenizers",
    worker.SENTENCEPIECE: "sentencepiece",
    worker.MERGES: "json",
    worker.CHAT_TEMPLATE: "jinja2",
}

_MEMORY = dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(2**25))
"""Settings of glibc: a child keeps up to 32 MB for the next text.

Otherwise it returns them after each text, and zeroing the pages again takes a third of the time.
"""

_OUT_OF_TIME = -signal.SIGPROF if hasattr(signal, "SIGPROF") else None
"""The exit code of a child that ended itself after its time limit, where the system has timers."""


class LibraryError(ValueError):
    """A library refuses a file or a text; the message is a clause with the reason."""


@dataclass(frozen=True, eq=False)
class File:
    """A tokenizer file and the library that applies it.

    Attributes:
        library: A constant of `library_worker`.
        content: The bytes of the file.
        key: Its identity, by its content.
    """

    library: int
    content: bytes = field(repr=False)
    key: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        digest = blake2b(self.content, digest_size=16, salt=bytes([self.library])).digest()
        object.__setattr__(self, "key", digest)

    @property
    def library_name(self) -> str:
        """The name of the library."""
        return _LIBRARIES[self.library]


class _Child(ChildProcess):
    """A child process with the tokenizer of one file."""

    def __init__(self, file: File) -> None:
        self.file, self.used, self.user = file, monotonic(), ""
        self.info: bytes | None = None
        spec = find_spec(file.library_name)
        if spec is None or spec.origin is None:
            raise LibraryError(f"the library {file.library_name} is not installed")
        super().__init__(worker.__file__, spec.origin, **_MEMORY)

    def ask(self, operation: int, payload: bytes) -> bytes:
        """Return the result of an operation.

        Raises:
            LibraryError: The library refuses it; the child ends afterwards.
            OSError: The child has ended.
        """
        seconds, memory = _allowed(operation, payload)
        header = worker.REQUEST.pack(operation, self.file.library, seconds, memory, len(payload))
        self.write(header, payload)
        answer, size = worker.ANSWER.unpack(self.read(worker.ANSWER.size))
        content = bytes(self.read(size))
        if answer == worker.MEMORY:
            raise LibraryError(_ABORTED)
        if answer == worker.REFUSED:
            raise LibraryError(f"{self.file.library_name} refuses it: {content.decode()}")
        return content


def _allowed(operation: int, payload: bytes) -> tuple[float, int]:
    """Return the limits of a request: processor seconds, and bytes of address space."""
    seconds, memory = float(limits.LIBRARY_SECONDS), limits.LIBRARY_MEMORY * 1_000_000
    if operation != worker.LOAD:
        seconds += _PER_MEGABYTE * len(payload) / 1e6
        memory += _PER_BYTE * len(payload)
    return seconds, memory


class _Watch:
    """Begins the pause of a request that is late, and kills its child after the deadline."""

    def __init__(self, seconds: float) -> None:
        self.child: _Child | None = None
        self._seconds = seconds
        self._done = threading.Event()
        self._pause = child_process.new_pause()
        self.expired = False
        self._thread = threading.Thread(
            target=self._run, name="time limit of a tokenizer file", daemon=True
        )

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def _run(self) -> None:
        if self._done.wait(LATE):
            return
        self._pause.begin()
        if not self._done.wait(self._seconds) and self.child is not None:
            self.expired = True
            self.child.process.kill()

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()
        self._pause.end()


class Pool(ChildPool[_Child]):
    """Reused children. Of those that are idle, the one unused for longest comes first."""

    def __init__(self) -> None:
        super().__init__(AT_ONCE, SHARE)
        self._busy: list[_Child] = []
        self._cleaner: threading.Timer | None = None

    def ask(
        self,
        file: File,
        operation: int,
        payload: bytes = b"",
        *,
        reuse: bool = True,
    ) -> bytes:
        """Return the result of an operation of `bpeviz.core.library_worker` with a file.

        Args:
            file: The file.
            operation: The operation.
            payload: Its argument: a text in UTF-8, or ids.
            reuse: Whether the child may be reused.

        Raises:
            LibraryError: The library refuses the file or the text, or a limit stops it.
        """
        seconds = PATIENCE + _START + 4 * (limits.LIBRARY_SECONDS + _allowed(operation, payload)[0])
        user = users.current()
        with _Watch(seconds) as watch:
            try:
                self._places.take(user, PATIENCE)
            except users.NoPlaceError as error:
                raise LibraryError(_BUSY_OWN if error.own else _BUSY) from error
            try:
                child = watch.child = self._take(file, user)
                return self._ask(child, operation, payload, watch, reuse=reuse)
            finally:
                self._places.release(user)

    def _ask(
        self, child: _Child, operation: int, payload: bytes, watch: _Watch, *, reuse: bool
    ) -> bytes:
        done = False
        try:
            if child.info is None:
                child.wait_for_start()
                child.info = child.ask(worker.LOAD, child.file.content)
            result = child.info
            if operation != worker.LOAD:
                result = child.ask(operation, payload)
            done = True
        except OSError:  # it has ended
            code = child.end()
            if watch.expired:  # on a busy machine, another attempt may succeed
                raise LibraryError(_OVERTIME) from TimeoutError()
            raise LibraryError(_OVERTIME if code == _OUT_OF_TIME else _ABORTED) from None
        finally:
            self._give_back(child, reuse=reuse and done and not watch.expired)
        return result

    def _take(self, file: File, user: str) -> _Child:
        """Return a child of a file; a new one has not loaded it yet."""
        with self._lock:
            child = next((one for one in self._idle if one.file.key == file.key), None)
            if child is not None:
                self._idle.remove(child)
                if child.process.poll() is not None:
                    child.end()
                    child = None
            if child is None:
                if len(self._idle) + len(self._busy) >= AT_ONCE:
                    self._end_one(user)
                child = _Child(file)
            child.user = user
            self._busy.append(child)
            return child

    def _end_one(self, user: str) -> None:
        """End an unused child, to start another one for a user."""
        loaded = Counter(one.user for one in (*self._idle, *self._busy))
        loaded[user] += 1
        ended = max(self._idle, key=lambda one: loaded[one.user])
        self._idle.remove(ended)
        ended.end()

    def _give_back(self, child: _Child, *, reuse: bool) -> None:
        with self._lock:
            self._busy.remove(child)
            if reuse:
                child.used = monotonic()
                self._idle.append(child)
                self._clean_later()
        if not reuse:
            child.end()

    def _clean_later(self) -> None:
        if self._cleaner is None and self._idle:
            self._cleaner = threading.Timer(IDLE, self._clean)
            self._cleaner.daemon = True
            self._cleaner.start()

    def _clean(self) -> None:
        """End the children that have been unused for long."""
        with self._lock:
            self._cleaner = None
            old = [one for one in self._idle if monotonic() - one.used >= IDLE]
            self._idle = [one for one in self._idle if one not in old]
            self._clean_later()
        for child in old:
            child.end()

    def close(self) -> None:
        super().close()
        if self._cleaner is not None:
            self._cleaner.cancel()

    def _working(self) -> list[_Child]:
        return self._busy


_BUSY = (
    "the server limits how many tokenizer files are applied at once, and is busy with those of "
    "other users. Try again in a minute"
)
_BUSY_OWN = (
    "your other tabs still apply tokenizer files, and the server limits how many it applies for a "
    "user at once. Wait until they are done, or close these tabs. Then try again"
)
_OVERTIME = f"it takes more than {limits.LIBRARY_SECONDS} seconds"
_ABORTED = f"the library stopped, or needs more than {limits.LIBRARY_MEMORY:,} MB of memory"

_pool = Pool()
_pool.serve_process()


def ask(file: File, operation: int, payload: bytes = b"", *, reuse: bool = True) -> bytes:
    """Return the result of `Pool.ask` of the pool of this process."""
    return _pool.ask(file, operation, payload, reuse=reuse)

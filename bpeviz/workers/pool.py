"""Reused worker processes of a kind, and a queue for them, which is fair by user.

A request takes a place, as many as may run at once. A free place goes to the waiting user with the
fewest places; among equals, users alternate. A user has a share of the places, and nobody takes
the last one beside a place of their own. So many requests of a user do not delay those of others.

A request that takes long moves to a place for slow ones. If none is free, it stays
until others need its place, and is then stopped.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any

from bpeviz import context
from bpeviz.workers.child import Child, StartError

LOOK_SECONDS = 0.5
"""Seconds between two looks at a request."""

WATCHED = sys.platform != "linux"
"""Whether the server watches the memory of workers, because the system does not limit it.

macOS ignores `RLIMIT_AS`, and Windows lacks it.
"""


class BusyError(TimeoutError):
    """Other requests take all places.

    Attributes:
        own: Whether they are those of the same user.
    """

    def __init__(self, own: bool) -> None:
        super().__init__(own)
        self.own = own


class Request:
    """A request to a pool.

    Attributes:
        user: The user.
        key: The kind of worker that it needs.
        slow: Whether it has, or needs, a place for slow requests.
        reuse: Whether its worker may be reused.
    """

    def __init__(
        self,
        user: str | None = None,
        key: Hashable = None,
        *,
        slow: bool = False,
        reuse: bool = True,
    ) -> None:
        self.user = context.current().user() if user is None else user
        self.key, self.slow, self.reuse = key, slow, reuse
        self.error: Exception | None = None
        self.child: Child | None = None
        self.granted, self.done = threading.Event(), threading.Event()


@dataclass(frozen=True)
class Places:
    """The places for quick or for slow requests.

    Attributes:
        number: How many requests run at once.
        share: How many of them a user may have.
        waiting: How many requests may wait for a place.
        own_waiting: How many of these a user may have.
    """

    number: int
    share: int = 1
    waiting: float = inf
    own_waiting: float = inf


class Pool:
    """Reused workers. They end with this process, and a fork starts its own.

    Attributes:
        spares: How many workers to keep that wait for work.
    """

    def __init__(
        self,
        start: Callable[[Any], Child],
        quick: Places,
        slow: Places = Places(0),
        *,
        slow_after: float = 0.5,
        patience: float | None = None,
        large: float = inf,
    ) -> None:
        """Start without workers.

        Args:
            start: Starts the worker of a request's key.
            quick: The places of quick requests.
            slow: The places of slow requests beside them.
            slow_after: The processor seconds after which a request is slow.
            patience: The seconds for which a request waits for its place; None for any time.
            large: The bytes of memory from which a worker is not reused.
        """
        self._start, self._slow_after = start, slow_after
        self._patience, self._large = patience, large
        self._places = {False: quick, True: slow}
        self._lock = threading.RLock()
        self._idle: list[tuple[Request, Child]] = []  # the one unused for longest first
        self._waiting: list[Request] = []
        self._running: list[Request] = []  # the oldest first
        self.spares = 0
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    @contextmanager
    def worker(self, request: Request) -> Iterator[Child]:
        """Provide a worker within the block, which is reused after it, but not after an error.

        Raises:
            BusyError: Other requests take all places.
            StartError: No worker could be started, or it had no time.
            TimeoutError: The request took too much time.
            MemoryError: It took too much memory, or the worker ended by itself.
        """
        with context.current().waiting():
            self._take_place(request)
            child: Child | None = None
            reuse = False
            try:
                child = self._take_child(request)
                yield child
                reuse = request.reuse and not request.slow and child.resident() < self._large
            except OSError as error:
                if child is None or isinstance(error, TimeoutError):
                    raise
                raise (request.error or child.failure()) from None
            finally:
                self._finish(request, reuse=reuse)

    def keep_as_slow(self, request: Request) -> bool:
        """Move a request to a place for slow ones, if one is free; return whether it has one."""
        with self._lock:
            if not request.slow and self._fits(request.user, slow=True):
                request.slow = True
                if request.child is not None:
                    request.child.lower_priority()
                self._serve()
                self.start_spare()
            return request.slow

    def ahead(self, request: Request) -> int:
        """Return how many requests run or wait before a waiting one; 0 where it runs."""
        with self._lock:
            waiting = [waiter for waiter in self._waiting if waiter.slow == request.slow]
            before = [other.user for other in self._running if other.slow == request.slow]
        while request in waiting:
            first = min(waiting, key=lambda waiter: before.count(waiter.user))
            if first is request:
                return len(before)
            waiting.remove(first)
            before.append(first.user)
        return 0

    def stop(self, request: Request, error: Exception) -> None:
        """End a request of any thread with an error, unless it has ended; kill its worker."""
        with self._lock:
            request.error = request.error or error
            if request in self._waiting:
                self._waiting.remove(request)
            request.granted.set()
            if request.child is not None:
                request.child.process.kill()

    def start_spare(self) -> None:
        """Start an idle worker, if there are too few and the system grants one."""
        with self._lock, suppress(StartError):
            if len(self._idle) < self.spares:
                self._idle.append((Request(""), self._start(None)))

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self.spares = 0
            for _, child in self._idle:
                child.end()
            self._idle.clear()
            for request in (*self._waiting, *self._running):
                self.stop(request, BusyError(own=False))

    def _forget(self) -> None:
        """Forget all workers in a fork: they belong to its parent."""
        for child in (
            *(child for _, child in self._idle),
            *(request.child for request in self._running),
        ):
            if child is not None:
                child.abandon()
        self._lock = threading.RLock()
        self._idle, self._waiting, self._running = [], [], []

    # ---- Places

    def _number(self, slow: bool, user: str | None = None) -> int:
        """Return how many places are taken, of a user or of all."""
        return sum(
            request.slow == slow and user in (None, request.user) for request in self._running
        )

    def _own(self, user: str, slow: bool) -> int:
        return self._number(slow, user) if user else 0  # a program has no users, and no shares

    def _has_share(self, user: str, slow: bool) -> bool:
        return self._own(user, slow) < self._places[slow].share

    def _fits(self, user: str, slow: bool) -> bool:
        free = self._places[slow].number - self._number(slow)
        return free > bool(self._own(user, slow)) and self._has_share(user, slow)

    def _take_place(self, request: Request) -> None:
        """Wait until a request may run. Raises its error, such as `BusyError`."""
        with self._lock:
            places = self._places[request.slow]
            before = [waiter.user for waiter in self._waiting if waiter.slow == request.slow]
            self._waiting.append(request)
            self._serve()
            own = before.count(request.user) >= places.own_waiting
            if request in self._waiting and (own or len(before) >= places.waiting):
                self.stop(request, BusyError(own))
            for running in self._running:
                self._settle(running)
        request.granted.wait(self._patience)
        with self._lock:
            if request in self._waiting:
                self.stop(request, BusyError(not self._has_share(request.user, request.slow)))
            if request not in self._running and request.error is not None:
                raise request.error

    def _serve(self) -> None:
        """Give the free places to waiting requests."""
        while fitting := [
            waiter for waiter in self._waiting if self._fits(waiter.user, waiter.slow)
        ]:
            chosen = min(fitting, key=lambda waiter: self._number(waiter.slow, waiter.user))
            self._waiting.remove(chosen)
            self._waiting.sort(key=lambda waiter: waiter.user == chosen.user)
            self._running.append(chosen)
            chosen.granted.set()

    def _settle(self, request: Request) -> None:
        """Move a slow request to a place for slow ones, or stop it if others need its place."""
        if request.slow or request.error is not None or not self._places[True].number:
            return
        if request.child is None or request.child.spent() < self._slow_after:
            return
        if self.keep_as_slow(request):
            return
        needed = sum(
            not waiter.slow and self._has_share(waiter.user, False) for waiter in self._waiting
        )
        if needed > sum(
            running.error is not None and not running.slow for running in self._running
        ):
            self.stop(request, BusyError(self._own(request.user, slow=True) > 0))

    # ---- Workers

    def _take_child(self, request: Request) -> Child:
        """Return the worker of a request: an idle one of its kind, or a new one."""
        child: Child | None = None
        with self._lock:
            # A slow request can wait for its worker to start; a quick one needs the last idle one.
            fitting = [idle for idle in self._idle if idle[0].key == request.key]
            for idle in fitting[: -1 if request.slow else None]:
                self._idle.remove(idle)
                if idle[1].process.poll() is None:
                    child = idle[1]
                    child.deadline = inf  # that of its start or last request has passed
                    break
                idle[1].end()
            most = sum(places.number for places in self._places.values())
            if child is None and self._idle and len(self._idle) + len(self._running) > most:
                self._end_one(request.user)
            request.child = child = child or self._start(request.key)
            if request.slow:
                child.lower_priority()
                self.start_spare()
        if request.error is not None:  # stopped before it had a worker
            raise request.error
        try:
            threading.Thread(target=self._watch, args=(request, child), daemon=True).start()
        except RuntimeError as error:  # the system grants no more threads
            raise StartError(str(error)) from error
        return child

    def _end_one(self, user: str) -> None:
        """End an idle worker, to start another one: of the user who has the most workers."""
        owned = Counter(
            request.user for request in (*(request for request, _ in self._idle), *self._running)
        )
        ended = max(self._idle, key=lambda idle: owned[idle[0].user])
        self._idle.remove(ended)
        ended[1].end()

    def _watch(self, request: Request, child: Child) -> None:
        """Stop a request after its deadline; look now and then whether it is slow."""
        while not request.done.wait(max(0.01, min(LOOK_SECONDS, child.deadline - monotonic()))):
            with self._lock:
                self._settle(request)
            if monotonic() >= child.deadline:
                self.stop(request, child.overdue())
            elif WATCHED and child.resident() > child.memory:
                self.stop(request, MemoryError())

    def _finish(self, request: Request, *, reuse: bool) -> None:
        """Give back the place and the worker of a request; others may run."""
        with self._lock:
            request.done.set()
            self._running.remove(request)
            child, request.child = request.child, None
            if child is not None and reuse and request.error is None:
                self._idle.append((request, child))
                child = None
            self._serve()
        if child is not None:
            child.end()
            self.start_spare()

"""A cache of results that all users share, bounded by its size in memory.

`st.cache_resource` bounds the number of its entries, not their size, and one entry may take from
a kilobyte to a hundred megabytes. `st.cache_data` bounds the size, but copies a value at each use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from contextlib import nullcontext
from copy import copy
from functools import wraps
from hashlib import blake2b
from inspect import signature
from itertools import chain, islice
from operator import itemgetter
from threading import Lock, RLock
from typing import Any, TypeVar, cast

import numpy as np
import streamlit as st
from cachetools import LRUCache

from bpeviz import limits
from bpeviz.jobs.errors import is_transient
from bpeviz.ui import private
from bpeviz.ui.runtime import run_lock

Value = TypeVar("Value")

BUDGET = limits.CACHE * 1_000_000
"""The size of all cached values together, in bytes. The least recently used is evicted first."""

_SAMPLED = 30
"""The number of items of a collection that are measured, a third of it at each level below; their
mean applies to the others."""

_RECORD = 20
"""Shorter collections are measured completely, as the items of a record differ in size."""

_DEPTH = 8
"""The number of levels of attributes and items that are measured."""

_SHORT = 200
"""The largest size of a text in a key, in characters. A longer text is replaced by its digest."""


def size_of(value: object, depth: int = _DEPTH) -> int:
    """Return the approximate size in bytes of a value and of all objects it refers to.

    A value with an attribute `cache_size` states its own, since it refers to objects of others.

    Args:
        value: The value.
        depth: The number of levels to measure.
    """
    if isinstance(value, str | bytes | int | float | type) or value is None or not depth:
        return sys.getsizeof(value)
    if (stated := getattr(value, "cache_size", None)) is not None:
        return int(stated)
    if isinstance(value, np.ndarray):
        return 100 + int(value.nbytes)
    most = max(2, _SAMPLED // 3 ** (_DEPTH - depth))
    number = len(value) if isinstance(value, Collection) else 1
    items: Iterable[Any] = ()
    if isinstance(value, Mapping):
        items = chain.from_iterable(islice(value.items(), max(most, _RECORD)))
        number *= 2
    elif isinstance(value, list | tuple | set | frozenset):
        items = islice(value, 0, None, 1 if number <= _RECORD else -(-number // most))
    elif hasattr(value, "__dict__"):
        items = vars(value).values()
        number = len(items)
    sizes = [size_of(item, depth - 1) for item in items]
    return sys.getsizeof(value) + sum(sizes) * number // max(1, len(sizes))


def _may_grow(value: object) -> bool:
    """Return whether a value or its items compute attributes on first use, and do not say so."""
    items: Iterable[object] = value if isinstance(value, list | tuple) else (value,)
    return any(
        hasattr(item, "__dict__") and not hasattr(item, "cache_size")
        for item in islice(items, _RECORD)
    )


class Failure:
    """The cached error of a value that cannot be created."""

    def __init__(self, error: ValueError) -> None:
        # Its traceback refers to all local variables. With Dask, copies of errors have one, too.
        self.error = copy(error).with_traceback(None)


def value_of(cached: Any) -> Any:
    """Return a cached value, or raise the error of a `Failure`."""
    if isinstance(cached, Failure):
        raise copy(cached.error)
    return cached


class Cache:
    """A cache of values by key, with a limit on their total size.

    A training history, boundaries or a tokenizer grow to at most twice their size while pages use
    them, since they cache properties of their own. So they count twice.
    """

    def __init__(self, budget: int) -> None:
        self._values: LRUCache[Hashable, tuple[Any, int]] = LRUCache(budget, itemgetter(1))
        self._lock = RLock()
        self._creating: dict[Hashable, tuple[Lock, list[int]]] = {}

    @property
    def size(self) -> int:
        """The size of all values in bytes."""
        return int(self._values.currsize)

    def find(self, key: Hashable) -> Any | None:
        """Return the value of a key, a `Failure`, or None."""
        with self._lock:
            return self._values.get(key, (None,))[0]

    def put(self, key: Hashable, value: object) -> bool:
        """Cache a value; return whether it fits into the cache."""
        size = size_of(value) * (1 + _may_grow(value))
        with self._lock:
            self._values.pop(key, None)  # else its old size would count as well
            if size > self._values.maxsize:
                return False
            self._values[key] = value, size
            return True

    def get_or_create(self, key: Hashable, create: Callable[[], Value]) -> Value:
        """Return the value of a key, and create and cache it if it is absent.

        Concurrent requests for the same value wait, without the run lock, until one of them has
        created it. A `ValueError` is cached and raised again, unless it is transient. Other
        exceptions are not cached.
        """
        with self._lock:
            if (cached := self.find(key)) is not None:
                return cast(Value, value_of(cached))
            lock, waiting = self._creating.setdefault(key, (Lock(), [0]))
            waiting[0] += 1
        try:
            if not lock.acquire(blocking=False):
                with run_lock.released():
                    lock.acquire()
            try:
                if (cached := self.find(key)) is not None:
                    return cast(Value, value_of(cached))
                try:
                    created = create()
                except ValueError as error:
                    if not is_transient(error):
                        self.put(key, Failure(error))
                    raise
                self.put(key, created)
                return created
            finally:
                lock.release()
        finally:
            with self._lock:
                waiting[0] -= 1
                if not waiting[0]:
                    self._creating.pop(key, None)


cache = Cache(BUDGET)
"""The cache of all pages."""


def digest(text: str) -> bytes:
    """Return a digest of a text, which replaces the text in keys."""
    return blake2b(text.encode(), digest_size=20).digest()


def _key_part(value: Any) -> Any:
    """Return the part of a key for an argument; see `cached`."""
    if isinstance(value, str) and len(value) > _SHORT:
        return digest(value)
    if type(value) is tuple:
        return tuple(map(_key_part, value))
    return _key_part(value.cache_key) if hasattr(value, "cache_key") else value


def cached(spinner: str = "") -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Return a decorator that caches results of a function for all users; do not modify them.

    The key consists of the positional arguments, except parameters whose names begin with `_`. An
    argument with an attribute `cache_key` is represented by it.

    Args:
        spinner: The message to display while the function runs, in a run of a page.
    """

    def decorate(function: Callable[..., Value]) -> Callable[..., Value]:
        counts = [not name.startswith("_") for name in signature(function).parameters]

        @wraps(function)
        def find_or_call(*values: Any) -> Value:
            parts = (
                _key_part(value) for value, is_part in zip(values, counts, strict=True) if is_part
            )
            key = (function.__module__, function.__qualname__, *parts)
            waits = bool(spinner and private.session_id()) and cache.find(key) is None
            with st.spinner(spinner) if waits else nullcontext():
                return cache.get_or_create(key, lambda: function(*values))

        return find_or_call

    return decorate

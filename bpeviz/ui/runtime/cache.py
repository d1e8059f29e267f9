"""What is computed once and kept for all users, bounded by its size in memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from hashlib import blake2b
from inspect import signature
from itertools import chain, islice
from operator import itemgetter
from threading import Lock, local
from typing import Any, TypeVar, cast

import numpy as np
import streamlit as st
from cachetools import LRUCache

Made = TypeVar("Made")

BUDGET = 500_000_000
"""Bytes that all that is kept may take. What was not used for longest goes first."""

_SAMPLE = 30
"""How many values of a list tell how large all of them are."""

_SHORT = 200
"""Characters of a text that stands itself in a key."""

_LONG = 10_000
"""Characters of a text whose digest is worth remembering."""


def size_of(value: object, depth: int = 4) -> int:
    """Return about how many bytes a value takes; of a long list, by some of its values."""
    if isinstance(value, np.ndarray):
        return 100 + int(value.nbytes)
    if isinstance(value, str | bytes | int | float) or value is None or not depth:
        return sys.getsizeof(value)
    if isinstance(value, Mapping):
        some = [*chain.from_iterable(islice(value.items(), _SAMPLE))]
        return sys.getsizeof(value) + _of_some(some, 2 * len(value), depth)
    if isinstance(value, list | tuple | set | frozenset):
        if isinstance(value, list | tuple):  # some from all over it
            some = [*value[:: max(1, len(value) // _SAMPLE)]]
        else:
            some = [*islice(value, _SAMPLE)]
        return sys.getsizeof(value) + _of_some(some, len(value), depth)
    inside = [*vars(value).values()] if hasattr(value, "__dict__") else []
    return sys.getsizeof(value) + sum(size_of(one, depth - 1) for one in inside)


def _of_some(some: list[Any], number: int, depth: int) -> int:
    return round(sum(size_of(one, depth - 1) for one in some) * number / max(1, len(some)))


class Kept:
    """Values by key, of limited size together. Each is made by one user at a time.

    Whoever asks for a value that somebody else is just making waits for it.
    """

    def __init__(self, most: int) -> None:
        self._values: LRUCache[Hashable, tuple[Any, int]] = LRUCache(most, itemgetter(1))
        self._lock = Lock()
        self._making: dict[Hashable, tuple[Lock, list[int]]] = {}

    @property
    def size(self) -> int:
        """How many bytes are kept, about."""
        return int(self._values.currsize)

    def find(self, key: Hashable) -> Any | None:
        """Return what is kept under a key, or None."""
        with self._lock:
            return self._values.get(key, (None,))[0]

    def keep(self, key: Hashable, value: object) -> bool:
        """Keep a value, unless it alone is too large; tell whether it is kept."""
        size = size_of(value)
        with self._lock:
            if size > self._values.maxsize:
                return False
            self._values[key] = value, size
            return True

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is kept under a key; make it first where it is not there."""
        with self._lock:
            if key in self._values:
                found: Made = self._values[key][0]
                return found
            lock, waiting = self._making.setdefault(key, (Lock(), [0]))
            waiting[0] += 1
        try:
            with lock:
                if (known := self.find(key)) is not None:
                    return cast(Made, known)
                made = make()
                self.keep(key, made)
                return made
        finally:
            with self._lock:
                waiting[0] -= 1
                if not waiting[0]:
                    self._making.pop(key, None)


kept = Kept(BUDGET)
"""All that the pages keep."""


class _Digests(local):
    """The digests of the last long texts that this thread has asked about."""

    def __init__(self) -> None:
        self.known: LRUCache[int, tuple[str, bytes]] = LRUCache(4)


_digests = _Digests()


def digest(text: str) -> bytes:
    """Return what stands for a text in a key, however long the text is."""
    if len(text) < _LONG:
        return blake2b(text.encode(), digest_size=20).digest()
    # A page asks some twenty times about the same text, and ten million characters take 10 ms.
    same, known = _digests.known.get(id(text), (None, b""))
    if same is not text:
        known = blake2b(text.encode(), digest_size=20).digest()
        _digests.known[id(text)] = text, known
    return known


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _SHORT:
        return digest(value)
    return tuple(map(_short, value)) if type(value) is tuple else value


def shared(spinner: str = "") -> Callable[[Callable[..., Made]], Callable[..., Made]]:
    """Let what a function returns be kept for all users; nobody may change it.

    Its arguments are the key, but for those whose names begin with `_`. They are given in their
    order. spinner: what is said while it works.
    """

    def decorate(function: Callable[..., Made]) -> Callable[..., Made]:
        named = [not name.startswith("_") for name in signature(function).parameters]

        @wraps(function)
        def found(*values: Any) -> Made:
            told = (_short(value) for value, counts in zip(values, named, strict=True) if counts)
            key = (function.__module__, function.__qualname__, *told)
            if not spinner or kept.find(key) is not None:
                return kept.once(key, lambda: function(*values))
            with st.spinner(spinner):
                return kept.once(key, lambda: function(*values))

        return found

    return decorate

"""Fragments: parts of a page that Streamlit reruns without the rest of the page."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any, ParamSpec

import streamlit as st

from bpeviz.ui.runtime import run_lock, stop_run

after_runs: list[Callable[[str], None]] = []
"""Called with the name of a fragment after each run of it without its page."""

P = ParamSpec("P")


class Handle(ABC):
    """A small stand-in for a large argument of a fragment, whose attribute `handle` it is."""

    @abstractmethod
    def open(self) -> Any:
        """Return the argument."""


class _RunArguments(local):
    """The arguments that the run of a thread has passed to fragments, by handle."""

    opened: dict[Handle, Any] | None = None


_this = _RunArguments()


@contextmanager
def script_run() -> Iterator[None]:
    """Hold the run lock, and end the block where the run stops."""
    outer = _this.opened
    _this.opened = {} if outer is None else outer
    try:
        with run_lock.hold(), stop_run.until_stopped():
            yield
    finally:
        _this.opened = outer


def fragment(part: Callable[P, None]) -> Callable[P, None]:
    """Turn a function into a fragment (a decorator).

    Streamlit stores the arguments as long as the page is open, so they must be small. In place of
    an argument or item with a `handle` it stores the handle, and opens it in each run.
    """

    @st.fragment
    @functools.wraps(part)
    def run(*args: Any) -> None:
        is_alone = _this.opened is None
        with script_run():
            part(*map(_opened, args))  # type: ignore[call-arg]
            for follow in after_runs if is_alone else ():
                follow(part.__qualname__)

    def call(*args: Any) -> None:
        run(*map(_stored, args))

    return call  # type: ignore[return-value]


def _stored(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_stored, value)]
    if (handle := getattr(value, "handle", None)) is None:
        return value
    if _this.opened is not None:
        _this.opened[handle] = value
    return handle


def _opened(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_opened, value)]
    if not isinstance(value, Handle):
        return value
    known = _this.opened or {}
    return known[value] if value in known else value.open()

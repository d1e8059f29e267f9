"""Parts of a page that run again by themselves, and that notice when the page should have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import ParamSpec

import streamlit as st

from bpeviz.ui.runtime.run_lock import turn

DRAWN = "drawn_with"
"""In the session: the names of a page's inputs, and a mark of what they held when it was drawn."""

P = ParamSpec("P")


def fragment(part: Callable[P, None]) -> Callable[P, None]:
    """Make a part of a page that runs again by itself when something changes in it: a decorator.

    The browser may tell of two changes at once, one of an input of the page and one of a part, as
    when the player answers to the slider while a key moves that again. Streamlit 1.67 then runs the
    part alone, and the page goes on showing what the input held before. Here the part sees that,
    and has the page run.
    """

    @st.fragment
    @functools.wraps(part)
    def run(*args: P.args, **named: P.kwargs) -> None:
        with turn():
            drawn = st.session_state.get(DRAWN)
            if drawn is not None and drawn[1] != _mark(drawn[0]):
                st.rerun()
            part(*args, **named)

    return run


def begin() -> None:
    """A page is drawn: until that is done, its parts have nothing to compare with."""
    st.session_state.pop(DRAWN, None)


def done(names: Iterable[str]) -> None:
    """A page was drawn, all of it. names: of its inputs, but for those of its parts."""
    found = tuple(names)
    st.session_state[DRAWN] = found, _mark(found)


def _mark(names: Iterable[str]) -> int:
    return hash(tuple(str(st.session_state.get(name)) for name in names))

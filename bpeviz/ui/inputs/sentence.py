"""The settings of a page as one sentence of words and controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.ui import markdown
from bpeviz.ui.widgets import SomeOf


def sentence(key: str = "sentence") -> DeltaGenerator:
    """Return the line of a sentence, whose words and controls are drawn inside it."""
    return st.container(key=key, horizontal=True, vertical_alignment="center", gap="xxsmall")


def say(words: str) -> None:
    """Draw words of the sentence."""
    st.markdown(words, width="content")


def menu(words: str, key: str) -> DeltaGenerator | None:
    """Draw words, in Markdown, that open a menu; return its place, or None while it is closed.

    A menu closes when its words change.
    """
    place = st.popover(words, type="tertiary", key=key, on_change="rerun")
    return place if place.open else None


def add_to(
    widget: SomeOf, groups: Mapping[str, Sequence[str]], titles: Mapping[str, str] | None = None
) -> None:
    """Draw words that open a menu of further values.

    Args:
        widget: The widget whose chosen values are words of the sentence.
        groups: The keys of the other values, by the titles of their groups.
        titles: The titles of values where these are not the declared ones.
    """
    name = f"add_{widget.key}"
    if not any(groups.values()) or (place := menu("+ add", name)) is None:
        return
    with place, st.container(gap=None):
        for title, keys in groups.items():
            if title and keys:
                st.caption(title)
            for key in keys:
                words = markdown.escape((titles or widget.titles)[key])
                put = partial(_add, widget, key, name)
                st.button(words, type="tertiary", on_click=put, key=f"{name}_{key}")


def drop_from(widget: SomeOf, key: str, words: str, about: str | None = None) -> None:
    """Draw a button that removes a value. about: its tool-tip."""
    st.button(
        markdown.escape(words),
        f"drop_{widget.key}_{key}",
        about,
        partial(_drop, widget, key),
        type="tertiary",
        icon=":material/close:",
        icon_position="right",
    )


def _add(widget: SomeOf, key: str, name: str) -> None:
    widget.put([*(widget.get() or ()), key])
    st.session_state[name] = False  # the menu closes


def _drop(widget: SomeOf, key: str) -> None:
    widget.put([other for other in widget.get() or () if other != key])

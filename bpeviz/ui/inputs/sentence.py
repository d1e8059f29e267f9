"""The settings of a page as one sentence of words and controls."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


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

"""The part of a long text that a page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from bpeviz.core.boundaries import Part
from bpeviz.ui.widgets import NumberField, WidgetFamily


def choose_part(
    numbers: WidgetFamily[NumberField], parts: Sequence[Part], whole: str = "", width: int = 200
) -> Part:
    """Draw the number of the part shown, where there are several; return the part.

    Args:
        numbers: The numbers of parts.
        parts: All parts of the text.
        whole: Begins the caption about the figures for the whole text. Without it there is none.
        width: The width of the box in pixels.
    """
    if len(parts) < 2:
        return parts[0]
    widget = numbers.member(len(parts))
    number = replace(widget, label=f"{widget.label}, 1 to {len(parts):,}").box(width=width)
    part = parts[number - 1]
    if whole:
        st.caption(
            f"Showing characters {part.first + 1:,} to {part.last:,} of {parts[-1].last:,}. "
            f"{whole} the whole text."
        )
    return part

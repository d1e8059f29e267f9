"""The part of a long text that a page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from bpeviz.core.boundaries import Part
from bpeviz.corpus.documents import Documents
from bpeviz.ui.inputs.sentence import say, sentence
from bpeviz.ui.widgets import NumberField, Values, WidgetFamily, numbers

ROW = numbers("row_of_", "Row")
"""The row of a table that a page of one text shows."""


def choose_row(text: str | Documents) -> str:
    """Return a text, or a row of a table, whose number is drawn."""
    if isinstance(text, str):
        return text
    if not len(text):
        return ""
    widget = ROW.member(len(text))
    label = f"{widget.label}, 1 to {len(text):,}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            label, help="Each row is a text of its own; this page shows one.", width="content"
        )
        number = replace(widget, label=label).box(label_visibility="collapsed", width=200)
    return text.texts[number - 1]


def row_of(values: Values, text: str | Documents) -> str:
    """Return a text, or the row of a table that a page of one text shows."""
    if isinstance(text, str):
        return text
    return text.texts[ROW.member(len(text)).value(1, values) - 1] if len(text) else ""


def part_of(values: Values, part_numbers: WidgetFamily[NumberField], parts: Sequence[Part]) -> Part:
    """Return the part of a text that a page shows."""
    return parts[part_numbers.member(len(parts)).value(1, values) - 1]


def choose_part(part_numbers: WidgetFamily[NumberField], parts: Sequence[Part], whole: str) -> Part:
    """Draw the number of the part shown in a line, where there are several; return the part.

    Args:
        part_numbers: The numbers of parts.
        parts: All parts of the text.
        whole: Begins the sentence about the figures for the whole text.
    """
    if len(parts) < 2:
        return parts[0]
    with sentence(f"sentence_{part_numbers.member(len(parts)).key}"):
        part = say_part(part_numbers, parts, "Part")
        extent = f"Characters {part.first + 1:,} to {part.last:,} of {parts[-1].last:,}"
        st.caption(f"{extent}. {whole} the whole text.", width="content")
    return part


def say_part(
    part_numbers: WidgetFamily[NumberField], parts: Sequence[Part], first_word: str = "· part"
) -> Part:
    """Draw the number of the part shown as words, where there are several; return the part."""
    if len(parts) < 2:
        return parts[0]
    widget = part_numbers.member(len(parts))
    say(first_word)
    number = replace(widget, label=f"{widget.label}, 1 to {len(parts):,}").box(
        label_visibility="collapsed", width=22 + 10 * len(str(len(parts)))
    )
    say(f"of {len(parts):,}")
    return parts[number - 1]

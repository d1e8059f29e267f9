"""What stands on the Train page beside its inputs: the player, and what follows its step."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.text import clean
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui import components, export, trained
from bpeviz.ui.details import details
from bpeviz.ui.inputs import Choice
from bpeviz.ui.runtime.cache import shared
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.views import charts, merge_diagram, player, tables

CANDIDATES = 8
"""How many of a step's best candidates are shown."""

COUNTED = 2_500_000
"""Bytes or characters of a text whose candidates are counted at each step: that takes a third of a
second, for everybody who waits."""

BEGINNING = 60
"""How many characters of a text are drawn in the whole timeline at first."""


def _jump(step: int) -> None:
    """Ask the player to go to a step."""
    number = st.session_state.get("jump", {"number": 0})["number"] + 1
    st.session_state["jump"] = {"step": step, "number": number}
    st.session_state["step"] = step


def _part(text: str, choice: Choice) -> player.Part:
    """Let the user choose which part of a long text is shown."""
    parts = trained.parts(text, choice)
    if len(parts) < 2:
        return parts[0]
    number = st.number_input(
        f"Part of the text shown, 1 to {len(parts)}",
        1,
        len(parts),
        key=f"part_of_{len(parts)}",
        width=260,
    )
    part = parts[number - 1]
    st.caption(
        f"Characters {part.first + 1:,} to {part.last:,} of {len(text):,}. Learning, counts and "
        "figures are about the whole text."
    )
    return part


def show(text: str, training: Training, boundaries: Boundaries, choice: Choice, last: int) -> None:
    """Draw the player, and below it all that follows its step."""
    place = st.container()
    part = _part(text, choice)
    # One timeline for all sizes: it ends sooner or later.
    timeline = trained.timeline(text, choice, part) | {"last": last}
    with place:
        components.player(player.payload(timeline), "player")
    _follow(text, choice, last, timeline["timelineId"], part)
    if last:
        _merge_diagram(text, choice, last, timeline["timelineId"])


@fragment
def _follow(text: str, choice: Choice, last: int, timeline: str, shown: player.Part) -> None:
    """Draw what follows the step. Runs again by itself when the step changes."""
    state = st.session_state
    training, boundaries = trained.there(text, choice)
    body = st.container()
    told = components.player_events(state.get("jump"), "follower")["step"]
    if state.get("shown") != (timeline, last):
        state["shown"], state["step"] = (timeline, last), last
    if told and told["timelineId"] == timeline and state.get("told") != told:
        state["told"], state["step"] = told, min(told["step"], last)
    step = state["step"]
    with body:
        _along(text, training, choice, last, step, shown)
    if not last:
        return
    decided, compression = _curves(text, choice, last)
    with body:
        left, right = st.columns((3, 5), gap="medium")
        with left:
            _candidates(text, training, boundaries, step)
        with right:
            _decisions(training, last, timeline)
        left, right = st.columns(2, gap="medium")
        with left:
            name = texts_of(training).curve
            _chart(decided, step, "decided", f"The {name} at each step")
        with right:
            _chart(
                compression,
                step,
                "compression",
                f"Bytes per token after each {texts_of(training).unit}",
            )
        st.caption("A click on a curve, or on a row of the table, takes the player there.")
        details(text, training, boundaries, step)


def _along(
    text: str, training: Training, choice: Choice, last: int, step: int, shown: player.Part
) -> None:
    """Let the user take along the tokenizer of the chosen size, and the text at this step."""
    trainer = TRAINERS[training.algorithm]
    size = int(training.sizes[last])

    def picture() -> export.Picture:
        training, boundaries = trained.there(text, choice)
        tokenizer = training.at_step(step)
        column = Column(texts_of(training).vocabulary(training, step), tokenizer, boundaries, step)
        title = f"{trainer.title}: {texts_of(training).unit} {step:,} of {last:,}"
        return export.Picture(text, [column], title, first=shown.first, last=shown.last)

    title = f"a vocabulary of {size:,} by {trainer.short}"
    learnt = export.Learnt(
        title, (text, choice, last), lambda: trained.there(text, choice)[0].at_step(last)
    )
    export.along("train", picture, learnt)


@fragment
def _merge_diagram(text: str, choice: Choice, last: int, timeline: str) -> None:
    """Draw the whole timeline of a few words in one picture, whose rule goes with the player.

    That is done in the browser: nothing here depends on the step.
    """
    state = st.session_state
    word = components.player_events(None, "word_follower", steps=False, words=True)["word"]
    if word and state.get("pressed_word") != word:
        state["pressed_word"], state["drawn_words"] = word, word["word"]
    st.subheader("The whole film in one picture", anchor=False)
    query = clean(
        st.text_input(
            "Some words of the text",
            key="drawn_words",
            max_chars=merge_diagram.MOST,
            persist_state="session",
            placeholder="Press a word above, or type some words of the text",
            label_visibility="collapsed",
            width=420,
        )
        or ""
    )
    at = text.find(query)
    if at < 0:
        st.caption("These words are nowhere in the text; its beginning is drawn.")
        query = ""
    if not query:
        at, query = 0, text[:BEGINNING].rsplit(" ", 1)[0]
    query = query.encode()[: merge_diagram.MOST].decode(errors="ignore")
    start = len(text[:at].encode())
    end = start + len(query.encode())
    data = _drawn(text, choice, last, start, end)
    components.merge_diagram(data | {"timelineId": timeline}, "train_picture")
    st.caption(
        "Atoms lie along the bottom. Every boundary is as high as the step at which it goes, on a "
        "logarithmic scale; between two lines, at any height, stands the token of that step. The "
        "rule is the step at which the player stands: drag it, and the player follows."
    )


@shared()
def _drawn(text: str, choice: Choice, last: int, start: int, end: int) -> dict[str, Any]:
    """Return the picture of a stretch of the text, in bytes. Nobody may change it: it is shared."""
    training, boundaries = trained.there(text, choice)
    title = TRAINERS[training.algorithm].short
    side = merge_diagram.of_training(title, training, boundaries, last)
    found: dict[str, Any] = merge_diagram.merge_diagram_payload(text.encode(), [side], start, end)
    return found


def _candidates(text: str, training: Training, boundaries: Boundaries, step: int) -> None:
    taken = max(step, 1) - 1
    st.subheader(texts_of(training).heading, anchor=False)
    if len(boundaries) > COUNTED:
        st.caption(
            "This text is too long to count its candidates anew at each step. The "
            "table beside this has what was decided."
        )
        return
    found = training.candidates(text, boundaries, taken, CANDIDATES)
    st.caption(texts_of(training).rule.format(step=f"{taken + 1:,}"))
    st.dataframe(
        tables.candidates(training, found, step), hide_index=True, height=316, key="candidates"
    )


def _decisions(training: Training, last: int, timeline: str) -> None:
    st.subheader(f"The {texts_of(training).unit}s", anchor=False)
    search = st.text_input(
        "Find a token",
        key="search",
        placeholder="Find a token: text, or an id",
        label_visibility="collapsed",
        persist_state="session",
    )
    table = tables.decisions(training, last, search)
    numbers = table[texts_of(training).unit].tolist()
    # Other rows, another table: nothing of it is selected yet, and its first click is not lost.
    key = f"decisions of {timeline} to {last} with {search}"

    def picked() -> None:
        cells = st.session_state[key].selection.cells
        if cells:
            _jump(numbers[cells[0][0]])
            # Nothing stays selected, so that a second click on the same row is one, too.
            st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": []}}

    if not numbers:
        st.caption(f"No {texts_of(training).unit} is about a token with “{search}” in it.")
        return
    narrow = dict.fromkeys(table.columns, st.column_config.Column(width=62))
    if "note" in narrow:
        narrow["note"] = st.column_config.Column(width="medium")
    # What is said of a step in words stands where it is seen without scrolling.
    first = [texts_of(training).unit, "left", "right", "token", "note"]
    order = sorted(table.columns, key=lambda name: name not in first)
    st.dataframe(
        table,
        hide_index=True,
        height=316,
        key=key,
        on_select=picked,
        selection_mode="single-cell",  # of a row, only a box at its start could be clicked
        column_config=narrow,
        column_order=order,
    )


@shared()
def _curves(text: str, choice: Choice, last: int) -> tuple[charts.Chart, charts.Chart]:
    """Return what decided at each step, and the compression after each."""
    training, boundaries = trained.there(text, choice)
    tokens, size = boundaries.token_counts[: last + 1], int(boundaries.ends[-1])
    compression = charts.compression(tokens, size, texts_of(training).unit)
    return charts.decided(training, last), compression


def _chart(curve: charts.Chart, step: int, name: str, alternative: str) -> None:
    # A chart's selection cannot be cleared from here, and clicking the same place again is no new
    # one; so after each click the chart begins anew, under another key.
    picks = st.session_state.setdefault(f"picks in {name}", 0)
    key = f"{name} {picks}"

    def picked() -> None:
        points = st.session_state[key].selection.get(charts.SELECTION) or []
        if points:
            _jump(int(points[0]["step"]))
            st.session_state[f"picks in {name}"] = picks + 1

    st.vega_lite_chart(spec=charts.at_step(curve, step), key=key, on_select=picked, alt=alternative)

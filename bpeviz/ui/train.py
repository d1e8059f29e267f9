"""What stands on the Train page beside its inputs: the player, and what follows its step."""

from __future__ import annotations

import streamlit as st

from bpeviz import charts, replay, tables
from bpeviz.boundaries import Boundaries
from bpeviz.training import Training
from bpeviz.ui import cache, components
from bpeviz.ui.details import details
from bpeviz.ui.inputs import Choice

CANDIDATES = 8
"""How many of a step's best candidates are shown."""


def _jump(step: int) -> None:
    """Ask the player to go to a step."""
    number = st.session_state.get("jump", {"number": 0})["number"] + 1
    st.session_state["jump"] = {"step": step, "number": number}
    st.session_state["step"] = step


def _part(text: str, choice: Choice) -> int:
    """Let the visitor choose which part of a long text is shown."""
    parts = cache.parts(text, choice)
    if len(parts) < 2:
        return 0
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
    return number - 1


def show(text: str, training: Training, boundaries: Boundaries, choice: Choice, last: int) -> None:
    """Draw the player, and below it all that follows its step."""
    place = st.container()
    film = cache.film(text, choice, _part(text, choice), last)
    with place:
        components.player(replay.reel(film), "player")
    _follow(text, training, boundaries, last, film["film"])


@st.fragment
def _follow(text: str, training: Training, boundaries: Boundaries, last: int, film: str) -> None:
    """Draw what follows the step. Runs again by itself when the step changes."""
    state = st.session_state
    body = st.container()
    told = components.follower(state.get("jump"), "follower")["step"]
    if state.get("shown") != (film, last):
        state["shown"], state["step"] = (film, last), last
    if told and told["film"] == film and state.get("told") != told:
        state["told"], state["step"] = told, min(told["step"], last)
    step = state["step"]
    if not last:
        return
    with body:
        left, right = st.columns((3, 5), gap="medium")
        with left:
            _candidates(text, training, boundaries, step)
        with right:
            _decisions(training, last, film)
        left, right = st.columns(2, gap="medium")
        with left:
            name, _ = training.curve
            _chart(charts.decided(training, last, step), "decided", f"The {name} at each step")
        with right:
            tokens = boundaries.token_counts[: last + 1]
            size = int(boundaries.ends[-1])
            compression = charts.compression(tokens, size, step, training.unit)
            _chart(compression, "compression", f"Bytes per token after each {training.unit}")
        st.caption("A click on a curve, or on a row of the table, takes the player there.")
        details(text, training, boundaries, step)


def _candidates(text: str, training: Training, boundaries: Boundaries, step: int) -> None:
    taken = max(step, 1) - 1
    st.subheader(training.heading, anchor=False)
    found = training.candidates(text, boundaries, taken, CANDIDATES)
    st.caption(training.rule.format(step=f"{taken + 1:,}"))
    st.dataframe(
        tables.candidates(training, found, step), hide_index=True, height=316, key="candidates"
    )


def _decisions(training: Training, last: int, film: str) -> None:
    st.subheader(f"The {training.unit}s", anchor=False)
    search = st.text_input(
        "Find a token",
        key="search",
        placeholder="Find a token: text, or an id",
        label_visibility="collapsed",
        persist_state="session",
    )
    table = tables.decisions(training, last, search)
    numbers = table[training.unit].tolist()
    # Other rows, another table: nothing of it is selected yet, and its first click is not lost.
    key = f"decisions of {film} to {last} with {search}"

    def picked() -> None:
        cells = st.session_state[key].selection.cells
        if cells:
            _jump(numbers[cells[0][0]])
            # Nothing stays selected, so that a second click on the same row is one, too.
            st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": []}}

    if not numbers:
        st.caption(f"No {training.unit} is about a token with “{search}” in it.")
        return
    narrow = dict.fromkeys(table.columns, st.column_config.Column(width=62))
    if "note" in narrow:
        narrow["note"] = st.column_config.Column(width="medium")
    st.dataframe(
        table,
        hide_index=True,
        height=316,
        key=key,
        on_select=picked,
        selection_mode="single-cell",  # of a row, only a box at its start could be clicked
        column_config=narrow,
    )


def _chart(chart: charts.Chart, name: str, alternative: str) -> None:
    # A chart's selection cannot be cleared from here, and clicking the same place again is no new
    # one; so after each click the chart begins anew, under another key.
    picks = st.session_state.setdefault(f"picks in {name}", 0)
    key = f"{name} {picks}"

    def picked() -> None:
        points = st.session_state[key].selection.get(charts.SELECTION) or []
        if points:
            _jump(int(points[0]["step"]))
            st.session_state[f"picks in {name}"] = picks + 1

    st.altair_chart(chart, key=key, on_select=picked, alt=alternative)

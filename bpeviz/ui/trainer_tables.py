"""The tables that only one trainer has (`bpeviz.trainers.screen_texts.Detail`)."""

from __future__ import annotations

import streamlit as st

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.trainers.screen_texts import Detail
from bpeviz.ui.table import draw_table
from bpeviz.ui.widgets import Section
from bpeviz.views import charts
from bpeviz.views.table import Table


def details(text: str, training: Training, boundaries: Boundaries, step: int) -> None:
    """Draw the tables that only this trainer has, each folded."""
    algorithm = training.algorithm
    tables_of = texts_of(training).details(training, text, boundaries, step)
    for number, detail in enumerate(tables_of):
        key = f"detail_{number}_of_{algorithm}"
        title = f"{TRAINERS[algorithm].short}: {detail.title}"
        if (place := Section(f"{key}_open", title).opened()) is not None:
            with place:
                _detail(detail, key)


def _detail(detail: Detail, key: str) -> None:
    """Draw the table of a detail, with its curve beside it."""
    st.caption(detail.about)
    table = Table.of(detail.columns)
    chart = charts.detail(detail) if len(table) > 1 else None  # a curve needs two points
    if chart is None:
        draw_table(table, key, label=detail.title, scrolls=True, download=True)
        return
    left, right = st.columns(2, gap="medium")
    with left:
        draw_table(table, key, label=detail.title, scrolls=True, download=True)
    with right:
        st.vega_lite_chart(spec=chart, key=f"{key}, drawn", alt=detail.title)

"""The tables that only one trainer has (`bpeviz.trainers.screen.Detail`)."""

from __future__ import annotations

import streamlit as st

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui import html_table
from bpeviz.views import charts, tables


def details(text: str, training: Training, boundaries: Boundaries, step: int) -> None:
    """Draw the tables that only this trainer has."""
    title = TRAINERS[training.algorithm].short
    for number, detail in enumerate(texts_of(training).details(training, text, boundaries, step)):
        st.header(f"{title}: {detail.title}", anchor=False)
        st.caption(detail.about)
        key = f"detail {number} of {training.algorithm}"
        table = tables.detail(detail)
        chart = charts.detail(detail) if len(table) > 1 else None  # a curve needs two points
        if chart is None:
            html_table.draw(table, key, label=detail.title, scrolls=True, download=True)
            continue
        left, right = st.columns(2, gap="medium")
        with left:
            html_table.draw(table, key, label=detail.title, scrolls=True, download=True)
        with right:
            st.vega_lite_chart(spec=chart, key=f"{key}, drawn", alt=detail.title)

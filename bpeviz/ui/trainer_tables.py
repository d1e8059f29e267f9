"""The tables that only one trainer has (`bpeviz.trainers.screen_texts.Detail`)."""

from __future__ import annotations

import streamlit as st

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.trainers.screen_texts import Detail, Survival
from bpeviz.ui.table import draw_table
from bpeviz.ui.widgets import Section
from bpeviz.views import charts
from bpeviz.views.table import Table


def details(text: str | Documents, training: Training, boundaries: Boundaries, step: int) -> None:
    """Draw the tables that only this trainer has, each folded."""
    algorithm = training.algorithm
    tables_of = texts_of(training).details(training, text, boundaries, step)
    for number, detail in enumerate(tables_of):
        key = f"detail_{number}_of_{algorithm}"
        title = f"{TRAINERS[algorithm].short}: {detail.title}"
        Section(f"{key}_open", title).show(_detail, detail, key)


def _detail(detail: Detail, key: str) -> None:
    """Draw the table or the picture of a detail."""
    st.caption(detail.about)
    content = detail.content()
    if not isinstance(content, Survival):
        table = Table.of(content)
        draw_table(table, key, label=detail.title, download=True)
    elif content.costs:
        is_dark = st.context.theme.type == "dark"
        chart = charts.in_theme(charts.survival(content), is_dark=is_dark)
        st.vega_lite_chart(spec=chart, key=f"{key}, drawn", alt=chart["title"]["text"])

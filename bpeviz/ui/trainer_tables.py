"""The tables that only one trainer has (`bpeviz.trainers.screen_texts.Detail`)."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.trainers.screen_texts import Detail, Survival
from bpeviz.ui.page_trainings import Trained
from bpeviz.ui.table import draw_table
from bpeviz.ui.widgets import Section
from bpeviz.views import charts
from bpeviz.views.table import Table
from bpeviz.views.token_table import Look


def details(trained: Trained, step: int, look: Look) -> None:
    """Draw the tables that only this trainer has, each folded. look: that of its tokens."""
    training, algorithm = trained.history, trained.history.algorithm
    text, boundaries = trained.training_text, trained.training_boundaries
    tables_of = texts_of(training).details(training, text, boundaries, step)
    for number, detail in enumerate(tables_of):
        key = f"detail_{number}_of_{algorithm}"
        title = f"{TRAINERS[algorithm].short}: {detail.title}"
        Section(f"{key}_open", title).show(_detail, detail, key, look)


def _detail(detail: Detail, key: str, look: Look) -> None:
    """Draw the table or the picture of a detail."""
    st.caption(detail.about)
    content = detail.content()
    if not isinstance(content, Survival):
        ids = {name: content[name] for name in detail.tokens}
        names = {name: [_labels(cell, look) for cell in cells] for name, cells in ids.items()}
        table = Table.of({**content, **names})
        draw_table(table, key, label=detail.title, download=True, ids=ids or None, look=look)
    elif content.costs:
        is_dark = st.context.theme.type == "dark"
        chart = charts.in_theme(charts.survival(content), is_dark=is_dark)
        st.vega_lite_chart(spec=chart, key=f"{key}, drawn", alt=chart["title"]["text"])


def _labels(cell: int | Sequence[int], look: Look) -> str:
    """Return the labels of one token or several."""
    return " ".join(look(token_id)[0] for token_id in ([cell] if isinstance(cell, int) else cell))

"""The vocabulary of a training: all tokens."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bpeviz.analysis import token_lookup
from bpeviz.core.boundaries import Part
from bpeviz.text import counted
from bpeviz.ui import components
from bpeviz.ui.page_trainings import Trained
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import SEARCHED_ROWS, offer_file
from bpeviz.ui.widgets import Section
from bpeviz.views import tables, token_table
from bpeviz.views.payloads import TokenTable
from bpeviz.views.table import Table

SECTION = Section("vocabulary_open", "The vocabulary: all tokens")


@fragment
def vocabulary(trained: Trained, last: int, shown: Part) -> None:
    """Draw the vocabulary after step `last`, if its section is open, in the colors of a part."""
    SECTION.show(_draw, trained, last, shown)


def _draw(trained: Trained, last: int, shown: Part) -> None:
    data = _tokens(trained, last, shown)
    components.token_table(data, "vocabulary table")
    number = counted(len(data["columns"][0]["values"]), "token")
    st.caption(
        f"{number}, those learned here first. The column “uses” counts each in the training text."
    )
    handle = trained.handle  # the session must not hold the history
    offer_file(lambda: _table(handle.open(), last), "vocabulary", data["label"])


@cached()
def _tokens(trained: Trained, step: int, shown: Part) -> TokenTable:
    """Return the table of the tokens after a step; do not change it, it is cached."""
    table, tokenizer = _table(trained, step), trained.history.at_step(step)
    look = token_lookup.look_of(tokenizer, trained.hues(shown))
    ids = {"token": table.columns[0]}
    return token_table.payload(table, "All tokens", ids, look, searches=SEARCHED_ROWS)


def _table(trained: Trained, step: int) -> Table:
    ids = trained.training_boundaries.ids(step)
    return tables.vocabulary(trained.history.at_step(step), np.bincount(ids[ids >= 0]))

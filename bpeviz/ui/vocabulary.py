"""The vocabulary of a training: all tokens, the initial alphabet, and what each size costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st

from bpeviz.analysis import token_lookup, vocabulary_cost
from bpeviz.core.boundaries import Part
from bpeviz.text import counted
from bpeviz.trainers import texts_of
from bpeviz.ui import components
from bpeviz.ui.page_trainings import Trained
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import SEARCHED_ROWS, draw_table, offer_file
from bpeviz.ui.widgets import NumberField, OneOf, Section, Widget
from bpeviz.views import tables, token_table
from bpeviz.views.payloads import TokenTable
from bpeviz.views.table import Table

VIEW = OneOf(
    "vocabulary",
    "The vocabulary",
    titles={"tokens": "All tokens", "alphabet": "Initial alphabet", "cost": "Costs by size"},
)
WIDTH = NumberField("width", "Embedding width", low=1, high=100_000)
RARELY = NumberField("rarely", "Rare: fewer times than", low=1, high=1_000_000)
SECTION = Section(
    "vocabulary_open",
    "The vocabulary: all tokens, and the cost of its size",
    contents=(VIEW, WIDTH, RARELY),
)

GROWTH = 1.5
"""How many times as large as the smallest vocabulary the largest must be to compare their costs."""


def widgets() -> Iterator[Widget[Any]]:
    """Yield the widgets of the section."""
    yield from (SECTION, VIEW, WIDTH, RARELY)


@fragment
def vocabulary(trained: Trained, last: int, shown: Part) -> None:
    """Draw the vocabulary after step `last`, if its section is open, in the colors of a part."""
    SECTION.show(_views, trained, last, shown)


def _views(trained: Trained, last: int, shown: Part) -> None:
    view = VIEW.segments(label_visibility="collapsed")
    if view == "cost":
        _cost(trained, last)
        return
    step = last if view == "tokens" else 0
    data = _tokens(trained, step, shown)
    components.token_table(data, "vocabulary table")
    number = counted(len(data["columns"][0]["values"]), "token")
    unit = texts_of(trained.history).unit
    st.caption(
        f"{number}, those learned here first. The column “uses” counts each in the training text."
        if step
        else f"{number}: the vocabulary before the first {unit}."
    )
    handle = trained.handle  # the session must not hold the history
    offer_file(lambda: _table(handle.open(), step), "vocabulary", data["label"])


@cached()
def _tokens(trained: Trained, step: int, shown: Part) -> TokenTable:
    """Return the table of the tokens after a step; do not change it, it is cached."""
    table, tokenizer = _table(trained, step), trained.history.at_step(step)
    look = token_lookup.look_of(tokenizer, trained.hues(shown))
    ids = {"token": table.columns[0]}
    return token_table.payload(table, VIEW.titles["tokens"], ids, look, searches=SEARCHED_ROWS)


def _table(trained: Trained, step: int) -> Table:
    uses = vocabulary_cost.uses(trained.training_boundaries, step)
    return tables.vocabulary(trained.history.at_step(step), uses)


def _cost(trained: Trained, last: int) -> None:
    sizes = trained.history.sizes[: last + 1]
    if sizes.max() < GROWTH * sizes.min():
        st.caption(
            f"Vocabularies of {sizes.min():,} to {sizes.max():,} tokens hardly differ in cost. "
            "Train a larger one to compare."
        )
        return
    with st.container(horizontal=True):
        width = WIDTH.any_number(
            768, width=200, help="Parameters per token in the embedding of a language model."
        )
        rarely = RARELY.any_number(
            10, width=200, help="Rare tokens give a language model little to train on."
        )
    costs = tables.costs(_costs(trained, last, width, rarely), rarely)
    draw_table(costs, "costs", label="Costs by vocabulary size", right=costs.names, download=True)
    st.caption(
        "A larger vocabulary makes texts shorter. In exchange, a language model stores one row of "
        "parameters per token in its embedding, and another in its output layer unless both share "
        "them. More tokens are rare, too."
    )


@cached()
def _costs(trained: Trained, last: int, width: int, rarely: int) -> list[vocabulary_cost.Cost]:
    training = trained.history
    steps = vocabulary_cost.sizes(last)
    return vocabulary_cost.costs(training, trained.training_boundaries, steps, width, rarely)

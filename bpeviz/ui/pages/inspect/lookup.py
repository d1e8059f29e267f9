"""Lookups in the vocabulary: a token by its id or its text, and the text of ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import streamlit as st

from bpeviz import limits
from bpeviz.analysis import hues, token_lookup
from bpeviz.corpus.ids import IdsError, read_ids
from bpeviz.pretokenizers.patterns import MAX_EXPRESSION
from bpeviz.text import listed
from bpeviz.ui import components, markdown
from bpeviz.ui.pages.inspect.encoding import NAMED_TOKENS
from bpeviz.ui.pages.inspect.inspected_text import InspectedText, InspectionDetail
from bpeviz.ui.table import draw_table
from bpeviz.ui.tokenizers import Offer
from bpeviz.ui.widgets import TextField, Values, Widget
from bpeviz.views import encoded, tables
from bpeviz.views.stage import Stage
from bpeviz.views.table import Table

QUERY = TextField("look_up", "Token id or text", longest=MAX_EXPRESSION)
IDS = TextField("ids_box", "Ids", longest=limits.PAGE_TEXT)


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield QUERY


def _draw_token(text: InspectedText, offers: Sequence[Offer]) -> None:
    """Draw the box for the query, and the token with its merge diagram and its neighbors."""
    tokenizer = text.tokenizer
    query = QUERY.line(
        placeholder="Click a token of the grid, or type an id or text",
        width=420,
        help="You can type · for a space, as tokens show it.",
    )
    if not query:
        size = token_lookup.describe_size(tokenizer)
        st.caption(f"Click a token of the grid to look it up. The vocabulary has {size}.")
        return
    namesakes = token_lookup.look_up(query, tokenizer)
    if not namesakes:
        _no_token(query, text)
        return
    token = namesakes[0]
    ids = [namesake.id for namesake in namesakes]
    _draw_tokens(text, tables.tokens(namesakes), "looked_up", "Token", ids)
    if note := token_lookup.instead(token.id, tokenizer):
        st.caption(markdown.escape(note))
    parents = tokenizer.parents(token.id)
    if (row := encoded.of_token(token.id, tokenizer)) is not None:
        stage = Stage([row], hues.hues([row.coloring], text.colors))
        components.player(stage.diagram(), "picture_of_token")
    elif parents is None:
        st.caption("No merge created this token.")
    else:
        labels = [f"{markdown.escape(tokenizer.token_label(at))} (id {at})" for at in parents]
        st.caption(f"It was merged from {labels[0]} and {labels[1]}.")
    title = "Neighbors in the vocabulary"
    st.header(title, anchor=False)
    neighbors = token_lookup.neighbors(token.id, tokenizer)
    ids = [neighbor.id for neighbor in neighbors]
    _draw_tokens(text, tables.tokens(neighbors), "neighbors", title, ids)


LOOK_UP = InspectionDetail("Look up a token", _draw_token, _widgets)


def _draw_tokens(
    text: InspectedText, table: Table, key: str, label: str, ids: Sequence[int | None]
) -> None:
    """Draw a table whose column “token” has these ids."""
    look, is_long = text.look, len(table) > 1
    draw_table(table, key, label=label, download=is_long, ids={"token": ids}, look=look)


def _no_token(query: str, text: InspectedText) -> None:
    """Draw a note that the token does not exist, and the tokens of its text instead."""
    tokenizer = text.tokenizer
    size = token_lookup.describe_size(tokenizer)
    st.caption(f"No token has this id or text. The vocabulary has {size}.")
    try:
        ids = tokenizer.encode(token_lookup.query_text(query))
    except ValueError:
        return
    if ids:
        st.caption("As text, it becomes these tokens:")
        table = tables.decoded(token_lookup.decoded(ids, tokenizer))
        _draw_tokens(text, table, "cut_instead", "Tokens of this text", ids)


def _draw_ids(text: InspectedText, offers: Sequence[Offer]) -> None:
    """Draw the box for ids, at first with the first ids of the text, and what they decode to."""
    if not IDS.present:
        IDS.put(f"[{', '.join(map(str, text.inspection.ids[:8]))}]")
    typed = IDS.area(
        height=90,
        placeholder="For example [15339, 1917]",
        help=f"Up to {limits.IDS:,} ids, separated by spaces or commas, as a list, in a JSON "
        "object under “ids” or “input_ids”, or as PyTorch or NumPy prints them.",
    )
    try:
        ids = read_ids(typed, limits.IDS, limits.ID_LIST)
    except IdsError as error:
        st.error(markdown.escape(str(error)))
        return
    if not ids:
        st.caption("There are no ids yet. Type or paste some.")
        return
    tokens = token_lookup.decoded(ids, text.tokenizer)
    missing = list(dict.fromkeys(token.id for token in tokens if token.raw is None))
    warning = st.container()  # always drawn, so that the elements after it keep their identity
    if missing:
        title = markdown.escape(text.offer.title)
        warning.warning(
            f"{title} has no id {listed([*map(str, missing)], NAMED_TOKENS)}. The other ids are "
            "decoded."
        )
    st.text("Text")
    st.code(token_lookup.text_of(ids, text.tokenizer), language=None, wrap_lines=True)
    table = tables.decoded(tokens)
    known = [None if token.raw is None else token.id for token in tokens]
    _draw_tokens(text, table, "decoded", "Decoded ids", known)


DECODE = InspectionDetail("Decode ids", _draw_ids, lambda values: iter([IDS]))

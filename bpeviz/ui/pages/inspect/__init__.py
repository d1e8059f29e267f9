"""The Inspect page: one text from characters to ids, with closer looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.analysis import normalization, trace
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.round_trip import RoundTrip, round_trip
from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import Part
from bpeviz.text import counted
from bpeviz.ui import components, markdown, tokenizers
from bpeviz.ui.inputs.parts import ROW, choose_part, choose_row, open_part
from bpeviz.ui.inputs.sentence import say, sentence
from bpeviz.ui.inputs.text import TEXT, choose_text
from bpeviz.ui.inputs.training import Corpus, choose_training, training_widgets
from bpeviz.ui.pages import remarks
from bpeviz.ui.pages.base import Page
from bpeviz.ui.pages.inspect import encoding
from bpeviz.ui.pages.inspect.diagram import MERGE_DIAGRAM, MIRRORED
from bpeviz.ui.pages.inspect.encoding import (
    TOKENIZER,
    EncodingSettings,
    choose_encoding,
    choose_tokenizer,
)
from bpeviz.ui.pages.inspect.inspected_text import InspectedText
from bpeviz.ui.pages.inspect.lookup import DECODE, LOOK_UP, QUERY
from bpeviz.ui.pages.inspect.step_by_step import STEP_BY_STEP, WORD
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.table import draw_table
from bpeviz.ui.tokenizers import OWN, Offer
from bpeviz.ui.widgets import OneOf, SessionValue, Switch, Values, Widget, numbers
from bpeviz.views import inspection, tables
from bpeviz.views.parts import parts
from bpeviz.views.payloads import Grid

MAX_INSPECTED = limits.INSPECTED
"""The most characters of a text that are inspected."""

GRID_BYTES = 240
"""The most bytes in the grid and in the player below it at once."""

DECIMAL = Switch("decimal", "Bytes in decimal")
PART = numbers("inspected_part_of_", "Part shown")
DETAILS = {"steps": STEP_BY_STEP, "diagram": MERGE_DIAGRAM, "token": LOOK_UP, "ids": DECODE}
CLOSER = OneOf("closer", "Details", titles={key: detail.title for key, detail in DETAILS.items()})

_PRESSED: SessionValue[int] = SessionValue("picked_token")
"""The number of the last press on a token of the grid that was handled."""


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield from training_widgets(values)
    yield from encoding.widgets(values)
    yield DECIMAL
    yield from values.members(PART)
    yield from values.members(ROW)
    yield CLOSER
    yield from values.members(WORD)
    if detail := DETAILS.get(values.get(CLOSER) or ""):
        yield from detail.widgets(values)


PAGE = Page(
    "pages/Inspect.py", "Inspect", "How does a text become token ids, and text again?", _widgets
)


def _shows_own() -> bool:
    """Return whether the page shows the user's own tokenizer, also because a file was closed."""
    key = TOKENIZER.get()
    is_mirrored = CLOSER.get() == "diagram" and MIRRORED.get() == OWN
    return key == OWN or key not in tokenizers.names() or is_mirrored


def show(side: DeltaGenerator) -> None:
    """Draw the inputs and the text through the pipeline, with one of the details.

    The settings of training are drawn, and the user's own tokenizer is trained, only if the page
    shows it.
    """
    corpus: Corpus | None = None
    with side:
        text = choose_text(TEXT)
        line = sentence()
        with line:
            say("Tokens of")
            tokenizer = st.container(width="content")
        if _shows_own():
            text, choice, sizes = choose_training(text, line, "· Yours:")
            corpus = choice.corpus
            offers = tokenizers.offers_with_own(text, choice, sizes)
        else:
            offers = tokenizers.offers("", 0)
        with tokenizer:
            offer = choose_tokenizer(offers)
        with line:
            settings = choose_encoding(offer)
        inspected_text = choose_row(text)
    if (size := len(inspected_text)) > MAX_INSPECTED:
        st.caption(f"This page inspects the first {MAX_INSPECTED:,} of {size:,} characters.")
    if settings is None:
        return
    inspected_text = inspected_text[:MAX_INSPECTED]
    encoded = settings.encode(inspected_text)
    if encoded is None:
        remarks.atoms_only(inspected_text, "inspect_player")
        return
    _notes(settings, encoded)
    _verdict(settings.offer, encoded)
    text_parts = parts(encoded.text, encoded.cuts, GRID_BYTES)
    part = choose_part(PART, text_parts, "The figures above are for")
    trained_on = corpus is None and encoded.text == text
    open_other = partial(open_part, PART, text_parts)
    inspected = InspectedText(settings.offer, encoded, part, trained_on, open_other)
    inspected.offer_exports()
    _grid(inspected)  # a pressed token is looked up below
    DETAILS[CLOSER.segments(label_visibility="collapsed")].draw(inspected, offers)


def _notes(settings: EncodingSettings, encoded: Inspection) -> None:
    """Draw in words how the text was changed before it was encoded."""
    _normalization(encoded)
    if settings.system is not None:
        st.caption(
            "Characters on a gray background, in italics, come from the chat template."
            if encoded.message
            else "The chat template changes the text, so its own characters are not marked."
        )
    if twice := trace.begins_twice(encoded.tokenizer, encoded.template[0], encoded.text_ids):
        st.warning(markdown.escape(twice))


def _normalization(encoded: Inspection) -> None:
    """Draw in words how the tokenizer changes the text before it splits it."""
    if clauses := normalization.describe(encoded.units):
        st.markdown(
            ":material/filter_alt: **Normalized** before it is split: "
            f"{markdown.escape('; '.join(clauses))}."
        )


def _verdict(offer: Offer, encoded: Inspection) -> None:
    """Draw whether decoding returns the text, and otherwise the differences."""
    trip = _round_trip(offer, encoded)
    added = encoded.added_count
    figures = (
        f"{markdown.escape(offer.title)}: {counted(len(encoded.ids), 'token')} for "
        f"{counted(len(encoded.raw), 'byte')}"
        f"{f', {added:,} of them from the template' if added else ''}"
    )
    if trip.lossless:
        st.markdown(
            f":green[:material/check_circle:] **Lossless.** Decoding the ids returns exactly the "
            f"same text. {figures}."
        )
        return
    places = counted(sum(loss.times for loss in trip.losses), "place")
    st.markdown(
        f":orange[:material/warning:] **Lossy.** Decoding the ids returns a text that differs in "
        f"{places}. {figures}."
    )
    draw_table(tables.losses(trip.losses), "losses", label="Text that decoding does not restore")


@cached()
def _round_trip(offer: Offer, encoded: Inspection) -> RoundTrip:
    return round_trip(encoded)


def _grid(text: InspectedText) -> None:
    """Draw the size of the text, and the grid; a pressed token is looked up below."""
    encoded = text.inspection
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{counted(len(encoded.grapheme_ends), 'character')} · "
            f"{counted(len(encoded.text), 'code point')} · "
            f"{counted(len(encoded.raw), 'byte')} in UTF-8"
        )
        decimal = DECIMAL.toggle()
    payload = _grid_payload(text.offer, encoded, text.part, decimal, text.colors)
    pressed = components.grid(payload, "grid")
    if pressed and _PRESSED.get() != pressed["number"]:
        _PRESSED.put(pressed["number"])
        QUERY.put(str(pressed["id"]))
        CLOSER.put("token")


@cached()
def _grid_payload(
    offer: Offer, encoded: Inspection, part: Part, decimal: bool, _colors: Hues
) -> Grid:
    """Return the payload of the grid; do not change it, it is cached."""
    return inspection.grid(encoded, part, decimal=decimal, colors=_colors)

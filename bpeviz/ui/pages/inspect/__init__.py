"""The Inspect page: one text from characters to ids, with closer looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.analysis import normalization, trace
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.round_trip import RoundTrip, round_trip
from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import Part
from bpeviz.corpus.documents import Documents
from bpeviz.text import counted
from bpeviz.ui import components, markdown, tokenizers
from bpeviz.ui.inputs.messages import CHAT, MESSAGES
from bpeviz.ui.inputs.parts import ROW, choose_row, row_of, say_part
from bpeviz.ui.inputs.sentence import say, sentence
from bpeviz.ui.inputs.text import TEXT, choose_text
from bpeviz.ui.inputs.token_count import character_count
from bpeviz.ui.inputs.training import choose_training, choose_training_in_menu, training_widgets
from bpeviz.ui.pages import remarks
from bpeviz.ui.pages.base import TITLE, Page
from bpeviz.ui.pages.inspect import conversation, encoding
from bpeviz.ui.pages.inspect.diagram import MERGE_DIAGRAM, MIRRORED
from bpeviz.ui.pages.inspect.encoding import (
    EncodingSettings as EncodingSettings,
)
from bpeviz.ui.pages.inspect.encoding import (
    choose_encoding,
    choose_tokenizer,
)
from bpeviz.ui.pages.inspect.inspected_text import InspectedText
from bpeviz.ui.pages.inspect.lookup import DECODE, LOOK_UP, QUERY
from bpeviz.ui.pages.inspect.step_by_step import STEP_BY_STEP, WORD
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.table import draw_table
from bpeviz.ui.tokenizers import OWN, Offer
from bpeviz.ui.widgets import OneOf, SessionValue, SessionValues, Values, Widget, numbers
from bpeviz.views import inspection, tables
from bpeviz.views.parts import parts
from bpeviz.views.payloads import Grid
from bpeviz.views.playable import Interactive

MAX_INSPECTED = limits.INSPECTED
"""The most characters of a text that are inspected."""

GRID_BYTES = 240
"""The most bytes in the grid and in the player at once."""

PART = numbers("inspected_part_of_", "Part shown")
DETAILS = {"steps": STEP_BY_STEP, "diagram": MERGE_DIAGRAM, "token": LOOK_UP, "ids": DECODE}
IN_PLACE = ("steps", "diagram")
"""Those that stand in the place of the grid; the others stand below it."""

CLOSER = OneOf(
    "closer",
    "Views of the text",
    titles={"grid": "Grid"} | {key: detail.title for key, detail in DETAILS.items()},
)

_QUESTION = "How does a text become token ids, and text again?"
_ANSWER: SessionValue[str] = SessionValue("inspected")
"""The title of the last run, which stands there until this one has its own."""


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield conversation.HAVE
    yield CHAT
    yield encoding.TOKENIZER
    if conversation.is_chosen(values):
        yield from conversation.widgets(values)
        return
    yield from training_widgets(values)
    yield from encoding.widgets()
    yield from values.members(PART)
    yield from values.members(ROW)
    yield CLOSER
    yield from values.members(WORD)
    if detail := DETAILS.get(values.get(CLOSER) or ""):
        yield from detail.widgets(values)


def page_content(values: Values) -> Interactive:
    """Return the steps of the text in all of its views, or its tokens without steps.

    Of a conversation, it is the text that the model reads.
    """
    if conversation.is_chosen(values):
        offer, rendered = conversation.text_of(values)
        encoded = EncodingSettings(offer, offer.special_tokens).trace(rendered)
        return _inspected(rendered, offer, encoded, parts(encoded.text, encoded.cuts)[0]).content()
    key = encoding.TOKENIZER.value(encoding.first_tokenizer(), values)
    text, offers = tokenizers.linked_offers(values, [key])
    inspected_text = row_of(values, text)[:MAX_INSPECTED]
    if not inspected_text or not offers:
        raise ValueError("This link has no text, or no tokenizer to inspect.")
    encoded = encoding.settings_of(offers[0], values).trace(inspected_text)
    return _inspected(text, offers[0], encoded, parts(encoded.text, encoded.cuts)[0]).content()


PAGE = Page(
    "pages/Inspect.py",
    "Inspect",
    _QUESTION,
    _widgets,
    content=page_content,
    heading=lambda: _ANSWER.get() or conversation.question(_QUESTION),
    short={"messages": MESSAGES.box.link},
)


def show(side: DeltaGenerator) -> None:
    """Draw the inputs and the text through the pipeline, in one of its views.

    The settings of training are drawn, and the user's own tokenizer is trained, only if the page
    shows it.
    """
    if conversation.is_chosen(SessionValues()):
        _answer(conversation.show(side))
        return
    with side:
        text = choose_text(TEXT, count=character_count)
        line = sentence()
        with line:
            say("Inspect")
            conversation.choose_kind()
            say("with")
            key = choose_tokenizer(tokenizers.names(), encoding.first_tokenizer())
        is_mirrored = CLOSER.get() == "diagram" and MIRRORED.get() == OWN
        if key == OWN or is_mirrored:
            choose = choose_training if key == OWN else choose_training_in_menu
            text, choice, sizes = choose(text, line)
            offers = tokenizers.offers_with_own(text, choice, sizes)
        else:
            offers = tokenizers.offers("", 0)
        inspected_text = choose_row(text)
        with line:
            offer = next(offer for offer in offers if offer.key == key)
            settings = choose_encoding(offer, inspected_text)
            part_place = sentence("part_place")
            view = CLOSER.segments(label_visibility="collapsed")
    if (size := len(inspected_text)) > MAX_INSPECTED:
        st.caption(f"This page inspects the first {MAX_INSPECTED:,} of {size:,} characters.")
    inspected_text = inspected_text[:MAX_INSPECTED]
    if settings is None or (encoded := settings.encode(inspected_text)) is None:
        _answer(_QUESTION)
        if settings is not None:
            remarks.atoms_only(inspected_text, "inspect_player")
        return
    trip = _round_trip(offer, encoded)
    _answer(_verdict(encoded, trip))
    text_parts = parts(encoded.text, encoded.cuts, GRID_BYTES)
    with part_place:
        part = say_part(PART, text_parts)
    inspected = _inspected(text, offer, encoded, part)
    inspected.offer_exports()
    if twice := trace.begins_twice(encoded.tokenizer, encoded.template[0], encoded.text_ids):
        st.warning(markdown.escape(twice))
    if view not in IN_PLACE:
        payload = _grid_payload(offer, encoded, part, settings.decimal, inspected.colors)
        components.grid(payload, "grid", _look_up)
    if view in DETAILS:
        DETAILS[view].draw(inspected, offers)
    _notes(encoded, trip)


def _inspected(
    text: str | Documents,
    offer: Offer,
    encoded: Inspection,
    part: Part,
) -> InspectedText:
    """Return a part of an encoded text. text: that of the page."""
    trained_on = offer.own is not None and offer.own.choice.corpus is None and encoded.text == text
    return InspectedText(offer, encoded, part, trained_on)


def _look_up(token_id: int) -> None:
    """Look a token of the grid up, below it (a callback)."""
    QUERY.put(str(token_id))
    CLOSER.put("token")


def _answer(title: str) -> None:
    """Draw the title, which stands there at the beginning of the next run."""
    _ANSWER.put(title)
    TITLE.get().title(title, anchor=False)


def _verdict(encoded: Inspection, trip: RoundTrip) -> str:
    """Return the figures of an encoded text, and whether decoding returns it."""
    added = f", {encoded.added_count:,} from the template" if encoded.added_count else ""
    places = counted(sum(loss.times for loss in trip.losses), "place")
    back = (
        "Turned back, the ids give exactly this text."
        if trip.lossless
        else f"**Turned back, the text differs in {places}.**"
    )
    return (
        f"**{counted(len(encoded.ids), 'token')}**{added} · "
        f"{counted(len(encoded.grapheme_ends), 'character')} · "
        f"{counted(len(encoded.raw), 'byte')}. {back}"
    )


def _notes(encoded: Inspection, trip: RoundTrip) -> None:
    """Draw in words how the text was changed before it was encoded, and what decoding loses."""
    if not trip.lossless:
        label = "Text that decoding does not restore"
        draw_table(tables.losses(trip.losses), "losses", label=label)
    if clauses := normalization.describe(encoded.units):
        st.markdown(
            ":material/filter_alt: **Normalized** before it is split: "
            f"{markdown.escape('; '.join(clauses))}."
        )


@cached()
def _round_trip(offer: Offer, encoded: Inspection) -> RoundTrip:
    return round_trip(encoded)


@cached()
def _grid_payload(
    offer: Offer, encoded: Inspection, part: Part, decimal: bool, _colors: Hues
) -> Grid:
    """Return the payload of the grid; do not change it, it is cached."""
    return inspection.grid(encoded, part, decimal=decimal, colors=_colors)

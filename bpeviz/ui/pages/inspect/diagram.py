"""The merge diagram of Inspect, also with another tokenizer mirrored below."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import streamlit as st

from bpeviz.analysis import token_lookup
from bpeviz.analysis.hues import OWN_HUES, Hues
from bpeviz.analysis.trace import Event, Inspection
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.trainers import texts_of
from bpeviz.ui import components
from bpeviz.ui.inputs.parts import choose_part
from bpeviz.ui.pages.inspect.encoding import EncodingSettings, TokenizerChoice, is_ready
from bpeviz.ui.pages.inspect.inspected_text import InspectedText, InspectionDetail, has_steps
from bpeviz.ui.tokenizers import LINKED, Offer
from bpeviz.ui.widgets import Values, Widget, numbers
from bpeviz.views import encoded as encoded_views
from bpeviz.views import merge_diagram
from bpeviz.views.merge_diagram import Side
from bpeviz.views.parts import parts

MIRRORED = TokenizerChoice(
    "mirrored", "Compare with (mirrored below)", titles={"none": "None"} | LINKED
)
DRAWN_PART = numbers("drawn_part_of_", "Part drawn")


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield MIRRORED
    yield from values.members(DRAWN_PART)


def _draw(text: InspectedText, offers: Sequence[Offer]) -> None:
    """Draw the merge diagram, with another tokenizer mirrored below."""
    if not has_steps(text.offer, text.tokenizer):
        return
    encoded = text.inspection
    others = {offer.key: offer for offer in offers if offer.key != text.offer.key}
    names = {"none": MIRRORED.titles["none"]} | {key: offer.name for key, offer in others.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if MIRRORED.get() not in names:
            MIRRORED.clear()
        mirrored = others.get(MIRRORED.select(names, width=260))
        text_parts = parts(encoded.text, encoded.cuts, merge_diagram.MAX_DRAWN)
        part = choose_part(DRAWN_PART, text_parts, width=220)
    sides = [_side(text.offer, encoded, text.colors)]
    if mirrored is not None and (beside := _encode_beside(text, mirrored)) is not None:
        colors = encoded_views.hues_of(beside, mirrored.training, text.colors)
        sides.append(_side(mirrored, beside, colors))
    raw = encoded.raw[part.start : part.end]
    components.merge_diagram(merge_diagram.payload(raw, sides, part.start), "picture")
    st.caption(
        "Each block is a merge, and lies on the two tokens that it joined; the blocks on top are "
        "the tokens at this step. Press one to see how it was made."
    )


MERGE_DIAGRAM = InspectionDetail("Merge diagram", _draw, _widgets)


def _encode_beside(text: InspectedText, offer: Offer) -> Inspection | None:
    """Return the text under another tokenizer, if that has steps; draw the reason otherwise."""
    if not is_ready(offer):
        return None
    # All special tokens of the other tokenizer, if those of this one are treated as special.
    special = offer.special_tokens if text.inspection.special_tokens else ()
    encoded = EncodingSettings(offer, special).encode(text.inspection.text)
    return encoded if encoded is not None and has_steps(offer, encoded.tokenizer) else None


def side_of(
    offer: Offer,
    tokenizer: Tokenizer,
    boundaries: Boundaries,
    events: Sequence[Event],
    special: Collection[int] = (),
    colors: Hues = OWN_HUES,
) -> Side:
    """Return a side of the diagram, with the steps of some events."""
    unit = "merge" if offer.training is None else texts_of(offer.training).unit
    look = token_lookup.look_of(tokenizer, offer.training, special, colors)
    numbers = [event.step for event in events]
    return Side(offer.title, boundaries, len(numbers), tokenizer.steps, look, unit, numbers)


def _side(offer: Offer, encoded: Inspection, colors: Hues) -> Side:
    how = (encoded.tokenizer, encoded.boundaries, encoded.events, encoded.special_ids, colors)
    return side_of(offer, *how)

"""The merge diagram of Inspect, also with another tokenizer mirrored below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from bpeviz.analysis.trace import Inspection
from bpeviz.text import counted
from bpeviz.ui import components
from bpeviz.ui.inputs.parts import say_part
from bpeviz.ui.inputs.sentence import say
from bpeviz.ui.pages.inspect.encoding import EncodingSettings, TokenizerChoice, is_ready
from bpeviz.ui.pages.inspect.inspected_text import InspectedText, InspectionDetail, has_steps
from bpeviz.ui.tokenizers import LINKED, Offer
from bpeviz.ui.widgets import Values, Widget, numbers
from bpeviz.views import encoded as encoded_views
from bpeviz.views.parts import part_between, parts
from bpeviz.views.stage import Stage

MAX_DRAWN = 120
"""The largest text that stays readable in the diagram, in bytes."""

MIRRORED = TokenizerChoice(
    "mirrored", "Compare with (mirrored below)", titles={"none": "nothing"} | LINKED
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
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with line:
        say("Below, mirrored:")
        if MIRRORED.get() not in names:
            MIRRORED.clear()
        mirrored = others.get(MIRRORED.select(names, width=220, label_visibility="collapsed"))
        part = say_part(DRAWN_PART, parts(encoded.text, encoded.cuts, MAX_DRAWN))
    stage, below = replace(text, part=part).stage(text.offer.title), None
    if mirrored is not None and (beside := _encode_beside(text, mirrored)) is not None:
        at = part_between(beside.boundaries, part, beside.text)
        row = encoded_views.of_inspection(beside, at, mirrored.title, mirrored.training)
        below = Stage([row], encoded_views.hues_of(beside, mirrored.training, text.colors))
        with line:
            above = counted(stage.token_count, "token")
            say(f"Above **{above}**, below **{counted(below.token_count, 'token')}**.")
    components.player(stage.diagram(below), "diagram_player")


MERGE_DIAGRAM = InspectionDetail("Merge diagram", _draw, _widgets)


def _encode_beside(text: InspectedText, offer: Offer) -> Inspection | None:
    """Return the text under another tokenizer, if that has steps; draw the reason otherwise."""
    if not is_ready(offer):
        return None
    # All special tokens of the other tokenizer, if those of this one are treated as special.
    special = offer.special_tokens if text.inspection.special_tokens else ()
    encoded = EncodingSettings(offer, special).encode(text.inspection.text)
    return encoded if encoded is not None and has_steps(offer, encoded.tokenizer) else None

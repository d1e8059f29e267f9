"""The merge diagram of Inspect, also with another tokenizer mirrored below."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpeviz.analysis.trace import Inspection
from bpeviz.text import counted
from bpeviz.ui import components
from bpeviz.ui.inputs.sentence import say
from bpeviz.ui.pages.inspect.encoding import EncodingSettings, TokenizerChoice, is_ready
from bpeviz.ui.pages.inspect.inspected_text import InspectedText, InspectionDetail, has_steps
from bpeviz.ui.tokenizers import LINKED, Offer
from bpeviz.views import encoded as encoded_views
from bpeviz.views.parts import part_between
from bpeviz.views.stage import Stage

MIRRORED = TokenizerChoice(
    "mirrored", "Compare with (mirrored below)", titles={"none": "nothing"} | LINKED
)


def _draw(text: InspectedText, offers: Sequence[Offer]) -> None:
    """Draw the merge diagram, with another tokenizer mirrored below."""
    if not has_steps(text.offer, text.tokenizer):
        return
    others = {offer.key: offer for offer in offers if offer.key != text.offer.key}
    names = {"none": MIRRORED.titles["none"]} | {key: offer.name for key, offer in others.items()}
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with line:
        say("Below, mirrored:")
        if MIRRORED.get() not in names:
            MIRRORED.clear()
        mirrored = others.get(MIRRORED.select(names, width=220, label_visibility="collapsed"))
    stage, below = text.stage(text.offer.title), None
    if mirrored is not None and (beside := _encode_beside(text, mirrored)) is not None:
        at = part_between(beside.boundaries, text.part, beside.text)
        row = encoded_views.of_inspection(beside, at, mirrored.title, mirrored.training)
        below = Stage([row], encoded_views.hues_of(beside, mirrored.training, text.colors))
        with line:
            above = counted(stage.token_count, "token")
            say(f"Above **{above}**, below **{counted(below.token_count, 'token')}**.")
    components.player(stage.diagram(below), "diagram_player")


MERGE_DIAGRAM = InspectionDetail("Merge diagram", _draw, lambda values: iter((MIRRORED,)))


def _encode_beside(text: InspectedText, offer: Offer) -> Inspection | None:
    """Return the text under another tokenizer, if that has steps; draw the reason otherwise."""
    if not is_ready(offer):
        return None
    # All special tokens of the other tokenizer, if those of this one are treated as special.
    special = offer.special_tokens if text.inspection.special_tokens else ()
    encoded = EncodingSettings(offer, special).encode(text.inspection.text)
    return encoded if encoded is not None and has_steps(offer, encoded.tokenizer) else None

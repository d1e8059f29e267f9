"""The player of Inspect, with the steps that change the text, and the lattice of a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from bpeviz.analysis import trace
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import UNKNOWN_ID, Part
from bpeviz.core.lattice import Lattice
from bpeviz.core.tokenizer import Word
from bpeviz.text import label
from bpeviz.ui import components
from bpeviz.ui.export_dialog import EXPORT
from bpeviz.ui.pages import remarks
from bpeviz.ui.pages.base import WAYS
from bpeviz.ui.pages.inspect.inspected_text import InspectedText, InspectionDetail, has_steps
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import draw_table
from bpeviz.ui.tokenizers import OWN, Offer
from bpeviz.ui.widgets import numbers
from bpeviz.views import inspection, player, race, tables
from bpeviz.views.lattice import lattice_html

SEGMENTATIONS = 8
"""The most segmentations of a word that are shown."""

LONGEST_WORD = 24
"""The most characters of a word whose lattice is drawn."""

MOST_WORDS = 100
"""The most words from which to choose."""

_WAYS = [("Compare", "Compare it with other tokenizers"), ("Learn", WAYS["Learn"])]

WORD = numbers("lattice_word_of_", "Word", first=0)


def _draw(text: InspectedText, offers: Sequence[Offer]) -> None:
    """Draw the player and the lattice of a word."""
    timeline = None
    if has_steps(text.offer, text.tokenizer):
        timeline = _timeline(text.offer, text.inspection, text.atoms, text.colors)
        _player(text, timeline)
    _draw_lattice(text)
    if timeline:
        _follow(str(timeline["timelineId"]))


STEP_BY_STEP = InspectionDetail("Step by step", _draw, lambda values: iter(()))


@fragment
def _follow(timeline: str) -> None:
    """Offer the slide of the player's step; run again if it changes."""
    report = components.player_events(None, "inspect_follower")["step"]
    export = EXPORT.get()
    if export is not None and report and report["timelineId"] == timeline:
        EXPORT.put(replace(export, step=report["step"]))


@cached()
def _timeline(offer: Offer, encoded: Inspection, atoms: Part, _colors: Hues) -> dict[str, Any]:
    """Return the timeline of a part of the boundaries; do not change it, it is cached."""
    name = "your tokenizer" if offer.key == OWN else offer.title
    return inspection.timeline(encoded, atoms, name, offer.training, _colors)


def _player(text: InspectedText, timeline: dict[str, Any]) -> None:
    """Draw the player, with the candidates of each step if all of the training text is shown."""
    events = text.inspection.events
    steps, own = timeline["last"], text.offer.own
    is_counted = steps > 0 and text.trained_on and timeline["part"] is None
    training = text.offer.training if is_counted else None
    payload = player.payload(timeline) | {
        "initialStep": min(1, steps),
        "hasRace": training is not None,
        "ways": [] if st.context.is_embedded else _WAYS,
    }
    payload |= (
        remarks.stage_of_published(text.inspection.text, steps, timeline["emptyMessage"])
        if own is None
        else remarks.stage([own], steps)
    )
    components.player(payload, "inspect_player", remarks.follow)
    if training is not None:
        rows = _candidates(text.offer, text.inspection.text, [event.step for event in events])
        components.race([race.payload(training, rows, text.colors, timeline["timelineId"])])
    if len(events) < text.tokenizer.steps:
        st.caption(
            f"{inspection.unit_of(text.offer.training).capitalize()}s that do not touch this text "
            "are skipped. Counts are for this text."
        )


@cached()
def _candidates(offer: Offer, text: str, _steps: list[int]) -> list[race.Rows]:
    training = offer.training
    if training is None:
        return []
    boundaries = training.boundaries(text)
    return race.first_rows(training, text, boundaries, race.STEPS, _steps)


def _draw_lattice(text: InspectedText) -> None:
    """Draw the lattice of a word in the part, and its best segmentations, if there are any."""
    tokenizer = text.tokenizer
    words = _words(text)
    if not words:
        return
    st.header("Lattice of a word", anchor=False)
    word = words[
        WORD.member(len(words)).select(
            [label(text.inspection.text[word.start : word.end].encode()) for word in words],
            width=260,
            help=f"The different words above, of at most {LONGEST_WORD} characters.",
        )
    ]
    lattice = _word_lattice(text.offer, word.text)
    unknown = tokenizer.unknown_id

    def name(token_id: int) -> str:
        known = unknown if token_id == UNKNOWN_ID else token_id
        return "unknown" if known is None else tokenizer.token_label(known)

    st.caption(
        "The lattice shows every piece of the vocabulary that fits into the word, with its log "
        "probability. A segmentation is a path from left to right. Its log probability is the sum "
        "over its pieces. The first row, in bold, is the best path."
    )
    st.html(lattice_html(lattice, tokenizer.word_atoms(word.text), name))
    path = [unknown if edge.id == UNKNOWN_ID else edge.id for edge in lattice.best()]
    if trace.ids_between(text.inspection, word.start, word.end) != path:
        st.caption(
            "In this text, the tokens of this word differ from the best path. It has an unknown "
            "character or an added token, or it is part of a longer token."
        )
    best = tables.segmentations(lattice.nbest(SEGMENTATIONS), name)
    draw_table(best, "segmentations", label="Best segmentations")
    with st.expander("All pieces as a table"):
        pieces = tables.pieces(lattice, name)
        draw_table(pieces, "pieces", label="Pieces of the word")


def _words(text: InspectedText) -> list[Word]:
    """Return the different words in the part that have a lattice."""
    part = text.part
    words: dict[str, Word] = {}
    for word in _scored_words(text.offer, text.inspection):
        is_inside = part.first <= word.start and word.end <= part.last
        if is_inside and 0 < len(word.text) <= LONGEST_WORD:
            words.setdefault(word.text, word)
    return [*words.values()][:MOST_WORDS]


@cached()
def _scored_words(offer: Offer, inspection: Inspection) -> list[Word]:
    return trace.scored_words(inspection)


@cached()
def _word_lattice(offer: Offer, word: str) -> Lattice:
    return offer.make().word_lattice(word)

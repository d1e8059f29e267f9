"""The player of Inspect, with the steps that change the text, and the lattice of a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from bpeviz.analysis import trace
from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import UNKNOWN_ID, Part
from bpeviz.core.lattice import Lattice
from bpeviz.core.tokenizer import Word
from bpeviz.text import label
from bpeviz.ui import components
from bpeviz.ui.pages import remarks
from bpeviz.ui.pages.inspect.inspected_text import InspectedText, InspectionDetail, has_steps
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import draw_table
from bpeviz.ui.tokenizers import Offer
from bpeviz.ui.widgets import numbers
from bpeviz.views import encoded, race, tables
from bpeviz.views.lattice import lattice_html
from bpeviz.views.payloads import Player, RaceGroup
from bpeviz.views.stage import Row, Stage
from bpeviz.views.token_table import Ids

SEGMENTATIONS = 8
"""The most segmentations of a word that are shown."""

LONGEST_DRAWN_WORD = 24
"""The most atoms of a word whose lattice is drawn."""

MOST_WORDS = 100
"""The most words from which to choose."""

WAYS = [("Compare", "Compare it with other tokenizers"), ("Learn", "Learn in 32 minutes")]

WORD = numbers("lattice_word_of_", "Word", first=0)


def _draw(text: InspectedText, offers: Sequence[Offer]) -> None:
    """Draw the player and the lattice of a word."""
    if has_steps(text.offer, text.tokenizer):
        _draw_player(text)
    _draw_lattice(text)


STEP_BY_STEP = InspectionDetail("Step by step", _draw, lambda values: iter(()))


@fragment
def _play(payload: Player) -> None:
    """Draw the player; run again if its step changes."""
    components.player(payload, "inspect_player", remarks.follow)


@cached()
def _stage(offer: Offer, inspection: Inspection, part: Part, _text: InspectedText) -> Stage:
    """Return the stage of a part, with its payload; do not change it, it is cached."""
    stage = _text.stage()
    return replace(stage, timelines=[stage.rows[0].timeline(stage.hues)])


def _draw_player(text: InspectedText) -> None:
    """Draw the player, with the candidates of each step if all of the training text is shown."""
    events, own = text.inspection.events, text.offer.own
    stage = _stage(text.offer, text.inspection, text.part, text)
    payload, row = stage.payload.copy(), stage.rows[0]
    payload["initialStep"] = min(1, row.steps)
    payload["ways"] = [] if st.context.is_embedded else [*WAYS]
    if own is None:
        remarks.add_to_published(payload, row.text, row.steps)
    else:
        remarks.add(payload, [own], row.steps)
    if row.steps and row.trained_on is not None:
        first = _candidates(text.offer, row.text, row)
        if any(value != 1 for groups in first for value, *_ in groups):
            payload["races"] = [race.payload(row, first, stage.hues)]
    _play(payload)
    if len(events) < text.tokenizer.steps:
        st.caption(
            f"{encoded.unit_of(text.offer.training).capitalize()}s that do not touch this text "
            "are skipped. Counts are for this text."
        )


@cached()
def _candidates(offer: Offer, text: str, _row: Row) -> list[list[RaceGroup]]:
    return race.first_groups(_row)


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
            help=f"The different words above, of at most {LONGEST_DRAWN_WORD} {tokenizer.atoms}.",
        )
    ]
    lattice = _word_lattice(text.offer, word.text)
    unknown = tokenizer.unknown_id

    def look(token_id: int) -> tuple[str, int]:
        known = unknown if token_id == UNKNOWN_ID else token_id
        return ("unknown", -1) if known is None else text.look(known)

    def name(token_id: int) -> str:
        return look(token_id)[0]

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
    paths = lattice.nbest(SEGMENTATIONS)
    best = tables.segmentations(paths, name)
    ids: Ids = {"segmentation": [[edge.id for edge in path] for path in paths]}
    draw_table(best, "segmentations", label="Best segmentations", ids=ids, look=look)


def _words(text: InspectedText) -> list[Word]:
    """Return the different words in the part that have a lattice."""
    part = text.part
    words: dict[str, Word] = {}
    for word in _scored_words(text.offer, text.inspection):
        is_inside = part.first <= word.start and word.end <= part.last
        if is_inside and 0 < len(word.text) <= LONGEST_DRAWN_WORD:
            words.setdefault(word.text, word)
    return [*words.values()][:MOST_WORDS]


@cached()
def _scored_words(offer: Offer, inspection: Inspection) -> list[Word]:
    return trace.scored_words(inspection)


@cached()
def _word_lattice(offer: Offer, word: str) -> Lattice:
    return offer.make().word_lattice(word)

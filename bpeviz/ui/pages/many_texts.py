"""The part of the Compare page for many texts: the verdict and the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.analysis.comparison import Comparison, compare
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.named_texts import Texts
from bpeviz.progress import reporting_to
from bpeviz.text import clean, counted, digest_of, split_lines
from bpeviz.ui import html_table, markdown
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.inputs.named_texts import PASTED
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.tokenizers import Offer
from bpeviz.ui.trained import PROGRESS
from bpeviz.ui.widgets import OneOf, Widget
from bpeviz.views import playable, text_table

AS_GIVEN = ""
"""The choice of no column to sort by, or of no text to show."""


class _Name(OneOf):
    """A name of a text or tokenizer, as which a link may contain any."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) <= 200

    def choose(self, titles: Mapping[str, str]) -> str:
        """Draw the choice of a name; return it. The first one replaces one that is not there."""
        if self.present and self.get() not in titles:
            self.put(next(iter(titles)))
        return self.select(titles)


FIGURE = OneOf("figure_of_texts", "Figure", titles=text_table.FIGURES)
RELATIVE_TO = _Name("relative_to", "Premium relative to", titles={})
SORTED_BY = _Name("texts_sorted_by", "Sort by", titles={})
SHOWN = _Name("text_in_tokens", "Show in colored tokens", titles={})


def widgets() -> Iterator[Widget[Any]]:
    """Yield the widgets whose values belong in links."""
    yield PASTED
    yield FIGURE
    yield RELATIVE_TO
    yield SORTED_BY
    yield SHOWN


def show(
    answer: DeltaGenerator, texts: Texts, chosen: Sequence[tuple[Offer, Tokenizer]]
) -> tuple[str, Comparison] | None:
    """Draw the verdict and the table, and offer the export of it.

    Args:
        answer: The place of the verdict.
        texts: The texts by name, at least one.
        chosen: The tokenizers, at least one.

    Returns:
        The text to show in colored tokens, and the comparison; or None without such a text.
    """
    lines = {
        len(split_lines(clean(text))) if isinstance(text, str) else len(text)
        for text in texts.values()
    }
    is_parallel = len(lines) == 1 < len(texts)
    tokenizers = {offer.name: tokenizer for offer, tokenizer in chosen}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        figure = FIGURE.segments(width="content")
        relative_to = None
        if is_parallel or figure == "premium":
            relative_to = RELATIVE_TO.choose({name: name for name in texts})
        by = SORTED_BY.choose(
            {AS_GIVEN: "Order of the texts"} | {name: name for name in tokenizers}
        )
    place = st.empty()
    key = digest_of([[name, text] for name, text in texts.items()])
    try:
        found = _compared(
            key, tuple(offer for offer, _ in chosen), relative_to, texts, tokenizers, place
        )
    except ValueError as error:
        place.error(markdown.escape(str(error)))
        return None
    place.empty()
    answer.markdown(markdown.escape(found.verdict))
    rows = text_table.by_text(found)
    names = text_table.sort(rows, figure, by)
    label = f"{FIGURE.titles[figure]} of {counted(len(texts), 'text')}"
    header = ["Text", *tokenizers]
    drawn = text_table.cells(found, names, figure, is_parallel)
    with st.container(key="texts_table"):
        st.html(html_table.table(header, drawn, label=label, right=header[1:], scrolls=False))
    notes = [text_table.LEGEND]
    if is_parallel:
        parallel = f"{len(texts):,} parallel texts of {counted(max(lines), 'line')}"
        notes += [f"{parallel}: each line is compared with its translation."]
    st.caption("  \n".join(map(markdown.escape, [*notes, *found.notes])))
    html_table.offer_file(text_table.exact(found), "texts", label)
    EXPORT.put(Export("compare", comparison=lambda: partial(playable.of_texts, found)))
    shown = SHOWN.choose({AS_GIVEN: "No text"} | {name: name for name in texts})
    if shown == AS_GIVEN:
        return None
    text = texts[shown]
    return clean(text if isinstance(text, str) else "\n".join(text)), found


@cached()
def _compared(
    key: str,
    offers: tuple[Offer, ...],
    relative_to: str | None,
    _texts: Texts,
    _tokenizers: Mapping[str, Tokenizer],
    _place: DeltaGenerator,
) -> Comparison:
    """Return the comparison, and meanwhile show its progress. Other users' pages can run."""
    due = monotonic() + PROGRESS

    def progress(name: str, done: int, total: int) -> None:
        nonlocal due
        if monotonic() >= due:  # also stops a run that the user has replaced
            _place.progress(min(1.0, done / max(1, total)), f"Comparing {markdown.escape(name)} …")
            due = monotonic() + PROGRESS

    with reporting_to(progress), run_lock.released():
        return compare(_texts, _tokenizers, relative_to)

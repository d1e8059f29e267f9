"""The section below the table of many texts with the worst lines or rows of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from bpeviz.analysis import lines
from bpeviz.analysis.comparison import Comparison
from bpeviz.analysis.lines import Line
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import unit_of
from bpeviz.corpus.named_texts import Texts
from bpeviz.text import digest_of, shorten
from bpeviz.ui import markdown
from bpeviz.ui.pages.many_texts import OPENED_TEXT, UNDER
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.table import draw_table
from bpeviz.ui.tokenizers import Offer
from bpeviz.ui.widgets import Section
from bpeviz.views.table import Table

_LONGEST = 300
"""The most characters of a line that are shown."""

WORST = Section("worst_lines_open", "Worst lines or rows")


def show(comparison: Comparison, texts: Texts, chosen: Sequence[tuple[Offer, Tokenizer]]) -> None:
    """Draw the section, closed at first."""
    by_key = {offer.key: (offer, tokenizer) for offer, tokenizer in chosen}
    WORST.show(_worst_lines, comparison, texts, by_key)


def _worst_lines(
    comparison: Comparison, texts: Texts, chosen: Mapping[str, tuple[Offer, Tokenizer]]
) -> None:
    """Draw the lines or rows of a text with the most tokens per character."""
    names = {key: offer.name for key, (offer, _) in chosen.items()}
    under = key if (key := UNDER.get()) in names else next(iter(names))
    name = OPENED_TEXT.get()
    if name not in texts:
        rows = [row for row in comparison.rows if row.tokenizer == names[under]]
        name = max(rows, key=lambda row: row.tokens).text
    st.caption(
        f"{markdown.escape(f'{name} under {names[under]}')}. Press a number in the table above for "
        "another text and tokenizer."
    )
    text = texts[name]
    offer, tokenizer = chosen[under]
    worst = _worst(digest_of(text), offer, text, tokenizer)
    unit = unit_of(text)
    if not worst:
        st.caption(f"This text has no {unit}s with letters.")
        return
    draw_table(
        Table(
            [unit.capitalize(), "Text", "Tokens", "Tokens per character"],
            [
                [line.number for line in worst],
                [shorten(line.text, _LONGEST) for line in worst],
                [line.tokens for line in worst],
                [f"{line.tokens_per_character:.2f}" for line in worst],
            ],
        ),
        f"worst {unit}s",
        label=f"Worst {unit}s of {name} under {names[under]}",
        right=["Tokens per character"],
        download=True,
    )
    if unit == "line":
        st.caption("Line ends, and blank lines after a line, count in that line.")


@cached()
def _worst(key: str, offer: Offer, _text: str | Sequence[str], _tokenizer: Tokenizer) -> list[Line]:
    """Return the worst lines. Other users' pages can run meanwhile."""
    with run_lock.released():
        return lines.worst_lines(_text, _tokenizer)

"""The part of the Compare page for many texts: the verdict and the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from time import monotonic
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.analysis import figures, verdict
from bpeviz.analysis.compared_text import FIGURES
from bpeviz.analysis.comparison import Comparison, compare, parallel_texts, priced
from bpeviz.analysis.lines import lines_of
from bpeviz.analysis.verdict import Standing
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import unit_of
from bpeviz.corpus.named_texts import Texts
from bpeviz.progress import reporting_to
from bpeviz.text import counted, digest_of
from bpeviz.ui import components, markdown
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.inputs import named_texts
from bpeviz.ui.opened_tokenizers import YOURS
from bpeviz.ui.pages import base
from bpeviz.ui.runtime import run_lock
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.table import offer_file
from bpeviz.ui.tokenizers import LINKED, Offer, OneTokenizer
from bpeviz.ui.training_progress import PROGRESS
from bpeviz.ui.widgets import OneOf, Price, SessionValue, Switch, Values, Widget, WidgetFamily
from bpeviz.views import playable, text_table
from bpeviz.views.payloads import TextsTable

_CELLS = "cells_of_texts"
"""The key of the table."""


class Name(OneOf):
    """The choice of a text by name, or of a tokenizer by key. A link may contain any value."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) <= 200

    def choose(self, titles: Mapping[str, str], **options: Any) -> str:
        """Draw the choice; return its key. The first key replaces one that is missing."""
        if self.present and self.get() not in titles:
            self.put(next(iter(titles)))
        return self.select(titles, **options)


HOW_MANY = OneOf(
    "how_many_texts", "How many texts", titles={"one": "One text", "many": "Many texts"}
)
FIGURE = OneOf(
    "figure_of_texts", "Figure", titles={key: figure.title for key, figure in FIGURES.items()}
)
RELATIVE_TO = Name("relative_to", "Premium: tokens relative to", titles={})
OPENED_TEXT = Name("text_in_tokens", "Text in tokens", titles={})
UNDER = OneTokenizer("shown_under", "Tokenizer", titles=LINKED)
"""The tokenizer whose cell was pressed last."""

SPECIAL = Switch("with_special_tokens", "With special tokens")
_ABOUT_SPECIAL = "Count the special tokens that a tokenizer's file adds around each text."
PRICES = WidgetFamily(
    "price_of_",
    "|".join(map(re.escape, LINKED)),
    lambda name, end: Price(name, LINKED.get(end, "")),
)
"""The price of a million tokens of each tokenizer."""

SIZE_CHAPTER = "stop"
"""The chapter of Learn about the size of a vocabulary."""

PRESSED: SessionValue[int] = SessionValue("cell_pressed")
"""The number of the last press on a cell, which brings its text into view."""


_CLAUSES = re.compile(r"; |(?<=\.) (?=\D)")
"""Separates the first clause of a verdict, which is the title, from the others."""

_STOPPED: SessionValue[str] = SessionValue("comparison_stopped")
"""The key of the comparison that the user has stopped."""


def widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets whose values belong in links."""
    yield from named_texts.widgets(values)
    yield from (FIGURE, RELATIVE_TO, OPENED_TEXT, SPECIAL)
    yield from values.members(PRICES)


def show(
    texts: Texts,
    translations: Sequence[str],
    chosen: Sequence[tuple[Offer, Tokenizer]],
    more: DeltaGenerator | None,
) -> Comparison | None:
    """Draw the verdict and the table, and offer the export of it.

    Args:
        texts: The texts by name, at least one.
        translations: The names of those that are translations, if they have as many lines.
        chosen: The tokenizers, at least one.
        more: The menu of the figures, or None while it is closed.

    Returns:
        The comparison, or None where a message says why there is none.
    """
    number, parallel = parallel_texts({name: texts[name] for name in translations})
    tokenizers = {offer.name: tokenizer for offer, tokenizer in chosen}
    names = [*dict.fromkeys([*parallel, *translations])]
    relative_to = known if (known := RELATIVE_TO.get()) in names else next(iter(names), None)
    key = FIGURE.value((figures.premium if parallel else figures.tokens).key)
    has_special = any(any(tokenizer.template) for _, tokenizer in chosen)
    with_special = has_special and SPECIAL.value()
    with more or nullcontext():
        if more is not None:
            titles = {key: text_table.title(figure, relative_to) for key, figure in FIGURES.items()}
            key = FIGURE.segments(key, titles, width="content")
            if names and FIGURES[key] is figures.premium:
                relative_to = RELATIVE_TO.choose({name: name for name in names})
            with_special = has_special and SPECIAL.toggle(help=_ABOUT_SPECIAL)
    figure = FIGURES[key]
    if not parallel and figure is not figures.premium:
        relative_to = None  # else the verdict has a premium, too
    prices = type_prices([offer for offer, _ in chosen]) if figure is figures.cost else {}
    place, offers = st.empty(), tuple(offer for offer, _ in chosen)
    settings = relative_to, with_special
    key = digest_of([[name, text] for name, text in texts.items()], *settings, *tokenizers)
    if _STOPPED.get() == key:
        st.warning("The comparison was stopped.")
        st.button("Compare again", on_click=_STOPPED.clear)
        return None
    try:
        comparison = _compared(key, offers, *settings, texts, tokenizers, place)
    except ValueError as error:
        place.error(markdown.escape(str(error)))
        return None
    place.empty()
    comparison = priced(comparison, prices) if prices else comparison
    selected = figure
    if all(getattr(row, figure.key) is None for row in comparison.rows):
        figure = figures.tokens
    why = _why(comparison, tokenizers, is_priced=bool(prices))
    first, *rest = _CLAUSES.split(of_yours(comparison.verdict), maxsplit=1)
    base.answer(f"{first.removesuffix('.')}.", why)
    label = _label(figure, relative_to, len(texts))
    trained = [words for offer, _ in chosen for words in offer.settings]
    payload = text_table.payload(comparison, figure, label)
    payload["legends"] = _legends(comparison, figure)
    _draw_table(payload, [offer.key for offer, _ in chosen], texts)
    notes = [f"{clause[0].upper()}{clause[1:]}" for clause in rest]
    notes += [_without(selected)] * (figure is not selected)
    notes += _notes(comparison, figure, relative_to, number, [*parallel], texts)
    st.caption("  \n".join(map(markdown.escape, notes)))
    offer_file(lambda: text_table.exact(comparison), "texts", label)
    file = partial(playable.of_texts, comparison, trained)
    EXPORT.put(Export("compare", file=lambda: file, plays=False))
    return comparison


def _legends(comparison: Comparison, figure: figures.Figure) -> tuple[str, str]:
    """Return the legends of the chart and of the table."""
    chart = text_table.chart_legend(comparison, figure)
    table = text_table.legend(comparison, figure)
    return (
        f"{chart} Press a mark to see its text in tokens.".lstrip(),
        f"{table} Press a number to see its text in tokens, and a title to sort.",
    )


def _label(figure: figures.Figure, relative_to: str | None, n_texts: int) -> str:
    is_premium = figure is figures.premium
    quantity = figures.tokens.title if is_premium else figure.title
    relation = f" relative to {relative_to}" if is_premium else ""
    return f"{quantity} of {counted(n_texts, 'text')}{relation}"


def _why(comparison: Comparison, tokenizers: Mapping[str, Tokenizer], *, is_priced: bool) -> str:
    """Return why fewer tokens are not better, about the leader, in Markdown."""
    lossy = {row.tokenizer for row in comparison.rows if row.is_unranked}
    standings = [
        Standing(name, of.tokens, name in lossy, int(tokenizers[name].sizes[-1]))
        for of in comparison.tokenizers
        for name in [of.tokenizer]
    ]
    return caution(standings, is_priced=is_priced)


def _draw_table(payload: TextsTable, keys: Sequence[str], texts: Collection[str]) -> None:
    """Draw the table, with the cell that is open."""
    is_open = OPENED_TEXT.get() in texts and UNDER.get() in keys
    opened = {"text": OPENED_TEXT.get(), "tokenizer": UNDER.get()} if is_open else None
    payload["shown"] = opened
    payload["opens"] = keys
    with st.container(key="texts_table"):
        components.texts_table(payload, _CELLS, opened=_take_cell)


def _notes(
    comparison: Comparison,
    figure: figures.Figure,
    relative_to: str | None,
    n_lines: int,
    parallel: Sequence[str],
    texts: Texts,
) -> list[str]:
    """Return what the figures of a table mean.

    Args:
        comparison: The figures.
        figure: The figure of the table.
        relative_to: The text that premiums are relative to, if there is one.
        n_lines: The number of lines or rows of each translation.
        parallel: The texts with this number of lines.
        texts: All texts.
    """
    notes = [_totals(comparison)] if len(texts) > 1 else []
    if relative_to and figure is figures.premium:
        notes.append(f"Premium: how many times as many tokens a text needs as {relative_to}.")
    n_texts = len(texts)
    unit = unit_of(*map(texts.__getitem__, parallel))
    if parallel:
        note = f"{len(parallel):,} parallel texts of {counted(n_lines, unit)}: each {unit} is "
        notes.append(note + "compared with its translation.")
    if parallel and len(parallel) < n_texts:
        others = n_texts - len(parallel)
        have = "has another number" if others == 1 else "have other numbers"
        notes.append(f"{others:,} of {n_texts:,} texts {have} of {unit}s: no premium.")
    if figure is figures.cost and (costs := text_table.total_costs(comparison)):
        totals = ", ".join(f"{name} {cost}" for name, cost in costs)
        notes.append(f"Cost of all texts: {totals}.")
    notes += [note for note in comparison.notes if text_table.explains(note, figure)]
    if comparison.special_tokens is None:
        notes.append(text_table.WITHOUT_SPECIAL)
    return notes


def _totals(comparison: Comparison) -> str:
    """Return the tokens of all texts under each tokenizer, the fewest first."""
    of = sorted(comparison.tokenizers, key=lambda total: total.tokens)
    return (
        f"Tokens of all texts: {', '.join(f'{total.tokenizer} {total.tokens:,}' for total in of)}."
    )


def _without(figure: figures.Figure) -> str:
    """Return why the table has tokens in place of a figure that no text has."""
    if figure is figures.premium:
        return (
            "No text has a premium, so these are tokens. A premium compares translations: texts "
            f"named as languages, or switched to “{named_texts.TRANSLATIONS.label}”."
        )
    if figure is figures.cost:
        return "No tokenizer has a price yet, so these are tokens."
    return f"No text has {figure.name}, so these are tokens."


def caution(standings: Sequence[Standing], *, is_priced: bool) -> str:
    """Return why fewer tokens are not better, in Markdown (`bpeviz.analysis.verdict.caution`)."""
    words = verdict.caution(standings, is_priced=is_priced)
    words = words.replace(f"that of {YOURS}", "yours")
    words = words.replace(f"the vocabulary of {YOURS}", "your vocabulary")
    return words and f"{markdown.escape(words)} [See why.](Learn?chapter={SIZE_CHAPTER})"


def type_prices(offers: Sequence[Offer]) -> dict[str, float]:
    """Draw a box for the price of each tokenizer; return those that were typed, by its name."""
    st.caption("Type the price of a million tokens, in any currency, to see what each text costs.")
    with st.container(horizontal=True, gap="small"):
        return prices_of(offers, Price.box)


def prices_of(
    offers: Sequence[Offer], read: Callable[[Price], float | None] = Price.value
) -> dict[str, float]:
    """Return the prices that were typed, by the name of the tokenizer. read: returns one."""
    typed = {
        offer.name: read(Price(f"{PRICES.beginning}{offer.key}", offer.name)) for offer in offers
    }
    return {name: price for name, price in typed.items() if price is not None}


def _take_cell() -> None:
    """Store the cell that was pressed."""
    cell = st.session_state[_CELLS]["opened"]
    OPENED_TEXT.put(cell["text"])
    if cell["tokenizer"] is not None:
        UNDER.put(cell["tokenizer"])
    PRESSED.put(cell["number"])


@cached()
def _compared(
    key: str,
    offers: tuple[Offer, ...],
    relative_to: str | None,
    with_special: bool,
    _texts: Texts,
    _tokenizers: Mapping[str, Tokenizer],
    _place: DeltaGenerator,
) -> Comparison:
    """Return the comparison. Meanwhile, other users' pages run, and this one shows its progress."""
    due = monotonic() + PROGRESS
    bar: DeltaGenerator | None = None

    def progress(name: str, done: int, total: int) -> None:
        nonlocal due, bar
        if monotonic() >= due:  # also stops a run that the user has replaced
            if bar is None:
                with _place.container():
                    bar = st.empty()
                    st.button("Stop comparing", on_click=_STOPPED.put, args=(key,))
            bar.progress(min(1.0, done / max(1, total)), f"Comparing {markdown.escape(name)} …")
            due = monotonic() + PROGRESS

    with reporting_to(progress), run_lock.released():
        own = _in_sample(offers, _texts)
        how = (_texts, _tokenizers, relative_to)
        return compare(*how, special_tokens=with_special, in_sample=own)


def of_yours(sentence: str) -> str:
    """Return a verdict that calls the user's own tokenizer “yours” where it was trained on it."""
    return sentence.replace(f"{YOURS}, trained", "Yours, trained")


def _in_sample(offers: Sequence[Offer], texts: Texts) -> list[str]:
    """Return the name of a tokenizer whose training text has all lines of one of the texts."""
    own = next((offer for offer in offers if offer.own is not None), None)
    if own is None or own.own is None:
        return []
    trained = {"", *map(str.strip, lines_of(own.own.training_text))}
    lines = ({"", *map(str.strip, lines_of(text))} for text in texts.values())
    return [own.name] * any(trained >= of_text > {""} for of_text in lines)

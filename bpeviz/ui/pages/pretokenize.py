"""The Pre-tokenize page: how a text is split before training, and which merges that rules out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.analysis import pretokenization
from bpeviz.core.boundaries import Part
from bpeviz.pretokenizers.alternatives import ALTERNATIVES
from bpeviz.pretokenizers.patterns import (
    ABOUT_EXPRESSION,
    CUSTOM,
    PATTERNS,
    WORD_LIST,
    SplitError,
)
from bpeviz.text import counted
from bpeviz.ui import components, markdown
from bpeviz.ui.inputs.parts import ROW, choose_part, choose_row, part_of, row_of
from bpeviz.ui.inputs.sentence import add_to, drop_from, menu, say, sentence
from bpeviz.ui.inputs.text import TEXT, choose_text, text_of
from bpeviz.ui.inputs.training import (
    ABOUT_WORDS,
    EXPRESSION,
    FIRST_EXPRESSION,
    WORDS,
    regular_expression,
)
from bpeviz.ui.pages.base import Page
from bpeviz.ui.runtime import page_change
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.table import draw_table
from bpeviz.ui.widgets import (
    NumberField,
    OneOf,
    Section,
    SessionValue,
    SessionValues,
    SomeOf,
    Switch,
    TextField,
    Values,
    Widget,
    numbers,
)
from bpeviz.views import playable, tables
from bpeviz.views import pretokenization as views
from bpeviz.views.export import ColoredText
from bpeviz.views.parts import part_of as text_part
from bpeviz.views.payloads import Score
from bpeviz.views.playable import Interactive

DRAWN_CHARACTERS = 6_000
"""The most characters of a text in one row at once."""

DRAWN_IN_ALL = 24_000
"""The most characters in all rows together."""

LISTED_PRE_TOKENS = 500
"""The most pre-tokens in the list."""

LIST_A, LIST_B = "list A", "list B"

ORDER = ("none", "sentences", "whitespace", "words", "characters", "nltk", "arithmetic", "treebank")
"""The pre-tokenizations that come first: from coarse to fine, then those of particular sources."""

OWN_RULES = {
    LIST_A: f"{WORDS.label} A",
    LIST_B: f"{WORDS.label} B",
    CUSTOM: EXPRESSION.label,
}
"""The pre-tokenizations that the user defines."""


@dataclass(frozen=True)
class Published:
    """A word list that splits the sentence as a published corpus does."""

    widget: TextField
    words: str
    source: str


PUBLISHED = {
    LIST_A: Published(WORDS, "姚明 进入 总决赛", "the Chinese Treebank"),
    LIST_B: Published(
        TextField("words_b", OWN_RULES[LIST_B], longest=limits.PAGE_TEXT),
        "姚 明 进入 总 决赛",
        "Peking University",
    ),
}

_KEYS = (*ORDER, *(key for key in PATTERNS if key not in ORDER), *OWN_RULES)
_NAMES = {key: re.split(r" and | \(", pattern.title)[0] for key, pattern in PATTERNS.items()}
SPLITS = SomeOf(
    "splits",
    "Compare pre-tokenizations",
    titles={key: OWN_RULES[key] if key in OWN_RULES else _NAMES[key] for key in _KEYS},
    most=len(_KEYS),
)
EXPLAINED = OneOf("explained", "Pre-tokenization", titles=SPLITS.titles)
WHITE_SPACE = Switch("white_space", "Leave out white space")
ENTRIES = NumberField("entries", "Entries of the vocabulary", low=1, high=100_000)
UNSEEN = TextField("unseen", "A new text", longest=2_000)
CLOSER = Section(
    "closer_open",
    "Why is it split here? The rules, a list, a word-level vocabulary",
    contents=(EXPLAINED, WHITE_SPACE, ENTRIES, UNSEEN),
)
PART = numbers("side by side of ", "Part shown")

EXAMPLE = "yao-ming"
"""The sample that brings its own pre-tokenizations (Jurafsky and Martin, chapter 2)."""

FIRST, OF_EXAMPLE = ("whitespace", "words", "gpt2", "cl100k"), ("characters", LIST_A, LIST_B)
"""The pre-tokenizations at first, and those of the example."""

_SAMPLE: SessionValue[str] = SessionValue("sample_of_splits")
_FORMER: SessionValue[list[str]] = SessionValue("splits_before_example")
"""The sample at the last run, and the pre-tokenizations before the example."""


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield from TEXT.widgets(values)
    yield SPLITS
    chosen = values.get(SPLITS) or ()
    if CUSTOM in chosen:
        yield EXPRESSION
    for key, published in PUBLISHED.items():
        if key in chosen:
            yield published.widget
    yield from (CLOSER, EXPLAINED, WHITE_SPACE, ENTRIES, UNSEEN)
    yield from values.members(PART)
    yield from values.members(ROW)


@dataclass(frozen=True)
class Chosen:
    """A pre-tokenization that the user chose.

    Attributes:
        key: Its key in the choice.
        title: Its name.
        about: One sentence about it.
        pattern: The pattern for `bpeviz.pretokenizers.patterns.split`.
        expression: The expression for it.
    """

    key: str
    title: str
    about: str
    pattern: str
    expression: str = ""


def choice_of(key: str, values: Values | None = None) -> Chosen:
    """Return a pre-tokenization with the words of its box, by default those of the session."""
    if key == CUSTOM:
        expression = EXPRESSION.value(FIRST_EXPRESSION, values)
        return Chosen(key, OWN_RULES[key], ABOUT_EXPRESSION, CUSTOM, expression)
    if published := PUBLISHED.get(key):
        words = published.widget.value(published.words, values)
        return Chosen(key, OWN_RULES[key], ABOUT_WORDS, WORD_LIST, words)
    pattern = PATTERNS[key]
    return Chosen(key, _NAMES[key], pattern.about, key)


def page_content(values: Values) -> Interactive:
    """Return the rows of the page."""
    text = row_of(values, text_of(values, TEXT))
    first = OF_EXAMPLE if values.get(TEXT.sample) == EXAMPLE else FIRST
    keys = first if (keys := values.get(SPLITS)) is None else keys
    done: list[tuple[Chosen, pretokenization.PreTokenizedColumn]] = []
    for choice in (choice_of(key, values) for key in _KEYS if key in keys):
        with suppress(SplitError):
            done.append((choice, _column(text, choice)))
    if not text or not done:
        raise ValueError("This link has no text or no pre-tokenization.")
    part = part_of(values, PART, _parts([column for _, column in done]))
    picture = ColoredText(
        "One text in several pre-tokenizations",
        text,
        text_part(text, part.first, part.last),
        _payload(text, _splits(done), part.first, part.last, [column for _, column in done]),
    )
    return playable.of_score(picture)


PAGE = Page(
    "pages/Pre-tokenize.py",
    "Pre-tokenize",
    "How is a text split into words before training?",
    _widgets,
    short={"pattern": SPLITS.link},
    content=page_content,
)


def _choose() -> list[Chosen]:
    """Draw the choice of pre-tokenizations as a sentence; return them in the order of the page."""
    _follow_sample(TEXT.sample.get() or "")
    keys = [key for key in _KEYS if key in (SPLITS.get() or ())]
    with sentence():
        say("Split by")
        for key in keys:
            (_own if key in OWN_RULES else _chip)(key)
        left = [key for key in _KEYS if key not in keys]
        of_models = [key for key in left if key not in {*ORDER, *OWN_RULES}]
        groups = {
            "Rules": [key for key in left if key in ORDER],
            "Of models": of_models,
            "Your own": [key for key in left if key in OWN_RULES],
        }
        add_to(SPLITS, groups)
    return [choice_of(key) for key in keys]


def _follow_sample(sample: str) -> None:
    """Put the pre-tokenizations of the example where it is chosen, and the former ones after it."""
    before, is_example = _SAMPLE.get(), sample == EXAMPLE
    if not SPLITS.present:
        SPLITS.put([*FIRST])
        before = None if is_example else sample
    elif page_change.has_arrived() or before is None:
        before = sample  # those of a link, of the last visit, or of a reloaded tab
    if is_example and before != EXAMPLE:
        _FORMER.put(SPLITS.get() or [])
        SPLITS.put([*OF_EXAMPLE])
        for published in PUBLISHED.values():
            published.widget.put(published.words)
    elif not is_example and before == EXAMPLE and SPLITS.get() == [*OF_EXAMPLE]:
        SPLITS.put(_FORMER.get() or [*FIRST])
    _SAMPLE.put(sample)


def _chip(key: str) -> None:
    """Draw a pre-tokenization that is not the user's own, with its definition as tool-tip."""
    drop_from(SPLITS, key, _NAMES[key], PATTERNS[key].about)


def _own(key: str) -> None:
    """Draw the name of a pre-tokenization that the user defines, which opens its box."""
    if key in PUBLISHED and not PUBLISHED[key].widget.present:
        PUBLISHED[key].widget.put(PUBLISHED[key].words)
    if place := menu(OWN_RULES[key], f"own_{key}"):
        with place:
            if key == CUSTOM:
                regular_expression()
            else:
                _word_list(PUBLISHED[key], OWN_RULES[key])
            drop_from(SPLITS, key, "Leave it out")


def _word_list(published: Published, label: str) -> None:
    """Draw the box of a word list."""
    written = replace(published.widget, label=label).area(
        height=68,
        placeholder="Words separated by white space",
        help=f"Words separated by white space. {ABOUT_WORDS}",
    )
    if written.split() == published.words.split():
        st.caption(f"These words are from {published.source}. Type any others to try them.")


def _column(text: str, choice: Chosen) -> pretokenization.PreTokenizedColumn:
    """Return a text under a pre-tokenization. Raises `SplitError`."""
    split = _pre_tokenized(text, choice.pattern, choice.expression)
    rules = choice.pattern if choice.pattern in ALTERNATIVES else ""
    return pretokenization.PreTokenizedColumn(choice.title, split, rules)


_pre_tokenized = cached()(pretokenization.pre_tokenize)


@cached("Training merges without pre-tokenization …")
def _unsplit(text: str) -> list[str]:
    return pretokenization.unrestricted_merges(text)


@cached()
def _occurrences(text: str, pattern: str, expression: str) -> list[int]:
    """Return the number of places where a pre-tokenization leaves each token whole.

    The tokens are those of `_unsplit`.
    """
    return pretokenization.occurrences(_unsplit(text), _pre_tokenized(text, pattern, expression))


def show(side: DeltaGenerator) -> None:
    """Draw the inputs, and the text under each chosen pre-tokenization."""
    with side:
        text = choose_row(choose_text(TEXT))
        choices = _choose()
    done: list[tuple[Chosen, pretokenization.PreTokenizedColumn]] = []
    for choice in choices:
        try:
            done.append((choice, _column(text, choice)))
        except SplitError as error:
            st.error(f"{markdown.escape(choice.title)}: {markdown.escape(str(error))}")
    if not text:
        st.info("There is no text yet. Type one above, or choose a sample.")
        return
    if done:
        columns = [column for _, column in done]
        parts = _parts(columns)
        part = part_of(SessionValues(), PART, parts)
        first, last = part.first, part.last
        components.score(_payload(text, _splits(done), first, last, columns), "side by side")
        choose_part(PART, parts, "All figures are for")
        _ruled_out(text, done)
        CLOSER.show(_explain, done, first, last)
    elif not choices:
        st.info("Choose at least one pre-tokenization above.")


def _splits(
    done: list[tuple[Chosen, pretokenization.PreTokenizedColumn]],
) -> tuple[tuple[str, ...], ...]:
    """Return the title, the pattern and the expression of each."""
    return tuple((choice.title, choice.pattern, choice.expression) for choice, _ in done)


def _parts(columns: list[pretokenization.PreTokenizedColumn]) -> list[Part]:
    """Return the parts of a text, of which rows show one."""
    size = min(DRAWN_CHARACTERS, DRAWN_IN_ALL // len(columns))
    return pretokenization.parts([column.cut for column in columns], size)


@cached()
def _payload(
    text: str,
    splits: tuple[tuple[str, ...], ...],
    first: int,
    last: int,
    _columns: list[pretokenization.PreTokenizedColumn],
) -> Score:
    """Return the payload of a part of a text in several pre-tokenizations."""
    return views.payload(_columns, first, last)


def _explain(
    done: list[tuple[Chosen, pretokenization.PreTokenizedColumn]], first: int, last: int
) -> None:
    """Draw the expression of one pre-tokenization, its pre-tokens as a list, and a vocabulary."""
    by_key = {chosen.key: (chosen, column) for chosen, column in done}
    if EXPLAINED.get() not in by_key:
        EXPLAINED.put("gpt2" if "gpt2" in by_key else next(iter(by_key)))
    titles = {key: chosen.title for key, (chosen, _) in by_key.items()}
    chosen, column = by_key[EXPLAINED.select(titles)]
    _expression_of(chosen, column)
    without_white_space = WHITE_SPACE.toggle()
    pre_tokens, number = pretokenization.listed(
        column.cut, first, last, LISTED_PRE_TOKENS, white_space=not without_white_space
    )
    st.code(json.dumps(pre_tokens, ensure_ascii=False), language=None, wrap_lines=True)
    part = "" if (first, last) == (0, len(column.cut.text)) else " in the part shown"
    beginning = f"the first {len(pre_tokens):,} of " if len(pre_tokens) < number else ""
    st.caption(
        f"As a list: {beginning}{counted(number, 'pre-token')}{part}. "
        "In linguistics, pre-tokens are called tokens, and distinct ones types."
    )
    _word_level(chosen, column)


def _expression_of(chosen: Chosen, column: pretokenization.PreTokenizedColumn) -> None:
    known = PATTERNS.get(chosen.pattern)
    if known is None:
        st.caption(chosen.about)
        return
    if known.expression is None:
        st.caption("This pre-tokenization has no expression: the text stays whole.")
        return
    st.code(known.expression, language=None, wrap_lines=True)
    if not column.pattern:
        st.caption(f"The regular expression. {chosen.about}")
        return
    st.caption(
        "The regular expression: | separates alternatives. At each position they are tried in this "
        "order, and the first one that matches makes the pre-token."
    )
    draw_table(
        tables.alternatives(_used_alternatives(column.cut.text, chosen.pattern)),
        "alternatives",
        label="Alternatives of the expression",
        right=["in this text"],
    )


@cached()
def _used_alternatives(text: str, pattern: str) -> list[pretokenization.Used]:
    return pretokenization.used_alternatives(_pre_tokenized(text, pattern, ""), pattern)


def _words(text: str, pattern: str, expression: str) -> list[str]:
    """Return the pre-tokens without white space."""
    pre_tokens = _pre_tokenized(text, pattern, expression).pre_tokens()
    return [word for part in pre_tokens if (word := part.strip())]


@cached()
def _vocabulary(text: str, pattern: str, expression: str, size: int) -> pretokenization.WordLevel:
    return pretokenization.word_level(_words(text, pattern, expression), size)


def _word_level(chosen: Chosen, column: pretokenization.PreTokenizedColumn) -> None:
    """Draw a word-level vocabulary of the pre-tokens, and apply it to a different text."""
    st.header("A vocabulary of whole words", anchor=False)
    st.markdown(
        "Before subword tokenizers, the most frequent words were the vocabulary, and every other "
        "word became one unknown token, `[UNK]`. Spaces at the ends of pre-tokens are ignored here."
    )
    size = ENTRIES.any_number(50, help="The most frequent pre-tokens become the entries.")
    vocabulary = _vocabulary(column.cut.text, chosen.pattern, chosen.expression, size)
    unknown = vocabulary.total - vocabulary.known
    share = f"{unknown / vocabulary.total:.1%}" if vocabulary.total else "0%"
    st.markdown(
        f"The vocabulary has {len(vocabulary.entries):,} of {vocabulary.types:,} different words. "
        f"In this text, {unknown:,} of {counted(vocabulary.total, 'word')} are "
        f"unknown ({share})."
    )
    draw_table(
        tables.word_level(vocabulary),
        "word level entries",
        label="Entries of the vocabulary",
        download=True,
    )
    text = UNSEEN.area(height=68, placeholder="Type a text that has other words.")
    if not text:
        return
    try:
        typed = _words(text, chosen.pattern, chosen.expression)
    except SplitError as error:
        st.error(markdown.escape(str(error)))
        return
    applied = vocabulary.apply(typed)
    st.code(
        " ".join("[UNK]" if word is None else word for word in applied),
        language=None,
        wrap_lines=True,
    )
    st.caption(
        f"Unknown in the different text: {applied.count(None):,} of "
        f"{counted(len(applied), 'word')}. Decoding cannot restore unknown words."
    )


def _ruled_out(text: str, done: list[tuple[Chosen, pretokenization.PreTokenizedColumn]]) -> None:
    st.header("Merges that pre-tokenization rules out", anchor=False)
    unsplit = _unsplit(text)
    places = [("no pre-tokenization", _occurrences(text, "none", ""))]
    places += [
        (choice.title, _occurrences(text, choice.pattern, choice.expression)) for choice, _ in done
    ]
    if unsplit:
        with st.container(key="ruled_out"):
            draw_table(tables.ruled_out(unsplit, places), "ruled out", label="Merges ruled out")
        st.caption(
            f"{counted(len(unsplit), 'merge')} that BPE makes of characters without a split, with "
            "the places in this text. ✕: the split makes it impossible. Circle: how many remain."
        )
    else:
        st.caption("No two characters are next to each other twice, so BPE has nothing to merge.")

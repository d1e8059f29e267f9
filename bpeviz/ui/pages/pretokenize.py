"""What stands on the Split page: the splits side by side, what each forbids, and top-down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.analysis import pretokenization
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST, SplitError
from bpeviz.ui import components, inputs
from bpeviz.ui.runtime.cache import shared
from bpeviz.views import tables

SHOWN = 6_000
"""Characters of a text that stand in one column at once."""

DRAWN = 24_000
"""Characters that stand in all columns together; with many columns, each shows less."""

LIST_A, LIST_B = "list A", "list B"

ORDER = ("none", "sentences", "whitespace", "words", "characters", "nltk", "arithmetic")
"""The splits that come first: from coarse to fine, then those of particular sources."""

OWN = {LIST_A: "Word list A", LIST_B: "Word list B", CUSTOM: "Regular expression"}
"""The splits that a user writes."""

ABOUT_LISTS = (
    "From the left, the longest listed word that stands there is a chunk; a character where none "
    "stands is one, too."
)

EXAMPLE = "chinese_example"

# Jurafsky and Martin, Speech and Language Processing, chapter 2: one sentence, cut in two ways.
SENTENCE = "姚明进入总决赛"
PUBLISHED = {
    LIST_A: ("words", "姚明 进入 总决赛", "the Chinese Treebank"),
    LIST_B: ("words_b", "姚 明 进入 总 决赛", "Peking University"),
}
"""Of each word list: under which name it is kept, what stands in it at first, and whose it is."""


@dataclass(frozen=True)
class Chosen:
    """A split that the user chose: its title, a sentence, and what `pretokenize.split` takes.

    place: where to say what is wrong with it, below its box.
    """

    title: str
    about: str
    pattern: str
    expression: str = ""
    place: DeltaGenerator | None = None


def choose() -> list[Chosen]:
    """Let the user choose what stands side by side; return it in the order of the page."""
    keys = [*ORDER, *(key for key in PATTERNS if key not in ORDER), *OWN]
    # What a page is not drawing loses its state, unless that persists. So does the button below.
    arrived = EXAMPLE not in st.session_state
    _put("splits", ["whitespace", "words", "gpt2", "cl100k"], arrived)
    chosen = st.pills(
        "Split by",
        keys,
        selection_mode="multi",
        format_func=lambda key: OWN[key] if key in OWN else PATTERNS[key].title,
        key="splits",
        persist_state="session",
    )
    st.button(
        f"Load the Chinese example: {SENTENCE}, cut by two word lists",
        type="tertiary",
        icon=":material/translate:",
        on_click=_load_example,
        key=EXAMPLE,
    )
    written = _written([key for key in OWN if key in chosen], arrived)
    found = []
    for key in keys:
        if key in written:
            found.append(written[key])
        elif key in chosen:
            found.append(Chosen(PATTERNS[key].title, PATTERNS[key].about, key))
    return found


def _put(key: str, value: Any, arrived: bool) -> None:
    """Put a first value under a widget's key.

    Streamlit takes it for the widget's own only in the second run. If that is one of another page,
    the value is lost; so whoever arrives from another page has it put in again.
    """
    state = st.session_state
    if arrived or key not in state:
        state[key] = state.get(key, value)


def _load_example() -> None:
    state = st.session_state
    # The names under which `inputs.text` keeps the text of all pages.
    state["text_box"], state["text_sample"] = SENTENCE, "own"
    for part in ("file", "file_name", "failed"):
        state.pop(f"text_{part}", None)
    state["splits"] = ["characters", LIST_A, LIST_B]
    for name, words, _ in PUBLISHED.values():
        state[name] = words


def _written(keys: list[str], arrived: bool) -> dict[str, Chosen]:
    """Draw the boxes of the splits that the user writes; return what is in them."""
    found: dict[str, Chosen] = {}
    if not keys:
        return found
    for key, column in zip(keys, st.columns(len(keys), gap="medium"), strict=True):
        with column:
            found[key] = _expression() if key == CUSTOM else _word_list(key, arrived)
    return found


def _expression() -> Chosen:
    expression = inputs.regular_expression()
    return Chosen(OWN[CUSTOM], inputs.ABOUT_EXPRESSION, CUSTOM, expression, st.container())


def _word_list(key: str, arrived: bool) -> Chosen:
    name, words, source = PUBLISHED[key]
    _put(name, words, arrived)
    written = st.text_area(
        OWN[key],
        key=name,
        persist_state="session",
        height=68,
        placeholder="Words with white space between them, then Ctrl+Enter.",
        help=f"{ABOUT_LISTS} Write the words with white space between them.",
    )
    if written.split() == words.split():
        st.caption(f"The words of {SENTENCE} as {source} cuts it. Write any others.")
    return Chosen(OWN[key], ABOUT_LISTS, WORD_LIST, written, st.container())


@shared()
def _cut(text: str, pattern: str, expression: str) -> pretokenization.PreTokenized | str:
    """Cut a text, or return the sentence that says why it cannot be."""
    try:
        return pretokenization.pre_tokenize(text, pattern, expression)
    except SplitError as error:
        return str(error)


@shared()
def _levels(text: str) -> list[pretokenization.PreTokenized]:
    return pretokenization.levels(text)


@shared("Learning merges of the text that is not split …")
def _unsplit(text: str) -> list[str]:
    return pretokenization.unrestricted_merges(text)


@shared()
def _standing(text: str, pattern: str, expression: str) -> list[int]:
    """Return in how many places each merge learnt unsplit still stands under a split."""
    of = _cut(text, pattern, expression)
    return [] if isinstance(of, str) else pretokenization.occurrences(_unsplit(text), of)


@shared()
def _apart(text: str, pattern: str, expression: str) -> list[pretokenization.Apart]:
    of = _cut(text, pattern, expression)
    return [] if isinstance(of, str) else pretokenization.separated_pairs(of)


def show(text: str, chosen: list[Chosen]) -> None:
    """Draw the page for a text."""
    done: list[tuple[Chosen, pretokenization.Column]] = []
    for one in chosen:
        of = _cut(text, one.pattern, one.expression)
        if isinstance(of, str):
            (one.place or st).error(of)
        else:
            done.append((one, pretokenization.Column(one.title, one.about, of)))
    if not text:
        st.info("There is no text to cut yet. Type one at the left, or choose a sample.")
        return
    if done:
        _draw([column for _, column in done], "side by side")
        st.caption(
            "A line is a cut; color is for what is kept together. Point at a chunk to see the "
            "same span everywhere."
        )
        _forbidden(text, done)
    elif not chosen:
        st.info("Choose at least one split above.")
    _top_down(text)


def _draw(columns: list[pretokenization.Column], key: str, *, nested: bool = False) -> None:
    parts = pretokenization.parts(
        [column.cut for column in columns], min(SHOWN, DRAWN // len(columns))
    )
    part = 0
    if len(parts) > 1:
        part = st.number_input(
            f"Part shown, 1 to {len(parts)}", 1, len(parts), key=f"{key} of {len(parts)}", width=200
        )
        part -= 1
    first, last = parts[part]
    if len(parts) > 1:
        length = len(columns[0].cut.text)
        st.caption(
            f"Characters {first + 1:,} to {last:,} of {length:,} are shown; all figures are about "
            "the whole text."
        )
    components.columns(pretokenization.side_by_side(columns, first, last, nested=nested), key)


def _forbidden(text: str, done: list[tuple[Chosen, pretokenization.Column]]) -> None:
    st.subheader("What each split forbids", anchor=False)
    unsplit = _unsplit(text)
    rows = []
    places = [("not split", _standing(text, "none", ""))]
    for one, column in done:
        standing = _standing(text, one.pattern, one.expression)
        apart = _apart(text, one.pattern, one.expression)
        places.append((one.title, standing))
        rows.append(pretokenization.summary(column, standing, apart))
    right = st.column_config.TextColumn(alignment="right")
    figures = ("pre-tokens", "distinct", "characters per pre-token", "merges ruled out")
    st.dataframe(
        tables.splits(rows),
        hide_index=True,
        height="content",
        key="summary",
        column_config=dict.fromkeys(figures, right),
    )
    st.caption(
        "Most often cut apart: two neighboring characters, and in how many of their places a "
        "chunk ends between them. There, no merge can join them."
    )
    if not unsplit:
        st.caption("No two characters of this text stand side by side twice, so BPE merges none.")
        return
    number = "The first merge is" if len(unsplit) == 1 else f"The first {len(unsplit)} merges are"
    st.markdown(
        f"{number} what BPE over characters learns from this text where nothing is split. A split "
        "forbids a merge if its token stands nowhere within one chunk; else the figure says in "
        "how many places it does."
    )
    st.dataframe(
        tables.occurrences(unsplit, places),
        hide_index=True,
        height=316,
        key="standing",
        column_config=dict.fromkeys([title for title, _ in places], right),
    )


def _top_down(text: str) -> None:
    st.subheader("Top-down, level by level", anchor=False)
    titles = ("Sentences", "… then words", "… then characters")
    abouts = (
        PATTERNS["sentences"].about,
        "Each sentence is cut into words, punctuation and white space. A thick line ends a "
        "sentence.",
        "Each word is cut into its characters. A thick line ends a word.",
    )
    columns = [
        pretokenization.Column(title, about, of)
        for title, about, of in zip(titles, abouts, _levels(text), strict=True)
    ]
    _draw(columns, "levels", nested=True)
    st.caption("No level joins what the one before it has cut.")

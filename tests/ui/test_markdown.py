"""Text of users never reaches Markdown unescaped, on any page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.message import Message
from helpers import app_pages
from helpers.hostile import MARKUP
from helpers.payloads import payloads
from helpers.properties import pairs
from hypothesis import example, given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.pretokenizers.patterns import CUSTOM, WORD_LIST
from bpeviz.ui import markdown
from bpeviz.ui.opened_tokenizers import Opened
from bpeviz.ui.pages import inspect
from bpeviz.ui.permalink import codec
from bpeviz.ui.registry import PAGES

pytestmark = pytest.mark.slow

EVIL = "![evil](//evil.eu) <evil> www.evil.eu ("
"""Markup as short as the shortest text field, and an invalid expression."""

LONG = " ".join([EVIL, *MARKUP]) * 3

RAW = re.compile(r"[\[</`*_$^~]evil|:\w+\[evil|www\.evil|@evil|evil[\]>`*_$~]|\]\((?!Learn\?)")
"""Markup around the word "evil" that is not escaped, and links but our own."""

NOT_MARKDOWN = {
    "bidi_component",  # the components use `textContent`
    "vega_lite_chart",
    "html",
    "code",
    "text",
    "page_link.page",
    "selectbox.options",
    "selectbox.raw_value",
    "multiselect.options",
    "multiselect.raw_values",
    "text_input.value",
    "text_input.default",
    "text_input.placeholder",
    "text_area.value",
    "text_area.default",
    "text_area.placeholder",
}
"""The elements, and fields of elements, that Streamlit does not render as Markdown."""


def strings(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the value of every string that may be rendered as Markdown."""
    for field, value in message.ListFields():
        name = f"{path}.{field.name}".lstrip(".")
        if name in NOT_MARKDOWN or field.name in ("id", "form_id", "key", "url"):
            continue
        values = value if field.is_repeated else [value]
        for one in values:
            if isinstance(one, Message):
                yield from strings(one, name)
            elif isinstance(one, str):
                yield name, one


def rendered(app: AppTest) -> list[tuple[str, str]]:
    """Return every string of a page that may be rendered as Markdown, with its path."""
    assert [one.message for one in app.exception] == []
    found: list[tuple[str, str]] = []

    def walk(block: Any) -> None:
        if isinstance(proto := getattr(block, "proto", None), Message):
            kind = getattr(block, "type", "")
            if kind not in NOT_MARKDOWN:
                found.extend(strings(proto, kind))
        for child in getattr(block, "children", {}).values():
            walk(child)

    walk(app._tree)
    return found


def hostile(app: AppTest) -> list[str]:
    """Return the strings of a page that contain the hostile text; none has markup of it."""
    found = [(path, text) for path, text in rendered(app) if "evil" in text]
    raw = {path: text for path, text in found if RAW.search(re.sub(r"\\[!-/:-@\[-`{-~]", "", text))}
    assert raw == {}
    return [text for _, text in found]


def opened(page: str, link: str = "", **state: Any) -> AppTest:
    query = {"s": link} if link else {}
    return app_pages.opened(page, query, may_fail=True, **{"compared": ["yours"]} | state)


def tokenizer_file(number: int, tokenizer: Tokenizer) -> Opened:
    return Opened(f"file {number}", f"{EVIL} {number}", tokenizer)


OVER_BYTES = bpeviz.train("abab", merges=1, special_tokens=(EVIL,)).tokenizer()
OVER_CHARACTERS = bpeviz.train("evil", "wordpiece", vocab_size=9).tokenizer()
TEXTS = {
    "text_sample": "own",
    "text_box": LONG,
    "trained_on_sample": "own",
    "trained_on_box": LONG,
    "search": EVIL,
    "drawn_words": EVIL,
    "morphemes": EVIL,
    "morphemes_open": True,
    "word": EVIL[:40],
    "look_up": EVIL,
    "ids_box": EVIL,
    "words": LONG,
    "words_b": LONG,
    "regex": EVIL,
    "text_failed": f"{EVIL} is not UTF-8 text.",
    "learn_chapter": "merge",
    "learn_text": LONG[:900],
    "splits": ["list A", "list B", "whitespace"],
    "algorithms": ["bpe", "unigram"],
    "tokenizers_failed": f"{EVIL} cannot be read.",
    "tokenizers_opened": [tokenizer_file(1, OVER_BYTES), tokenizer_file(2, OVER_CHARACTERS)],
}
VARIANTS: dict[str, dict[str, Any]] = {
    "texts": {},
    "a file in place of the text": {"text_file": LONG, "text_file_name": EVIL},
    "an invalid expression": {"pattern": CUSTOM, "splits": [CUSTOM, "whitespace"]},
    "a word list": {"pattern": WORD_LIST},
    "a list of words that cannot be read": {"counted": True},
    "a tokenizer from a file": {"inspected_by": "file 1", "closer": "ids"},
    "a tokenizer that loses the text": {"inspected_by": "file 2", "closer": "diagram"},
    "a looked up token": {"inspected_by": "file 1", "closer": "token"},
    "missing ids": {"inspected_by": "file 1", "closer": "ids", "ids_box": "[9999]"},
}


CONCERNED = {
    "an invalid expression": "Split",
    "a word list": "Split",
    "a list of words that cannot be read": "app",
}
"""The page that a variant concerns most, if not Inspect."""


@pytest.mark.parametrize(
    ("page", "variant"),
    [
        pytest.param(
            page.path,
            variant,
            marks=[]
            if variant in [*VARIANTS][:2] or CONCERNED.get(variant, "Inspect") in page.path
            else pytest.mark.thorough,
        )
        for page, variant in itertools.product(PAGES, VARIANTS)
    ],
)
def test_text_of_users_is_escaped_on_every_page(page: str, variant: str) -> None:
    app = opened(page, **TEXTS | VARIANTS[variant])
    # Only components draw the texts of Learn.
    assert hostile(app) or (page == "pages/Learn.py" and "evil" in str(payloads(app)))


@pytest.mark.parametrize(("key", "closer"), pairs(["file 1", "file 2"], [*inspect.CLOSER.titles]))
def test_titles_of_opened_tokenizers_are_escaped_on_inspect(key: str, closer: str) -> None:
    app = opened("pages/Inspect.py", **TEXTS | {"inspected_by": key, "closer": closer})
    assert any(markdown.escape(EVIL) in text for text in hostile(app))


@pytest.mark.parametrize("page", ["pages/Compare.py", "pages/Inspect.py"])
def test_titles_of_opened_tokenizers_are_escaped_in_the_dialog(page: str) -> None:
    app = opened(page, **TEXTS)
    app.button(key="open_tokenizer").click().run()
    assert f"Close {markdown.escape(EVIL)} 1" in hostile(app)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_names_in_links_are_escaped(page: Any) -> None:
    link = codec.pack({EVIL: EVIL, "largest": EVIL, "without": [EVIL, f"Text: {EVIL}"]})
    (message,) = [one.value for one in opened(page.path, link).warning if "link" in one.value]
    assert message.count(markdown.escape(EVIL)) == 3
    assert hostile(opened(page.path, link))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.title != "Learn"], ids=lambda page: page.title
)
def test_names_that_a_link_does_not_include_are_escaped(page: Any) -> None:
    file = {"text_box": "a", "text_file": LONG, "text_file_name": EVIL}
    app = opened(page.path, **file)
    app.session_state["copy_link"] = {"request": 1}
    app.run()
    assert any(markdown.escape(EVIL) in text for text in hostile(app))
    assert len(app.toast) == 1


# ---- the function


@given(st.text(max_size=60))
@example(" ".join(MARKUP))
def test_escaped_text_keeps_its_characters(text: str) -> None:
    shown = markdown.escape(text)
    plain = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", shown).replace("\u2060", "")
    assert plain == " ".join(text.split()).replace("\u2060", "")


@pytest.mark.parametrize("text", ["http://a.b", "HTTPS://a.b", "www.a.b", "WWW.a.b", "a@b.c"])
def test_escaped_address_has_a_joiner(text: str) -> None:
    assert "\u2060" in markdown.escape(text)

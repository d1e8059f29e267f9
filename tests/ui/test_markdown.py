"""Text of users never reaches Markdown unescaped, on any page.

`tests/contracts/test_pages.py` checks the values of links; here are files and their names.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from helpers import app_pages
from helpers.hostile import MARKUP
from helpers.rendered import hostile_strings
from hypothesis import example, given
from hypothesis import strategies as st

import bpeviz
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.opened import Opened
from bpeviz.ui import markdown

pytestmark = pytest.mark.slow

EVIL = "![evil](//evil.eu) <evil> www.evil.eu ("
"""Markup as short as the shortest text field."""

LONG = " ".join([EVIL, *MARKUP]) * 3


def tokenizer_file(number: int, tokenizer: Tokenizer) -> Opened:
    return Opened(f"file {number}", f"{EVIL} {number}", tokenizer)


OVER_BYTES = bpeviz.train("abab", merges=1, special_tokens=(EVIL,)).tokenizer()
OVER_CHARACTERS = bpeviz.train("evil", "wordpiece", vocab_size=9).tokenizer()
FILES = {
    "text_sample": "own",
    "text_box": LONG,
    "text_failed": f"{EVIL} is not UTF-8 text.",
    "tokenizers_failed": f"{EVIL} cannot be read.",
    "tokenizers_opened": [tokenizer_file(1, OVER_BYTES), tokenizer_file(2, OVER_CHARACTERS)],
}
LONG_FILE = {"text_file": LONG, "text_file_name": EVIL, "copy_link": {"request": 1}}
STATES: list[tuple[str, dict[str, Any]]] = [
    ("Train", LONG_FILE),
    ("Compare", {"compared": ["yours", "file 1", "file 2"]}),
    ("Compare", {"how_many_texts": "many", "named_files": [(EVIL, LONG)], "compared": ["file 1"]}),
    ("Inspect", {"inspected_by": "file 1", "closer": "token", "look_up": EVIL}),
    ("Inspect", {"inspected_by": "file 1", "closer": "ids", "ids_box": "[9999]"}),
    ("Inspect", {"inspected_by": "file 2", "closer": "diagram", "mirrored": "file 1"}),
    ("Pre-tokenize", LONG_FILE),
]


@pytest.mark.parametrize(("page", "state"), STATES)
def test_names_of_files_and_errors_about_them_are_escaped(page: str, state: dict[str, Any]) -> None:
    app = app_pages.opened(page, may_fail=True, **{"compared": ["yours"]} | FILES | state)
    assert any(markdown.escape(EVIL) in text for text in hostile_strings(app))
    assert len(app.toast) == len(state.keys() & {"copy_link"})
    if page == "Compare":
        app.button(key="open_tokenizer").click().run()
        assert f"Close {markdown.escape(EVIL)} 1" in hostile_strings(app)


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

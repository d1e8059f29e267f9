"""Links that bpeviz wrote earlier: they open, and anything else is refused without much work."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from helpers.earlier_links import pack
from helpers.hostile import packed
from helpers.refusals import refusal
from hypothesis import given
from hypothesis import strategies as st

from bpeviz import limits
from bpeviz.text import clean
from bpeviz.ui.permalink.links import MAX_LINK_VALUES, MAX_UNPACKED, LinkError, earlier

ANY_TEXT = st.text(max_size=40)
VALUES = st.one_of(
    ANY_TEXT,
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(ANY_TEXT, max_size=5),
)
NAMES = st.text(max_size=20).filter(lambda name: name != "form")


def cleaned(value: Any) -> Any:
    if isinstance(value, list):
        return [clean(text) for text in value]
    return clean(value) if isinstance(value, str) else value


@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_values_keep_their_types(values: dict[str, Any]) -> None:
    restored = earlier(pack(values))
    assert restored == {name: cleaned(value) for name, value in values.items()}
    assert [type(restored[name]) for name in values] == [type(value) for value in values.values()]


@given(st.text(max_size=300), st.integers(0, 10_000), st.characters() | st.just(""), st.booleans())
def test_change_of_a_sign_is_noticed(text: str, at: int, sign: str, is_instead: bool) -> None:
    link = pack({"text_box": text})
    at %= len(link)
    try:
        restored = earlier(link[:at] + sign + link[at + is_instead :])
    except LinkError:
        return
    assert restored == {"text_box": text}  # bits after the last byte are unused


INVALID_CONTENTS = {
    "a list": b"[1]",
    "a number": b"1",
    "not JSON": b"{'a': 1}",
    "not UTF-8": b'{"a":"\xff"}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "null": b'{"a":null}',
    "nested": b'{"a":{"b":1}}',
    "a list of numbers": b'{"a":[1]}',
    "NaN": b'{"a":NaN}',
    "infinite": b'{"a":1e999}',
    "minus infinity": b'{"a":-Infinity}',
    "a huge number": b'{"a":' + b"9" * 5_000 + b"}",
    "deep": b'{"a":' + b"[" * 100_000,
    "many values": json.dumps({str(i): i for i in range(MAX_LINK_VALUES + 1)}).encode(),
    "a long list": json.dumps({"a": ["b"] * (MAX_LINK_VALUES + 1)}).encode(),
    "empty": b"",
    "a later form": b'{"form":2}',
    "a long text": b'{"a":"' + b"a" * 5_000_000 + b'"}',
    "brackets": b"[" * 5_000_000,
    "digits": b'{"a":' + b"9" * 5_000_000,
}


@pytest.mark.parametrize("raw", INVALID_CONTENTS.values(), ids=INVALID_CONTENTS)
def test_other_contents_are_refused_with_little_memory(raw: bytes) -> None:
    link = packed(raw)
    assert len(link) <= limits.LINK
    tracemalloc.start()
    refusal(earlier, link, naming="link", error=LinkError)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3 * MAX_UNPACKED


def test_lone_surrogates_are_replaced() -> None:
    assert earlier(packed(b'{"a":"x\\ud83dy","b":["\\udc00"]}')) == {"a": "x�y", "b": ["�"]}


def test_too_long_link_is_not_unpacked() -> None:
    text = {"text": "a" * limits.PAGE_TEXT}
    assert earlier(pack(text)) == text
    refusal(earlier, "A" * (limits.LINK + 1), naming=f"{limits.LINK:,}", error=LinkError)

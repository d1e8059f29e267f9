"""Packed values: they are restored as they were, and anything else is refused without much work.

`tests/contracts/test_pages.py` packs the values of all widgets, and opens damaged links.
"""

from __future__ import annotations

import json
import tracemalloc
from random import Random
from typing import Any

import pytest
from helpers.hostile import packed
from helpers.refusals import refusal
from hypothesis import given
from hypothesis import strategies as st

from bpeviz import limits
from bpeviz.text import clean
from bpeviz.ui.permalink.codec import (
    MAX_JSON,
    MAX_LINK_VALUES,
    MAX_PACKED,
    LinkError,
    TooLongError,
    pack,
    unpack,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)  # with lone surrogates
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
def test_values_keep_their_types_and_addresses_need_no_escapes(values: dict[str, Any]) -> None:
    link = pack(values)
    assert link.isascii()
    assert link.replace("-", "").replace("_", "").isalnum()
    restored = unpack(link)
    assert restored == {name: cleaned(value) for name, value in values.items()}
    assert [type(restored[name]) for name in values] == [type(value) for value in values.values()]


@given(st.text(max_size=300), st.integers(0, 10_000), st.characters() | st.just(""), st.booleans())
def test_change_of_a_sign_is_noticed(text: str, at: int, sign: str, is_instead: bool) -> None:
    link = pack({"text_box": text})
    at %= len(link)
    try:
        restored = unpack(link[:at] + sign + link[at + is_instead :])
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
    assert len(link) <= MAX_PACKED
    tracemalloc.start()
    refusal(unpack, link, naming="link", error=LinkError)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3 * MAX_JSON


def test_lone_surrogates_are_replaced() -> None:
    assert unpack(packed(b'{"a":"x\\ud83dy","b":["\\udc00"]}')) == {"a": "x�y", "b": ["�"]}
    assert unpack(pack({"a": "x\ud83dy"})) == {"a": "x�y"}


def test_too_long_values_are_neither_packed_nor_unpacked() -> None:
    mixed = "".join(Random(7).choices("abcdefghijklmnopqrstuvwxyz ", k=30_000))
    for text in (mixed, "a" * MAX_JSON, "\0" * (MAX_JSON // 6)):
        with pytest.raises(TooLongError):
            pack({"text": text})
    assert unpack(pack({"text": "a" * limits.PAGE_TEXT})) == {"text": "a" * limits.PAGE_TEXT}
    refusal(unpack, "A" * (MAX_PACKED + 1), naming=f"{MAX_PACKED:,}", error=LinkError)

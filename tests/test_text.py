"""Labels, shortened names, color keys and JSON."""

from __future__ import annotations

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.core.boundaries import Part
from bpeviz.text import (
    as_json,
    character_stand_in,
    clean,
    digest_of,
    label,
    shorten,
)


@given(st.text(max_size=100), st.integers(3, 50))
def test_shorten_keeps_both_ends(name: str, most: int) -> None:
    short = shorten(name, most)
    assert len(short) <= most
    assert short == name or ("…" in short and name.startswith(short[: (most - 1) // 2]))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b" a\tb\nc\r", "·a→b↵c␍"),
        ("\u202e\u200d\0\u00a0\ue000".encode(), "⟨202E⟩⟨200D⟩⟨0000⟩⟨00A0⟩⟨E000⟩"),
        ("👍".encode()[:3], "⟨F0⟩⟨9F⟩⟨91⟩"),
        ("é".encode() + b"\xff" + b"e", "é⟨FF⟩e"),
        (b"", ""),
    ],
)
def test_label_replaces_invisible_characters(raw: bytes, shown: str) -> None:
    assert label(raw) == shown


def test_label_equals_character_stand_in() -> None:
    # Python and Unicode may differ on which characters are visible.
    for code in (*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)):
        is_mark = unicodedata.category(chr(code)).startswith("M") or code in (0xE33, 0xEB3)
        circle = "◌" * is_mark
        assert label(chr(code).encode()) == circle + character_stand_in(chr(code))


@given(st.binary())
def test_label_never_contains_a_replacement_character(raw: bytes) -> None:
    if "\ufffd".encode() not in raw:
        assert "\ufffd" not in label(raw)


def test_clean_repairs_surrogates() -> None:
    assert clean("a\ud83d\udc4db") == "a👍b"
    assert clean("a\ud83db") == "a\ufffdb"
    assert clean("é👍") == "é👍"


@pytest.mark.parametrize("value", [2**70, "\ud800", [1.5, None, {"é": True}], {1: {"a": -(2**63)}}])
def test_json_holds_every_plain_value(value: object) -> None:
    expected = json.loads(json.dumps(value))
    assert json.loads(as_json(value)) == expected
    assert as_json({"of": value}) == as_json({"of": value})
    assert digest_of([value]) == digest_of([value]) != digest_of([[value]])


def test_json_takes_plain_values_alone() -> None:
    for other in (Part(0, 1, 0, 1), np.int64(1), {1}):
        with pytest.raises(TypeError):
            as_json([other])

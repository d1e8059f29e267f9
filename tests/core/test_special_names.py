"""Splitting at the names of special tokens, against an expression with all names."""

from __future__ import annotations

import re

from helpers.properties import many
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.core.special_names import SpecialNames

LETTERS = st.sampled_from("ab<|]^-\\é\U0001f44b\n")


def reference(text: str, names: set[str]) -> list[tuple[str, bool]]:
    """Split by an expression that tries the longest names first."""
    longest_first = sorted(names, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, longest_first))})", text)
    return [(part, bool(i % 2)) for i, part in enumerate(parts) if part]


@many()
@given(
    text=st.text(LETTERS, max_size=30),
    names=st.sets(st.text(LETTERS, min_size=1, max_size=5), min_size=1, max_size=12),
)
def test_names_are_found_as_by_an_expression(text: str, names: set[str]) -> None:
    assert SpecialNames(names).split(text) == reference(text, names)


def test_names_with_long_common_beginnings_are_found() -> None:
    names = {"a" * length + "b" for length in range(1, 3_000)} | {"a" * 5_000, "y", "ya" * 900}
    text = "a" * 4_000 + "c" + "ya" * 800 + "a" * 10_000 + "b"
    found = [part for part, special in SpecialNames(names).split(text) if special]
    assert found == ["y"] * 800 + ["a" * 5_000, "a" * 5_000, "ab"]


def test_one_of_many_names_is_found() -> None:
    names = {f"<|special {number}|>" for number in range(30_000)}
    text = "<|special 29999|><|special 30000|> <|special<|special 7|>"
    found = SpecialNames(names).split(text)
    assert [part for part, special in found if special] == ["<|special 29999|>", "<|special 7|>"]
    assert "".join(part for part, _ in found) == text

"""Hypothesis strategies for texts. Few distinct letters make pairs repeat and tie often."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from helpers.difficult import DIFFICULT


def over(letters: str, most: int) -> st.SearchStrategy[str]:
    """Return a strategy for texts of up to `most` letters; half of them have at least `most` / 2.

    Args:
        letters: The distinct letters.
        most: The largest length of a text.
    """
    return st.text(letters, max_size=most) | st.text(letters, min_size=most // 2, max_size=most)


SMALL_TEXTS = st.one_of(
    over("ab", 80),
    over("abc ", 120),
    over("01234", 80),
    st.lists(st.sampled_from(["ab", "aba", "b", "ba", "ab ab", "aab"]), max_size=40).map("".join),
    over("aé👍 \n", 30),
)
"""Texts to train on and to encode; the slow loops of `reference.py` take milliseconds for each."""

PIECES = st.lists(
    st.sampled_from(
        ["a", "Ab", "ABC", "'s", "'S", "'ll", "'Re", "é", "e\u0301", "ǅ", "ʰ", "名", "слово",
         "हिन्दी", "1", "12345", "٣", "½", ".", "...", "!?/", "/", "👍", "👨‍👩‍👧", "_", "$",
         " ", "  ", "\t", "\n", "\r\n", "\r", "\u00a0", "\u2028", "\u3000",
         "\x1c", "\x85", "\u200b", "\0", "\ufffd", "a. B", "U.S.", "$1", "$12.40", "。", "？」",
         "…", "-", "(", "+", "\u2029"]
    ),
    max_size=20,
).map("".join)  # fmt: skip
ANY_TEXT = st.one_of(st.text(st.characters(codec="utf-8"), max_size=40), PIECES)


@cache
def many_texts() -> tuple[str, ...]:
    """Return several hundred texts: difficult ones, lines of all samples, and mixtures."""
    lines = [
        line
        for path in sorted((Path(__file__).parents[2] / "sample_texts").glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()[:40:4]
        if line.strip()
    ]
    drawn = random.Random(16)
    parts = [text for text in DIFFICULT if 0 < len(text) < 40]
    mixed = ["".join(drawn.choices(parts, k=drawn.randint(2, 5))) for _ in range(240)]
    return (*DIFFICULT, *(line[:300] for line in lines), *mixed)

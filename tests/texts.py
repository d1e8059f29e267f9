"""Texts that hypothesis draws: over few letters, so that pairs come often and tie often."""

from __future__ import annotations

from hypothesis import strategies as st


def over(letters: str, most: int) -> st.SearchStrategy[str]:
    """Texts of up to `most` of these letters, every second one at least half as long."""
    return st.text(letters, max_size=most) | st.text(letters, min_size=most // 2, max_size=most)


SMALL_TEXTS = st.one_of(
    over("ab", 80),
    over("abc ", 120),
    over("01234", 80),
    st.lists(st.sampled_from(["ab", "aba", "b", "ba", "ab ab", "aab"]), max_size=40).map("".join),
    over("aé👍 \n", 30),
)
"""Learnt from and looked at; the slow loops of `reference.py` take milliseconds for one."""

"""Chapter 0: why tokens matter."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from bpeviz.ui import components
from bpeviz.ui.learn import engine, prose, stored
from bpeviz.ui.learn.base import Chapter
from bpeviz.ui.learn.figures import PASSAGE_TOKENS

AFTER_SPACE = " strawberry"


def _more(fill: Callable[[str], str]) -> None:
    notes = prose.read(CHAPTER.key).notes
    components.player(
        engine.played(AFTER_SPACE, stored.o200k(), "After a space"), "learn_why_space"
    )
    st.markdown(fill(notes["space"]))
    st.markdown(fill(notes["price"]))


def _figures() -> dict[str, int | str]:
    times = PASSAGE_TOKENS["burmese"] / PASSAGE_TOKENS["english"]
    return {**PASSAGE_TOKENS, "times": f"{times:.1f}"}


CHAPTER = Chapter(
    key="why",
    text="strawberry",
    stages={"letters": engine.gpt4o_cuts},
    own="letters",
    longest=60,
    figures=_figures,
    more=_more,
    own_needs=("o200k_base",),
)

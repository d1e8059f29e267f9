"""Chapter 0: why tokens matter."""

from __future__ import annotations

from bpeviz.ui import components
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.base import Chapter
from bpeviz.ui.learn.figures import PASSAGE_TOKENS

AFTER_SPACE = " strawberry"


def _after_space() -> None:
    played = engine.played(AFTER_SPACE, stored.o200k(), "After a space")
    components.player(played, "learn_why_space")


def _figures() -> dict[str, int | str]:
    times = PASSAGE_TOKENS["burmese"] / PASSAGE_TOKENS["english"]
    return {**PASSAGE_TOKENS, "times": f"{times:.1f}"}


CHAPTER = Chapter(
    key="why",
    text="strawberry",
    tasks={"letters": engine.gpt4o_cuts},
    own="letters",
    longest=60,
    figures=_figures,
    drawings={"space": _after_space},
    own_needs=("o200k_base",),
)

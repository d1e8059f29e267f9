"""Chapter 0: why tokens matter."""

from __future__ import annotations

from bpeviz.ui import components
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.base import Chapter, Task
from bpeviz.ui.learn.figures import PASSAGE_TOKENS
from bpeviz.views.acts import LONGEST_OWN_WORD

AFTER_SPACE = " strawberry"

BERRY = "berry"

EXPECTED = (
    "These are two words, but pieces are not words: they were chosen by how often they occur."
)
"""What is wrong with the division of a compound into its words."""


def letters(text: str) -> Task[int]:
    """Return the task in which the user places GPT-4o's boundaries."""
    return engine.gpt4o_cuts(text, {(text.removesuffix(BERRY), BERRY): EXPECTED})


def _after_space() -> None:
    components.player(
        engine.played(AFTER_SPACE, stored.o200k(), "After a space"), "learn_why_space"
    )


def _figures() -> dict[str, int | str]:
    times = PASSAGE_TOKENS["burmese"] / PASSAGE_TOKENS["english"]
    return {**PASSAGE_TOKENS, "times": f"{times:.1f}"}


CHAPTER = Chapter(
    key="why",
    texts={"letters": stored.BERRIES},
    tasks={"letters": letters},
    own="letters",
    longest=LONGEST_OWN_WORD,
    figures=_figures,
    drawings={"space": _after_space},
    own_needs=("o200k_base",),
)

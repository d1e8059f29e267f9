"""Chapter 0: strawberry, or what a language model gets in place of letters."""

from __future__ import annotations

from functools import partial

from bpeviz.ui import components
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.base import LONGEST_OWN_WORD, Chapter, Exercise, NoQuestionError
from bpeviz.ui.learn.figures import PASSAGE_TOKENS
from bpeviz.views.acts import token
from bpeviz.views.payloads import MessagePart, Player
from bpeviz.views.task import Mistake, Task

AFTER_SPACE = " strawberry"

BERRY = "berry"

EXPECTED = (
    "These are two words, but pieces are not words: they were chosen by how often they occur."
)
"""What is wrong with the division of a compound into its words."""


def letters(text: str) -> Exercise[int]:
    """Return the exercise in which the user places GPT-4o's boundaries."""
    return engine.gpt4o_cuts(text, {(text.removesuffix(BERRY), BERRY): EXPECTED})


def _which(text: str) -> Exercise[int]:
    """Return the exercise in which the user picks the line that GPT-4o splits."""

    def payload(done: int, given: int | None) -> Player:
        stage = engine.encoding(text, stored.o200k(), None if done else 0)
        return engine.bare(engine.on_stage(stage, "which"))

    return Exercise([partial(_split_line, text)], payload)


def _split_line(text: str) -> Task[int]:
    """Return the question which line has several tokens.

    Raises:
        NoQuestionError: Not exactly one has.
    """
    words = sorted(text.split("\n"))
    tokens = {word: stored.o200k().tokens(word) for word in words}
    split = [i for i, word in enumerate(words) if len(tokens[word]) > 1]
    if len(split) != 1:
        raise NoQuestionError("One of these words must have several tokens.")
    message: list[MessagePart] = [token(words[split[0]]), " becomes "]
    for part in tokens[words[split[0]]]:
        message += [token(part.label), " "]
    message[-1] = "."
    wrong = [Mistake(i, [token(word), " is in the list."]) for i, word in enumerate(words)]
    return engine.picked(words, split[0], message, wrong)


def _after_space() -> None:
    payload = engine.played(AFTER_SPACE, stored.o200k(), "After a space")
    components.player(payload, "learn_why_space")


def _figures() -> dict[str, int | str]:
    times = PASSAGE_TOKENS["burmese"] / PASSAGE_TOKENS["english"]
    return {**PASSAGE_TOKENS, "times": f"{times:.1f}"}


CHAPTER = Chapter(
    key="why",
    texts={"letters": stored.COMPOUND, "which": stored.LINES},
    tasks={"letters": letters, "which": _which},
    own="letters",
    longest=LONGEST_OWN_WORD,
    figures=_figures,
    drawings={"space": _after_space},
    own_needs=("o200k_base",),
)

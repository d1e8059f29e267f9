"""Chapter 6: real tokenizers."""

from __future__ import annotations

from bpeviz.text import counted
from bpeviz.ui import components
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.acts import LONGEST_WORD, TypeAct, token
from bpeviz.ui.learn.base import Chapter, Judgment, Question, Task
from bpeviz.views.payloads import MessagePart
from bpeviz.views.stage import Row

WORD, NUMBER, YEAR, NAME = "unbelievable", "1234567", "2026", "<|endoftext|>"

SPACES = "    Hello World"
SPACES_TOKENS = {"spaces_gpt2": 5, "spaces_gpt4": 3}
"""The tokens of `SPACES` under GPT-2 and GPT-4."""

_BYTES_ONLY = (
    "These are single bytes: GPT-4o's tokens of this text need a file that is not here yet."
)


def special(text: str) -> Task:
    """Return the task in which the user types the name of a special token."""
    return engine.typed(Question(TypeAct(60), _judge), _rows)


def _rows(text: str) -> list[Row]:
    """Return a text in GPT-4o's tokens, or in bytes while these need a file."""
    return engine.encoded_rows(text, {"": stored.gpt4o(text) or stored.o200k().at_step(0)})


def _judge(given: str | None) -> Judgment:
    text = NAME if given is None else given
    if not text:
        return Judgment("wrong", ["There is no text yet."])
    whole = stored.gpt4o(text)
    message: list[MessagePart] = [] if whole else [_BYTES_ONLY]
    if whole:
        tokens = whole.tokens(text)
        message = [f"The text does not end. It has {counted(len(tokens), 'plain token')}: "]
        for part in tokens:
            message += [", " if part is not tokens[0] else "", token(part.label), f" {part.id}"]
        message.append(".")
    return Judgment("right" if NAME in text else "wrong", message, NAME)


def _year() -> None:
    components.player(engine.played(YEAR, stored.o200k(), "A year"), "learn_real_year")


CHAPTER = Chapter(
    key="real",
    text=WORD,
    tasks={
        "word": engine.gpt4o_cuts,
        "digits": lambda text: engine.gpt4o_cuts(NUMBER),
        "special": special,
    },
    own="word",
    longest=LONGEST_WORD,
    own_needs=("o200k_base",),
    figures=lambda: (
        {
            "entries": round(stored.o200k().vocab_size, -3),
            "group": 3,
            "signs": len(NAME),
            "special": len(stored.o200k().encode(NAME)),
        }
        | SPACES_TOKENS
    ),
    drawings={"year": _year},
)

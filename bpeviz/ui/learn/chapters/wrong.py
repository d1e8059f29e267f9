"""Chapter 7: what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import label
from bpeviz.ui import components
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.base import LONGEST_OWN_WORD, Chapter, Exercise
from bpeviz.views.payloads import Player
from bpeviz.views.stage import Row

Divisions = Mapping[tuple[str, ...], str]
"""What is wrong with a division, by its parts."""

GOING_ON = f"{stored.PROMPT}blue"

AFTER_WORD = "A word takes the space before it, not the one after it."
OWN_SIGN = "The period is not a digit, so it stands alone."

SPACES_TOKENS = {"spaces_gpt2": 5, "spaces_gpt4": 3}
"""The tokens of four spaces and “Hello World” under GPT-2 and GPT-4."""


def _space(text: str) -> Exercise[int]:
    before = re.findall(r"\s*\S+", text)
    before[-1] += text[len("".join(before)) :]
    after = re.findall(r"\S+\s*", text)
    expected = {tuple(before): "The last space is not a part of the word before it."}
    return engine.gpt4o_cuts(text, expected | {tuple(after): AFTER_WORD})


def _chat(text: str) -> Exercise[int]:
    plain = tuple(part.label for part in stored.chat().tokens(text))
    said = "So ordinary text is split. This program also looks for the special names."
    expected: Divisions = {plain: said}
    return engine.cut_exercise(text, stored.chat(), "Tokens of the chat", expected, stored.CONTROL)


def _numbers(text: str) -> Exercise[int]:
    words = tuple(re.findall(r"\s?\S+", text))
    digits = tuple(text)
    expected = {words: OWN_SIGN, digits: "Up to three digits side by side are one token."}
    return engine.gpt4o_cuts(text, expected)


def ways() -> Player:
    """Return a chat that a user forges: with all special names, and with the template's only."""
    before, typed, after = stored.CHAT
    tokenizer = stored.chat()
    every = [*tokenizer.encode("".join(stored.CHAT), allowed_special="all")]
    own = [
        *tokenizer.encode(before, allowed_special="all"),
        *tokenizer.encode(typed),
        *tokenizer.encode(after, allowed_special="all"),
    ]
    rows = [_row("All names", every), _row("Program's", own)]
    return engine.still(rows, "chat")


def _row(title: str, ids: list[int]) -> Row:
    tokenizer: Tokenizer = stored.chat()
    control = sorted(tokenizer.special_tokens.values())
    raw = [tokenizer.token_bytes(token_id) for token_id in ids]
    pieces = [*zip(ids, map(len, raw), strict=True)]
    looks = {
        token_id: (label(part), control.index(token_id) if token_id in control else -1)
        for token_id, part in zip(ids, raw, strict=True)
    }
    return engine.row("".join(stored.CHAT), title, pieces, looks)


def _going_on() -> None:
    components.player(
        engine.played(GOING_ON, stored.o200k(), "The prompt goes on"), "learn_wrong_going"
    )


def _split(text: str) -> str:
    """Return GPT-4o's tokens of a text, in backquotes."""
    return " ".join(f"`{part.label}`" for part in stored.o200k().tokens(text))


CHAPTER = Chapter(
    key="wrong",
    texts={
        "space": stored.PROMPT,
        "chat": stored.TYPED,
        "numbers": stored.NUMBERS,
        "versions": stored.VERSIONS,
    },
    tasks={
        "space": _space,
        "chat": _chat,
        "numbers": _numbers,
        "versions": _numbers,
        "word": engine.gpt4o_cuts,
    },
    own="word",
    longest=LONGEST_OWN_WORD,
    own_needs=("o200k_base",),
    figures=lambda: {
        "word": label(GOING_ON.removeprefix(stored.PROMPT.rstrip()).encode()),
        "plain": len(stored.chat().encode(stored.CONTROL[1])),
        "special": len(stored.o200k().encode(stored.END)),
        "group": 3,
        "million": _split(stored.MILLION),
        "year": _split(stored.YEAR),
        **SPACES_TOKENS,
    },
    drawings={
        "going": _going_on,
        "ways": lambda: components.player(ways(), "learn_wrong_ways"),
    },
)

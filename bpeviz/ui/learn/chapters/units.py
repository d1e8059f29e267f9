"""Chapter 1: words, letters or bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import regex

from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.palette import COLORS
from bpeviz.text import counted, joined, label
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import Chapter, Exercise
from bpeviz.views.acts import Judgment, TypeAct
from bpeviz.views.stage import Row
from bpeviz.views.task import Task

TRAINED_ON, MERGES = "low lower lowest", 2
"""The text of which there is a list of words, and a list of merges."""

MOST_TYPED = 4
"""The most characters of the text to type."""

CHARACTERS = 160_000
"""The characters of Unicode 17, rounded."""

HEAVY = "你好😃"
"""A text whose bytes are the goal."""

_PIECES = regex.compile(r"\s+|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\X")
_BYTES = {byte: (label(bytes([byte])), -1) for byte in range(256)}
WORDS = TRAINED_ON.split()


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text, and what is between them, with their numbers in the list."""
    for piece in _PIECES.findall(text):
        known = WORDS.index(piece) if piece in WORDS else UNKNOWN_ID
        yield DROPPED_ID if piece.isspace() else known, piece


def characters(text: str) -> list[str]:
    """Return the characters of a text as people see them."""
    return [match[0] for match in regex.finditer(r"\X", text)]


def rows(text: str) -> list[Row]:
    """Return a text in words of a list, in letters and in bytes."""
    words = [(number, len(piece.encode())) for number, piece in _pieces(text)]
    letters = [(ord(letter), len(letter.encode())) for letter in text]
    signs = {ord(letter): (label(letter.encode()), -1) for letter in text}
    listed = {i: (word, i % COLORS) for i, word in enumerate(WORDS)}
    return [
        engine.row(text, "Words", words, listed),
        engine.row(text, "Letters", letters, signs),
        engine.row(text, "Bytes", [(byte, 1) for byte in text.encode()], _BYTES),
    ]


def weights(text: str) -> list[Row]:
    """Return a text over the fields of its bytes."""
    return [engine.row(text, "", [(byte, 1) for byte in text.encode()], _BYTES)]


def _judge_weights(example: str, given: str | None) -> Judgment[str]:
    text = example if given is None else given
    goal = len(example.encode())
    size, count = len(text.encode()), len(characters(text))
    so_far = f"{counted(size, 'byte')} in {counted(count, 'character')}"
    if size == goal and count <= MOST_TYPED:
        return Judgment("right", [f"{so_far}."], example)
    over = [counted(size - goal, "byte")] if size > goal else []
    over += [counted(count - MOST_TYPED, "character")] if count > MOST_TYPED else []
    todo = [f"{counted(goal - size, 'byte')} to go"] if size < goal else []
    todo += [f"{joined(over)} too many"] if over else []
    return Judgment("wrong", [f"{so_far}: {joined(todo)}."])


def _slow(word: str) -> Exercise[int]:
    """Return the exercise in which the user splits a word that is in no list."""
    tokenizer = engine.merges_of(TRAINED_ON, merges=MERGES).tokenizer()
    whole = "No such word is in the list."
    return engine.cut_exercise(word, tokenizer, "A word in no list", {(word,): whole})


def _weights(example: str) -> Exercise[str]:
    exercise = engine.typed(Task(TypeAct(100), partial(_judge_weights, example)), weights)
    return replace(exercise, figures={"goal": len(example.encode())})


def _own(text: str) -> Exercise[str]:
    return Exercise((), lambda done, given: engine.still(rows(text)))


def _figures() -> dict[str, int | str]:
    return {
        "unknown": engine.UNKNOWN_WORD,
        "byte_values": len(_BYTES),
        "most": MOST_TYPED,
        "characters": CHARACTERS,
    }


CHAPTER = Chapter(
    key="units",
    texts={"slow": "slow", "weights": HEAVY},
    tasks={"slow": _slow, "weights": _weights, "own": _own},
    own="own",
    figures=_figures,
)

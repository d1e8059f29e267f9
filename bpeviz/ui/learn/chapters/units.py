"""Chapter 1: words, letters or bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import regex

from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.palette import COLORS
from bpeviz.text import counted, joined, label
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import DON_QUIJOTE, SENTENCES, Chapter, Question, Task
from bpeviz.views.acts import Judgment, TypeAct, token
from bpeviz.views.payloads import MessagePart, MessageRow
from bpeviz.views.stage import Row

MOST_TYPED = 4
"""The most characters of the text to type."""

CHARACTERS = 144_000
"""Characters that Unicode has at least."""

NEW_WORD = "caterpillar"

HEAVY = ("你好😃", "日本é", "😃👍語")
"""Texts whose bytes are the goal."""

_PIECES = regex.compile(r"\s+|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\X")
_BYTES = {byte: (label(bytes([byte])), -1) for byte in range(256)}


def words_of(text: str) -> list[str]:
    """Return the list of a text: each of its words and marks once."""
    return [*dict.fromkeys(piece for piece in _PIECES.findall(text) if not piece.isspace())]


WORDS = words_of(DON_QUIJOTE)


def _pieces(text: str, listed: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the words of a text, and what is between them, with their numbers in the list."""
    for piece in _PIECES.findall(text):
        known = listed.index(piece) if piece in listed else UNKNOWN_ID
        yield DROPPED_ID if piece.isspace() else known, piece


def unknown(text: str, listed: Sequence[str] = WORDS) -> list[str]:
    """Return the words of a text that are not in the list."""
    return [piece for number, piece in _pieces(text, listed) if number == UNKNOWN_ID]


def characters(text: str) -> list[str]:
    """Return the characters of a text as people see them."""
    return [match[0] for match in regex.finditer(r"\X", text)]


def rows(text: str, vocabulary: Sequence[str] = WORDS) -> list[Row]:
    """Return a text in words of a list, in letters and in bytes."""
    words = [(number, len(piece.encode())) for number, piece in _pieces(text, vocabulary)]
    letters = [(ord(letter), len(letter.encode())) for letter in text]
    signs = {ord(letter): (label(letter.encode()), -1) for letter in text}
    listed = {i: (word, i % COLORS) for i, word in enumerate(vocabulary)}
    return [
        engine.row(text, "Words", words, listed),
        engine.row(text, "Letters", letters, signs),
        engine.row(text, "Bytes", [(byte, 1) for byte in text.encode()], _BYTES),
    ]


def weights(text: str) -> list[Row]:
    """Return a text over the fields of its bytes."""
    return [engine.row(text, "", [(byte, 1) for byte in text.encode()], _BYTES)]


def _judge_unknown(listed: Sequence[str], given: str | None) -> Judgment[str]:
    text = NEW_WORD if given is None else given
    lost = [*dict.fromkeys(unknown(text, listed))]
    if not text.strip():
        return Judgment("wrong", ["There is no word yet."])
    if not lost:
        last = words_of(text)[-1]
        return Judgment("wrong", [token(last), " is in the list."])
    letters, size = counted(len(lost[0]), "letter"), counted(len(lost[0].encode()), "byte")
    message: list[MessagePart] = [
        token(label(lost[0].encode())),
        " is not in the list, so it becomes ",
    ]
    message += [token(engine.UNKNOWN_WORD), f". As {letters} or as {size}, it is not lost."]
    return Judgment("right", message, NEW_WORD)


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


def _unknown(text: str) -> Task[str]:
    if text not in SENTENCES:  # one of the user's own
        return Task((), lambda done, given: engine.still(rows(text)))
    listed = words_of(text)
    words: MessageRow = {
        "title": "The list",
        "items": [[word] for word in listed],
        "numbered": False,
    }
    question = Question(
        TypeAct(100), partial(_judge_unknown, listed), name="A new word", rows=[words]
    )
    return engine.typed(question, partial(rows, vocabulary=listed))


def _weights(example: str) -> Task[str]:
    task = engine.typed(
        Question(TypeAct(100), partial(_judge_weights, example), name="Bytes"), weights
    )
    return replace(task, figures={"goal": len(example.encode())})


CHAPTER = Chapter(
    key="units",
    texts={"unknown": SENTENCES[:3], "weights": HEAVY},
    tasks={"unknown": _unknown, "weights": _weights},
    own="unknown",
    figures=lambda: {
        "smile": ord("😃"),
        "smile_bytes": len("😃".encode()),
        "byte_values": len(_BYTES),
        "most": MOST_TYPED,
        "ascii": 128,
        "characters": CHARACTERS,
    },
)

"""Chapter 1: words, letters or bytes."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.palette import COLORS
from bpeviz.text import counted, joined, label
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.acts import TypeAct, token
from bpeviz.ui.learn.base import DON_QUIJOTE, Chapter, Judgment, Question, Task
from bpeviz.views.payloads import MessagePart, MessageRow
from bpeviz.views.stage import Row

GOAL, MOST = 10, 4
"""The bytes of the text to type, and its most characters."""

CHARACTERS = 144_000
"""Characters that Unicode has at least."""

NEW_WORD = "caterpillar"
HEAVY = "你好😃"

_PIECES = regex.compile(r"\s+|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\X")
_BYTES = {byte: (label(bytes([byte])), -1) for byte in range(256)}

WORDS = [*dict.fromkeys(piece for piece in _PIECES.findall(DON_QUIJOTE) if not piece.isspace())]
"""The list: the words of the opening of Don Quijote, and its comma."""


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text, and what is between them, with their numbers in the list."""
    for piece in _PIECES.findall(text):
        known = WORDS.index(piece) if piece in WORDS else UNKNOWN_ID
        yield DROPPED_ID if piece.isspace() else known, piece


def unknown(text: str) -> list[str]:
    """Return the words of a text that are not in the list."""
    return [piece for number, piece in _pieces(text) if number == UNKNOWN_ID]


def characters(text: str) -> list[str]:
    """Return the characters of a text as people see them."""
    return [match[0] for match in regex.finditer(r"\X", text)]


def rows(text: str) -> list[Row]:
    """Return a text in words, in letters and in bytes."""
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


def _judge_unknown(given: str | None) -> Judgment:
    text = NEW_WORD if given is None else given
    lost = [*dict.fromkeys(unknown(text))]
    if not text.strip():
        return Judgment("wrong", ["There is no word yet."])
    if not lost:
        last = [part for _, part in _pieces(text) if not part.isspace()][-1]
        return Judgment("wrong", [token(last), " is in the list."])
    letters, size = counted(len(lost[0]), "letter"), counted(len(lost[0].encode()), "byte")
    message: list[MessagePart] = [
        token(label(lost[0].encode())),
        " is not in the list, so it becomes ",
    ]
    message += [token(engine.UNKNOWN_WORD), f". As {letters} or as {size}, it is not lost."]
    return Judgment("right", message, NEW_WORD)


def _judge_weights(given: str | None) -> Judgment:
    text = HEAVY if given is None else given
    size, count = len(text.encode()), len(characters(text))
    so_far = f"{counted(size, 'byte')} in {counted(count, 'character')}"
    if size == GOAL and count <= MOST:
        return Judgment("right", [f"{so_far}."], HEAVY)
    over = [counted(size - GOAL, "byte")] if size > GOAL else []
    over += [counted(count - MOST, "character")] if count > MOST else []
    todo = [f"{counted(GOAL - size, 'byte')} to go"] if size < GOAL else []
    todo += [f"{joined(over)} too many"] if over else []
    return Judgment("wrong", [f"{so_far}: {joined(todo)}."])


def _unknown(text: str) -> Task:
    if text:
        return Task((), lambda done, given: engine.still(rows(text)))
    words: MessageRow = {
        "title": "The list",
        "items": [[word] for word in WORDS],
        "numbered": False,
    }
    return engine.typed(Question(TypeAct(100), _judge_unknown, rows=[words]), rows)


def _weights(text: str) -> Task:
    return engine.typed(Question(TypeAct(100), _judge_weights), weights)


CHAPTER = Chapter(
    key="units",
    text="",
    tasks={"unknown": _unknown, "weights": _weights},
    own="unknown",
    figures=lambda: {
        "smile": ord("😃"),
        "smile_bytes": len("😃".encode()),
        "byte_values": len(_BYTES),
        "goal": GOAL,
        "most": MOST,
        "ascii": 128,
        "characters": CHARACTERS,
    },
)

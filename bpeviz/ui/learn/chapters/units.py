"""Chapter 1: words, letters or bytes."""

from __future__ import annotations

from functools import partial

import regex

from bpeviz.text import counted, joined, label
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import LONGEST_OWN_WORD, Chapter, Exercise
from bpeviz.views.acts import Judgment, TypeAct
from bpeviz.views.payloads import Player
from bpeviz.views.task import Task

TRAINED_ON, MERGES = "low lower lowest", 2
"""The text of which there is a list of merges."""

MOST_TYPED = 4
"""The most characters of the text to type."""

CHARACTERS = 160_000
"""The characters of Unicode 17, rounded."""

HEAVY = "你好😃"
"""A text whose bytes are the goal."""

_BYTES = {byte: (label(bytes([byte])), -1) for byte in range(256)}


def _judge_weights(example: str, given: str | None) -> Judgment[str]:
    text = example if given is None else given
    goal = len(example.encode())
    size, count = len(text.encode()), len(regex.findall(r"\X", text))
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
    """Return the exercise in which the user types a text over the fields of its bytes."""
    question = Task(TypeAct(100), partial(_judge_weights, example))

    def payload(done: int, given: str | None) -> Player:
        text = given or ""
        return engine.still([engine.row(text, "", [(byte, 1) for byte in text.encode()], _BYTES)])

    return Exercise([lambda: question], payload, {"goal": len(example.encode())})


CHAPTER = Chapter(
    key="units",
    texts={"slow": "slow", "weights": HEAVY},
    tasks={"slow": _slow, "weights": _weights, "own": _slow},
    own="own",
    longest=LONGEST_OWN_WORD,
    figures=lambda: {"byte_values": len(_BYTES), "most": MOST_TYPED, "characters": CHARACTERS},
)

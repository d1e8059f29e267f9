"""Chapter 6: from ids back to text."""

from __future__ import annotations

from functools import partial

from bpeviz.analysis import trace
from bpeviz.analysis.token_lookup import color_index_of
from bpeviz.text import counted
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import Chapter, Exercise
from bpeviz.ui.learn.chapters.encode import own_tokenizer
from bpeviz.views import encoded
from bpeviz.views.acts import IdsAct, Judgment, token
from bpeviz.views.payloads import MessagePart, MessageRow, Player, TokenPart
from bpeviz.views.task import Mistake, Task

BACK = "Como estás?"
"""A text that is decoded again. The merges of Don Quijote do not have its accent."""

WORD, OFFERED = "niño", 3
"""A word of whose ids some are offered: the first ones."""


def _part(token_id: int, color: int = -1) -> TokenPart:
    return token(own_tokenizer().token_label(token_id), color)


def _goal(text: str) -> str:
    """Return the first letter of a text that has several ids."""
    return next(letter for letter in text if len(own_tokenizer().encode(letter)) > 1)


def _ids(text: str) -> Exercise[list[int]]:
    """Return the exercise in which the user takes ids away until one character is left."""
    start, goal = own_tokenizer().encode(text), _goal(text)
    right = own_tokenizer().encode(goal)
    colors = encoded.hues_of(trace.inspect(text, own_tokenizer()))

    def piece(token_id: int) -> TokenPart:
        color = color_index_of(own_tokenizer(), token_id, colors)
        return {**_part(token_id, color), "id": token_id}

    def judge(given: list[int] | None) -> Judgment[list[int]]:
        decoded = own_tokenizer().decode(ids := right if given is None else given)
        if decoded == goal:
            names = [part for token_id in ids for part in (piece(token_id), " ")]
            said = f"are the {len(ids)} bytes of "
            return Judgment("right", [*names, said, token(goal), ". Alone, each becomes �."], right)
        if not decoded:
            return Judgment("wrong", ["No id is left. “Again” brings them back."], right)
        verb = "decodes" if len(ids) == 1 else "decode"
        broken = ". Bytes that are not a whole character become �" if "�" in decoded else ""
        message = f"{counted(len(ids), 'id')} {verb} to “{decoded}”{broken}."
        return Judgment("wrong", [message], right)

    def payload(done: int, given: list[int] | None) -> Player:
        ids = start if given is None else given
        parts = [(piece(i), own_tokenizer().token_bytes(i)) for i in ids]
        data = engine.still([engine.decoded_row(parts)], "ids", text)
        data["views"][0]["noText"] = "No id is left."
        data["task"] = {"pieces": [part for part, _ in parts]}
        return data

    question = Task(IdsAct(tuple(start)), judge)
    figures: dict[str, int | str] = {
        "back": text,
        "letter": goal,
        "back_tokens": len(start),
        "back_bytes": len(text.encode()),
    }
    return Exercise([lambda: question], payload, figures)


def _alone(word: str) -> Exercise[int]:
    """Return the exercise in which the user picks the id that alone is no character."""
    ids = own_tokenizer().encode(word)

    def payload(done: int, given: int | None) -> Player:
        kept = [i for i in ids if "�" in own_tokenizer().decode([i])][:1] if done else ids
        parts = [(_part(i), own_tokenizer().token_bytes(i)) for i in kept]
        return engine.still([engine.decoded_row(parts)], "alone", word)

    return Exercise([partial(_broken, ids)], payload, {"word": word})


def _broken(ids: list[int]) -> Task[int]:
    """Return the question which of the first ids alone is no character."""
    listed = sorted(map(str, ids[:OFFERED]))
    decoded = [own_tokenizer().decode([int(name)]) for name in listed]
    right = decoded.index("�")
    wrong = [Mistake(i, [name, " is ", token(decoded[i]), "."]) for i, name in enumerate(listed)]
    letter = token(_goal(WORD))
    said: list[MessagePart] = [
        listed[right],
        " is one of the bytes of ",
        letter,
        ", so alone it becomes �.",
    ]
    names = " ".join(map(str, ids))
    rows: list[MessageRow] = [{"title": "Its ids", "items": [[names]], "numbered": False}]
    return engine.picked(listed, right, said, wrong, rows)


CHAPTER = Chapter(
    key="back",
    texts={"ids": BACK, "alone": WORD},
    tasks={"ids": _ids, "alone": _alone},
    own="",
)

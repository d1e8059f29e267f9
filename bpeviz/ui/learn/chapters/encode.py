"""Chapter 5: encode and decode."""

from __future__ import annotations

from functools import cache

from bpeviz.analysis import trace
from bpeviz.analysis.token_lookup import color_index_of
from bpeviz.core.longest_match import LongestMatchTokenizer
from bpeviz.core.merges import MergeTokenizer
from bpeviz.text import counted
from bpeviz.ui import components
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import DON_QUIJOTE, Chapter, Question, Task
from bpeviz.views import encoded
from bpeviz.views.acts import IdsAct, Judgment, token
from bpeviz.views.payloads import MessagePart, MessageRow, Player, TokenPart

MERGES = 20
ROUNDS = 4
"""The questions, of which “casa de lanza” has no more."""

PHRASES = ("casa de lanza", "un hidalgo de la casa", "el tiempo de la Mancha")
BACK = ("Como estás?", "El niño come.", "¿Qué lugar?")
"""Texts that are decoded again. The merges of Don Quijote have none of their accents."""

APART, APART_FROM = "abc", "bc bc bc ab ab"
"""A text that two ways of encoding split differently, and the training text of both."""


@cache
def tokenizer() -> MergeTokenizer:
    """Return the tokenizer trained on the opening of Don Quijote."""
    trained = engine.merges_of(DON_QUIJOTE, merges=MERGES).tokenizer()
    assert isinstance(trained, MergeTokenizer)  # noqa: S101 (for the type)
    return trained


def _part(token_id: int, color: int = -1) -> TokenPart:
    return token(tokenizer().token_label(token_id), color)


def _next(text: str) -> Task[int]:
    """Return the task in which the user chooses the merges of a text."""
    merges = tokenizer().merges
    items: list[list[MessagePart]] = [[_part(merge.left), _part(merge.right)] for merge in merges]
    rows: list[MessageRow] = [{"title": "Merges", "items": items, "numbered": True}]
    numbers = {(merge.left, merge.right): i for i, merge in enumerate(merges, 1)}
    named = engine.MergeNumbers(numbers.get, "is merge {}", "an earlier one")
    return engine.merges_in_order(text, tokenizer(), ROUNDS, named, rows)


def _ids(text: str) -> Task[list[int]]:
    """Return the task in which the user takes ids away until one character of several is left."""
    start = tokenizer().encode(text)
    goal = next(letter for letter in text if len(tokenizer().encode(letter)) > 1)
    right = tokenizer().encode(goal)
    colors = encoded.hues_of(trace.inspect(text, tokenizer()))

    def piece(token_id: int) -> TokenPart:
        color = color_index_of(tokenizer(), token_id, colors)
        return {**_part(token_id, color), "id": token_id}

    def judge(given: list[int] | None) -> Judgment[list[int]]:
        decoded = tokenizer().decode(ids := right if given is None else given)
        if decoded == goal:
            names = [part for token_id in ids for part in (piece(token_id), " ")]
            said = f"are the {len(ids)} bytes of "
            return Judgment("right", [*names, said, token(goal), ". Each one alone is �."], right)
        if not decoded:
            return Judgment("wrong", ["No id is left. Take them all again."], right)
        verb = "decodes" if len(ids) == 1 else "decode"
        broken = ": � stands for bytes that are no character" if "�" in decoded else ""
        message = f"{counted(len(ids), 'id')} {verb} to “{decoded}”{broken}."
        return Judgment("wrong", [message], right)

    def payload(done: int, given: list[int] | None) -> Player:
        ids = start if given is None else given
        parts = [(piece(i), tokenizer().token_bytes(i)) for i in ids]
        data = engine.still([engine.decoded_row(parts)], "ids", text)
        data["views"][0]["noText"] = "No id is left."
        actions: dict[str, list[int] | None] = {"All ids again": start} if ids != start else {}
        data["task"] = {"pieces": [part for part, _ in parts], "actions": actions}
        return data

    told: dict[str, int | str] = {
        "back": text,
        "letter": goal,
        "back_tokens": len(start),
        "back_bytes": len(text.encode()),
    }
    return Task([lambda: Question(IdsAct(tuple(start)), judge, name="Ids to text")], payload, told)


def both_ways() -> Player:
    """Return “abc” by merges in order and by longest match, as the player draws it."""
    training = engine.merges_of(APART_FROM, merges=2, atoms="characters", pattern="whitespace")
    longest = training.first_merges(LongestMatchTokenizer, 2)
    ways = {"Merges in order": training.tokenizer(), "Longest match": longest}
    payload = engine.still(engine.encoded_rows(APART, ways), "ways")
    payload["name"] = "Two ways to encode"
    return payload


CHAPTER = Chapter(
    key="encode",
    texts={"next": PHRASES, "ids": BACK},
    tasks={"next": _next, "ids": _ids},
    rounds={"next": ROUNDS},
    own="next",
    figures=lambda: {"apart_from": APART_FROM},
    drawings={"longest": lambda: components.player(both_ways(), "learn_encode_ways")},
)

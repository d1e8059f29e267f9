"""Chapter 5: encode and decode."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from itertools import pairwise
from typing import Any

from bpeviz.analysis import trace
from bpeviz.analysis.token_lookup import color_index_of
from bpeviz.core.longest_match import LongestMatchTokenizer
from bpeviz.core.merges import MergeTokenizer
from bpeviz.ui import components
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.acts import PairAct, token
from bpeviz.ui.learn.base import (
    DON_QUIJOTE,
    Chapter,
    Judgment,
    Mistake,
    NoQuestionError,
    Question,
    Task,
)
from bpeviz.views import encoded
from bpeviz.views.payloads import MessagePart, MessageRow, Player, TokenPart

MERGES = 20
ROUNDS = 4
"""The questions, of which “casa de lanza” has no more."""

BACK = "Como estás?"
"""The text that is decoded again. The merges of Don Quijote have no “á”."""

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


def _next(text: str) -> Task:
    """Return the task in which the user chooses the merges of a text."""
    whole = trace.inspect(text, tokenizer())
    count = min(ROUNDS, len(whole.events))
    if not count:
        raise NoQuestionError(
            "No merge of the list fits this text, so each of its bytes stays a token. Type a "
            "sentence in Latin letters."
        )

    def payload(done: int, given: Any) -> Player:
        upto = done if done < count else None  # after the last question, all follow
        return engine.on_stage(engine.encoding(text, tokenizer(), upto), "encode")

    return Task([partial(_question, whole, step) for step in range(count)], payload)


def _question(whole: trace.Inspection, step: int) -> Question:
    """Return the question for the merge after `step` merges of a text."""
    cut, merges = whole.boundaries, tokenizer().merges
    ids, ends = cut.ids(step).tolist(), cut.token_ends(step).tolist()
    places = dict(zip((end - 1 for end in ends), pairwise(ids), strict=False))
    numbers = {(merge.left, merge.right): i for i, merge in enumerate(merges, 1)}
    colors = encoded.hues_of(whole)

    def part(token_id: int) -> TokenPart:
        return _part(token_id, color_index_of(tokenizer(), token_id, colors))

    def right() -> int:
        return whole.events[step].step + 1

    def judge(given: int | None) -> Judgment:
        number = right()
        pair = merges[number - 1].left, merges[number - 1].right
        message: list[MessagePart] = [
            part(pair[0]),
            " + ",
            part(pair[1]),
            f" is merge {number}, the first that fits.",
        ]
        place = next(place for place, other in places.items() if other == pair)
        is_right = given is None or places[given] == pair
        return Judgment("right" if is_right else "wrong", message, place)

    def mistakes() -> list[Mistake]:
        counts = Counter(places.values())
        most = max(counts.values())
        listed = sorted(places.items(), key=lambda item: item[1] not in numbers)
        return [
            Mistake(
                place, [part(pair[0]), " + ", part(pair[1]), _wrong(number, counts[pair], most)]
            )
            for place, pair in listed
            if (number := numbers.get(pair)) != right()
        ]

    def _wrong(number: int | None, count: int, most: int) -> str:
        if number is None and count == most > 1:
            return " is the most frequent pair here, but it is not in the list."
        if number is None:
            return " is not in the list, so it is never merged."
        often = " is frequent here, but encoding counts nothing: it" if count == most > 1 else ""
        return f"{often} is merge {number}, and an earlier one fits, too."

    named = {place: (part(left), part(right)) for place, (left, right) in places.items()}
    items: list[list[MessagePart]] = [[_part(merge.left), _part(merge.right)] for merge in merges]
    rows: list[MessageRow] = [{"title": "Merges", "items": items, "numbered": True}]
    return Question(PairAct(named), judge, mistakes, f"Step {step + 1}", rows=rows)


def both_ways() -> Player:
    """Return “abc” by merges in order and by longest match, as the player draws it."""
    training = engine.merges_of(APART_FROM, merges=2, atoms="characters", pattern="whitespace")
    longest = training.first_merges(LongestMatchTokenizer, 2)
    ways = {"Merges in order": training.tokenizer(), "Longest match": longest}
    payload = engine.still(engine.encoded_rows(APART, ways), "ways")
    payload["name"] = "Two ways to encode"
    return payload


def _decoded() -> None:
    components.player(engine.played(BACK, tokenizer(), "Decoded again"), "learn_encode_back")


def _figures() -> dict[str, int | str]:
    ids = tokenizer().encode(BACK)
    alone = next(i for i in ids if tokenizer().decode([i]) == "�")
    return {
        "back": BACK,
        "back_ids": " ".join(map(str, ids)),
        "back_tokens": len(ids),
        "back_bytes": len(BACK.encode()),
        "decoded": tokenizer().decode(ids),
        "alone_id": alone,
        "alone": tokenizer().decode([alone]),
        "apart_from": APART_FROM,
    }


CHAPTER = Chapter(
    key="encode",
    text="casa de lanza",
    tasks={"next": _next},
    rounds={"next": ROUNDS},
    own="next",
    figures=_figures,
    drawings={
        "longest": lambda: components.player(both_ways(), "learn_encode_ways"),
        "decode": _decoded,
    },
)

"""Chapter 5: encode a word by the ranks of merges."""

from __future__ import annotations

from functools import cache

from bpeviz.analysis import trace
from bpeviz.core.longest_match import LongestMatchTokenizer
from bpeviz.core.merges import MergeTokenizer
from bpeviz.ui import components
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.base import DON_QUIJOTE, Chapter, Exercise
from bpeviz.ui.learn.chapters.merge import MERGES
from bpeviz.views.acts import token
from bpeviz.views.payloads import MessagePart, MessageRow, Player

ROUNDS = 3
"""The merges of a word that the user chooses. All others follow."""

OWN_ROUNDS, PHRASE = 4, "casa de lanza"
"""The merges of a text of one's own to choose, and an example."""

APART, APART_FROM = "abc", "bc bc bc ab ab"
"""A text that two ways of encoding split differently, and the training text of both."""


@cache
def own_tokenizer() -> MergeTokenizer:
    """Return the tokenizer trained on the opening of Don Quijote."""
    trained = engine.merges_of(DON_QUIJOTE, merges=MERGES).tokenizer()
    assert isinstance(trained, MergeTokenizer)  # noqa: S101 (for the type)
    return trained


def _own(text: str) -> Exercise[int]:
    """Return the exercise in which the user encodes a text by the merges of Don Quijote."""
    tokenizer = own_tokenizer()
    items: list[list[MessagePart]] = [
        [token(tokenizer.token_label(part)) for part in (merge.left, merge.right)]
        for merge in tokenizer.merges
    ]
    rows: list[MessageRow] = [{"title": "Merges", "items": items, "numbered": True}]
    numbers = {(merge.left, merge.right): i for i, merge in enumerate(tokenizer.merges, 1)}
    named = engine.MergeNumbers(numbers.get, "is merge {}", "an earlier one")
    return engine.merges_in_order(text, tokenizer, OWN_ROUNDS, named, rows)


def ranks(word: str) -> list[int]:
    """Return the ranks of some merges: all those of a word, and some that do not fit it.

    One that does not fit stands before each merge that the user chooses: that with the highest rank
    below.
    """
    tokenizer = stored.o200k()
    fitting = [event.id for event in trace.inspect(word, tokenizer).events if event.id]
    rest = [i for i in tokenizer.known_ids() if tokenizer.parents(i) and not _is_in(word, i)]
    others = [max((i for i in rest if i < rank), default=rank) for rank in fitting[:ROUNDS]]
    return sorted({*fitting, *others})


def _is_in(word: str, token_id: int) -> bool:
    """Return whether a token is a part of a word, or is not plain letters."""
    name = stored.o200k().token_label(token_id)
    return name in word or not (name.isascii() and name.isalpha())


def _next(word: str, rounds: int = ROUNDS) -> Exercise[int]:
    """Return the exercise in which the user chooses GPT-4o's merges of a word, by their ranks."""
    tokenizer = stored.o200k()
    items: list[list[MessagePart]] = []
    for rank in ranks(word):
        left, right = tokenizer.parents(rank) or (rank, rank)
        names = (token(tokenizer.token_label(part)) for part in (left, right))
        items.append([*names, f" {rank:,}"])
    rows: list[MessageRow] = [{"title": "Merges, by rank", "items": items, "numbered": False}]

    def rank_of(pair: tuple[int, int]) -> int | None:
        letters = b"".join(map(tokenizer.token_bytes, pair)).decode()
        return next(tokenizer.find(letters), None)

    numbers = engine.MergeNumbers(rank_of, "has the rank {}", "a smaller one")
    return engine.merges_in_order(word, tokenizer, rounds, numbers, rows).drawn(engine.plain)


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
    texts={"next": stored.COMPOUND, "first": stored.LONG_WORD},
    tasks={"next": _next, "first": lambda word: _next(word, 1), "own": _own},
    rounds={"next": ROUNDS},
    own="own",
    example=PHRASE,
    figures=lambda: {
        "apart_from": APART_FROM,
        "entries": round(stored.o200k().vocab_size, -3),
        "phrase": PHRASE,
    },
    drawings={"longest": lambda: components.player(both_ways(), "learn_encode_ways")},
)

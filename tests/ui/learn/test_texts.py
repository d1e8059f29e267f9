"""The texts of all tasks: three each by rule, whose truths are computed again by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import pytest
import tiktoken

from bpeviz.ui.learn.base import DON_QUIJOTE, Question
from bpeviz.ui.learn.chapters import BY_KEY, CHAPTERS, encode, units
from bpeviz.views.acts import BoundariesAct

TEXTS = [
    (chapter.key, name, turn)
    for chapter in CHAPTERS
    for name, texts in chapter.texts.items()
    for turn in range(len(texts))
]
CUTS = {("why", "letters"), ("real", "digits"), ("wrong", "space"), ("wrong", "numbers")}

Pair = tuple[bytes, bytes]


def merge(parts: Sequence[bytes], pair: Pair) -> list[bytes]:
    """Merge a pair in a list, from the left."""
    merged: list[bytes] = []
    for part in parts:
        if merged and (merged[-1], part) == pair:
            merged[-1] += part
        else:
            merged.append(part)
    return merged


def single(text: str) -> list[bytes]:
    return [bytes([byte]) for byte in text.encode()]


def best_pairs(rows: Sequence[Sequence[bytes]]) -> list[Pair]:
    """Return the most frequent pairs, the one seen first at the beginning."""
    counts = Counter(pair for row in rows for pair in pairwise(row))
    return [pair for pair in counts if counts[pair] == max(counts.values())]


def trained(rows: list[list[bytes]], merges: int) -> tuple[list[Pair], list[list[bytes]]]:
    """Train by definition: count, take the first of the most frequent pairs, merge."""
    pairs: list[Pair] = []
    for _ in range(merges):
        pairs.append(best_pairs(rows)[0])
        rows = [merge(row, pairs[-1]) for row in rows]
    return pairs, rows


def cut(parts: Sequence[bytes], question: Question) -> int:
    """Return the answer with a boundary after each part."""
    ends = [end - 1 for end in accumulate(map(len, parts))]
    return sum(1 << i for i, atom in enumerate(question.act.places) if atom in ends)


def place(parts: Sequence[bytes], pair: Pair) -> int:
    """Return the last byte of the left token at the first place of a pair."""
    i = [*pairwise(parts)].index(pair)
    return sum(map(len, parts[: i + 1])) - 1


def told(question: Question) -> str:
    message = question.judge(None).message
    return "".join(part if isinstance(part, str) else part["label"] for part in message)


def is_solved(question: Question, given: Any) -> bool:
    return question.act.accepts(given) and question.solved(given)


def check_pairs(questions: Sequence[Question], text: str) -> None:
    row = single(text)
    for question in questions:
        best = best_pairs([row])
        assert isinstance(question.act.places, list)
        for pair in {*pairwise(row)}:
            assert question.solved(place(row, pair)) == (pair in best)
        row = merge(row, best[0])


def check_stop(questions: Sequence[Question], text: str) -> None:
    pairs, _ = trained([single(DON_QUIJOTE)], 40)
    counts = [len(row := single(text))]
    counts += [len(row := merge(row, pair)) for pair in pairs]
    last = counts.index(counts[-1])
    assert questions[0].judge(last).verdict == "right"
    assert f"Merge {last}, " in told(questions[0])
    assert f"{counts[0]} → {counts[-1]} tokens" in told(questions[0])


def check_fences(questions: Sequence[Question], text: str) -> None:
    (question,) = questions
    parts = text.replace(" ", "| ").replace(",", "|,").replace(".", "|.").split("|")
    rights = cut([part.encode() for part in parts if part], question)
    free, fenced = (
        sum(map(len, trained([*map(single, split)], 6)[1])) for split in ([text], parts)
    )
    assert question.judge(rights).right == rights
    assert told(question).startswith(f"{fenced} tokens, and {free} without fences. ")
    assert not question.solved(0)


def check_places(question: Question, row: Sequence[bytes], right: Pair) -> None:
    """Check that all places of a pair are right, and no others."""
    ends = [end - 1 for end in accumulate(map(len, row))]
    pairs = dict(zip(ends, pairwise(row), strict=False))
    assert [*question.act.places] == [*pairs]
    for atom, pair in pairs.items():
        assert question.judge(atom).verdict == ("right" if pair == right else "wrong")
        assert pair == right or question.feedback(atom)


def check_encoding(questions: Sequence[Question], text: str) -> None:
    pairs, _ = trained([single(DON_QUIJOTE)], encode.MERGES)
    row = single(text)
    for question in questions:
        number, pair = next((i, pair) for i, pair in enumerate(pairs, 1) if pair in pairwise(row))
        check_places(question, row, pair)
        assert f" is merge {number}, " in told(question)
        row = merge(row, pair)


def check_ids(questions: Sequence[Question], text: str) -> None:
    letter = next(letter for letter in text if not letter.isascii())
    assert questions[0].judge(None).right == [*letter.encode()]
    assert is_solved(questions[0], [*letter.encode()])


def check_ranks(questions: Sequence[Question], text: str) -> None:
    ranks = tiktoken.get_encoding("o200k_base")._mergeable_ranks
    row = single(text)
    for question in questions:
        pair = min(pairwise(row), key=lambda pair: ranks.get(b"".join(pair), len(ranks)))
        check_places(question, row, pair)
        assert f" {ranks[b''.join(pair)]:,}, the first that fits" in told(question)
        row = merge(row, pair)


def check_typed(questions: Sequence[Question], name: str) -> None:
    ids = tiktoken.get_encoding("o200k_base").encode(name, disallowed_special=())
    assert all(str(token_id) in told(questions[0]) for token_id in ids)
    assert f"{len(ids)} plain tokens" in told(questions[0])


def check_list(questions: Sequence[Question], text: str) -> None:
    words = text.replace(",", " , ").replace(".", " . ").split()
    listed = [word for row in questions[0].rows for (word,) in row["items"]]
    assert listed == [*dict.fromkeys(words)]
    assert not any(is_solved(questions[0], word) for word in listed)
    assert is_solved(questions[0], units.NEW_WORD)


def check_bytes(questions: Sequence[Question], example: str) -> None:
    assert is_solved(questions[0], example)
    size = len(example.encode())
    assert is_solved(questions[0], "é" * (size // 2) + "a" * (size % 2)) == (size <= 8)
    assert not is_solved(questions[0], "a" * size)


CHECKS: dict[tuple[str, str], Callable[[Sequence[Question], str], None]] = {
    ("units", "unknown"): check_list,
    ("units", "weights"): check_bytes,
    ("merge", "pair"): check_pairs,
    ("stop", "line"): check_stop,
    ("fences", "apart"): check_fences,
    ("encode", "next"): check_encoding,
    ("encode", "ids"): check_ids,
    ("real", "next"): check_ranks,
    ("real", "special"): check_typed,
}


def tokens_of(name: str, text: str) -> list[bytes]:
    whole = tiktoken.get_encoding("gpt2" if name == "name" else "o200k_base")
    if name == "chat":  # the program looks for its special names
        before, bracket, after = text.partition("<")
        return [before.encode(), (bracket + after).encode()]
    return [whole.decode_single_token_bytes(token_id) for token_id in whole.encode(text)]


@pytest.mark.parametrize(("key", "name", "turn"), TEXTS)
def test_truth_of_each_text_is_computed_again(key: str, name: str, turn: int) -> None:
    chapter = BY_KEY[key]
    text, asked = chapter.texts[name][turn], chapter.task(name, turn)
    questions = [make() for make in asked.questions]
    if check := CHECKS.get((key, name)):
        check(questions, text)
        return
    (question,) = questions
    assert isinstance(question.act, BoundariesAct)
    right = cut(tokens_of(name, text), question)
    assert question.judge(right).verdict == "right"
    assert question.judge(right ^ 1).verdict == "wrong"

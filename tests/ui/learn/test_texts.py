"""The texts of tasks, whose truths are computed again by definition; others are properties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import pytest
import tiktoken

from bpeviz.ui.learn.chapters import BY_KEY, CHAPTERS
from bpeviz.ui.learn.chapters import merge as merge_chapter
from bpeviz.views.acts import BoundariesAct
from bpeviz.views.task import Task

CHECKED_ELSEWHERE = [("units", "weights"), ("stop", "line"), ("fences", "apart"), ("back", "ids")]
"""Texts whose tasks `test_chapters.py` asks about any text."""

TEXTS = [
    (chapter.key, name)
    for chapter in CHAPTERS
    for name in chapter.texts
    if (chapter.key, name) not in CHECKED_ELSEWHERE
]

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


def cut(parts: Sequence[bytes], question: Task) -> int:
    """Return the answer with a boundary after each part."""
    ends = [end - 1 for end in accumulate(map(len, parts))]
    return sum(1 << i for i, atom in enumerate(question.act.places) if atom in ends)


def place(parts: Sequence[bytes], pair: Pair) -> int:
    """Return the last byte of the left token at the first place of a pair."""
    i = [*pairwise(parts)].index(pair)
    return sum(map(len, parts[: i + 1])) - 1


def told(question: Task) -> str:
    message = question.judge(None).message
    return "".join(part if isinstance(part, str) else part["label"] for part in message)


def check_pairs(questions: Sequence[Task], text: str) -> None:
    row = single(text)
    if text == merge_chapter.NEW_TEXT:  # the first merge is made
        row = merge(row, best_pairs([row])[0])
    for question in questions:
        best = best_pairs([row])
        assert isinstance(question.act.places, list)
        for pair in {*pairwise(row)}:
            assert question.solved(place(row, pair)) == (pair in best)
        row = merge(row, best[0])


def check_places(question: Task, row: Sequence[bytes], right: Pair) -> None:
    """Check that all places of a pair are right, and no others."""
    ends = [end - 1 for end in accumulate(map(len, row))]
    pairs = dict(zip(ends, pairwise(row), strict=False))
    assert [*question.act.places] == [*pairs]
    for atom, pair in pairs.items():
        assert question.judge(atom).verdict == ("right" if pair == right else "wrong")
        assert pair == right or question.feedback(atom)


def check_ranks(questions: Sequence[Task], text: str) -> None:
    ranks = tiktoken.get_encoding("o200k_base")._mergeable_ranks
    row = single(text)
    for question in questions:
        pair = min(pairwise(row), key=lambda pair: ranks.get(b"".join(pair), len(ranks)))
        check_places(question, row, pair)
        listed = [int(str(item[-1]).replace(",", "")) for item in question.rows[0]["items"]]
        assert listed == sorted(listed)
        assert f" {ranks[b''.join(pair)]:,}, the first that fits" in told(question)
        listed = [item[0]["label"] + item[1]["label"] for item in question.rows[0]["items"]]
        right = listed.index(b"".join(pair).decode())
        before = listed[right - 1]  # the list alone does not tell which merge comes next
        assert right
        assert before not in text
        assert ranks[before.encode()] < ranks[b"".join(pair)]
        row = merge(row, pair)


KNOWN = {
    ("why", "which"): "sunflower",
    ("units", "slow"): "s | low",
    ("stop", "back"): "qu",
    ("fences", "endings"): "don | 't",
    ("back", "alone"): "195",
}
"""Answers by GPT-4o's tokenizer, two merges by hand, GPT-2's rule, and the bytes of ñ."""

CHECKS: dict[tuple[str, str], Callable[[Sequence[Task], str], None]] = {
    ("merge", "pair"): check_pairs,
    ("merge", "next"): check_pairs,
    ("encode", "next"): check_ranks,
    ("encode", "first"): check_ranks,
}


def tokens_of(name: str, text: str) -> list[bytes]:
    whole = tiktoken.get_encoding("o200k_base")
    if name == "chat":  # the program looks for its special names
        before, bracket, after = text.partition("<")
        return [before.encode(), (bracket + after).encode()]
    return [whole.decode_single_token_bytes(token_id) for token_id in whole.encode(text)]


@pytest.mark.parametrize(("key", "name"), TEXTS)
def test_truth_of_each_text_is_computed_again(key: str, name: str) -> None:
    chapter = BY_KEY[key]
    text, asked = chapter.texts[name], chapter.task(name)
    questions = [make() for make in asked.questions]
    if check := CHECKS.get((key, name)):
        check(questions, text)
        return
    (question,) = questions
    if known := KNOWN.get((key, name)):
        assert question.act.words(question.judge(None).right) == known
        return
    assert isinstance(question.act, BoundariesAct)
    right = cut(tokens_of(name, text), question)
    assert question.judge(right).verdict == "right"
    assert question.judge(right ^ 1).verdict == "wrong"

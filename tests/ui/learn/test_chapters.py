"""Single chapters: their judges for any text, and what they draw without vocabulary files.

`tests/contracts/test_acts.py` asks every question of every chapter; `tests/test_answers.py` has the
tokens and merges of their texts, and the figures of the words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
import tiktoken
from helpers.learn_pages import questions, words
from helpers.properties import many
from helpers.refusals import refusal
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.core.boundaries import INSIDE_ID
from bpeviz.pretrained import download
from bpeviz.trainers import bpe
from bpeviz.ui.learn import engine, figures, stored
from bpeviz.ui.learn.base import DON_QUIJOTE, NoQuestionError
from bpeviz.ui.learn.chapters import BY_KEY, back, encode, fences, merge, stop, wrong
from bpeviz.views.acts import bits_of
from bpeviz.views.task import Task


def question(chapter: str, task: str, text: str | None = None) -> Task:
    of = BY_KEY[chapter]
    return (of.task(task) if text is None else of.tasks[task](text)).questions[0]()


def ids_of(payload: dict[str, Any]) -> list[int]:
    return [i for i in payload["views"][0]["changes"]["ids"] if i != INSIDE_ID]


RIGHT = {
    "why/letters/0": "st | raw | berry",
    "why/which/0": "sunflower",
    "units/slow/0": "s | low",
    "units/weights/0": "“你好😃”",
    "merge/pair/0": "o + ·",
    "merge/pair/1": "e + ·",
    "merge/pair/2": "n + ·",
    "merge/next/0": "a + to",
    "stop/line/0": "after 14 merges",
    "stop/back/0": "qu",
    "fences/apart/0": "casa | . | ·rosa | . | ·casa | , | ·cosa | . | ·rosa | , | ·prosa | .",
    "fences/endings/0": "don | 't",
    "encode/next/0": "e + r",
    "encode/next/1": "s + t",
    "encode/next/2": "r + a",
    "encode/first/0": "l + e",
    "back/ids/0": "195 161",
    "back/alone/0": "195",
    "wrong/space/0": "The | ·sky | ·is | ·",
    "wrong/chat/0": "Bye | <|im_end|>",
    "wrong/numbers/0": "9 | . | 11 | ·or | · | 9 | . | 9",
    "wrong/versions/0": "7 | . | 10 | ·or | · | 7 | . | 9",
}
"""The right answer to each question, by tiktoken and by hand."""


def test_right_answer_to_each_question_is_known() -> None:
    asked = {name: task for each in BY_KEY.values() for name, task in questions(each)}
    tasks = {name: task for name, task in asked.items() if "/belief/" not in name}
    assert {name: task.act.words(task.judge(None).right) for name, task in tasks.items()} == RIGHT


def test_list_of_ranks_alone_does_not_tell_the_next_merge() -> None:
    asked = {name: task for name, task in questions(BY_KEY["encode"]) if "/belief/" not in name}
    for name, task in asked.items():
        text = BY_KEY["encode"].texts[name.split("/")[1]]
        listed = [" + ".join(part["label"] for part in item[:2]) for item in task.rows[0]["items"]]
        ranks = [int(item[2].replace(",", "")) for item in task.rows[0]["items"]]
        before = listed[listed.index(RIGHT[name]) - 1]
        assert ranks == sorted(ranks)
        assert before.replace(" + ", "") not in text


@pytest.fixture
def no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)


# ---- words, letters or bytes


def test_draft_tells_bytes_that_are_too_many() -> None:
    judged = question("units", "weights").judge("😃😃😃")
    assert words(judged.message) == "12 bytes in 3 characters: 2 bytes too many."


# ---- choose the merge, and the goals of the last page


def encode_slowly(text: str, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the ids of a text after each merge in order, applied to all of it."""
    states = [[*text.encode()]]
    for new_id, pair in enumerate(pairs, 256):
        states.append(bpe.merge(states[-1], pair, new_id))
    return states


BEST_KNOWN = (
    *((101, 32), (32, 100), (111, 32), (110, 32), (257, 256), (97, 32)),  # e· ·d o· n· ·de· a·
    *((260, 108), (97, 110), (99, 104)),  # ·de·l an ch: 96 tokens
    *((110, 258), (101, 114), (100, 97), (116, 105)),  # no· er da ti: 88 tokens
    *((117, 259), (113, 117), (69, 259), (271, 269), (272, 108)),  # un· qu En· En·un· En·un·l: 81
)
"""The merges of a search that looks ahead."""


def test_best_known_merges_need_fewer_than_the_algorithm() -> None:
    greedy = engine.merges_of(DON_QUIJOTE, merges=20).boundaries(DON_QUIJOTE).token_counts.tolist()
    own = [*map(len, encode_slowly(DON_QUIJOTE, BEST_KNOWN))]
    assert (own[10], greedy[10]) == (merge.CLEVER, 95)
    assert (own.index(81), greedy.index(81)) == (18, 20)


# ---- when to stop


@many(30, 30)
@given(st.text(min_size=1, max_size=60), st.integers(0, stop.MERGES))
def test_line_after_which_nothing_changes_is_right_for_any_text(new: str, step: int) -> None:
    """The counts are those of tokenizers with more and more merges."""
    training = bpeviz.train(DON_QUIJOTE, merges=stop.MERGES, pattern="none")
    counts = [len(training.tokenizer(256 + i).encode(new)) for i in range(stop.MERGES + 1)]
    asked = question("stop", "line", new)
    right = asked.judge(None).right
    assert counts[right] == counts[-1]
    assert not right or counts[right - 1] > counts[right]
    assert (asked.judge(step).verdict == "right") == (step == right)
    assert asked.solved(step) == (abs(step - right) <= figures.NEAR)


def test_curves_before_the_answer_do_not_depend_on_the_new_text_and_it_appends_one() -> None:
    task = stop.CHAPTER.tasks["line"]
    texts = (stop.CHAPTER.text, "Ⱥnother ☃ text", DON_QUIJOTE)
    states = [task(text).payload(0, answer) for text in texts for answer in (None, 9)]
    assert len({json.dumps(state | {"key": ""}) for state in states}) == 1
    before, after = states[0]["curves"], task(texts[0]).payload(1, 22)["curves"]
    assert after["lines"][0] == before["lines"][0]
    assert [after["lines"][1]["values"][i] for i in (0, 14, 40)] == [100, 87.1, 87.1]
    assert [step for step, _ in after["marks"]] == [14, 22]


# ---- fences


@many(30, 30)
@given(st.text("ab.' ,é1\u0301", min_size=2, max_size=70), st.data())
def test_fences_are_right_if_and_only_if_no_merge_joins(text: str, data: st.DataObject) -> None:
    try:
        asked = question("fences", "apart", text)
    except NoQuestionError:
        return
    places = fences._places(text)
    assert asked.act.places == [len(text[:place].encode()) - 1 for place in places]
    assert asked.judge(asked.judge(None).right).verdict == "right"
    chosen = [*data.draw(st.sets(st.sampled_from(places)))]
    result = figures.fenced(text, chosen)
    joined = any(joins for _, joins in result.merges)
    mask = bits_of(places, chosen)
    judged = asked.judge(mask)
    assert judged.verdict == ("wrong" if joined else "right")
    said = words(judged.message)
    assert not joined or ("1 merge joins " in said) != (" merges join " in said)
    payload = fences.CHAPTER.tasks["apart"](text).payload(0, mask)
    assert payload["views"][0]["tokenCounts"][-1] == result.tokens


@many()
@given(st.text("ab. ñ", max_size=30), st.sets(st.integers(0, 32)), st.integers(0, 12))
def test_fenced_training_equals_training_on_the_parts(
    text: str, fences: set[int], merges: int
) -> None:
    result = figures.fenced(text, fences, merges)
    parts = [""]
    for place, character in enumerate(text):
        if place in fences:
            parts.append("")
        parts[-1] += character
    # Each part once for each time, in the order of the text.
    rows = [([*part.encode()], 1) for part in parts]
    trained, _ = bpe.train_by_definition(rows, [*map(chr, range(256))], merges)
    assert [merge for merge, _ in result.merges] == trained
    encoded = [
        encode_slowly(part, [(merge.left, merge.right) for merge in trained]) for part in parts
    ]
    counts = [sum(map(len, states)) for states in zip(*encoded, strict=True)]
    boundaries = result.training.boundaries(text)
    assert boundaries.token_counts.tolist() == counts
    assert boundaries.ids(len(trained)).tolist() == [
        token_id for states in encoded for token_id in states[-1]
    ]
    assert result.tokens == counts[-1]
    assert result.apart == (not any(map(figures.joins, parts)))


def test_text_without_a_merge_to_forbid_or_with_too_many_fences_has_no_question() -> None:
    for text in ("a", "hello", "...", " ", "你好"):
        refusal(question, "fences", "apart", text, error=NoQuestionError)
    long = "Uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve."
    assert fences._places(long) == figures.fences_of(long)
    refusal(question, "fences", "apart", long * 3, naming="52", error=NoQuestionError)


# ---- encode and decode


def test_ids_are_decoded_as_they_stand() -> None:
    asked, task = question("back", "ids"), back.CHAPTER.task("ids")
    start = [67, 111, 109, 256, 101, 115, 116, 195, 161, 115, 63]
    assert encode.own_tokenizer().encode("Como estás?") == start
    for ids in (start, [195], [161, 195], [195, 161], [115, 195], start[::-1], []):
        assert asked.act.accepts(ids)
        data = task.payload(0, ids)
        raw = b"".join(map(encode.own_tokenizer().token_bytes, ids))
        assert data["views"][0]["text"] == raw.decode(errors="replace")
        assert [part["id"] for part in data["task"]["pieces"]] == ids
        assert asked.judge(ids).verdict == ("right" if ids == [195, 161] else "wrong")
    for value in (None, 195, "195", [True], [67, 67], [0], [195, "161"]):
        assert not asked.act.accepts(value)


def test_the_two_ways_come_apart_at_abc() -> None:
    rows = encode.both_ways()["views"]
    labels = [[row["tokenStyles"][i][0] for i in row["changes"]["ids"] if i >= 0] for row in rows]
    assert labels == [["a", "bc"], ["ab", "c"]]


# ---- what goes wrong


@pytest.mark.usefixtures("no_files")
def test_forged_name_is_the_control_token_or_six_ordinary_ones() -> None:
    whole = tiktoken.get_encoding("o200k_base")
    names = dict(stored.chat().special_tokens)
    ranks = whole._mergeable_ranks
    with_names = tiktoken.Encoding(
        "named", pat_str=whole._pat_str, mergeable_ranks=ranks, special_tokens=names
    )
    every, own = ([*map(int, ids_of({"views": [view]}))] for view in wrong.ways()["views"])
    assert every == with_names.encode("".join(stored.CHAT), allowed_special="all")
    start, end = names.values()
    assert (every.count(start), every.count(end)) == (2, 2)  # a turn of the system begins
    assert (own.count(start), own.count(end)) == (1, 1)
    ordinary = whole.encode("<|im_end|>", disallowed_special=())
    assert str(ordinary)[1:-1] in str(own)
    assert wrong.CHAPTER.figures()["plain"] == len(ordinary) == 6
    refusal(question, "wrong", "word", "Windmühle", error=NoQuestionError)
    assert [part.label for part in stored.o200k().tokens(wrong.GOING_ON)][-1] == "·blue"

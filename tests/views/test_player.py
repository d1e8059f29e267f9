"""Payloads of the player and of the columns equal slow computations of the same data."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import astuple
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers import usual
from helpers.payloads import color_index
from helpers.properties import examples, many
from helpers.stages import played
from helpers.stages import timeline as timeline_of
from hypothesis import given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import Training
from bpeviz.analysis.metrics import Column, common_boundaries
from bpeviz.core.boundaries import DROPPED_ID, INSIDE_ID, Boundaries, Part
from bpeviz.core.training import Pruning
from bpeviz.corpus import samples
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui.pages.remarks import _why_few as why_few
from bpeviz.views import score
from bpeviz.views.parts import WINDOW
from bpeviz.views.parts import parts as parts_of
from bpeviz.views.stage import of_columns, of_training

ODD = "naïve 👩‍👩‍👧 e\u0301\r\n\tصباح \u202e<b>&amp;\0 \u200b नमस्ते 🇫🇷\n\n"
ATOMS = (
    {"atoms": "bytes"},
    {"atoms": "characters"},
    {"atoms": "characters", "end_mark": "attached"},
    {"atoms": "characters", "end_mark": "symbol"},
)
atoms = pytest.mark.parametrize("how", ATOMS, ids=lambda how: "-".join(how.values()))
TEXTS = st.one_of(st.text("ab c\n", max_size=60), st.text(max_size=30), st.just(ODD * 3))


def train(text: str, **how: Any) -> tuple[Training, Boundaries]:
    training = bpeviz.train(text, merges=how.pop("merges", 60), **how)
    return training, training.tokenizer().boundaries(text)


def whole_timeline(text: str, **how: Any) -> dict[str, Any]:
    training, boundaries = train(text, **how)
    (part,) = parts_of(text, boundaries)
    return timeline_of(text, training, boundaries, part, len(training.merges))


# ---- the timeline


@many(150)
@given(TEXTS, st.sampled_from(ATOMS))
def test_timeline_is_consistent_for_any_text(text: str, how: dict[str, str]) -> None:
    assert_consistent(whole_timeline(text, **how), text)


def assert_consistent(timeline: dict[str, Any], text: str) -> None:
    """Assert the invariants that the browser code relies on."""
    assert timeline["text"] == text
    assert timeline["part"] is None
    steps = len(timeline["steps"]["id"])
    expected = len(text.encode()) if timeline["atomKind"] == "bytes" else len(text)
    if timeline["atomBytes"] is not None:
        assert sum(timeline["atomBytes"]) == len(text.encode())
        expected += timeline["atomBytes"].count(0)
    merged_at = timeline["mergedAt"]
    assert len(merged_at) == expected
    assert timeline["changes"] is None
    fields = {"id", "left", "right", "count", "applied", "ties"}
    assert {len(timeline["steps"][name]) for name in fields} == {steps}
    assert all(-1 <= time < steps for time in merged_at)
    if merged_at:
        assert merged_at[-1] == -1
    counts = [sum(time < 0 or time >= step for time in merged_at) for step in range(steps + 1)]
    assert timeline["tokenCounts"] == counts
    # Each merge removes one boundary per application.
    times = Counter(merged_at)
    assert [times[step] for step in range(steps)] == timeline["steps"]["applied"]
    atom_ids = timeline["atomIds"] if timeline["atomIds"] is not None else [*text.encode()]
    assert len(atom_ids) == len(merged_at)
    first = timeline["firstMergeId"]
    assert timeline["steps"]["id"] == [*range(first, first + steps)]
    parents = {*timeline["steps"]["left"], *timeline["steps"]["right"]}
    assert {*atom_ids, *timeline["steps"]["id"], *parents} == timeline["tokenStyles"].keys()
    for i in range(steps):
        assert timeline["steps"]["left"][i] < first + i
        assert timeline["steps"]["right"][i] < first + i
    assert timeline["byteCount"] == len(text.encode())


def test_token_styles_derive_from_the_bytes_of_a_token() -> None:
    timeline = whole_timeline("the é the é", merges=9)
    of = dict(timeline["tokenStyles"].values())
    assert of["·the"] == color_index(b" the")
    assert of["·é"] == color_index(" é".encode())


@pytest.mark.parametrize(
    ("end_mark", "marked", "sizes"),
    [("attached", [1, 3], None), ("symbol", [], [1, 1, 0, 1, 1, 0])],
)
def test_end_marks_are_the_atoms_that_end_a_word(
    end_mark: str, marked: list[int], sizes: list[int] | None
) -> None:
    timeline = whole_timeline(
        "ab c", merges=0, atoms="characters", end_mark=end_mark, pattern="whitespace"
    )
    assert timeline["endMarks"] == marked
    assert timeline["atomBytes"] == sizes


def test_timeline_treats_typed_end_marks_as_text() -> None:
    text = "a</w> b</w>"
    timeline = whole_timeline(text, merges=0, atoms="characters", end_mark="symbol", pattern="none")
    assert timeline["atomBytes"] == [1] * len(text) + [0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "wordpiece"}, "spaces left out"),
        ({"algorithm": "wordpiece", "unmatched": "drop", "pattern": "nltk"}, "some text left out"),
        ({"algorithm": "bpe"}, ""),
    ],
)
def test_timeline_says_what_gets_no_token(options: dict[str, Any], words: str) -> None:
    text = "a b\nc ☃"
    training = bpeviz.train(text, merges=0, **options)
    boundaries = training.tokenizer().boundaries(text)
    (part,) = parts_of(text, boundaries)
    assert timeline_of(text, training, boundaries, part, 0)["leftOut"] == words


def test_timeline_key_depends_on_the_training_but_not_on_the_last_step() -> None:
    text = "low lower lowest " * 9
    training, boundaries = train(text)
    (part,) = parts_of(text, boundaries)
    timeline, shorter = (timeline_of(text, training, boundaries, part, last) for last in (9, 5))
    # A smaller vocabulary is the same timeline with an earlier end: nothing is redrawn.
    assert {**timeline, "last": 5} == shorter
    other = whole_timeline(text, ties="largest")
    assert other["timelineId"] != timeline["timelineId"]
    assert other["key"] != timeline["key"]


# ---- timelines of all trainers, read as the browser code reads them


def begins(changes: dict[str, Any], atom: int, step: int) -> int:
    """Return the last entry of an atom before the step (`ChangingTimeline` in timeline.js)."""
    found = INSIDE_ID
    first = sum(changes["counts"][:atom])
    for k in range(first, first + changes["counts"][atom]):
        if changes["steps"][k] >= step:
            break
        found = changes["ids"][k]
    return found


def token_around(timeline: dict[str, Any], atom: int, step: int) -> tuple[int, int, int]:
    """Return the start, end and id of the token around an atom (`token` in timeline.js)."""
    start = end = atom
    if timeline["changes"] is not None:
        changes = timeline["changes"]
        atoms = len(changes["counts"])
        token_id = begins(changes, start, step)
        while start > 0 and token_id == INSIDE_ID:
            start -= 1
            token_id = begins(changes, start, step)
        end += 1
        while end < atoms and begins(changes, end, step) == INSIDE_ID:
            end += 1
        return start, end, token_id
    merged_at, made = timeline["mergedAt"], -1
    while start > 0 and 0 <= merged_at[start - 1] < step:
        start -= 1
        made = max(made, merged_at[start])
    while end < len(merged_at) - 1 and 0 <= merged_at[end] < step:
        made = max(made, merged_at[end])
        end += 1
    atom_ids = (
        timeline["atomIds"] if timeline["atomIds"] is not None else [*timeline["text"].encode()]
    )
    return start, end + 1, atom_ids[start] if made < 0 else timeline["firstMergeId"] + made


def shown_tokens(timeline: dict[str, Any], step: int) -> list[tuple[int, int, int]]:
    """Return all tokens that a timeline shows at a step, from left to right."""
    size = (
        len(timeline["mergedAt"] or [])
        if timeline["changes"] is None
        else len(timeline["changes"]["counts"])
    )
    found: list[tuple[int, int, int]] = []
    at = 0
    while at < size:
        token = token_around(timeline, at, step)
        assert all(token_around(timeline, other, step) == token for other in range(at, token[1]))
        assert token[0] == at
        found.append(token)
        at = token[1]
    return found


def assert_shown(timeline: dict[str, Any], boundaries: Boundaries, part: Part, step: int) -> None:
    """Assert that a timeline shows the boundaries of a part, with a style for each id."""
    ends = boundaries.token_ends(step)
    inside = (ends > part.start) & (ends <= part.end)
    tokens = shown_tokens(timeline, step)
    assert [end for _, end, _ in tokens] == (ends[inside] - part.start).tolist()
    assert [token_id for *_, token_id in tokens] == boundaries.ids(step)[inside].tolist()
    assert {token_id for *_, token_id in tokens if token_id >= 0} <= timeline["tokenStyles"].keys()


def spread(steps: int) -> list[int]:
    return sorted({0, min(1, steps), steps // 3, steps // 2, max(steps - 1, 0), steps})


HOWS: list[tuple[str, dict[str, str | int]]] = [
    *((key, {}) for key in TRAINERS),
    *(
        (key, {"atoms": "characters"})
        for key in ("bpe", "scaffold", "superbpe", "multilingual", "parity")
    ),
    ("bpe", {"encode": "longest"}),
    ("bpe", {"threshold": 3}),
    ("unigram", {"atoms": "bytes"}),
    ("wordpiece", {"case": "lower"}),
    ("sentencepiece", {"unknown": "unk", "coverage": "0.98"}),
]
every_how = pytest.mark.parametrize(
    ("key", "how"), HOWS, ids=lambda one: one if isinstance(one, str) else "-".join(map(str, one))
)


@pytest.mark.slow
@every_how
@pytest.mark.parametrize(
    "text",
    [
        samples.by_key("english-prose").text[:700],
        ODD,
        "",
    ],
    ids=["prose", "odd", "empty"],
)
def test_timeline_of_every_trainer_equals_its_boundaries(
    key: str, how: dict[str, str | int], text: str
) -> None:
    training = usual.train(key, text, **how)
    boundaries = training.tokenizer().boundaries(text)
    (part,) = parts_of(text, boundaries)
    timeline = json.loads(
        json.dumps(timeline_of(text, training, boundaries, part, training.steps), allow_nan=False),
        object_hook=lambda one: {
            int(k) if k.lstrip("-").isdigit() else k: v for k, v in one.items()
        },
    )
    for step in spread(training.steps):
        assert_shown(timeline, boundaries, part, step)
    assert timeline["tokenCounts"] == [
        np.count_nonzero(boundaries.ids(step) != DROPPED_ID) for step in range(training.steps + 1)
    ]
    assert_steps_complete(timeline, training)


def assert_steps_complete(timeline: dict[str, Any], training: Training) -> None:
    steps = timeline["steps"]
    prunes = any(isinstance(one, Pruning) for one in training.decisions)
    assert steps["kind"] == ("pruning" if prunes else "merge")
    expected = {"id", "count"} | (
        {"score", "round"} if prunes else {"left", "right", "applied", "ties"}
    )
    if texts_of(training).score:
        expected |= {"score"}
    for name in ("id", "left", "right", "count", "applied", "ties", "score", "round"):
        assert len(steps[name]) == (training.steps if name in expected else 0), name
    assert {*steps["notes"]} == {i for i, one in enumerate(training.decisions) if one.note}
    assert {*steps["id"], *steps["left"], *steps["right"]} <= timeline["tokenStyles"].keys()
    assert len({*steps["id"]}) == training.steps  # the browser code looks steps up by id


@pytest.mark.slow
@every_how
def test_timeline_of_a_part_equals_its_boundaries(key: str, how: dict[str, str | int]) -> None:
    text = samples.by_key("english-prose").text
    training = usual.train(key, text, **how)
    boundaries = training.tokenizer().boundaries(text)
    parts = parts_of(text, boundaries, 300)
    assert len(parts) > 3
    for part in (parts[1], parts[-1]):
        assert boundaries.permanent[
            part.end - 1
        ]  # a sample of words has such a place in every part
        timeline = timeline_of(text, training, boundaries, part, training.steps)
        for step in spread(training.steps):
            assert_shown(timeline, boundaries, part, step)


@many(60)
@given(TEXTS, st.sampled_from(HOWS))
def test_timeline_of_any_text_equals_its_boundaries_at_every_step(
    text: str, how: tuple[str, dict[str, str | int]]
) -> None:
    key, options = how
    training = usual.train(key, text, **options)
    boundaries = training.tokenizer().boundaries(text)
    (part,) = parts_of(text, boundaries)
    timeline = timeline_of(text, training, boundaries, part, training.steps)
    for step in range(training.steps + 1) if training.steps < 30 else spread(training.steps):
        assert_shown(timeline, boundaries, part, step)


# ---- parts


def slow_parts(text: str, boundaries: Boundaries, size: int) -> list[tuple[int, int, int, int]]:
    """Return where each part begins and ends, in atoms and in characters."""
    upto = [len(text[: i + 1].encode()) for i in range(len(text))]
    ends, always, atoms = boundaries.ends.tolist(), boundaries.permanent.tolist(), len(boundaries)
    found = []
    start = 0
    while start < atoms or not found:
        end = min(start + size, atoms)
        if end < atoms:
            between = [
                at
                for at in range(start + 1, end + 1)
                if ends[at - 1] in (0, *upto) and ends[at - 1] != ends[at]
            ]
            best = [at for at in between if at > start + size // 2 and always[at - 1]]
            end = (best or between or [end])[-1]
        first, last = (sum(one <= ends[at - 1] for one in upto) if at else 0 for at in (start, end))
        found.append((start, end, first, last))
        start = end
    return found


@settings(max_examples=examples(150))
@given(
    st.one_of(st.text("ab c", max_size=90), st.text(max_size=60), st.just(ODD * 4)),
    st.sampled_from(ATOMS),
    st.integers(8, 40),
    st.sampled_from(["gpt2", "none"]),
)
def test_parts_cover_the_text_without_dividing_characters(
    text: str, how: dict[str, str], size: int, pattern: str
) -> None:
    training, boundaries = train(text, pattern=pattern, **how)
    parts = parts_of(text, boundaries, size)
    assert [*map(astuple, parts)] == slow_parts(text, boundaries, size)
    assert "".join(text[part.first : part.last] for part in parts) == text
    assert (parts[0].start, parts[-1].end) == (0, len(boundaries))
    assert all(left.end == right.start for left, right in pairwise(parts))
    for part in parts:
        assert part.end - part.start <= size
        # One atom per byte or character, plus the end marks.
        timeline = timeline_of(text, training, boundaries, part, 0)
        piece = timeline["text"]
        inside = len(piece.encode()) if timeline["atomKind"] == "bytes" else len(piece)
        assert len(timeline["mergedAt"]) == inside + (timeline["atomBytes"] or []).count(0)
        assert len(parts) == 1 or timeline["part"] == [part.first, part.last, len(text)]


def test_parts_of_a_long_text_fit_the_window() -> None:
    text = samples.by_key("english-prose").text * 30
    _, boundaries = train(text, merges=10)
    parts = parts_of(text, boundaries)
    assert len(parts) >= 3
    assert max(part.end - part.start for part in parts) <= WINDOW


# ---- the columns


def columns_of(text: str, training_text: str = "") -> list[Column]:
    found = []
    for i, (merges, pattern) in enumerate([(0, "none"), (12, "gpt2"), (40, "none")]):
        training = bpeviz.train(training_text or text, merges=merges, pattern=pattern)
        tokenizer = training.tokenizer()
        found.append(Column(str(i), tokenizer, tokenizer.boundaries(text), len(training.merges)))
    return found


@settings(max_examples=examples(100))
@given(TEXTS, st.integers(0, 2), st.sampled_from([8, 40, 10_000]))
def test_score_has_the_tokens_of_each_part(text: str, baseline: int, size: int) -> None:
    columns = columns_of(text, "ab cab éa 👍 the cab " * 3)
    raw = text.encode()
    parts = parts_of(text, common_boundaries(columns), size)
    assert "".join(text[part.first : part.last] for part in parts) == text
    for part in parts:
        data = score.payload(of_columns(columns, text).showing(part), baseline)
        json.dumps(data, allow_nan=False)
        assert data["text"] == text[part.first : part.last]
        here = raw[part.start : part.end]
        color_of: dict[bytes, int] = {}
        for column, shown in zip(columns, data["rows"], strict=True):
            assert len(shown["tokenEnds"]) == len(shown["tokens"])
            # The tokens shown equal the text, and those of the same bytes have the same color.
            spans = pairwise((0, *shown["tokenEnds"]))
            for (start, end), index in zip(spans, shown["tokens"], strict=True):
                token_id, _, hexadecimal, color, parents = shown["distinct"][index]
                token = bytes.fromhex(hexadecimal)
                if start > 0 and end < len(here):
                    assert token == here[start:end]
                else:  # a token may reach beyond the part
                    assert here[start:end] in token
                    assert token in raw
                assert len(parents) == (0 if column.tokenizer.is_atom(token_id) else 2)
                composed = not column.tokenizer.is_atom(token_id)
                assert color == (color_of.setdefault(token, color) if composed else -1)


def test_score_counts_unknown_characters() -> None:
    training = bpeviz.train("abab", merges=1, atoms="characters", end_mark="symbol")
    tokenizer = training.tokenizer()
    column = Column("mine", tokenizer, tokenizer.boundaries("abé ab"), 1)
    shown = score.payload(of_columns([column], "abé ab"))["rows"][0]
    ids = [shown["distinct"][index][0] for index in shown["tokens"]]
    assert ids.count(-1) == 2  # é and the space
    assert shown["tokenEnds"][-1] == 7
    assert np.all(np.diff(shown["tokenEnds"]) >= 0)


@pytest.mark.parametrize("key", ["bpe", "unigram", "wordpiece", "scaffold", "sentencepiece"])
def test_before_and_after_shows_the_first_change(key: str) -> None:
    text = "low lower lowest newer newest wider. " * 4 + ODD
    training = usual.train(key, text)
    boundaries = training.tokenizer().boundaries(text)
    row = of_training(training, text, boundaries)
    for step in range(1, training.steps + 1):
        old, new = ({*boundaries.cuts(at).tolist()} - {0} for at in (step - 1, step))
        data = score.before_and_after(row, step)
        if old == new:
            assert data is None
            continue
        assert data is not None
        offset = len(text[: text.index(data["text"])].encode())
        size = len(data["text"].encode())
        shown = [{*column["tokenEnds"]} for column in data["rows"]]
        for cuts, ends in zip((old, new), shown, strict=True):
            expected = {at - offset for at in cuts if 0 < at - offset < size}
            assert {end for end in ends if end < size} == expected
        assert 0 < min(old ^ new) - offset < size
        first = text.index(data["text"])
        part = Part(offset, offset + size, first, first + len(data["text"]))
        columns = [Column("", training.at_step(at), boundaries, at) for at in (step - 1, step)]
        whole = score.payload(of_columns(columns, text).showing(part))
        for column, expected in zip(data["rows"], whole["rows"], strict=True):
            for name in ("tokenCount", "tokenEnds", "tokens", "distinct"):
                assert column[name] == expected[name]


def test_unigram_without_prunings_points_to_smaller_sizes() -> None:
    training = bpeviz.train("aaaa", "unigram", vocab_size=280)
    message = "No prunings at this size. Choose a smaller one to see some."
    assert why_few(training, "aaaa", 2) == message
    beginning = played(bpeviz.train("a", "unigram"), "a").data["player"]["views"][0]
    assert beginning["initialMessage"] == "The only piece is used."

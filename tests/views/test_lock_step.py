"""Every registered trainer provides what the pages need, at every step, alone and in lock-step."""

from __future__ import annotations

import json
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from helpers import usual
from helpers.properties import examples, pairs, quarter
from helpers.stages import aligned
from helpers.stages import timeline as timeline_of
from helpers.texts import SMALL_TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st

from bpeviz.analysis import metrics
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import (
    DROPPED_ID,
    UNKNOWN_ID,
    Boundaries,
    ChangingBoundaries,
    MergeBoundaries,
    Part,
)
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Pruning, Training
from bpeviz.corpus import samples
from bpeviz.text import color_key
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.trainers.screen_texts import Survival
from bpeviz.views.parts import part_between
from bpeviz.views.parts import parts as parts_of
from bpeviz.views.stage import Stage, of_training, steps_at

pytestmark = pytest.mark.slow

SLOW = pytest.mark.thorough
every_trainer = pytest.mark.parametrize("key", TRAINERS)

TEXTS = {
    **{
        key: samples.by_key(key).text
        for key in ("english-prose", "several-languages", "emoji-and-unicode", "arabic-hindi")
    },
    "empty": "",
    "one letter": "a",
    "one character": "é",
    "spaces": " \n\t\n  ",
    "family": "👩‍👩‍👧 👩‍👩‍👧",
    "right to left": "صباح الخير, صباح\u202eab\u202c",
    "marks": "a\u0301b\u0301 a\u0301b\u0301\0",
    "words with marks": "▁a ##b </w> <unk> [UNK] --- ⟨C3⟩ a",
}


def train(key: str, text: str, **initial: str | int) -> tuple[Training, Boundaries]:
    training = usual.train(key, text, **initial)
    return training, training.tokenizer().boundaries(text)


def some_steps(training: Training) -> list[int]:
    """Return the first and last steps, some between, and those around the initial step."""
    last, at = training.steps, training.opening
    near = (0, 1, 2, 7, last // 3, last // 2, at - 1, at, at + 1, last - 1, last)
    return sorted({at, *(step for step in quarter(near, training.algorithm) if 0 <= step <= last)})


def assert_same_boundaries(
    training: Training, boundaries: Boundaries, text: str, step: int
) -> None:
    """Assert that the boundaries at a step equal those of the tokenizer of that step."""
    tokenizer = training.at_step(step)
    ids = boundaries.ids(step)
    assert boundaries.token_counts[step] == np.count_nonzero(ids != DROPPED_ID)
    assert len(ids) == len(boundaries.token_ends(step))
    alone = tokenizer.boundaries(text)
    assert alone.ids(tokenizer.steps).tolist() == ids.tolist()
    assert alone.cuts(tokenizer.steps).tolist() == boundaries.cuts(step).tolist()
    assert tokenizer.steps == step
    named = [name_of_unknown(tokenizer) if i == UNKNOWN_ID else i for i in ids.tolist()]
    assert tokenizer.encode(text) == [i for i in named if i != DROPPED_ID]
    assert_spans(tokenizer, boundaries, text, step)


def name_of_unknown(tokenizer: Tokenizer) -> int | None:
    found = [i for name, i in tokenizer.special_tokens.items() if name in ("<unk>", "[UNK]")]
    return found[0] if found else None


def assert_spans(tokenizer: Tokenizer, boundaries: Boundaries, text: str, step: int) -> None:
    """Assert that the spans of tokens follow the boundaries, in order and without gaps."""
    raw = text.encode()
    ends = [0, *boundaries.cuts(step).tolist()]
    tokens = tokenizer.tokens(text)
    spans = [
        (start, end)
        for start, end, token_id in zip(ends[:-1], ends[1:], boundaries.ids(step), strict=True)
        if token_id != DROPPED_ID
    ]
    assert len(tokens) == len(spans)
    before = 0
    for token, (start, end) in zip(tokens, spans, strict=True):
        assert 0 <= token.start <= token.end <= len(text)
        assert token.start >= before
        before = token.start
        # Exactly the characters that contain bytes of the token.
        first, last = len(text[: token.start].encode()), len(text[: token.end].encode())
        assert first <= start <= end <= last
        if start < end:
            assert len(raw[first:start].decode(errors="ignore")) == 0
            assert len(raw[end:last].decode(errors="ignore")) == 0
    omitted = {DROPPED_ID} & {*boundaries.ids(step).tolist()}
    if not omitted and text:
        assert {i for token in tokens for i in range(token.start, token.end)} == {*range(len(text))}


def assert_displayable(training: Training, boundaries: Boundaries, text: str, step: int) -> None:
    """Assert that all data that the pages show for a step is present and consistent."""
    tokenizer = training.at_step(step)
    special = {*tokenizer.special_tokens.values()}
    for token_id in {*boundaries.ids(step).tolist()} - {UNKNOWN_ID, DROPPED_ID}:
        assert training.name(token_id)
        assert token_id not in special
        if tokenizer.is_atom(token_id):
            assert training.color_key(token_id) == -1
        else:
            assert training.color_key(token_id) == color_key(tokenizer.token_bytes(token_id))
        parents = training.parents(token_id)
        if parents is not None:
            raw = b"".join(map(tokenizer.token_bytes, parents))
            assert tokenizer.token_bytes(token_id) == raw
    assert texts_of(training).vocabulary(training, step)
    assert tokenizer.sizes.tolist() == training.sizes[: step + 1].tolist()
    found = training.candidates(text, boundaries, step, 8)
    assert len(found) <= 8
    assert len({one.ids for one in found}) == len(found)
    if step < training.steps:
        assert_best_is_first(training, found, step)
    for detail in texts_of(training).details(training, text, boundaries, step):
        assert detail.title
        assert detail.about.endswith(".")
        content = detail.content()
        if not isinstance(content, Survival):
            assert len({len(values) for values in content.values()}) == 1


def assert_best_is_first(training: Training, found: list[Any], step: int) -> None:
    taken = training.decisions[step]
    best = found[0]
    scored = best.score is not None
    assert scored == (texts_of(training).score is not None)
    assert {one.score is not None for one in found} == {scored}
    if isinstance(taken, Pruning):
        assert best.ids == (taken.id,)
        assert (best.count, best.score) == (taken.count, taken.loss)
    else:
        assert best.ids == (taken.left, taken.right)
        assert best.count == taken.count
        assert not scored or best.score == pytest.approx(taken.score)
    values = [one.score if scored else one.count for one in found]
    falls = not isinstance(taken, Pruning)
    assert values == sorted(values, reverse=falls)
    assert training.curve[step] == pytest.approx(values[0])


@pytest.mark.parametrize(
    ("name", "key"),
    [
        pytest.param(name, key, marks=[] if name == "english-prose" or not i % 7 else SLOW)
        for i, (name, key) in enumerate(product(TEXTS, TRAINERS))
    ],
)
def test_every_trainer_provides_what_the_pages_need(key: str, name: str) -> None:
    text = TEXTS[name]
    training, boundaries = train(key, text)
    assert isinstance(boundaries, MergeBoundaries | ChangingBoundaries)
    assert boundaries.steps == training.steps == len(training.decisions)
    assert training.algorithm == key
    assert texts_of(training).unit
    assert texts_of(training).heading
    assert texts_of(training).rule.format(step="1").endswith(".")
    assert texts_of(training).beginning(training).endswith(".")
    assert len(training.sizes) == training.steps + 1
    assert 0 <= training.opening <= training.steps
    for step, size in enumerate(training.sizes.tolist()):
        assert training.sizes[training.step_of(size)] == size
        assert training.step_of(size) >= step
    title, values = texts_of(training).curve, training.curve
    assert title
    assert np.isfinite(values).all()
    assert len(values) == training.steps
    for step in some_steps(training):
        assert_same_boundaries(training, boundaries, text, step)
        assert_displayable(training, boundaries, text, step)


@every_trainer
@settings(max_examples=examples(40))
@given(text=SMALL_TEXTS | st.text(max_size=25))
def test_every_trainer_is_consistent_on_any_text_at_every_step(key: str, text: str) -> None:
    training, boundaries = train(key, text)
    steps = range(training.steps + 1) if training.steps < 12 else some_steps(training)
    for step in steps:
        assert_same_boundaries(training, boundaries, text, step)
        assert_displayable(training, boundaries, text, step)


ABLE = [key for key in TRAINERS if usual.train(key, "low lower").stochastic]


@pytest.mark.parametrize("key", ABLE)
@pytest.mark.parametrize("initial", [{}, usual.ON_ALGORITHMS], ids=["usual", "characters"])
def test_random_segmentations_decode_to_the_word(key: str, initial: dict[str, str]) -> None:
    """This includes unknown atoms, whose id is -1 at every step."""
    training = usual.train(key, TEXTS["english-prose"], **initial)
    assert training.stochastic
    for step in (0, 1, training.opening, training.steps):
        tokenizer = training.at_step(step)
        for word in ("lowest", "Ωlow", "l", "▁"):
            ids = [i for i in tokenizer.boundaries(word).ids(step).tolist() if i != UNKNOWN_ID]
            strength = texts_of(training).randomness.initial
            found = training.segmentations(step, word, strength, 30, 1)
            assert found.total() == 30
            assert found == training.segmentations(step, word, strength, 30, 1)
            for drawn in found:
                known = [i for i in drawn if i != UNKNOWN_ID]
                assert all(training.name(i) for i in known)
                assert tokenizer.decode_bytes(known) == tokenizer.decode_bytes(ids)


# ---- several, aligned by size


@every_trainer
@pytest.mark.parametrize("name", ["english-prose", "emoji-and-unicode", "empty", "family"])
def test_steps_at_equals_step_of_for_every_size(key: str, name: str) -> None:
    for more in ({}, {"min_count": 1}):
        training = usual.train(key, TEXTS[name], **more)
        sizes = training.sizes.tolist()
        low, high = min(sizes) - 2, max(sizes) + 3
        at = steps_at(training.sizes, low, high).tolist()
        for size, step in zip(range(low, high + 1), at, strict=True):
            within = min(max(size, min(sizes)), max(sizes))
            assert step == training.step_of(within)
            if within in sizes:
                assert sizes[step] == within
                assert within not in sizes[step + 1 :]
            else:
                assert sizes[step] < within


def shown_together(
    keys: list[str], text: str, size: int = 3_000, number: int = 0
) -> tuple[dict[str, Any], list[tuple[Training, Boundaries]]]:
    """Return the payload of the Algorithms page, with the trainings and boundaries behind it."""
    trained = [train(key, text, **usual.ON_ALGORITHMS) for key in keys]
    columns = [
        Column(key, training.at_step(training.steps), boundaries, training.steps)
        for key, (training, boundaries) in zip(keys, trained, strict=True)
    ]
    part = parts_of(text, metrics.common_boundaries(columns, always=True), size)[number]
    rows = [
        (TRAINERS[key].short, training, boundaries, part_between(boundaries, part, text))
        for key, (training, boundaries) in zip(keys, trained, strict=True)
    ]
    payload: Any = aligned(rows, text).payload
    return payload, trained


@pytest.mark.parametrize(
    ("name", "keys"),
    pairs([*TEXTS], [["bpe", "wordpiece", "unigram"], [*TRAINERS], ["unigram"]]),
)
def test_lock_step_maps_every_size_to_a_step_per_trainer(keys: list[str], name: str) -> None:
    text = TEXTS[name]
    payload, trained = shown_together(keys, text)
    json.dumps(payload, allow_nan=False)
    assert [view["title"] for view in payload["views"]] == [TRAINERS[key].short for key in keys]
    assert {view["text"] for view in payload["views"]} == {text}
    assert payload["unit"] == "size"
    # All sizes in the range of at least one trainer.
    sizes = payload["vocabSizes"]
    extents = [range(training.sizes.min(), training.sizes.max() + 1) for training, _ in trained]
    assert sizes == sorted({size for extent in extents for size in extent})
    assert len(sizes) == payload["last"] + 1
    # The initial size is the largest that all of them reach, except those without entries.
    reached = [extent[-1] for extent in extents if extent[-1]]
    assert sizes[payload["initialStep"]] == min(reached, default=0)
    for view, (training, boundaries) in zip(payload["views"], trained, strict=True):
        assert len(view["ownSteps"]) == len(sizes)
        assert view["vocabSizes"] == training.sizes.tolist()
        assert view["tokenCounts"] == boundaries.token_counts.tolist()
        assert {*view["ownSteps"]} <= {*range(training.steps + 1)}
        largest = int(training.sizes.max())
        assert view["ownSteps"][sizes.index(largest)] == training.step_of(largest)


@every_trainer
def test_changing_steps_are_those_that_change_a_token_of_another_text(key: str) -> None:
    training, _ = train(key, TEXTS["several-languages"])
    other = "the other text: Überfluß"
    boundaries = training.boundaries(other)
    part = parts_of(other, boundaries)[0]
    timeline = timeline_of(other, training, boundaries, part, training.steps)

    def differ(steps: tuple[int, int]) -> bool:
        before, after = ((*boundaries.ids(at), *boundaries.cuts(at)) for at in steps)
        return before != after

    changing = [
        after for before, after in pairwise(range(training.steps + 1)) if differ((before, after))
    ]
    assert timeline["changingSteps"] == changing
    assert 0 < len(changing) < training.steps
    # At two sizes, the text differs only where the size is a changing one.
    payload: Any = aligned([("", training, boundaries, part)], other).payload
    own_steps = payload["views"][0]["ownSteps"]
    sizes = [i for i, steps in enumerate(pairwise(own_steps), 1) if differ(steps)]
    assert {*sizes} <= {*payload["changingSteps"]} < {*range(len(own_steps))}


def test_lock_step_keys_depend_on_the_trainers_and_the_part() -> None:
    text = TEXTS["english-prose"]
    one, _ = shown_together(["bpe", "wordpiece"], text)
    again, _ = shown_together(["bpe", "wordpiece"], text)
    assert (one["key"], one["timelineId"]) == (again["key"], again["timelineId"])
    others = [["wordpiece", "bpe"], ["bpe"], ["bpe", "unigram"], ["bpe", "wordpiece", "unigram"]]
    for keys in others:
        other, _ = shown_together(keys, text)
        assert other["key"] != one["key"]
        assert other["timelineId"] != one["timelineId"]
    # Another part of the text has a new key but the same timeline id, so the size stays.
    parts = [shown_together(["bpe", "wordpiece"], text, 500, number)[0] for number in (0, 1)]
    assert parts[0]["key"] != parts[1]["key"]
    assert parts[0]["timelineId"] == parts[1]["timelineId"]


def test_payload_of_one_timeline_counts_its_steps() -> None:
    training, boundaries = train("bpe", "low lower lowest " * 3)
    (part,) = parts_of("low lower lowest " * 3, boundaries)
    row = of_training(training, "low lower lowest " * 3, boundaries, part)
    payload: Any = Stage([row]).upto(4)
    assert (payload["vocabSizes"], payload["last"], payload["initialStep"], payload["unit"]) == (
        None,
        4,
        0,
        "merge",
    )


# ---- the same part of a text under all


MARKED: list[tuple[str, dict[str, str]]] = [
    ("bpe", {}),
    ("bpe", {"atoms": "characters", "end_mark": "symbol"}),
    ("bpe", {"atoms": "characters", "end_mark": "attached"}),
    ("sentencepiece", {}),
    ("sentencepiece", {"unknown": "unk"}),
    ("wordpiece", {}),
    ("unigram", {}),
]


@settings(max_examples=examples(150))
@given(
    st.one_of(st.text("ab é👍\n", max_size=60), st.text(max_size=30), SMALL_TEXTS),
    st.lists(st.sampled_from(MARKED), min_size=1, max_size=4),
    st.integers(8, 40),  # a character has up to four bytes, so half a part contains a boundary
)
def test_part_between_shows_the_same_characters_for_all_trainers(
    text: str, hows: list[tuple[str, dict[str, str]]], size: int
) -> None:
    """No atom is lost or shown twice, including atoms without bytes."""
    trained = [train(key, text, **how) for key, how in hows]
    columns = [
        Column(str(i), training.at_step(training.steps), boundaries, training.steps)
        for i, (training, boundaries) in enumerate(trained)
    ]
    parts = parts_of(text, metrics.common_boundaries(columns, always=True), size)
    assert "".join(text[part.first : part.last] for part in parts) == text
    for training, boundaries in trained:
        shown = [part_between(boundaries, part, text) for part in parts]
        assert (shown[0].start, shown[-1].end) == (0, len(boundaries))
        for before, after in pairwise(shown):
            assert before.end == after.start
        for part, mine in zip(parts, shown, strict=True):
            assert (mine.first, mine.last) == (part.first, part.last)
            timeline = timeline_of(text, training, boundaries, mine, training.steps)
            piece = text[part.first : part.last]
            assert timeline["text"] == piece
            if timeline["atomBytes"] is not None:
                assert sum(timeline["atomBytes"]) == len(piece.encode())
            elif timeline["atomKind"] == "characters":
                assert mine.end - mine.start == len(piece)
            else:
                assert mine.end - mine.start == len(piece.encode())


def test_part_between_assigns_marks_to_the_text_before_them() -> None:
    text = "ab cd"
    training, boundaries = train("bpe", text, atoms="characters", end_mark="symbol")
    assert boundaries.ends.tolist() == [1, 2, 2, 3, 4, 5, 5]
    first = part_between(boundaries, Part(0, 2, 0, 2), text)
    second = part_between(boundaries, Part(2, 5, 2, 5), text)
    assert (first.start, first.end, second.start, second.end) == (0, 3, 3, 7)
    # ▁ comes before the text and is shown with the text after it.
    training, boundaries = train("sentencepiece", text)
    assert boundaries.ends.tolist() == [0, 1, 2, 3, 4, 5]
    first = part_between(boundaries, Part(0, 2, 0, 2), text)
    second = part_between(boundaries, Part(2, 5, 2, 5), text)
    assert (first.start, first.end, second.start, second.end) == (0, 3, 3, 6)
    timeline = timeline_of(text, training, boundaries, first, 0)
    assert timeline["atomBytes"] == [0, 1, 1]


def test_parts_begin_at_permanent_boundaries() -> None:
    """Unigram has the common boundaries at its last step, but maybe not at earlier ones."""
    text = "".join(sample.text for sample in samples.SAMPLES)
    keys = ["bpe", "wordpiece", "unigram", "scaffold"]
    trained = [train(key, text, **usual.ON_ALGORITHMS) for key in keys]
    columns = [
        Column(key, training.at_step(training.steps), boundaries, training.steps)
        for key, (training, boundaries) in zip(keys, trained, strict=True)
    ]
    parts = parts_of(text, metrics.common_boundaries(columns, always=True), 1_000)
    assert len(parts) > 10
    for part in parts[1:]:
        for _, boundaries in trained:
            start = part_between(boundaries, part, text).start
            assert boundaries.permanent[start - 1]

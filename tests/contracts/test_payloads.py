"""What holds of every payload of a text: tokens, ids, counts, colors and types, step by step.

The tokens of a payload are read from its values alone, as slowly as their definition says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np
import pytest
from helpers.properties import many
from helpers.stages import aligned
from helpers.texts import ANY_TEXT, SMALL_TEXTS
from helpers.trainings import CASES, TEXT, each_case, each_trainer, trained
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.analysis import trace
from bpeviz.analysis.metrics import Column, common_boundaries
from bpeviz.analysis.pretokenization import PreTokenizedColumn, pre_tokenize
from bpeviz.core.boundaries import DROPPED_ID, INSIDE_ID, SPECIAL_ID, UNKNOWN_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents
from bpeviz.palette import HUES
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.room.contents import RoomTimeline
from bpeviz.text import as_json, color_key, digest_of
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui.learn.base import Chapter
from bpeviz.ui.learn.chapters import CHAPTERS
from bpeviz.views import encoded, inspection, payloads, playable, race
from bpeviz.views import pretokenization as pre_tokenized
from bpeviz.views.export import colored
from bpeviz.views.parts import part_between, part_of, parts
from bpeviz.views.stage import Row, Stage, TrainedOn, of_columns, of_training

ODD = "naïve 👩‍👩‍👧 e\u0301\r\n\tصباح \u202e<b>&amp;\0 \u200b नमस्ते 🇫🇷 low low\n\n"
HELD_OUT = ("", "a", " \n\t ", ODD, "▁a ##b </w> <unk> [UNK] ⟨C3⟩ a low newest")
NAMES = ("<s>", "</s>")

Token = tuple[int, int, int]
"""The first atom of a token, its end, and its id."""


# ---- types


def sent(payload: Any, kind: Any) -> Any:
    """Return a payload as the browser reads it, with numbers as keys, and check its type."""
    value = json.loads(as_json(payload))
    assert [*faults(value, kind, kind.__name__)] == []
    return json.loads(as_json(payload), object_hook=_with_numbers)


def _with_numbers(value: dict[str, Any]) -> dict[Any, Any]:
    return {int(key) if key.lstrip("-").isdigit() else key: of for key, of in value.items()}


def faults(value: Any, kind: Any, at: str) -> Iterator[str]:
    """Yield the places where a value differs from its declared type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if all([*faults(value, each, at)] for each in inner):
            yield f"{at} is {value!r:.60}, not {kind}"
    elif is_typeddict(kind) and isinstance(value, dict):
        hints = get_type_hints(kind, include_extras=True)
        may_lack = {key for key, each in hints.items() if get_origin(each) is NotRequired}
        if not kind.__required_keys__ - may_lack <= {*value} <= {*hints}:
            yield f"{at} has the keys {[*value]}, not those of {kind}"
        for key in {*value} & {*hints}:
            each = get_args(hints[key])[0] if key in may_lack else hints[key]
            yield from faults(value[key], each, f"{at}.{key}")
    elif origin is dict and isinstance(value, dict):
        for key, of in value.items():
            if inner[0] is int and not key.lstrip("-").isdigit():
                yield f"{at} has the key {key!r}"
            yield from faults(of, inner[1], f"{at}[{key}]")
    elif origin in (list, tuple, Sequence) and isinstance(value, list):
        kinds = inner if origin is tuple else inner * len(value)
        if len(kinds) != len(value):
            yield f"{at} has {len(value)} values"
        for number, (item, each) in enumerate(zip(value, kinds, strict=False)):
            yield from faults(item, each, f"{at}[{number}]")
    elif value not in inner if origin is Literal else not is_plain(value, kind):
        yield f"{at} is {value!r:.60}, not {kind}"


def is_plain(value: Any, kind: Any) -> bool:
    return type(value) is kind or (type(value), kind) == (int, float)


# ---- the tokens of a timeline, by definition


def tokens_of(view: Any, step: int) -> list[Token]:
    """Return the tokens of a timeline after some steps, from its values."""
    begins: list[int] = []
    if (changes := view["changes"]) is None:
        atoms = view["atomIds"] or [*view["text"].encode()]
        last = -1  # the last merge inside the token
        for atom, merged_at in reversed([*enumerate(view["mergedAt"])]):
            ends = merged_at < 0 or merged_at >= step
            last = -1 if ends else max(last, merged_at)
            before = view["mergedAt"][atom - 1] if atom else -1
            is_first = before < 0 or before >= step
            token_id = atoms[atom] if last < 0 else view["firstMergeId"] + last
            begins.append(token_id if is_first else INSIDE_ID)
        begins.reverse()
    else:
        entries = iter(zip(changes["steps"], changes["ids"], strict=True))
        for count in changes["counts"]:
            own = [token_id for at, token_id in (next(entries) for _ in range(count)) if at < step]
            begins.append(own[-1] if own else INSIDE_ID)
    for atom in view.get("rowEnds", ()):
        assert begins[atom] in (ord("\n"), DROPPED_ID)
        begins[atom] = DROPPED_ID
    # A part may begin inside a token.
    starts = [atom for atom, token_id in enumerate(begins) if not atom or token_id != INSIDE_ID]
    return [(a, b, begins[a]) for a, b in pairwise((*starts, len(begins)))]


def places_of(view: Any) -> list[int]:
    """Return where the atoms of a timeline begin in its text, in bytes, and the end of the last."""
    text = view["text"]
    usual = [1] * len(text.encode()) if view["atomKind"] == "bytes" else map(utf8_size, text)
    places = [*accumulate(view["atomBytes"] or usual, initial=0)]
    assert places[-1] == len(text.encode())
    return places


def utf8_size(character: str) -> int:
    return len(character.encode())


def assert_neighbors_differ(looks: Sequence[tuple[str, int]]) -> None:
    """Check that tokens of other bytes that touch have other colors."""
    looks = [(name.removeprefix("##"), color) for name, color in looks]
    for (left, color), (right, other) in pairwise(looks):
        assert color < 0 or color != other or left == right, (left, right)


def check(row: Row, view: Any) -> list[list[Token]]:
    """Check a timeline against the boundaries of its row, and return the tokens of each step."""
    places, styles, steps = places_of(view), view["tokenStyles"], view["steps"]
    assert view["text"] == row.text[row.part.first : row.part.last]
    assert view["part"] == (
        None if view["text"] == row.text else [row.part.first, row.part.last, len(row.text)]
    )
    assert view["last"] == row.steps == len(steps["count"])
    names = {"merge": ("left", "right", "applied", "ties"), "pruning": ("score", "round")}
    assert {len(steps[name]) for name in ("id", *names[steps["kind"]])} == {row.steps}
    assert {*steps["id"], *steps["left"], *steps["right"]} - {UNKNOWN_ID} <= {*styles}
    counts: list[int] = []
    states: list[list[Token]] = []
    for step in range(row.steps + 1):
        tokens = tokens_of(view, step)
        assert [end for _, end, _ in tokens] == row.shown.token_ends(step).tolist()
        assert [i for *_, i in tokens if i != INSIDE_ID] == row.shown.ids(step).tolist()
        assert tokens[-1:] == [] or tokens[-1][1] == len(places) - 1
        assert_neighbors_differ([styles.get(i, ("", -1)) for *_, i in tokens])
        counts.append(sum(token_id != DROPPED_ID for *_, token_id in tokens))
        states.append(tokens)
    assert len(view["tokenCounts"]) == row.steps + 1
    if view["part"] is None:
        assert view["tokenCounts"] == counts
        given = view["changingSteps"]
        changing = [at for at, (old, new) in enumerate(pairwise(states), 1) if old != new]
        assert ([*range(1, row.steps + 1)] if given is None else given) == changing
    return states


def view_of(row: Row) -> Any:
    return sent(Stage([row]).payload, payloads.Player)["views"][0]


# ---- trainings


@each_case
def test_timeline_has_the_ids_of_the_tokenizer_of_each_step(key: str, how: dict[str, str]) -> None:
    training = trained(key, **how)
    for text in (TEXT[:90], ODD) if how else (TEXT[:150], *HELD_OUT):
        row = of_training(training, text, options=how)
        states = check(row, view := view_of(row))
        for step in {0, row.steps // 2, row.steps}:
            tokenizer = training.at_step(step)
            ids = [i for *_, i in states[step] if i != DROPPED_ID]
            names = {i: tokenizer.special_tokens[view["tokenStyles"][i][0]] for i in ids if i < -3}
            known = [{UNKNOWN_ID: tokenizer.unknown_id, **names}.get(i, i) for i in ids]
            assert known == tokenizer.encode(text, allowed_special=training.split_at)
            for token_id in {i for i in ids if i >= 0}:
                assert view["tokenStyles"][token_id][0] == training.name(token_id)
                raw, parents = tokenizer.token_bytes(token_id), training.parents(token_id)
                usual = -1 if tokenizer.is_atom(token_id) else color_key(raw)
                assert training.color_key(token_id) == usual
                assert parents is None or raw == b"".join(map(tokenizer.token_bytes, parents))


@each_case
def test_decisions_are_those_of_the_training(key: str, how: dict[str, str]) -> None:
    training = trained(key, **how)
    view = view_of(of_training(training, TEXT, options=how))
    steps, styles = view["steps"], view["tokenStyles"]
    for step, decision in enumerate(training.decisions):
        assert steps["count"][step] == decision.count
        assert steps["notes"].get(step, "") == decision.note
        if steps["kind"] == "merge":
            ids = steps["left"][step], steps["right"][step], steps["id"][step]
            assert ids == (decision.left, decision.right, decision.new_id)
            assert [styles[i][0] for i in ids] == [*map(training.name, ids)]
    assert len({*steps["id"]}) == training.steps, "scripts look steps up by their id"
    assert len(training.curve) == training.steps
    assert np.isfinite(training.curve).all()
    for step, size in enumerate(training.sizes.tolist()):
        assert training.sizes[training.step_of(size)] == size
        assert training.step_of(size) >= step


@many()
@given(SMALL_TEXTS, SMALL_TEXTS | ANY_TEXT, st.integers(8, 40), st.data())
def test_parts_of_any_text_have_its_tokens(
    corpus: str, text: str, size: int, data: st.DataObject
) -> None:
    key, how = data.draw(st.sampled_from([tuple(case.values) for case in CASES]))
    training = TRAINERS[key](corpus, vocab_size=600, pattern="none", **how)
    boundaries = training.boundaries(text)
    of_text = parts(text, boundaries, size)
    assert "".join(text[part.first : part.last] for part in of_text) == text
    assert [part.end for part in of_text[:-1]] == [part.start for part in of_text[1:]]
    (other, more), at = data.draw(st.sampled_from([tuple(case.values) for case in CASES])), 0
    beside = TRAINERS[other](corpus, vocab_size=600, pattern="none", **more).boundaries(text)
    for part in of_text:  # no atom of another row is lost or drawn twice, marks included
        shown = part_between(beside, part, text)
        assert (shown.start, shown.first, shown.last) == (at, part.first, part.last)
        at = shown.end
    assert at == len(beside)
    for part in of_text:
        assert part.end - part.start <= size
        row = of_training(training, text, boundaries, part)
        check(row, view_of(row))


@each_trainer
def test_special_tokens_have_their_names(key: str) -> None:
    text = "<s> low low <s> lower </s> low</s>"
    row = of_training(trained(key, text, special_tokens=NAMES), text)
    states = check(row, view := view_of(row))
    raw, places = text.encode(), places_of(view)
    tokens = [token for token in states[-1] if token[2] <= SPECIAL_ID]
    names = [raw[places[start] : places[end]].decode() for start, end, _ in tokens]
    assert names == ["<s>", "<s>", "</s>", "</s>"]
    assert names == [view["tokenStyles"][token_id][0] for *_, token_id in tokens]


@each_trainer
def test_line_ends_between_documents_are_marked_in_each_part(key: str) -> None:
    documents, training = (
        Documents.of(["low lower", "", "é", "low low", "slow 👋", ""]),
        trained(key),
    )
    boundaries, text = training.boundaries(documents), documents.as_text
    for first in range(len(text)):
        part = part_between(boundaries, part_of(text, first, min(first + 9, len(text))), text)
        row = of_training(training, documents, boundaries, part)
        check(row, view := view_of(row))
        places, raw = places_of(view), view["text"].encode()
        assert [raw[places[at] : places[at + 1]] for at in view["rowEnds"]] == [b"\n"] * raw.count(
            10
        )
        assert len({*view["rowEnds"]}) == raw.count(10)
    row = of_training(training, documents)
    score = sent(of_columns([row.column], text).score(), payloads.Score)
    assert [text.encode()[at] for at in score["rowEnds"]] == [10] * 5


def all_of(training: Training) -> list[tuple[Any, Any]]:
    """Return all that leaves a page of a training, each with its type."""
    trained_on = TrainedOn("a text", TEXT, training.boundaries(TEXT))
    row = of_training(training, ODD, trained_on=trained_on, options={})
    stage, half = Stage([row]), row.steps // 2
    races = race.payload(row, race.first_groups(row, 3), stage.hues)
    picture = colored("Title", Stage([row.at(half, "Title")], stage.hues))
    page = playable.of_stage(stage)
    return [
        (payloads.Player, stage.payload),
        (payloads.Race, race.with_rest(races, row, row.steps, stage.hues)),
        (payloads.Score, picture.score),
        (payloads.FileData, page.data),
        (payloads.RoomContent, RoomTimeline(3, page).payload()),
    ]


@each_trainer
def test_all_payloads_are_of_their_types_and_equal_runs_send_equal_bytes(key: str) -> None:
    first, again = trained(key), trained.__wrapped__(key)
    assert first is not again
    for (kind, payload), (_, equal) in zip(all_of(first), all_of(again), strict=True):
        sent(payload, kind)
        assert as_json(payload) == as_json(equal)


@pytest.mark.slow
def test_another_process_sends_equal_bytes() -> None:
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True
    )
    assert ran.stdout.split() == digests(), ran.stderr


def digests() -> list[str]:
    return [digest_of(as_json(payload)) for key in TRAINERS for _, payload in all_of(trained(key))]


def test_smaller_vocabulary_is_the_same_timeline_with_an_earlier_end() -> None:
    row = of_training(trained("bpe"), TEXT)
    whole, shorter = Stage([row]).payload, Stage([row]).upto(3)
    assert shorter == {**whole, "last": 3, "views": [{**whole["views"][0], "last": 3}]}
    other = Stage([of_training(trained("bpe", ties="largest"), TEXT)]).payload
    assert other["key"] != whole["key"]


# ---- several trainings, aligned by size


def in_lock_step(keys: Sequence[str], text: str, number: int = 0, size: int = 3_000) -> Stage:
    trainings = [trained(key) for key in keys]
    of_text = [training.boundaries(text) for training in trainings]
    columns = [
        Column(key, training.tokenizer(), boundaries, training.steps)
        for key, training, boundaries in zip(keys, trainings, of_text, strict=True)
    ]
    part = parts(text, common_boundaries(columns, always=True), size)[number]
    rows = zip(keys, trainings, of_text, strict=True)
    return aligned([(*row, part_between(row[2], part, text)) for row in rows], text)


@pytest.mark.parametrize("text", [TEXT[:150], "", ODD], ids=["short", "empty", "odd"])
@pytest.mark.parametrize("keys", [[*TRAINERS], ["bpe", "wordpiece"], ["unigram"]], ids=len)
def test_lock_step_has_the_step_of_each_trainer_at_each_size(keys: list[str], text: str) -> None:
    stage = in_lock_step(keys, text)
    player = sent(stage.payload, payloads.Player)
    sizes, rows = player["vocabSizes"], stage.rows
    extents = [range(row.sizes.min(), row.sizes.max() + 1) for row in rows]
    assert sizes == sorted({size for extent in extents for size in extent})
    assert (player["last"], player["unit"]) == (len(sizes) - 1, "vocabulary")
    assert sizes[player["initialStep"]] == min((extent[-1] for extent in extents), default=0)
    at_size: list[list[Any]] = [[] for _ in sizes]
    for row, view in zip(rows, player["views"], strict=True):
        states = check(row, view)
        assert (view["title"], view["vocabSizes"]) == (row.title, row.sizes.tolist())
        for size, step, state in zip(sizes, view["ownSteps"], at_size, strict=True):
            within = min(max(size, row.sizes.min()), row.sizes.max())
            assert row.training is not None
            assert step == row.training.step_of(within)
            state.append(states[step])
    changing = [at for at, (old, new) in enumerate(pairwise(at_size), 1) if old != new]
    given = player["changingSteps"]
    assert {*changing} <= {*([*range(1, len(sizes))] if given is None else given)}


def test_keys_of_lock_step_depend_on_trainers_and_part() -> None:
    first, again = (in_lock_step(["bpe", "wordpiece"], TEXT).payload for _ in range(2))
    assert first["key"] == again["key"]
    for keys in (["wordpiece", "bpe"], ["bpe"], ["bpe", "wordpiece", "unigram"]):
        assert in_lock_step(keys, TEXT).payload["key"] != first["key"]
    second = in_lock_step(["bpe", "wordpiece"], TEXT, 1, 90).payload
    assert second["key"] != in_lock_step(["bpe", "wordpiece"], TEXT, 0, 90).payload["key"]


# ---- tokenizers


def check_encoded(
    tokenizer: Tokenizer, training: Training | None, texts: Sequence[str] = (TEXT[:90], *HELD_OUT)
) -> None:
    for text in texts:
        inspected = trace.inspect(text, tokenizer)
        hues = encoded.hues_of(inspected, training)
        for part in parts(text, inspected.boundaries, 60):
            row = encoded.of_inspection(inspected, part, "Title", training, options={})
            [view] = sent(Stage([row], hues).payload, payloads.Player)["views"]
            assert view["changingSteps"] is None
            states = check(row, view)
            if part.last - part.first == len(text):
                ids = [i for *_, i in states[-1] if i != DROPPED_ID]
                known = [tokenizer.unknown_id if i < 0 else i for i in ids]
                assert known == inspected.ids == tokenizer.encode(text)
            if view["steps"]["kind"] == "merge":
                check_counts(view, states, {*(inspected.pre_token_ends or ())}, row)


def check_counts(view: Any, states: list[list[Token]], ends: set[int], row: Row) -> None:
    """Check the counts of pairs within pre-tokens, overlaps included, and of applied merges."""
    steps, places = view["steps"], places_of(view)
    start = len(row.text[: row.part.first].encode())
    for step, (before, after) in enumerate(pairwise(states)):
        pair, new = (steps["left"][step], steps["right"][step]), steps["id"][step]
        count = applied = sum(each[2] == new and each not in before for each in after)
        if pair[0] == pair[1]:
            beside = sum(
                (left[2], right[2]) == pair and start + places[left[1]] not in ends
                for left, right in pairwise(before)
            )
            count = max(beside, applied)
        assert (steps["count"][step], steps["applied"][step]) == (count, applied)


@each_case
def test_encoded_text_has_the_steps_that_change_it(key: str, how: dict[str, str]) -> None:
    training = trained(key, **how)
    check_encoded(training.tokenizer(), training, *[(TEXT[:60], ODD)] * bool(how))


@each_trainer
def test_tokenizer_without_its_history_has_the_same_steps(key: str) -> None:
    if not TRAINERS[key].prunes:  # its pruned pieces have names in the history alone
        check_encoded(trained(key).tokenizer(), None)


def test_equal_neighbors_in_two_pre_tokens_are_no_pair() -> None:
    training = trained("bpe", "1111111 111", merges=2, pattern="cl100k")  # three digits at most
    check_encoded(training.tokenizer(), training, ("1111111",))


@pytest.mark.parametrize("key", ["bpe", "wordpiece", "sentencepiece", "unigram"])
def test_grid_has_the_ids_of_the_text_part_by_part(key: str) -> None:
    tokenizer = trained(key).tokenizer()
    for text in (TEXT[:90], *HELD_OUT):
        inspected = replace(trace.inspect(text, tokenizer), template=([1, 2], [3]))
        grids = [
            sent(inspection.grid(inspected, part), payloads.Grid)
            for part in parts(text, inspected.cuts, 30)
        ]
        tokens = [token for grid in grids for token in grid["tokens"] if token["id"] is not None]
        assert [token["id"] for token in tokens] == inspected.ids
        assert bytes(byte for grid in grids for _, byte in grid["bytes"]) == text.encode()


# ---- scores


@many()
@given(SMALL_TEXTS | ANY_TEXT, st.sampled_from([8, 40, 10_000]), st.data())
def test_score_has_the_tokens_of_each_tokenizer(text: str, size: int, data: st.DataObject) -> None:
    cases = data.draw(st.lists(st.sampled_from(CASES), min_size=1, max_size=3))
    columns = []
    for case in cases:
        key, how = case.values
        tokenizer = trained(key, **how).tokenizer()
        boundaries = tokenizer.boundaries(text)
        title = f"{key} {len(columns)}"
        columns.append(Column(title, tokenizer, boundaries, boundaries.steps))
    ids: list[list[int]] = [[] for _ in columns]
    for part in parts(text, common_boundaries(columns), size):
        stage = of_columns(columns, text).showing(part)
        drawn = sent(stage.score(ids=True), payloads.Score)
        assert drawn["text"] == text[part.first : part.last]
        length, colors = len(drawn["text"].encode()), dict[str, int]()
        for column, row, own in zip(columns, drawn["rows"], ids, strict=True):
            assert row["title"] == column.title
            assert row["tokenCount"] == len(column.tokenizer.encode(text))
            assert row["tokenEnds"][-1:] == [length] * bool(row["tokenEnds"])
            assert row["tokenEnds"] == sorted(row["tokenEnds"])
            tokens = [row["distinct"][index] for index in row["tokens"]]
            assert len(tokens) == len(row["tokenEnds"])
            for _, _, raw, color, _ in tokens:
                assert color < 0 or colors.setdefault(raw, color) == color
            own += [token_id for token_id, *_ in tokens if token_id != DROPPED_ID]
        assert_places_have_different_hues(drawn["rows"])
    for column, own in zip(columns, ids, strict=True):
        if size > len(text.encode()):
            unknown, marks = column.tokenizer.unknown_id, np.count_nonzero(column.cuts == 0)
            known = [unknown if i < 0 else i for i in own]
            assert known == column.tokenizer.encode(text)[marks:], "marks before the text"


@pytest.mark.parametrize("text", [TEXT, *HELD_OUT], ids=ascii)
def test_score_of_pre_tokens_joins_to_the_text(text: str) -> None:
    patterns = ("gpt2", "cl100k", "words", "none")
    columns = [PreTokenizedColumn(name, pre_tokenize(text, name), name) for name in patterns]
    drawn = sent(pre_tokenized.payload(columns, 0, len(text)), payloads.Score)
    raw = text.encode()
    assert drawn["text"] == text
    for pattern, row in zip(patterns, drawn["rows"], strict=True):
        expected = [pre_token.encode() for pre_token in pretokenize(text, pattern)]
        assert row["tokenCount"] == len(expected)
        assert [raw[a:b] for a, b in pairwise((0, *row["tokenEnds"]))] == expected
    assert_places_have_different_hues(drawn["rows"])


def assert_places_have_different_hues(rows: Sequence[payloads.ScoreRow]) -> None:
    """Assert that tokens of a place where rows differ do so in hue, unless a text has many."""
    of_rows = [
        [*zip((0, *row["tokenEnds"]), row["tokenEnds"], row["tokens"], strict=False)]
        for row in rows
    ]
    places: list[dict[str, int]] = []
    common = sorted(set.intersection(*({end for _, end, _ in tokens} for tokens in of_rows)))
    for start, stop in pairwise((-1, *common)):
        place = [[token for token in tokens if start < token[1] <= stop] for tokens in of_rows]
        if len(rows) > 1 and max(map(len, place)) > 1:
            places.append({})
            for row, tokens in zip(rows, place, strict=True):
                for token_id, name, raw, color, _ in (row["distinct"][at] for *_, at in tokens):
                    if isinstance(color, int) and color >= 0:
                        places[-1][str(name if token_id is None else raw)] = color
    if len({name for colors in places for name in colors}) <= HUES:
        assert all(len({i % HUES for i in colors.values()}) == len(colors) for colors in places)
    if len(rows) == 1:
        tokens = [rows[0]["distinct"][index] for index in rows[0]["tokens"]]
        assert_neighbors_differ([(label, color) for _, label, _, color, _ in tokens])


# ---- Learn


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.key)
def test_payloads_of_tasks_are_of_their_types(chapter: Chapter) -> None:
    for name in chapter.texts:
        task = chapter.task(name)
        for done in range(len(task.questions) + 1):
            player = sent(task.payload(done, None), payloads.Player)
            assert as_json(player) == as_json(sent(task.payload(done, None), payloads.Player))
            for view in player["views"]:
                for step in range(view["last"] + 1):
                    tokens = tokens_of(view, step)
                    looks = [view["tokenStyles"].get(i, ("", -1)) for *_, i in tokens]
                    assert_neighbors_differ(looks)


# ---- random segmentations


@pytest.mark.parametrize("key", [key for key in TRAINERS if trained(key).stochastic])
def test_random_segmentations_decode_to_the_word(key: str) -> None:
    """This includes unknown atoms, whose id is -1 at every step."""
    training = trained(key)
    for step in {0, 1, training.opening, training.steps}:
        tokenizer = training.at_step(step)
        for word in ("lowest", "Ωlow", "l", "▁"):
            ids = [i for i in tokenizer.boundaries(word).ids(step).tolist() if i != UNKNOWN_ID]
            strength = texts_of(training).randomness.initial
            drawn = training.segmentations(step, word, strength, 30, 1)
            assert drawn.total() == 30
            assert drawn == training.segmentations(step, word, strength, 30, 1)
            for known in ([i for i in each if i != UNKNOWN_ID] for each in drawn):
                assert all(training.name(i) for i in known)
                assert tokenizer.decode_bytes(known) == tokenizer.decode_bytes(ids)


if __name__ == "__main__":
    print(*digests())

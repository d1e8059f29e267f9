"""Traces, round trips and token lookup equal slow definitions and tiktoken."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
import regex
from helpers import usual
from helpers.properties import examples, many
from helpers.texts import SMALL_TEXTS
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz.analysis import token_lookup, trace
from bpeviz.analysis.round_trip import RoundTrip, round_trip
from bpeviz.analysis.trace import Inspection, inspect
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.pretrained import download
from bpeviz.trainers import TRAINERS
from bpeviz.views import encoded, inspection
from bpeviz.views.parts import parts as parts_of

TRAINING_TEXT = "The keeper keeps the light, the baker bakes the bread.\nThe naïve 世界 aab aaab\n"
ODD = "The  naïve fox\nisn't 世 in the light,\tBAKER aaaa <unk> [UNK]\n 👍🏽 "
TEXTS = st.one_of(SMALL_TEXTS, st.text(max_size=30), st.text("The kep\n\t'世é👍[UNK]", max_size=40))


def published(name: str) -> Any:
    if not download.available(name):
        pytest.skip(f"{name} is not on this machine.")
    return bpeviz.load(name)


@pytest.fixture(scope="module")
def trainings() -> dict[str, Training]:
    text = TRAINING_TEXT * 3
    found = {key: usual.train(key, text) for key in TRAINERS}
    found["characters"] = bpeviz.train(text, merges=60, atoms="characters")
    for mark in ("attached", "symbol"):
        found[f"mark {mark}"] = bpeviz.train(text, merges=60, atoms="characters", end_mark=mark)
    found["longest"] = bpeviz.train(text, merges=60, encode="longest")
    found["threshold"] = bpeviz.train(text, merges=60, threshold=4)
    found["unk"] = bpeviz.train(text, "sentencepiece", merges=60, unknown="unk")
    found["no prefix"] = bpeviz.train(text, "sentencepiece", merges=60, prefix="no")
    found["lower"] = bpeviz.train(text, "wordpiece", merges=60, case="lower")
    found["special"] = bpeviz.train(text, merges=60, special_tokens=("<s>", "[UNK]"))
    return found


# ---- the pieces


@many()
@given(text=st.text("aé世👍🏽\u0301\u200d\r\n क्षि", max_size=20))
def test_cuts_inside_equal_their_definition(text: str) -> None:
    tokenizer = bpeviz.train("aé世 aé世 क्षि", merges=8, pattern="none").tokenizer()
    found = inspect(text, tokenizer)
    expected = []
    at = 0
    for token_id in tokenizer.encode(text)[:-1]:
        at += len(tokenizer.token_bytes(token_id))
        before, behind = found.raw[:at], found.raw[at:]
        try:
            left, right = before.decode(), behind.decode()
        except UnicodeDecodeError:
            expected.append((at, "character"))
            continue
        clusters = regex.findall(r"\X", text)
        if len(regex.findall(r"\X", left)) + len(regex.findall(r"\X", right)) != len(
            clusters
        ) or not any("".join(clusters[:n]) == left for n in range(len(clusters))):
            expected.append((at, "grapheme"))
    assert found.cuts_inside() == expected


# ---- round trips


def made(of: Inspection, trip: RoundTrip) -> str:
    """Return the text after all edits."""
    raw, at = bytearray(), 0
    for edit in trip.edits:
        assert at <= edit.start <= edit.end <= len(of.raw)
        assert of.raw[edit.start : edit.end] != edit.became
        raw += of.raw[at : edit.start] + edit.became
        at = edit.end
    return (bytes(raw) + of.raw[at:]).decode(errors="replace")


@given(text=TEXTS)
@example(ODD)
@example("  a  b\n\n c ")
@example("THE Keeper")
@settings(max_examples=examples(25))
def test_round_trip_edits_produce_the_decoded_text(
    trainings: dict[str, Training], text: str
) -> None:
    for training in trainings.values():
        tokenizer = training.tokenizer()
        found = inspect(text, tokenizer)
        trip = round_trip(found)
        decoded = tokenizer.decode(tokenizer.encode(text))
        assert trip.lossless == (decoded == text)
        assert trip.decoded == decoded
        assert made(found, trip) == decoded
        assert trip.lossless == (not trip.edits) == (not trip.losses)
        assert sum(loss.times for loss in trip.losses) == len(trip.edits)


def lost(key: str, text: str, trainings: dict[str, Training]) -> dict[str, Any]:
    found = inspect(text, trainings[key].tokenizer())
    return {loss.title: loss for loss in round_trip(found).losses}


def test_round_trip_lists_losses_with_positions(trainings: dict[str, Training]) -> None:
    losses = lost("lower", "The  light\nkeeps the fox 'the", trainings)
    assert losses["lower case"].places[0] == (1, "The", "the")
    assert losses["white space"].places == ((4, "··", "·"), (11, "↵", "·"))
    assert losses["unknown"].places[0][1:] == ("fox", "[UNK]")
    assert "[UNK]" in losses["unknown"].why
    assert losses["inserted space"].times >= 1
    assert [*lost("characters", "the fox", trainings)] == ["unknown"]
    assert lost("characters", "the fox", trainings)["unknown"].places == (
        (5, "f", "<unk>"),
        (6, "o", "<unk>"),
        (7, "x", "<unk>"),
    )
    # Line ends are never trained on: they are lost, and so is the prefix of the next line.
    losses = lost("unk", "the\nthe", trainings)
    assert [*losses] == ["unknown", "dummy prefix"]
    assert losses["dummy prefix"].places == ((5, "nothing", "·"),)
    for key in ("bpe", "sentencepiece", "no prefix", "scaffold", "superbpe", "mark attached"):
        assert lost(key, TRAINING_TEXT, trainings) == {}


def test_text_that_a_pattern_does_not_match_is_dropped_and_named() -> None:
    how = {"pattern": "regex", "expression": r"\w+", "unmatched": "drop"}
    tokenizer = bpeviz.train("hug, hugs; pug", "wordpiece", merges=9, **how).tokenizer()
    found = inspect("pug; hug", tokenizer)
    assert [piece.id for piece in found.pieces].count(DROPPED_ID) == 2
    trip = round_trip(found)
    assert made(found, trip) == trip.decoded == "pug hug"
    (loss,) = trip.losses
    assert (loss.title, loss.places) == ("dropped text", ((4, ";·", "·"),))


def test_round_trip_reports_unexplained_changes_as_one_loss() -> None:
    class Backwards(type(bpeviz.train("ab", merges=0).tokenizer())):  # type: ignore[misc]
        def decode_bytes(self, ids: Any) -> bytes:
            _, *others = ids
            return b"a"[len(others) < 2 :] + super().decode_bytes(others[::-1])  # type: ignore[no-any-return]

    training = bpeviz.train("ab", merges=0)
    tokenizer = Backwards("backwards", PreTokenizer(), training.alphabet, ())
    for text, decoded in (("abcba", "aabcb"), ("aa", "a")):
        inspected = inspect(text, tokenizer)
        trip = round_trip(inspected)
        assert made(inspected, trip) == trip.decoded == decoded
        assert [loss.title for loss in trip.losses] == ["changed"]


# ---- the grid


@given(text=TEXTS)
@example(ODD)
@settings(max_examples=examples(25))
def test_grid_covers_its_part_exactly(trainings: dict[str, Training], text: str) -> None:
    for key in ("bpe", "wordpiece", "sentencepiece", "mark symbol", "unk", "unigram"):
        traced = replace(inspect(text, trainings[key].tokenizer()), template=([1, 2], [3]))
        shown: list[dict[str, Any]] = []
        for part in parts_of(traced.text, traced.cuts, 16):
            data = inspection.grid(traced, part)
            assert json.loads(json.dumps(data)) == data
            shown.append(data)
            byte_columns = [column for column, _ in data["bytes"]]
            assert len({*byte_columns}) == part.end - part.start
            assert {*byte_columns} <= {*range(data["columnCount"])}
            for name, start, end in (
                ("graphemes", 0, 1),
                ("codePoints", 0, 1),
                ("preTokens", 0, 1),
                ("tokens", "start", "end"),
            ):
                covered = [c for one in data[name] for c in range(one[start], one[end])]
                assert len(covered) == len({*covered})
                assert {*byte_columns} <= {*covered} <= {*range(data["columnCount"])}
            for column, _ in data["innerBoundaries"]:
                assert column in [token["end"] for token in data["tokens"]]
        points = [point for data in shown for point in data["codePoints"]]
        assert [chr(int(shown_as, 16)) for _, _, shown_as, _ in points] == [*traced.text]
        assert [name for *_, name in points] == [unicodedata.name(c, "") for c in traced.text]
        assert bytes(byte for data in shown for _, byte in data["bytes"]) == traced.raw
        if all(part.end - part.start <= 16 for part in parts_of(traced.text, traced.cuts, 16)):
            ids = [t["id"] for data in shown for t in data["tokens"] if t["id"] is not None]
            assert [i for i in traced.ids if i in ids] or not traced.ids


def test_grid_shows_characters_that_are_hidden_in_a_grapheme() -> None:
    text = "a\U000e0049\u200d é👍🏽 👩‍👧 श्री 🏴\U000e0067\U000e007f 😀\U000e0049"
    encoded = inspect(text, bpeviz.load("gpt2"))
    data = inspection.grid(encoded, parts_of(encoded.text, encoded.cuts, 200)[0])
    signs = ["a⟨E0049⟩⟨200D⟩", "·", "é", "👍🏽", "·", "👩‍👧", "·", "श्री", "·"]
    signs += ["🏴\U000e0067\U000e007f", "·", "😀⟨E0049⟩"]
    assert [sign for *_, sign in data["graphemes"]] == signs


# ---- ids


def test_decoded_notes_unknown_ids_and_decodes_the_others() -> None:
    tokenizer = published("cl100k_base")
    ids = [9468, 239, 235, -1, 100256, 10**18, 15339, 100257]
    each = token_lookup.decoded(ids, tokenizer)
    assert [one.raw is None for one in each] == [False] * 3 + [True] * 3 + [False] * 2
    assert all("not an id" in one.note for one in each if one.raw is None)
    assert [one.note for one in each[:3]] == ["only a part of a character"] * 3
    assert each[-1].note == "a special token"
    assert token_lookup.text_of(ids, tokenizer) == "👍hello<|endoftext|>"
    assert token_lookup.text_of([9468, 239], tokenizer) == "⟨F0⟩⟨9F⟩⟨91⟩"
    assert token_lookup.decoded([], tokenizer) == []


# ---- one token


def test_look_up_finds_tokens_by_id_text_and_label() -> None:
    tokenizer = published("cl100k_base")
    for query in ("15339", "hello"):
        (one,) = token_lookup.look_up(query, tokenizer)
        assert (one.id, one.raw, one.place) == (15339, b"hello", "merge 15,084 of 100,000")
    assert [one.id for one in token_lookup.look_up("·world", tokenizer)] == [1917]
    assert [one.id for one in token_lookup.look_up(" world", tokenizer)] == [1917]
    assert [one.id for one in token_lookup.look_up("123", tokenizer)] == [123, 4513]
    assert token_lookup.look_up("<|endoftext|>", tokenizer)[0].place == "a special token"
    assert token_lookup.look_up("A", tokenizer)[0].place == "a single byte"
    for query in ("", "no such token", "999999999", "9" * 19):
        assert token_lookup.look_up(query, tokenizer) == []
    near = token_lookup.neighbors(15339, tokenizer, 2)
    assert [one.id for one in near] == [15337, 15338, 15339, 15340, 15341]
    assert [one.id for one in token_lookup.neighbors(0, tokenizer, 2)] == [0, 1, 2]
    # Vocabularies have gaps: cl100k has no 100256.
    assert [one.id for one in token_lookup.neighbors(100257, tokenizer, 1)] == [100257, 100258]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("gpt2", "50,256 tokens and 1 special token"),
        (
            "cl100k_base",
            "100,256 tokens and 5 special tokens; 16 ids are unused (100256, 100261–100275)",
        ),
    ],
)
def test_describe_size_counts_tokens_special_tokens_and_unused_ids(name: str, size: str) -> None:
    assert token_lookup.describe_size(published(name)) == size


def test_ancestry_ends_at_atoms_for_every_token(
    trainings: dict[str, Training],
) -> None:
    for key, training in trainings.items():
        tokenizer: Tokenizer = training.tokenizer()
        for token_id in sorted({*tokenizer.known_ids()}):
            family = token_lookup.ancestry(token_id, tokenizer)
            assert family[0].token.id == token_id
            known = {one.token.id for one in family}
            for one in family:
                if one.parents is None:
                    assert tokenizer.is_atom(one.token.id) or key == "unigram"
                    continue
                assert {parent.id for parent in one.parents} <= known
                assert one.token.raw == one.parents[0].raw + one.parents[1].raw
            diagram = trace.merge_steps(token_id, tokenizer)
            assert (diagram is None) == (family[0].parents is None)
            if diagram is not None:
                raw, boundaries, events = diagram
                assert raw == tokenizer.token_bytes(token_id)
                assert boundaries.ids(len(events)).tolist() == [token_id]
                assert events[-1].id == token_id
                row = encoded.of_token(token_id, tokenizer)
                assert row is None or row.boundaries.ids(row.steps).tolist() == [token_id]

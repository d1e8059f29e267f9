"""Published tokenizers, and those that libraries train and save, equal their library.

Every kind of `library_tokenizers.KINDS` and every entry of the catalog has the ids, the boundaries,
the steps, the special tokens and the decoded texts of its library.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tokenizers
from helpers import library_tokenizers
from helpers.difficult import DIFFICULT
from helpers.library_tokenizers import KINDS, SENTENCEPIECE, files_of, of_kind
from helpers.properties import quarter
from helpers.refusals import refusal
from helpers.special_texts import SPECIAL_TEXTS

from bpeviz import formats
from bpeviz.analysis import normalization
from bpeviz.analysis.round_trip import round_trip
from bpeviz.analysis.trace import inspect
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID, Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.libraries.tokenizer import LibraryTokenizer
from bpeviz.text import clean

pytestmark = pytest.mark.slow

TEXTS = (*DIFFICULT, "The   naïve ÉTÉ ﬁ ½ e\u0301 世界\u200d \n x  ", " a", "the zqx pad<s>x")


def ids_at(tokenizer: Tokenizer, boundaries: Boundaries, step: int) -> list[int | None]:
    """Return the ids of a text at a step; text without a token has none."""
    found = boundaries.ids(step).tolist()
    return [tokenizer.unknown_id if i == UNKNOWN_ID else i for i in found if i != DROPPED_ID]


def spans(tokenizer: Tokenizer, text: str) -> list[tuple[int, int]]:
    """Return start and end in bytes of the tokens of a text, without dropped text."""
    bounds = tokenizer.boundaries(text)
    ends = [0, *bounds.cuts(tokenizer.steps).tolist()]
    assert ends[-1] == len(text.encode())
    ids = bounds.ids(tokenizer.steps).tolist()
    return [span for span, i in zip(pairwise(ends), ids, strict=True) if i != DROPPED_ID]


@pytest.mark.parametrize("kind", KINDS)
def test_tokenizer_json_equals_its_library(kind: str) -> None:
    theirs = tokenizers.Tokenizer.from_str(of_kind(kind).to_str())
    ours = formats.parse(files_of(kind))
    before, after = ours.template
    for text in ("", "ab", "a b ba", "x"):
        expected = theirs.encode(text).ids if kind != "dropout" else ours.encode(text)
        assert [*before, *ours.encode(text), *after] == expected
        assert inspect(text, ours, template=True).ids == expected
    assert ours.at_step(0).template == ours.template
    refusal(ours.decode, [10**8], naming=(ours.name, str(10**8)))
    theirs.post_processor = None  # it may trim offsets
    if kind == "dropout":
        theirs.model.dropout = None
    check_special_tokens(ours, theirs)
    theirs.encode_special_tokens = True
    for number, text in enumerate(quarter(TEXTS, kind)[::2]):
        found = theirs.encode(text, add_special_tokens=False)
        assert ours.encode(text) == found.ids, text
        assert ours.decode(found.ids) == theirs.decode(found.ids, skip_special_tokens=False)
        if number % 3 == 0:
            check_spans(ours, text, found.ids, found.offsets)
            check_normalized(ours, theirs, text)
    check_steps(ours, theirs)
    if isinstance(ours, LibraryTokenizer):
        check_many(ours)


def check_spans(ours: Tokenizer, text: str, ids: list[int], offsets: list[tuple[int, int]]) -> None:
    """Check the boundaries of a text against the ids and the offsets in characters of a library.

    A token lies within the characters of its offsets, and covers them if no other token does.
    """
    raw = text.encode()
    before = [len(text[:i].encode()) for i in range(len(text) + 1)]
    assert ids_at(ours, ours.boundaries(text), ours.steps) == ids
    joined = b"".join(map(ours.token_bytes, ids))
    tokens = zip(spans(ours, text), ids, offsets, strict=True)
    for number, ((start, end), token_id, (first, last)) in enumerate(tokens):
        if joined == raw:
            assert raw[start:end] == ours.token_bytes(token_id)
        elif start < end:
            neighbors = [*offsets[max(0, number - 1) : number], *offsets[number + 1 : number + 2]]
            alone = all(other[1] <= first or other[0] >= last for other in neighbors)
            assert start >= before[first]
            if alone and first < last:
                assert start == before[first]
                assert end >= before[last]


def check_normalized(ours: Tokenizer, theirs: tokenizers.Tokenizer, text: str) -> None:
    """Check that the normalized text is aligned with the text, and where pre-tokens end."""
    found = ours.normalized(text)
    assert len(found.starts) == len(found.text)
    assert [*found.starts] == sorted(found.starts)
    if units := normalization.units(text, found):
        assert "".join(unit.original for unit in units) == text
        assert "".join(unit.normalized for unit in units) == found.text
    adds_space = (
        '"prepend_scheme"' in theirs.to_str() or '"add_prefix_space":true' in theirs.to_str()
    )
    added = any(token.content in text for token in theirs.get_added_tokens_decoder().values())
    if theirs.normalizer is not None and not adds_space and not added:
        assert found.text == theirs.normalizer.normalize_str(text)
    if (ends := ours.pre_token_ends(text)) is not None:
        assert [*ends] == sorted({*ends})
        for end in ends:
            assert text.encode()[:end].decode(), "an end inside a character"


def check_steps(ours: Tokenizer, theirs: tokenizers.Tokenizer) -> None:
    """Check that each step has the ids of the library with fewer merges."""
    document = json.loads(theirs.to_str())
    merges = document["model"].get("merges", ())
    assert ours.steps == len(merges)
    assert (ours.without_steps is None) == bool(merges)
    for step in {0, 1, len(merges) // 3, len(merges)} if merges else ():
        early = ours.at_step(step)
        assert len(early.sizes) == step + 1
        if document["model"].get("ignore_merges"):
            continue  # then whole words stay
        document["model"]["merges"] = merges[:step]
        fewer = tokenizers.Tokenizer.from_str(json.dumps(document))
        fewer.encode_special_tokens = True
        for text in TEXTS[step % 18 :: 18]:
            ids = fewer.encode(text, add_special_tokens=False).ids
            boundaries = ours.boundaries(text)
            assert ids_at(ours, boundaries, step) == ids
            assert early.encode(text) == ids
            assert boundaries.token_counts[step] == len(ids)


def check_many(ours: LibraryTokenizer) -> None:
    """Check that pieces of many texts at once are those of the texts one by one."""
    texts = [*map(clean, TEXTS[::8])]
    ours._keeps_texts = False
    pieces, ends = ours.segment_texts(texts)
    plain_pieces = ours._plain_pieces
    ours._plain_pieces = lambda *of: (*plain_pieces(*of)[:2], np.zeros(len(texts), np.bool_))
    each, ends_of_each = ours.segment_texts(texts)
    assert pieces.tolist() == each.tolist()
    assert ends.tolist() == ends_of_each.tolist()


def with_only(theirs: tokenizers.Tokenizer, names: list[str]) -> tokenizers.Tokenizer:
    """Return a tokenizer that finds these special tokens in a text, and no other ones."""

    def change(document: dict[str, Any]) -> None:
        for token in document["added_tokens"]:
            token["special"] = token["special"] and token["content"] not in names

    made = library_tokenizers.changed(theirs, change)
    made.encode_special_tokens = True
    return made


def check_special_tokens(ours: Tokenizer, theirs: tokenizers.Tokenizer) -> None:
    """Check ids, offsets and decoded texts around special tokens, allowed together and alone."""
    added = theirs.get_added_tokens_decoder().values()
    special = [token.content for token in added if token.special]
    assert {*special} <= {*ours.special_tokens}
    names = [name for name in special if ours.special_tokens[name] != ours.unknown_id][-2:]
    if not names:
        return
    cases = [(names, theirs if {*names} == {*special} else with_only(theirs, names))]
    # Else a text is split at the allowed names first.
    if len(names) > 1 and isinstance(ours, LibraryTokenizer):
        cases += [([name], with_only(theirs, [name])) for name in names]
    for template in SPECIAL_TEXTS:
        text = template.format(*names, *names)
        for allowed, reference in cases:
            expected = reference.encode(text, add_special_tokens=False)
            tokens = ours.tokens(text, allowed_special=allowed)
            assert [token.id for token in tokens] == expected.ids, (text, allowed)
            assert ours.encode(text, allowed_special=allowed) == expected.ids
            for token, place in zip(tokens, expected.offsets, strict=True):
                if token.id in ours.added_ids and token.id != ours.unknown_id:
                    assert (token.start, token.end) == place, (text, allowed)
            if allowed != names:
                continue
            seen = inspect(text, ours, allowed)
            assert seen.text_ids == expected.ids
            assert ids_at(ours, seen.boundaries, seen.boundaries.steps) == expected.ids
            decoded = theirs.decode(expected.ids, skip_special_tokens=False)
            assert round_trip(seen).decoded == decoded


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_sentencepiece_model_equals_its_library(kind: str) -> None:
    content = files_of(kind)["tokenizer.model"]
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    ours = formats.parse({"a.model": content})
    assert ours.vocab_size == theirs.vocab_size()
    before, after = ours.template
    for text in (*quarter(TEXTS[::2], kind), "a<tool>b user", "a</s>b"):
        ids = theirs.encode(text)
        assert ours.encode(text) == ids
        assert [*before, *ids, *after] == theirs.encode(text, add_bos=True, add_eos=True)
        assert ours.decode(ids) == theirs.decode(ids)
        assert ids_at(ours, ours.boundaries(text), ours.steps) == ids
        pieces = theirs.encode(text, return_type="proto").pieces
        for (start, end), piece in zip(spans(ours, text), pieces, strict=True):
            # A byte of a character has no span of its own in the library.
            if not theirs.is_byte(piece.id):
                assert (start, end) == (piece.begin, piece.end) or piece.begin == piece.end
            elif theirs.normalize(text).replace("▁", " ").endswith(text):
                assert text.encode()[start:end] == bytes([int(piece.piece[3:5], 16)])
    # At control symbols, a text is split, and both parts begin as a text does.
    ids = ours.encode("the</s>the", allowed_special="all")
    assert ids == [*theirs.encode("the"), theirs.eos_id(), *theirs.encode("the")]

"""Documents: each is encoded, counted and trained on alone, also by the fast ways without steps."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest
from helpers import usual
from helpers.library_files import sentencepiece_model
from helpers.properties import many
from helpers.refusals import refusal
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.core.merges import Merge
from bpeviz.core.special_names import without_names
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents
from bpeviz.formats.remapped_ids import with_template
from bpeviz.text import clean
from bpeviz.trainers import TRAINERS, texts_of

CORPUS = (
    "The cat sat on the mat, and the hat that the cat sat on was 1234 years old. "
    "¿Dónde está la niña? Где мои слова? 吾輩は猫である。 def f(x):\n    return x  + 100 👍👍🏽 "
    * 3
)
TEXTS = st.lists(
    st.sampled_from(
        ["the", " cat", " ", "  ", "\n", "Hat", "é", "e\u0301", "ﬁ", "👍", "名前", " слова", "</w>",
         "[UNK]", "\ud800", "1234", "\0", "﷽"]
    ),
    max_size=15,
).map("".join)  # fmt: skip


@cache
def file(normalizer: str) -> Tokenizer:
    """Return the tokenizer of a file that its library applies."""
    tokenizer = usual.train("bpe", CORPUS).tokenizer()
    content = json.loads(formats.dump(tokenizer, "huggingface")["tokenizer.json"])
    changed = json.dumps(content | {"normalizer": {"type": normalizer}}).encode()
    return formats.parse({"tokenizer.json": changed})


@cache
def remapped() -> Tokenizer:
    found = with_template(usual.train("wordpiece", CORPUS).tokenizer(), [], [])
    assert found is not None
    return found


FILES = {
    "lower case": lambda: file("Lowercase"),
    "NFKC": lambda: file("NFKC"),
    "NFKC at a step": lambda: file("NFKC").at_step(20),
    "SentencePiece": cache(lambda: formats.parse({"a.model": sentencepiece_model()})),
    "other ids": remapped,
    "rwkv": cache(lambda: formats.parse({"rwkv.txt": rwkv()})),
}


def rwkv() -> bytes:
    lines = [f"{i + 1} {bytes([i])!r} 1" for i in range(256)]
    return "\n".join([*lines, "257 'the' 3", "258 ' cat' 4", "259 ' the' 4"]).encode()


ROWS = ["Yes.", "No.", "OK.", "Yes!", "Fine."] * 4
DIFFICULT_ROWS = st.lists(
    st.sampled_from(
        ["Yes.", "No. ", " no", "a\nb\r\n", "\r\n", "l'eau/", "/x", "U.S.A.", "1234 5", "---", "é.",
         "e\u0301", "  ", "I'll", "'ll go\n", "\t\tx", "名前。名前", "👍", "<end>", "a <end> b"]
    ),
    max_size=6,
)  # fmt: skip


@cache
def tokenizer_of(name: str) -> Tokenizer:
    if name in FILES:
        return FILES[name]()
    return bpeviz.load(name) if name == "gpt2" else usual.train(name, CORPUS).tokenizer()


@pytest.mark.parametrize("name", [*TRAINERS, *FILES, "gpt2"])
@many(least=20)
@given(rows=st.lists(TEXTS, max_size=4) | DIFFICULT_ROWS)
def test_documents_have_the_tokens_of_each_encoded_alone(name: str, rows: list[str]) -> None:
    tokenizer = tokenizer_of(name)
    each = [tokenizer.encode(row) for row in rows]
    assert tokenizer.encode_batch(rows) == each
    assert tokenizer.count_batch(rows) == [*map(len, each)]
    assert tokenizer.decode_batch(each) == [*map(tokenizer.decode, each)]
    documents = Documents.of(rows)
    boundaries = tokenizer.last_boundaries(documents)
    ends, ids = [], []
    at = 0
    for i, row in enumerate(documents.texts):
        alone, slow = tokenizer.last_boundaries(row), tokenizer.boundaries(row)
        assert slow.ids(tokenizer.steps).tolist() == alone.ids(alone.steps).tolist()
        assert slow.cuts(tokenizer.steps).tolist() == alone.cuts(alone.steps).tolist()
        ends += [*(i > 0) * [at], *(alone.cuts(alone.steps) + at).tolist()]
        ids += [*(i > 0) * [DROPPED_ID], *alone.ids(alone.steps).tolist()]
        at += len(row.encode()) + 1 if row.strip() else 1
    assert boundaries.cuts(boundaries.steps).tolist() == ends
    assert boundaries.ids(boundaries.steps).tolist() == ids
    if rows:
        total = bpeviz.compare({"rows": rows}, [tokenizer]).rows[0].tokens
        assert total == sum(len(ids) for row, ids in zip(rows, each, strict=True) if row.strip())


@pytest.mark.parametrize("key", TRAINERS)
@pytest.mark.parametrize("names", [(), ("<end>",)])
@many(least=10)
@given(rows=DIFFICULT_ROWS)
def test_boundaries_of_documents_are_those_of_each_at_every_step(
    key: str, names: tuple[str, ...], rows: list[str]
) -> None:
    documents = Documents.of([*rows, *ROWS[:7], "the cat", ""])
    training = bpeviz.train(
        documents,
        key,
        **usual.options(key),
        special_tokens=names,
        split_at_special=bool(names),
    )
    boundaries = training.boundaries(documents)
    each = [training.boundaries(document) for document in documents.texts]
    raw = documents.as_text.encode()
    assert [*boundaries.ends[-1:]] == [*[len(raw)] * bool(len(boundaries))]
    assert boundaries.token_counts.tolist() == sum(of.token_counts for of in each).tolist()
    for step in {0, training.steps // 2, training.steps}:
        ends, ids, at = [], [], 0
        for i, (document, of) in enumerate(zip(documents.texts, each, strict=True)):
            ends += [*(i > 0) * [at], *(of.cuts(step) + at).tolist()]
            ids += [*(i > 0) * [DROPPED_ID], *of.ids(step).tolist()]
            at += len(document.encode()) + 1
        assert boundaries.cuts(step).tolist() == ends
        assert boundaries.ids(step).tolist() == ids
    candidates = (training.candidates(documents, boundaries, i, 1) for i in range(training.steps))
    for decision, (best,) in zip(training.decisions, candidates, strict=True):
        taken = (decision.left, decision.right) if isinstance(decision, Merge) else (decision.id,)
        assert (best.ids, best.count) == (taken, decision.count)


@pytest.mark.parametrize("name", ["bpe", "wordpiece", "NFKC", "gpt2"])
def test_batches_find_the_special_tokens_that_are_allowed(name: str) -> None:
    tokenizer = tokenizer_of(name)
    special = next(iter(tokenizer.special_tokens), None)
    texts = ["the cat", f"a{special}b", "", f"{special}"]
    allowed = [special] if special else []
    expected = [tokenizer.encode(text, allowed_special=allowed) for text in texts]
    assert tokenizer.encode_batch(texts, allowed_special=allowed) == expected
    refusal(tokenizer.encode_batch, texts, allowed_special=["<none>"], naming="<none>")
    for batch in ("encode", "count", "decode"):
        for wrong in ("the cat", 5, None):
            refusal(getattr(tokenizer, f"{batch}_batch"), wrong, naming=repr(wrong))


# ---- Training


@pytest.mark.parametrize("key", TRAINERS)
@many(least=10)
@given(rows=DIFFICULT_ROWS)
def test_training_on_rows_equals_training_on_their_counts(key: str, rows: list[str]) -> None:
    rows = [*filter(None, rows), *ROWS, "the cat\n", "the cat"]
    for names in ((), ("<end>",)):
        parts = [part for row in rows for part in without_names(row, names)]
        options = usual.options(key)
        expected = bpeviz.train(Counter(parts), key, **options)
        how = {"special_tokens": names, "split_at_special": bool(names)}
        training = bpeviz.train(rows, key, **options, **how)
        probe = clean(" ".join(rows))
        assert training.steps == expected.steps
        assert training.tokenizer().encode(probe) == expected.tokenizer().encode(probe)
        assert training.tokenizer().tokens(probe) == expected.tokenizer().tokens(probe)


def test_first_documents_are_those_that_fit() -> None:
    documents = Documents(("ab", "cd", "e"))
    fitting = [len(documents.first(characters)) for characters in range(6)]
    assert fitting == [0, 0, 1, 1, 2, 3]


def test_languages_are_weighted_by_their_groups() -> None:
    groups = {"en": ["the river", "the sea"] * 9, "es": ["el río.", "el mar."]}
    pairs = [(label, text) for label, texts in groups.items() for text in texts]
    documents = Documents(tuple(text for _, text in pairs), tuple(label for label, _ in pairs))
    for key, options in (("multilingual", {"smoothing": "0.0"}), ("parity", {})):
        trained = bpeviz.train(documents, key, merges=9, **options)
        joined = "\n---\n".join("\n".join(texts) for texts in groups.values())
        of_text = bpeviz.train(joined, key, merges=9, pattern="gpt2", **options)
        first, second = (
            {training.tokenizer().token_label(256 + i) for i in range(3)}
            for training in (trained, of_text)
        )
        assert first == second, key


@pytest.mark.parametrize("key", ["multilingual", "parity"])
def test_the_tables_of_languages_are_those_of_the_groups(key: str) -> None:
    texts = ["the river", "el río", "the sea", "", "el mar."]
    documents = Documents(tuple(texts), ("en", "es", "en", "en", "es"))
    training = bpeviz.train(documents, key, merges=3)
    (detail,) = texts_of(training).details(
        training, documents, training.boundaries(documents), training.steps
    )
    table = detail.content()
    tokenizer = training.tokenizer()
    expected = [sum(tokenizer.count_batch(group.texts)) for group in documents.groups.values()]
    assert table["tokens"] == expected
    sizes = [group.size for group in documents.groups.values()]
    assert table.get("bytes", sizes) == sizes
    assert table.get("rows", [3, 2]) == [3, 2]

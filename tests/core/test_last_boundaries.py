"""The fast ways to the tokens of a text, without steps, and to the token counts of many texts."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from helpers import usual
from helpers.difficult import DIFFICULT
from helpers.library_files import sentencepiece_model
from helpers.properties import many, quarter
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.remapped_ids import with_template
from bpeviz.trainers import TRAINERS

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


def check(tokenizer: Tokenizer, texts: list[str]) -> None:
    for text in texts:
        slow, fast = tokenizer.boundaries(text), tokenizer.last_boundaries(text)
        assert np.array_equal(slow.ids(tokenizer.steps), fast.ids(fast.steps))
        assert np.array_equal(slow.cuts(tokenizer.steps), fast.cuts(fast.steps))
    assert tokenizer.count_batch(texts) == [len(tokenizer.encode(text)) for text in texts]


@pytest.mark.parametrize("key", TRAINERS)
@many(least=30)
@given(texts=st.lists(TEXTS, max_size=4))
def test_tokens_of_trained_tokenizers_equal_those_of_the_last_step(
    key: str, texts: list[str]
) -> None:
    check(usual.train(key, CORPUS).tokenizer(), texts)


@pytest.mark.parametrize("name", FILES)
@many(least=30)
@given(texts=st.lists(TEXTS, max_size=4))
def test_tokens_of_files_equal_those_of_the_last_step(name: str, texts: list[str]) -> None:
    check(FILES[name](), texts)


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_tokens_of_published_tokenizers_equal_those_of_the_last_step(name: str) -> None:
    check(bpeviz.load(name), [*quarter(DIFFICULT, name)])

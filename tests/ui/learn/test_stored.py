"""The stored part of GPT-4o's vocabulary encodes its texts as the whole vocabulary does."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

import bpeviz
from bpeviz.ui.learn import stored
from bpeviz.ui.learn.engine import encoding

AS_TYPED = [start + text for text in stored.TEXTS for start in ("", " ")]


@pytest.mark.parametrize("text", AS_TYPED)
def test_stored_vocabulary_gives_the_tokens_and_the_steps_of_o200k(text: str) -> None:
    whole, part = bpeviz.load("o200k_base"), stored.o200k()
    assert stored.is_stored(text)
    assert [*part.tokens(text)] == [*whole.tokens(text)]
    assert encoding(text, part).payload == encoding(text, whole).payload
    assert part.special_tokens == whole.special_tokens
    assert part.vocab_size == whole.vocab_size


def test_stored_file_has_the_tokens_inside_its_texts_and_the_last_one() -> None:
    ranks = bpeviz.load("o200k_base")._ranks
    tokens = {bytes([byte]) for byte in range(256)} | {max(ranks, key=ranks.__getitem__)}
    for raw in (text.encode() for text in AS_TYPED):
        tokens |= {raw[i:end] for end in range(len(raw) + 1) for i in range(end)}
    rows = sorted((ranks[token], token) for token in tokens if token in ranks)
    file = Path(stored.__file__).with_name("o200k_words.tiktoken")
    assert file.read_bytes() == b"".join(
        b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in rows
    )


def test_parts_of_stored_texts_are_stored_with_the_tokens_of_o200k() -> None:
    whole = bpeviz.load("o200k_base")
    for text in ("", " ", "straw", "<|endoftex", "4567"):
        assert stored.is_stored(text)
        assert [*stored.o200k().tokens(text)] == [*whole.tokens(text)]
    assert not any(map(stored.is_stored, ("  strawberry", "strawberry ", "straws")))

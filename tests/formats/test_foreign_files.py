"""Files that Hugging Face's `tokenizers` trained and saved: replayed exactly, or applied by it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tokenizers
from helpers import libraries
from helpers.library_tokenizers import files_of, of_kind
from helpers.refusals import refusal
from tokenizers import (
    Regex,
    pre_tokenizers,
)

from bpeviz import formats
from bpeviz.core.boundaries import DROPPED_ID

pytestmark = pytest.mark.slow

ByteLevel = pre_tokenizers.ByteLevel
Split = pre_tokenizers.Split
FILE = "tokenizer.json"


def saved(theirs: tokenizers.Tokenizer) -> dict[str, bytes]:
    """Return vocab.json and merges.txt of a tokenizer without its added tokens."""
    model = json.loads(theirs.to_str())["model"]
    merges = "".join(f"{left} {right}\n" for left, right in model["merges"])
    return {"vocab.json": json.dumps(model["vocab"]).encode(), "merges.txt": merges.encode()}


def settings(**values: Any) -> dict[str, bytes]:
    return {"tokenizer_config.json": json.dumps(values).encode()}


def test_vocab_and_merges_have_the_chosen_pre_tokenization_or_that_of_gpt2() -> None:
    theirs = tokenizers.Tokenizer.from_str(of_kind("GPT-2").to_str())
    files = saved(theirs)
    assert "GPT-2 is assumed" in formats.assumption(files)
    qwen = files | settings(tokenizer_class="Qwen2Tokenizer")
    refusal(formats.parse, qwen, naming=("Qwen2Tokenizer", DOWNLOAD), error=formats.FormatError)
    expression = r"\d|\s+|[^\d\s]+"
    chosen = formats.parse(qwen, pattern="regex", expression=expression)
    assert formats.assumption(qwen, pattern="regex") == ""
    text = "It's 12  lower"
    split = Split(Regex(expression), "isolated")
    level = ByteLevel(add_prefix_space=False, use_regex=False)
    theirs.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    assert chosen.encode(text) == libraries.of_library(theirs)(text)
    assert chosen.encode(text) != formats.parse(files).encode(text)


@pytest.mark.parametrize(
    "beside",
    [
        {"config.json": b'{"model_type": "qwen3_moe"}'},
        {"config.json": b'{"model_type": "qwen2"}'} | settings(tokenizer_class="GPT2Tokenizer"),
        settings(tokenizer_class="RobertaTokenizerFast"),
    ],
)
def test_vocab_and_merges_of_another_model_are_refused(beside: dict[str, bytes]) -> None:
    files = saved(of_kind("GPT-2")) | beside
    refusal(formats.parse, files, naming=("vocab.json", DOWNLOAD), error=formats.FormatError)
    assert formats.parse(files, pattern="gpt2").encode("low")


@pytest.mark.parametrize("entries", [["<s>", "a", "b</w>", "ab</w>"], ["<unk>", "a", "b", "ab"]])
def test_vocabulary_over_characters_is_refused(entries: list[str]) -> None:
    vocab = json.dumps({name: i for i, name in enumerate(entries)}).encode()
    files = {"vocab.json": vocab, "merges.txt": f"a {entries[2]}\n".encode()}
    refusal(formats.parse, files, naming=("vocab.json", DOWNLOAD), error=formats.FormatError)


DOWNLOAD = "Download tokenizer.json of this model"


def test_boundaries_of_unknown_tokens_and_removed_characters_follow_the_text() -> None:
    made = tokenizers.SentencePieceUnigramTokenizer()
    made.train_from_iterator(
        ["low lower lowest"],
        vocab_size=20,
        special_tokens=["<unk>"],
        unk_token="<unk>",
        show_progress=False,
    )
    ours = formats.parse({FILE: made.to_str().encode()})
    text = "@@ low\x1b w"
    assert [(t.start, t.end) for t in ours.tokens(text)][:3] == [(0, 0), (0, 2), (2, 6)]
    bounds = ours.boundaries(text)
    dropped = bounds.ids(bounds.steps).tolist().index(DROPPED_ID)
    assert bounds.cuts(bounds.steps).tolist()[dropped - 1 : dropped + 1] == [6, 7]


# The steps of foreign files


def test_whole_words_of_ignore_merges_are_shown_without_steps() -> None:
    """A word that is an entry is one token, although no merge makes it."""
    document = json.loads(of_kind("NFC, as in Qwen").to_str())
    document["model"] |= {"ignore_merges": True}
    document["model"]["vocab"]["xyzzy"] = len(document["model"]["vocab"]) + 5
    ours = formats.parse({"tokenizer.json": json.dumps(document).encode()})
    [token] = ours.encode("xyzzy")
    whole = ours.boundaries("xyzzy the")
    assert whole.steps == 0
    assert whole.ids(ours.steps)[0] == token
    assert np.array_equal(whole.cuts(0)[:1], [5])
    assert ours.boundaries("the").steps == ours.steps


def test_pre_tokens_of_a_normalized_text_are_in_the_original() -> None:
    """An accent that is removed belongs to its word; white space is a part of its own."""
    ours = formats.parse(files_of("BERT"))
    text = "Été e\u0301tat  世界!"
    ends = ours.pre_token_ends(text)
    assert ends is not None
    parts = [text.encode()[a:b].decode() for a, b in pairwise([0, *ends])]
    assert parts == ["Été", " ", "e\u0301tat", "  ", "世", "界", "!"]

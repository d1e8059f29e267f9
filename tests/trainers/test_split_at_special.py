"""Splitting the training text at special tokens: for each trainer, on the stage, and in files."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers.stages import played

import bpeviz
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import SPECIAL_ID
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents
from bpeviz.trainers import TRAINERS
from bpeviz.trainers.parity_bpe import ParityTraining

END = "<|endoftext|>"
NAMES = ("<é>", END)
TEXT = f"low lower{END}low{END}{END}newer the new <é>low\n---\nwidest{END} wider <end> low new{END}"
WITH_TEXTS = ("multilingual", "parity")
BASE = bpeviz.train("low lower", merges=3, special_tokens=("[UNK]", "[SEP]")).tokenizer()


def train(algorithm: str, text: Any = TEXT, *, split: bool = True, **more: Any) -> Training:
    options: dict[str, Any] = {"merges": 12, "special_tokens": NAMES, "split_at_special": split}
    if algorithm == "unigram":
        options |= {"merges": None, "vocab_size": 25}
    if algorithm == "adaptive" and "base" not in more:
        options |= {"base_text": "low lower", "base_size": 258}
    return bpeviz.train(text, algorithm, **options | more)


def parts(text: str) -> Counter[str]:
    return Counter(filter(None, re.split("|".join(map(re.escape, NAMES)), text)))


@pytest.mark.parametrize("algorithm", sorted(TRAINERS.keys() - {*WITH_TEXTS}))
def test_training_equals_one_on_the_parts_between_names(algorithm: str) -> None:
    training, of_parts = train(algorithm), train(algorithm, parts(TEXT), split=False)
    assert training.decisions == of_parts.decisions
    assert training.alphabet == of_parts.alphabet
    assert train(algorithm, {TEXT: 2, "low": 1}).decisions == (
        train(algorithm, parts(TEXT * 2) | {"low": 3}, split=False).decisions
    )


@pytest.mark.parametrize(
    ("algorithm", "options", "own"),
    [
        ("wordpiece", {}, TRAINERS["wordpiece"].reserved),
        *((key, {"atoms": "characters"}, ("<unk>",)) for key in ("bpe", "superbpe")),
        ("unigram", {"vocab_size": 60}, ("<unk>",)),
        ("sentencepiece", {"unknown": "unk"}, ("<unk>",)),
        *((key, {}, ()) for key in ("bpe", "sentencepiece", "adaptive")),
        ("adaptive", {"base": BASE}, ("[UNK]", "[SEP]")),
    ],
)
def test_trainers_own_names_split_the_text_like_given_ones(
    algorithm: str, options: dict[str, Any], own: tuple[str, ...]
) -> None:
    text = TEXT + "".join(f"{name} low{name}" for name in ("[SEP]", "<unk>", "[UNK]")) * 9
    training = train(algorithm, text, **options)
    names = (*own, *NAMES)
    assert training.split_at == names
    parts = Counter(filter(None, re.split("|".join(map(re.escape, names)), text)))
    assert training.decisions == train(algorithm, parts, split=False, **options).decisions
    ids = training.boundaries(text).ids(0)
    assert np.count_nonzero(ids <= SPECIAL_ID) == sum(map(text.count, names))
    column = Column("", training.tokenizer(), training.boundaries(text), training.steps)
    special = [*column.tokenizer.special_tokens.values()]
    assert np.isin(column.ids, special).sum() >= sum(map(text.count, names))
    assert played(training, text).data["player"]["views"][0]["tokenStyles"]
    plain = train(algorithm, text, split=False, **options)
    assert plain.split_at == ()
    assert plain.decisions != training.decisions


@pytest.mark.parametrize("split", [True, False])
def test_development_texts_are_split_for_documents_as_for_a_text(split: bool) -> None:
    options = {"measure": "development", "development": f"x{END * 9}\n---\nwide wide wide"}
    texts = ("low lower", "wide wider")
    for corpus in ("\n---\n".join(texts), Documents(texts, ("a", "b"))):
        training = train("parity", corpus, split=split, **options)
        assert isinstance(training, ParityTraining)
        assert training.chosen[0] == split, "x is one token, and the names are not counted"


@pytest.mark.parametrize("corpus", ["low new", ["low new", "new"], {"low new": 2}])
def test_first_text_of_adaptive_bpe_is_split_as_well(corpus: Any) -> None:
    options = {"base_text": "<é> low <é> low <é>", "base_size": 300, "merges": 2}
    training = bpeviz.train(corpus, "adaptive", special_tokens=NAMES, **options)
    tokens = [training.base.token_label(i) for i in range(training.base.vocab_size)]
    assert not any("<" in token and len(token) > 1 for token in tokens)

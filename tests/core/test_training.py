"""Trainings: the boundaries that they cache for the candidates of a step."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest

import bpeviz
from bpeviz.core import training as training_module
from bpeviz.core.training import Candidate, MergeTraining
from bpeviz.text import shorten

TEXT = "low lower lowest newest widest "
TEXTS = [TEXT * n for n in range(1, 9)]


def train() -> MergeTraining:
    training = bpeviz.train(TEXT, merges=12)
    assert isinstance(training, MergeTraining)
    return training


def candidates(training: MergeTraining, text: str, step: int) -> list[Candidate]:
    boundaries = training.at_step(0).boundaries(text)  # not those of the last step: they are cached
    return training.candidates(text, boundaries, step, 5)


def test_training_cache_is_thread_safe() -> None:
    training = train()
    expected = [candidates(train(), text, 3) for text in TEXTS]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(20):
                found = pool.map(lambda text: candidates(training, text, 3), TEXTS * 2)
                assert [*found] == expected * 2
    finally:
        sys.setswitchinterval(interval)


def test_training_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_module, "CACHE_ATOMS", 500)
    training = train()
    for text, step in product(TEXTS, (0, 5)):
        assert candidates(training, text, step) == candidates(train(), text, step)
        assert sum(map(len, training._cache.values())) <= 500


def test_token_has_its_shortened_label_as_its_name() -> None:
    training = bpeviz.train("low 👋 slower " * 60, merges=60, pattern="none")
    tokenizer = training.tokenizer()
    ids = range(training.vocab_size)
    assert max(len(tokenizer.token_bytes(i)) for i in ids) > 300
    assert [training.name(i) for i in ids] == [shorten(tokenizer.token_label(i)) for i in ids]

"""Parity between languages: texts and lines that are held out, and the sentence."""

from __future__ import annotations

import bpeviz
from bpeviz.analysis.language_parity import Split

TEXTS = {"en": ["the sea", "---", "the tea", "the bee"], "es": ["el mar", "---", "el té", "él"]}
LETTERS = bpeviz.train("abc", merges=0, atoms="characters").tokenizer()


def test_training_text_has_what_is_not_held_out() -> None:
    assert Split(TEXTS).corpus == "the sea\nthe tea\nthe bee\n---\nel mar\nel té\nél"
    assert Split(TEXTS, half=True).corpus == "the sea\n---\nel mar"
    assert Split(TEXTS, held_out=frozenset({"en"})).corpus == "el mar\nel té\nél"


def test_ratios_are_relative_to_the_fewest_tokens_of_a_text_trained_on() -> None:
    assert Split(TEXTS).ratios(LETTERS) == {"en": 24 / 16, "es": 1}
    assert Split(TEXTS, half=True).ratios(LETTERS) == {"en": 14 / 7, "es": 1}
    assert Split(TEXTS, held_out=frozenset({"es"})).ratios(LETTERS) == {"en": 1, "es": 16 / 24}


def test_sentence_has_the_largest_ratio_of_each_way_to_train() -> None:
    ratios = {
        "with shares as they are": {"en": 1.0, "es": 1.5},
        "with parity": {"en": 1.25, "es": 1.0},
    }
    assert Split(TEXTS).sentence(ratios) == (
        "One language needs up to 1.50 times as many tokens as another with shares as they are "
        "and 1.25 with parity."
    )
    assert (
        Split(TEXTS, half=True)
        .sentence(ratios)
        .startswith("On lines that were not trained on, one language needs up to 1.50 times")
    )
    assert Split(TEXTS, held_out=frozenset({"es"})).sentence(ratios) == (
        "One language needs up to 1.00 times as many tokens as another with shares as they are "
        "and 1.25 with parity. A language that was not trained on needs up to 1.50 times as many "
        "tokens as another with shares as they are and 1.00 with parity."
    )

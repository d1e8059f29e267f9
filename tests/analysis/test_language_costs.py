"""The costs of languages: texts and lines that are held out, and the sentence."""

from __future__ import annotations

import bpeviz
from bpeviz.analysis.language_costs import Split

TEXTS = {"en": ["the sea", "---", "the tea", "the bee"], "es": ["el mar", "---", "el té", "él"]}
LETTERS = bpeviz.train("abc", merges=0, atoms="characters").tokenizer()


def test_training_text_has_what_is_not_held_out() -> None:
    assert Split(TEXTS).training_text == "the sea\nthe tea\nthe bee\n---\nel mar\nel té\nél"
    assert Split(TEXTS, half=True).training_text == "the sea\n---\nel mar"
    assert Split(TEXTS, held_out=frozenset({"en"})).training_text == "el mar\nel té\nél"


def test_costs_are_relative_to_the_cheapest_text_trained_on() -> None:
    assert Split(TEXTS).costs(LETTERS) == {"en": 24 / 16, "es": 1}
    assert Split(TEXTS, half=True).costs(LETTERS) == {"en": 14 / 7, "es": 1}
    assert Split(TEXTS, held_out=frozenset({"es"})).costs(LETTERS) == {"en": 1, "es": 16 / 24}


def test_sentence_names_the_dearest_of_each_way_to_train() -> None:
    costs = {
        "with shares as they are": {"en": 1.0, "es": 1.5},
        "with parity": {"en": 1.25, "es": 1.0},
    }
    assert Split(TEXTS).sentence(costs) == (
        "The dearest language costs 1.50 times the cheapest with shares as they are and 1.25 with "
        "parity."
    )
    assert (
        Split(TEXTS, half=True)
        .sentence(costs)
        .startswith("On lines that were not trained on, the dearest language costs 1.50")
    )
    assert Split(TEXTS, held_out=frozenset({"es"})).sentence(costs) == (
        "The dearest language costs 1.00 times the cheapest with shares as they are and 1.25 with "
        "parity. The dearest that was not trained on costs 1.50 times the cheapest with shares as "
        "they are and 1.00 with parity."
    )

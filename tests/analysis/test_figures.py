"""Figures of a tokenizer over all texts: equal to their definitions, and None where undefined."""

from __future__ import annotations

import pytest
import reference_fairness

import bpeviz
from bpeviz.analysis.comparison import TOTALS
from bpeviz.analysis.figures import Total, gini
from bpeviz.core.tokenizer import Tokenizer

TEXTS = {
    "en": ["Where is the river?", "Anna sold 12 loaves.", "The bakery opens at 7."] * 4,
    "es": ["¿Dónde está el río?", "Anna vendió 12 panes.", "La panadería abre a las 7."] * 4,
    "ja": ["川はどこですか。", "アンナは十二個売った。", "パン屋は七時に開く。"] * 4,
}


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Tokenizer]:
    text = "\n".join(TEXTS["en"])
    return {
        "gpt2": bpeviz.load("gpt2"),
        "bpe": bpeviz.train(text, merges=40, special_tokens=("<s>",)).tokenizer(),
        "unigram": bpeviz.train(text, "unigram", vocab_size=300, atoms="bytes").tokenizer(),
    }


def test_figures_equal_their_definitions(tokenizers: dict[str, Tokenizer]) -> None:
    found = bpeviz.compare(TEXTS, tokenizers, "en").tokenizers
    rows = [line for lines in TEXTS.values() for line in lines]
    for one, (name, tokenizer) in zip(found, tokenizers.items(), strict=True):
        ids = [token_id for row in rows for token_id in tokenizer.encode(row)]
        by_line = [[len(tokenizer.encode(line)) for line in lines] for lines in TEXTS.values()]
        vocabulary = [*tokenizer.known_ids()]
        assert (one.tokenizer, one.tokens) == (name, len(ids))
        assert one.gini == pytest.approx(float(reference_fairness.gini(by_line)))
        sums = [sum(counts) for counts in by_line]
        assert one.worst_premium == max(sums) / sums[0]
        assert one.worst_text == [*TEXTS][sums.index(max(sums))]
        assert one.renyi_efficiency == pytest.approx(
            reference_fairness.renyi_efficiency(ids, len(vocabulary))
        )
        assert one.used_vocabulary == len({*ids}) / len(vocabulary)
        spaced = [
            (row, [token.start for token in tokenizer.tokens(row)])
            for lines in [*TEXTS.values()][:2]
            for row in lines
        ]
        assert one.whole_words == float(reference_fairness.whole_words(spaced))


def test_figures_without_texts_to_compare_are_missing(tokenizers: dict[str, Tokenizer]) -> None:
    (alone,) = bpeviz.compare(TEXTS, {"bpe": tokenizers["bpe"]}).tokenizers
    assert (alone.gini, alone.worst_premium, alone.worst_text) == (None, None, "")
    (one,) = bpeviz.compare({"en": TEXTS["en"]}, {"bpe": tokenizers["bpe"]}, "en").tokenizers
    assert (one.gini, one.worst_premium) == (None, None)
    (empty,) = bpeviz.compare({"none": ""}, {"bpe": tokenizers["bpe"]}).tokenizers
    assert [getattr(empty, figure) for figure in TOTALS] == [None, None, None, 0, None]


def test_gini_of_known_distributions(tokenizers: dict[str, Tokenizer]) -> None:
    for premiums, expected in (([3, 3, 3], 0), ([0, 0, 0, 8], 1 - 1 / 4), ([1, 1, 4], 1 / 3)):
        known = [(premium, "text") for premium in premiums]
        assert gini.of(Total("mine", tokenizers["bpe"], premiums=known)) == pytest.approx(expected)

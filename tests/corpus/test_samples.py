"""The sample texts: all are listed, valid, and match their descriptions."""

import re
import unicodedata
from collections.abc import Callable

import pytest
from helpers.refusals import refusal

from bpeviz import load, train
from bpeviz.corpus.samples import GROUPS, SAMPLES, SAMPLES_FOLDER, by_key, written_out
from bpeviz.ui.inputs.text import expand_counts

KEYS = [sample.key for sample in SAMPLES]
ODD = "emoji-and-unicode"
SHORT = (
    *("seashells", "old-cat", "banana", "low-lower-newest-widest", "hug-pug-pun-bun-hugs"),
    *("don-quijote", "quick-brown-fox", "yao-ming"),
)
PUZZLES = tuple(sample.key for sample in GROUPS["Puzzles"])

each_key = pytest.mark.parametrize("key", KEYS)


def has(*tokens: str) -> Callable[[str, list[str]], bool]:
    """Return a check that these tokens are trained on a text."""
    return lambda text, trained: {*tokens} <= {*trained}


SHOWN: dict[str, Callable[[str, list[str]], bool]] = {
    "words that return": has("·she", "·sea"),
    "whole words soon": lambda text, trained: {"the", "·cat", "·old"} <= {*trained[:8]},
    "pieces in pieces": has("an", "ana", "banana"),
    "endings": has("est"),
    "rhymes": lambda text, trained: trained[:2] == ["ug", "un"],
    "one pair repeats": lambda text, trained: trained == ["he"],
    "everyday words": has("·the", "·a"),
    "accents": lambda text, trained: any(one in token for token in trained for one in "áéíóúñ"),
    "one Spanish sentence": lambda text, trained: text.count(".") <= 1 and "·de" in trained,
    "two bytes a letter": lambda text, trained: (
        {len(one.encode()) for one in text if one.isalpha()} == {2}
    ),
    "no spaces": lambda text, trained: " " not in text,
    "where do words end?": lambda text, trained: not trained and not text.strip().isascii(),
    "three languages": lambda text, trained: text.count("\n---\n") == 2,
    "both directions": lambda text, trained: {"AL", "L"} <= {*map(unicodedata.bidirectional, text)},
    "indentation": lambda text, trained: trained[0] == "··",
    "many bytes each": lambda text, trained: trained[0] == "⟨F0⟩⟨9F⟩",
    "digits": lambda text, trained: any(token.strip("·").isdigit() for token in trained),
    "letters": has("trawberry"),
    "decimal numbers": lambda text, trained: bool(re.search(r"\d\.\d", text)),
    "years": has("2024"),
    "groups of digits": has("123", "456", "789"),
    "words in capitals": lambda text, trained: "TOKENIZATION" in text,
    "spaces as tokens": has("··"),
}
"""Checks of what each sample says it shows, on its text and the tokens trained on it."""


def test_each_sample_shows_what_it_says_when_it_is_trained_on() -> None:
    for sample in SAMPLES:
        training = train(sample.text, vocab_size=1024, min_count=2)
        trained = [training.name(merge.new_id) for merge in training.merges]
        assert SHOWN[sample.shows](sample.text, trained), sample.key
    assert {*SHOWN} == {sample.shows for sample in SAMPLES}


def test_each_sample_says_briefly_what_it_shows() -> None:
    assert len({sample.title for sample in SAMPLES}) == len({*KEYS}) == len(SAMPLES)
    # The list of samples is some 40 characters wide.
    assert max(len(f"{sample.title} · {sample.shows}") for sample in SAMPLES) <= 42
    assert min(len(sample.shows) for sample in SAMPLES) >= 5


@each_key
def test_sample_is_clean_text_of_readable_length(key: str) -> None:
    text = (SAMPLES_FOLDER / f"{key}.txt").read_bytes().decode("utf-8")
    assert text == by_key(key).text
    is_short = key in SHORT + PUZZLES
    assert (1 if is_short else 600) <= len(text) <= (200 if is_short else 2500)
    # The last line break of the default text would be a token of its own, and tell nothing.
    assert text.endswith("\n") != (key in ("seashells", "yao-ming", *PUZZLES))
    assert not text.endswith("\n\n")
    assert "\0" not in text
    assert "\r" not in text
    assert not text.startswith("\ufeff")
    assert not any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize("key", [key for key in KEYS if key != ODD])
def test_only_the_unicode_sample_has_invisible_or_decomposed_characters(key: str) -> None:
    text = by_key(key).text
    assert unicodedata.is_normalized("NFC", text)
    # Every character is a letter, mark, number, punctuation, symbol, plain space or line break.
    assert [c for c in text if unicodedata.category(c)[0] in "CZ" and c not in " \n"] == []


# Contents of the samples


def test_first_sample_differs_under_published_tokenizers() -> None:
    text = by_key("seashells").text
    training = train(text, vocab_size=1024, min_count=2)
    tokenizer = training.tokenizer()
    assert training.steps == 22
    loaded = (tokenizer, *map(load, ("gpt2", "cl100k_base", "o200k_base")))
    assert [len(one.encode(text)) for one in loaded] == [56, 52, 49, 47]
    assert len(text.encode()) == 168
    cut = [[token.label for token in one.tokens(" seashells seashore")] for one in loaded[:3]]
    assert cut == [
        ["·seashells", "·seashore"],
        ["·seas", "hell", "s", "·se", "ash", "ore"],
        ["·se", "ash", "ells", "·se", "ash", "ore"],
    ]
    for one in loaded:
        assert len(one.encode("🐚")) > 1


@pytest.mark.parametrize(
    ("key", "gpt2", "cl100k"),
    [
        ("strawberry", "st|raw|berry", "str|aw|berry"),
        ("which-is-larger", "·9|.|11", "·|9|.|11"),
        ("date", "20|24|-|02|-|29", "202|4|-|02|-|29"),
        ("long-number", "123|45|67|89|01|23", "123|456|789|012"),
        ("capitals", "·TO|KEN|IZ|ATION", "·TOKEN|IZATION"),
        ("trailing-spaces", "·world|·|·|·|↵", "·world|···↵"),
    ],
)
def test_puzzles_differ_under_published_tokenizers(key: str, gpt2: str, cl100k: str) -> None:
    for name, tokens in (("gpt2", gpt2), ("cl100k_base", cl100k)):
        shown = "|".join(token.label for token in load(name).tokens(by_key(key).text))
        assert tokens in shown


# Words with counts


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        ("low 5", "low low low low low\n"),
        ("low 25", "low " * 24 + "low\n"),
        ("low 2\nlower 1", "low low\nlower\n"),
        ("", ""),
        ("\n  \n", ""),
        ("\n  low\t \t 2  \r\n\nnew 1\n", "low low\nnew\n"),
        ("low 02", "low low\n"),
        ("7 2", "7 7\n"),
        ("naïve 1\n👩‍👧 2\nسلام 1", "naïve\n👩‍👧 👩‍👧\nسلام\n"),
    ],
)
def test_written_out_repeats_words_by_count(listed: str, text: str) -> None:
    assert expand_counts(listed, counted=True, most=len(text), tell=pytest.fail) == text


@pytest.mark.parametrize(
    ("listed", "line"),
    [
        *((wrong, 1) for wrong in ("low", "5", "low 5 times", "two words 5", "low -5", "low 5.0")),
        *((wrong, 1) for wrong in ("low ٥", "low ²", "low 0", "low " + "9" * 5_000, "low 26")),
        ("a\u00a0b 2", 1),  # white space of any kind separates words
        ("low 5\n\nnew", 3),
        ("low 1\nnew 1000000000", 2),
        ("low 20\nnew 5\nno 1", 3),
        ("low 999999999\n" * 1_000, 1),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_invalid_word_counts_are_refused_with_their_line(listed: str, line: int) -> None:
    message = refusal(written_out, listed, 100)
    assert re.search(rf"line {line}\b", message, re.IGNORECASE)
    assert len(message) < 300

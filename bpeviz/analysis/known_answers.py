"""Comparisons of the engine with printed figures and with other implementations.

Each comparison runs when it is called, so its result is that of the installed version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bpeviz
from bpeviz.core import tiktoken_engine
from bpeviz.core.library_pool import LibraryError
from bpeviz.core.training import MergeTraining, Training
from bpeviz.corpus import samples
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretrained import download

DON_QUIJOTE = (
    "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía "
    "un hidalgo de los de lanza en astillero"
)
"""The opening of Don Quijote, of 130 characters."""

HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
NEWEST = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


@dataclass(frozen=True)
class Comparison:
    """A figure from outside the project, and the function that computes it here.

    Attributes:
        what: The text and the settings.
        source: The origin of the expected result.
        expected: The expected result.
        compute: Returns the result of the engine.
        needs: The published vocabulary that it needs.
    """

    what: str
    source: str
    expected: str
    compute: Callable[[], str]
    needs: str | None = None


@dataclass(frozen=True)
class Compared:
    """A comparison with the result of the engine, or None with the reason why there is none."""

    comparison: Comparison
    found: str | None
    missing: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the result is the expected one."""
        return self.found == self.comparison.expected


def compare(comparison: Comparison, compute: Callable[[], str] | None = None) -> Compared:
    """Run a comparison; `compute` may return a cached result of it."""
    if comparison.needs is not None and not download.available(comparison.needs):
        return Compared(comparison, None, "the vocabulary is not on this machine")
    try:
        return Compared(comparison, (compute or comparison.compute)())
    except LibraryError as error:
        return Compared(comparison, None, str(error))


def _new_tokens(training: Training) -> str:
    assert isinstance(training, MergeTraining)  # noqa: S101 (for the type)
    return " ".join(training.name(merge.new_id) for merge in training.merges)


def _ids(text: str, tokenizer: bpeviz.Tokenizer) -> str:
    return " ".join(map(str, tokenizer.encode(text)))


def _labels(text: str, tokenizer: bpeviz.Tokenizer) -> str:
    return " ".join(token.label for token in tokenizer.tokens(text))


def _minbpe() -> str:
    return _ids("aaabdaaabac", bpeviz.train("aaabdaaabac", merges=3, pattern="none").tokenizer())


def _first_merge() -> str:
    training = bpeviz.train(DON_QUIJOTE, merges=1, pattern="none")
    (merge,) = training.decisions
    tokenizer = training.tokenizer()
    tokens = len(tokenizer.encode(DON_QUIJOTE))
    return f"{training.name(256)}, {merge.count} times, {tokens} tokens"


def _loop(merges: int, least: int = 1) -> Callable[[], str]:
    def compute() -> str:
        training = bpeviz.train(DON_QUIJOTE, merges=merges, pattern="none", min_count=least)
        counts = training.tokenizer().boundaries(DON_QUIJOTE).token_counts
        return f"{training.steps} merges, {counts[-1]} tokens"

    return compute


def _hugs() -> str:
    return _new_tokens(bpeviz.train(HUGS, merges=3, pattern="none", atoms="characters"))


def _newest(end_mark: str) -> Callable[[], str]:
    def compute() -> str:
        training = bpeviz.train(
            NEWEST, merges=10, pattern="none", atoms="characters", end_mark=end_mark
        )
        return _new_tokens(training)

    return compute


def _wordpiece() -> str:
    text = "prueba de tokens"
    training = bpeviz.train(text, "wordpiece", merges=100, pattern="whitespace")
    return _labels("pruebas de otro ejemplo", training.tokenizer())


def _published(name: str, text: str) -> Callable[[], str]:
    return lambda: _ids(text, bpeviz.load(name))


def _pieces(text: str, pattern: str) -> Callable[[], str]:
    return lambda: " ".join(one.replace(" ", "·") for one in pretokenize(text, pattern))


def _tiktoken() -> str:
    """Encode all sample texts by merges, and by tiktoken's engine with the trained ranks."""
    agreeing = 0
    for sample in samples.SAMPLES:
        training = bpeviz.train(sample.text, vocab_size=400)
        tokenizer = training.tokenizer()
        ranks = [tokenizer.token_bytes(one) for one in range(tokenizer.vocab_size)]
        encode = tiktoken_engine.encoder(ranks)
        if encode is None:
            continue
        pieces = pretokenize(sample.text, "gpt2")
        theirs = [one for piece in pieces for one in encode(piece.encode())]
        agreeing += theirs == tokenizer.boundaries(sample.text).ids(training.steps).tolist()
    return f"{agreeing} of {len(samples.SAMPLES)} texts"


COMPARISONS = (
    Comparison(
        "aaabdaaabac, bytes, 3 merges: ids",
        "minbpe, tests/test_tokenizer.py, after Wikipedia's article on BPE",
        "258 100 258 97 99",
        _minbpe,
    ),
    Comparison(
        "Opening of Don Quijote, bytes: first merge",
        "the notebook that this project grew from",
        "o·, 7 times, 124 tokens",
        _first_merge,
    ),
    Comparison(
        "Opening of Don Quijote, 20 merges",
        "the naive loop of the project's tests; a notebook prints 79, with 21 merges and id 256 "
        "twice",
        "20 merges, 81 tokens",
        _loop(20),
    ),
    Comparison(
        "Opening of Don Quijote, minimum count 2",
        "the naive loop of the project's tests",
        "14 merges, 87 tokens",
        _loop(20, 2),
    ),
    Comparison(
        "hug 10, pug 5, pun 12, bun 4, hugs 5: new tokens",
        "Hugging Face course, chapter 6.5",
        "ug un hug",
        _hugs,
    ),
    Comparison(
        "low 5, lower 2, newest 6, widest 3, </w> a symbol of its own",
        "Sennrich, Haddow and Birch 2016, Algorithm 1",
        "es est est</w> lo low ne new newest</w> low</w> wi",
        _newest("symbol"),
    ),
    Comparison(
        "The same words, </w> part of the last letter",
        "subword-nmt 0.2 and later, with ties by first pair seen",
        "es est</w> lo ne new newest</w> low</w> wi wid widest</w>",
        _newest("attached"),
    ),
    Comparison(
        "WordPiece on “prueba de tokens”: pruebas de otro ejemplo",
        "the notebook that this project grew from",
        "prueba ##s de [UNK] [UNK]",
        _wordpiece,
    ),
    Comparison(
        "GPT-2's pattern: Do you know where my 1st dog is?",
        "tiktoken, openai_public.py",
        "Do ·you ·know ·where ·my ·1 st ·dog ·is ?",
        _pieces("Do you know where my 1st dog is?", "gpt2"),
    ),
    Comparison(
        "All sample texts, 400 entries: merges in order, and tiktoken's engine",
        "tiktoken, run now with the trained ranks",
        f"{len(samples.SAMPLES)} of {len(samples.SAMPLES)} texts",
        _tiktoken,
    ),
    Comparison(
        "GPT-2: hello world",
        "tiktoken, tests/test_encoding.py",
        "31373 995",
        _published("gpt2", "hello world"),
        "gpt2",
    ),
    Comparison(
        "GPT-2: four spaces and hello world!!!",
        "Karpathy, Let's build the GPT Tokenizer, notebook",
        "220 220 220 23748 995 10185",
        _published("gpt2", "    hello world!!!"),
        "gpt2",
    ),
    Comparison(
        "cl100k: four spaces and hello world!!!",
        "Karpathy, Let's build the GPT Tokenizer, notebook",
        "262 24748 1917 12340",
        _published("cl100k_base", "    hello world!!!"),
        "cl100k_base",
    ),
    Comparison(
        "cl100k: 'rer",
        "tiktoken, tests/test_encoding.py",
        "2351 81",
        _published("cl100k_base", "'rer"),
        "cl100k_base",
    ),
    Comparison(
        "cl100k: 👍",
        "tiktoken, tests/test_encoding.py",
        "9468 239 235",
        _published("cl100k_base", "👍"),
        "cl100k_base",
    ),
)
"""All comparisons. Ties go to the first pair seen unless a row names another rule."""

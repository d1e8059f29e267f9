"""What holds of every figure: its definition, of any text, lines or documents, and many texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import reference_comparison
import reference_fairness
import regex
from helpers.properties import many
from helpers.texts import ANY_TEXT
from helpers.trainings import trained
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.analysis import intervals
from bpeviz.analysis.compared_text import FIGURES, TOTALS, ComparedText
from bpeviz.analysis.comparison import Comparison, has_no_spaces, parallel_texts
from bpeviz.analysis.figures import OF_TEXT, measure
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.core.merges import MergeTokenizer
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents, breaks_of
from bpeviz.text import split_lines

Text = str | Documents
Interval = tuple[int, int]

TOKENIZERS: dict[str, Tokenizer] = {
    "atoms": trained("bpe", merges=0).tokenizer(),
    "bpe": trained("bpe").tokenizer(),
    "drops": trained("wordpiece").tokenizer(),
    "marks": trained("bpe", atoms="characters", end_mark="symbol").tokenizer(),
    "before": trained("sentencepiece").tokenizer(),
    "unknown": trained("unigram", atoms="characters").tokenizer(),
    "special": trained("bpe", merges=3, special_tokens=("<s>",)).tokenizer(),
}
PLAIN = ["", " ", "?!", "a river", "low  lower\tlow", " low low ", "Ωδή", "é 👋 世界", "e\u0301té"]
LINES = st.lists(st.sampled_from(PLAIN), max_size=14)
ANY = ANY_TEXT | LINES.map("\n".join) | LINES.map(Documents.of)
PAIR = st.lists(st.sampled_from([*TOKENIZERS]), min_size=2, max_size=3, unique=True)


class Slow:
    """A text under a tokenizer: the bytes and the id of each token, document by document."""

    def __init__(self, text: Text, tokenizer: Tokenizer, around: int = 0) -> None:
        self.tokenizer = tokenizer
        self.documents = text.texts if isinstance(text, Documents) else (text,)
        self.text = "\n".join(self.documents)
        is_list = isinstance(text, Documents)
        self.special = around * sum(bool(each) or not is_list for each in self.documents)
        self.size = len("".join(self.documents).encode())
        self.tokens: list[tuple[int, int, int]] = []
        self.dropped, start = 0, 0
        for document in self.documents:
            boundaries = tokenizer.boundaries(document)
            ids = boundaries.ids(boundaries.steps).tolist()
            ends = [start, *(start + boundaries.cuts(boundaries.steps)).tolist()]
            for (begin, end), token_id in zip(pairwise(ends), ids, strict=True):
                if token_id == DROPPED_ID:
                    self.dropped += end - begin
                else:
                    self.tokens.append((begin, end, token_id))
            start += len(document.encode()) + 1

    @property
    def number(self) -> int:
        return sum(len(self.tokenizer.encode(each)) for each in self.documents) + self.special

    def per_token(self, amount: int) -> float | None:
        return amount / self.number if self.number else None

    @cached_property
    def pieces(self) -> list[int]:
        """The number of pieces of each word: a letter or digit, with those and marks after it."""
        words: list[Interval] = []
        at, word = 0, None
        for character in f"{self.text}\n":
            if word is None and regex.match(r"[\p{L}\p{N}]", character):
                word = at
            elif word is not None and not regex.match(r"[\p{L}\p{N}\p{M}]", character):
                words.append((word, at))
                word = None
            at += len(character.encode())
        places = {place for begin, end, _ in self.tokens for place in (begin, end)}
        return [1 + sum(start < place < end for place in places) for start, end in words]

    @cached_property
    def gaps(self) -> list[Interval]:
        """The boundaries: from the end of each token with bytes to the beginning of the next."""
        covering = [token for token in self.tokens if token[0] < token[1]]
        return [(left[1], right[0]) for left, right in pairwise(covering)]

    def shared(self, other: Slow) -> float:
        """Return the share of the boundaries that another tokenizer has, or leaves out."""
        covering = [token for token in other.tokens if token[0] < token[1]]
        first, last = (covering[0][0], covering[-1][1]) if covering else (0, len(other.raw))
        has = [
            start <= first or end >= last or any(a <= end and start <= b for a, b in other.gaps)
            for start, end in self.gaps
        ]
        return float(np.mean(has)) if has else 1.0

    @property
    def raw(self) -> bytes:
        return self.text.encode()

    def f1(self, other: Slow) -> float:
        precision, recall = self.shared(other), other.shared(self)
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    @property
    def unknown(self) -> int:
        return sum(token_id == UNKNOWN_ID for *_, token_id in self.tokens)

    @property
    def ends(self) -> set[int]:
        return {end for _, end, _ in self.tokens} - {0}


DEFINITIONS: dict[str, Callable[[Slow, Slow], float | None]] = {
    "tokens": lambda own, _: own.number,
    "bytes_per_token": lambda own, _: own.per_token(own.size),
    "characters_per_token": lambda own, _: own.per_token(len("".join(own.documents))),
    "dropped": lambda own, _: own.dropped,
    "tokens_per_word": lambda own, _: float(np.mean(own.pieces)) if own.pieces else None,
    "whole_words": lambda own, _: np.mean([n == 1 for n in own.pieces]) if own.pieces else None,
    "distinct": lambda own, _: len({token_id for *_, token_id in own.tokens}),
    "vocab_size": lambda own, _: own.tokenizer.vocab_size - len(own.tokenizer.special_tokens),
    "precision": Slow.shared,
    "recall": lambda own, other: other.shared(own),
    "f1": Slow.f1,
    "aligned_spans": lambda own, other: len(own.ends & other.ends),
    "cost": lambda own, _: own.number * 2.5 / 1e6,
}


def column(name: str, text: Text) -> Column:
    tokenizer = TOKENIZERS[name]
    boundaries = tokenizer.boundaries(text)
    return Column(name, tokenizer, boundaries, boundaries.steps, name, breaks_of(text))


@many(100, least=50)
@given(ANY, PAIR)
def test_figures_of_a_text_equal_their_definitions(text: Text, names: list[str]) -> None:
    assert DEFINITIONS.keys() == {figure.key for figure in OF_TEXT}
    columns = [column(name, text) for name in names]
    slow = [Slow(text, TOKENIZERS[name]) for name in names]
    measured = measure(text, columns, 1, dict.fromkeys(names, 2.5))
    for part, own in zip(measured, slow, strict=True):
        for figure in OF_TEXT:
            value, expected = figure.of(part), DEFINITIONS[figure.key](own, slow[1])
            assert value == (None if expected is None else pytest.approx(expected)), figure.key
            assert figure.text(value)


# ---- many texts


def rows_of(text: Text, tokenizer: Tokenizer, special: int) -> list[int]:
    """Return the tokens of each line that is not blank, or of each document and around it."""
    if isinstance(text, Documents):
        return [len(tokenizer.encode(each)) + special for each in text.texts if each.strip()]
    if not text.strip():
        return []
    starts = [token.start for token in tokenizer.tokens(text)]
    return reference_comparison.tokens_by_line(text, starts)


def parallel(text: Text, base: Text, tokenizer: Tokenizer, special: int) -> list[Interval]:
    """Return the tokens of parallel lines, each encoded alone, without those that are blank."""
    lines, others = (
        each.texts
        if isinstance(each, Documents)
        else [line.removesuffix("\r") for line in split_lines(each)]
        for each in (text, base)
    )
    around = special * (isinstance(text, Documents) and isinstance(base, Documents))
    return [
        (len(tokenizer.encode(own)) + around, len(tokenizer.encode(other)) + around)
        for own, other in zip(lines, others, strict=False)
        if len(lines) == len(others) and own.strip() and other.strip()
    ]


def close(value: Any, less: int = 0) -> Any:
    return None if value is None else pytest.approx(float(value) - less)


SEED, RESAMPLES = 3, 40
LONGER = st.lists(st.sampled_from(PLAIN), min_size=13, max_size=18)
TEXTS = st.one_of(
    st.tuples(LONGER, LONGER).map(lambda both: tuple("\n".join(each) for each in both)),
    st.tuples(LONGER, LONGER).map(lambda both: tuple(map(Documents.of, both))),
    st.tuples(ANY, ANY),
)


@many(100, least=30)
@given(TEXTS, PAIR, st.booleans())
def test_comparisons_equal_their_definitions(
    both: tuple[Text, Text], names: list[str], is_special: bool
) -> None:
    texts = dict(zip(("base", "other"), both, strict=True))
    tokenizers = {name: TOKENIZERS[name] for name in names}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "SEED", SEED)
        patch.setattr(intervals, "RESAMPLES", RESAMPLES)
        patch.setattr(MergeTokenizer, "template", ((1,), (2, 3)))
        added = {
            name: is_special * sum(map(len, tokenizer.template))
            for name, tokenizer in tokenizers.items()
        }
        compared = bpeviz.compare(
            texts, tokenizers, "base", special_tokens=is_special, prices=dict.fromkeys(names, 2.5)
        )
    slow = {
        name: {key: Slow(text, tokenizer, added[key]) for key, tokenizer in tokenizers.items()}
        for name, text in texts.items()
    }
    for name, text in texts.items():
        rows = [row for row in compared.rows if row.text == name]
        assert [row.tokenizer for row in rows] == names
        for row in rows:
            own = slow[name][row.tokenizer]
            check_row(row, own)
            is_lossy = own.unknown or slow["base"][row.tokenizer].unknown
            lines = parallel(text, texts["base"], own.tokenizer, added[row.tokenizer])
            exact = reference_comparison.premium([] if is_lossy else lines, SEED, RESAMPLES)
            assert row.lines == len(lines)
            assert [row.premium, row.low, row.high] == [*map(close, exact)]
        check_differences(rows, text, slow[name], added)
    check_totals(compared, slow)


def check_row(row: ComparedText, own: Slow) -> None:
    for key in FIGURES.keys() & DEFINITIONS.keys() - {"tokens_per_word"}:
        assert getattr(row, key) == close(DEFINITIONS[key](own, own)), key
    pieces = [] if has_no_spaces(own.text) else own.pieces
    assert row.tokens_per_word == close(np.mean(pieces) if pieces else None)
    assert row.whole_words == close(np.mean([n == 1 for n in pieces]) if pieces else None)
    assert row.unknown == own.unknown


def check_differences(
    rows: Sequence[ComparedText], text: Text, slow: dict[str, Slow], added: dict[str, int]
) -> None:
    """Check differences from the best other tokenizer, with their intervals."""
    is_lossy = {name: own.unknown or DEFINITIONS["dropped"](own, own) for name, own in slow.items()}
    fair = {name: own.number for name, own in slow.items() if not is_lossy[name]}
    counts = fair or {name: own.number for name, own in slow.items()}
    lines = {name: rows_of(text, own.tokenizer, added[name]) for name, own in slow.items()}
    for row in rows:
        others = [name for name, count in counts.items() if count and name != row.tokenizer]
        if row.tokenizer not in counts or not others:
            assert (row.difference, row.difference_low, row.difference_high) == (None,) * 3
            assert not row.best or row.tokenizer in counts
            continue
        least = min(others, key=counts.__getitem__)
        assert row.difference == close(Fraction(counts[row.tokenizer], counts[least]), 1)
        if isinstance(text, str) and any(added.values()):
            continue  # tokens in no line
        of_others = {
            name: reference_comparison.ratio(
                [*zip(lines[row.tokenizer], lines[name], strict=True)], SEED, RESAMPLES
            )
            for name in others
        }
        ends = [close(end, 1) for end in of_others[least][1:]]
        assert [row.difference_low, row.difference_high] == ends
        rivals = [of_others[name][2] for name in others if counts[name] > counts[row.tokenizer]]
        is_clear = all(high is None or high < 1 for high in rivals)
        if row.tokens == min(counts.values()) and len(counts) == len({*counts.values()}):
            assert row.best == is_clear


def check_totals(compared: Comparison, slow: dict[str, dict[str, Slow]]) -> None:
    assert TOTALS.keys() == {
        *("gini", "worst_premium", "renyi_efficiency", "used_vocabulary", "whole_words")
    }
    for total in compared.tokenizers:
        of_texts = [of_text[total.tokenizer] for of_text in slow.values()]
        premiums = [row.premium for row in compared.rows if row.tokenizer == total.tokenizer]
        known = np.array([premium for premium in premiums if premium is not None])
        assert total.tokens == sum(own.number for own in of_texts)
        assert total.cost == close(total.tokens * 2.5 / 1e6)
        mean = (
            np.abs(known[:, None] - known).mean() / (2 * known.mean()) if len(known) > 1 else None
        )
        assert total.gini == close(mean)
        assert total.worst_premium == close(max(known) if len(known) > 1 else None)
        assert total.worst_text in ("", *slow)
        ids = [token_id for own in of_texts for *_, token_id in own.tokens]
        size = len([*of_texts[0].tokenizer.known_ids()])
        evenness = reference_fairness.renyi_efficiency(ids, size) if ids else None
        assert total.renyi_efficiency == close(evenness)
        assert total.used_vocabulary == close(len({*ids}) / size)
        pieces = [n for own in of_texts if not has_no_spaces(own.text) for n in own.pieces]
        whole = np.mean([n == 1 for n in pieces]) if pieces else None
        assert total.whole_words == close(whole)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([], []),
        ([3], []),
        ([3, 3], [0, 1]),
        ([1, 1], [0, 1]),
        ([3, 4], []),
        ([3, 3, 4], [0, 1]),
        ([3, 3, 4, 5], [0, 1]),
        ([3, 3, 4, 5, 6], []),
        ([3, 3, 3, 4, 5], [0, 1, 2]),
        ([1, 1, 2], []),
    ],
)
def test_texts_are_parallel_if_half_of_them_have_as_many_lines(
    numbers: list[int], expected: list[int]
) -> None:
    texts = {str(i): "a\n" * number for i, number in enumerate(numbers)}
    assert parallel_texts(texts)[1] == [*map(str, expected)]

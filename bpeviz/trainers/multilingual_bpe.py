"""Byte-pair encoding over several texts, so that a small one is not drowned by a large one.

Sources: Devlin et al., the README of multilingual BERT, 2018 (the share of each language is raised
to the power of 0.7); Conneau and Lample, "Cross-lingual Language Model Pretraining", 2019,
arXiv:1901.07291, section 3.1 (0.5); Conneau et al., 2020, arXiv:1911.02116 (0.3).

Text i has n_i bytes, a share p_i = n_i / Σ n of all. Raised to a power alpha from 1 to 0 and made
to sum to 1 again, the shares draw nearer to each other: q_i ∝ p_i ** alpha. With alpha = 1 they
are as they were, with 0 all are equal. The sources draw sentences by these shares; here nothing is
drawn: each occurrence in text i simply counts

    f_i ∝ q_i / p_i, which is (n_largest / n_i) ** (1 - alpha), at least 1

times. So that counts stay whole numbers, the factors are taken in hundredths (the largest text's
is 100) and then divided by what they have in common: 100 and 200 become 1 and 2. Counts are sums
of these. Then pairs are merged as ever (`bpeviz.trainers.bpe`).

A line of three dashes parts the texts. It belongs to none: its characters are never merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import Any, cast

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import MergeTraining
from bpeviz.pretokenizers.pretokenizer import UNKNOWN, Atoms, PreTokenizer
from bpeviz.text import clean
from bpeviz.trainers.base import Corpus, Option, Trainer, collector_off
from bpeviz.trainers.bpe import alphabet_of, merge_limit, train_merges_fast, weighted_pre_tokens
from bpeviz.trainers.screen import Detail, Texts

SMOOTHING = {
    "1.0": "As they are",
    "0.7": "To the power of 0.7 (multilingual BERT)",
    "0.5": "To the power of 0.5 (XLM)",
    "0.3": "To the power of 0.3 (XLM-R)",
    "0.0": "All equal",
}
"""The powers to which shares may be raised."""

_SEPARATOR = regex.compile(r"^---[ \t\r]*+(?:\n|\Z)", regex.MULTILINE)


@dataclass(frozen=True)
class Share:
    """What a text has of all texts, and of the vocabulary.

    size: in bytes. share: of all texts' bytes. factor: how often each occurrence in it counts.
    smoothed: its share of what is counted. tokens: how many it has.
    used: how many of the learnt tokens are among them; alone: how many of these in no other text.
    learnt: how many learnt tokens there are.
    """

    name: str
    size: int
    share: float
    factor: int
    smoothed: float
    tokens: int
    used: int
    alone: int
    learnt: int


def texts(text: str) -> list[tuple[str, bool]]:
    """Cut a text at its lines of three dashes; tell for each part whether it is such a line.

    >>> texts("one\\n---\\ntwo")
    [('one\\n', False), ('---\\n', True), ('two', False)]
    """
    parts: list[tuple[str, bool]] = []
    end = 0
    for match in _SEPARATOR.finditer(text):
        if match.start() > end:
            parts.append((text[end : match.start()], False))
        parts.append((match.group(), True))
        end = match.end()
    if end < len(text):
        parts.append((text[end:], False))
    return parts


def factors(sizes: Sequence[int], alpha: float) -> list[int]:
    """Return how often each occurrence in texts of these sizes counts.

    >>> factors([400, 100], 1.0), factors([400, 100], 0.5), factors([300, 200], 0.0)
    ([1, 1], [1, 2], [2, 3])
    """
    largest = max(sizes, default=0)
    powers = [(largest / size) ** (1 - alpha) for size in sizes]
    # Rounded to millionths first: the last bit of a power must not decide.
    hundredths = [round(round(100 * power, 6)) for power in powers]
    common = reduce(gcd, hundredths, 0)
    return [times // common for times in hundredths]


@dataclass(frozen=True)
class Part:
    """A part of what was given: its text, its bytes, and how often each occurrence counts.

    counted: whether it is a text of its own. (What parts the texts is none, with the factor 0.)
    """

    text: str
    size: int
    factor: int
    counted: bool


def weighed(text: str, alpha: float) -> list[Part]:
    """Cut what was given into its texts, with the factor of each.

    A part of white space only is no text of its own: it has no share, and counts as the largest.
    """
    cut = texts(text)
    sizes = [len(part.encode()) for part, _ in cut]
    counted = [i for i, (part, between) in enumerate(cut) if not between and not part.isspace()]
    factor = dict(zip(counted, factors([sizes[i] for i in counted], alpha), strict=True))
    least = min(factor.values(), default=1)
    return [
        Part(part, sizes[i], 0 if between else factor.get(i, least), i in factor)
        for i, (part, between) in enumerate(cut)
    ]


@dataclass(frozen=True)
class MultilingualSplitting(PreTokenizer):
    """Splits each text by itself; each character of a line of three dashes stands alone."""

    def pre_tokens(self, text: str) -> list[str]:
        pre_tokens: list[str] = []
        for part, between in texts(text):
            pre_tokens += part if between else super().pre_tokens(part)
        return pre_tokens


@dataclass(frozen=True)
class MultilingualTraining(MergeTraining):
    """What was learnt from several texts, with the power to which their shares were raised."""

    smoothing: str = "1.0"

    weighted = True

    def weights(self, text: str) -> NDArray[np.int64]:
        """Return the factor of the text in which each atom stands; 0 between texts."""
        parts, part_of = self._parts(text)
        return np.array([part.factor for part in parts], np.int64)[part_of]

    def _parts(self, text: str) -> tuple[list[Part], NDArray[np.int64]]:
        """Return the parts of a text, and for each atom the number of its part. int64 [atoms]."""
        text = clean(text)
        parts = weighed(text, float(self.smoothing))
        if self.pre_tokenizer.atoms == "bytes":
            atoms = [part.size for part in parts]
        else:
            atoms = [len(part.text) for part in parts]
        return parts, np.repeat(np.arange(len(parts)), atoms)

    def shares(self, text: str, step: int, boundaries: Boundaries | None = None) -> list[Share]:
        """Return what each text has of all, and of the vocabulary after `step` merges.

        text: that was learnt from; boundaries: of it, under the last tokenizer or that of this
        step. A token that was merged on wherever it stood is used by no text.
        """
        if boundaries is None:
            boundaries = self.at_step(step).boundaries(text)
        parts, part_of = self._parts(text)
        ids = boundaries.ids(step)
        at = part_of[boundaries.token_ends(step) - 1]
        merged = ids >= len(self.alphabet)
        counted = [i for i, part in enumerate(parts) if part.counted]
        used = {i: set(ids[(at == i) & merged].tolist()) for i in counted}
        in_texts = Counter(token for tokens in used.values() for token in tokens)
        size = sum(parts[i].size for i in counted)
        weight = sum(parts[i].size * parts[i].factor for i in counted)
        return [
            Share(
                name=f"Text {number}",
                size=parts[i].size,
                share=parts[i].size / size,
                factor=parts[i].factor,
                smoothed=parts[i].size * parts[i].factor / weight,
                tokens=int(np.count_nonzero(at == i)),
                used=len(used[i]),
                alone=sum(in_texts[token] == 1 for token in used[i]),
                learnt=min(step, len(self.merges)),
            )
            for number, i in enumerate(counted, 1)
        ]


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    atoms: Atoms = "bytes",
    smoothing: str = "0.5",
) -> MultilingualTraining:
    """Learn byte-pair merges from several texts, parted by lines of three dashes.

    Pre-tokens with counts are one text. vocab_size counts atoms and merges; give it or `merges`, not
    both. smoothing: the power to which the texts' shares are raised, a key of `SMOOTHING`. Raises
    `ValueError`, whose message is a sentence, for values that make no sense, and `SplitError`
    (one of them) for a bad split.
    """
    if atoms not in ("bytes", "characters"):
        raise ValueError(f"There are no atoms {atoms!r}: take bytes or characters.")
    if smoothing not in SMOOTHING:
        raise ValueError(f"The smoothing must be {', '.join(SMOOTHING)}, not {smoothing!r}.")
    if len({*special_tokens}) < len(special_tokens) or {"", UNKNOWN} & {*special_tokens}:
        raise ValueError(f"Special tokens must differ, and be neither empty nor {UNKNOWN}.")
    pre_tokenizer = MultilingualSplitting(atoms, pattern, expression)
    if isinstance(corpus, str):
        # The same pre-token in two texts adds up: it is one row, with the sum of both.
        pre_tokens: Counter[str] = Counter()
        for part in weighed(clean(corpus), float(smoothing)):
            for pre_token in pre_tokenizer.pre_tokens(part.text):
                pre_tokens[pre_token] += part.factor
        rows = [
            (pre_tokenizer.symbols(pre_token), times) for pre_token, times in pre_tokens.items()
        ]
    else:
        counted = weighted_pre_tokens(corpus, pre_tokenizer)
        rows = [(pre_tokenizer.symbols(pre_token), times) for pre_token, times in counted.items()]
    alphabet = alphabet_of((row for row, _ in rows), pre_tokenizer)
    limit = merge_limit(vocab_size, merges, len(alphabet), atoms)
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}
    with collector_off():
        learnt, stopped = train_merges_fast(
            [([atom_id[symbol] for symbol in row], times) for row, times in rows],
            alphabet,
            limit,
        )
    return MultilingualTraining(
        "multilingual", pre_tokenizer, alphabet, stopped, special_tokens, tuple(learnt), smoothing
    )


def _details(
    training: MultilingualTraining, text: str, boundaries: Boundaries, step: int
) -> list[Detail]:
    """Return what each text has of the vocabulary."""
    shares = training.shares(text, step, boundaries)
    return [
        Detail(
            "the share of each text",
            "How much of all bytes each text has, how often each pair in it counts, what its "
            "share is then, and how many of the learnt tokens stand in it, or in it alone.",
            {
                "text": [one.name for one in shares],
                "bytes": [one.size for one in shares],
                "share": [f"{one.share:.1%}" for one in shares],
                "counts": [f"{one.factor} ×" for one in shares],
                "smoothed share": [f"{one.smoothed:.1%}" for one in shares],
                "tokens": [one.tokens for one in shares],
                "learnt tokens in it": [one.used for one in shares],
                "of all learnt": [
                    f"{one.used / one.learnt:.1%}" if one.learnt else "–" for one in shares
                ],
                "in it alone": [one.alone for one in shares],
            },
        )
    ]


TRAINER = Trainer(
    key="multilingual",
    title="BPE over several texts",
    short="BPE over texts",
    about="BPE that learns from several languages, whose texts stand between lines of three "
    "dashes. What stands in a small text counts more, so that a large one does not drown it.",
    source="Devlin et al. 2018, multilingual BERT; Conneau and Lample 2019, arXiv:1901.07291; "
    "Conneau et al. 2020, arXiv:1911.02116",
    train=cast(Any, train),
    options=(
        Option(
            "atoms",
            "Start from",
            "Bytes: the texts in UTF-8. There are 256 different ones, so nothing is ever unknown. "
            "Characters: those of the texts.",
            "bytes",
            {"bytes": "Bytes", "characters": "Characters"},
        ),
        Option(
            "smoothing",
            "Shares of the texts",
            "Each text's share of all bytes is raised to this power. The smaller the power, the "
            "closer the shares are, and the more a pair in a small text counts.",
            "0.5",
            SMOOTHING,
        ),
    ),
    texts=Texts(
        rule="The pairs with the highest weighted count before merge {step}: a pair in a small "
        "text counts more than one in a large text. The table of shares, below, gives the factors.",
        curve="weighted count of the pair",
        details=_details,
    ),
)

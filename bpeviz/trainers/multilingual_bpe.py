"""BPE over several texts, with smoothed shares, so that small texts count more.

Sources: Devlin et al., the README of multilingual BERT, 2018 (shares to the power of 0.7); Conneau
and Lample, "Cross-lingual Language Model Pretraining", 2019, arXiv:1901.07291, section 3.1 (0.5);
Conneau et al., 2020, arXiv:1911.02116 (0.3).

Text i has n_i bytes and the share p_i = n_i / Σ n. The smoothed shares are q_i ∝ p_i ** alpha:
alpha = 1 leaves the shares unchanged, alpha = 0 makes them equal. The sources draw sentences by
these shares. This trainer does not draw. It multiplies each count in text i by

    f_i ∝ q_i / p_i, which is (n_largest / n_i) ** (1 - alpha), at least 1

(see `factors`). Then pairs are merged by their weighted counts (`bpeviz.trainers.bpe`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import ClassVar

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import MergeTraining
from bpeviz.corpus.documents import Documents
from bpeviz.pretokenizers.pretokenizer import Atoms, PreTokenizer
from bpeviz.text import clean
from bpeviz.trainers.base import Corpus, Option, Options, Trainer, split_corpus
from bpeviz.trainers.bpe_loop import MergeLoop
from bpeviz.trainers.options import ATOMS
from bpeviz.trainers.pre_tokens import lay_out
from bpeviz.trainers.preparation import PER_ATOM, count_pre_tokens, merge_limit
from bpeviz.trainers.screen_texts import Detail, ScreenTexts

SMOOTHING = {
    "1.0": "Unchanged",
    "0.7": "To the power of 0.7 (multilingual BERT)",
    "0.5": "To the power of 0.5 (XLM)",
    "0.3": "To the power of 0.3 (XLM-R)",
    "0.0": "All equal",
}
"""The exponents of the shares."""


@dataclass(frozen=True, kw_only=True)
class MultilingualOptions(Options):
    """Options of BPE over several texts."""

    atoms: Atoms = ATOMS.field()
    smoothing: str = Option(
        "Shares of the texts",
        "Each text's share of all bytes is raised to this exponent. The smaller the exponent, the "
        "closer the shares, and the more a pair in a small text counts.",
        "0.5",
        SMOOTHING,
    ).field()


def train(corpus: Corpus, options: MultilingualOptions) -> MultilingualTraining:
    """Train BPE over the texts between lines of three dashes, or over groups of documents.

    A mapping of counts is one text.
    """
    atoms, smoothing = options.atoms, options.smoothing
    pre_tokenizer = MultilingualPreTokenizer(atoms, options.pattern, options.expression)
    weighted: list[tuple[Corpus, int]] = [(corpus, 1)]
    if isinstance(corpus, str):
        parts = weighed(clean(corpus), float(smoothing))
        weighted = [(split_corpus(part.text, options.split_at), part.factor) for part in parts]
    elif isinstance(corpus, Documents):
        groups = corpus.groups.values()
        of_groups = weighed_groups(corpus, float(smoothing))
        weighted = [(group, part.factor) for group, part in zip(groups, of_groups, strict=False)]
    counts: Counter[str] = Counter()
    for text, factor in weighted:
        for pre_token, count in count_pre_tokens(text, pre_tokenizer).items():
            counts[pre_token] += count * factor
    alphabet, rows = lay_out(counts, pre_tokenizer)
    limit = merge_limit(options, len(alphabet), PER_ATOM[atoms])
    trained, stopped = MergeLoop(rows, alphabet, limit).train()
    return MultilingualTraining(
        *("multilingual", pre_tokenizer, alphabet, stopped, options.special_tokens),
        *(tuple(trained), smoothing),
    )


def factors(sizes: Sequence[int], alpha: float) -> list[int]:
    """Return the factor of the counts in each of several texts.

    Factors are rounded to hundredths (the largest text has 100) and divided by their greatest
    common divisor, so counts stay integers.

    >>> factors([400, 100], 1.0), factors([400, 100], 0.5), factors([300, 200], 0.0)
    ([1, 1], [1, 2], [2, 3])
    """
    largest = max(sizes, default=0)
    powers = [(largest / size) ** (1 - alpha) for size in sizes]
    # Round to millionths first, so that the last bit of a power does not change the result.
    hundredths = [round(round(100 * power, 6)) for power in powers]
    common = reduce(gcd, hundredths, 0)
    return [factor // common for factor in hundredths]


# --- The texts and their weights -----------------------------------------------------------------

_SEPARATOR = regex.compile(r"^---[ \t\r]*+(?:\n|\Z)", regex.MULTILINE)


def texts(text: str) -> list[tuple[str, bool]]:
    r"""Split a text at its lines of three dashes; return for each part whether it is such a line.

    >>> texts("one\n---\ntwo")
    [('one\n', False), ('---\n', True), ('two', False)]
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


@dataclass(frozen=True)
class WeighedPart:
    """A part of the corpus: a text, white space, or a separator.

    Attributes:
        text: Its characters.
        size: Number of its bytes.
        factor: The factor of its counts; 0 for a separator.
        counted: Whether it is a text with a share.
    """

    text: str
    size: int
    factor: int
    counted: bool


def weighed(text: str, alpha: float) -> list[WeighedPart]:
    """Split a corpus into its texts, with the factor of each.

    A part of only white space is not a text: it has no share, and the factor of the largest text.
    """
    split = texts(text)
    sizes = [len(part.encode()) for part, _ in split]
    counted = [
        i for i, (part, separates) in enumerate(split) if not separates and not part.isspace()
    ]
    factor = dict(zip(counted, factors([sizes[i] for i in counted], alpha), strict=True))
    least = min(factor.values(), default=1)
    return [
        WeighedPart(part, sizes[i], 0 if separates else factor.get(i, least), i in factor)
        for i, (part, separates) in enumerate(split)
    ]


def weighed_groups(documents: Documents, alpha: float) -> list[WeighedPart]:
    """Return the groups of documents with the factor of each, and a part for their line ends."""
    groups = documents.groups
    sizes = [group.size for group in groups.values() if group.size]
    factor = iter(factors(sizes, alpha))
    parts = [
        WeighedPart(title, group.size, next(factor) if group.size else 0, bool(group.size))
        for title, group in groups.items()
    ]
    return [*parts, WeighedPart("\n", 1, 0, False)]


# --- Tokenizer and training history --------------------------------------------------------------


@dataclass(frozen=True)
class MultilingualPreTokenizer(PreTokenizer):
    """Splits each text by itself, and a separator into single characters, which never merge."""

    kind: ClassVar[str] = "multilingual"

    def pre_tokens(self, text: str) -> list[str]:
        pre_tokens: list[str] = []
        for part, separates in texts(text):
            pre_tokens += part if separates else super().pre_tokens(part)
        return pre_tokens


@dataclass(frozen=True)
class TextShare:
    """One text's share of the corpus and of the vocabulary.

    Attributes:
        name: Name on the pages.
        size: Number of its bytes.
        share: Its share of the bytes of all texts.
        factor: The factor of its counts.
        smoothed: Its share of the weighted bytes.
        tokens: The number of its tokens.
        used: The number of distinct trained tokens among them.
        alone: The number of these that occur in no other text.
        trained: The number of all trained tokens.
    """

    name: str
    size: int
    share: float
    factor: int
    smoothed: float
    tokens: int
    used: int
    alone: int
    trained: int


@dataclass(frozen=True, repr=False)
class MultilingualTraining(MergeTraining):
    """Training history of BPE over several texts.

    Attributes:
        smoothing: The exponent of the shares, a key of `SMOOTHING`.
    """

    smoothing: str = "1.0"

    weighted = True

    def weights(self, text: str | Documents) -> NDArray[np.int64]:
        """Return the factor of the text of each atom; 0 in separators. int64 [atoms]."""
        parts, part_of = self._weighed_parts(text)
        return np.array([part.factor for part in parts], np.int64)[part_of]

    def _weighed_parts(self, text: str | Documents) -> tuple[list[WeighedPart], NDArray[np.int64]]:
        """Return the parts of a text, and the index of the part of each atom. int64 [atoms]."""
        if isinstance(text, Documents):
            of_groups = weighed_groups(text, float(self.smoothing))
            return of_groups, text.group_of_atoms(self.pre_tokenizer.atoms)
        parts = weighed(clean(text), float(self.smoothing))
        if self.pre_tokenizer.atoms == "bytes":
            atoms = [part.size for part in parts]
        else:
            atoms = [len(part.text) for part in parts]
        return parts, np.repeat(np.arange(len(parts)), atoms)

    def shares(
        self, text: str | Documents, step: int, boundaries: Boundaries | None = None
    ) -> list[TextShare]:
        """Return each text's share of the corpus, and of the vocabulary after `step` merges.

        Args:
            text: The training text.
            step: Number of merges.
            boundaries: Its boundaries under the last tokenizer or the one of this step.
        """
        if boundaries is None:
            boundaries = self.boundaries(text)
        parts, part_of = self._weighed_parts(text)
        ids = boundaries.ids(step)
        part_of_token = part_of[boundaries.token_ends(step) - 1]
        merged = ids >= len(self.alphabet)
        counted = [i for i, part in enumerate(parts) if part.counted]
        tokens = {i: set(ids[(part_of_token == i) & merged].tolist()) for i in counted}
        n_texts = Counter(token for present in tokens.values() for token in present)
        size = sum(parts[i].size for i in counted)
        weight = sum(parts[i].size * parts[i].factor for i in counted)
        return [
            TextShare(
                name=f"Text {number}",
                size=parts[i].size,
                share=parts[i].size / size,
                factor=parts[i].factor,
                smoothed=parts[i].size * parts[i].factor / weight,
                tokens=int(np.count_nonzero(part_of_token == i)),
                used=len(tokens[i]),
                alone=sum(n_texts[token] == 1 for token in tokens[i]),
                trained=min(step, len(self.merges)),
            )
            for number, i in enumerate(counted, 1)
        ]


# --- On screen -----------------------------------------------------------------------------------


def _details(
    training: MultilingualTraining, text: str | Documents, boundaries: Boundaries, step: int
) -> list[Detail]:
    """Return a table of the texts with their shares of the counts."""

    def table() -> dict[str, Sequence[object]]:
        shares = training.shares(text, step, boundaries)
        return {
            "text": [text.name for text in shares],
            "bytes": [text.size for text in shares],
            "share": [f"{text.share:.1%}" for text in shares],
            "counts": [f"{text.factor} ×" for text in shares],
            "smoothed share": [f"{text.smoothed:.1%}" for text in shares],
            "tokens": [text.tokens for text in shares],
            "trained tokens in it": [text.used for text in shares],
            "of all trained": [
                f"{text.used / text.trained:.1%}" if text.trained else "–" for text in shares
            ],
            "only in it": [text.alone for text in shares],
        }

    return [
        Detail(
            "the share of each text",
            "Each text's share of all bytes, the factor by which a pair in it counts, and the "
            "resulting share. The last columns count the trained tokens in it, or only in it.",
            table,
        )
    ]


TRAINER = Trainer(
    key="multilingual",
    title="BPE over several texts",
    short="BPE over texts",
    rule="join the most frequent pair, counting small texts more",
    gist="small texts count more",
    about="BPE trained on texts in several languages, separated by lines of three dashes. Pairs in "
    "a small text count more, so a large one does not dominate the vocabulary.",
    source="Devlin et al. 2018, multilingual BERT; Conneau and Lample 2019, arXiv:1901.07291; "
    "Conneau et al. 2020, arXiv:1911.02116",
    train=train,
    saved=(MultilingualPreTokenizer,),
    splits_itself=True,
    declares=MultilingualOptions,
    texts=ScreenTexts(
        rule="The pairs with the highest weighted count before merge {step}: a pair in a small "
        "text counts more than one in a large text. The table of shares, below, gives the factors.",
        curve="weighted count of the pair",
        details=_details,
    ),
)

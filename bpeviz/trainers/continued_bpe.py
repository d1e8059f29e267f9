"""Continued BPE: extend an existing vocabulary with merges trained on a new text.

Source: "continued BPE training" in Purason, Chizhov, Yamshchikov and Fishel, "Teaching Old
Tokenizers New Words", 2025, arXiv:2512.03989, without its pruning of old tokens.

An existing tokenizer, the base, tokenizes the text, and BPE merges the most frequent pairs of these
tokens. The new tokens are typical of the domain of the text. The ids of the base do not change, so
a model trained on them can be extended. The authors keep the base's own pre-tokenization; here the
user chooses one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import (
    Boundaries,
    ChangingBoundaries,
    boundaries_from_changes,
    changes_of_merges,
)
from bpeviz.core.fields import InvalidFieldError
from bpeviz.core.merges import Merge, apply_merges
from bpeviz.core.tokenizer import Pieces, Tokenizer, as_pieces
from bpeviz.core.training import Candidate, MergeTraining, Training, count_pairs
from bpeviz.corpus.documents import Documents, documents_of
from bpeviz.pretokenizers.pretokenizer import Atoms, PreTokenizer
from bpeviz.pretrained import catalog, download, rank_tokenizer
from bpeviz.text import clean, color_key, counted, shorten
from bpeviz.trainers import bpe_training
from bpeviz.trainers.base import Corpus, Option, Options, Trainer, split_corpus, texts_of_corpus
from bpeviz.trainers.bpe import TieRule
from bpeviz.trainers.bpe_loop import MergeLoop
from bpeviz.trainers.bpe_training import BpeOptions
from bpeviz.trainers.options import MIN_COUNT, TIES
from bpeviz.trainers.preparation import merge_limit
from bpeviz.trainers.screen_texts import ScreenTexts

Base = Literal["text", "gpt2", "cl100k_base", "o200k_base"]
"""The base: BPE trained on a first text, or a published vocabulary."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveOptions(Options):
    """Options of continued BPE; `vocab_size` counts all ids of the base and the merges."""

    base: Base | Tokenizer = Option(
        "Continue from",
        "The existing vocabulary. Its ids do not change. New tokens get the ids after them.",
        "text",
        {"text": "Vocabulary of a first text", **catalog.TITLES},
        objects=Tokenizer,
    ).field()
    base_text: str = Option(
        "First text",
        "BPE trains the first vocabulary on this text.",
        "",
        needs=("base", "text"),
        sample="spanish",  # not the training text at first
    ).field()
    base_size: int = Option(
        "Vocabulary size of the first text",
        "256 bytes and the merges trained on the first text.",
        512,
        minimum=256,
        needs=("base", "text"),
    ).field()
    ties: TieRule = TIES.field()
    min_count: int = MIN_COUNT.field()


def train(corpus: Corpus, options: AdaptiveOptions) -> AdaptiveTraining:
    """Continue the training of a base. Each key of a mapping is a text by itself.

    The base can be any tokenizer over bytes whose ids 0 to 255 are the single bytes. The files of
    a published one must be on this machine: a download would block the page.
    """
    base, ties, min_count = options.base, options.ties, options.min_count
    pre_tokenizer = PreTokenizer("bytes", options.pattern, options.expression)
    if not isinstance(base, str):
        tokenizer, title = base, base.name
    elif base == "text":
        of_base = BpeOptions(
            vocab_size=options.base_size,
            pattern=options.pattern,
            expression=options.expression,
            ties=ties,
            min_count=min_count,
        )
        tokenizer = bpe_training.train(
            split_corpus(options.base_text, options.split_at), of_base
        ).tokenizer()
        title = "the first text"
    else:
        tokenizer, title = published(base), catalog.TITLES[base]
    _check_base(tokenizer, options.special_tokens)
    first_id = tokenizer.vocab_size
    limit = merge_limit(options, first_id, f"id of {title}")

    rows: Counter[tuple[int, ...]] = Counter()
    for text, count in texts_of_corpus(corpus).items():
        for row in base_rows(clean(text), tokenizer, pre_tokenizer):
            rows[tuple(row)] += count
    # Training needs ids without gaps, so the base's ids that occur are remapped in their order.
    ids = sorted({token_id for row in rows for token_id in row})
    dense_id = {token_id: i for i, token_id in enumerate(ids)}
    trained, stopped = MergeLoop(
        [([dense_id[token_id] for token_id in row], count) for row, count in rows.items()],
        [tokenizer.token_bytes(token_id).decode("latin-1") for token_id in ids],
        limit,
        ties=ties,
        min_count=min_count,
    ).train()
    ids += range(first_id, first_id + len(trained))
    added = tuple(
        merge._replace(left=ids[merge.left], right=ids[merge.right], new_id=ids[merge.new_id])
        for merge in trained
    )
    alphabet = tuple(tokenizer.token_bytes(i).decode("latin-1") for i in range(256))
    return AdaptiveTraining(
        *("adaptive", pre_tokenizer, alphabet, stopped, options.special_tokens),
        *(tokenizer, title, added),
    )


def base_rows(text: str, base: Tokenizer, pre_tokenizer: PreTokenizer) -> list[list[int]]:
    """Return the ids of the base's tokens in each pre-token of a cleaned text.

    If a token of the base crosses the end of a pre-token, it belongs to the next one.

    Raises:
        ValueError: The base drops a part of the text.
        SplitError: The pattern does not exist or fails on this text.
    """
    ids = base.encode(text)
    length = {token_id: len(base.token_bytes(token_id)) for token_id in {*ids}}
    ends = np.cumsum([length[token_id] for token_id in ids], dtype=np.int64)
    if (ends[-1] if len(ends) else 0) != len(text.encode()):
        raise ValueError(f"{base.name} drops a part of this text, so it cannot be a base.")
    pre_token_ends = np.cumsum(
        [len(c.encode()) for c in pre_tokenizer.pre_tokens(text)], dtype=np.int64
    )
    # Count the tokens that end at or before each end; a token that crosses it is not counted.
    n_before = np.unique(np.searchsorted(ends, pre_token_ends, "right")).tolist()
    return [ids[a:b] for a, b in zip([0, *n_before], n_before, strict=False) if a < b]


def _own_names(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return the special tokens of the base, in the order of their ids."""
    base: Any = options.get("base", "text")
    # A published base is not loaded to draw a page.
    entry = catalog.ENTRIES.get(base) if isinstance(base, str) else base
    names = {} if entry is None else entry.special_tokens
    return tuple(sorted(names, key=names.__getitem__))


def published(name: str) -> Tokenizer:
    """Return a published tokenizer whose files are on this machine."""
    if not download.available(name):
        raise ValueError(
            f"The vocabulary {name} is not on this machine yet: run `python -m bpeviz "
            f"vocabularies {name}` to download it, then choose it again."
        )
    try:
        return rank_tokenizer.load(name)
    except download.VocabularyUnavailable as error:  # it was deleted just now
        raise ValueError(str(error)) from error


def _check_base(base: Tokenizer, special_tokens: Sequence[str]) -> None:
    """Check that a tokenizer can be a base, and that special tokens differ from its own.

    Raises:
        ValueError: Its ids 0 to 255 are not the single bytes, or it has one of the special tokens.
    """
    singles = {bytes([byte]) for byte in range(256)}
    has_bytes = base.atoms == "bytes" and base.vocab_size >= 256
    if not has_bytes or {base.token_bytes(i) for i in range(256)} != singles:
        raise ValueError(
            f"{base.name} cannot be a base: its ids 0 to 255 must be the single bytes."
        )
    if {*base.special_tokens} & {*special_tokens}:
        raise ValueError("Special tokens must differ from those of the base.")


# --- Tokenizer and training history --------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class AdaptiveTokenizer(Tokenizer):
    """Tokenizes a text as its base does, then applies the added merges in their order.

    Two tokens can have the same bytes: the base may contain a token that its own merges or
    pre-tokenization do not produce, and training can add it again.

    Attributes:
        base: A tokenizer over bytes.
        merges: The added merges. The first makes the id after the base's last, and so on.
        special: Names that get the ids after these; the base's special tokens keep their ids.
    """

    name: str
    base: Tokenizer
    pre_tokenizer: PreTokenizer
    merges: tuple[Merge, ...]
    special: tuple[str, ...] = ()

    kind: ClassVar[str] = "adaptive"

    def check_fields(self) -> None:
        try:
            _check_base(self.base, self.special)
        except ValueError as error:
            raise InvalidFieldError("base", str(error).removesuffix(".")) from error

    @property
    def atoms(self) -> Atoms:  # type: ignore[override]
        return "bytes"

    @property
    def vocab_size(self) -> int:
        return self.base.vocab_size + len(self.merges) + len(self.special)

    @property
    def steps(self) -> int:
        return len(self.merges)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(self.first_merge_id, self.first_merge_id + len(self.merges) + 1)

    @property
    def first_merge_id(self) -> int:
        """The id of merge 0; merge i has the i-th id after it."""
        return self.base.vocab_size

    @cached_property
    def special_tokens(self) -> Mapping[str, int]:
        new = {name: i for i, name in enumerate(self.special, self.first_merge_id + self.steps)}
        return {**self.base.special_tokens, **new}

    def merge_step(self, token_id: int) -> int:
        step = token_id - self.first_merge_id
        return step if 0 <= step < len(self.merges) else -1

    def parents(self, token_id: int) -> tuple[int, int] | None:
        if token_id < self.first_merge_id:
            return self.base.parents(token_id)
        return self._added_parents(token_id)

    def _added_parents(self, token_id: int) -> tuple[int, int] | None:
        """Return the two ids that were merged into this one, or None for an id of the base."""
        step = self.merge_step(token_id)
        return None if step < 0 else (self.merges[step].left, self.merges[step].right)

    def merged_id(self, step: int) -> int:
        return self.first_merge_id + step

    def base_of(self, token_id: int) -> Tokenizer | None:
        return self.base if token_id < self.first_merge_id else None

    def known_ids(self) -> Iterable[int]:
        return chain(self.base.known_ids(), range(self.first_merge_id, self.vocab_size))

    def pre_token_ends(self, text: str) -> NDArray[np.int64]:
        pre_tokens = self.pre_tokenizer.pre_tokens(clean(text))
        return np.cumsum([len(pre_token.encode()) for pre_token in pre_tokens], dtype=np.int64)

    def is_atom(self, token_id: int) -> bool:
        if token_id < self.first_merge_id:
            return self.base.is_atom(token_id)
        self.token_bytes(token_id)  # raises for an id that does not exist
        return self.merge_step(token_id) < 0

    def token_bytes(self, token_id: int) -> bytes:
        if token_id < self.first_merge_id:
            return self.base.token_bytes(token_id)
        if token_id >= self.vocab_size:
            raise ValueError(f"{self.name} has no id {token_id}: ids end at {self.vocab_size - 1}.")
        if self.merge_step(token_id) < 0:
            return self.special[token_id - self.first_merge_id - self.steps].encode()
        parts: list[bytes] = []
        pending = [token_id]
        while pending:  # no recursion: the tree of a token can be as deep as the text is long
            parents = self._added_parents(at := pending.pop())
            if parents is None:
                parts.append(self.base.token_bytes(at))
            else:
                pending += (parents[1], parents[0])
        return b"".join(parts)

    def token_label(self, token_id: int) -> str:
        if token_id < self.first_merge_id:
            return self.base.token_label(token_id)
        return super().token_label(token_id)

    def at_step(self, step: int) -> AdaptiveTokenizer:
        return replace(self, merges=self.merges[: max(0, step)])

    @cached_property
    def _rank(self) -> dict[tuple[int, int], int]:
        return {(merge.left, merge.right): merge.new_id for merge in self.merges}

    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        size = cache(lambda token_id: len(self.token_bytes(token_id)))
        texts_in_rows = [base_rows(text, self.base, self.pre_tokenizer) for text in texts]
        return as_pieces(
            [
                [(i, size(i)) for row in rows for i in apply_merges(row, self._rank)]
                for rows in texts_in_rows
            ]
        )

    def boundaries(self, text: str | Documents) -> ChangingBoundaries:
        """Return the boundaries over bytes at every step, from the base's tokens on."""
        encoded = [document.encode() for document in documents_of(text)]
        distinct, order = np.unique(self.encoded(documents_of(text)).ids, return_inverse=True)
        raw = np.frombuffer(b"".join(encoded), np.uint8)
        byte_ids = np.zeros(256, np.int32)
        byte_ids[[self.base.token_bytes(i)[0] for i in range(256)]] = range(256)

        def width(token_id: int) -> int:
            return len(self.base.token_bytes(token_id))

        return boundaries_from_changes(
            [
                changes_of_merges(int(token_id), self._added_parents, self.merge_step, width)
                for token_id in distinct
            ],
            order,
            np.arange(1, len(raw) + 1),
            byte_ids[raw],
            self.steps,
        ).with_breaks(np.cumsum([*map(len, encoded[:-1])], dtype=np.int64))


@dataclass(frozen=True, repr=False)
class AdaptiveTraining(Training):
    """Training history of continued BPE: the merges added to a base.

    Attributes:
        base: The tokenizer before the first added merge.
        title: Name of the base on the pages.
        merges: The added merges.
    """

    base: Tokenizer
    title: str
    merges: tuple[Merge, ...]

    @property
    def decisions(self) -> Sequence[Merge]:
        return self.merges

    @property
    def special_names(self) -> tuple[str, ...]:
        return (*_own_names({"base": self.base}), *self.special)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(self.base.vocab_size, self.base.vocab_size + len(self.merges) + 1)

    def at_step(self, step: int) -> AdaptiveTokenizer:
        merges = self.merges[: max(0, step)]
        return AdaptiveTokenizer(
            self.algorithm, self.base, self.pre_tokenizer, merges, self.special
        )

    @cached_property
    def _dense(self) -> tuple[MergeTraining, dict[int, int]]:
        """The same merges with the base's tokens as atoms, and the dense id of each id."""
        parts = {i for merge in self.merges for i in (merge.left, merge.right)}
        base_ids = sorted(i for i in parts if i < self.base.vocab_size)
        atoms = [self.base.token_bytes(token_id).decode("latin-1") for token_id in base_ids]
        ids = [*base_ids, *(merge.new_id for merge in self.merges)]
        number = {token_id: i for i, token_id in enumerate(ids)}
        merges = [
            merge._replace(left=number[merge.left], right=number[merge.right])
            for merge in self.merges
        ]
        training = MergeTraining(
            self.algorithm, PreTokenizer(), tuple(atoms), self.stopped, (), tuple(merges)
        )
        return training, number

    def name(self, token_id: int) -> str:
        if token_id < self.base.vocab_size:
            return shorten(self.base.token_label(token_id))
        training, number = self._dense
        return training.name(number[token_id])

    def color_key(self, token_id: int) -> int:
        if token_id < self.base.vocab_size:
            is_atom = self.base.is_atom(token_id)
            return -1 if is_atom else color_key(self.base.token_bytes(token_id))
        training, number = self._dense
        return training.color_key(number[token_id])

    def parents(self, token_id: int) -> tuple[int, int] | None:
        if token_id < self.base.vocab_size:
            return None
        merge = self.merges[token_id - self.base.vocab_size]
        return merge.left, merge.right

    @property
    def curve(self) -> NDArray[np.float64]:
        return np.array([merge.count for merge in self.merges], np.float64)

    def candidates(
        self, text: str | Documents, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        if boundaries.steps != self.steps:
            boundaries = self.boundaries(text)
        pairs = count_pairs(boundaries, self.barriers(text), step)
        return pairs.best(pairs.counts, self.merges[step : step + 1], limit)

    def barriers(self, text: str | Documents) -> NDArray[np.int64]:
        """Return the ends of the pre-tokens, in bytes; no merge crosses them. int64 [barriers]."""

        def ends(text: str) -> NDArray[np.int64]:
            rows = base_rows(text, self.base, self.pre_tokenizer)
            length = {i: len(self.base.token_bytes(i)) for row in rows for i in {*row}}
            return np.cumsum([sum(map(length.__getitem__, row)) for row in rows], dtype=np.int64)

        return self._cached("barriers", text, lambda text: self.ends(text, ends))


# --- On screen -----------------------------------------------------------------------------------


def _beginning(training: AdaptiveTraining) -> str:
    return f"These are the tokens of {training.title}."


def _vocabulary(training: AdaptiveTraining, step: int) -> str:
    return f"{training.base.vocab_size:,} of {training.title} + {counted(step, 'merge')}"


TRAINER = Trainer(
    key="adaptive",
    title="Adaptive BPE (continued training)",
    short="Adaptive BPE",
    rule="extend a vocabulary by the most frequent pairs of the text",
    gist="extends a vocabulary",
    about="Tokenizes the text with an existing vocabulary and continues merging. It shows the "
    "merges that a text adds to the vocabulary.",
    source="Purason et al. 2025, arXiv:2512.03989",
    train=train,
    saved=(AdaptiveTokenizer,),
    declares=AdaptiveOptions,
    largest="merges",
    largest_title="Merges to add",
    reserved=(),
    names_of=_own_names,
    texts=ScreenTexts(beginning=_beginning, vocabulary=_vocabulary),
)

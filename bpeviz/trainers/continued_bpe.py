"""Adaptive learning: go on from an existing vocabulary, on a new text.

The tokenizer that one begins with, the base, cuts the text into its tokens, and byte-pair
encoding goes on from there: it merges the most frequent pair of neighbors, again and again. What
it learns is what the text's domain adds to the vocabulary; the base's ids stay as they are, so
that a model that knows them can be taught the new ones.

Source: "continued BPE training" in Purason, Chizhov, Yamshchikov and Fishel, "Teaching Old
Tokenizers New Words", 2025, arXiv:2512.03989 (their pruning of old tokens is left out). They keep
the base's own split; here it is chosen, and choosing the base's own does as they do.

- The new merges stay within the pre-tokens of the `pattern` chosen. Where a token of the base reaches
  over the end of a pre-token, the pre-token ends before it, and the token belongs to the next.
- The new ids follow all of the base's, gaps and special tokens included, so none is used twice.
- Two tokens may stand for the same bytes: the base may know a word that it does not make, since
  its merges or its split lead elsewhere, and then that word may be learnt once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import (
    Boundaries,
    ChangingBoundaries,
    boundaries_from_changes,
    changes_of_merges,
)
from bpeviz.core.merges import Merge, apply_merges
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Candidate, MergeTraining, Training, count_pairs
from bpeviz.pretokenizers.pretokenizer import Atoms, PreTokenizer
from bpeviz.pretrained import catalog, download, rank_tokenizer
from bpeviz.text import clean, color_index, shorten
from bpeviz.trainers import bpe
from bpeviz.trainers.base import Corpus, Option, Trainer, collector_off
from bpeviz.trainers.bpe import merge_limit, train_merges_fast
from bpeviz.trainers.pair_counts import TieRule
from bpeviz.trainers.screen import Texts, counted

Base = Literal["text", "gpt2", "cl100k_base", "o200k_base"]
"""What one begins with: what is learnt from a first text, or a published vocabulary."""


@dataclass(frozen=True)
class AdaptiveTokenizer(Tokenizer):
    """Cuts a text as its base does, then applies the merges that were added, in their order.

    base: over bytes. merges: the first makes the id after the base's last, and so on. special:
    names that get the ids after these; the base's special tokens keep theirs.
    """

    name: str
    base: Tokenizer
    pre_tokenizer: PreTokenizer
    merges: tuple[Merge, ...]
    special: tuple[str, ...] = ()

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
        """The id that merge 0 makes; merge i makes the i-th after it."""
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
        """Return the two ids that were merged into this one, or None for one of the base's."""
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
        return np.cumsum([len(one.encode()) for one in pre_tokens], dtype=np.int64)

    def is_atom(self, token_id: int) -> bool:
        if token_id < self.first_merge_id:
            return self.base.is_atom(token_id)
        self.token_bytes(token_id)  # raises for one that is not there
        return self.merge_step(token_id) < 0

    def token_bytes(self, token_id: int) -> bytes:
        if token_id < self.first_merge_id:
            return self.base.token_bytes(token_id)
        if token_id >= self.vocab_size:
            raise ValueError(f"There is no id {token_id}: ids end at {self.vocab_size - 1}.")
        if self.merge_step(token_id) < 0:
            return self.special[token_id - self.first_merge_id - self.steps].encode()
        parts: list[bytes] = []
        waiting = [token_id]
        while waiting:  # not by recursion: a token may be as long as the text, its tree as deep
            parents = self._added_parents(at := waiting.pop())
            if parents is None:
                parts.append(self.base.token_bytes(at))
            else:
                waiting += (parents[1], parents[0])
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

    def _encode_ordinary(self, text: str) -> list[int]:
        rows = base_rows(text, self.base, self.pre_tokenizer)
        return list(chain.from_iterable(apply_merges(row, self._rank) for row in rows))

    def _pieces(self, part: str) -> list[tuple[int, int]]:
        ids = self._encode_ordinary(part)
        length = {token_id: len(self.token_bytes(token_id)) for token_id in {*ids}}
        return [(token_id, length[token_id]) for token_id in ids]

    def boundaries(self, text: str) -> ChangingBoundaries:
        """Return where tokens end at every step, over bytes: the base's tokens before the first."""
        text = clean(text)
        ids = np.array(self._encode_ordinary(text), np.int64)
        distinct, order = np.unique(ids, return_inverse=True)
        raw = np.frombuffer(text.encode(), np.uint8)
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
        )


def base_rows(text: str, base: Tokenizer, pre_tokenizer: PreTokenizer) -> list[list[int]]:
    """Return the ids of the base's tokens in each pre-token of a cleaned text.

    Raises `ValueError` where the base leaves out a part of it, and `SplitError`.
    """
    ids = base.encode(text)
    length = {token_id: len(base.token_bytes(token_id)) for token_id in {*ids}}
    ends = np.cumsum([length[token_id] for token_id in ids], dtype=np.int64)
    if (ends[-1] if len(ends) else 0) != len(text.encode()):
        raise ValueError(f"{base.name} leaves out a part of this text, so it cannot be a base.")
    pre_token_ends = np.cumsum(
        [len(c.encode()) for c in pre_tokenizer.pre_tokens(text)], dtype=np.int64
    )
    # How many tokens end by each of these; a token that reaches over is not among them.
    behind = np.unique(np.searchsorted(ends, pre_token_ends, "right")).tolist()
    return [ids[a:b] for a, b in zip([0, *behind], behind, strict=False) if a < b]


@dataclass(frozen=True)
class AdaptiveTraining(Training):
    """What was added to a vocabulary: one merge a step. `title` is what the base is called."""

    base: Tokenizer
    title: str
    merges: tuple[Merge, ...]
    _barriers: dict[str, NDArray[np.int64]] = field(
        default_factory=dict, repr=False, compare=False, kw_only=True
    )

    @property
    def decisions(self) -> Sequence[Merge]:
        return self.merges

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
        """The same merges as if the base's tokens were atoms; and the number of each id there."""
        used = {i for merge in self.merges for i in (merge.left, merge.right)}
        ids = [*sorted(i for i in used if i < self.base.vocab_size)]
        ids += [merge.new_id for merge in self.merges]
        number = {token_id: i for i, token_id in enumerate(ids)}
        atoms = [self.base.token_bytes(i).decode("latin-1") for i in ids if i not in self._made]
        merges = [
            merge._replace(left=number[merge.left], right=number[merge.right])
            for merge in self.merges
        ]
        training = MergeTraining(
            self.algorithm, PreTokenizer(), tuple(atoms), self.stopped, (), tuple(merges)
        )
        return training, number

    @cached_property
    def _made(self) -> frozenset[int]:
        return frozenset(merge.new_id for merge in self.merges)

    def name(self, token_id: int) -> str:
        if token_id not in self._made:
            return shorten(self.base.token_label(token_id))
        training, number = self._dense
        return training.name(number[token_id])

    def color_index(self, token_id: int) -> int:
        if token_id not in self._made:
            return (
                -1 if self.base.is_atom(token_id) else color_index(self.base.token_bytes(token_id))
            )
        training, number = self._dense
        return training.color_index(number[token_id])

    def parents(self, token_id: int) -> tuple[int, int] | None:
        if token_id not in self._made:
            return None
        merge = self.merges[token_id - self.base.vocab_size]
        return merge.left, merge.right

    @property
    def curve(self) -> NDArray[np.float64]:
        return np.array([merge.count for merge in self.merges], np.float64)

    def candidates(
        self, text: str, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        if boundaries.steps != self.steps:
            boundaries = self.at_step(self.steps).boundaries(text)
        pairs = count_pairs(boundaries, self.barriers(text), step)
        taken = self.merges[step] if step < len(self.merges) else None
        return pairs.best(pairs.counts, taken, limit)

    def barriers(self, text: str) -> NDArray[np.int64]:
        """Return the bytes behind which no merge may reach over. int64 [barriers]."""
        ends = self._barriers.get(text)
        if ends is None:
            rows = base_rows(clean(text), self.base, self.pre_tokenizer)
            distinct = {token_id for row in rows for token_id in row}
            length = {token_id: len(self.base.token_bytes(token_id)) for token_id in distinct}
            ends = np.cumsum([sum(map(length.__getitem__, row)) for row in rows], dtype=np.int64)
            self._barriers.clear()
            self._barriers[text] = ends
        return ends


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    base: Base | Tokenizer = "text",
    base_text: str = "",
    base_size: int = 512,
    ties: TieRule = "first",
    min_count: int = 1,
) -> AdaptiveTraining:
    """Go on learning byte-pair merges from the vocabulary of a base, on a text.

    base: a published vocabulary by name, whose files must be on this machine already
        (`bpeviz.load` brings them, and so does `python -m bpeviz vocabularies`: nothing is
        fetched here, since a page would hang meanwhile); or "text" for what byte-pair encoding
        over bytes learns from `base_text` up to `base_size` ids, with the same pattern, ties and
        smallest count; or any tokenizer over bytes whose ids 0 to 255 are the single bytes.
    vocab_size: counts all of the base's ids and the merges; give it or `merges`, not both.
    pattern: new merges stay within its pre-tokens; but a token of the base is never cut.
    ties: "largest" compares what two tokens stand for, in bytes.

    Of a mapping each key is a text by itself. Raises `ValueError`, whose message is a sentence,
    for values that make no sense, and `SplitError` (one of them) for a bad split.
    """
    if ties not in ("first", "smallest", "largest"):
        raise ValueError(f"There is no tie rule {ties!r}: take first, smallest or largest.")
    if min_count < 1:
        raise ValueError(f"The smallest count must be 1 or more, not {min_count}.")
    pre_tokenizer = PreTokenizer("bytes", pattern, expression)
    if not isinstance(base, str):
        tokenizer, title = base, base.name
    elif base == "text":
        if base_size < 256:
            raise ValueError(
                f"The vocabulary of the first text must hold the 256 bytes; {base_size} is too "
                "small."
            )
        tokenizer = bpe.train(
            base_text,
            vocab_size=base_size,
            pattern=pattern,
            expression=expression,
            ties=ties,
            min_count=min_count,
        ).tokenizer()
        title = "the first text"
    else:
        tokenizer, title = _published(base), catalog.TITLES[base]
    _check_base(tokenizer)
    names = {"", *tokenizer.special_tokens}
    if len({*special_tokens}) < len(special_tokens) or names & {*special_tokens}:
        raise ValueError("Special tokens must differ, also from the base's, and not be empty.")
    first_id = tokenizer.vocab_size
    if vocab_size is not None and vocab_size < first_id:
        raise ValueError(
            f"The vocabulary must hold at least the {first_id:,} ids of {title}; {vocab_size:,} "
            "is too small."
        )
    limit = merge_limit(vocab_size, merges, first_id, "ids")

    rows: Counter[tuple[int, ...]] = Counter()
    for text, times in {corpus: 1}.items() if isinstance(corpus, str) else corpus.items():
        if times < 1:
            raise ValueError(f"The count of {text!r} must be 1 or more, not {times}.")
        for row in base_rows(clean(text), tokenizer, pre_tokenizer):
            rows[tuple(row)] += times
    # The trainer wants ids without gaps: the base's that occur, in their order.
    ids = sorted({token_id for row in rows for token_id in row})
    number = {token_id: i for i, token_id in enumerate(ids)}
    with collector_off():
        learnt, stopped = train_merges_fast(
            [([number[token_id] for token_id in row], times) for row, times in rows.items()],
            [tokenizer.token_bytes(token_id).decode("latin-1") for token_id in ids],
            limit,
            ties=ties,
            min_count=min_count,
        )

    def in_base(dense: int) -> int:
        return ids[dense] if dense < len(ids) else first_id + dense - len(ids)

    added = tuple(
        merge._replace(
            left=in_base(merge.left),
            right=in_base(merge.right),
            new_id=in_base(merge.new_id),
        )
        for merge in learnt
    )
    alphabet = tuple(tokenizer.token_bytes(i).decode("latin-1") for i in range(256))
    return AdaptiveTraining(
        "adaptive", pre_tokenizer, alphabet, stopped, special_tokens, tokenizer, title, added
    )


def _published(name: str) -> Tokenizer:
    if name not in catalog.NAMES:
        known = ", ".join(("text", *catalog.NAMES))
        raise ValueError(f"There is no base {name!r}. Known: {known}, and any tokenizer.")
    if not download.available(name):
        raise ValueError(
            f"The vocabulary {name} is not on this machine yet: run `python -m bpeviz "
            f"vocabularies {name}` to bring it, then choose it again."
        )
    try:
        return rank_tokenizer.load(name)
    except download.VocabularyUnavailable as error:  # it vanished just now
        raise ValueError(str(error)) from error


def _check_base(base: Tokenizer) -> None:
    """Raise `ValueError` unless ids 0 to 255 are the single bytes, in any order."""
    bytes_first = base.atoms == "bytes" and base.vocab_size >= 256
    if not bytes_first or {base.token_bytes(i) for i in range(256)} != {
        bytes([byte]) for byte in range(256)
    }:
        raise ValueError(
            f"{base.name} cannot be a base: its ids 0 to 255 must be the single bytes."
        )


def _beginning(training: AdaptiveTraining) -> str:
    return f"Nothing is added yet: these are the tokens of {training.title}."


def _vocabulary(training: AdaptiveTraining, step: int) -> str:
    return f"{training.base.vocab_size:,} of {training.title} + {counted(step, 'merge')}"


_OF_BPE = {option.name: option for option in bpe.TRAINER.options}

TRAINER = Trainer(
    key="adaptive",
    title="Adaptive BPE (goes on learning)",
    short="Adaptive BPE",
    about="Cuts the text with an existing vocabulary and goes on merging from there: so it shows "
    "which merges a domain adds.",
    source="Purason et al. 2025, arXiv:2512.03989",
    train=cast(Any, train),
    options=(
        Option(
            "base",
            "Go on from",
            "The vocabulary that learning begins with. Its ids stay as they are; what is learnt "
            "comes after them.",
            "text",
            {"text": "A first text's vocabulary", **catalog.TITLES},
        ),
        Option(
            "base_text",
            "The first text",
            "BPE learns the first vocabulary from this text.",
            "",
            needs=("base", "text"),
            sample="spanish",  # another than the one that the pages begin with
        ),
        Option(
            "base_size",
            "Size of the first text's vocabulary",
            "The 256 bytes and the merges learnt from it.",
            512,
            minimum=256,
            needs=("base", "text"),
        ),
        _OF_BPE["ties"],
        _OF_BPE["min_count"],
    ),
    largest="merges",
    largest_title="Merges to add",
    texts=Texts(beginning=_beginning, vocabulary=_vocabulary),
)

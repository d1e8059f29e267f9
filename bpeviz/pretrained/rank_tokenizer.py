"""Tokenizers with tiktoken's ranks: GPT-2, cl100k, o200k and rank tables from files.

Ranks play the part of merges. `bpeviz.pretrained.download` fetches the vocabulary files, since
tiktoken's own download has no time limit.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from threading import Lock
from typing import ClassVar, NamedTuple

import numpy as np
import regex
import tiktoken
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core import tiktoken_engine
from bpeviz.core.boundaries import (
    INSIDE_ID,
    AtomChanges,
    Boundaries,
    MergeBoundaries,
    atom_changes,
    boundaries_from_changes,
    boundaries_from_ids,
)
from bpeviz.core.merging import Event, merge_by_rank
from bpeviz.core.tokenizer import Encoded, Pieces, Tokenizer
from bpeviz.corpus.documents import Documents, documents_of
from bpeviz.pretokenizers.counts import indexed
from bpeviz.pretokenizers.pretokenizer import Atoms
from bpeviz.pretrained import catalog, download
from bpeviz.text import clean

CACHED_TREES = 50_000
"""The largest number of merge trees that a tokenizer caches: some 20 MB."""

LONG_SPACE = 1_000
"""Characters of white space in a row from which tiktoken's matcher may not be used.

The matcher keeps 25 bytes for each of them, in each of its 128 copies, and panics at a million.
"""


def _has_long_space(text: str) -> bool:
    """Return whether a text contains a long stretch of white space.

    This finds each stretch of 2 × `LONG_SPACE` characters, and some from `LONG_SPACE` on.
    """
    starts = range(0, len(text) - LONG_SPACE + 1, LONG_SPACE)
    return any(text[start : start + LONG_SPACE].isspace() for start in starts)


class RankTokenizer(Tokenizer):
    """Encodes as tiktoken does: the lowest rank of merged bytes first, within each pre-token.

    tiktoken looks up the rank of the merged bytes, not of the pair, and keeps a pre-token whole if
    it is a token (`src/lib.rs`). The first 256 ranks are the single bytes, so merge r - 256 makes
    the token of rank r, and that is its step.

    In GPT-2, cl100k and o200k, merges of lower ranks alone build each token, so each boundary has
    one step. In other tables, a lower rank may become possible only after a higher one. Such a
    merge happens at the step of the highest rank before it, and texts that need it get
    `ChangingBoundaries`. At every step, both equal the result of tiktoken with the first ranks.
    """

    kind: ClassVar[str] = "ranks"
    atoms: Atoms = "bytes"
    pattern, expression = "", ""  # unknown: tiktoken splits a text by an expression of its own

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.name = encoding.name
        self._encoding = encoding
        self._ranks: dict[bytes, int] = encoding._mergeable_ranks
        self._trees: dict[int, _Tree] = {}

    @property
    def vocab_size(self) -> int:
        return self._encoding.n_vocab

    first_merge_id = 256

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(256, 256 + self.steps + 1)

    def known_ids(self) -> Iterable[int]:
        """Return the ids of all tokens, ascending. Special ids may follow after a gap."""
        return sorted({*self._rank_set, *self.special_tokens.values()})

    def is_atom(self, token_id: int) -> bool:
        return self.merge_step(token_id) < 0

    @cached_property
    def steps(self) -> int:
        return max(self._ranks.values()) - 255

    @cached_property
    def special_tokens(self) -> Mapping[str, int]:
        return dict(self._encoding._special_tokens)

    def at_step(self, step: int) -> RankTokenizer:
        ranks = {raw: rank for raw, rank in self._ranks.items() if rank < 256 + step}
        return RankTokenizer(
            tiktoken.Encoding(
                f"{self.name}, first {step} merges",
                pat_str=self._encoding._pat_str,
                mergeable_ranks=ranks,
                special_tokens={},
            )
        )

    def token_bytes(self, token_id: int) -> bytes:
        try:
            return self._encoding.decode_single_token_bytes(token_id)
        except (KeyError, OverflowError, TypeError) as error:
            raise ValueError(f"{self.name} has no id {token_id}.") from error

    def parents(self, token_id: int) -> tuple[int, int] | None:
        if self.merge_step(token_id) < 0:
            return None
        return self._tree(token_id).parents

    def merge_step(self, token_id: int) -> int:
        raw = self.token_bytes(token_id)
        return -1 if len(raw) < 2 or token_id not in self._rank_set else token_id - 256

    def merged_id(self, step: int) -> int:
        return self.first_merge_id + step

    def find(self, query: str) -> Iterator[int]:
        for raw in sorted({query.encode(), query.replace("·", " ").encode()}):
            if raw in self._ranks:
                yield self._ranks[raw]

    def pre_token_ends(self, text: str) -> NDArray[np.int64]:
        return np.cumsum([*map(len, self._pre_tokens(clean(text)))], dtype=np.int64)

    @cached_property
    def _rank_set(self) -> frozenset[int]:
        return frozenset(self._ranks.values())

    def _ids(self, text: str) -> NDArray[np.int32]:
        """Return the ids of a cleaned text. A list of millions would delay other threads."""
        if not _has_long_space(text):
            try:
                ids = self._encoding.encode_to_numpy(text, disallowed_special=())
                return ids.astype(np.int32)
            except BaseException as error:
                # A panic of tiktoken's matcher is a BaseException.
                if type(error).__name__ != "PanicException":
                    raise
        return np.fromiter(self._ids_without_matcher(text), np.int32)

    def _ids_of_each(self, texts: Sequence[str]) -> Iterable[NDArray[np.int32]]:
        return map(self._ids, texts)

    def _ids_without_matcher(self, text: str) -> Iterator[int]:
        encode_long = None
        for pre_token in self._pre_tokens(text):
            if len(pre_token) < tiktoken_engine.LONG_PRE_TOKEN:
                yield from self._encoding._encode_single_piece(pre_token)
                continue
            if encode_long is None:  # not cached: it takes up to 50 MB, and few need it
                encode_long = tiktoken_engine.rank_encoder(self._ranks)
            yield from encode_long(pre_token)

    def _pre_tokens(self, text: str) -> Iterator[bytes]:
        matches = regex.finditer(self._encoding._pat_str, text)
        return (match.group().encode() for match in matches if match.group())

    def _tree(self, token_id: int) -> _Tree:
        tree = self._trees.get(token_id)
        if tree is None:
            if len(self._trees) >= CACHED_TREES:
                self._trees.clear()
            tree = self._trees[token_id] = _tree(self.token_bytes(token_id), token_id, self._ranks)
        return tree

    def boundaries(self, text: str | Documents) -> Boundaries:
        texts = documents_of(text)
        encoded = [document.encode() for document in texts]
        breaks = np.cumsum([*map(len, encoded[:-1])], dtype=np.int64)
        ids, _ = self.encoded(texts)
        raw = np.frombuffer(b"".join(encoded), np.uint8)
        atom_ids = self._byte_ids[raw]
        ends = np.arange(1, len(raw) + 1)
        if any(self._tree(int(token_id)).times is None for token_id in np.unique(ids)):
            pre_tokens = [*chain.from_iterable(map(self._pre_tokens, texts))]
            return self._changing(pre_tokens, ends, atom_ids).with_breaks(breaks)
        merged_at = boundaries_from_ids(ids, lambda token_id: self._tree(token_id).times or ())
        self._check_whole(len(merged_at), len(raw))
        boundaries = MergeBoundaries(ends, atom_ids, self.steps, merged_at, self.first_merge_id)
        return boundaries.with_breaks(breaks)

    def _encoded(self, texts: Sequence[str]) -> Encoded:
        # In one thread without lists: half the processor time of `encode_ordinary_batch`.
        each = [*self._ids_of_each(texts)]
        ends = np.cumsum([*map(len, each)], dtype=np.int64)
        return Encoded(np.concatenate([np.empty(0, np.int32), *each]), ends)

    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        ids, ends = self._encoded(texts)
        known = self._lengths  # 0 for those not looked up yet
        for token_id in np.unique(ids[known[ids] == 0]).tolist():
            known[token_id] = len(self.token_bytes(token_id))
        lengths = known[ids]
        self._check_whole(int(lengths.sum()), sum(len(text.encode()) for text in texts))
        return np.stack((ids, lengths), 1), ends

    def _changing(
        self, pre_tokens: list[bytes], ends: NDArray[np.int64], atom_ids: NDArray[np.int32]
    ) -> Boundaries:
        self._check_whole(sum(map(len, pre_tokens)), len(ends))
        distinct, order = indexed(pre_tokens)
        rows = [_changes_of_pre_token(pre_token, self._ranks) for pre_token in distinct]
        return boundaries_from_changes(rows, order, ends, atom_ids, self.steps)

    def _check_whole(self, covered: int, size: int) -> None:
        if covered != size:
            raise ValueError(
                f"The pre-tokenization pattern of {self.name} skips a part of this text."
            )

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        return np.zeros(self.vocab_size, np.int64)

    @cached_property
    def _byte_ids(self) -> NDArray[np.int32]:
        return np.array([self._ranks[bytes([byte])] for byte in range(256)], np.int32)


def merged(raw: bytes, rank_of: Callable[[bytes], int | None]) -> tuple[list[bytes], list[Event]]:
    """Merge bytes by rank, the lowest first and from the left, as tiktoken does.

    Returns:
        The remaining parts, and the merges in their order.
    """
    return merge_by_rank(
        [raw[i : i + 1] for i in range(len(raw))],
        lambda pair: rank_of(pair[0] + pair[1]),
        lambda left, right, _: left + right,
    )


def below(rank: int, ranks: Mapping[bytes, int]) -> Callable[[bytes], int | None]:
    """Return a lookup function for the ranks below `rank`."""

    def lower(part: bytes) -> int | None:
        part_rank = ranks.get(part)
        return None if part_rank is None or part_rank >= rank else part_rank

    return lower


class _Tree(NamedTuple):
    """The merges inside a token.

    times: the step at which each inner boundary is merged; None if a merge needs a higher rank
    first.
    parents: two ids, or None if merges do not lead to the token.
    """

    times: list[int] | None
    parents: tuple[int, int] | None


def _tree(raw: bytes, rank: int, ranks: Mapping[bytes, int]) -> _Tree:
    """Return the merges inside a token.

    They do not depend on its neighbors. A token that merges do not lead to can only be a whole
    pre-token.
    """
    parts, events = merged(raw, below(rank, ranks))
    if len(raw) > 1 and len(parts) != 2:
        # Without the rank of the token itself, the last two parts are its parents.
        parts, _ = merged(raw, lambda part: None if part == raw else ranks.get(part))
        if len(parts) == 2:
            return _Tree(None, (ranks[parts[0]], ranks[parts[1]]))
    parents = (ranks[parts[0]], ranks[parts[1]]) if len(parts) == 2 else None
    # With fewer ranks, a later merge of a lower rank would not have happened.
    if any(a > b for (a, *_), (b, *_) in pairwise(events)):
        return _Tree(None, parents)
    times = [rank - 256] * (len(raw) - 1)
    for event_rank, _, middle in events:
        times[middle - 1] = event_rank - 256
    return _Tree(times, parents)


def _changes_of_pre_token(pre_token: bytes, ranks: Mapping[bytes, int]) -> AtomChanges:
    """Return the entries of `ChangingBoundaries` for each byte of a pre-token.

    A merge happens at the highest rank so far: with fewer ranks, the merges after that one would
    not have happened. A pre-token that is a token is whole from the rank of that token on.
    """
    at_bytes = [{-1: ranks[pre_token[i : i + 1]]} for i in range(len(pre_token))]
    whole = ranks.get(pre_token)
    highest = 0
    for rank, start, middle in merged(pre_token, ranks.get)[1]:
        highest = max(highest, rank)
        if whole is not None and highest >= whole:
            break
        at_bytes[start][highest - 256] = rank
        at_bytes[middle][highest - 256] = INSIDE_ID
    if whole is not None and len(pre_token) > 1:
        at_bytes[0][whole - 256] = whole
        for at_byte in at_bytes[1:]:
            if [*at_byte.values()][-1] != INSIDE_ID:
                at_byte[whole - 256] = INSIDE_ID
    return atom_changes([at_byte.items() for at_byte in at_bytes])


_loaded: dict[str, RankTokenizer] = {}
_loading = Lock()


def load(name: str, report: Callable[[str], None] | None = None) -> RankTokenizer:
    """Return the tokenizer "gpt2", "cl100k_base" or "o200k_base".

    Missing files are downloaded first, within time limits.

    Args:
        name: A key of `bpeviz.pretrained.catalog.NAMES`.
        report: Called with a message before each step that can take time.

    Raises:
        ValueError: The name is unknown.
        VocabularyUnavailable: The files could not be downloaded.
    """
    if name not in catalog.NAMES:
        raise ValueError(f"Unknown vocabulary {name!r}. Known: {', '.join(catalog.NAMES)}.")
    if name not in _loaded and not download.available(name):
        download.fetch(name, report)  # without the lock: a download may take minutes
    with _loading:
        if name not in _loaded:
            # tiktoken must find the files even if its cache is switched off.
            os.environ["TIKTOKEN_CACHE_DIR"] = str(catalog.cache_folder())
            _loaded[name] = RankTokenizer(tiktoken.get_encoding(name))
        return _loaded[name]


def loaded(name: str) -> RankTokenizer | None:
    """Return one of tiktoken's own tokenizers if it was loaded before, without waiting."""
    return _loaded.get(name)


def from_entry(name: str) -> RankTokenizer:
    """Return the tokenizer of a catalog entry with ranks and a pattern, from the cache.

    Raises:
        VocabularyUnavailable: The file is not in the cache.
    """
    entry = catalog.ENTRIES[name]
    (content,) = download.contents(name).values()
    return from_ranks(name, entry.pattern, ranks_in(content), entry.special_tokens)


def ranks_in(content: bytes) -> dict[bytes, int]:
    """Return the rank of each token in a file of tiktoken."""
    pairs = map(bytes.split, content.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    ranks.pop(b"", None)  # Whisper's table has an entry for no bytes, which no text contains
    return ranks


def check_bytes(ranks: Mapping[bytes, int]) -> None:
    """Raise `ValueError` if the ranks 0 to 255 are not the single bytes."""
    if sorted(ranks.get(bytes([byte]), -1) for byte in range(256)) != [*range(256)]:
        raise ValueError("Ranks 0 to 255 must be the single bytes.")


def from_ranks(
    name: str, pattern: str, ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]
) -> RankTokenizer:
    """Return the tokenizer of a rank table.

    Args:
        name: The name of the tokenizer.
        pattern: A regular expression whose matches are the pre-tokens.
        ranks: The rank of each token's bytes. Ranks 0 to 255 are the single bytes, in any order.
        special_tokens: Ids by name.

    Raises:
        ValueError: Ranks 0 to 255 are not the single bytes.
    """
    check_bytes(ranks)
    return RankTokenizer(
        tiktoken.Encoding(
            name,
            pat_str=pattern,
            mergeable_ranks=dict(ranks),
            special_tokens=dict(special_tokens),
        )
    )

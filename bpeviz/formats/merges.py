"""Merges in files: atoms, merges and special tokens with their ids, and the pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, cast

from bpeviz.core.merges import Merge, MergedVocabulary, MergeTokenizer, NotMergesError
from bpeviz.core.tokenizer import Tokenizer, TrainedTokenizer
from bpeviz.formats.base import FormatError, UnsupportedError, of_latest
from bpeviz.formats.parsing import MAX_ID, MAX_SPELLED, MAX_TOKEN, error_at, quoted
from bpeviz.formats.rank_table import parents_by_rank
from bpeviz.formats.regex_dialects import DialectError, pattern_of
from bpeviz.formats.remapped_ids import RemappedTokenizer, with_ids
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.pretrained.rank_tokenizer import RankTokenizer
from bpeviz.trainers.continued_bpe import AdaptiveTokenizer
from bpeviz.trainers.sentencepiece_bpe import SentencePieceTokenizer

NOT_BYTES = "its atoms are characters, and this format has bytes"
_PRE_TOKENIZING = ("pre_tokens", "symbols", "drops")  # methods of a `PreTokenizer`
MISSING_BYTES = "it lacks some of the 256 bytes"

BYTE_SYMBOLS = {byte: chr(byte) for byte in range(256)}
"""The symbols of single bytes, if their ids are 0 to 255 in order."""


def ids_by_spelling(spellings: Mapping[int, str], special: Collection[str]) -> dict[str, int]:
    """Return the id of each spelling, from the spellings by id.

    Raises:
        UnsupportedError: two tokens have the same spelling.
    """
    ids: dict[str, int] = {}
    for token_id, name in spellings.items():
        if name in ids:
            raise UnsupportedError(
                f"the ids {ids[name]} and {token_id} are both spelled {quoted(name)}, and in "
                "this format a spelling has one id"
            )
        ids[name] = token_id
    for name in special:
        if name in ids:
            raise UnsupportedError(
                f"its special token {quoted(name)} is spelled like the id {ids[name]}"
            )
    return ids


@dataclass(frozen=True)
class Merges:
    """Merges in the order in which they are applied.

    Args:
        pre_tokenizer: the pre-tokenization.
        symbols: the symbol of each atom by id, as in `bpeviz.pretokenizers.pretokenizer`.
        merges: left id, right id and new id of each merge.
        special: ids by special token; the unknown token is one of them.
        counts: count of each merge's pair, or empty if unknown.
    """

    pre_tokenizer: PreTokenizer
    symbols: Mapping[int, str]
    merges: Sequence[tuple[int, int, int]]
    special: Mapping[str, int] = field(default_factory=dict)
    counts: Sequence[int] = ()

    def check_sizes(self) -> None:
        """Raise `UnsupportedError` if the tokens have too many bytes, alone or together."""
        sizes = {i: len(symbol.encode()) for i, symbol in self.symbols.items()}
        if self.pre_tokenizer.atoms == "bytes":
            sizes = dict.fromkeys(self.symbols, 1)
        total = sum(sizes.values())
        if reason := too_long(sizes, self.merges, total):
            raise UnsupportedError(reason)

    def spellings(self, symbols: Mapping[int, str]) -> dict[int, str]:
        """Return the spelling of each token by id, from the spelling of each atom.

        Raises:
            UnsupportedError: two tokens have the same spelling.
        """
        self.check_sizes()
        spellings = dict(symbols)
        for left, right, new in self.merges:
            spellings[new] = spellings[left] + spellings[right]
        ids_by_spelling(spellings, self.special)
        return spellings


def too_long(sizes: dict[int, int], merges: Iterable[tuple[int, int, int]], total: int) -> str:
    """Return why tokens have too many bytes, as a clause, or "".

    Args:
        sizes: the bytes of each token before the first merge by id; those of merges are added.
        merges: left id, right id and new id of each.
        total: the bytes of all tokens before the first merge.
    """
    for left, right, new in merges:
        sizes[new] = sizes[left] + sizes[right]
        total += sizes[new]
        if sizes[new] > MAX_TOKEN or total > MAX_SPELLED:
            return (
                f"its tokens are too long: the id {new} has {sizes[new]:,} bytes; the limits are "
                f"{MAX_TOKEN:,} for one and {MAX_SPELLED:,} for all"
            )
    return ""


def merges_of(tokenizer: Tokenizer) -> Merges:
    """Return the merges of a tokenizer that encodes by applying them in order.

    Raises:
        UnsupportedError: the tokenizer encodes in another way.
    """
    merges = _merges_of(tokenizer)
    _check_ids(merges)
    return merges


def byte_merges_of(tokenizer: Tokenizer) -> Merges:
    """Return the merges of a tokenizer over all 256 bytes. Raises `UnsupportedError`."""
    merges = merges_of(tokenizer)
    if merges.pre_tokenizer.atoms != "bytes":
        raise UnsupportedError(NOT_BYTES)
    if len(merges.symbols) < 256:
        raise UnsupportedError(MISSING_BYTES)
    return merges


def _check_ids(merges: Merges) -> None:
    ids = [*merges.symbols, *(new for _, _, new in merges.merges), *merges.special.values()]
    if len({*ids}) < len(ids):
        duplicate = next(token_id for token_id, times in Counter(ids).items() if times > 1)
        raise UnsupportedError(f"two tokens have the id {duplicate}")
    if max(ids, default=0) > MAX_ID:
        raise UnsupportedError(f"its id {max(ids)} exceeds the limit of {MAX_ID:,}")


def _merges_of(tokenizer: Tokenizer) -> Merges:
    return _OF_KIND.get(tokenizer.exact_kind, _merges_of_merger)(tokenizer)


def _merges_of_remapped(tokenizer: RemappedTokenizer) -> Merges:
    dense = _merges_of(tokenizer.dense)
    table = tokenizer.table.tolist()
    return replace(
        dense,
        symbols={table[i]: symbol for i, symbol in dense.symbols.items()},
        merges=[(table[a], table[b], table[new]) for a, b, new in dense.merges],
        special=dict(tokenizer.special),
    )


def _merges_of_merger(tokenizer: Tokenizer) -> Merges:
    """Return the merges of a tokenizer trained here. Raises `UnsupportedError`."""
    if not isinstance(tokenizer, MergedVocabulary):
        raise UnsupportedError("it does not merge")
    try:
        merger = tokenizer.as_merges()
    except NotMergesError as error:
        raise UnsupportedError(str(error)) from None
    pre_tokenizer = merger.pre_tokenizer
    if not pre_tokenizer.marks_spaces:
        kind = type(pre_tokenizer)
        if any(getattr(kind, name) is not getattr(PreTokenizer, name) for name in _PRE_TOKENIZING):
            raise UnsupportedError("its pre-tokenization is not a pattern alone")
        pre_tokenizer = PreTokenizer(
            pre_tokenizer.atoms,
            pre_tokenizer.pattern,
            pre_tokenizer.expression,
            pre_tokenizer.end_mark,
        )
    return Merges(
        pre_tokenizer,
        dict(enumerate(merger.alphabet)),
        [(merge.left, merge.right, merge.new_id) for merge in merger.merges],
        dict(tokenizer.special_tokens),
        [merge.count for merge in merger.merges],
    )


def as_ranks(tokenizer: Tokenizer) -> RankTokenizer | None:
    """Return a tokenizer of ranks itself, or None for any other one."""
    return cast("RankTokenizer", tokenizer) if tokenizer.exact_kind == RankTokenizer.kind else None


def pattern_of_ranks(tokenizer: RankTokenizer) -> tuple[str, str]:
    """Return the pattern and the expression of a rank tokenizer. Raises `UnsupportedError`."""
    if tokenizer.pattern:
        return tokenizer.pattern, tokenizer.expression
    try:
        return pattern_of(tokenizer._encoding._pat_str, "rust")
    except DialectError as error:
        raise UnsupportedError(f"its pre-tokenization cannot be translated: {error}") from error


@of_latest
def _merges_of_ranks(tokenizer: RankTokenizer) -> Merges:
    """Recover the merges of a rank table.

    tiktoken looks up the joined bytes of two neighbors, and a pre-token as a whole. That is
    equivalent to merging pairs if the lower ranks alone merge each token from two others. For the
    merges inside a part of the text depend only on that part, as long as both its ends are
    boundaries.
    """
    pattern, expression = pattern_of_ranks(tokenizer)
    ranks = tokenizer._ranks
    merges: list[tuple[int, int, int]] = []
    symbols: dict[int, str] = {}
    for raw, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(raw) == 1:
            symbols[rank] = raw.decode("latin-1")
            continue
        parents = parents_by_rank(raw, rank, ranks)
        if parents is None:
            raise UnsupportedError(
                f"no merges of lower ranks produce its token {quoted(raw)} (rank {rank}), which "
                "tiktoken encodes directly"
            )
        merges.append((*parents, rank))
    special = dict(tokenizer.special_tokens)
    return Merges(PreTokenizer("bytes", pattern, expression), symbols, merges, special)


def _merges_of_continued(tokenizer: AdaptiveTokenizer) -> Merges:
    base, ours = merges_of(tokenizer.base), tokenizer.pre_tokenizer
    theirs = base.pre_tokenizer
    if (ours.pattern, ours.expression) != (theirs.pattern, theirs.expression):
        raise UnsupportedError("its added merges have another pre-tokenization than its base")
    added = [(merge.left, merge.right, merge.new_id) for merge in tokenizer.merges]
    special = dict(tokenizer.special_tokens)
    return replace(base, merges=[*base.merges, *added], special=special, counts=())


_OF_KIND: Mapping[str, Callable[[Any], Merges]] = {
    RemappedTokenizer.kind: _merges_of_remapped,
    RankTokenizer.kind: _merges_of_ranks,
    AdaptiveTokenizer.kind: _merges_of_continued,
}
"""What returns the merges of a tokenizer that is not a vocabulary of merges."""


def ranks_of(merges: Merges) -> dict[bytes, int]:
    """Return the rank of each token over bytes, for a program that looks up bytes, not pairs.

    Raises:
        UnsupportedError: that program would merge differently.
    """
    if {*merges.symbols} != {*range(256)}:
        raise UnsupportedError("its single bytes have other ids than 0 to 255")
    if any(a >= b for (_, _, a), (_, _, b) in pairwise(merges.merges)):
        raise UnsupportedError("its ids are not in the order of its merges")
    raw = {i: name.encode("latin-1") for i, name in merges.spellings(merges.symbols).items()}
    ranks = {token: token_id for token_id, token in raw.items()}
    for left, right, new in merges.merges:
        if parents_by_rank(raw[new], new, ranks) != (left, right):
            raise UnsupportedError(
                f"its token {quoted(raw[new])} (id {new}) is merged from other parts if bytes are "
                "looked up instead of pairs"
            )
    return ranks


def tokenizer_of(name: str, merges: Merges) -> TrainedTokenizer | RemappedTokenizer:
    """Return the tokenizer of merges from a file, whose halves must exist before each merge.

    Raises:
        UnsupportedError: the tokens are too long, or two tokens have the same id.
    """
    merges.check_sizes()
    _check_ids(merges)
    atoms = sorted(merges.symbols)
    dense_id = {token_id: i for i, token_id in enumerate(atoms)}
    dense_merges: list[Merge] = []
    counts = merges.counts or [0] * len(merges.merges)
    for (left, right, new), count in zip(merges.merges, counts, strict=True):
        dense_id[new] = len(dense_id)
        dense_merges.append(Merge(dense_id[left], dense_id[right], dense_id[new], count, 0, 0))
    pre_tokenizer = merges.pre_tokenizer
    alphabet = tuple(merges.symbols[i] for i in atoms)
    names = sorted(merges.special, key=merges.special.__getitem__)
    special = tuple(name for name in names if name != pre_tokenizer.unknown)
    cls: Any = SentencePieceTokenizer if pre_tokenizer.marks_spaces else MergeTokenizer
    dense = cls(name, pre_tokenizer, alphabet, tuple(dense_merges), special=special)
    return with_ids(dense, tuple(dense_id), merges.special)


class MergeParser:
    """Checks merges of a file by their ids, and collects them.

    Args:
        file: name of the file.
        atoms: the ids of the atoms.
        special: the ids of special tokens, which no merge makes.
        entries: ids by spelling, in a file that contains spellings.
    """

    def __init__(
        self,
        file: str,
        atoms: Collection[int],
        special: Collection[int] = (),
        entries: Mapping[str, int] | None = None,
    ) -> None:
        self.file, self.entries = file, entries or {}
        self.known = {*atoms}
        self.merges: list[tuple[int, int, int]] = []
        self._special = {*special}
        self._pairs: set[tuple[int, int]] = set()

    def add_spelled(self, place: str, left: str, right: str) -> None:
        """Add the merge of two spellings at a place in the file. Raises `FormatError`."""
        names = (left, right, left + right)
        for name in names:
            if name not in self.entries:
                raise error_at(self.file, place, f"{quoted(name)} is not in the vocabulary")
        self.add(place, *(self.entries[name] for name in names), names=names)

    def add(self, place: str, *ids: int, names: Sequence[str] = ()) -> None:
        """Add the merge at a place in the file. Raises `FormatError`.

        Args:
            place: such as a line.
            ids: the ids of the two halves and the new id.
            names: their spellings, in a file that contains spellings.
        """

        def refused(i: int, reason: str) -> FormatError:
            name = quoted(names[i]) if names else f"the id {ids[i]}"
            return error_at(self.file, place, f"{name} {reason}")

        left, right, new = ids
        for i, half in enumerate((left, right)):
            if half not in self.known:
                raise refused(i, "is used before a merge makes it")
        if new in self.known or new in self._special:
            raise refused(2, "already exists; a second merge for it is not supported")
        if (left, right) in self._pairs:
            raise error_at(self.file, place, f"the pair {left}, {right} is already merged")
        self._pairs.add((left, right))
        self.known.add(new)
        self.merges.append((left, right, new))

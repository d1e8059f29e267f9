"""Merges as files hold them: atoms and merges with their ids, special tokens, and the split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from bpeviz.core.merges import Merge, MergeTokenizer
from bpeviz.core.tokenizer import NotMergesError, Tokenizer
from bpeviz.formats.parsing import MAX_ID, MAX_SPELT, MAX_TOKEN, shown
from bpeviz.formats.rank_table import LoadedRanks, halves
from bpeviz.formats.regex_dialects import ForeignExpressionError, splitting_of
from bpeviz.formats.remapped_ids import RemappedTokenizer, with_ids
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.pretrained.rank_tokenizer import RankTokenizer
from bpeviz.trainers.continued_bpe import AdaptiveTokenizer
from bpeviz.trainers.multilingual_bpe import MultilingualSplitting
from bpeviz.trainers.sentencepiece_bpe import SentencePiecePreTokenizer, SentencePieceTokenizer


class CannotError(Exception):
    """Why a tokenizer cannot be held; its text is a clause."""


@dataclass(frozen=True)
class Merges:
    """Merges, the first to be applied first.

    symbols: of each atom, by id, as in `bpeviz.pretokenizers.pretokenizer`. merges: left id, right id, the id made.
    special: ids by name, that of what is unknown among them. counts: how often each merge's pair
    came, where that is known.
    """

    pre_tokenizer: PreTokenizer
    symbols: Mapping[int, str]
    merges: Sequence[tuple[int, int, int]]
    special: Mapping[str, int] = field(default_factory=dict)
    counts: Sequence[int] = ()

    @cached_property
    def sizes(self) -> dict[int, int]:
        """How many bytes each token has, by id. Raises `CannotError` where that is too much."""
        found = {i: len(symbol.encode()) for i, symbol in self.symbols.items()}
        if self.pre_tokenizer.atoms == "bytes":
            found = dict.fromkeys(self.symbols, 1)
        together = sum(found.values())
        for left, right, new in self.merges:
            found[new] = found[left] + found[right]
            together += found[new]
            if found[new] > MAX_TOKEN or together > MAX_SPELT:
                raise CannotError(
                    f"its tokens are too long (the one with id {new} has {found[new]:,} bytes; one "
                    f"may have {MAX_TOKEN:,}, and all together {MAX_SPELT:,})"
                )
        return found

    def spelt(self, symbols: Mapping[int, str]) -> dict[int, str]:
        """Return each token spelt out, by id, from what its atoms are called.

        Raises `CannotError` where two are spelt alike.
        """
        _ = self.sizes
        found = dict(symbols)
        for left, right, new in self.merges:
            found[new] = found[left] + found[right]
        ids: dict[str, int] = {}
        for token_id, name in found.items():
            if name in ids:
                raise CannotError(
                    f"the ids {ids[name]} and {token_id} are both spelt {shown(name)}, and there "
                    "a spelling has one id"
                )
            ids[name] = token_id
        for name in self.special:
            if name in ids:
                raise CannotError(
                    f"its special token {shown(name)} is spelt like the token with id {ids[name]}"
                )
        return found

    def raw(self) -> dict[int, bytes]:
        """Return each token's bytes, by id, over bytes. Raises `CannotError` as `spelt`."""
        found = self.spelt(self.symbols)
        return {token_id: name.encode("latin-1") for token_id, name in found.items()}

    @property
    def in_order(self) -> bool:
        """Whether the ids of the merges rise in the order in which they are applied."""
        ids = [-1, *(new for _, _, new in self.merges)]
        return all(a < b for a, b in pairwise(ids))


def merges_of(tokenizer: Tokenizer) -> Merges:
    """Return the merges of a tokenizer that does nothing but apply them in their order.

    Raises `CannotError` for any other.
    """
    found = _merges_of(tokenizer)
    _check_ids(found)
    return found


def _check_ids(found: Merges) -> None:
    ids = [*found.symbols, *(new for _, _, new in found.merges), *found.special.values()]
    if len({*ids}) < len(ids):
        twice = next(token_id for token_id, times in Counter(ids).items() if times > 1)
        raise CannotError(f"the id {twice} stands for two tokens")
    if max(ids, default=0) > MAX_ID:
        raise CannotError(f"it has the id {max(ids)}, and none above {MAX_ID:,} is taken")


def _merges_of(tokenizer: Tokenizer) -> Merges:
    if isinstance(tokenizer, RemappedTokenizer):
        inner = _merges_of(tokenizer.inner)
        table = tokenizer.table.tolist()
        return replace(
            inner,
            symbols={table[i]: symbol for i, symbol in inner.symbols.items()},
            merges=[(table[a], table[b], table[new]) for a, b, new in inner.merges],
            special=dict(tokenizer.special),
        )
    if isinstance(tokenizer, RankTokenizer):
        return _of_ranks(tokenizer)
    if isinstance(tokenizer, AdaptiveTokenizer):
        return _of_adaptive(tokenizer)
    try:
        merging = tokenizer.as_merges()
    except NotMergesError as error:
        raise CannotError(str(error)) from None
    pre_tokenizer = merging.pre_tokenizer
    if isinstance(pre_tokenizer, MultilingualSplitting):
        raise CannotError(
            "it parts texts at lines of three dashes, which is no split of the kinds known there"
        )
    if not isinstance(pre_tokenizer, SentencePiecePreTokenizer):
        pre_tokenizer = PreTokenizer(
            pre_tokenizer.atoms,
            pre_tokenizer.pattern,
            pre_tokenizer.expression,
            pre_tokenizer.end_mark,
        )
    return Merges(
        pre_tokenizer,
        dict(enumerate(merging.alphabet)),
        [(merge.left, merge.right, merge.new_id) for merge in merging.merges],
        dict(tokenizer.special_tokens),
        [merge.count for merge in merging.merges],
    )


def split_of_ranks(tokenizer: RankTokenizer) -> tuple[str, str]:
    """Return the split of a tokenizer of ranks, as `pattern` and `expression`."""
    if isinstance(tokenizer, LoadedRanks):
        return tokenizer.pattern, tokenizer.expression
    try:
        return splitting_of(tokenizer._encoding._pat_str, "rust", drops=True)
    except ForeignExpressionError as error:
        raise CannotError(f"its split is not read alike there: {error}") from error


def _of_ranks(tokenizer: RankTokenizer) -> Merges:
    """Recover the merges of ranks.

    tiktoken looks up the bytes of two neighbors joined, and a pre-token as a whole. That comes to the
    same as merging pairs where each token, by itself, is made of two others by lower ranks alone:
    what becomes of a stretch of text while both its ends stand depends on that stretch alone.
    """
    pattern, expression = split_of_ranks(tokenizer)
    ranks = tokenizer._ranks
    merges: list[tuple[int, int, int]] = []
    symbols: dict[int, str] = {}
    for raw, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(raw) == 1:
            symbols[rank] = raw.decode("latin-1")
            continue
        parents = halves(raw, rank, ranks)
        if parents is None:
            raise CannotError(
                f"no merges of lower ranks lead to its token {shown(raw)} (rank {rank}), which "
                "tiktoken takes whole"
            )
        merges.append((*parents, rank))
    return Merges(
        PreTokenizer("bytes", pattern, expression), symbols, merges, dict(tokenizer.special_tokens)
    )


def _of_adaptive(tokenizer: AdaptiveTokenizer) -> Merges:
    base = merges_of(tokenizer.base)
    ours = tokenizer.pre_tokenizer
    if (ours.pattern, ours.expression) != (
        base.pre_tokenizer.pattern,
        base.pre_tokenizer.expression,
    ):
        raise CannotError(
            "the vocabulary that it began with splits a text in another way than what was added"
        )
    added = [(merge.left, merge.right, merge.new_id) for merge in tokenizer.merges]
    special = dict(tokenizer.special_tokens)
    return replace(base, merges=[*base.merges, *added], special=special, counts=())


def by_ranks(merges: Merges) -> dict[bytes, int]:
    """Return the rank of each token, for a reader that looks up bytes instead of pairs.

    Raises `CannotError` where that reader would merge otherwise.
    """
    if merges.pre_tokenizer.atoms != "bytes":
        raise CannotError("its atoms are characters, and there they are bytes")
    if {*merges.symbols} != {*range(256)}:
        raise CannotError("its single bytes have other ids than 0 to 255")
    if not merges.in_order:
        raise CannotError("its ids do not rise in the order of the merges, and there they are one")
    ranks = {raw: token_id for token_id, raw in merges.raw().items()}
    of_id = {token_id: raw for raw, token_id in ranks.items()}
    for left, right, new in merges.merges:
        if halves(of_id[new], new, ranks) != (left, right):
            raise CannotError(
                f"its token {shown(of_id[new])} (id {new}) is merged from other parts where bytes "
                "are looked up instead of pairs"
            )
    return ranks


def built(name: str, merges: Merges) -> Tokenizer:
    """Return the tokenizer of merges that were read.

    Raises `CannotError` where its tokens would be too long, or an id stands for two of them. That
    each merge is of what is there already is to be checked before.
    """
    _ = merges.sizes
    _check_ids(merges)
    atoms = sorted(merges.symbols)
    inner_id = {token_id: i for i, token_id in enumerate(atoms)}
    learnt: list[Merge] = []
    counts = merges.counts or [0] * len(merges.merges)
    for (left, right, new), count in zip(merges.merges, counts, strict=True):
        inner_id[new] = len(inner_id)
        learnt.append(Merge(inner_id[left], inner_id[right], inner_id[new], count, 0, 0))
    pre_tokenizer = merges.pre_tokenizer
    names = tuple(sorted(merges.special, key=merges.special.__getitem__))
    alphabet = tuple(merges.symbols[i] for i in atoms)
    special = tuple(one for one in names if one != pre_tokenizer.unknown)
    inner: MergeTokenizer
    if isinstance(pre_tokenizer, SentencePiecePreTokenizer):
        inner = SentencePieceTokenizer(
            name, pre_tokenizer, alphabet, tuple(learnt), special=special
        )
    else:
        inner = MergeTokenizer(name, pre_tokenizer, alphabet, tuple(learnt), special=special)
    return with_ids(inner, tuple(inner_id), merges.special)

"""Tokenizers from rank tables: a rank for the bytes of each token, as tiktoken stores them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.tiktoken_engine import WHOLE, pre_token_encoder
from bpeviz.pretokenizers.patterns import pretokenize, pretokenize_each
from bpeviz.pretrained.rank_tokenizer import RankTokenizer, below, check_bytes, from_ranks, merged

_SHORT = 32  # bytes up to which a repeated scan of all pairs is faster


def parents_by_rank(raw: bytes, rank: int, ranks: Mapping[bytes, int]) -> tuple[int, int] | None:
    """Return the two tokens that lower ranks merge into a token, or None if they do not."""
    if len(raw) > _SHORT:
        parts, _ = merged(raw, below(rank, ranks))
    else:
        parts = [raw[i : i + 1] for i in range(len(raw))]
        while len(parts) > 2:
            pair_ranks = [ranks.get(a + b, rank) for a, b in pairwise(parts)]
            lowest = min(pair_ranks)
            if lowest >= rank:
                return None
            at = pair_ranks.index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return (ranks[parts[0]], ranks[parts[1]]) if len(parts) == 2 else None


class LoadedRanks(RankTokenizer):
    """A tokenizer with the ranks of a file and a pre-tokenization of bpeviz."""

    kind: ClassVar[str] = "ranks"

    def __init__(
        self,
        name: str,
        pattern: str,
        expression: str,
        ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
    ) -> None:
        """Raise `ValueError` if the ranks 0 to 255 are not the single bytes."""
        check_bytes(ranks)
        self.name, self.pattern, self.expression = name, pattern, expression
        self._ranks, self._special, self._trees = dict(ranks), dict(special_tokens), {}

    @cached_property
    def _encoding(self) -> Any:
        """The engine, which is made where it is first used: not where a worker reads the file."""
        # The tokenizer splits the text itself, with a time limit.
        return from_ranks(self.name, WHOLE, self._ranks, self._special)._encoding

    @property
    def vocab_size(self) -> int:
        return max(*self._ranks.values(), *self._special.values()) + 1

    @property
    def special_tokens(self) -> Mapping[str, int]:
        return self._special

    def at_step(self, step: int) -> LoadedRanks:
        step = max(0, step)
        ranks = {raw: rank for raw, rank in self._ranks.items() if rank < 256 + step}
        name = f"{self.name}, first {step} merges"
        return LoadedRanks(name, self.pattern, self.expression, ranks, {})

    def _pre_tokens(self, text: str) -> Iterator[bytes]:
        pre_tokens = pretokenize(text, self.pattern, self.expression)
        return (pre_token.encode() for pre_token in pre_tokens)

    def _ids_of_each(self, texts: Sequence[str]) -> Iterator[NDArray[np.int32]]:
        encode = self._encode_pre_token
        for pre_tokens in pretokenize_each(texts, self.pattern, self.expression):
            ranks = (rank for pre_token in pre_tokens for rank in encode(pre_token.encode()))
            yield np.fromiter(ranks, np.int32)

    @cached_property
    def _encode_pre_token(self) -> Callable[[bytes], list[int]]:
        return pre_token_encoder(self._encoding)

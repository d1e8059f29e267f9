"""A table of ranks from a file, with a split of ours."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretrained.rank_tokenizer import RankTokenizer, below, from_ranks, merged

_WHOLE = "(?s:.+)"  # pre-tokens are cut here, with a time limit for others' expressions

_SHORT = 32  # bytes up to which looking at all pairs again and again is the faster way


def halves(raw: bytes, rank: int, ranks: Mapping[bytes, int]) -> tuple[int, int] | None:
    """Return the two tokens of which lower ranks alone make one, or None where they do not."""
    if len(raw) > _SHORT:
        parts, _ = merged(raw, below(rank, ranks))
        return (ranks[parts[0]], ranks[parts[1]]) if len(parts) == 2 else None
    parts = [raw[i : i + 1] for i in range(len(raw))]
    get = ranks.get
    while len(parts) > 2:
        found = [get(a + b, rank) for a, b in pairwise(parts)]
        lowest = min(found)
        if lowest >= rank:
            return None
        at = found.index(lowest)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return (ranks[parts[0]], ranks[parts[1]]) if len(parts) == 2 else None


class LoadedRanks(RankTokenizer):
    """A tokenizer of ranks that were read from a file, with the split that belongs to them."""

    def __init__(
        self,
        name: str,
        pattern: str,
        expression: str,
        ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
    ) -> None:
        """Raises `ValueError` where ranks 0 to 255 are not the single bytes."""
        super().__init__(from_ranks(name, _WHOLE, ranks, special_tokens)._encoding)
        self.pattern, self.expression = pattern, expression

    def at_step(self, step: int) -> LoadedRanks:
        step = max(0, step)
        ranks = {raw: rank for raw, rank in self._ranks.items() if rank < 256 + step}
        name = f"{self.name}, first {step} merges"
        return LoadedRanks(name, self.pattern, self.expression, ranks, {})

    def _pre_tokens(self, text: str) -> list[bytes]:
        return [
            pre_token.encode() for pre_token in pretokenize(text, self.pattern, self.expression)
        ]

    def _encode_ordinary(self, text: str) -> list[int]:
        encode = self._encoding._encode_single_piece
        return [rank for pre_token in self._pre_tokens(text) for rank in encode(pre_token)]

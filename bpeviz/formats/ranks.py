"""A table of ranks from a file: right at every step, whatever the order of its ranks.

In the tables that are published, a token is made of two others by lower ranks alone. In others it
need not be: a lower rank may become possible after a higher one, and a token may be there that no
merges lead to, which is only ever a whole chunk. `RankTokenizer` encodes such tables as tiktoken
does, but takes the latest merge inside a token for the one that made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bpeviz.boundaries import INSIDE, Boundaries, Changes, boundaries_from_changes
from bpeviz.encodings import RankTokenizer, from_ranks
from bpeviz.pretokenize import split
from bpeviz.text import clean

_WHOLE = "(?s:.+)"  # chunks are cut here, with a time limit for others' expressions


class _Event(NamedTuple):
    """A merge: of what begins at `start` and at `middle`, to the token `rank`."""

    rank: int
    start: int
    middle: int


class _Chunk(NamedTuple):
    """How a chunk is cut: the ids in the end, and the merges that lead there, in their order."""

    ids: tuple[int, ...]
    events: tuple[_Event, ...]


def _merged(raw: bytes, ranks: Mapping[bytes, int], below: int | None = None) -> _Chunk:
    """Merge bytes by rank, the lowest first and from the left, as tiktoken does.

    below: take only lower ranks than this.
    """
    parts = [raw[i : i + 1] for i in range(len(raw))]  # each where it begins; b"" where none does
    following = list(range(1, len(raw) + 1))
    preceding = list(range(-1, len(raw) - 1))
    waiting: list[tuple[int, int]] = []
    events: list[_Event] = []

    def rank_at(i: int) -> int | None:
        j = following[i]
        rank = ranks.get(parts[i] + parts[j]) if parts[i] and j < len(raw) else None
        return None if rank is None or (below is not None and rank >= below) else rank

    def note(i: int) -> None:
        rank = rank_at(i)
        if rank is not None:
            heappush(waiting, (rank, i))

    for i in range(len(raw)):
        note(i)
    while waiting:
        rank, i = heappop(waiting)
        if rank_at(i) != rank:  # an earlier merge took one of the two
            continue
        j = following[i]
        events.append(_Event(rank, i, j))
        parts[i], parts[j] = parts[i] + parts[j], b""
        following[i] = k = following[j]
        if k < len(raw):
            preceding[k] = i
        note(i)
        if i:
            note(preceding[i])
    return _Chunk(tuple(ranks[part] for part in parts if part), tuple(events))


_SHORT = 32  # bytes up to which looking at all pairs again and again is the faster way


def halves(raw: bytes, rank: int, ranks: Mapping[bytes, int]) -> tuple[int, int] | None:
    """Return the two tokens of which lower ranks alone make one, or None where they do not."""
    if len(raw) > _SHORT:
        ids = _merged(raw, ranks, rank).ids
        return (ids[0], ids[1]) if len(ids) == 2 else None
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

    MEMO, MEMO_LENGTH = 50_000, 200
    """How many chunks are remembered, and how many bytes such a chunk has at most."""

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
        self._known: dict[bytes, _Chunk] = {}

    def at_step(self, step: int) -> LoadedRanks:
        step = max(0, step)
        ranks = {raw: rank for raw, rank in self._ranks.items() if rank < 256 + step}
        name = f"{self.name}, first {step} merges"
        return LoadedRanks(name, self.pattern, self.expression, ranks, {})

    def known_ids(self) -> Iterable[int]:
        return sorted((*self._rank_set, *self.special_tokens.values()))

    def _chunks(self, text: str) -> list[bytes]:
        return [chunk.encode() for chunk in split(text, self.pattern, self.expression)]

    def _cut(self, chunk: bytes) -> _Chunk:
        found = self._known.get(chunk)
        if found is None:
            found = _merged(chunk, self._ranks)
            if len(self._known) < self.MEMO and len(chunk) <= self.MEMO_LENGTH:
                self._known[chunk] = found
        return found

    def _encode_ordinary(self, text: str) -> list[int]:
        ids: list[int] = []
        for chunk in self._chunks(text):
            whole = self._ranks.get(chunk)
            ids += self._cut(chunk).ids if whole is None else (whole,)
        return ids

    def _is_usual(self, chunk: bytes) -> bool:
        """Tell whether each merge in a chunk comes after those of lower ranks, and each token is
        the one of its latest merge."""
        ids, events = self._cut(chunk)
        rising = all(a.rank <= b.rank for a, b in pairwise(events))
        return rising and (chunk not in self._ranks or len(ids) == 1)

    def boundaries(self, text: str) -> Boundaries:  # type: ignore[override]
        text = clean(text)
        chunks = self._chunks(text)
        distinct = [*dict.fromkeys(chunks)]
        if all(map(self._is_usual, distinct)):
            return super().boundaries(text)
        number = {chunk: i for i, chunk in enumerate(distinct)}
        raw = np.frombuffer(text.encode(), np.uint8)
        return boundaries_from_changes(
            [self._changes(chunk) for chunk in distinct],
            np.fromiter((number[chunk] for chunk in chunks), np.int64, len(chunks)),
            np.arange(1, len(raw) + 1),
            self._byte_ids[raw],
            self.steps,
        )

    def _changes(self, chunk: bytes) -> Changes:
        """Return which token begins at each byte, and when another does.

        A merge is there once all ranks up to it and to those before it are: with fewer, the lower
        ranks after a higher one would never have come about. A chunk that is a token is whole as
        soon as that token is there.
        """
        found = [{-1: self._ranks[chunk[i : i + 1]]} for i in range(len(chunk))]
        whole = self._ranks.get(chunk)
        highest = 0
        for rank, start, middle in self._cut(chunk).events:
            highest = max(highest, rank)
            if whole is not None and highest >= whole:
                break
            found[start][highest - 256] = rank
            found[middle][highest - 256] = INSIDE
        if whole is not None and len(chunk) > 1:
            found[0][whole - 256] = whole
            for at_byte in found[1:]:
                if [*at_byte.values()][-1] != INSIDE:
                    at_byte[whole - 256] = INSIDE
        return (
            np.fromiter(map(len, found), np.int64, len(found)),
            np.array([time for at_byte in found for time in at_byte], np.int32),
            np.array([entry for at_byte in found for entry in at_byte.values()], np.int32),
        )

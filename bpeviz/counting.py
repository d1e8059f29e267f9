"""The distinct chunks of a text, in the order in which they are first seen, and how often each is.

That is all a learner needs of a text, however long it is. A text is counted in blocks, cut where
its pattern breaks in any case; so what is needed beside the text are a block and the distinct
chunks. Equal chunks are found by Arrow.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bpeviz.chunk_starts import PATTERNS, chunk_starts
from bpeviz.pretokenize import BLOCK, CUSTOM, TIME_LIMIT, WORD_LIST, blocks, slices, split

Integers = npt.NDArray[np.int64]

_COMPACTED_FROM = 1 << 19
"""From so many waiting rows on, those of several blocks that hold the same chunk become one."""


class CountsError(ValueError):
    """Counts that cannot be used; the message is a sentence."""


@dataclass(frozen=True, eq=False)
class ChunkCounts(Mapping[str, int]):
    """The distinct chunks of a text in first-seen order, each with how often it comes.

    It is a mapping of chunks to counts, as learners take it. Without a Python object for each
    chunk, the same stands in arrays over the n chunks, and is not to be changed.

    blob: all distinct chunks in UTF-8, one behind the other.
    ends: int64 [n], where in `blob` each ends, in bytes.
    times: int64 [n], how often each comes, 1 or more.
    first: int64 [n], where in the text each stands first, in bytes; ascending.
    pattern, expression: how the text was split, as in `bpeviz.pretokenize.split`.

    >>> counts = count("to be or not to be")
    >>> counts[" be"], [*counts], counts.chunks[0]
    (2, ['to', ' be', ' or', ' not', ' to'], b'to')
    """

    blob: bytes
    ends: Integers
    times: Integers
    first: Integers
    pattern: str = "gpt2"
    expression: str = ""

    @cached_property
    def starts(self) -> Integers:
        """Return where in `blob` each chunk begins: int64 [n]."""
        return np.concatenate((np.zeros(1, np.int64), self.ends))[:-1]

    @cached_property
    def chunks(self) -> list[bytes]:
        """Return the distinct chunks."""
        blob = self.blob
        return [blob[start:end] for start, end in pairwise((0, *self.ends.tolist()))]

    @cached_property
    def _by_text(self) -> dict[str, int]:
        try:
            text = self.blob.decode()
            starts = self.starts
            if len(text) < len(self.blob):
                begins = (np.frombuffer(self.blob, np.int8) >= -64).cumsum()  # not inside one
                if not (np.frombuffer(self.blob, np.int8)[starts] >= -64).all():
                    raise UnicodeDecodeError("utf-8", self.blob, 0, 1, "cut character")
                starts = begins[starts] - 1
        except UnicodeDecodeError:
            raise CountsError(self._which_is_no_text()) from None
        texts = [text[start:end] for start, end in pairwise((*starts.tolist(), len(text)))]
        return dict(zip(texts, self.times.tolist(), strict=True))

    def _which_is_no_text(self) -> str:
        for chunk in self.chunks:
            try:
                chunk.decode()
            except UnicodeDecodeError:
                shown = chunk[:40].hex(" ").upper() + (" …" if len(chunk) > 40 else "")
                return f"The chunk of the bytes {shown} is not a text in UTF-8."
        raise AssertionError("all chunks are texts")

    def __getitem__(self, chunk: str) -> int:
        return self._by_text[chunk]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_text)

    def __len__(self) -> int:
        return len(self.ends)

    # Those of the dictionary are faster than what Mapping makes of the above.

    def keys(self) -> KeysView[str]:
        return self._by_text.keys()

    def values(self) -> ValuesView[int]:
        return self._by_text.values()

    def items(self) -> ItemsView[str, int]:
        return self._by_text.items()

    @property
    def size(self) -> int:
        """Return how many bytes the text has that was counted."""
        return int(((self.ends - self.starts) * self.times).sum())


class Tally:
    """Adds up the chunks of a text that comes in blocks, or of several parts of a text."""

    def __init__(self, pattern: str, expression: str = "") -> None:
        self.pattern, self.expression = pattern, expression
        self.size = 0
        """Bytes of the text that were counted."""
        self._waiting: list[ChunkCounts] = []
        self._rows = 0

    def add_text(self, block: str, time_limit: float = TIME_LIMIT) -> None:
        """Count what follows in the text. Raises `SplitError`."""
        raw = block.encode()
        if self.pattern in PATTERNS:
            starts = chunk_starts(block, self.pattern)
        else:
            chunks = split(block, self.pattern, self.expression, time_limit)
            lengths = np.fromiter(map(len, chunks), np.int64, len(chunks))
            starts = np.cumsum(lengths) - lengths
        if len(raw) > len(block):
            starts = np.flatnonzero(np.frombuffer(raw, np.int8) >= -64)[starts]
        ends = np.append(starts[1:], len(raw)) if len(starts) else starts
        self._add(self._distinct(raw, ends, None, starts + self.size))
        self.size += len(raw)

    def add(self, counts: ChunkCounts) -> None:
        """Add what was counted elsewhere in the same text; in any order."""
        self._add(counts)
        self.size += counts.size

    def result(self) -> ChunkCounts:
        """Return what was counted up to now."""
        self._compact()
        if not self._waiting:
            none = np.zeros(0, np.int64)
            return ChunkCounts(b"", none, none, none, self.pattern, self.expression)
        return self._waiting[0]

    def _add(self, counts: ChunkCounts) -> None:
        self._waiting.append(counts)
        self._rows += len(counts)
        if self._rows > max(_COMPACTED_FROM, 2 * len(self._waiting[0])):
            self._compact()

    def _compact(self) -> None:
        if len(self._waiting) > 1:
            sizes = np.array([len(counts.blob) for counts in self._waiting], np.int64)
            before = np.cumsum(sizes) - sizes
            all_of_them = self._distinct(
                b"".join(counts.blob for counts in self._waiting),
                np.concatenate([c.ends + at for c, at in zip(self._waiting, before, strict=True)]),
                np.concatenate([counts.times for counts in self._waiting]),
                np.concatenate([counts.first for counts in self._waiting]),
            )
            self._waiting = [all_of_them]
        self._rows = sum(map(len, self._waiting))

    def _distinct(
        self, raw: bytes, ends: Integers, times: Integers | None, first: Integers
    ) -> ChunkCounts:
        """Return the distinct ones of the chunks that end at `ends`, in first-seen order.

        times: how often each counts; None: once.
        """
        import pyarrow as pa  # here, since it takes a moment to load

        large = len(raw) >= 1 << 31
        offsets = np.concatenate((np.zeros(1, np.int64), ends))
        chunks = pa.Array.from_buffers(
            pa.large_binary() if large else pa.binary(),
            len(ends),
            [None, pa.py_buffer(offsets if large else offsets.astype(np.int32)), pa.py_buffer(raw)],
        )
        encoded = chunks.dictionary_encode()
        found, codes = encoded.dictionary, encoded.indices.to_numpy()
        n = len(found)
        seen = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(seen, codes, first)
        if times is None:
            added = np.bincount(codes, minlength=n)
        else:
            added = np.zeros(n, np.int64)
            np.add.at(added, codes, times)
        # Arrow gives them in the order of the rows, but does not promise it; nor are those of
        # several parts of a text in order.
        if (seen[1:] < seen[:-1]).any():
            order = np.argsort(seen)
            found, seen, added = found.take(pa.array(order)), seen[order], added[order]
        _, offset_buffer, data = found.buffers()
        edges = np.frombuffer(offset_buffer, np.int64 if large else np.int32)
        edges = edges[found.offset : found.offset + n + 1].astype(np.int64)
        blob = b"" if data is None else data[int(edges[0]) : int(edges[-1])].to_pybytes()
        return ChunkCounts(blob, edges[1:] - edges[0], added, seen, self.pattern, self.expression)


def count_blocks(
    pieces: Iterable[str], pattern: str = "gpt2", expression: str = "", *, block: int = BLOCK
) -> ChunkCounts:
    """Count the chunks of the text that `pieces` are, joined; not more of it is held than needed.

    That is about a `block` of characters, or what stands between two places where the text may be
    cut; with "regex" or "none" as the pattern it is the whole text. An expression or a word list
    may take `TIME_LIMIT` seconds for each block. Raises `SplitError`.
    """
    tally = Tally(pattern, expression)
    for text in blocks(pieces, pattern, block):
        tally.add_text(text, TIME_LIMIT * max(1.0, len(text) / BLOCK))
    return tally.result()


def count(text: str, pattern: str = "gpt2", expression: str = "") -> ChunkCounts:
    """Count the chunks of a text, which has no lone surrogates (`bpeviz.text.clean`).

    pattern, expression: as in `bpeviz.pretokenize.split`, whose time limit holds for the whole
    text. Raises `SplitError`.
    """
    tally = Tally(pattern, expression)
    cut = pattern not in (CUSTOM, WORD_LIST)
    for block in blocks(slices(text), pattern) if cut else [text]:
        tally.add_text(block)
    return tally.result()

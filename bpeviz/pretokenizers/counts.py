"""Count the distinct pre-tokens of a text, in the order of first occurrence.

Trainers need only these counts. A text is counted in blocks that end at boundaries of pre-tokens,
so that memory contains one block and the distinct pre-tokens. Arrow finds equal pre-tokens.
"""

from __future__ import annotations

from collections.abc import (
    Hashable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    Sized,
    ValuesView,
)
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from bpeviz.cached_property import cached_property
from bpeviz.pretokenizers.patterns import (
    BLANK_LINE,
    BLOCK,
    PATTERNS,
    TIME_LIMIT,
    WORD_LIST,
    blocks,
    breaks,
    pretokenize,
    slices,
)
from bpeviz.pretokenizers.vectorized import PATTERNS as AT_ONCE
from bpeviz.pretokenizers.vectorized import pre_token_starts, word_ends

Integers = npt.NDArray[np.int64]
Item = TypeVar("Item", bound=Hashable)

_COMPACT_ROWS = 1 << 19
"""The number of pending rows from which equal pre-tokens of several blocks are combined."""

_SHARE_ROWS = 1 << 20
"""The number of rows from which Arrow encodes one share at a time, to save memory.

Its hash table of all rows takes several times their memory.
"""

_SHARES = 4

_TEXTS = 20_000
"""The number of short texts that are counted at once."""

_SEPARATOR = b"\xff"
"""It is between texts that are counted at once. UTF-8 has no such byte."""


class CountsError(ValueError):
    """Counts are not valid; the message is for users."""


@dataclass(frozen=True, eq=False)
class PreTokenCounts(Mapping[str, int]):
    """The count of each distinct pre-token of a text, in the order of first occurrence.

    Trainers use it as a mapping of pre-tokens to counts. The arrays over the n pre-tokens contain
    the same data without a Python object for each; do not modify them.

    Attributes:
        blob: All distinct pre-tokens in UTF-8, joined.
        ends: The end of each in `blob`, in bytes. int64 [n].
        times: The count of each, 1 or more. int64 [n].
        first: The first position of each in the text, in bytes, in rising order. int64 [n].
        pattern: The pre-tokenization pattern.
        expression: The expression of the pattern.

    >>> counts = count("to be or not to be")
    >>> counts[" be"], [*counts], counts.pre_tokens[0]
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
        """The start of each pre-token in `blob`, in bytes. int64 [n]."""
        return np.concatenate((np.zeros(1, np.int64), self.ends))[:-1]

    @cached_property
    def pre_tokens(self) -> list[bytes]:
        """The distinct pre-tokens."""
        pre_tokens: list[bytes] = arrow_pre_tokens(self.blob, self.ends).to_pylist()
        return pre_tokens

    @cached_property
    def _by_text(self) -> dict[str, int]:
        try:
            texts = arrow_pre_tokens(self.blob, self.ends, text=True).to_pylist()
        except UnicodeDecodeError:
            raise CountsError(self._not_utf8_message()) from None
        return dict(zip(texts, self.times.tolist(), strict=True))

    def _not_utf8_message(self) -> str:
        for pre_token in self.pre_tokens:
            try:
                pre_token.decode()
            except UnicodeDecodeError:
                name = pre_token[:40].hex(" ").upper() + (" …" if len(pre_token) > 40 else "")
                return f"The pre-token of the bytes {name} is not valid UTF-8."
        raise AssertionError("all pre-tokens are valid")

    def __getitem__(self, pre_token: str) -> int:
        return self._by_text[pre_token]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_text)

    def __len__(self) -> int:
        return len(self.ends)

    # The dictionary's own views are faster than the defaults of Mapping.

    def keys(self) -> KeysView[str]:
        return self._by_text.keys()

    def values(self) -> ValuesView[int]:
        return self._by_text.values()

    def items(self) -> ItemsView[str, int]:
        return self._by_text.items()

    @property
    def size(self) -> int:
        """The size of the counted text in bytes."""
        return int(((self.ends - self.starts) * self.times).sum())


def arrow_pre_tokens(raw: bytes, ends: Integers, *, text: bool = False) -> Any:
    """Return pre-tokens as an Arrow array of bytes or texts, without a copy.

    Args:
        raw: The n pre-tokens, joined.
        ends: The end of each in `raw`, in bytes. int64 [n].
        text: Whether the array is of texts.
    """
    import pyarrow as pa  # a slow import

    offsets = np.concatenate((np.zeros(1, np.int64), ends))
    return pa.Array.from_buffers(
        pa.large_string() if text else pa.large_binary(),
        len(ends),
        [None, pa.py_buffer(offsets), pa.py_buffer(raw)],
    )


def distinct(
    raw: bytes,
    ends: Integers,
    times: Integers | None,
    first: Integers,
    pattern: str,
    expression: str = "",
) -> PreTokenCounts:
    """Return the distinct pre-tokens in the order of first occurrence.

    Args:
        raw: The n pre-tokens, joined.
        ends: The end of each in `raw`, in bytes. int64 [n].
        times: The count of each, or None for 1. int64 [n].
        first: The position of each in the text, in bytes. int64 [n].
        pattern: The pre-tokenization pattern.
        expression: The expression of the pattern.
    """
    import pyarrow as pa
    from pyarrow import compute

    if len(ends) == 1:  # it may be a long text: avoid copies
        once = np.ones(1, np.int64) if times is None else times
        return PreTokenCounts(raw[: int(ends[0])], ends, once, first, pattern, expression)
    # Arrow's own allocator does not return memory to the system.
    pre_tokens, memory = arrow_pre_tokens(raw, ends), pa.system_memory_pool()
    parts = [_encoded(pre_tokens, rows, times, first, memory) for rows in _shares(raw, ends)]
    unique = pa.concat_arrays([part for part, _, _ in parts], memory_pool=memory)
    n = len(unique)
    seen = np.concatenate([of_part for _, of_part, _ in parts])
    added = np.concatenate([of_part for _, _, of_part in parts])
    del parts
    # Arrow returns them in the order of rows, but does not guarantee it. Several parts of a text,
    # or several shares, are not in order.
    if (seen[1:] < seen[:-1]).any():
        order = np.argsort(seen)
        unique = compute.take(unique, pa.array(order), memory_pool=memory)
        seen, added = seen[order], added[order]
    _, offsets, data = unique.buffers()
    edges = np.frombuffer(offsets, np.int64)[unique.offset : unique.offset + n + 1]
    blob = b"" if data is None else data[int(edges[0]) : int(edges[-1])].to_pybytes()
    return PreTokenCounts(blob, edges[1:] - edges[0], added, seen, pattern, expression)


def _shares(raw: bytes, ends: Integers) -> list[Integers | None]:
    """Return the rows of each share, None for all; equal pre-tokens are in the same share."""
    if len(ends) < _SHARE_ROWS or not raw:
        return [None]
    share = np.frombuffer(raw, np.uint8).take(ends - 1) % _SHARES
    share[np.diff(ends, prepend=0) == 0] = 0  # an empty pre-token has no last byte
    numbers = np.bincount(share, minlength=_SHARES)
    return [*np.split(share.argsort(kind="stable"), numbers.cumsum()[:-1])]


def _encoded(
    pre_tokens: Any, rows: Integers | None, times: Integers | None, first: Integers, memory: Any
) -> tuple[Any, Integers, Integers]:
    """Return the distinct pre-tokens of some rows, their first positions, and their counts.

    Args:
        pre_tokens: An Arrow array.
        rows: The rows, or None for all.
        times: The counts, as in `distinct`.
        first: The positions, as in `distinct`.
        memory: The memory pool of Arrow.
    """
    import pyarrow as pa
    from pyarrow import compute

    if rows is not None:
        pre_tokens = compute.take(pre_tokens, pa.array(rows), memory_pool=memory)
        first, times = first[rows], None if times is None else times[rows]
    encoded = compute.dictionary_encode(pre_tokens, memory_pool=memory)
    # Arrow's own conversion to NumPy imports pandas, which takes 0.3 s.
    unique = encoded.dictionary
    codes = cast(npt.NDArray[np.int32], np.from_dlpack(encoded.indices))
    seen = np.full(len(unique), np.iinfo(np.int64).max)
    np.minimum.at(seen, codes, first)
    if times is None:
        return unique, seen, np.bincount(codes, minlength=len(unique))
    added = np.zeros(len(unique), np.int64)
    np.add.at(added, codes, times)
    return unique, seen, added


def _starts(pre_tokens: Sequence[str]) -> Integers:
    """Return the start of each pre-token in characters."""
    lengths = np.fromiter(map(len, pre_tokens), np.int64, len(pre_tokens))
    return np.cumsum(lengths) - lengths


def _without_separators(counts: PreTokenCounts) -> PreTokenCounts:
    """Return the counts without that of `_SEPARATOR`."""
    at = counts.blob.find(_SEPARATOR)
    if at < 0:
        return counts
    row = int(np.searchsorted(counts.starts, at))
    ends, times, first = (
        np.delete(column, row) for column in (counts.ends, counts.times, counts.first)
    )
    ends[row:] -= 1
    blob = counts.blob[:at] + counts.blob[at + 1 :]
    return PreTokenCounts(blob, ends, times, first, counts.pattern, counts.expression)


def _ends(starts: Integers, raw: Sized) -> Integers:
    return np.append(starts[1:], len(raw))


def _in_bytes(text: str, places: Integers) -> Integers:
    """Return the offsets in UTF-8 bytes of characters of a text."""
    if text.isascii() or not places.any():
        return places
    return np.flatnonzero(np.frombuffer(text.encode(), np.int8) >= -64)[places]


class Tally:
    """Sums the pre-tokens of a text in blocks, or of several parts of a text."""

    def __init__(self, pattern: str, expression: str = "", at: int = 0) -> None:
        """Start with no counts.

        Args:
            pattern: The pre-tokenization pattern.
            expression: The expression of the pattern.
            at: The offset of the first block in the text, in bytes.

        Raises:
            SplitError: The pattern is unknown or not valid.
        """
        pretokenize("", pattern, expression)
        self._split = pattern, expression
        self._at = at
        self._pending: list[PreTokenCounts] = []
        self._rows = 0

    def add_text(self, block: str, time_limit: float = TIME_LIMIT) -> None:
        """Count the next block of the text. Raises `SplitError`."""
        if not block:
            return
        pattern, expression = self._split
        raw = block.encode()
        if breaks(pattern) and pattern in PATTERNS.keys() - AT_ONCE - {"sentences"}:
            counts = self._by_words(block, raw)
        else:
            if pattern in AT_ONCE:
                starts = pre_token_starts(block, pattern)
            else:
                starts = _starts(pretokenize(block, pattern, expression, time_limit))
            starts = _in_bytes(block, starts)
            counts = distinct(raw, _ends(starts, raw), None, starts + self._at, *self._split)
        self.add(counts)
        self._at += len(raw)

    def _by_words(self, block: str, raw: bytes) -> PreTokenCounts:
        """Split only the distinct pieces between word ends, since most words repeat.

        Every pattern has a boundary at a word end. This also holds for the distinct pieces, joined:
        each but the last ends at a word end, and each but the first begins at one.
        """
        starts = _in_bytes(block, np.append(0, word_ends(block)))
        pieces = distinct(raw, _ends(starts, raw), None, starts + self._at, *self._split)
        text = pieces.blob.decode()
        starts = _in_bytes(text, _starts(pretokenize(text, *self._split)))
        piece = np.searchsorted(pieces.ends, starts, side="right")
        first = pieces.first[piece] + starts - pieces.starts[piece]
        ends = _ends(starts, pieces.blob)
        return distinct(pieces.blob, ends, pieces.times[piece], first, *self._split)

    def add_texts(self, texts: Sequence[str], times: Sequence[int]) -> None:
        """Count the next texts, each split alone. Raises `SplitError`.

        At a word end, each part of a text has the pre-tokens that it has in the text.

        Args:
            texts: The texts; none is empty.
            times: How often each occurs.
        """
        pattern = self._split[0]
        block = ("\n" if pattern == "sentences" else "\0").join(texts)
        # A line end ends a sentence as the end of a text does, except after a blank line.
        by_lines = pattern == "sentences" and not BLANK_LINE.search(block)
        begins = _starts(texts) + np.arange(len(texts))
        separators = begins[1:] - 1
        if pattern in AT_ONCE:
            starts = pre_token_starts(block, pattern, separators)
        else:
            starts = np.append(begins, separators)
            if by_lines:
                starts = np.union1d(starts, _starts(pretokenize(block, *self._split)))
            elif breaks(pattern) and pattern not in (WORD_LIST, "sentences"):
                starts = np.append(starts, word_ends(block))
            starts.sort()
        weights = None
        if max(times) > 1:
            weights = np.array(times, np.int64)[np.searchsorted(begins, starts, "right") - 1]
        between = np.searchsorted(starts, separators)
        starts = _in_bytes(block, starts)
        raw = np.array(memoryview(block.encode()))
        raw[starts[between]] = _SEPARATOR[0]
        ends, first = _ends(starts, raw), starts + self._at
        counts = _without_separators(distinct(raw.tobytes(), ends, weights, first, *self._split))
        self.add(counts if by_lines or pattern in AT_ONCE else self._split_alone(counts))
        self._at += len(raw) + 1

    def _split_alone(self, pieces: PreTokenCounts) -> PreTokenCounts:
        """Return the counts of the pre-tokens of texts with their counts."""
        splits = [pretokenize(piece, *self._split) for piece in pieces]
        piece = np.repeat(np.arange(len(splits)), [*map(len, splits)])
        pre_tokens = [pre_token.encode() for split in splits for pre_token in split]
        ends = np.cumsum([*map(len, pre_tokens)], dtype=np.int64)
        first = pieces.first[piece] + np.append(0, ends)[:-1] - pieces.starts[piece]
        return distinct(pieces.blob, ends, pieces.times[piece], first, *self._split)

    def add(self, counts: PreTokenCounts) -> None:
        """Add the counts of another part of the same text, in any order."""
        self._pending.append(counts)
        self._rows += len(counts)
        if self._rows > max(_COMPACT_ROWS, 2 * len(self._pending[0])):
            self._compact()

    def result(self) -> PreTokenCounts:
        """Return the counts so far."""
        self._compact()
        if not self._pending:
            none = np.zeros(0, np.int64)
            return PreTokenCounts(b"", none, none, none, *self._split)
        return self._pending[0]

    def _compact(self) -> None:
        """Join the counts of all parts so far to those of one."""
        if len(self._pending) > 1:
            sizes = np.array([len(counts.blob) for counts in self._pending], np.int64)
            before = np.cumsum(sizes) - sizes
            raw = b"".join(counts.blob for counts in self._pending)
            ends = [counts.ends + at for counts, at in zip(self._pending, before, strict=True)]
            rest = [(counts.times, counts.first) for counts in self._pending]
            self._pending.clear()  # the joined copy replaces them
            times, first = map(np.concatenate, zip(*rest, strict=True))
            merged = distinct(raw, np.concatenate(ends), times, first, *self._split)
            self._pending.append(merged)
        self._rows = sum(map(len, self._pending))


def count_blocks(
    pieces: Iterable[str],
    pattern: str = "gpt2",
    expression: str = "",
    *,
    block: int = BLOCK,
    at: int = 0,
) -> PreTokenCounts:
    """Count the pre-tokens of the text that `pieces` form, joined, one block at a time.

    A block with the pattern "regex" or "none" is the whole text. An expression or a word list may
    take `TIME_LIMIT` seconds for each block.

    Args:
        pieces: The text.
        pattern: The pre-tokenization pattern.
        expression: The expression of the pattern.
        block: The approximate size of a block in characters.
        at: The offset of this text in a longer one, in bytes.

    Raises:
        SplitError: The pattern is unknown, not valid, or took too long.
    """
    tally = Tally(pattern, expression, at)
    for text in blocks(pieces, pattern, block):
        tally.add_text(text, TIME_LIMIT * max(1.0, len(text) / BLOCK))
    return tally.result()


def count(text: str, pattern: str = "gpt2", expression: str = "") -> PreTokenCounts:
    """Count the pre-tokens of a text.

    The arguments and errors are those of `bpeviz.pretokenizers.patterns.pretokenize`, whose time
    limit applies to the whole text.

    Args:
        text: The text, without lone surrogates (`bpeviz.text.clean`).
        pattern: The pre-tokenization pattern.
        expression: The expression of the pattern.
    """
    tally = Tally(pattern, expression)
    in_blocks = breaks(pattern) and pattern != WORD_LIST
    for block in blocks(slices(text), pattern) if in_blocks else [text]:
        tally.add_text(block)
    return tally.result()


def count_each(
    texts: Mapping[str, int], pattern: str = "gpt2", expression: str = ""
) -> PreTokenCounts:
    """Count the pre-tokens of texts that are split one by one. The errors are those of `count`.

    Args:
        texts: How often each text occurs. None is empty or has lone surrogates.
        pattern: The pre-tokenization pattern.
        expression: The expression of the pattern.

    >>> dict(count_each({"Yes. ": 1, "Yes.": 2}))
    {'Yes': 3, '.': 3, ' ': 1}
    """
    if pattern == "none" and texts:  # each text is a pre-token
        whole = "".join(texts)
        raw, starts = whole.encode(), _in_bytes(whole, _starts([*texts]))
        times = np.fromiter(texts.values(), np.int64, len(texts))
        return PreTokenCounts(raw, _ends(starts, raw), times, starts, pattern, expression)
    tally = Tally(pattern, expression)
    pairs = iter(texts.items())
    while some := [*islice(pairs, _TEXTS)]:
        tally.add_texts([text for text, _ in some], [times for _, times in some])
    return tally.result()


def indexed(pre_tokens: Iterable[Item]) -> tuple[list[Item], Integers]:
    """Return the distinct pre-tokens, as they first occur, and the index of each among them.

    >>> indexed(["a", "b", "a"])
    (['a', 'b'], array([0, 1, 0]))
    """
    index: dict[Item, int] = {}
    indices = np.fromiter((index.setdefault(item, len(index)) for item in pre_tokens), np.int64)
    return [*index], indices


def index_text(text: str, pattern: str, expression: str = "") -> tuple[list[str], Integers]:
    """Return the same for the pre-tokens of a text, without an object for each.

    The arguments and errors are those of `count`.
    """
    if pattern not in AT_ONCE or len(text) < BLOCK:
        return indexed(pretokenize(text, pattern, expression))
    from pyarrow import compute  # a slow import

    index: dict[str, int] = {}
    parts = [np.zeros(0, np.int64)]
    for block in blocks(slices(text), pattern):
        raw = block.encode()
        starts = _in_bytes(block, pre_token_starts(block, pattern))
        encoded = compute.dictionary_encode(arrow_pre_tokens(raw, _ends(starts, raw), text=True))
        distinct = [index.setdefault(item, len(index)) for item in encoded.dictionary.to_pylist()]
        parts.append(np.array(distinct, np.int64)[np.from_dlpack(encoded.indices)])
    return [*index], np.concatenate(parts)

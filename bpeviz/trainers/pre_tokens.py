"""Counted pre-tokens laid out as bytes or characters, without a Python object for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bpeviz.pretokenizers.counts import PreTokenCounts
from bpeviz.pretokenizers.patterns import BLOCK
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.trainers.layout import TokenRow
from bpeviz.trainers.preparation import BYTES, to_rows


def lay_out(
    pre_tokens: Mapping[str, int], pre_tokenizer: PreTokenizer, byte_ids: bytes | None = None
) -> tuple[tuple[str, ...], TokenRow]:
    """Return the alphabet of counted pre-tokens, and their atoms in a row.

    Args:
        pre_tokens: The pre-tokens with their counts.
        pre_tokenizer: It has no notation of atoms of its own.
        byte_ids: The atom id of each byte; by default the byte itself.
    """
    if pre_tokenizer.end_mark != "none":
        alphabet, rows = to_rows(pre_tokens, pre_tokenizer)
        return alphabet, TokenRow.from_pre_tokens(rows)
    blob, ends, counts = _joined(pre_tokens)
    if pre_tokenizer.atoms == "bytes":
        blob = blob if byte_ids is None else blob.translate(byte_ids)
        return BYTES, TokenRow.from_arrays(np.frombuffer(blob, np.uint8), ends, counts)
    return _lay_out_characters(pre_tokens, blob, ends, counts)


def _lay_out_characters(
    pre_tokens: Mapping[str, int],
    blob: bytes,
    ends: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> tuple[tuple[str, ...], TokenRow]:
    """Return the characters of the pre-tokens, sorted, and a row in which each is an atom."""
    is_start = np.frombuffer(blob, np.int8) >= -64  # not a continuation byte of UTF-8
    if not is_start[np.append(0, ends)[:-1]].all():
        iter(pre_tokens)  # raises an error that names the pre-token
    edges = [0]  # of blocks that do not split a character
    while edges[-1] < len(blob):
        edge = min(edges[-1] + BLOCK, len(blob))
        edges.append(edge + [*is_start[edge : edge + 4].tolist(), True].index(True))

    def blocks() -> Iterator[NDArray[np.uint32]]:
        for start, end in pairwise(edges):
            try:
                text = blob[start:end].decode()
            except UnicodeDecodeError:
                iter(pre_tokens)  # raises an error that names the pre-token
                raise
            yield np.frombuffer(text.encode("utf-32-le"), np.uint32)

    occurs = np.zeros(1 + max((int(block.max()) for block in blocks()), default=0), np.bool_)
    for code_points in blocks():
        occurs[code_points] = True
    alphabet = occurs.nonzero()[0]
    id_of = (occurs.cumsum() - 1).astype(np.min_scalar_type(len(alphabet) + 1))
    atom_ids, begin = np.empty(int(is_start.sum()), id_of.dtype), 0
    for code_points in blocks():
        atom_ids[begin : begin + len(code_points)] = id_of.take(code_points)
        begin += len(code_points)
    symbols = tuple(map(chr, alphabet.tolist()))
    return symbols, TokenRow.from_arrays(atom_ids, _in_characters(ends, is_start, edges), counts)


def _joined(pre_tokens: Mapping[str, int]) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
    """Return all pre-tokens in UTF-8, the end of each in bytes, and the count of each."""
    if isinstance(pre_tokens, PreTokenCounts):
        return pre_tokens.blob, pre_tokens.ends, pre_tokens.times
    raw = [*map(str.encode, pre_tokens)]
    ends = np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)))
    return b"".join(raw), ends, np.fromiter(pre_tokens.values(), np.int64, len(raw))


def _in_characters(
    ends: NDArray[np.int64], is_start: NDArray[np.bool_], edges: list[int]
) -> NDArray[np.int64]:
    """Convert ends from bytes to characters.

    Args:
        ends: Ascending ends in bytes.
        is_start: [bytes], whether a character starts at each byte.
        edges: Where blocks start and end, in bytes.
    """
    converted, before = np.empty_like(ends), 0
    for start, end in pairwise(edges):
        here = slice(*ends.searchsorted([start, end], side="right"))
        n_characters = is_start[start:end].cumsum() + before
        converted[here] = n_characters[ends[here] - 1 - start]
        before = int(n_characters[-1])
    return converted

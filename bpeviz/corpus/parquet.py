"""Counted pre-tokens as a Parquet file: what `bpeviz count` writes, and what other programs may write.

Three columns, in rows of any order:

- `chunk`: the pre-token's bytes in UTF-8; as bytes or as text, no two the same, none empty.
- `count`: how often it comes, a whole number from 1 on.
- `first`: where it stands first, a whole number from 0 on, no two the same. Only the order counts;
  where bpeviz writes it, it is in bytes from the beginning of the text.

How the text was split stands in the file's metadata, `bpeviz.pattern` and `bpeviz.expression`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bpeviz.pretokenizers.counts import (
    CountsError,
    Integers,
    PreTokenCounts,
    arrow_pre_tokens,
    distinct,
)
from bpeviz.pretokenizers.patterns import SplitError, pretokenize
from bpeviz.text import label

_PATTERN, _EXPRESSION = b"bpeviz.pattern", b"bpeviz.expression"
_COLUMNS = {"chunk": "bytes or text", "count": "whole numbers", "first": "whole numbers"}
_MOST = 2**62
"""Bytes that a text may have, so that no sum of counts overflows."""


def dump(counts: PreTokenCounts) -> bytes:
    """Return a Parquet file. The same counts give the same bytes, with the same Arrow."""
    import pyarrow as pa  # here, since it takes a moment to load
    from pyarrow import parquet

    types = {"chunk": pa.large_binary(), "count": pa.int64(), "first": pa.int64()}
    schema = pa.schema(
        [pa.field(name, one, nullable=False) for name, one in types.items()],
        {_PATTERN: counts.pattern.encode(), _EXPRESSION: counts.expression.encode()},
    )
    pre_tokens = arrow_pre_tokens(counts.blob, counts.ends)
    table = pa.Table.from_arrays(
        [pre_tokens, pa.array(counts.times), pa.array(counts.first)], schema=schema
    )
    output = pa.BufferOutputStream()
    # A text has few pre-tokens twice, and nobody looks for one: no dictionary, no statistics.
    parquet.write_table(
        table,
        output,
        row_group_size=1 << 18,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )
    return bytes(output.getvalue().to_pybytes())


def parse(content: bytes, pattern: str = "", expression: str = "") -> PreTokenCounts:
    """Return the counts that a Parquet file holds.

    pattern, expression: how the text was split, for a file that does not say so; if it does, it
    must say the same, where these are given. Raises `CountsError`, and `SplitError` for a split
    that there is not.
    """
    metadata, columns = _columns(content)
    try:
        said = metadata.get(_PATTERN, b"").decode()
        said_expression = metadata.get(_EXPRESSION, b"").decode()
    except UnicodeDecodeError:
        raise CountsError("How the text was split is not said in UTF-8.") from None
    if said and pattern and (said, said_expression) != (pattern, expression):
        raise CountsError(
            f"These chunks were split by {_split_named(said, said_expression)}, not by "
            f"{_split_named(pattern, expression)}."
        )
    if said:
        pattern, expression = said, said_expression
    if not pattern:
        raise CountsError("How the text was split is not said in this file. Say it: --pattern.")
    try:
        pretokenize("", pattern, expression)
    except SplitError as error:
        raise CountsError(f"How the text was split makes no sense here. {error}") from error
    return replace(_checked(*columns), pattern=pattern, expression=expression)


def _split_named(pattern: str, expression: str) -> str:
    return f"{pattern} with {expression!r}" if expression else pattern


def _columns(
    content: bytes,
) -> tuple[dict[bytes, bytes], tuple[bytes, Integers, Integers, Integers]]:
    """Return the metadata, and the columns: the pre-tokens joined and their ends, counts, and places.

    Raises `CountsError`.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        schema = file.schema_arrow
        missing = [name for name in _COLUMNS if name not in schema.names]
        table = None if missing else file.read(columns=[*_COLUMNS], use_threads=False)
    except (pa.ArrowException, OSError, ValueError):
        raise CountsError("This is no Parquet file, or it is damaged.") from None
    if table is None:
        raise CountsError(
            f"There is no column {missing[0]!r}. It takes "
            + ", ".join(f"{name} ({what})" for name, what in _COLUMNS.items())
            + "."
        )
    for name, what in _COLUMNS.items():
        if table.column_names.count(name) > 1:
            raise CountsError(f"There are two columns {name!r}.")
        column = table.column(name)
        if not _is(column.type, name):
            raise CountsError(f"The column {name!r} holds {column.type}; it takes {what}.")
        if column.null_count:
            raise CountsError(f"In the column {name!r} a value is missing.")
    pre_tokens = pa.concat_arrays([part.cast(pa.large_binary()) for part in _parts(table, "chunk")])
    _, offset_buffer, data = pre_tokens.buffers()
    n = len(pre_tokens)
    edges = np.frombuffer(offset_buffer or b"", np.int64)[
        pre_tokens.offset : pre_tokens.offset + n + 1
    ]
    blob = data[int(edges[0]) : int(edges[-1])].to_pybytes() if data is not None and n else b""
    return schema.metadata or {}, (
        blob,
        edges[1:] - edges[:1],
        _whole(table, "count"),
        _whole(table, "first"),
    )


def _parts(table: Any, name: str) -> list[Any]:
    import pyarrow as pa

    column = table.column(name)
    return column.chunks or [pa.array([], column.type)]


def _is(found: Any, name: str) -> bool:
    from pyarrow import types

    if name != "chunk":
        return bool(types.is_integer(found))
    kinds = (types.is_binary, types.is_large_binary, types.is_string, types.is_large_string)
    return any(kind(found) for kind in kinds)


def _whole(table: Any, name: str) -> Integers:
    import pyarrow as pa

    try:
        column = table.column(name).cast(pa.int64())
    except pa.ArrowInvalid:
        raise CountsError(f"A value of the column {name!r} is too large.") from None
    numbers: Integers = column.to_numpy().astype(np.int64)
    return numbers


def _checked(blob: bytes, ends: Integers, times: Integers, first: Integers) -> PreTokenCounts:
    """Return counts in order. Raises `CountsError`."""
    lengths = np.diff(ends, prepend=0)

    def shown(row: np.intp) -> str:
        name = label(blob[int(ends[row] - lengths[row]) : int(ends[row])])
        return name if len(name) <= 40 else name[:40] + "…"

    for wrong, what in (
        (lengths == 0, "A chunk is empty."),
        (times < 1, "The count of {chunk} is {count}; it must be 1 or more."),
        (first < 0, "The place where {chunk} stands first is {first}; it must be 0 or more."),
    ):
        if wrong.any():
            row = np.argmax(wrong)
            raise CountsError(what.format(pre_token=shown(row), count=times[row], first=first[row]))
    if float((lengths.astype(np.float64) * times).sum()) >= _MOST:
        raise CountsError("The counts are larger than those of any text can be.")
    counts = distinct(blob, ends, times, first, "")
    if len(counts) < len(ends):
        seen: set[bytes] = set()
        for index, (end, length) in enumerate(zip(ends.tolist(), lengths.tolist(), strict=True)):
            pre_token = blob[end - length : end]
            if pre_token in seen:
                raise CountsError(f"The chunk {shown(np.intp(index))} stands there twice.")
            seen.add(pre_token)
    if (counts.first[1:] == counts.first[:-1]).any():
        row = np.argmax(counts.first[1:] == counts.first[:-1])
        raise CountsError(
            f"Two chunks stand first at the same place, {counts.first[row]}: ties could not be "
            "broken as in the text."
        )
    return counts

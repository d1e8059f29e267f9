"""Counted pre-tokens as a Parquet file, written by `bpeviz count` or by other programs.

Three columns, with rows in any order:

- `chunk`: the pre-token in UTF-8, as bytes or text; not empty, each one once.
- `count`: its count, a whole number from 1.
- `first`: its first position, a whole number from 0, each one once. Only the order matters; bpeviz
  writes the offset in bytes from the beginning of the text.

The file's metadata contains the pre-tokenization as `bpeviz.pattern` and `bpeviz.expression`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bpeviz.corpus.files import MAX_TEXT, CorpusError
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
_ROWS = 1_000
"""The number of rows per read."""

_MAX_BYTES = 2**62
"""The upper limit of the size of a text in bytes, so that sums of counts do not overflow."""


def dump(counts: PreTokenCounts) -> bytes:
    """Return a Parquet file; equal counts give equal bytes with the same version of Arrow."""
    import pyarrow as pa  # a slow import
    from pyarrow import parquet

    types = {"chunk": pa.large_binary(), "count": pa.int64(), "first": pa.int64()}
    schema = pa.schema(
        [pa.field(name, data_type, nullable=False) for name, data_type in types.items()],
        {_PATTERN: counts.pattern.encode(), _EXPRESSION: counts.expression.encode()},
    )
    pre_tokens = arrow_pre_tokens(counts.blob, counts.ends)
    table = pa.Table.from_arrays(
        [pre_tokens, pa.array(counts.times), pa.array(counts.first)], schema=schema
    )
    output = pa.BufferOutputStream()
    # Pre-tokens are distinct and never searched, so a dictionary and statistics are useless.
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
    """Return the counts in a Parquet file.

    Args:
        content: The bytes of the file.
        pattern: The pre-tokenization, for a file that does not name it; otherwise they must match.
        expression: The expression of the pattern.

    Raises:
        CountsError: The file does not contain valid counts.
    """
    metadata, columns = _columns(content)
    try:
        stored = metadata.get(_PATTERN, b"").decode()
        stored_expression = metadata.get(_EXPRESSION, b"").decode()
    except UnicodeDecodeError:
        raise CountsError("The pre-tokenization in the metadata is not UTF-8.") from None
    if stored and pattern and (stored, stored_expression) != (pattern, expression):
        raise CountsError(
            f"The pre-tokenization of this file is {_description(stored, stored_expression)}, not "
            f"{_description(pattern, expression)}."
        )
    if stored:
        pattern, expression = stored, stored_expression
    if not pattern:
        raise CountsError("This file does not name its pre-tokenization. Add --pattern.")
    try:
        pretokenize("", pattern, expression)
    except SplitError as error:
        raise CountsError(
            f"The pre-tokenization of this file is not valid here. {error}"
        ) from error
    return replace(_checked(*columns), pattern=pattern, expression=expression)


def rows(name: str, content: bytes, most: int = MAX_TEXT) -> str:
    """Return the rows of another Parquet file as lines of JSON, in which bytes are empty lists.

    Raises:
        CorpusError: It is not a Parquet file, contains counts, or is too large.
    """
    return "".join(_json_rows(name, content, most))


def _json_rows(name: str, content: bytes, most: int) -> Iterator[str]:
    """Yield the rows of a Parquet file as lines of JSON, up to `most` characters."""
    import pyarrow as pa
    from pyarrow import parquet

    size = 0
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        if {*_COLUMNS} <= {*file.schema_arrow.names}:
            raise CorpusError(f"{name} has counted pre-tokens. Name it with --counts of `train`.")
        for batch in file.iter_batches(_ROWS, use_threads=False):
            for row in batch.to_pylist():
                line = json.dumps(row, ensure_ascii=False, default=_plain)
                if (size := size + len(line)) > most:
                    raise CorpusError(f"{name} has more than {most:,} characters.")
                yield f"{line}\n"
    except (pa.ArrowException, OSError):
        raise CorpusError(f"{name} is not a Parquet file, or it is damaged.") from None


def _plain(value: object) -> object:
    return [] if isinstance(value, bytes) else str(value)


def _description(pattern: str, expression: str) -> str:
    return f"{pattern} with {expression!r}" if expression else pattern


def _columns(
    content: bytes,
) -> tuple[dict[bytes, bytes], tuple[bytes, Integers, Integers, Integers]]:
    """Return the metadata and the columns: joined pre-tokens, their ends, counts, first positions.

    Raises:
        CountsError: A column is missing or not valid.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        schema = file.schema_arrow
        missing = [name for name in _COLUMNS if name not in schema.names]
        table = None if missing else file.read(columns=[*_COLUMNS], use_threads=False)
    except (pa.ArrowException, OSError, ValueError):
        raise CountsError("This is not a Parquet file, or it is damaged.") from None
    if table is None:
        raise CountsError(
            f"The column {missing[0]!r} is missing. A file of counts has the columns "
            + ", ".join(f"{name} ({kind})" for name, kind in _COLUMNS.items())
            + "."
        )
    for name, kind in _COLUMNS.items():
        if table.column_names.count(name) > 1:
            raise CountsError(f"The column {name!r} occurs twice.")
        column = table.column(name)
        if not _is(column.type, name):
            raise CountsError(f"The column {name!r} contains {column.type} instead of {kind}.")
        if column.null_count:
            raise CountsError(f"The column {name!r} contains an empty value.")
    column = table.column("chunk")
    chunks = column.chunks or [pa.array([], column.type)]
    pre_tokens = pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in chunks])
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


def _is(data_type: Any, name: str) -> bool:
    from pyarrow import types

    if name != "chunk":
        return bool(types.is_integer(data_type))
    kinds = (types.is_binary, types.is_large_binary, types.is_string, types.is_large_string)
    return any(kind(data_type) for kind in kinds)


def _whole(table: Any, name: str) -> Integers:
    import pyarrow as pa

    try:
        column = table.column(name).cast(pa.int64())
    except pa.ArrowInvalid:
        raise CountsError(f"The column {name!r} contains a number that is too large.") from None
    numbers: Integers = column.to_numpy().astype(np.int64)
    return numbers


def _checked(blob: bytes, ends: Integers, times: Integers, first: Integers) -> PreTokenCounts:
    """Return the counts ordered by first position. Raises `CountsError`."""
    lengths = np.diff(ends, prepend=0)

    def shown(pre_token: bytes) -> str:
        name = label(pre_token)
        return name if len(name) <= 40 else name[:40] + "…"

    for wrong, message in (
        (lengths == 0, "A pre-token is empty."),
        (times < 1, "The count of {pre_token} is {count}; it must be 1 or more."),
        (first < 0, "The first position of {pre_token} is {first}; it must be 0 or more."),
    ):
        if wrong.any():
            row = np.argmax(wrong)
            name = shown(blob[int(ends[row] - lengths[row]) : int(ends[row])])
            raise CountsError(message.format(pre_token=name, count=times[row], first=first[row]))
    if float((lengths.astype(np.float64) * times).sum()) >= _MAX_BYTES:
        raise CountsError("The counts are too large for any text.")
    counts = distinct(blob, ends, times, first, "")
    if len(counts) < len(ends):
        pre_token, _ = Counter(arrow_pre_tokens(blob, ends).to_pylist()).most_common(1)[0]
        raise CountsError(f"The pre-token {shown(pre_token)} occurs twice.")
    if (counts.first[1:] == counts.first[:-1]).any():
        row = np.argmax(counts.first[1:] == counts.first[:-1])
        raise CountsError(
            f"Two pre-tokens have the same first position, {counts.first[row]}. Tie breaking needs "
            "their order in the text."
        )
    return counts

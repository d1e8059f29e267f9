"""The files of a tokenizer as one .zip, and files compressed by gzip.

Packing the same files twice gives the same bytes. Unpacking reads names and contents only: names
are reduced to their last part and never used as paths, and sizes are limited before unpacking.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Mapping

from bpeviz.formats.base import FormatError, printable_name
from bpeviz.formats.parsing import MAX_FILE, error_at
from bpeviz.formats.recognition import WEIGHTS

MAX_FILES = 20
"""The folder of a model has more files than the one or two of its tokenizer."""

_ENTRY = b"PK\x01\x02"
"""Begins each entry in the directory of a .zip."""

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time in a .zip


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return files as one .zip.

    >>> packed({"a.txt": b"a"}) == packed({"a.txt": b"a"})
    True
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def unzipped(name: str, content: bytes) -> bytes:
    """Return the content of a file without the compression of gzip, if it has one.

    Raises:
        FormatError: The file is damaged, or too large.
    """
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.open(io.BytesIO(content)) as file:
            inside = file.read(MAX_FILE + 1)
    except (OSError, EOFError, zlib.error):
        raise FormatError(f"{printable_name(name)} is a damaged .gz file.") from None
    if len(inside) > MAX_FILE:
        raise FormatError(f"{printable_name(name)} contains more than {MAX_FILE / 1e6:,.0f} MB.")
    return inside


def opened(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return the files of a .zip, if that is the only file, or else the files themselves.

    Raises:
        FormatError: As in `unpacked`.
    """
    if len(files) == 1:
        ((name, content),) = files.items()
        if content.startswith(b"PK"):
            return unpacked(name, content, MAX_FILE)
    return files


def unpacked(name: str, content: bytes, limit: int) -> dict[str, bytes]:
    """Return the files of a .zip by name.

    Args:
        name: name of the .zip, for error messages.
        content: its bytes.
        limit: bytes of all files together, unzipped.

    Raises:
        FormatError: the .zip is damaged, locked or too large.

    >>> unpacked("a.zip", packed({"in/a.txt": b"a"}), 100)
    {'a.txt': b'a'}
    """
    label = printable_name(name)
    files: dict[str, bytes] = {}
    left = limit
    if content.count(_ENTRY) > 1_000:  # reading a directory of a million takes seconds
        raise FormatError(f"{label} contains too many files: the limit is {MAX_FILES}.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if any(entry.filename.endswith((".pkl", ".npy", ".h5")) for entry in entries):
                raise error_at(name, "", WEIGHTS)
            if not 1 <= len(entries) <= MAX_FILES:
                raise FormatError(
                    f"{label} contains {len(entries):,} files: the limit is {MAX_FILES}."
                )
            for entry in entries:
                inside = entry.filename.replace("\\", "/").rsplit("/", 1)[-1]
                if inside in files:
                    raise FormatError(f"{label} contains {printable_name(inside)} twice.")
                with archive.open(entry) as file:
                    files[inside] = file.read(left + 1)  # the size in the entry may be wrong
                left -= len(files[inside])
                if left < 0:
                    raise FormatError(f"{label} contains more than {limit / 1e6:,.0f} MB.")
    except FormatError:
        raise
    except Exception:  # a damaged archive can raise many kinds of errors
        raise FormatError(f"{label} cannot be unpacked: damaged, locked, or not a .zip.") from None
    return files

"""Two files that belong together, as one .zip: the same bytes whenever it is made.

What is unpacked is data from elsewhere: names are cut down to their last part and never used as
paths, and sizes are bounded before anything is unpacked.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from bpeviz.formats import FormatError
from bpeviz.formats.parsing import shown_name

MOST_FILES = 2
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a .zip can tell


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return files as one .zip.

    >>> packed({"a.txt": b"a"}) == packed({"a.txt": b"a"})
    True
    """
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return made.getvalue()


def unpacked(name: str, content: bytes, most: int) -> dict[str, bytes]:
    """Return the one or two files of a .zip by name, `most` bytes together at most.

    Raises `FormatError` with a sentence.

    >>> unpacked("a.zip", packed({"in/a.txt": b"a"}), 100)
    {'a.txt': b'a'}
    """
    shown = shown_name(name)
    found: dict[str, bytes] = {}
    left = most
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [one for one in archive.infolist() if not one.is_dir()]
            if not 1 <= len(entries) <= MOST_FILES:
                raise FormatError(
                    f"{shown} holds {len(entries):,} files: a tokenizer has one or two."
                )
            for entry in entries:
                inside = entry.filename.replace("\\", "/").rsplit("/", 1)[-1]
                if inside in found:
                    raise FormatError(f"{shown} holds {shown_name(inside)} twice.")
                with archive.open(entry) as file:
                    found[inside] = file.read(left + 1)  # whatever size the entry says that it has
                left -= len(found[inside])
                if left < 0:
                    raise FormatError(
                        f"{shown} holds more than {most / 1e6:,.0f} MB, which is too much."
                    )
    except (
        zipfile.BadZipFile,  # no .zip, or a damaged one
        zlib.error,
        EOFError,
        NotImplementedError,  # packed in a way that is not known
        RuntimeError,  # locked by a password
        OSError,
        ValueError,
    ) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            f"{shown} cannot be unpacked; it is damaged, locked, or no .zip."
        ) from None
    return found

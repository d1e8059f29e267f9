"""Two files as one .zip: the same bytes each time, and nothing unpacked beyond its bounds."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress

import pytest
from helpers.refusals import refusal
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.formats import FormatError
from bpeviz.formats.archive import packed, unpacked

NAMES = st.text("abc.é", min_size=1, max_size=8)
FILES = st.dictionaries(NAMES, st.binary(max_size=200), min_size=1, max_size=2)


def a_zip(*files: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return made.getvalue()


@given(FILES)
def test_packed_files_round_trip(files: dict[str, bytes]) -> None:
    archive = packed(files)
    assert archive == packed(dict(files))
    assert unpacked("a.zip", archive, 1_000) == files


def test_unpacked_drops_folders_from_names() -> None:
    archive = a_zip(("../../etc/a.json", b"{}"), ("in\\b.txt", b"b"))
    assert unpacked("a.zip", archive, 100) == {"a.json": b"{}", "b.txt": b"b"}


@pytest.mark.parametrize(
    ("archive", "sentence"),
    [
        (b"", "cannot be unpacked"),
        (b"PK\x03\x04 and no more", "cannot be unpacked"),
        (a_zip(), "contains 0 files"),
        (a_zip(*((f"{number}.txt", b"") for number in range(21))), "contains 21 files"),
        (a_zip(("x/a", b"1"), ("y/a", b"2")), "contains a twice"),
        (a_zip(("a", bytes(2_000_000))), "contains more than 1 MB"),
        (a_zip(("a", bytes(600_000)), ("b", bytes(600_000))), "contains more than 1 MB"),
    ],
)
def test_unsuitable_archive_raises_format_error(archive: bytes, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        unpacked("given.zip", archive, 1_000_000)


def test_archive_with_false_size_raises_format_error() -> None:
    archive = bytearray(a_zip(("a", bytes(3_000_000))))
    at = archive.rindex(b"PK\x01\x02") + 24  # the size in the directory
    archive[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(FormatError):
        unpacked("a.zip", bytes(archive), 1_000_000)


def test_long_directory_is_refused_without_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = a_zip(*((f"{number}.txt", b"") for number in range(1_001)))
    read: list[object] = []
    monkeypatch.setattr(zipfile, "ZipFile", read.append)
    refusal(unpacked, "a.zip", archive, 1_000_000, naming=("a.zip", "20"), error=FormatError)
    assert read == []


def test_damaged_lzma_raises_format_error() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", bytes(range(256)) * 9)
    damaged = bytearray(made.getvalue())
    damaged[50:60] = b"\xff" * 10
    refusal(unpacked, "a.zip", bytes(damaged), 1_000_000, naming="a.zip", error=FormatError)


@given(st.data())
def test_damaged_archive_is_rejected_or_read(data: st.DataObject) -> None:
    archive = bytearray(a_zip(("a.txt", b"some text " * 9), ("b.txt", b"b")))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(archive) - 1))
        archive[place] = data.draw(st.integers(0, 255))
    found: dict[str, bytes] = {}
    with suppress(FormatError):  # and nothing else
        found = unpacked("a.zip", bytes(archive), 1_000)
    assert sum(map(len, found.values())) <= 1_000

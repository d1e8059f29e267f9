"""Paths of files and folders: which format and which files they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import bpeviz
from bpeviz import formats
from bpeviz.formats import FormatError

TEXT = "low lower lowest"
TRAINING = bpeviz.train(TEXT, vocab_size=258)
TOKENIZER = TRAINING.tokenizer()
IDS = TOKENIZER.encode(TEXT)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    "name", ["tok.JSON", "tok.Tiktoken", "tok.MODEL", "tok.CsV", "tok.BPEviz", "a.b.json"]
)
def test_suffixes_select_the_format_in_any_case(name: str, tmp_path: Path) -> None:
    first, *others = bpeviz.save(TOKENIZER, tmp_path / name)
    assert first == tmp_path / name
    assert first.is_file()
    assert [path.name for path in others] == [f"{name}.json"] * len(others)
    assert bpeviz.read(first).encode(TEXT) == IDS


def test_save_accepts_any_suffix_with_a_named_format(tmp_path: Path) -> None:
    assert bpeviz.save(TOKENIZER, tmp_path / "tok.txt", "csv") == [tmp_path / "tok.txt"]
    assert bpeviz.save(TOKENIZER, tmp_path / "my.tok", "gpt2")[0] == tmp_path / "my.tok/vocab.json"
    (tmp_path / "folder.json").mkdir()
    (written,) = bpeviz.save(TOKENIZER, tmp_path / "folder.json", "minbpe")
    assert written == tmp_path / "folder.json" / "tokenizer.model"
    assert names(tmp_path) == {"tok.txt", "my.tok", "folder.json"}


def test_save_path_without_suffix_is_a_folder_unless_a_file_exists(tmp_path: Path) -> None:
    assert bpeviz.save(TOKENIZER, tmp_path / "deep/er")[1] == tmp_path / "deep/er/merges.txt"
    (tmp_path / "file").touch()
    assert bpeviz.save(TOKENIZER, tmp_path / "file", "csv") == [tmp_path / "file"]
    with pytest.raises(FormatError):
        bpeviz.save(TOKENIZER, tmp_path / "file")


@pytest.fixture(
    params=[
        ("vocab.json", "merges.txt"),
        ("encoder.json", "vocab.bpe"),
        ("mine.vocab", "mine.merges.txt"),
        ("mine-vocab.json", "mine-merges.txt"),
    ]
)
def gpt2_folder(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    contents = formats.dump(TOKENIZER, "gpt2").values()
    paths = [tmp_path / name for name in request.param]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def test_read_accepts_either_gpt2_file_or_their_folder(
    gpt2_folder: list[Path], tmp_path: Path
) -> None:
    for path in (*gpt2_folder, tmp_path):
        assert bpeviz.read(path).encode(TEXT) == IDS

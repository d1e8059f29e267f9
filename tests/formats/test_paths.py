"""Paths of files and folders: the same rules in the library and on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.refusals import refusal

import bpeviz
from bpeviz import formats
from bpeviz.__main__ import main
from bpeviz.core.merges import MergeTokenizer
from bpeviz.core.tokenizer import AtomRow, Pieces, Segmentation, Tokenizer
from bpeviz.formats import FORMATS, FormatError
from bpeviz.pretokenizers.pretokenizer import PreTokenizer

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
    gpt2_folder: list[Path], capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    (tmp_path / "page").write_text(TEXT)
    for path in (*gpt2_folder, tmp_path):
        assert bpeviz.read(path).encode(TEXT) == IDS
        assert main(["encode", str(tmp_path / "page"), "--tokenizer", str(path)]) == 0
        assert capsysbinary.readouterr().out == f"{IDS}\n".encode()


# ---- tokenizers that encode in their own way


class UpperCase(MergeTokenizer):
    def segment_texts(self, texts: Sequence[str]) -> Pieces:
        return super().segment_texts([text.upper() for text in texts])


class Unmerged(MergeTokenizer):
    def _segment_rows(self, rows: Sequence[AtomRow]) -> list[Segmentation]:
        return [(row, (1,) * len(row)) for row in rows]


class EveryCharacter(PreTokenizer):
    def pre_tokens(self, text: str) -> list[str]:
        return [*text]


def own_tokenizers() -> list[Tokenizer]:
    plain = MergeTokenizer("own", PreTokenizer(), tuple(map(chr, range(256))), TRAINING.merges)
    rest = (plain.name, plain.pre_tokenizer, plain.alphabet, plain.merges)
    return [
        UpperCase(*rest),
        Unmerged(*rest),
        MergeTokenizer(plain.name, EveryCharacter(), plain.alphabet, plain.merges),
    ]


@pytest.mark.parametrize("key", FORMATS)
def test_dump_rejects_tokenizer_with_custom_encoding(key: str) -> None:
    for tokenizer in own_tokenizers():
        assert tokenizer.encode("lower low") != TOKENIZER.encode("lower low")
        refusal(formats.dump, tokenizer, key, error=FormatError)


@pytest.mark.parametrize(
    "arguments",
    [{"algorithm": "wordpiece"}, {"algorithm": "unigram", "merges": None, "vocab_size": 280}],
)
def test_dump_rejects_subclasses_of_model_tokenizers(arguments: dict[str, object]) -> None:
    tokenizer = bpeviz.train(TEXT, **{"merges": 4, **arguments}).tokenizer()  # type: ignore[arg-type]
    formats.dump(tokenizer, "huggingface")
    kind = type(tokenizer)
    subclass = type("Own", (kind,), {"_segment_rows": lambda self, rows: [((), ()) for _ in rows]})
    fields = {name: getattr(tokenizer, name) for name in kind.__match_args__}  # type: ignore[attr-defined]
    refusal(formats.dump, subclass(**fields), "huggingface", error=FormatError)

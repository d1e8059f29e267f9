"""A format is one file and one registry entry: then library, command line and pages know it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOY = '''"""The merges of a tokenizer over bytes, one a line, in hexadecimal."""

from __future__ import annotations

from collections.abc import Mapping

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, Source, UnsupportedError, has_suffix
from bpeviz.formats.merges import BYTE_SYMBOLS, Merges, byte_merges_of, tokenizer_of
from bpeviz.pretokenizers.pretokenizer import PreTokenizer


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    merges = byte_merges_of(tokenizer)
    if merges.pre_tokenizer.pattern != "gpt2" or merges.special or not merges.merges:
        raise UnsupportedError("the format has merges alone, those of GPT-2’s pre-tokenization")
    rows = merges.merges
    return {"merges.toy": "".join(f"{a:x} {b:x} {new:x}\\n" for a, b, new in rows).encode()}


def _read(source: Source) -> Tokenizer:
    _, content = source.single()
    rows = [[int(part, 16) for part in line.split()] for line in content.decode().splitlines()]
    merges = [(a, b, new) for a, b, new in rows]
    return tokenizer_of(source.name, Merges(PreTokenizer(), BYTE_SYMBOLS, merges))


def _detect(files: Mapping[str, bytes]) -> bool:
    return has_suffix(files, ".toy")


FORMAT = Format(
    key="toy",
    title="Toy merges",
    about="A toy for tests.",
    files=("merges.toy",),
    suffixes=(".toy",),
    write=_write,
    read=_read,
    detect=_detect,
)
'''
EVERYWHERE = """
import json
import subprocess
import sys

from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.__main__ import main
from bpeviz.formats import FORMATS
from bpeviz.ui.opened_tokenizers import read_files

text = "low lower lowest"
open("text", "w").write(text)
tokenizer = bpeviz.train(text, merges=3).tokenizer()
[path] = bpeviz.save(tokenizer, "own.TOY")
assert bpeviz.read(path).encode(text) == tokenizer.encode(text)
bpeviz.save(tokenizer, "folder", "toy")
assert bpeviz.read("folder").encode(text) == tokenizer.encode(text)

assert main(["train", "text", "--merges", "3", "--output", "t.toy"]) == 0
assert open("t.toy").read() == open("own.TOY").read()
assert main(["encode", "text", "--tokenizer", "t.toy", "--output", "ids"]) == 0
assert json.load(open("ids")) == tokenizer.encode(text)

app = AppTest.from_file("app.py", default_timeout=60)
app.session_state["share"] = True
app.session_state["format of train"] = FORMATS["toy"]
app.run()
[button] = [each for each in app.button if str(each.key).startswith("along_")]
button.click().run()
assert not app.exception
assert "Save merges.toy" in [each.proto.label for each in app.get("download_button")]
app = AppTest.from_file("app.py", default_timeout=60).switch_page("pages/Compare.py")
app.session_state["compare_menu"] = True
app.run()
app.button("open_tokenizer").click().run()
assert any("Toy merges" in one.value for one in app.caption)
assert read_files([("own.toy", open("t.toy", "rb").read())], "") is not None
print("everywhere")
"""


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.py")}


@pytest.mark.thorough
def test_new_format_needs_one_file_and_one_registry_entry(tmp_path: Path) -> None:
    for folder in ("bpeviz", "pages", "sample_texts", ".streamlit"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    for file in ("app.py", ".ruff.toml", ".importlinter"):
        shutil.copy(ROOT / file, tmp_path)
    before = contents(tmp_path)
    (tmp_path / "bpeviz/formats/toy.py").write_text(TOY)
    registry = tmp_path / "bpeviz/formats/registry.py"
    listed = registry.read_text()
    for old, new in (
        ("    tiktoken_ranks,\n", "    tiktoken_ranks,\n    toy,\n"),
        ("        csv_merges.FORMAT,\n", "        csv_merges.FORMAT,\n        toy.FORMAT,\n"),
    ):
        assert old in listed
        listed = listed.replace(old, new)
    registry.write_text(listed)
    after = contents(tmp_path)
    touched = {path.name for path, content in after.items() if before.get(path) != content}
    assert touched == {"toy.py", "registry.py"}

    scripts = Path(sys.executable).parent
    for command in (
        [scripts / "ruff", "check", "bpeviz"],
        [scripts / "lint-imports", "--no-cache"],
        [sys.executable, "-c", EVERYWHERE],
    ):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "everywhere" in done.stdout

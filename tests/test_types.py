"""What a type checker says about code that uses the installed package."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import installed_wheel

ROOT = Path(__file__).resolve().parents[1]

REVEALED = """
reveal_type(training.merges[0])
reveal_type(tokenizer.encode("lowest"))
reveal_type(training.tokenizer().tokens("slow")[0])
reveal_type(tokenizer.boundaries("lower").merged_at)
reveal_type(training.boundaries("lower").merged_at)
reveal_type(bpeviz.compare(texts, ["gpt2"], relative_to="en").rows[0].premium)
reveal_type(bpeviz.train("low", "wordpiece", merges=3, case="lower").merges[0].count)
"""
TYPES = (
    *("tuple[int, int, int, int, int, int, float | None, str, fallback=bpeviz.core.merges.Merge]",),
    *("list[int]", "bpeviz.core.tokenizer.Token"),
    *["numpy.ndarray"] * 2,
    *("float | None", "int"),
)
WRONG = 'bpeviz.train("low", "unigram").merges\nbpeviz.train(3, vocab_size=300)\n'


@pytest.mark.thorough
def test_examples_of_the_readme_have_types_where_the_wheel_is_installed(tmp_path: Path) -> None:
    installed = installed_wheel.install(installed_wheel.build(tmp_path), "", tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall("```python\n(.*?)```", readme, re.DOTALL)
    parser = doctest.DocTestParser()
    source = "".join(example.source for block in blocks for example in parser.get_examples(block))
    file = tmp_path / "readme.py"
    file.write_text(source + REVEALED + WRONG, encoding="utf-8")
    python = installed.folder / "bin/python"
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-executable"]
    config = ["--config-file", "", "--no-error-summary", "--hide-error-context"]
    done = subprocess.run(
        [*command, str(python), *config, file.name], cwd=tmp_path, capture_output=True, text=True
    )
    lines = done.stdout.replace("builtins.", "").replace("typing.", "").splitlines()
    types = re.findall('Revealed type is "(numpy.ndarray|.*)', "\n".join(lines))
    assert [name.rstrip('"') for name in types] == [*TYPES], done.stderr
    first = source.count("\n") + REVEALED.count("\n") + 1
    errors = [line for line in lines if ": error:" in line]
    assert [int(line.split(":")[1]) for line in errors] == [first, first + 1], errors

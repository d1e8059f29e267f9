"""What a type checker says about code that uses the installed package."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from helpers import installed_wheel

import bpeviz
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.trainers import TRAINERS, signatures

ROOT = Path(__file__).resolve().parents[1]

SIGNATURES: dict[str, type] = {
    algorithm[1]: getattr(signatures, re.findall(r"\w+", overload.__annotations__["options"])[-1])
    for overload in typing.get_overloads(bpeviz.train)
    if (algorithm := re.fullmatch(r"Literal\[.(\w+).\]", overload.__annotations__["algorithm"]))
}
"""The last types of the options of each trainer that has some of its own."""

REVEALED = """
reveal_type(training.merges[0])
reveal_type(tokenizer.encode("lowest"))
reveal_type(training.tokenizer().tokens("slow")[0])
reveal_type(tokenizer.boundaries("lower").merged_at)
reveal_type(training.boundaries("lower").merged_at)
reveal_type(bpeviz.compare(texts, ["gpt2"], relative_to="en").rows[0].premium)
reveal_type(bpeviz.train("low", "unigram", seed_size=9).decisions)
"""
TYPES = (
    *("tuple[int, int, int, int, int, int, float | None, str, fallback=bpeviz.core.merges.Merge]",),
    *("list[int]", "bpeviz.core.tokenizer.Token"),
    *["numpy.ndarray"] * 2,
    *("float | None", "Sequence[bpeviz.core.training.Pruning]"),
)

WRONG = """
bpeviz.train("low", vocab_sise=3)
bpeviz.train("low", vocab_size=300, min_count="three")
bpeviz.train("low", "bpe", vocab_size="300")
bpeviz.train("low", "bpe", vocab_size=300, ties="last")
bpeviz.train("low", "wordpiece", vocab_size=300, end_mark="symbol")
bpeviz.train("low", "unigram", end_mark="symbol")
bpeviz.train("low", "unigram", merges=3)
bpeviz.train("low", "sentencepiece", vocab_size=300, coverage=1.0)
bpeviz.train("low", "bpe", vocab_size=300, special_tokens="<s>")
bpeviz.train("low", "bpe", vocab_size=300, encode="longest").boundaries("low").merged_at
bpeviz.train(3, vocab_size=300)
"""


@pytest.mark.parametrize("key", SIGNATURES)
def test_types_of_options_are_those_of_the_trainer(key: str) -> None:
    trainer = TRAINERS[key]
    types = typing.get_type_hints(SIGNATURES[key])
    common = {"pattern", "expression", "special_tokens", "split_at_special", "vocab_size"}
    assert {*types} == common | {option.name for option in trainer.options} | (
        set() if trainer.prunes else {"merges"}
    )
    for option in trainer.options:
        allowed = typing.get_args(types[option.name]) or (types[option.name],)
        if option.kind == "choice":
            values = {*leaves(types[option.name])}
            assert values - {Tokenizer} == {*(option.choices or ())}
            assert (Tokenizer in values) == (option.objects is Tokenizer)
        else:
            assert (int if option.kind == "number" else str) in allowed


def leaves(kind: typing.Any) -> typing.Iterator[object]:
    """Yield the values of a literal type, and the other types of a union."""
    for part in typing.get_args(kind) or (kind,):
        yield from leaves(part) if typing.get_args(part) else (part,)


def test_tokenizers_of_bpe_have_all_merges_unless_an_option_says_otherwise() -> None:
    assert SIGNATURES["bpe"] is signatures.BpeVariant
    assert {*typing.get_type_hints(signatures.Bpe)} == {
        *typing.get_type_hints(signatures.BpeVariant)
    } - {"encode", "threshold"}


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
    first = source.count("\n") + REVEALED.count("\n") + 2
    wrong = {int(line.split(":")[1]) for line in lines if ": error:" in line}
    assert wrong == {*range(first, first + WRONG.count("\n") - 1)}, [
        line for line in lines if ": error:" in line
    ]

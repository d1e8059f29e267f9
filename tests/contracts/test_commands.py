"""What holds of every command of the command line: good and wrong lines, pipes and full disks."""

from __future__ import annotations

import gzip
import io
import os
import re
import shlex
import sys
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from helpers import hostile
from helpers.hostile import SHORT
from helpers.library_files import READ_ONLY
from helpers.properties import examples
from helpers.refusals import assert_sentence
from helpers.shell import TEXT, Shell, contents, run_as_shown, started
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz.cli import app, main, room

COMMANDS = {module.COMMAND.name: module.COMMAND for module in main._COMMANDS}
SERVERS = {"app", "room"}
each_command = pytest.mark.parametrize("name", COMMANDS)

GOOD = {
    "train": "train text.txt --merges 2",
    "play": "play text.txt --vocab-size 260",
    "count": "count text.txt",
    "encode": "encode text.txt --tokenizer t.json",
    "decode": "decode 108 111 119 --tokenizer t.json",
    "lookup": "lookup low --tokenizer t.json",
    "compare": "compare text.txt --tokenizer t.json",
    "convert": "convert --tokenizer t.json --format csv",
    "vocabularies": "vocabularies --list",
    "app": "app --help",
    "room": "room --address teacher.local",
}
"""A line of each command that prints its result."""

REFUSED: dict[str, str | tuple[str, ...]] = {
    "train missing --merges 2": "missing",
    "play missing --vocab-size 260": "missing",
    "count missing": "missing",
    "count text.txt --output no/c": "no/c",
    "count text.txt --pattern regex": "regular expression",
    "train --counts text.txt --merges 3": ("text.txt", "Parquet"),
    "train --counts missing --merges 3": "missing",
    "encode missing --tokenizer t.json": "missing",
    "encode text.txt --tokenizer missing": "missing",
    "decode --file missing --tokenizer t.json": "missing",
    "lookup low --tokenizer missing": "missing",
    "compare missing --tokenizer t.json": "missing",
    "convert --tokenizer missing --output t.csv": "missing",
    "app --address 203.0.113.7": "203.0.113.7",
    "room missing.txt": "missing.txt",
    "train text.txt --vocab-size 200": "256",
    "train text.txt --merges 3 --algorithm unigram": "Unigram",
    "train text.txt --merges 3 --pattern regex --expression (": "position 1",
    "train text.txt --merges 3 --pattern list": "",
    "train text.txt --merges 3 --end-mark symbol": "atoms=characters",
    "train text.txt --merges 3 --special-token ''": "",
    "train text.txt --merges 3 --output no/such/folder.json": "no/such/folder.json",
    "train text.txt --merges 3 --output text.txt --format gpt2": "text.txt",
    "train text.txt --merges 3 --output text.txt/t.json": "text.txt/t.json",
    "train text.txt --merges 3 --format gpt2 --output other --pattern words": "",
    "encode text.txt --tokenizer t.json --allow-special <|x|>": "<|x|>",
    "encode text.txt --tokenizer t.json --merges 99": ("t", "12 merges"),
    "encode text.txt --tokenizer t.json --segmentations 2": ("t", "Unigram"),
    "encode text.txt --tokenizer t.json --chat": ("t.json", "chat template"),
    "encode text.txt --tokenizer gpt2 --chat": ("gpt2", "chat template"),
    "decode 9999 --tokenizer t.json": ("t", "9999"),
    "decode 50257 --tokenizer gpt2": ("gpt2", "50257"),
    "decode low --tokenizer t.json": "“low”",
    "decode -1 --tokenizer t.json": ("t", "-1"),
    "decode 1.5 --tokenizer t.json": "“1.5”",
    "decode 0x1 --tokenizer t.json": "“0x1”",
    "decode ٣ --tokenizer t.json": "“٣”",
    """decode '["1"]' --tokenizer t.json""": "is not an id",
    "decode \x1b[31m --tokenizer t.json": "⟨001B⟩",
    f"decode {'1' * 18} --tokenizer t.json": ("t", "1" * 18),
    f"decode {'1' * 5_000} --tokenizer t.json": "is not an id",
    "compare text.txt text.txt --tokenizer t.json": "text.txt",
    "compare a=text.txt b=text.txt --tokenizer t.json --relative-to fr": "fr",
    "compare text.txt --tokenizer gtp2": ("gtp2", "Did you mean gpt2?"),
    "decode 1 --tokenizer n\0l": "n⟨0000⟩l",
    "encode text.txt --tokenizer ''": "",
    "convert --tokenizer t.json --output t.model --format sentencepiece": "huggingface",
}
"""Lines of right arguments that cannot be done, and what the message names."""

WRONG = {
    "train text.txt": "--vocab-size",
    "train - - --merges 3": "-",
    "train - --merges 3 --algorithm bpe --seed-size 999": "--seed-size",
    "train - --merges 3 --algorithm wordpiece --ties largest": "first, smallest",
    "train - --merges 3 --algorithm adaptive --base-size 3": "256",
    "train - --merges 3 --algorithm bbpe": "bbpe",
    "train - --merges 3 --min-count 0": "1 or more",
    "train - --merges 3 --min-count 1e3": "--min-count",
    "train - --merges -3": "--merges",
    "train - --merges ٣": "--merges",
    "train - --merges 3 --vocab-size 300": "--vocab-size",
    "train - --merges 3 --output t.exe": "t.exe",
    "train - --merges 3 --output t.gguf": ".gguf",
    "train - --merges 3 --format onnx": "onnx",
    "train - --merges 3 --form csv": "--form",
    "train - --merges 3 --special-token \udcff": "UTF-8",
    "train - --merges 3 --base-text - --algorithm adaptive": "only once",
    "train - --merges 3 --expression [a-z]": "--pattern regex",
    "train text.txt --merges 3 --format gpt2": "gpt2",
    "train text.txt --merges 1 --format csv --format csv": "only once",
    "encode - --tokenizer -": "only once",
    "encode text.txt --tokenizer gpt2 --tokenizer gpt2": "only once",
    "encode text.txt --tokenizer t.json --pattern words --expression x": "--expression",
    "encode text.txt --tokenizer t.json --system b": "--chat",
    "encode text.txt --tokenizer t.json --rendered": "--chat",
    "encode text.txt --tokenizer t.json --csv": "--text",
    "decode --tokenizer -": "only once",
    "decode 1 --tokenizer gpt2 --tokenizer gpt2": "only once",
    "lookup --containing --tokenizer t.json": "--containing",
    "play text.txt --tokenizer t.json --vocab-size 300": "--vocab-size",
    "play text.txt --tokenizer t.json --special-token x": "--tokenizer",
    "compare --tokenizer -": "only once",
    "compare text.txt --tokenizer t.json --reference gpt2": "gpt2",
    "compare text.txt --tokenizer t.json --html --json": "--json",
    "compare text.txt --tokenizer t.json --label lang": "--label",
    "compare text.txt --tokenizer t.json --text lang": "--text",
    "compare =text.txt --tokenizer t.json": "=text.txt",
    "compare en= --tokenizer t.json": "en=",
    "compare text.txt --tokenizer t.json --price gpt2=1": "gpt2",
    "compare text.txt --tokenizer t.json --price t.json=x": "t.json=x",
    "count - --scheduler tcp://a:1": "--scheduler",
    "count text.txt --expression a": "--expression",
    "train text.txt --counts c --merges 3": "not both",
    "train --counts c --merges 3 --algorithm superbpe": "superbpe",
    "vocabularies llama3": "Did you mean llama_3?",
    "vocabularies gpt2 --list": "--list",
    "room --address teacher.local --port 65536": "65535",
}
"""Lines of wrong arguments, and what the message names."""

OVERWRITING = [
    "train IN --merges 1 --format huggingface",
    "train text.txt IN --merges 1 --format huggingface",
    "train --counts IN --merges 1 --format huggingface",
    "train text.txt --base-text IN --merges 1 --format huggingface --algorithm adaptive",
    "count text.txt IN",
    "encode text.txt IN --tokenizer t.json",
    "encode text.txt --tokenizer IN",
    "decode --file IN --tokenizer t.json",
    "decode 1 --tokenizer IN",
    "lookup --tokenizer IN",
    "compare IN --tokenizer t.json",
    "play IN --merges 1",
    "play text.txt --tokenizer IN",
    "convert --tokenizer IN --format huggingface",
    "compare text.txt --tokenizer t.json --tokenizer IN",
]


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the settings of each start of a server, which ends at once; nothing is downloaded."""
    settings: list[dict[str, Any]] = []
    monkeypatch.setattr(app, "serve", lambda given: settings.append(given) or 0)
    monkeypatch.setattr(room, "network_address", lambda: "192.0.2.7")
    for name in ("BPEVIZ_PASSWORD", "BPEVIZ_ROOM_SHEET"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return settings


def test_each_command_has_a_line_of_each_kind() -> None:
    assert GOOD.keys() == COMMANDS.keys()
    for lines in (REFUSED | WRONG, dict.fromkeys(OVERWRITING)):
        named = {line.split()[0] for line in lines}
        assert named >= COMMANDS.keys() - SERVERS - {"vocabularies"}


# ---- Good lines


@pytest.mark.slow
@pytest.mark.parametrize("through_a_shell", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_examples_of_the_help_run(through_a_shell: bool, shell: Shell) -> None:
    Path("corpus").mkdir()
    for file in ("corpus.txt", "page.txt", "a.txt", "b.txt", "corpus/a.txt"):
        Path(file).write_text(TEXT, encoding="utf-8")
    Path("rows.csv").write_text("message\nlow\nlower\n", encoding="utf-8")
    Path("sheet.txt").write_text("A minute\n1 min show /Compare", encoding="utf-8")
    Path("ids.txt").write_text("[108, 111]", encoding="utf-8")
    assert shell("count", "corpus.txt", "--output", "counts.parquet").code == 0
    Path("a.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    bpeviz.save(bpeviz.train(TEXT, merges=9).tokenizer(), "tokenizer.json")
    pieces = bpeviz.train(TEXT, "sentencepiece", merges=9, pattern="none").tokenizer()
    bpeviz.save(pieces, "tokenizer.model")
    Path("model.gguf").write_bytes(READ_ONLY["gguf"]["model.gguf"])
    for name in ("", *COMMANDS):
        text = shell(*name.split(), "--help").out.decode()
        text = text.partition("examples:\n")[2].partition("\n\n")[0].replace("\\\n", " ")
        lines = [re.sub('^[A-Z_]+="[^"]*" ', "", line.strip()) for line in text.splitlines()]
        assert [line for line in lines if line.split("-m bpeviz ")[-1].startswith(name)]
        for line in lines:
            words = {*line.split()}
            needs_a_shell = bool({"|", "<", ">"} & words) or "*" in line
            is_offline = not {"llama_3", "hf:owner/name", "vocabularies", "--scheduler"} & words
            if is_offline and needs_a_shell == through_a_shell:
                run_as_shown(shell, line.partition("    ")[0])


@each_command
def test_help_names_every_command_and_option(name: str, shell: Shell) -> None:
    assert name in shell("--help").out.decode()
    text = shell(name, "--help").out.decode()
    (commands,) = (each for each in main._parser()._actions if each.dest == "command")
    for action in commands.choices[name]._actions:  # type: ignore[index]
        assert all(option in text for option in action.option_strings)
        assert not action.option_strings or action.help
    for marked in ("$", "None", "%("):
        assert marked not in text.replace("${", "")


# ---- Refusals


@pytest.mark.parametrize(("line", "naming"), REFUSED.items(), ids=lambda one: ascii(one)[:70])
def test_line_that_cannot_be_done_is_refused_in_a_sentence(
    line: str, naming: str | tuple[str, ...], trained: Shell
) -> None:
    before = contents()
    assert_sentence(trained(*shlex.split(line)).sentence, naming)
    assert contents() == before


@pytest.mark.parametrize(("line", "naming"), WRONG.items(), ids=ascii)
def test_wrong_arguments_have_the_code_2_and_are_named(
    line: str, naming: str, trained: Shell
) -> None:
    before = contents()
    trained(*shlex.split(line))
    assert (trained.code, trained.out) == (2, b"")
    assert naming in trained.err
    assert "Traceback" not in trained.err
    assert contents() == before


@each_command
def test_unknown_option_is_named(name: str, shell: Shell) -> None:
    assert shell(*shlex.split(GOOD[name].replace(" --help", "")), "--unknown").code == 2
    assert "--unknown" in shell.err


@settings(max_examples=examples(500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=hostile.arguments([*COMMANDS.keys() - {"vocabularies"}]), text=st.binary(max_size=20))
def test_any_command_line_runs_or_is_refused(
    line: list[str], text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if not Path("t.json").exists():
        Path("text.txt").write_text(SHORT, "utf-8")
        bpeviz.save(bpeviz.train(SHORT, merges=3).tokenizer(), "t.json")
    code, printed = in_streams(line, io.BytesIO(text), io.BytesIO())
    assert code in (0, 1, 2)
    assert "Traceback" not in printed
    if code == 1:
        assert_sentence(printed.splitlines()[-1])


def in_streams(line: list[str], read: io.BytesIO, written: io.BufferedIOBase) -> tuple[int, str]:
    """Run a line with these standard streams; return its code and what it says."""
    with pytest.MonkeyPatch.context() as patch:
        said = io.BytesIO()
        for name, stream in (("stdin", read), ("stdout", written), ("stderr", said)):
            wrapped = io.TextIOWrapper(stream, "utf-8", write_through=name == "stderr")  # type: ignore[arg-type]
            patch.setattr(f"sys.{name}", wrapped)
        try:
            code = main.main(line)
        except SystemExit as stop:
            code = int(str(stop.code))
        finally:
            if isinstance(written, Fails):
                written.error = None
    return code, said.getvalue().decode()


# ---- Output


class Fails(io.BufferedIOBase):
    """A stream that cannot be written."""

    def __init__(self, error: OSError) -> None:
        self.error: OSError | None = error

    def writable(self) -> bool:
        return True

    def write(self, raw: Any) -> int:
        if self.error:
            raise self.error
        return len(raw)


@each_command
@pytest.mark.usefixtures("trained")
def test_closed_pipe_ends_with_141_and_a_full_disk_with_a_sentence(name: str) -> None:
    line = shlex.split(GOOD[name])
    assert in_streams(line, io.BytesIO(), Fails(BrokenPipeError())) == (141, "")
    code, said = in_streams(line, io.BytesIO(), Fails(OSError(28, "No space left on device")))
    assert code == 1
    assert_sentence(said.strip(), "No space left on device")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files.")
def test_process_says_the_same_of_a_closed_pipe_and_a_full_disk(trained: Shell) -> None:
    line = shlex.split(GOOD["encode"])
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full", "wb") as full:
        running = [started(*line, stdout=writing), started(*line, stdout=full)]
    os.close(writing)
    (_, silent), (_, said) = (process.communicate(timeout=120) for process in running)
    assert [process.returncode for process in running] == [141, 1]
    assert silent == b""
    assert_sentence(said.decode().strip(), "No space left on device")


WITH_OUTPUT = [name for name in GOOD if name not in SERVERS | {"vocabularies"}]


@pytest.mark.parametrize("name", WITH_OUTPUT)
def test_output_replaces_a_file_wholly_or_leaves_it(
    name: str, trained: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = [*shlex.split(GOOD[name]), "--output", "link"]
    line += ["--format", "csv"] if name == "train" else []
    Path("old").write_text("old", encoding="utf-8")
    Path("old").chmod(0o640)
    Path("link").symlink_to("old")
    before = contents()

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        assert_sentence(trained(*line).sentence, ("link", "No space left on device"))
    assert contents() == before
    assert trained(*line).code == 0
    assert Path("link").is_symlink()
    assert Path("old").read_bytes() != b"old"
    assert Path("old").stat().st_mode & 0o777 == 0o640
    assert contents().keys() == before.keys()


@pytest.mark.parametrize(
    ("command", "link"), [*zip(OVERWRITING, cycle(["itself", "symbolic", "hard"]), strict=False)]
)
def test_no_command_overwrites_its_input(trained: Shell, command: str, link: str) -> None:
    given, output = Path("in"), Path("in" if link == "itself" else "out")
    given.write_bytes(b"1 2 3\n")
    if link == "symbolic":
        output.symlink_to(given)
    elif link == "hard":
        output.hardlink_to(given)
    before = contents()
    trained(*command.replace("IN", "in").split(), "--output", str(output))
    assert trained.code == 2
    assert f"would overwrite an input, {output}" in trained.err
    assert contents() == before


def test_terminal_obeys_nothing_that_a_command_prints(shell: Shell) -> None:
    """Decoded text alone is printed as it is."""
    evil = "\x1b[31m\x9b\u202e"
    tokenizer = bpeviz.train(SHORT, merges=2, special_tokens=(evil,)).tokenizer()
    bpeviz.save(tokenizer, f"{evil}.json")
    Path(f"{evil}.txt").write_text(f"low {evil}\n", encoding="utf-8")
    own = ("--tokenizer", f"{evil}.json")
    for line in (
        ("encode", f"{evil}.txt", *own, "--tokens", "--allow-special", "all"),
        ("encode", f"{evil}.txt", *own, "--tokens"),
        ("encode", f"{evil}.txt", f"{evil}.txt", *own, "--count"),
        ("lookup", evil, "258", *own),
        ("compare", f"{evil}.txt", *own),
        ("compare", f"{evil}={evil}.txt", *own),
        ("compare", f"{evil}.txt", *own, "--markdown"),
        ("convert", *own, "--output", "t.csv", "--progress"),
        ("train", f"{evil}.txt", "--merges", "1", "--output", "t.json", "--progress"),
        ("encode", evil, *own),
        ("encode", "--tokenizer", evil),
    ):
        shell(*line)
        printed = shell.out.decode() + shell.err
        assert printed
        assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", printed) == [], line

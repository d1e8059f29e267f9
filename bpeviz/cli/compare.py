"""The command ``compare``: measure several tokenizers on one text."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from bpeviz.analysis.metrics import Column, Metrics, measure
from bpeviz.cli import arguments, files
from bpeviz.cli.arguments import Commands
from bpeviz.cli.errors import UsageError
from bpeviz.cli.progress import Progress
from bpeviz.corpus.files import STANDARD, named

_HELP = """\
Measure several tokenizers on one text: the number of tokens, the bytes per token, the share of
words kept whole, and the agreement of the boundaries with a baseline (--reference).
"""
_EXAMPLES = """\
examples:
  python -m bpeviz compare page.txt --tokenizer tokenizer.json --tokenizer gpt2
  python -m bpeviz compare page.txt --tokenizer gpt2 --tokenizer o200k_base --json
  python -m bpeviz compare - --tokenizer gpt2 --tokenizer cl100k_base < page.txt

Use a text that no tokenizer was trained on: on its training text a tokenizer scores better than it
should. A larger vocabulary usually needs fewer tokens.
"""


def add(commands: Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    command = arguments.add_command(
        commands, "compare", "measure several tokenizers on one text", _HELP, _EXAMPLES
    )
    command.add_argument(
        "file",
        nargs="?",
        default=STANDARD,
        metavar="FILE",
        help="a UTF-8 text; - or none: standard input",
    )
    arguments.add_tokenizer(command, several=True)
    command.add_argument(
        "--reference",
        metavar="TOKENIZER",
        help="the baseline, with which the others are compared (default: the first)",
    )
    command.add_argument("--json", action="store_true", help="print a JSON list of exact numbers")
    arguments.add_output(command)
    arguments.add_progress(command)
    return command


def run(options: argparse.Namespace) -> int:
    """Print the metrics of all tokenizers; return the exit code."""
    names: list[str] = options.tokenizer
    arguments.check_one_standard_input([options.file, *names])
    arguments.check_expression(options)
    reference = names[0] if options.reference is None else options.reference
    if reference not in names:
        raise UsageError(f"The reference {reference} is not one of the tokenizers.")
    progress = Progress(options.progress)
    tokenizers = [files.load_tokenizer(name, options, progress) for name in names]
    text = files.read_text(options.file)
    columns = []
    for name, tokenizer in zip(names, tokenizers, strict=True):
        with progress.during(f"Encoding {len(text):,} characters with {named(name)}"):
            boundaries = tokenizer.boundaries(text)
        columns.append(Column(named(name), tokenizer, boundaries, tokenizer.steps))
    rows = measure(text, columns, names.index(reference))
    unknown = [column.unknown for column in columns]
    if options.json:
        found = [
            {"tokenizer": name, **_plain(row), "unknown": lost}
            for name, row, lost in zip(names, rows, unknown, strict=True)
        ]
        printed = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    else:
        printed = _table(text, rows, named(reference))
        for row, lost in zip(rows, unknown, strict=True):
            if lost:
                printed += (
                    f"{row.title} has {lost:,} unknown tokens: their text is lost, so its counts "
                    "look better than they are.\n"
                )
    files.write_output(options.output, printed.encode("utf-8", "backslashreplace"))
    return 0


def _plain(row: Metrics) -> dict[str, object]:
    found = asdict(row)
    del found["title"]
    return found


def _table(text: str, rows: Sequence[Metrics], reference: str) -> str:
    from bpeviz.views import tables  # only here: importing pandas takes a second

    frame = tables.metrics(rows, "the reference")
    lines = [
        ["", *(row.title for row in rows), ""],
        *([str(cell) for cell in row] for row in frame.to_numpy().tolist()),
    ]
    width = [max(map(len, column)) for column in zip(*lines, strict=True)]
    printed = [
        f"{len(text):,} characters, {len(text.encode()):,} bytes; the reference is {reference}.",
        "",
    ]
    for first, *cells, last in lines:
        numbers = [f"{cell:>{wide}}" for cell, wide in zip(cells, width[1:-1], strict=True)]
        printed.append("  ".join([f"{first:<{width[0]}}", *numbers, last]).rstrip())
    return "\n".join(printed) + "\n"

"""``compare``: several tokenizers on one text."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from bpeviz.analysis.metrics import Column, Metrics, measure
from bpeviz.cli import common
from bpeviz.cli.common import Commands, Progress
from bpeviz.corpus.files import STANDARD, named

_HELP = """\
Measure several tokenizers on one text: how many tokens it becomes, how many bytes each stands for,
how many words stay whole, and how far the cuts agree with a reference's, by default the first's.
"""
_EXAMPLES = """\
examples:
  python -m bpeviz compare page.txt --tokenizer tokenizer.json --tokenizer gpt2
  python -m bpeviz compare page.txt --tokenizer gpt2 --tokenizer o200k_base --json
  python -m bpeviz compare - --tokenizer gpt2 --tokenizer cl100k_base < page.txt

A text that a tokenizer learnt from flatters it: measure on another one. More entries in the
vocabulary usually mean fewer tokens.
"""


def add(commands: Commands) -> argparse.ArgumentParser:
    """Say what may be asked of this command."""
    command = commands.add_parser(
        "compare",
        help="measure several tokenizers on one text",
        description=_HELP,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument(
        "file",
        nargs="?",
        default=STANDARD,
        metavar="FILE",
        help="a text in UTF-8; - or nothing: standard input",
    )
    common.add_tokenizer(command, several=True)
    command.add_argument(
        "--reference",
        metavar="TOKENIZER",
        help="which of them the cuts of the others are held against (default: the first)",
    )
    command.add_argument(
        "--json", action="store_true", help="print a JSON list with an entry for each, unrounded"
    )
    common.add_output(command)
    common.add_progress(command)
    return command


def run(options: argparse.Namespace) -> int:
    """Measure all tokenizers on the text; return the exit code."""
    names: list[str] = options.tokenizer
    common.once([options.file, *names])
    common.check_expression(options)
    reference = names[0] if options.reference is None else options.reference
    if reference not in names:
        raise common.WrongCommand(f"The reference {reference} is none of the tokenizers given.")
    progress = Progress(options.progress)
    tokenizers = [common.load(name, options, progress) for name in names]
    text = common.read_text(options.file)
    columns = []
    for name, tokenizer in zip(names, tokenizers, strict=True):
        with progress.during(f"Cutting {len(text):,} characters with {named(name)}"):
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
                    f"{lost:,} tokens of {row.title} are unknown to it: what they were is lost, "
                    "and counts flatter it.\n"
                )
    common.write_out(options.output, printed.encode("utf-8", "backslashreplace"))
    return 0


def _plain(row: Metrics) -> dict[str, object]:
    found = asdict(row)
    del found["title"]
    return found


def _table(text: str, rows: Sequence[Metrics], reference: str) -> str:
    from bpeviz.views import tables  # pandas takes a second to come, and no other command needs it

    frame = tables.metrics(rows)
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

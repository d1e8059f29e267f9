"""The command ``compare``: measure several tokenizers on one text."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain

from bpeviz.analysis import verdict
from bpeviz.analysis.metrics import Column, Metrics, measure, sweep
from bpeviz.cli import arguments, files
from bpeviz.cli.arguments import Choice, Command, flag, option
from bpeviz.cli.errors import UsageError
from bpeviz.cli.progress import Progress
from bpeviz.corpus.files import named
from bpeviz.views import export

_HELP = """\
Measure several tokenizers on one text: the number of tokens, its bytes per token, the share of
words kept whole, and the agreement of the boundaries with a baseline (--reference). Or export the
text in colored tokens, or the bytes per token over vocabulary sizes.
"""
_EXAMPLES = """\
examples:
  python -m bpeviz compare page.txt --tokenizer tokenizer.json --tokenizer gpt2
  python -m bpeviz compare page.txt --tokenizer gpt2 --tokenizer o200k_base --json
  python -m bpeviz compare - --tokenizer gpt2 --tokenizer cl100k_base < page.txt
  python -m bpeviz compare page.txt --tokenizer gpt2 --html --output tokens.html
  python -m bpeviz compare page.txt --tokenizer gpt2 --tokenizer cl100k_base --curves

Use a text that no tokenizer was trained on: on its training text a tokenizer scores better than it
should. A larger vocabulary usually needs fewer tokens.
"""


def run(options: argparse.Namespace) -> int:
    """Print the metrics of all tokenizers; return the exit code."""
    names: list[str] = options.tokenizer
    read = [options.file, *chain.from_iterable(map(files.tokenizer_inputs, names))]
    arguments.check_files(read, [options.output])
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
    printed = _printed(text, columns, names.index(reference), names, options)
    files.write_output(options.output, printed.encode("utf-8", "backslashreplace"))
    return 0


def _printed(
    text: str,
    columns: Sequence[Column],
    baseline: int,
    names: Sequence[str],
    options: argparse.Namespace,
) -> str:
    """Return the output in the form that the options select."""
    if options.html or options.svg:
        draw = export.html if options.html else export.svg
        return draw(export.ColoredText(text, columns, "One text as tokens", baseline))
    if options.curves:
        return _curves(columns)
    rows = measure(text, columns, baseline)
    unknown = [column.unknown for column in columns]
    if options.json:
        found = [
            {"tokenizer": name, **_plain(row), "unknown": lost}
            for name, row, lost in zip(names, rows, unknown, strict=True)
        ]
        return json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    printed = _table(text, rows, columns[baseline].title)
    for column in columns:
        if column.dropped:
            printed += f"{verdict.dropped(column, text)}\n"
    for row, lost in zip(rows, unknown, strict=True):
        if lost:
            printed += (
                f"{row.title} has {lost:,} unknown tokens: their text is lost, so its counts "
                "look better than they are.\n"
            )
    return printed


def _curves(columns: Sequence[Column]) -> str:
    """Return the curves of all tokenizers as CSV."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(("tokenizer", "vocabulary size", "bytes per token"))
    for column in columns:
        for size, ratio in zip(*sweep(column), strict=True):
            rows.writerow((column.title, int(size), f"{ratio:.6g}"))
    return written.getvalue()


def _plain(row: Metrics) -> dict[str, object]:
    found = asdict(row)
    del found["title"]
    return found


def _table(text: str, rows: Sequence[Metrics], reference: str) -> str:
    from bpeviz.views.tables import metrics  # only here: all other commands would wait for it

    lines = [("", *(row.title for row in rows), ""), *metrics(rows, "the reference").rows]
    width = [max(map(len, column)) for column in zip(*lines, strict=True)]
    printed = [
        f"{len(text):,} characters, {len(text.encode()):,} bytes; the reference is {reference}.",
        "",
    ]
    for first, *cells, last in lines:
        numbers = [f"{cell:>{wide}}" for cell, wide in zip(cells, width[1:-1], strict=True)]
        printed.append("  ".join([f"{first:<{width[0]}}", *numbers, last]).rstrip())
    return "\n".join(printed) + "\n"


COMMAND = Command(
    "compare",
    "measure several tokenizers on one text",
    _HELP,
    _EXAMPLES,
    run,
    (
        arguments.FILE,
        *arguments.tokenizer(several=True),
        option(
            "--reference",
            "TOKENIZER",
            "the baseline, with which the others are compared (default: the first)",
        ),
        Choice(
            (
                flag("--json", "print a JSON list of exact numbers"),
                flag(
                    "--curves",
                    "print bytes per token over vocabulary sizes as CSV: for BPE, of the first "
                    "merges",
                ),
                flag(
                    "--html",
                    "write the text in colored tokens as a web page, up to "
                    f"{export.HELD:,} bytes of it",
                ),
                flag("--svg", "write it as an SVG drawing"),
            )
        ),
        arguments.OUTPUT,
        arguments.PROGRESS,
    ),
)

"""Measure several tokenizers on one text or many.

Measure several tokenizers on one text: the number of tokens, its bytes per token, the share of
words kept whole, and the agreement of the boundaries with a baseline (--reference). Or export the
text in colored tokens, or the bytes per token over vocabulary sizes. Repeat --tokenizer for each.

Several files, a folder or NAME=FILE select many texts, up to $COMPARED_TEXTS. So does an
option for them, such as --relative-to or --csv. The command then prints a table of the texts, and
one of the tokenizers.

A table without a name (CSV, TSV, JSONL, NDJSON or Parquet), also in a folder, gives the rows of
its column of text. If it has a column of labels, which is named like `lang` or `label`, or has few
short values that repeat, the rows of each label are one text. If the headings of several columns
of text are languages, they are parallel texts. In JSON, "messages" give a text for each role, and
`encode --chat --lines` encodes conversations with a chat template. A line on standard error names
the columns; --text and --label choose others, and --as text reads the file itself.

Options:
  FILE: a UTF-8 text, a table, a folder, or NAME=FILE (./a=b.txt is a file); - or none: standard
    input
  --reference TOKENIZER: the baseline, with which the others are compared (default: the first)
  --relative-to NAME: the text to which the premiums of the others are relative
  --special-tokens: for many texts: count the special tokens around each, if known
  --price TOKENIZER=PRICE: for many texts: print costs, from the price of a million tokens of this
    tokenizer; repeat the option for each
  --json: print exact numbers as JSON: a list, or an object for many texts
  --csv: print exact numbers as CSV, a row for each text and tokenizer; its columns all_texts_… are
    those of the tokenizer over all texts
  --markdown: print the table of texts in Markdown
  --curves: print bytes per token over vocabulary sizes as CSV: for BPE, of the first merges
  --html: write the text in colored tokens as a web page, up to $HELD bytes of it; for many texts,
    all tables

Examples:
  python -m bpeviz compare page.txt --tokenizer tokenizer.json --tokenizer gpt2
  python -m bpeviz compare page.txt --tokenizer gpt2 --tokenizer o200k_base --json
  python -m bpeviz compare - --tokenizer gpt2 --tokenizer cl100k_base < page.txt
  python -m bpeviz compare page.txt --tokenizer gpt2 --html --output tokens.html
  python -m bpeviz compare page.txt --tokenizer gpt2 --tokenizer cl100k_base --curves
  python -m bpeviz compare en=a.txt es=b.txt --tokenizer gpt2 --relative-to en --csv

The premium of a text is how many times as many tokens it needs as the text of --relative-to. Both
need the same number of lines or rows, each a translation of the other. Each is encoded alone. From
10 on, a premium has a 95% bootstrap interval over them, and so has the difference between two
tokenizers. If that interval contains zero, the difference is undecided.

Use a text that no tokenizer was trained on: on its training text a tokenizer scores better than it
should. A larger vocabulary usually needs fewer tokens.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from bpeviz import limits
from bpeviz.analysis import figures, verdict
from bpeviz.analysis.compared_text import FIGURES
from bpeviz.analysis.comparison import Comparison, compare, parallel_texts
from bpeviz.analysis.figures import Measured, measure
from bpeviz.analysis.metrics import Column, sweep
from bpeviz.cli import arguments, files, named_texts
from bpeviz.cli.arguments import Command, exclusive, flags, option
from bpeviz.cli.errors import UsageError, print_error
from bpeviz.cli.named_texts import TextFile
from bpeviz.cli.progress import Progress
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import unit_of
from bpeviz.corpus.files import STANDARD, named
from bpeviz.text import counted, distinct, listed
from bpeviz.views import export, playable, text_table
from bpeviz.views.credit import check_link
from bpeviz.views.stage import of_columns
from bpeviz.views.table import Table
from bpeviz.views.tables import metrics

_NAMES = "text", "tokenizer"
"""The columns of names."""


def run(options: argparse.Namespace) -> int:
    """Print the metrics of all tokenizers; return the exit code."""
    given: list[str] = options.files or [STANDARD]
    for_many = (
        options.csv or options.markdown or options.special_tokens or options.price or options.text
    )
    names = (options.relative_to, options.label)
    is_many = bool(
        len(given) > 1
        or os.path.isdir(given[0])
        or named_texts.split_name(given[0])[0]
        or any(name is not None for name in names)
        or for_many
        or named_texts.is_table(given[0], options)
    )
    sources = named_texts.sources(given, options) if is_many else []
    if is_many and (options.reference is not None or options.curves):
        raise UsageError("--reference and --curves are for one text. --as text reads a table so.")
    check_link(options.link)
    progress = files.begin(options, [source.path for source in sources] if is_many else given)
    printed = _many(sources, options, progress) if is_many else _one(given[0], options, progress)
    files.write_output(options.output, printed)
    return 0


def _one(path: str, options: argparse.Namespace, progress: Progress) -> str:
    """Return the metrics of one text."""
    names: list[str] = options.tokenizer
    reference = names[0] if options.reference is None else options.reference
    if reference not in names:
        raise UsageError(f"The reference {reference} is not one of the tokenizers.")
    tokenizers = _load(options, progress)
    text = named_texts.read_text(path, options)
    columns = []
    for title, tokenizer in tokenizers.items():
        with progress.during(f"Encoding {len(text):,} characters with {title}"):
            boundaries = tokenizer.boundaries(text)
        columns.append(Column(title, tokenizer, boundaries, tokenizer.steps))
    return _printed(text, columns, names.index(reference), distinct(names), options)


def _load(options: argparse.Namespace, progress: Progress) -> dict[str, Tokenizer]:
    """Return the tokenizers by distinct names: on screen, or in data those of the arguments."""
    names: list[str] = options.tokenizer
    is_data = options.json or options.csv or options.curves
    titles = distinct(map(named if is_data else files.title, names))
    loaded = (files.load_tokenizer(name, options, progress) for name in names)
    return dict(zip(titles, loaded, strict=True))


def _many(sources: Sequence[TextFile], options: argparse.Namespace, progress: Progress) -> str:
    """Return one table of many texts, and print notes about them."""
    texts, notes = named_texts.read(sources, options)
    tokenizers = _load(options, progress)
    titles = dict(zip(tokenizers, options.tokenizer, strict=True))
    relative_to = None if options.relative_to is None else named(options.relative_to)
    number, parallel = parallel_texts(texts)
    unit = unit_of(*map(texts.__getitem__, parallel))
    if relative_to is None and parallel and number > 1 and all(source.name for source in sources):
        notes.append(
            f"{len(parallel):,} texts have {number:,} {unit}s each. If they are translations, "
            f"--relative-to NAME compares them {unit} by {unit}."
        )
    with progress.during(f"Comparing {counted(len(texts), 'text')}"):
        comparison = compare(
            texts,
            tokenizers,
            relative_to,
            special_tokens=options.special_tokens,
            prices=_prices(options.price, titles),
        )
    for sentence in notes:
        print_error(sentence)
    return _many_printed(comparison, relative_to, titles, options)


def _many_printed(
    comparison: Comparison,
    relative_to: str | None,
    titles: Mapping[str, str],
    options: argparse.Namespace,
) -> str:
    """Return the table of many texts in the form that the options select."""
    if options.json:
        exact = {
            "rows": [asdict(row) for row in comparison.rows],
            "verdict": comparison.verdict,
            "notes": comparison.notes,
            "tokenizers": [
                asdict(row) | files.note_on(titles[row.tokenizer], options)
                for row in comparison.tokenizers
            ],
            "special_tokens": comparison.special_tokens is not None,
        }
        return files.as_json(exact, 2) + "\n"
    if options.csv:
        return text_table.exact(comparison).csv()
    if options.html:
        return playable.html(playable.of_texts(comparison), options.link)
    left_out = [figures.premium] * (relative_to is None)
    left_out += [figures.cost] * all(row.cost is None for row in comparison.rows)
    columns = [figure for figure in FIGURES.values() if figure not in left_out]
    tables = text_table.of_texts(comparison, columns), text_table.of_tokenizers(comparison)
    bullet = "- " if options.markdown else ""
    notes = [f"{bullet}{note}" for note in comparison.notes]
    if comparison.special_tokens is None:
        notes.append(f"{bullet}{text_table.WITHOUT_SPECIAL}")
    blocks = [[comparison.verdict]]
    for table in tables:
        small = Table([name.lower() for name in table.names], table.columns)
        blocks.append([*(small.markdown(_NAMES) if options.markdown else small.aligned(_NAMES))])
    return "\n\n".join(map("\n".join, [*blocks, notes])) + "\n"


def _prices(given: Sequence[str], titles: Mapping[str, str]) -> dict[str, float] | None:
    """Return the prices of TOKENIZER=PRICE by title, or None without any.

    Args:
        given: The arguments.
        titles: The name of each tokenizer by its title.
    """
    prices: dict[str, float] = {}
    for text in given:
        name, _, price = text.rpartition("=")
        priced = [title for title, known in titles.items() if name in (title, known)]
        if not priced:
            raise UsageError(f"--price {text} is not of one of the tokenizers: TOKENIZER=PRICE.")
        try:
            prices |= dict.fromkeys(priced, float(price))
        except ValueError:
            raise UsageError(f"--price {text} has no number after the equals sign.") from None
    if 0 < len(prices) < len(titles):
        others = [title for title in titles if title not in prices]
        print_error(f"Without a price, and so without costs: {listed(others, 8)}.")
    return prices or None


def _printed(
    text: str,
    columns: Sequence[Column],
    baseline: int,
    names: Sequence[str],
    options: argparse.Namespace,
) -> str:
    """Return the output in the form that the options select."""
    measured = measure(text, columns, baseline)
    if options.html:
        colored = export.colored("One text as tokens", of_columns(columns, text))
        return playable.html(playable.of_score(colored, metrics(measured)), options.link)
    if options.curves:
        return _curves(columns)
    if options.json:
        rows = [
            _exact(name, row) | files.note_on(argument, options)
            for name, argument, row in zip(names, options.tokenizer, measured, strict=True)
        ]
        return files.as_json(rows, 2) + "\n"
    sentences = verdict.losses(text, columns)
    return _table(text, measured, columns[baseline].title) + "".join(f"{s}\n" for s in sentences)


def _curves(columns: Sequence[Column]) -> str:
    """Return the curves of all tokenizers as CSV."""
    rows = (
        (column.title, int(size), f"{ratio:.6g}")
        for column in columns
        for size, ratio in zip(*sweep(column), strict=True)
    )
    return Table.of_rows(["tokenizer", "vocabulary size", "bytes per token"], [*rows]).csv()


def _exact(name: str, measured: Measured) -> dict[str, object]:
    """Return the figures of one text as JSON."""
    agreement = asdict(measured.agreement)
    values = {
        figure.key: figure.of(measured)
        for figure in figures.OF_TEXT
        if figure.key not in agreement and figure is not figures.cost
    }
    others = {"agreement": agreement, "unknown": measured.column.unknown}
    return {"tokenizer": name, **values, **others}


def _table(text: str, measured: Sequence[Measured], reference: str) -> str:
    table = metrics(measured, "the reference")
    lines = Table(["", *table.names[1:-1], ""], table.columns).aligned([""])
    sizes = f"{len(text):,} characters, {len(text.encode()):,} bytes"
    return "\n".join([f"{sizes}; the reference is {reference}.", "", *lines, ""])


COMMAND = Command(
    __doc__,
    run,
    arguments.FILES,
    *arguments.tokenizer(action="append"),
    option("--reference TOKENIZER"),
    arguments.text("--relative-to NAME", None),
    *flags("--special-tokens"),
    option("--price TOKENIZER=PRICE", action="append", default=[]),
    *arguments.TABLES,
    exclusive(*flags("--json", "--csv", "--markdown", "--curves", "--html")),
    arguments.LINK,
    arguments.OUTPUT,
    arguments.PROGRESS,
    COMPARED_TEXTS=limits.COMPARED_TEXTS,
    HELD=f"{export.HELD:,}",
)

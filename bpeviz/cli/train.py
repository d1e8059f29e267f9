r"""Train a tokenizer on texts.

Train a tokenizer on texts, and write it to a file that other libraries read.

Several files, or those in a folder, are several texts: no token crosses from one into the next.
With --algorithm multilingual or parity, each file is weighted or compressed as a text, and so are
parts between lines of ---.

A table (CSV, TSV, JSONL, NDJSON or Parquet) gives its column of text, or several columns. No token
crosses from one cell into the next. With multilingual or parity, the cells of each column or label
are weighted together; parity counts cells, not lines. A line on standard error names the columns.

With --counts, training uses the pre-tokens that `count` counted, with the same result as on the
text itself: with bpe, scaffold, wordpiece, unigram and adaptive. They contain no names of special
tokens at which the text could be split.

If a format cannot represent the tokenizer, the error gives the reason, for long texts before
training.

Options:
  FILE: a UTF-8 text or table; - or none: standard input
  --counts FILE: train on this Parquet file of `count`, or of another program with the columns
    chunk, count and first; - is standard input
  --pattern: the pre-tokenization, which no token crosses (default: gpt2, or that of --counts)

Examples:
  python -m bpeviz train corpus.txt --vocab-size 8000 --output tokenizer.json
  python -m bpeviz train a.txt b.txt --merges 500 --pattern cl100k --output ranks.tiktoken
  cat *.txt | python -m bpeviz train - --vocab-size 1000 --special-token "<|end|>" > tokenizer.json
  python -m bpeviz train corpus.txt --vocab-size 300 --pattern regex --expression "[a-z]+|." \
      --output tokenizer.json
  python -m bpeviz train corpus.txt --vocab-size 500 --algorithm bpe --atoms characters \
      --ties largest --min-count 2 --output merges.csv
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import islice

from bpeviz import formats
from bpeviz.cli import arguments, files, named_texts, training
from bpeviz.cli.arguments import Command, exclusive, option
from bpeviz.cli.errors import CommandError, UsageError
from bpeviz.core.training import Training
from bpeviz.corpus import parquet
from bpeviz.corpus.documents import Documents, characters_in
from bpeviz.corpus.files import STANDARD, named
from bpeviz.pretokenizers.counts import CountsError, PreTokenCounts
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.trainers import Corpus, texts_of

_FROM_COUNTS = ("bpe", "scaffold", "wordpiece", "unigram", "adaptive")
"""The algorithms that give the same result on counted pre-tokens as on the text."""

_WITHOUT_SPLITTING = ("bpe", "scaffold")
"""The algorithms of `_FROM_COUNTS` that do not split the pre-tokens again."""

_SAMPLE = 2_000
"""Number of characters of the sample that checks the format before long training."""


def run(options: argparse.Namespace) -> int:
    """Train, and write the tokenizer; return the exit code."""
    paths = _inputs(options)
    sources = named_texts.files_of(() if options.counts else paths, options)
    named_texts.check_columns(sources, options)
    values = training.chosen(options)
    target = files.target(options, options.algorithm)
    inputs = [source.path for source in sources] or paths
    progress = files.begin(options, [*inputs, *training.text_paths(values)], target.outputs)
    values = training.with_texts(values)
    corpus: str | Documents | PreTokenCounts
    if options.counts is None:
        grouped = options.algorithm in ("multilingual", "parity")
        corpus = named_texts.corpus(sources, options, grouped=grouped)
        size = f"{characters_in(corpus):,} characters"
    else:
        corpus = _counts(options)
        options.pattern, options.expression = corpus.pattern, corpus.expression
        size = f"{len(corpus):,} distinct pre-tokens"

    def train(corpus: Corpus) -> Training:
        return training.train(corpus, options, values)

    if (sample := _sample(corpus)) is not None:
        _try_format(train, sample, target.format)
    with progress.during(f"Training on {size}"):
        history = train(corpus)
    with progress.during("Writing"):
        target.write(formats.dump(history.tokenizer(), target.format, suggests=True))
    training.report_early_end(history, options.vocab_size)
    files.report(progress, target.output, texts_of(history).vocabulary(history, history.steps))
    return 0


# ---- The corpus


def _inputs(options: argparse.Namespace) -> list[str]:
    """Return the paths of the texts or the counts. Raises `UsageError`."""
    if options.counts is None:
        return options.files or [STANDARD]
    if options.files:
        raise UsageError("Name text files or --counts, not both.")
    if options.algorithm not in _FROM_COUNTS:
        raise UsageError(
            f"--algorithm {options.algorithm} needs the text itself, not --counts, unlike "
            f"{', '.join(_FROM_COUNTS)}."
        )
    return [options.counts]


def _counts(options: argparse.Namespace) -> PreTokenCounts:
    """Return the counts in the file of ``--counts``. Raises `CommandError`."""
    content = files.read_bytes(options.counts, files.MAX_COUNTS)
    try:
        counts = parquet.parse(content, options.pattern or "", options.expression)
        counts.keys()  # decodes the pre-tokens
    except CountsError as error:
        raise CommandError(f"{named(options.counts)}: {error}") from error
    if counts.pattern == CUSTOM and options.algorithm not in _WITHOUT_SPLITTING:
        raise CommandError(
            f"--algorithm {options.algorithm} splits pre-tokens again, and a regular expression "
            f"may split them differently. Use {' or '.join(_WITHOUT_SPLITTING)}."
        )
    return counts


def _sample(corpus: str | Documents | PreTokenCounts) -> Corpus | None:
    """Return the beginning of a corpus, or None for a short corpus."""
    if isinstance(corpus, PreTokenCounts):
        few = dict(islice(corpus.items(), _SAMPLE // 10))
        return few if len(corpus) > 10 * len(few) else None
    if characters_in(corpus) <= 10 * _SAMPLE:
        return None
    if isinstance(corpus, Documents):
        return Documents(tuple(text[:_SAMPLE] for text in corpus.texts if text)[: _SAMPLE // 100])
    return corpus[:_SAMPLE]


def _try_format(train: Callable[[Corpus], Training], sample: Corpus, format: str) -> None:
    """Raise `FormatError` if a format cannot represent a tokenizer trained on a sample."""
    try:
        history = train(sample)
    except ValueError:
        return  # the whole corpus may be valid; if not, training raises the error
    formats.dump(history.tokenizer(), format, suggests=True)


COMMAND = Command(
    __doc__,
    run,
    arguments.FILES,
    *arguments.TABLES,
    option("--counts FILE"),
    exclusive(*training.SIZE, required=True),
    *arguments.SAVED,
    *arguments.pattern(None),
    *training.ARGUMENTS,
    usage="%(prog)s [FILE ...] (--vocab-size N | --merges N) [--output PATH] …",
)

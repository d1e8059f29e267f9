r"""Count the pre-tokens of a corpus, for training later.

Count the distinct pre-tokens of a corpus, and write them to a Parquet file. `train --counts` needs
nothing else, however large the corpus is.

Several files are one text, joined without anything between them, as by `cat`. Those of gzip and
Zstandard are unpacked. Training on the
counts gives the same tokenizer as training on that text, ties included. Files are read in blocks.
With --pattern none, regex and, in a text without line ends, sentences, the whole text is in memory.

A table (CSV, TSV, JSONL, NDJSON or Parquet) gives the cells of its columns of text, each split
alone, as is each other file beside a table. A line on standard error names the columns.

With --scheduler, the workers of a Dask cluster count parts of the files. They need bpeviz, and the
files under the same names. The result is identical.

Options:
  FILE: a UTF-8 text or table; - or none: standard input
  --pattern: the pre-tokenization (default: gpt2)
  --output FILE: write to this file; - or none: standard output, unless it is a terminal
  --scheduler ADDRESS: count on the workers of this Dask scheduler, such as tcp://10.0.0.1:8786

Examples:
  python -m bpeviz count corpus/*.txt --pattern cl100k --output counts.parquet
  python -m bpeviz train --counts counts.parquet --vocab-size 32000 --output tokenizer.json
  python -m bpeviz count *.txt.gz --output counts.parquet
  python -m bpeviz count /shared/corpus/*.txt --scheduler tcp://10.0.0.1:8786 \
      --output counts.parquet
"""

from __future__ import annotations

import argparse

from bpeviz.cli import arguments, files, named_texts
from bpeviz.cli.arguments import Command, option
from bpeviz.cli.errors import UsageError
from bpeviz.corpus import dask, parquet
from bpeviz.corpus import files as corpus_files
from bpeviz.corpus.files import STANDARD, ByteRange, named
from bpeviz.pretokenizers.counts import count_blocks, count_each
from bpeviz.trainers.base import texts_of_corpus


def run(options: argparse.Namespace) -> int:
    """Count the pre-tokens, and write the counts; return the exit code."""
    sources = named_texts.files_of(options.files or [STANDARD], options)
    paths = [source.path for source in sources]
    output = files.name_output(options)
    progress = files.begin(options, paths)
    if options.scheduler is not None and STANDARD in paths:
        raise UsageError("--scheduler needs files: workers cannot read standard input.")
    has_table = named_texts.check_columns(sources, options)
    if options.scheduler is not None and (has_table or options.encoding):
        raise UsageError("--scheduler counts texts in UTF-8, not tables. Leave it out.")

    subject = f"{len(paths):,} files" if len(paths) > 1 else named(paths[0])
    with progress.during(f"Counting {subject}"):
        split = options.pattern, options.expression
        if options.scheduler is not None:
            counts = dask.count(options.scheduler, paths, *split)
        elif has_table:
            corpus = named_texts.corpus(sources, options)
            counts = count_each(texts_of_corpus(corpus), *split)
        else:
            for path in paths:
                named_texts.note_json(path, options)
            spans = [ByteRange(path) for path in paths]
            texts = corpus_files.read(spans, files.open_file, options.encoding)
            counts = count_blocks(texts, *split)
    with progress.during("Writing"):
        files.write_output(output, parquet.dump(counts))
    result = f"{len(counts):,} distinct pre-tokens of {counts.size:,} bytes"
    files.report(progress, output, result)
    return 0


COMMAND = Command(
    __doc__,
    run,
    arguments.FILES,
    *arguments.TABLES,
    *arguments.pattern("gpt2"),
    option("--output FILE"),
    option("--scheduler ADDRESS"),
    arguments.PROGRESS,
    usage="%(prog)s [FILE ...] [--output FILE] …",
)

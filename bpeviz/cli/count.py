"""``count``: count the pre-tokens of a corpus, to learn from them later."""

from __future__ import annotations

import argparse
from pathlib import Path

from bpeviz.cli import common
from bpeviz.cli.common import Commands, Progress, WrongCommand
from bpeviz.corpus import dask, parquet
from bpeviz.corpus import files as corpus_files
from bpeviz.corpus.files import STANDARD, Span, named
from bpeviz.pretokenizers.counts import count_blocks

_HELP = """\
Count the distinct pre-tokens of a corpus, and write them to a Parquet file: all that `train --counts`
needs of it, however large it is.

Several files are one text here, one behind the other with nothing between, as `cat` would put
them: what is learnt from the counts is what would be learnt from that text, ties included. The
files are read piece by piece. With --pattern none, regex and, where there are no new lines,
sentences, a text cannot be cut, and is held in memory.

With --scheduler, the workers of a Dask cluster do the counting, each a part at a time. They need
bpeviz, and the files under the same names. The file is the same to the last bit.
"""
_EXAMPLES = """\
examples:
  python -m bpeviz count corpus/*.txt --pattern cl100k --output counts.parquet
  python -m bpeviz train --counts counts.parquet --vocab-size 32000 --output tokenizer.json
  zcat *.txt.gz | python -m bpeviz count - --output counts.parquet
  python -m bpeviz count /shared/corpus/*.txt --scheduler tcp://10.0.0.1:8786 \\
      --output counts.parquet
"""


def add(commands: Commands) -> argparse.ArgumentParser:
    """Say what may be asked of this command."""
    command = commands.add_parser(
        "count",
        help="count the chunks of a corpus, to learn from them later",
        usage="python -m bpeviz count [FILE ...] [--output FILE] …",
        description=_HELP,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    common.add_files(command)
    common.add_split(command, "gpt2", "how the text is split (default: gpt2)")
    command.add_argument(
        "--output",
        metavar="FILE",
        help="write there; - or nothing: to standard output, unless that is a terminal",
    )
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="let the workers of this Dask scheduler count, such as tcp://10.0.0.1:8786",
    )
    common.add_progress(command)
    return command


def run(options: argparse.Namespace) -> int:
    """Count, and write; return the exit code."""
    files = options.files or [STANDARD]
    common.check_expression(options)
    common.once(files)
    output = common.target(options)
    if output != STANDARD:
        common.check_writable(Path(output))
    if options.scheduler is not None and STANDARD in files:
        raise WrongCommand("With --scheduler, name files: standard input cannot be shared.")

    progress = Progress(options.progress)
    what = f"{len(files):,} files" if len(files) > 1 else named(files[0])
    with progress.during(f"Counting {what}"):
        if options.scheduler is None:
            pieces = corpus_files.read([Span(path) for path in files], common.open_file)
            counts = count_blocks(pieces, options.pattern, options.expression)
        else:
            counts = dask.count(options.scheduler, files, options.pattern, options.expression)
    with progress.during("Writing"):
        common.write_out(output, parquet.dump(counts))
    progress.say(
        f"Written to {'standard output' if output == STANDARD else named(output)}: "
        f"{len(counts):,} distinct chunks of {counts.size:,} bytes."
    )
    return 0

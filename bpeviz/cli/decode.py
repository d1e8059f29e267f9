"""``decode``: ids to text."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator

from bpeviz.cli import common
from bpeviz.cli.common import Commands, Failure, Progress
from bpeviz.corpus.files import STANDARD
from bpeviz.text import visible

_HELP = """\
Decode ids: numbers with spaces, commas or the brackets of JSON around them, as arguments or from a
file. What comes out are exactly the bytes that the ids stand for: what `encode` read, wherever the
tokenizer loses nothing. (Ids that hold only a part of a character give bytes that are not UTF-8.)
"""
_EXAMPLES = """\
examples:
  python -m bpeviz decode --tokenizer gpt2 31373 995
  python -m bpeviz decode --tokenizer cl100k_base "[15339, 1917]"
  python -m bpeviz decode --tokenizer tokenizer.json --file ids.txt --output page.txt
  python -m bpeviz encode page.txt --tokenizer gpt2 | python -m bpeviz decode --tokenizer gpt2
"""

_BETWEEN = re.compile(r"[\s,\[\]]+")
_ID = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def add(commands: Commands) -> argparse.ArgumentParser:
    """Say what may be asked of this command."""
    command = commands.add_parser(
        "decode",
        help="turn ids into text",
        description=_HELP,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument(
        "ids", nargs="*", metavar="ID", help="the ids; - or nothing: from standard input"
    )
    command.add_argument("--file", metavar="FILE", help="take the ids from this file")
    common.add_tokenizer(command)
    command.add_argument(
        "--lines", action="store_true", help="the ids of each line are one line of text"
    )
    common.add_output(command)
    common.add_progress(command)
    return command


def run(options: argparse.Namespace) -> int:
    """Decode the ids; return the exit code."""
    if options.file is not None and options.ids:
        raise common.WrongCommand("Give ids as arguments or in a file, not both.")
    given = None if options.ids in ([], [STANDARD]) else options.ids
    source = None if given else options.file or STANDARD
    common.once([options.tokenizer, source or ""])
    common.check_expression(options)
    progress = Progress(options.progress)
    tokenizer = common.load(options.tokenizer, options, progress)
    listed = given or common.read_text(source or STANDARD).splitlines()
    with progress.during("Decoding"):
        if options.lines:
            # Decoded line by line: what a tokenizer puts between words is not put between lines.
            lines = [" ".join(given)] if given else listed
            raw = b"".join(tokenizer.decode_bytes(_ids([line])) + b"\n" for line in lines)
        else:
            raw = tokenizer.decode_bytes(_ids(listed))
    if options.output == STANDARD and sys.stdout is not None and sys.stdout.isatty():
        raw = raw.removesuffix(b"\n") + b"\n"  # so that the prompt does not stick to it
    common.write_out(options.output, raw)
    return 0


def _ids(listed: Iterable[str]) -> Iterator[int]:
    for number, line in enumerate(listed, 1):
        for part in _BETWEEN.split(line):
            if not part:
                continue
            if not _ID.fullmatch(part):
                raise Failure(
                    f"“{visible(part[:40])}” is not an id (in line or argument {number}): "
                    "ids are whole numbers, such as 31373, 995."
                )
            yield int(part)

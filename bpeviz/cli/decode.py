"""Turn ids into text.

Decode ids, given as arguments or in a file: separated by spaces, commas or brackets, as `encode` or
`encode --json` prints them, in a JSON object under "ids" or "input_ids", or as PyTorch or NumPy
prints them. Several lists are one text; with --lines, each is a line.
The output is the text that the tokenizer's library decodes: the encoded text, if the tokenizer is
lossless. An id may be only a part of a character; it becomes U+FFFD. --bytes prints the exact bytes
of the tokens instead.

Options:
  ID: the ids; - or none: standard input
  --file FILE: read the ids from this file
  --lines: decode each line of ids to a line of text
  --bytes: print the bytes of each token, with its spaces, also if they are not UTF-8
  --skip-special: leave out special tokens

Examples:
  python -m bpeviz decode --tokenizer gpt2 31373 995
  python -m bpeviz decode --tokenizer cl100k_base "[15339, 1917]"
  python -m bpeviz decode --tokenizer tokenizer.json --file ids.txt --output page.txt
  python -m bpeviz encode page.txt --tokenizer gpt2 | python -m bpeviz decode --tokenizer gpt2
"""

from __future__ import annotations

import argparse
import re
import sys

from bpeviz.cli import arguments, files
from bpeviz.cli.arguments import Command, argument, flags, option
from bpeviz.cli.errors import UsageError, print_error
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.files import STANDARD
from bpeviz.corpus.ids import read_ids
from bpeviz.text import split_lines

_LIST = re.compile(r"^[\[{].*[\]}][ \t\r]*$", re.MULTILINE)
"""A line with a list of ids, or with an object that has one."""


def run(options: argparse.Namespace) -> int:
    """Decode the ids; return the exit code."""
    if options.file is not None and options.ids:
        raise UsageError("Name ids as arguments or a file with ids, not both.")
    given = None if options.ids in ([], [STANDARD]) else options.ids
    source = None if given else options.file or STANDARD
    progress = files.begin(options, [source] if source else [])
    tokenizer = files.load_tokenizer(options.tokenizer, options, progress)
    listed = " ".join(given) if given else files.read_text(source or STANDARD)
    with progress.during("Decoding"):
        if options.lines:
            # Decode each line alone: a decoder may put spaces between words, but not between lines.
            lines = split_lines(listed)
            raw = b"".join(_decoded(tokenizer, line, options) + b"\n" for line in lines)
        else:
            raw = _decoded(tokenizer, listed, options)
            if (lists := len(_LIST.findall(listed))) > 1:
                print_error(f"{lists:,} lists are decoded as one text. --lines makes each a line.")
    if options.output == STANDARD and sys.stdout is not None and sys.stdout.isatty():
        raw = raw.removesuffix(b"\n") + b"\n"  # before the prompt
    files.write_output(options.output, raw)
    return 0


def _decoded(tokenizer: Tokenizer, listed: str, options: argparse.Namespace) -> bytes:
    """Return the text or the bytes of listed ids."""
    skipped = {*tokenizer.special_tokens.values()} if options.skip_special else ()
    ids = [token_id for token_id in read_ids(listed) if token_id not in skipped]
    return tokenizer.decode_bytes(ids) if options.bytes else tokenizer.decode(ids).encode()


COMMAND = Command(
    __doc__,
    run,
    argument("ID", name="ids", nargs="*"),
    option("--file FILE"),
    *arguments.tokenizer(),
    *flags("--lines", "--bytes", "--skip-special"),
    arguments.OUTPUT,
    arguments.PROGRESS,
)

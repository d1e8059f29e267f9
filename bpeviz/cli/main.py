"""The door of the command line: chooses the command, and turns what goes wrong into a sentence."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bpeviz.cli import compare, count, decode, encode, train, vocabularies
from bpeviz.cli.common import WrongCommand, silence_output, tell
from bpeviz.pretrained.download import VocabularyUnavailable

STOPPED, NOBODY_READS = 130, 141
"""The exit codes that shells know for Ctrl-C, and for output that is read no further."""

_EPILOG = """\
examples:
  python -m bpeviz train corpus.txt --vocab-size 8000 --output tokenizer.json
  python -m bpeviz encode page.txt --tokenizer tokenizer.json
  python -m bpeviz compare page.txt --tokenizer tokenizer.json --tokenizer gpt2

`python -m bpeviz COMMAND --help` explains a command and shows examples.

Exit codes: 0 if all went well; 1 if not, with a sentence on standard error that says why; 2 for a
wrong command; 130 when stopped by Ctrl-C; 141 when the output is read no further, as by `head`.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bpeviz",
        description="bpeviz, a playground for tokenizers, from the command line: learn one from "
        "your own text, encode and decode with it or with GPT-2's and its like, compare several.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (train, count, encode, decode, compare, vocabularies):
        added = command.add(commands)
        added.set_defaults(run=command.run, wrong=added.error)
    return parser


def _run(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except WrongCommand as error:
        options.wrong(str(error))
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with ``arguments`` (default: the process's own); return its exit code.

    Raises ``SystemExit``, as argparse does, with code 2 for a wrong command and 0 after help.
    """
    try:
        try:
            return _run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where it may fail in peace
    except KeyboardInterrupt:
        tell("Stopped.")
        return STOPPED
    except BrokenPipeError:
        silence_output()
        return NOBODY_READS
    except (ValueError, VocabularyUnavailable) as error:
        # The library says in a sentence what it cannot do, and so do the commands.
        tell(str(error))
    except OSError as error:
        # Files are read and written where it is known which; only printing is left.
        silence_output()
        tell(f"The output could not be written: {error.strerror or error}.")
    except MemoryError:
        tell("There is not enough memory for this. Take a smaller text or vocabulary.")
    return 1

"""Select a command, run it, and report errors.

Train a tokenizer on your own text, encode and decode with it or with a published one such as \
GPT-2's, and compare several tokenizers.

Examples:
  python -m bpeviz train corpus.txt --vocab-size 8000 --output tokenizer.json
  python -m bpeviz encode page.txt --tokenizer tokenizer.json
  python -m bpeviz compare page.txt --tokenizer tokenizer.json --tokenizer gpt2

`python -m bpeviz COMMAND --help` explains a command and shows examples.

Exit codes: 0 for success; 1 for an error, with a message on standard error; 2 for wrong arguments;
130 after Ctrl-C; 141 if the reader of the output stops, such as `head`.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from typing import Any

from bpeviz import installation, interrupts, limits
from bpeviz.cli import (
    app,
    compare,
    convert,
    count,
    decode,
    encode,
    lookup,
    play,
    room,
    train,
    vocabularies,
)
from bpeviz.cli.arguments import Help
from bpeviz.cli.errors import BROKEN_PIPE, INTERRUPTED, CommandError, UsageError, print_error
from bpeviz.cli.files import buffered, discard_output
from bpeviz.corpus.files import EncodingError
from bpeviz.version import __version__

_COMMANDS = (
    *(train, play, count, encode, decode, lookup, compare, convert, vocabularies),
    *(app, room),
)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    raw: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    program, text = "bpeviz" if interrupts.IS_SCRIPT else "python -m bpeviz", Help(__doc__)
    parser = argparse.ArgumentParser(program, None, text.description, text.examples, **raw)
    parser.add_argument("--version", action="version", version=f"bpeviz {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (module.COMMAND for module in _COMMANDS):
        words = {"help": command.help.summary, "description": command.help.description}
        words |= {"epilog": command.help.examples, "usage": command.usage}
        command.add_to(commands.add_parser(command.name, **words, **raw))
    return parser


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command that the arguments name; return its exit code."""
    options = _parser().parse_args(arguments)
    limits.check()
    try:
        code: int = options.run(options)
    except UsageError as error:
        options.wrong(str(error))
    except EncodingError as error:
        how = " Or name its encoding, such as --encoding latin-1." if "encoding" in options else ""
        raise CommandError(f"{error}{how}") from error
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: The arguments, or None for those of the process.

    Raises:
        SystemExit: As in argparse, with code 2 for wrong arguments and 0 after help.
    """
    sys.stdout = buffered(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        interrupts.raise_again()
        try:
            return _run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # at exit, an error could not be caught
    except KeyboardInterrupt:
        print_error("Stopped.")
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("bpeviz"):
            raise
        print_error(f"This needs another package: {installation.missing(error.name)}.")
    except ValueError as error:
        print_error(str(error))  # user-facing messages
    except OSError as error:
        # Errors of files are `CommandError`s, so this one is of standard output.
        discard_output()
        print_error(f"The output could not be written: {error.strerror or error}.")
    except MemoryError:
        print_error("There is not enough memory. Use a smaller text or vocabulary.")
    return 1

"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from bpeviz.cli.errors import UsageError
from bpeviz.corpus.files import STANDARD, named
from bpeviz.formats import FORMATS
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST
from bpeviz.pretrained import catalog

if TYPE_CHECKING:  # the class has no type arguments at run time
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = object


def add_command(
    commands: Commands, name: str, summary: str, description: str, examples: str, usage: str = ""
) -> argparse.ArgumentParser:
    """Add a command whose help ends with examples."""
    return commands.add_parser(
        name,
        help=summary,
        usage=usage or None,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def text_argument(argument: str) -> str:
    """Return a text argument. Raises `ArgumentTypeError` if it is not valid UTF-8."""
    try:
        argument.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("is not UTF-8") from error
    return argument


def whole_number(minimum: int) -> Callable[[str], int]:
    """Return a parser of whole numbers of at least `minimum`."""

    def parse(argument: str) -> int:
        digits = argument.replace("_", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
            raise argparse.ArgumentTypeError("expected a whole number, such as 8000")
        if int(digits) < minimum:
            raise argparse.ArgumentTypeError(f"expected {minimum} or more")
        return int(digits)

    return parse


def add_tokenizer(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add ``--tokenizer``, which may occur several times, and the pattern for its files."""
    command.add_argument(
        "--tokenizer",
        action="append" if several else "store",
        required=True,
        metavar="TOKENIZER",
        help=f"{', '.join(catalog.ENTRIES)}, hf:OWNER/NAME on Hugging Face, or a tokenizer "
        "file or its folder, written by `train` or another library"
        + ("; repeat the option for each" if several else ""),
    )
    add_pattern(
        command,
        "",
        "the pre-tokenization, for files that do not contain it: a .tiktoken file without its "
        ".tiktoken.json, or vocab.json with merges.txt",
    )


def add_files(command: argparse.ArgumentParser) -> None:
    """Add the text files."""
    command.add_argument(
        "files", nargs="*", metavar="FILE", help="a UTF-8 text; - or none: standard input"
    )


def add_pattern(command: argparse.ArgumentParser, default: str | None, help_text: str) -> None:
    """Add ``--pattern`` and ``--expression``."""
    command.add_argument(
        "--pattern", choices=[*PATTERNS, CUSTOM, WORD_LIST], default=default, help=help_text
    )
    command.add_argument(
        "--expression",
        default="",
        type=text_argument,
        metavar="TEXT",
        help=f"the regular expression of --pattern {CUSTOM}, or the words of --pattern {WORD_LIST}",
    )


def add_output(command: argparse.ArgumentParser) -> None:
    """Add ``--output``, by default standard output."""
    command.add_argument(
        "--output", default=STANDARD, metavar="FILE", help="write to this file (default: -)"
    )


def add_saved(command: argparse.ArgumentParser) -> None:
    """Add ``--output`` and ``--format`` of a tokenizer."""
    command.add_argument(
        "--output",
        metavar="PATH",
        help="write to this file or folder; - or none: standard output, unless it is a terminal. "
        "The format gpt2 has two files in a folder, and tiktoken a second file with .json appended "
        "to its name",
    )
    command.add_argument(
        "--format",
        choices=[*FORMATS],
        help="the file format (default: by the suffix of --output; gpt2 for a folder, huggingface "
        "for standard output)",
    )


def add_progress(command: argparse.ArgumentParser) -> None:
    """Add ``--progress`` and ``--no-progress``."""
    command.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show progress on standard error (default: if it is a terminal)",
    )


def check_expression(options: argparse.Namespace) -> None:
    """Raise `UsageError` if an expression is given without a pattern that uses it."""
    if options.expression and options.pattern not in (CUSTOM, WORD_LIST):
        raise UsageError(f"--expression needs --pattern {CUSTOM} or --pattern {WORD_LIST}.")


def check_files(inputs: Sequence[str], outputs: Iterable[str]) -> None:
    """Raise `UsageError` if an output is also an input, or standard input is named twice."""
    if list(inputs).count(STANDARD) > 1:
        raise UsageError("Standard input (-) can be read only once.")
    for output in outputs:
        is_file = output != STANDARD and os.path.isfile(output)  # a device is not overwritten
        if is_file and any(_is_same_file(one, output) for one in inputs):
            raise UsageError(f"--output would overwrite an input, {named(output)}.")


def _is_same_file(path: str, output: str) -> bool:
    """Return whether two names, links included, are of one file."""
    with suppress(OSError, ValueError):  # reading it reports the error
        return os.path.samefile(0 if path == STANDARD else path, output)
    return False

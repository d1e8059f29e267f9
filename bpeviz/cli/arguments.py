"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from string import Template
from typing import Any

from bpeviz.corpus.files import STANDARD
from bpeviz.formats import FORMATS
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST
from bpeviz.pretrained import catalog


class _StoreOnce(argparse.Action):
    """Stores a value, and refuses a second one, which would silently replace the first."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given: set[str] = namespace.__dict__.setdefault("given", set())
        if self.dest in given:
            more = "; `compare` takes several" if self.dest == "tokenizer" else ""
            raise argparse.ArgumentError(self, f"may be given only once{more}")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def text_argument(argument: str) -> str:
    """Return a text argument. Raises `ArgumentTypeError` if it is not valid UTF-8."""
    try:
        argument.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("is not UTF-8") from error
    return argument


def encoding(argument: str) -> str:
    """Return the name of an encoding of texts. Raises `ArgumentTypeError` for another name."""
    try:
        b"\0\0\0\0".decode(argument)
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError("expected an encoding, such as latin-1") from None
    return argument


def whole_number(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers from `minimum` to `maximum`, or to any number."""

    def parse(argument: str) -> int:
        digits = argument.replace("_", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
            raise argparse.ArgumentTypeError("expected a whole number, such as 8000")
        if int(digits) < minimum:
            raise argparse.ArgumentTypeError(f"expected {minimum} or more")
        if maximum is not None and int(digits) > maximum:
            raise argparse.ArgumentTypeError(f"expected {maximum} or less")
        return int(digits)

    return parse


Argument = Callable[[argparse._ActionsContainer], object]
"""Adds an argument, or a group of arguments, to a parser."""


def argument(*names: str, **keywords: Any) -> Argument:
    """Return an argument that has the parameters of `add_argument` of argparse."""
    return lambda parser: parser.add_argument(*names, **keywords)


def exclusive(*arguments: Argument, required: bool = False) -> Argument:
    """Return arguments of which at most one is given, or exactly one if `required`."""
    return lambda parser: add(parser.add_mutually_exclusive_group(required=required), arguments)


def group(title: str, text: str, *arguments: Argument) -> Argument:
    """Return arguments with a title of their own in the help."""
    return lambda parser: add(parser.add_argument_group(title, text), arguments)


def add(parser: argparse._ActionsContainer, arguments: Iterable[Argument]) -> None:
    """Add arguments to a parser, or to a group of one."""
    for argument in arguments:
        argument(parser)


def help_of(docstring: str | None, **facts: object) -> tuple[str, str, str]:
    """Return the summary, the description, and the examples with what follows them.

    Args:
        docstring: The help with these parts, or None where Python runs without docstrings. Names
            after `$` are replaced.
        facts: The values by name.
    """
    summary, _, rest = Template(docstring or "").substitute(facts).partition(".\n\n")
    description, title, examples = rest.partition("Examples:\n")
    return summary[:1].lower() + summary[1:], f"{description.strip()}\n", title.lower() + examples


class Command:
    """A command of a module.

    Args:
        docstring: That of the module, which is the help.
        run: Runs the command and returns the exit code.
        arguments: Its arguments.
        usage: How the help shows its usage, by default as argparse does.
        facts: Values that the help contains, by name.
    """

    def __init__(
        self,
        docstring: str | None,
        run: Callable[[argparse.Namespace], int],
        *arguments: Argument,
        usage: str | None = None,
        **facts: object,
    ) -> None:
        self.summary, self.description, self.examples = help_of(docstring, **facts)
        self.name = run.__module__.rpartition(".")[2]
        self.run, self.arguments, self.usage = run, arguments, usage


def flag(name: str, help_text: str) -> Argument:
    """Return an argument without a value."""
    return argument(name, action="store_true", help=help_text)


def option(name: str, metavar: str, help_text: str, **keywords: Any) -> Argument:
    """Return an argument with a value."""
    once = {"action": _StoreOnce} if name.startswith("--") else {}
    return argument(name, metavar=metavar, help=help_text, **{**once, **keywords})


def choice(name: str, choices: Iterable[str], default: str | None, help_text: str) -> Argument:
    """Return an argument with one of several values."""
    return argument(name, action=_StoreOnce, choices=[*choices], default=default, help=help_text)


def integer(name: str, help_text: str, minimum: int = 0, default: int | None = None) -> Argument:
    """Return an argument that is a whole number."""
    return option(name, "N", help_text, type=whole_number(minimum), default=default)


def texts(name: str, metavar: str, help_text: str) -> Argument:
    """Return an argument whose value is a text, and which may occur several times."""
    return option(name, metavar, help_text, action="append", default=[], type=text_argument)


def tokenizer(*, several: bool = False, required: bool = True) -> tuple[Argument, ...]:
    """Return ``--tokenizer``, which may occur several times, and the pattern for its files."""
    named = option(
        "--tokenizer",
        "TOKENIZER",
        f"{', '.join(catalog.ENTRIES)}, hf:OWNER/NAME on Hugging Face, or a tokenizer file or its "
        "folder, written by `train` or another library"
        + ("; repeat the option for each" if several else ""),
        action="append" if several else _StoreOnce,
        required=required,
    )
    why = (
        "the pre-tokenization, for files that do not contain it: a .tiktoken file without its "
        ".tiktoken.json, or vocab.json with merges.txt"
    )
    return named, *pattern("", why)


def pattern(default: str | None, help_text: str) -> tuple[Argument, Argument]:
    """Return ``--pattern`` and ``--expression``."""
    expression = option(
        "--expression",
        "TEXT",
        f"the regular expression of --pattern {CUSTOM}, or the words of --pattern {WORD_LIST}",
        default="",
        type=text_argument,
    )
    return choice("--pattern", [*PATTERNS, CUSTOM, WORD_LIST], default, help_text), expression


FILE = option(
    "file", "FILE", "a UTF-8 text; - or none: standard input", nargs="?", default=STANDARD
)
"""One text file."""

CORPUS = option("files", "FILE", "a UTF-8 text or table; - or none: standard input", nargs="*")
"""The files of a corpus."""

FILES = option("files", "FILE", "a UTF-8 text; - or none: standard input", nargs="*")
"""The text files."""

LINK = option(
    "--link",
    "ADDRESS",
    "an address that the web page or drawing names as its source",
    default="",
    type=text_argument,
)
TEXT_COLUMN = texts(
    "--text", "COLUMN", "the column of text of a table; repeat it for several texts"
)

ENCODING = option(
    "--encoding",
    "NAME",
    "the encoding of texts, such as latin-1 (default: UTF-8, or UTF-16 by a byte order mark)",
    type=encoding,
)

AS = choice(
    "--as",
    ("table", "text"),
    None,
    "read files as tables or as texts (default: by their endings, for tables .csv, .tsv, .jsonl, "
    ".ndjson, .parquet, and .json with a list of objects or of texts)",
)

TABLES = (
    AS,
    TEXT_COLUMN,
    ENCODING,
    option(
        "--label",
        "COLUMN",
        "the column of labels of a table, by which its rows are grouped; --label= for none",
        type=text_argument,
    ),
)
"""How a table is read."""

OUTPUT = option("--output", "FILE", "write to this file (default: -)", default=STANDARD)
"""The output, by default standard output."""

BINARY_OUTPUT = option(
    "--output", "FILE", "write to this file; - or none: standard output, unless it is a terminal"
)
"""The output of bytes that a terminal does not show."""

SAVED = (
    option(
        "--output",
        "PATH",
        "write to this file or folder; - or none: standard output, unless it is a terminal. The "
        "format gpt2 has two files in a folder, and tiktoken a second file with .json appended to "
        "its name",
    ),
    choice(
        "--format",
        FORMATS,
        None,
        "the file format (default: by the suffix of --output; gpt2 for a folder, huggingface for "
        "standard output)",
    ),
)
"""Where a tokenizer is written."""

PROGRESS = argument(
    "--progress",
    action=argparse.BooleanOptionalAction,
    default=None,
    help="show progress on standard error (default: if it is a terminal)",
)

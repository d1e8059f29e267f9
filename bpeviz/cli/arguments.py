"""The arguments of commands.

The docstring of a command has its help, and the words of its options in a section like this one,
which has those of options that several commands share.

Options:
  --tokenizer TOKENIZER: $PUBLISHED, hf:OWNER/NAME on Hugging Face, or a tokenizer file or its
    folder, written by `train` or another library
  --pattern: the pre-tokenization, for files that do not contain it: a .tiktoken file without its
    .tiktoken.json, or vocab.json with merges.txt
  --expression TEXT: the regular expression of --pattern $CUSTOM, or the words of --pattern
    $WORD_LIST
  FILE: a UTF-8 text; - or none: standard input
  --as: read files as tables or as texts (default: by their endings, for tables .csv, .tsv, .jsonl,
    .ndjson, .parquet, and .json with a list of objects or of texts)
  --text COLUMN: the column of text of a table; repeat it for several texts
  --encoding NAME: the encoding of texts, such as latin-1 (default: UTF-8, or UTF-16 by a byte order
    mark)
  --label COLUMN: the column of labels of a table, by which its rows are grouped; --label= for none
  --output FILE: write to this file (default: -)
  --output PATH: write to this file or folder; - or none: standard output, unless it is a terminal.
    The format gpt2 has two files in a folder, and tiktoken a second file with .json appended to its
    name
  --format: the file format (default: by the suffix of --output; gpt2 for a folder, huggingface for
    standard output)
  --link ADDRESS: an address that the web page or drawing names as its source
  --progress: show progress on standard error (default: if it is a terminal)
  --vocab-size N: size of the vocabulary, without special tokens
  --merges N: or the number of merges
  --special-token NAME: a name that gets an id after all others, and at which the training text is
    split, so that no merge touches it; repeat the option for several
  --special-as-text: train on these names, and on those of the algorithm such as [SEP], as on other
    text, as Hugging Face does
  --algorithm: $TRAINERS (default: bpe)
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from string import Template
from typing import Any

from bpeviz.corpus.files import STANDARD
from bpeviz.formats import FORMATS
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST
from bpeviz.pretrained import catalog
from bpeviz.trainers import TRAINERS


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


class Help:
    """The help of a command, or its words that several commands share.

    Args:
        docstring: A summary, a description, “Options:”, and “Examples:” with what follows them, or
            None where Python runs without docstrings. Names after `$` are replaced.
        facts: The values by name.

    Attributes:
        words: The words of each argument, by its option and placeholder, as in the help.
    """

    def __init__(self, docstring: str | None, **facts: object) -> None:
        text = Template(docstring or "").substitute(facts)
        text, title, examples = text.partition("Examples:\n")
        text, _, options = text.partition("Options:\n")
        summary, _, description = text.partition(".\n\n")
        self.summary = summary[:1].lower() + summary[1:]
        self.description = f"{description.strip()}\n"
        self.examples = title.lower() + examples
        entries = filter(None, re.split(r"^  (?=\S)", options, flags=re.MULTILINE))
        pairs = (" ".join(entry.split()).split(": ", 1) for entry in entries)
        self.words = {head: words.replace("%", "%%") for head, words in pairs}


Words = Mapping[str, str]
Argument = Callable[[argparse._ActionsContainer, Words], object]
"""Adds an argument, or a group of arguments, to a parser, with its words."""


def argument(head: str, **keywords: Any) -> Argument:
    """Return an argument that has the parameters of `add_argument` of argparse.

    Args:
        head: The option and its placeholder, as in the docstring, or the placeholder alone.
        keywords: The parameters, with the `name` of an argument that is not an option.
    """
    option, _, placeholder = head.partition(" ")
    if "name" in keywords:
        option, placeholder = keywords.pop("name"), head
    if placeholder:
        keywords["metavar"] = placeholder
    return lambda parser, words: parser.add_argument(
        option, **{"help": words.get(head), **keywords}
    )


def exclusive(*arguments: Argument, required: bool = False) -> Argument:
    """Return arguments of which at most one is given, or exactly one if `required`."""
    return lambda parser, words: add(
        parser.add_mutually_exclusive_group(required=required), arguments, words
    )


def group(title: str, text: str, *arguments: Argument) -> Argument:
    """Return arguments with a title of their own in the help."""
    return lambda parser, words: add(parser.add_argument_group(title, text), arguments, words)


def add(parser: argparse._ActionsContainer, arguments: Iterable[Argument], words: Words) -> None:
    """Add arguments to a parser, or to a group of one."""
    for argument in arguments:
        argument(parser, words)


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
        self.help = Help(docstring, **facts)
        self.name = run.__module__.rpartition(".")[2]
        self.run, self.arguments, self.usage = run, arguments, usage

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments to a parser."""
        add(parser, self.arguments, _SHARED.words | self.help.words)
        parser.set_defaults(run=self.run, wrong=parser.error)


def flags(*heads: str) -> list[Argument]:
    """Return options without a value."""
    return [argument(head, action="store_true") for head in heads]


def option(head: str, **keywords: Any) -> Argument:
    """Return an option with a value."""
    return argument(head, **{"action": _StoreOnce, **keywords})


def integer(head: str, minimum: int = 0, default: int | None = None) -> Argument:
    """Return an option whose value is a whole number."""
    return option(head, type=whole_number(minimum), default=default)


def text(head: str, default: str | None = "") -> Argument:
    """Return an option whose value is a text."""
    return option(head, type=text_argument, default=default)


def texts(head: str) -> Argument:
    """Return an option whose value is a text, and which may occur several times."""
    return option(head, action="append", default=[], type=text_argument)


def tokenizer(*, required: bool = True, **keywords: Any) -> tuple[Argument, ...]:
    """Return ``--tokenizer``, and the pattern for its files."""
    return option("--tokenizer TOKENIZER", required=required, **keywords), *pattern("")


def pattern(default: str | None) -> tuple[Argument, Argument]:
    """Return ``--pattern`` and ``--expression``."""
    choices = [*PATTERNS, CUSTOM, WORD_LIST]
    return option("--pattern", choices=choices, default=default), text("--expression TEXT")


_SHARED = Help(
    __doc__,
    PUBLISHED=", ".join(catalog.ENTRIES),
    CUSTOM=CUSTOM,
    WORD_LIST=WORD_LIST,
    TRAINERS="; ".join(f"{key}: {trainer.title}" for key, trainer in TRAINERS.items()),
)

FILE = argument("FILE", name="file", nargs="?", default=STANDARD)
"""One text file."""

FILES = argument("FILE", name="files", nargs="*")
"""Several files."""

LINK, TEXT_COLUMN = text("--link ADDRESS"), texts("--text COLUMN")
ENCODING = option("--encoding NAME", type=encoding)
AS = option("--as", choices=("table", "text"))

TABLES = AS, TEXT_COLUMN, ENCODING, text("--label COLUMN", None)
"""How a table is read."""

OUTPUT = option("--output FILE", default=STANDARD)
"""The output, by default standard output."""

SAVED = option("--output PATH"), option("--format", choices=FORMATS)
"""Where a tokenizer is written."""

PROGRESS = argument("--progress", action=argparse.BooleanOptionalAction, default=None)

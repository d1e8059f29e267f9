"""Tokenizers from files. An opened file stays open for the session, on every page, until closed."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pickle import PickleBuffer

import regex

from bpeviz import limits
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents
from bpeviz.formats import FormatError
from bpeviz.formats.base import printable_name
from bpeviz.formats.opened import Opened, open_files
from bpeviz.jobs import files
from bpeviz.pretrained import catalog
from bpeviz.text import distinct, shorten
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import SessionValue

YOURS = "Your tokenizer"

RESERVED = (YOURS, "yours", "None", "Text", *(entry.title for entry in catalog.ENTRIES.values()))
"""The other names in lists, tables and sentences about tokenizers, which no file can take."""

MOST_OPEN = limits.TOKENIZERS
"""The most tokenizers from files in a session."""

LONGEST_TITLE = 24

NamedFile = tuple[str, bytes]
"""The name and the content of a file."""

OPENED: SessionValue[list[Opened]] = SessionValue("tokenizers_opened")


def opened() -> list[Opened]:
    """Return the tokenizers whose files are open in this session."""
    return OPENED.get() or []


@cached("Tokenizing …")
def boundaries(key: str, text: str | Documents, _tokenizer: Tokenizer) -> Boundaries:
    """Return the boundaries of a text under an opened tokenizer. Raises `ValueError`."""
    return _tokenizer.boundaries(text)


def read_files(
    given: Sequence[NamedFile],
    pattern: str = "",
    title: str = "",
    expression: str = "",
    taken: Sequence[str] = (),
) -> Opened | None:
    """Return the tokenizer of files, or None where only the pre-tokenization is missing.

    Args:
        given: The names and contents of the files.
        pattern: The key of the pre-tokenization, if the user has chosen one.
        title: The title, if it is not in the files.
        expression: The expression of the pre-tokenization `CUSTOM`.
        taken: The titles of other tokenizers.

    Raises:
        FormatError: The files cannot be read, or the expression is not valid.
    """
    name = printable_name(given[0][0])
    contents = [(name, PickleBuffer(content)) for name, content in given]
    read = files.read(name, FormatError, open_files, contents, pattern, expression)
    if read is None:
        return None
    chosen = tuple(given) if read.guesses_pattern else ()
    return replace(read, title=unique_title(title or read.title, taken), files=chosen)


def unique_title(name: str, taken: Sequence[str]) -> str:
    """Return the title of a tokenizer from a file: unique, and without Markdown syntax."""
    kept = regex.sub(r"[^\p{L}\p{M}\p{N}._ -]+", " ", name)
    kept = regex.sub(r"(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])|\.\s|\s+", " ", kept).strip(" .-")
    kept = shorten(regex.sub(" +", " ", kept), LONGEST_TITLE) or "tokenizer"
    return distinct([*RESERVED, *taken, kept], _looks)[-1]


def _looks(title: str) -> str:
    """Return the same for titles that are hard to tell apart, as "Qwen" and "qwen"."""
    plain = title.replace("(", "").replace(")", "")  # which titles of files do not have
    return unicodedata.normalize("NFKC", plain).casefold()

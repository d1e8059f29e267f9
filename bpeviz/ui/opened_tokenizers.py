"""Tokenizers from files. An opened file stays open for the session, on every page, until closed."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import regex

from bpeviz import formats, limits
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents
from bpeviz.formats import FormatError, archive
from bpeviz.formats.base import printable_name
from bpeviz.formats.chat_templates import chat_template
from bpeviz.formats.gguf.container import MAGIC
from bpeviz.formats.known_models import known_title, model_name
from bpeviz.formats.recognition import is_companion
from bpeviz.libraries.chat_template import ChatTemplate
from bpeviz.pretokenizers.patterns import CUSTOM, SplitError, pretokenize
from bpeviz.pretrained import catalog
from bpeviz.text import distinct, shorten
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import SessionValue

YOURS = "Your tokenizer"

RESERVED = (YOURS, "yours", "None", "Text", *(entry.title for entry in catalog.ENTRIES.values()))
"""The other names in lists, tables and sentences about tokenizers, which no file can take."""

MOST_OPEN = limits.TOKENIZERS
"""The most tokenizers from files in a session."""

MOST_BYTES = limits.TOKENIZER_FILES * 1_000_000
"""The most bytes of the files of a tokenizer together, unpacked."""

LONGEST_TITLE = 24

NamedFile = tuple[str, bytes]
"""The name and the content of a file."""

OPENED: SessionValue[list[Opened]] = SessionValue("tokenizers_opened")


@dataclass(frozen=True, eq=False)
class Opened:
    """A tokenizer from a file.

    Attributes:
        key: Its identity, by its content.
        title: Its name on the pages.
        tokenizer: The tokenizer.
        chat: Its chat template.
        assumed: What the files do not contain, and is assumed, as a sentence, or "".
        files: The files, if another pre-tokenization can be chosen for them.
    """

    key: str
    title: str
    tokenizer: Tokenizer
    chat: ChatTemplate | None = None
    assumed: str = ""
    files: Sequence[NamedFile] = ()


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
    files = _files(given)
    try:
        if pattern == CUSTOM:
            pretokenize("a", pattern, expression)
        tokenizer = formats.parse(files, pattern=pattern, expression=expression)
    except SplitError as error:
        raise FormatError(str(error)) from None
    except FormatError:
        if pattern:
            raise
        # If any pattern makes it readable, only that is missing; otherwise this raises the error.
        formats.parse(files, pattern="none")
        return None
    digest = hashlib.blake2b(repr((sorted(files), pattern, expression)).encode(), digest_size=12)
    for name in sorted(files):
        digest.update(hashlib.blake2b(files[name]).digest())
    name = title or _name(given, files, tokenizer)
    title = unique_title(name, taken)
    assumed = formats.assumed(files, pattern=pattern)
    return Opened(
        f"file {digest.hexdigest()}",
        title,
        tokenizer,
        chat_template(files),
        assumed,
        tuple(given) if assumed and formats.guesses_pattern(files) else (),
    )


def _name(given: Sequence[NamedFile], files: Mapping[str, bytes], tokenizer: Tokenizer) -> str:
    """Return the name of the model of files, or else of a file."""
    if (entry := catalog.entry_of(*files.values())) is not None:
        return entry.title
    if given[0][1].startswith(MAGIC):  # a GGUF file contains the name of its model
        return tokenizer.name
    named = [name for name, _ in given if not is_companion(name)]
    return model_name(files) or known_title(tokenizer) or [*named, given[0][0]][0]


def _files(given: Sequence[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return files by name, a .zip unpacked.

    Raises:
        FormatError: There are too many bytes, or two files have the same name.
    """
    files = dict(given)
    if len(files) < len(given):
        raise FormatError(
            f"Two of these files are called {printable_name(given[0][0])}. Choose one."
        )
    if sum(map(len, files.values())) > MOST_BYTES:
        raise FormatError(f"These files exceed the limit of {MOST_BYTES / 1e6:,.0f} MB in total.")
    return dict(archive.opened(files, MOST_BYTES))


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

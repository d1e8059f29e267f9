"""The tokenizer of files that a user opens, with everything else that they contain."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import archive
from bpeviz.formats.base import FormatError, MissingPatternError, printable_name
from bpeviz.formats.chat_templates import chat_template
from bpeviz.formats.gguf.container import MAGIC
from bpeviz.formats.known_models import known_title, model_name
from bpeviz.formats.parsing import MAX_FILE
from bpeviz.formats.recognition import is_companion
from bpeviz.libraries.chat_template import ChatTemplate
from bpeviz.pretokenizers.patterns import CUSTOM, SplitError, pretokenize
from bpeviz.pretrained import catalog


@dataclass(frozen=True, eq=False)
class Opened:
    """A tokenizer from files.

    Attributes:
        key: Its identity, by the content of the files and the pre-tokenization.
        title: Its name on the pages; at first that of the model, or else of a file.
        tokenizer: The tokenizer.
        chat: Its chat template.
        assumption: What the files do not contain, and is assumed, as a sentence, or "".
        guesses_pattern: Whether that is the pre-tokenization.
        files: The files, if another pre-tokenization can be chosen for them.
    """

    key: str
    title: str
    tokenizer: Tokenizer
    chat: ChatTemplate | None = None
    assumption: str = ""
    guesses_pattern: bool = False
    files: Sequence[tuple[str, bytes]] = ()


def open_files(
    given: Sequence[tuple[str, bytes | memoryview]], pattern: str = "", expression: str = ""
) -> Opened | None:
    """Return the contents of files, or None where only the pre-tokenization is missing.

    Args:
        given: The names and contents of the files.
        pattern: The key of the pre-tokenization, if the user has chosen one.
        expression: The expression of the pre-tokenization `CUSTOM`.

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
    except MissingPatternError:
        return None
    digest = hashlib.blake2b(repr((sorted(files), pattern, expression)).encode(), digest_size=12)
    for name in sorted(files):
        digest.update(hashlib.blake2b(files[name]).digest())
    return Opened(
        f"file {digest.hexdigest()}",
        _name([name for name, _ in given], files, tokenizer),
        tokenizer,
        chat_template(files),
        assumption := formats.assumption(files, pattern=pattern),
        bool(assumption) and formats.guesses_pattern(files),
    )


def _name(given: Sequence[str], files: Mapping[str, bytes], tokenizer: Tokenizer) -> str:
    """Return the name of the model of files, or else of a file. given: the names of the files."""
    if (entry := catalog.entry_of(*files.values())) is not None:
        return entry.title
    if next(iter(files.values())).startswith(MAGIC):  # a GGUF file contains the name of its model
        return tokenizer.name
    named = [name for name in given if not is_companion(name)]
    return model_name(files) or known_title(tokenizer) or [*named, given[0]][0]


def _files(given: Sequence[tuple[str, bytes | memoryview]]) -> dict[str, bytes]:
    """Return files by name, a .zip unpacked.

    Raises:
        FormatError: There are too many bytes, or two files have the same name.
    """
    files = {name: bytes(content) for name, content in given}
    if len(files) < len(given):
        raise FormatError(
            f"Two of these files are called {printable_name(given[0][0])}. Choose one."
        )
    if sum(map(len, files.values())) > MAX_FILE:
        raise FormatError(f"These files exceed the limit of {MAX_FILE / 1e6:,.0f} MB in total.")
    return dict(archive.opened(files))

"""Texts with names, to compare: files, tables, and pasted texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import inf
from pathlib import PurePath

import regex

from bpeviz import limits
from bpeviz.corpus.documents import Documents
from bpeviz.corpus.files import CorpusError, named
from bpeviz.corpus.tables import TextTable, language_of
from bpeviz.text import visible

Texts = dict[str, str | Documents]
"""Texts by name, each one text or documents."""

_NAME = regex.compile(r"^#[ \t]+(\S.*)$", regex.MULTILINE)


def collect(
    named_contents: Iterable[tuple[str, str | TextTable]], rename: str, *, most: float = inf
) -> tuple[Texts, list[str]]:
    """Return texts by name, and the names of those that are translations of each other.

    A name that occurs in two tables gets the name of its table before it.

    Args:
        named_contents: The name and the text of each, or "" and a table.
        rename: How to name texts, as a sentence.
        most: The most megabytes of all texts together.

    Raises:
        CorpusError: A name occurs twice, or the texts are too many or too large.
    """
    named_contents = [*named_contents]
    contents = [content for _, content in named_contents]
    sizes = [
        len(content.encode()) if isinstance(content, str) else content.size for content in contents
    ]
    if sum(sizes) > most * 1_000_000:
        raise CorpusError(
            f"The texts have more than {most} MB together. Compare fewer or shorter ones; the "
            "command “python -m bpeviz compare” has no such limit."
        )
    tables = [content for content in contents if isinstance(content, TextTable)]
    times = Counter(title for table in tables for title in table.texts)
    texts: Texts = {}
    languages: dict[str, str] = {}
    for name, content in named_contents:
        pairs: Iterable[tuple[str, str | Documents]] = (
            [(name, content)] if isinstance(content, str) else content.texts.items()
        )
        for title, text in pairs:
            heading = title if isinstance(content, TextTable) else PurePath(title).stem
            is_language = content.is_parallel if isinstance(content, TextTable) else True
            if isinstance(content, TextTable) and times[title] > 1:
                title = f"{named(content.path)}: {title}"
            if title in texts:
                raise CorpusError(f"Two texts are named {title}. {rename}")
            texts[title] = text
            if is_language and (language := language_of(heading)):
                languages[title] = language
    check_number(len(texts))
    return texts, [*languages] if len({*languages.values()}) > 1 else []


def check_number(number: int) -> None:
    """Raise `CorpusError` if there are too many texts."""
    if number > limits.COMPARED_TEXTS:
        raise CorpusError(
            f"There are {number:,} texts. At most {limits.COMPARED_TEXTS} can be compared."
        )


def pasted(text: str) -> list[tuple[str, str]]:
    r"""Return the names and the texts of one text in which a line `# name` precedes each.

    Blank lines around a text are not part of it. A text without such a line is named “text”.

    >>> pasted("# en\nthe river\n\n# es\nel río\n")
    [('en', 'the river'), ('es', 'el río')]
    >>> pasted("the river"), pasted(" ")
    ([('text', 'the river')], [])
    """
    first, *rest = _NAME.split(text)
    pairs = [("text", first), *zip(map(str.strip, rest[::2]), rest[1::2], strict=True)]
    texts = [(visible(name), content.strip("\r\n")) for name, content in pairs]
    return texts if texts[0][1].strip() else texts[1:]

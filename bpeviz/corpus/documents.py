"""Documents: texts of which each is encoded, measured and trained on alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.text import clean, clean_each, digest_of, items_of, visible


@dataclass(frozen=True)
class Documents:
    """The rows of a table, the messages of conversations, or the texts of a list.

    It is neither a text nor a sequence, so that no function joins them by accident.

    Attributes:
        texts: The text of each document.
        labels: The label of each one, or none.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Documents:
        """Return texts as documents, cleaned; a blank one contains nothing, so it gets no tokens.

        Raises:
            ValueError: They are not texts, which only a program can give.
        """
        texts = items_of(texts, "a text or a list of texts")
        return cls(tuple(text if text.strip() else "" for text in clean_each(texts)))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.texts)

    @cached_property
    def cache_key(self) -> str:
        """A digest, which identifies them in caches."""
        return digest_of([*self.texts], [*self.labels])

    @cached_property
    def size(self) -> int:
        """The size of all documents in bytes."""
        return len("".join(self.texts).encode())

    @property
    def groups(self) -> dict[str, Documents]:
        """The documents of each label; all of them, without a label.

        >>> [*Documents(("the sea", "el río", "low"), ("en", "es", " ")).groups]
        ['en', 'es', 'no label']
        """
        if not self.labels:
            return {"": self}
        groups: dict[str, list[str]] = {}
        for label, text in zip(self._titles, self.texts, strict=True):
            groups.setdefault(label, []).append(text)
        return {label: Documents(tuple(texts)) for label, texts in groups.items()}

    @property
    def _titles(self) -> list[str]:
        """The title of the label of each document."""
        title = cache(lambda label: visible(label.strip()) or "no label")  # labels are few
        return [*map(title, self.labels or [" "] * len(self))]

    def group_of_atoms(self, atoms: str) -> NDArray[np.int64]:
        """Return the index in `groups` of each atom of `as_text`, -1 for a line end between two.

        Args:
            atoms: The kind of atoms, "bytes" or "characters".
        """
        titles = self._titles
        index = {title: i for i, title in enumerate(dict.fromkeys(titles))}
        groups = np.full(2 * len(self), -1, np.int64)
        groups[::2] = [*map(index.__getitem__, titles)]
        sizes = np.ones(2 * len(self), np.int64)
        sizes[::2] = [len(text.encode() if atoms == "bytes" else text) for text in self.texts]
        return np.repeat(groups, sizes)[:-1]

    def first(self, characters: int) -> Documents:
        """Return the first documents, of at most so many characters together."""
        kept = int(np.searchsorted(np.cumsum([*map(len, self.texts)]), characters, "right"))
        return Documents(self.texts[:kept], self.labels[:kept])

    @cached_property
    def as_text(self) -> str:
        """The documents with a line end between two: as they are displayed, or edited."""
        return "\n".join(self.texts)


def documents_of(text: str | Documents) -> Sequence[str]:
    """Return the documents, or a text as the only one, cleaned."""
    return clean_each(text.texts if isinstance(text, Documents) else (text,))


def breaks_of(text: str | Documents) -> NDArray[np.int64]:
    """Return the places in `whole_text`, in bytes, of line ends that are not part of a document."""
    if isinstance(text, str):
        return np.empty(0, np.int64)
    return np.cumsum([len(document.encode()) + 1 for document in text.texts[:-1]]) - 1


def unit_of(*texts: str | Documents) -> str:
    """Return what texts consist of: rows, if some are documents, else lines."""
    return "row" if any(isinstance(text, Documents) for text in texts) else "line"


def characters_in(text: str | Documents) -> int:
    """Return the number of characters of a text, or of all documents."""
    return len(text if isinstance(text, str) else "".join(text.texts))


def beginning(text: str | Documents, characters: int) -> str | Documents:
    """Return the beginning of a text, or the first documents, of at most so many characters."""
    return text.first(characters) if isinstance(text, Documents) else text[:characters]


def whole_text(text: str | Documents) -> str:
    """Return a text, cleaned, or its documents with a line end between two."""
    return text.as_text if isinstance(text, Documents) else clean(text)

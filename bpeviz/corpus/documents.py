"""Documents: texts of which each is encoded, measured and trained on alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from reprlib import repr as short_repr

from bpeviz.cached_property import cached_property
from bpeviz.text import clean, visible


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
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise ValueError(f"Give a text or a list of texts, not {short_repr(texts)}.")
        return cls(tuple(text if text.strip() else "" for text in map(clean, texts)))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.texts)

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
        title = cache(lambda label: visible(label.strip()) or "no label")  # labels are few
        for label, text in zip(self.labels, self.texts, strict=True):
            groups.setdefault(title(label), []).append(text)
        return {label: Documents(tuple(texts)) for label, texts in groups.items()}

    @cached_property
    def as_text(self) -> str:
        """The documents with a line end between two: as they are displayed, or edited."""
        return "\n".join(self.texts)

    @property
    def breaks(self) -> int:
        """The number of line ends in `as_text` that are not part of a document."""
        return max(0, len(self.texts) - 1)

"""The error of downloads."""

from __future__ import annotations


class VocabularyUnavailable(ValueError):  # noqa: N818 (a public name)
    """A tokenizer could not be downloaded. The text is a user-facing message."""

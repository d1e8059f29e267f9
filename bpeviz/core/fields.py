"""Fields of tokenizers that files contain."""

from __future__ import annotations

from collections.abc import Mapping

UNSAVED: Mapping[str, object] = {"is_saved": False}
"""The metadata of a field that files do not contain; it has a default value."""


class InvalidFieldError(ValueError):
    """A field of a tokenizer has a value with which it cannot encode.

    Attributes:
        field: The name of the field, or of an entry of it.
        reason: What is wrong.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}.")
        self.field = field
        self.reason = reason

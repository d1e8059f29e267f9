"""The byte alphabet in a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping

from bpeviz.core.byte_alphabet import BYTE_OF, CHARACTER_OF
from bpeviz.formats.parsing import Node, quoted


def byte_symbols(vocabulary: Node, entries: Mapping[str, int]) -> dict[int, str]:
    """Return the symbol of each single byte by id.

    Args:
        vocabulary: the vocabulary in the file.
        entries: its ids by spelling.

    Raises:
        FormatError: a byte is missing.
    """
    for byte, character in CHARACTER_OF.items():
        if character not in entries:
            raise vocabulary.error(
                f"the byte 0x{byte:02X}, written {quoted(character)}, is missing"
            )
    return {entries[character]: chr(byte) for character, byte in BYTE_OF.items()}

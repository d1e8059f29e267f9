"""How GPT-2's files, and after them Hugging Face's, write a byte: as one visible character.

Source: `bytes_to_unicode` in OpenAI's GPT-2, `src/encoder.py`: bytes that are printable characters
of Latin-1 stand for themselves, and the others for U+0100 and following, in their order.
"""

from __future__ import annotations

from bpeviz.formats.parsing import shown, wrong

_VISIBLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_HIDDEN = tuple(byte for byte in range(256) if byte not in _VISIBLE)

CHARACTER_OF = {byte: chr(byte) for byte in _VISIBLE} | {
    byte: chr(256 + i) for i, byte in enumerate(_HIDDEN)
}
"""The character of each byte."""

BYTE_OF = {character: byte for byte, character in CHARACTER_OF.items()}
"""The byte of each of these characters."""


def check_bytes(name: str, path: str, vocabulary: dict[str, int]) -> None:
    """Raise `FormatError` where a byte is not in a vocabulary."""
    for byte, character in CHARACTER_OF.items():
        if character not in vocabulary:
            raise wrong(
                name,
                path,
                f"there is no entry for the byte 0x{byte:02X}, written {shown(character)}, so a "
                "text that holds it could not be encoded",
            )

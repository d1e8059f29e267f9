"""The byte alphabet of GPT-2 and Hugging Face: one visible character for each byte.

Source: `bytes_to_unicode` in OpenAI's GPT-2, `src/encoder.py`. Printable bytes of Latin-1 map to
themselves, the others to U+0100 and following, in their order.
"""

from __future__ import annotations

_VISIBLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_HIDDEN = tuple(byte for byte in range(256) if byte not in _VISIBLE)

CHARACTER_OF = {byte: chr(byte) for byte in _VISIBLE} | {
    byte: chr(256 + i) for i, byte in enumerate(_HIDDEN)
}
"""The character of each byte."""

BYTE_OF = {character: byte for byte, character in CHARACTER_OF.items()}
"""The byte of each of these characters."""

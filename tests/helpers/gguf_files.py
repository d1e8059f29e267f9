"""Write small GGUF files, as `docs/gguf.md` in ggml-org/ggml defines them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

Value = bool | int | float | str | bytes | Sequence[str] | Sequence[int] | Sequence[float]

_KEY = "tokenizer.ggml."


def gguf_file(metadata: Mapping[str, Value], *, version: int = 3, tensors: bytes = b"") -> bytes:
    """Return a file with metadata. The keys of a tokenizer need no prefix.

    Args:
        metadata: values by key. A list of numbers is one of int32 or float32, and bytes of uint8.
        version: version of the format.
        tensors: the rest of the file.
    """
    parts = [b"GGUF", struct.pack("<IQQ", version, len(tensors), len(metadata))]
    for key, value in metadata.items():
        parts += [
            _text(key if key.startswith(("general.", "tokenizer.")) else _KEY + key),
            _value(value),
        ]
    return b"".join(parts) + tensors


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(value: Value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, bytes):
        return struct.pack("<IIQ", 9, 0, len(value)) + value
    if all(isinstance(one, str) for one in value):
        head = struct.pack("<IIQ", 9, 8, len(value))
        return head + b"".join(_text(one) for one in value if isinstance(one, str))
    kind, form = (5, "i") if all(isinstance(one, int) for one in value) else (6, "f")
    return struct.pack(f"<IIQ{len(value)}{form}", 9, kind, len(value), *value)

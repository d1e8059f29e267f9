"""Train with other libraries, in their child processes, to compare their results with ours."""

from __future__ import annotations

import json
from typing import Any

from bpeviz.core import library_worker
from bpeviz.core.byte_alphabet import BYTE_OF
from bpeviz.core.library_pool import File, ask


def hugging_face_merges(text: str, merges: int, min_count: int) -> list[tuple[bytes, bytes]]:
    """Return the pairs that `tokenizers` merges over bytes with GPT-2's pattern, in their order.

    Raises:
        LibraryError: The library is missing, or a limit stops it.
    """
    how = {"text": text, "merges": merges, "min_count": min_count}
    found = _trained(library_worker.HUGGING_FACE_TRAINER, how)
    return [(_raw(left), _raw(right)) for left, right in found]


def _raw(spelled: str) -> bytes:
    return bytes(BYTE_OF[character] for character in spelled)


def sentencepiece_pieces(text: str, vocab_size: int) -> list[str]:
    """Return the pieces that `sentencepiece` trains with BPE: merged ones, then characters.

    It does not normalize the text, and unknown characters become bytes.

    Args:
        text: The text; the library trains on its lines.
        vocab_size: The size of the vocabulary, the 256 bytes and the unknown token included.

    Raises:
        LibraryError: The library is missing, refuses the size, or a limit stops it.
    """
    how = {"text": text, "vocab_size": vocab_size}
    found: list[str] = _trained(library_worker.SENTENCEPIECE_TRAINER, how)
    return found


def _trained(library: int, how: dict[str, Any]) -> Any:
    content = json.dumps(how).encode()
    return json.loads(ask(File(library, content), library_worker.LOAD, reuse=False))

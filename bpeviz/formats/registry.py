"""The registry of file formats."""

from __future__ import annotations

from bpeviz.formats import (
    clip,
    csv_merges,
    gguf,
    gpt2,
    huggingface,
    minbpe,
    own,
    rwkv,
    sentencepiece,
    tekken,
    tiktoken_ranks,
    wordpiece_vocabulary,
)
from bpeviz.formats.base import Format

FORMATS: dict[str, Format] = {
    format.key: format
    for format in (
        huggingface.FORMAT,
        gpt2.FORMAT,
        tiktoken_ranks.FORMAT,
        minbpe.FORMAT,
        sentencepiece.FORMAT,
        csv_merges.FORMAT,
        own.FORMAT,
    )
}
"""The formats that are written and read, by key, in the order in which the pages list them."""

READ_ONLY: tuple[Format, ...] = (
    gguf.FORMAT,
    rwkv.FORMAT,
    tekken.FORMAT,
    wordpiece_vocabulary.FORMAT,
    clip.FORMAT,
)
"""The formats that are only read."""

READERS: dict[str, Format] = {
    format.key: format
    for format in (sentencepiece.FORMAT, own.FORMAT, *READ_ONLY, *FORMATS.values())
}
"""All formats by key, in the order in which files are recognized."""

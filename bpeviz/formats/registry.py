"""The registry of file formats."""

from __future__ import annotations

from bpeviz.formats import csv_merges, gpt2, huggingface, minbpe, tiktoken_ranks
from bpeviz.formats.base import Format

FORMATS: dict[str, Format] = {
    format.key: format
    for format in (
        huggingface.FORMAT,
        gpt2.FORMAT,
        tiktoken_ranks.FORMAT,
        minbpe.FORMAT,
        csv_merges.FORMAT,
    )
}
"""The formats by key, in the order in which the pages list them and files are recognized."""

"""The part of GPT-4o's vocabulary that the words of the course need, so that no file is missing.

`o200k_words.tiktoken` has the single bytes, the tokens inside `TEXTS` and the last token, in the
format of tiktoken's files. So these texts have the ids and the steps that they have in o200k_base.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import bpeviz
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.pretokenizers.alternatives import joined
from bpeviz.pretrained import download
from bpeviz.pretrained.rank_tokenizer import RankTokenizer, from_ranks, ranks_in

WORDS = (
    "Dampfschiff",  # D amp fsch iff
    "desconocido",  # des con oc ido
    "evlerimizden",  # ev ler imiz den, as in Turkish grammar
    "talossanikin",  # tal oss an ikin
    "unbelievable",  # un bel ievable
    "δημοκρατία",  # δη μο κρα τία
    "невозможный",  # нев озмож ный
    "안녕하세요",  # 안 녕하세요
)
"""Words in several languages. No token ends inside a letter."""

TEXTS = ("strawberry", "1234567", "2026", "<|endoftext|>", *WORDS)
"""The texts that need no file, also after a space."""


def is_stored(text: str) -> bool:
    """Return whether a text needs no file: as a part of `TEXTS`, it has stored tokens only."""
    return any(text in f" {stored}" for stored in TEXTS)


def gpt4o(text: str) -> Tokenizer | None:
    """Return a tokenizer that encodes a text as GPT-4o's, or None while that needs a file."""
    if is_stored(text):
        return o200k()
    return bpeviz.load("o200k_base") if download.available("o200k_base") else None


@cache
def o200k() -> RankTokenizer:
    """Return the stored part of o200k_base."""
    content = Path(__file__).with_name("o200k_words.tiktoken").read_bytes()
    special = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
    return from_ranks("o200k_base", joined("o200k"), ranks_in(content), special)

"""Chapter 0: why tokens matter."""

from __future__ import annotations

import bpeviz
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.base import Chapter, Stage


def _letters(text: str) -> Stage:
    tokenizer = stored.o200k() if stored.is_stored(text) else bpeviz.load("o200k_base")
    return engine.cut_stage(text, tokenizer, "GPT-4o's tokens")


CHAPTER = Chapter(
    key="why",
    text="strawberry",
    stages={"letters": _letters},
    own="letters",
    longest=60,
    figures=lambda: {"english": 496, "burmese": 1480, "times": "3.0", "burmese_gpt2": 8100},
    own_needs=("o200k_base",),
)

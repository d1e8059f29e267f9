"""The registry of chapters, in their order."""

from __future__ import annotations

from bpeviz.ui.learn import (
    encoding,
    first_merge,
    how_large,
    pre_tokenization,
    text_is_numbers,
    training_loop,
    two_ways,
    why_subwords,
)

CHAPTERS = (
    text_is_numbers.CHAPTER,
    why_subwords.CHAPTER,
    first_merge.CHAPTER,
    training_loop.CHAPTER,
    pre_tokenization.CHAPTER,
    encoding.CHAPTER,
    two_ways.CHAPTER,
    how_large.CHAPTER,
)

BY_KEY = {chapter.key: chapter for chapter in CHAPTERS}

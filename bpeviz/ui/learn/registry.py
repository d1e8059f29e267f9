"""The registry of chapters, in their order."""

from __future__ import annotations

from bpeviz.ui.learn import (
    encoding,
    first_merge,
    how_large,
    other_trainers,
    pre_tokenization,
    published,
    sentencepiece,
    splitting_rules,
    text_is_numbers,
    training_loop,
    two_ways,
    why_subwords,
    word_ends,
)

CHAPTERS = (
    text_is_numbers.CHAPTER,
    splitting_rules.CHAPTER,
    why_subwords.CHAPTER,
    first_merge.CHAPTER,
    training_loop.CHAPTER,
    pre_tokenization.CHAPTER,
    encoding.CHAPTER,
    two_ways.CHAPTER,
    word_ends.CHAPTER,
    published.CHAPTER,
    sentencepiece.CHAPTER,
    other_trainers.CHAPTER,
    how_large.CHAPTER,
)

BY_KEY = {chapter.key: chapter for chapter in CHAPTERS}

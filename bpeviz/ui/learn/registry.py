"""The registry of chapters, in their order."""

from __future__ import annotations

from bpeviz.ui.learn import first_merge, text_is_numbers, why_subwords

CHAPTERS = (
    text_is_numbers.CHAPTER,
    why_subwords.CHAPTER,
    first_merge.CHAPTER,
)

BY_KEY = {chapter.key: chapter for chapter in CHAPTERS}

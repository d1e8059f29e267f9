"""The chapters of Learn, in their order."""

from __future__ import annotations

from bpeviz.ui.learn.chapters import encode, fences, merge, real, stop, units, why, wrong

CHAPTERS = (
    why.CHAPTER,
    units.CHAPTER,
    merge.CHAPTER,
    stop.CHAPTER,
    fences.CHAPTER,
    encode.CHAPTER,
    real.CHAPTER,
    wrong.CHAPTER,
)

BY_KEY = {chapter.key: chapter for chapter in CHAPTERS}

FIRST = CHAPTERS[0].key

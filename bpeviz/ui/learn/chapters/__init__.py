"""The chapters of Learn, in their order."""

from __future__ import annotations

from bpeviz.ui.learn.chapters import back, encode, fences, merge, stop, units, why, wrong

CHAPTERS = (
    why.CHAPTER,
    units.CHAPTER,
    merge.CHAPTER,
    stop.CHAPTER,
    fences.CHAPTER,
    encode.CHAPTER,
    back.CHAPTER,
    wrong.CHAPTER,
)

BY_KEY = {chapter.key: chapter for chapter in CHAPTERS}

FIRST = CHAPTERS[0].key

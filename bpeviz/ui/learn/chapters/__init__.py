"""The chapters of Learn, in their order."""

from __future__ import annotations

from bpeviz.ui.learn.chapters import encode, merge, real, units, why

CHAPTERS = (why.CHAPTER, units.CHAPTER, merge.CHAPTER, encode.CHAPTER, real.CHAPTER)

BY_KEY = {chapter.key: chapter for chapter in CHAPTERS}

FIRST = CHAPTERS[0].key

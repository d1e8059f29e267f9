"""The chapters of Learn, in their order."""

from __future__ import annotations

from bpeviz.ui.learn.chapters import merge, why

CHAPTERS = (why.CHAPTER, merge.CHAPTER)

BY_KEY = {chapter.key: chapter for chapter in CHAPTERS}

FIRST = CHAPTERS[0].key

"""The registry of chapters: the modules of this package that have a `CHAPTER`, in their order."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from bpeviz.ui.learn.base import Chapter


def _chapters() -> tuple[Chapter, ...]:
    # The others import this module.
    names = (path.stem for path in Path(__file__).parent.glob("*.py"))
    others = {"__init__", "page", "teachers_page", "vote_questions", Path(__file__).stem}
    modules = [import_module(f"{__package__}.{name}") for name in names if name not in others]
    chapters = [module.CHAPTER for module in modules if hasattr(module, "CHAPTER")]
    return tuple(sorted(chapters, key=lambda chapter: chapter.place))


CHAPTERS = _chapters()

BY_KEY = {chapter.key: chapter for chapter in CHAPTERS}

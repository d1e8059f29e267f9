"""The reading level of the chapters' texts: short sentences, and a low Flesch–Kincaid grade."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyphen
import pytest

from bpeviz.pretrained import download
from bpeviz.ui.learn.base import Chapter
from bpeviz.ui.learn.registry import CHAPTERS
from bpeviz.ui.learn.tours import TOURS, Tour

MAX_WORDS = 25
"""The most words of a sentence."""

GRADE = 9.0
"""The largest Flesch–Kincaid grade of a chapter."""

HYPHENATION = pyphen.Pyphen(lang="en_US", left=1, right=1)


def texts(chapter: Chapter) -> Iterator[str]:
    """Yield the texts of a chapter that are not about its sources and settings."""
    yield from (chapter.lead, chapter.myth, chapter.fact, chapter.why.prompt)
    for option in chapter.why.options:
        yield from (option.words, option.feedback)
    if chapter.claims and all(map(download.available, chapter.needs)):
        yield chapter.claims()
    for make in chapter.questions:
        asked = make(chapter.initial)
        assert asked is not None
        prompt = [*asked.prompt, *asked.about_form]
        yield "".join(part for part in prompt if isinstance(part, str))
        yield from asked.form.payload().get("options", {}).values()
        yield asked.hint
        for one in asked.likely()[:5]:
            yield "".join(part for part in one.words if isinstance(part, str))
        yield "".join(part for part in asked.judge(None).message if isinstance(part, str))


def sentences(text: str) -> list[list[str]]:
    """Return the words of each sentence."""
    found = [re.findall(r"[A-Za-z']+|\d[\d,]*", one) for one in re.split(r"(?<=[.?!:;])\s", text)]
    return [words for words in found if words]


def syllables(word: str) -> int:
    return len(HYPHENATION.inserted(word.lower()).split("-"))


def grade(chapter: Chapter) -> float:
    return grade_of([words for text in texts(chapter) for words in sentences(text)])


def grade_of(found: list[list[str]]) -> float:
    """Return the Flesch–Kincaid grade level of sentences (Kincaid et al. 1975)."""
    words = [word for one in found for word in one]
    per_word = sum(map(syllables, words)) / len(words)
    return 0.39 * len(words) / len(found) + 11.8 * per_word - 15.59


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.key)
def test_chapter_is_easy_to_read(chapter: Chapter) -> None:
    for text in texts(chapter):
        assert max(len(words) for words in sentences(text)) <= MAX_WORDS, text
    assert grade(chapter) <= GRADE


@pytest.mark.parametrize("tour", TOURS.values(), ids=TOURS)
def test_tour_is_easy_to_read(tour: Tour) -> None:
    if not all(map(download.available, tour.needs)):
        pytest.skip("It needs published vocabularies.")
    told = [part for number in range(len(tour.steps)) for part in tour.told(number + 1)]
    words = [words for part in [*tour.words[0], *told] for words in sentences(part)]
    assert max(map(len, words)) <= MAX_WORDS
    assert grade_of(words) <= GRADE

"""The words of the course: their form, their reading level, and beliefs that nobody can guess."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path

import pyphen
import pytest

from bpeviz.pretrained import download
from bpeviz.ui.learn import prose
from bpeviz.ui.learn.base import Chapter, belief_of
from bpeviz.ui.learn.chapters import BY_KEY, CHAPTERS
from bpeviz.ui.learn.prose import Belief, Choice, Prose
from bpeviz.ui.learn.tours import TOURS, Tour
from bpeviz.ui.pages.inspect.step_by_step import WAYS

NAMES = (*BY_KEY, "end", "teacher")
BELIEFS = [belief_of(name) for name in BY_KEY]

MAX_WORDS = 25
"""The most words of a sentence."""

GRADE = 9.0
"""The largest Flesch–Kincaid grade of a file."""

MAX_GUESSED = Fraction(1, 2)
"""The largest share of the beliefs that a blind strategy gets right."""

MOST_SHARING = 3
"""The most beliefs of chapters whose right option shares most words with what is drawn before."""

MOST_TOLD = 0.5
"""The largest share of the words of a right option that are drawn before its belief."""

MAX_RATIO = 1.25
"""The longest option of a belief, as a multiple of the shortest."""

MOST_SHARED = 0.6
"""The largest share of the words of a right answer that a reply to a wrong one may have."""

ABSOLUTES = {"all", "always", "each", "every", "never", "no", "none", "nothing", "only"}

COMMON = {
    *("and", "are", "but", "can", "for", "have", "into", "its", "more", "not", "one", "text"),
    *("that", "the", "them", "they", "token", "with"),
}
"""Words that many answers have, shortened as in `content`."""

ALIKE = (
    *("letter spell", "id number", "frequ often commo most", "neigh side pair", "order turn step"),
    *("token piece part", "cause why reas", "same form chang diffe", "short fewer less"),
    *("train made learn", "see look show find"),
)
"""Words of like sense, each shortened as in `content`."""

SENSES = {word: group.split()[0] for group in ALIKE for word in group.split()}

HYPHENATION = pyphen.Pyphen(lang="en_US", left=1, right=1)


def texts(words: Prose) -> Iterator[str]:
    """Yield the paragraphs and options of a file."""
    yield from (words.goal, words.lead, words.fact, words.why, words.own)
    yield from words.notes.values()
    for task in (*words.tasks.values(), *filter(None, [words.own_task])):
        yield from filter(None, (task.words, task.hint, task.why))
    if belief := words.belief:
        yield belief.question
        for option in belief.options:
            yield from (option.words, option.answer)


def sentences(text: str) -> list[list[str]]:
    """Return the words of each sentence; a figure is a word."""
    plain = re.sub(r"\{\w+\}|`[^`]*`", "8", text)
    listed = [
        re.findall(r"[A-Za-z']+|\d[\d,]*", part) for part in re.split(r"(?<=[.?!:;])\s", plain)
    ]
    return [words for words in listed if words]


def grade(split: list[list[str]]) -> float:
    """Return the Flesch–Kincaid grade level of sentences (Kincaid et al. 1975)."""
    listed = [word for sentence in split for word in sentence]
    syllables: int = sum(HYPHENATION.inserted(word.lower()).count("-") + 1 for word in listed)
    return 0.39 * len(listed) / len(split) + 11.8 * syllables / len(listed) - 15.59


def told(tour: Tour) -> Iterator[str]:
    """Yield the paragraphs of a tour."""
    yield from (tour.title, tour.subject)
    for step in tour.steps:
        yield from (step.heading, *step.paragraphs)


READ = {name: [*texts(prose.read(name))] for name in NAMES}
READ |= {key: [*told(tour)] for key, tour in TOURS.items()}


@pytest.mark.parametrize("parts", READ.values(), ids=READ)
def test_words_are_easy_to_read(parts: list[str]) -> None:
    split = [sentence for text in parts for sentence in sentences(text)]
    assert max(map(len, split)) <= MAX_WORDS
    assert grade(split) <= GRADE


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_figures(name: str) -> None:
    for text in texts(prose.read(name)):
        assert not re.search(r"\d", re.sub(r"\{\w+\}|`[^`]*`|(?:GPT-|Llama )[2-4]o?", "", text)), (
            text
        )


def test_pages_name_the_length_of_the_course() -> None:
    minutes = sum(prose.read(name).minutes for name in BY_KEY)
    assert dict(WAYS)["Learn"] == f"Learn in {minutes} minutes"
    readme = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
    assert f"eight chapters, {minutes} minutes" in readme
    assert {path.stem for path in prose.FOLDER.glob("*.md")} == {*NAMES, "more"}


HEDGES = re.compile(r"\b(may|might|can|could|perhaps|often|some|sometimes|usually|mostly)\b")


def absolutes(belief: Belief, option: Choice) -> int:
    return len([word for word in re.findall(r"\w+", option.words.lower()) if word in ABSOLUTES])


def hedges(belief: Belief, option: Choice) -> int:
    return len(HEDGES.findall(option.words.lower()))


def same(belief: Belief, option: Choice) -> int:
    return len(re.findall(r"\bsame\b", option.words.lower()))


def place(belief: Belief, option: Choice) -> int:
    return belief.options.index(option)


def length(belief: Belief, option: Choice) -> int:
    return len(option.words)


def repeated(belief: Belief, option: Choice) -> int:
    last_sentence = re.split(r"(?<=[.?!])\s", belief.question)[-1]
    return len(senses(last_sentence) & senses(option.words))


STRATEGIES = (absolutes, hedges, same, place, length, repeated)


def guessed(beliefs: Sequence[Belief], score: Callable[[Belief, Choice], int]) -> Fraction:
    """Return how many right options have the highest score; of tied ones, chance takes one."""
    right = Fraction(0)
    for belief in beliefs:
        scores = [score(belief, option) for option in belief.options]
        best = [
            option.right
            for option, value in zip(belief.options, scores, strict=True)
            if value == max(scores)
        ]
        right += Fraction(sum(best), len(best))
    return right


@pytest.mark.parametrize("sign", [1, -1], ids=["most", "least"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_blind_strategy_guesses_like_chance(
    strategy: Callable[[Belief, Choice], int], sign: int
) -> None:
    right = guessed(BELIEFS, lambda belief, option: sign * strategy(belief, option))
    assert right <= MAX_GUESSED * len(BELIEFS)


def before_belief(chapter: Chapter) -> str:
    """Return the words that a chapter draws before its belief: hints, answers and replies, too."""
    words, figures = prose.read(chapter.key), chapter.figures()
    drawn = [words.title]
    for name, task in words.tasks.items():
        asked = chapter.task(name)
        before = (task.words, task.hint)
        filled = (prose.fill(text, {**figures, **asked.figures}) for text in before)
        drawn += filled
        for make in asked.questions:
            question = make()
            items = [item for row in question.rows for item in row["items"]]
            replies = [mistake.words for mistake in question.likely()]
            parts = [*question.judge(None).message, *chain(*items, *replies)]
            drawn += [part if isinstance(part, str) else part["label"] for part in parts]
    return " ".join(prose.fill(text, figures) if "{" in text else text for text in drawn)


def test_right_option_seldom_shares_most_words_with_what_is_drawn_before_it() -> None:
    if not all(map(download.available, ("gpt2", "o200k_base"))):
        pytest.skip("It reads the answers of all chapters.")
    drawn = {belief_of(chapter.key): content(before_belief(chapter)) for chapter in CHAPTERS}
    assert len(drawn) == len(CHAPTERS)
    right = guessed([*drawn], lambda belief, option: len(drawn[belief] & content(option.words)))
    assert right <= MOST_SHARING
    for belief, words in drawn.items():
        answer = content(belief.options[belief.right].words)
        assert len(words & answer) <= MOST_TOLD * len(answer), belief.question


@pytest.mark.parametrize("belief", BELIEFS, ids=lambda belief: belief.question)
def test_options_are_alike_and_replies_are_their_own(belief: Belief) -> None:
    assert belief.myth not in ("", belief.options[belief.right].words)
    lengths = [len(option.words) for option in belief.options]
    assert max(lengths) <= MAX_RATIO * min(lengths)
    replies = [option.answer for option in belief.options]
    assert len({*replies}) == len(replies)
    assert all(replies)
    for reply in (option.answer for option in belief.options if not option.right):
        for other in BELIEFS:
            right = content(other.options[other.right].words)
            assert len(right & content(reply)) <= MOST_SHARED * len(right), (reply, other.question)


def content(text: str) -> set[str]:
    """Return the words of a text that tell what it says, without their endings."""
    return {word[:5] for word in re.findall(r"[a-z0-9]{3,}", text.lower())} - COMMON


def senses(text: str) -> set[str]:
    """Return the senses of the words of a text."""
    stems = {word[:5] for word in re.findall(r"[a-z0-9]{2,}", text.lower())}
    known = {SENSES[stem] for stem in (*stems, *(stem[:-1] for stem in stems)) if stem in SENSES}
    return content(text) | known


@pytest.mark.parametrize(
    "section",
    [
        "## Tasks\nDo it.",
        "## Task: a\nDo it.\nGoal: no.",
        "## Task: a\nDo it.\n\n## Task: a\nAgain.",
        "## Belief\nWhich?\n- A. | B.\n- C. | D.",
        "## Belief\nWhich?\n- A. | B.\n* C.",
        "## Belief\nWhich?\n- A. | B.\n* C. | D.\nMany think: E. | F.\nMany think: G. | H.",
    ],
)
def test_other_forms_are_errors(section: str) -> None:
    with pytest.raises(ValueError, match="“"):
        prose.parse(f"# Title\n\n{section}\n")

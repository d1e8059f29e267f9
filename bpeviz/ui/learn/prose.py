"""The reader of the course's words: Markdown files, one for each chapter, that anybody can edit.

    # The title
    Goal: What a learner can say after the chapter.
    Minutes: 5

    Two sentences, in which {figures} are filled in.

    Many think: A common belief.
    In fact: The correction.

    ## Task: letters
    What to do.
    Hint: After a wrong try, without the answer.
    Why: After the truth was played.

    ## Note: space
    Words beside something that the engine shows.

    ## This is why
    What models do because of it.

    ## Belief
    A question?
    - A wrong answer. | The reply to it.
    * The right answer. | Why it is right.

    ## Own text
    An invitation.

A paragraph may have several lines. Beliefs outside of chapters are numbered: `## 1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_suffix("")

_PARAGRAPH = re.compile(r"(?:(Goal|Minutes|Many think|In fact|Hint|Why): |([-*]) )?(.*)", re.DOTALL)
_HEAD = {"": "lead", "Goal": "goal", "Minutes": "minutes", "Many think": "myth", "In fact": "fact"}
_TASK = {"": "words", "Hint": "hint", "Why": "why"}


@dataclass(frozen=True)
class TaskProse:
    """The words of a task: before it, after a wrong try, and after the truth was played."""

    words: str
    hint: str = ""
    why: str = ""


@dataclass(frozen=True)
class Option:
    """An answer to a belief, and the reply to it."""

    words: str
    answer: str
    right: bool


@dataclass(frozen=True)
class Belief:
    """A question about a common belief; its options are sorted by their words."""

    question: str
    options: tuple[Option, ...]

    @property
    def right(self) -> int:
        """The index of the right option."""
        return next(i for i, option in enumerate(self.options) if option.right)


@dataclass(frozen=True)
class Prose:
    """The words of a chapter, with unfilled figures.

    Attributes:
        title: Its title.
        tasks: Its tasks, by their names.
        notes: Words beside what the engine shows, by their names.
        beliefs: Its belief, or several outside of chapters.
        lead: The two sentences at its start.
        goal: Its goal.
        minutes: The minutes that it takes.
        myth: The belief that it corrects.
        fact: The correction.
        why: What models do because of it.
        own: The invitation to try one's own text.
    """

    title: str
    tasks: Mapping[str, TaskProse]
    notes: Mapping[str, str]
    beliefs: tuple[Belief, ...]
    lead: str = ""
    goal: str = ""
    minutes: int = 0
    myth: str = ""
    fact: str = ""
    why: str = ""
    own: str = ""


def fill(words: str, figures: Mapping[str, int | str]) -> str:
    """Return words with the figures between their braces.

    Args:
        words: The words of a chapter.
        figures: Numbers, or words of the chapter's module. They become Markdown as they are, so
            none is a text of users.

    Raises:
        KeyError: A figure is missing.
        ValueError: A brace is not that of a figure.
    """
    values = {
        name: f"{figure:,}" if isinstance(figure, int) else figure
        for name, figure in figures.items()
    }
    return words.format_map(values)


@cache
def read(name: str) -> Prose:
    """Return the words of a chapter, or of a page such as `end`.

    Raises:
        ValueError: The file is not in the form above.
    """
    return parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))


def parse(text: str) -> Prose:
    """Return the words of a Markdown text in the form above.

    Raises:
        ValueError: It is not in this form.
    """
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, start = head.partition("\n")
    if not title.startswith("# "):
        raise ValueError("The first line must be “# ” and a title.")
    fields = _fields(start, _HEAD)
    tasks: dict[str, TaskProse] = {}
    notes: dict[str, str] = {}
    beliefs: list[Belief] = []
    for section in sections:
        heading, _, body = section.partition("\n")
        kind, _, name = heading.strip().partition(": ")
        if kind == "Task" and name not in tasks:
            tasks[name] = TaskProse(**_fields(body, _TASK))
        elif kind == "Note" and name not in notes:
            notes[name] = _fields(body, {"": "words"})["words"]
        elif heading.strip() in ("Belief", str(len(beliefs) + 1)):
            beliefs.append(_belief(body))
        elif heading.strip() in ("This is why", "Own text"):
            fields |= _fields(body, {"": "why" if heading.startswith("This") else "own"})
        else:
            raise ValueError(f"“## {heading.strip()}” is not a heading here.")
    minutes = int(fields.pop("minutes", "0"))
    return Prose(title[2:].strip(), tasks, notes, tuple(beliefs), minutes=minutes, **fields)


def _paragraphs(body: str) -> Iterator[tuple[str, str]]:
    """Yield the mark (such as “Hint” or “-”) and the words of each paragraph, on one line."""
    for paragraph in re.split(r"\n\s*\n|\n(?=[A-Z][a-z ]+: |[-*] )", body.strip()):
        if match := _PARAGRAPH.fullmatch(paragraph.strip()):
            yield match[1] or match[2] or "", " ".join(match[3].split())


def _fields(body: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the paragraphs of a section by the names of their fields."""
    fields: dict[str, str] = {}
    for mark, words in _paragraphs(body):
        if mark not in names or (names[mark] in fields and mark):
            raise ValueError(f"“{mark} {words}” must not be here.")
        before = fields.get(names[mark])
        fields[names[mark]] = f"{before}\n\n{words}" if before else words
    return fields


def _belief(body: str) -> Belief:
    (question, *options) = _paragraphs(body)
    pairs = [(mark, *words.split(" | ")) for mark, words in options]
    listed = [Option(words, answer, mark == "*") for mark, words, answer in pairs]
    if [question[0], sum(option.right for option in listed)] != ["", 1]:
        raise ValueError(f"“{question[1]}” needs one right answer.")
    return Belief(question[1], tuple(sorted(listed, key=lambda option: option.words.casefold())))

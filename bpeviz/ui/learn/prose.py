"""The reader of the course's words: Markdown files, one for each chapter, that anybody can edit.

    # The title
    Goal: What a student can say after the chapter.
    Minutes: 5

    In fact: The correction of what many think.

    ## Task: letters
    The question, in which {figures} are filled in.

    What one must know for it.
    Hint: After a wrong try, without the answer.
    Why: What the task shows, after the belief.

    ## Note: space
    Words beside something that the engine shows.

    ## This is why
    models do something: the sentence goes on.

    ## Belief
    A question?
    - A wrong answer. | The reply to it.
    Many think: Another wrong answer. | The reply to it.
    * The right answer. | Why it is right.

    ## Own text
    An invitation.

    ## Own task
    The question about it, where no task above says so.

    ## Sources
    Papers with their years.

A paragraph may have several lines. Pages such as `end` have words below their title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_suffix("")

MORE = FOLDER / "more.md"
"""Markdown of the last page: goals to reach in Train and Compare, and false claims of tutorials. A
test compares its figures with the table of known answers."""

_MARK = "(?:Goal|Minutes|Many think|In fact|Hint|Why): |[-*] "
_HEAD = {"": "lead", "Goal": "goal", "Minutes": "minutes", "In fact": "fact"}
_TASK = {"": "words", "Hint": "hint", "Why": "why"}
_OTHERS = {"This is why": {"": "why"}, "Own text": {"": "own"}, "Sources": {"": "sources"}}


@dataclass(frozen=True)
class TaskProse:
    """The words of a task: before it, after a wrong try, and after the belief."""

    words: str
    hint: str = ""
    why: str = ""

    @property
    def question(self) -> str:
        """The question, which is the title of its page."""
        return self.words.partition("\n\n")[0]

    @property
    def lead(self) -> str:
        """What one must know for the question."""
        return self.words.partition("\n\n")[2]


@dataclass(frozen=True)
class Choice:
    """An answer to a belief, the reply to it, and whether many think so."""

    words: str
    answer: str
    right: bool
    is_common: bool = False


@dataclass(frozen=True)
class Belief:
    """A question about a common belief; its options are sorted by their words."""

    question: str
    options: tuple[Choice, ...]

    @property
    def right(self) -> int:
        """The index of the right option."""
        return next(i for i, option in enumerate(self.options) if option.right)

    @property
    def myth(self) -> str:
        """The wrong option that many think, or ""."""
        return next((option.words for option in self.options if option.is_common), "")


@dataclass(frozen=True)
class Prose:
    """The words of a chapter, with unfilled figures.

    Attributes:
        title: Its title.
        tasks: Its tasks, by their names.
        notes: Words beside what the engine shows, by their names.
        belief: Its belief, or None outside of chapters.
        lead: The words below the title, outside of chapters.
        goal: Its goal.
        minutes: The minutes that it takes.
        fact: The correction of what many think.
        why: The end of the sentence that begins with “This is why”, about models.
        own: The invitation to try one's own text.
        sources: Where its facts are from.
        own_task: The words of a task that is about a text of one's own only.
    """

    title: str
    tasks: Mapping[str, TaskProse]
    notes: Mapping[str, str]
    belief: Belief | None = None
    lead: str = ""
    goal: str = ""
    minutes: int = 0
    fact: str = ""
    why: str = ""
    own: str = ""
    sources: str = ""
    own_task: TaskProse | None = None

    def task(self, name: str) -> TaskProse:
        """Return the words of a task, which are the chapter's or for one's own text only."""
        return self.tasks.get(name) or self.own_task or TaskProse("")


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
    fields = _fields(start, _HEAD)
    tasks: dict[str, TaskProse] = {}
    notes: dict[str, str] = {}
    belief: Belief | None = None
    own_task: TaskProse | None = None
    for section in sections:
        heading, _, body = section.partition("\n")
        kind, _, name = heading.partition(": ")
        if kind == "Task" and name not in tasks:
            tasks[name] = TaskProse(**_fields(body, _TASK))
        elif heading == "Own task":
            own_task = TaskProse(**_fields(body, _TASK))
        elif kind == "Note" and name not in notes:
            notes[name] = _fields(body, {"": "words"})["words"]
        elif heading == "Belief" and belief is None:
            belief = belief_of(body)
        elif heading in _OTHERS:
            fields |= _fields(body, _OTHERS[heading])
        else:
            raise ValueError(f"“## {heading}” is not a heading here.")
    minutes = int(fields.pop("minutes", "0"))
    fields["title"] = title.removeprefix("# ")
    return Prose(
        tasks=tasks,
        notes=notes,
        belief=belief,
        minutes=minutes,
        own_task=own_task,
        **fields,
    )


def _paragraphs(body: str) -> Iterator[tuple[str, str]]:
    """Yield the mark (such as “Hint” or “-”) and the words of each paragraph, on one line."""
    for paragraph in re.split(rf"\n\s*\n|\n(?={_MARK})", body.strip()):
        match = re.fullmatch(rf"({_MARK})?(.*)", paragraph, re.DOTALL)
        if match and match[2].strip():
            yield (match[1] or "").rstrip(": "), re.sub(r"\s*\n\s*", " ", match[2].strip())


def _fields(body: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the paragraphs of a section by the names of their fields."""
    fields: dict[str, str] = {}
    for mark, words in _paragraphs(body):
        if mark not in names or (mark and names[mark] in fields):
            raise ValueError(f"“{mark} {words}” must not be here.")
        before = fields.get(names[mark])
        fields[names[mark]] = f"{before}\n\n{words}" if before else words
    return fields


def belief_of(body: str) -> Belief:
    """Return the question and the options of a section.

    Raises:
        ValueError: They are not in the form above.
    """
    (_, question), *listed = _paragraphs(body)
    split = [(mark, words.partition(" | ")) for mark, words in listed]
    options = [
        Choice(words, answer, mark == "*", mark == "Many think")
        for mark, (words, _, answer) in split
    ]
    marks = [mark for mark, _ in listed]
    is_complete = all(option.answer for option in options) and {*marks} - {"Many think"} == {*"-*"}
    is_complete &= marks.count("Many think") <= 1
    if not is_complete or sum(option.right for option in options) != 1:
        raise ValueError(f"“{question}” needs options with replies, of which one is right.")
    return Belief(question, tuple(sorted(options, key=lambda option: option.words.casefold())))

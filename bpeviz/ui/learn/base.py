"""The parts of a chapter: exercises, each a text on the stage with tasks about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NotRequired, TypedDict

from bpeviz.ui.learn import prose
from bpeviz.views.acts import BeliefAct, Given, parts_of
from bpeviz.views.payloads import Answer, Player
from bpeviz.views.task import Mistake, Task, judged

MOST_PLACES = 20
"""The most places for boundaries in a guess."""

LONGEST_OWN_WORD = 40
"""The most characters of a word of the user's own."""

DON_QUIJOTE = (
    "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía "
    "un hidalgo de los de lanza en astillero"
)
"""The opening of Don Quijote, of 130 characters."""


class NoQuestionError(ValueError):
    """No question can be asked about a text; the message tells the user how to change it."""


class StoredAnswer(TypedDict):
    """The answers to a question, as a browser stores them.

    Attributes:
        of: The text that they are about.
        tries: The last ones.
        shown: Whether the right one was shown.
        done: Whether the question was done before these.
    """

    of: str
    tries: list[Answer]
    shown: bool
    done: NotRequired[bool]


@dataclass(frozen=True)
class Exercise(Generic[Given]):
    """A text on the stage, and the tasks about it.

    Attributes:
        questions: Return the tasks in their order; none where one's own text is only seen. Each
            may raise `NoQuestionError`.
        payload: Returns the player's payload once some questions are answered, by their number and
            the last answer to the next one, if any. It has no decision that the user has not seen.
            Its "task" has what depends on that answer: "places", "pieces" or "rows".
        figures: The figures in its prose that depend on its text, by their names.
    """

    questions: Sequence[Callable[[], Task[Given]]]
    payload: Callable[[int, Given | None], Player]
    figures: Mapping[str, int | str] = field(default_factory=dict)

    def drawn(self, change: Callable[[Player], Player]) -> Exercise[Given]:
        """Return the exercise with other payloads, which a function makes of these."""
        return replace(self, payload=lambda done, given: change(self.payload(done, given)))


@dataclass(frozen=True)
class Chapter:
    """A chapter of the Learn page. Its words are in `prose`.

    Attributes:
        key: Its name in links, and that of its prose.
        texts: The text of each task, by its name.
        tasks: Returns the exercise of a text, by its name; may raise `NoQuestionError`.
        own: The task that the user can do with a text of their own, or "".
        example: A text in its place while they have typed none, or "".
        longest: The most characters of that text.
        own_needs: The published vocabularies that it needs.
        figures: Returns the figures in its prose, by their names.
        drawings: Draw what notes of its prose are about, by their names.
        target: Returns a link to the page that shows a text, as Markdown.
        rounds: The number of questions of a task, where it has several.
    """

    key: str
    texts: Mapping[str, str]
    tasks: Mapping[str, Callable[[str], Exercise[Any]]]
    own: str = ""
    example: str = ""
    longest: int = 1_000
    own_needs: tuple[str, ...] = ()
    figures: Callable[[], Mapping[str, int | str]] = dict
    drawings: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    target: Callable[[str], str] | None = None
    rounds: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the first task."""
        return next(iter(self.texts.values()))

    def task(self, name: str) -> Exercise[Any]:
        """Return the exercise of its text; may raise `NoQuestionError`."""
        return self.tasks[name](self.texts[name])


def belief_of(key: str) -> prose.Belief:
    """Return the belief of a chapter."""
    belief = prose.read(key).belief
    assert belief is not None  # noqa: S101 (a test reads all)
    return belief


def belief_question(key: str, figures: Mapping[str, int | str]) -> Task[int]:
    """Return the belief at the end of a chapter. Its answers do not depend on a text."""
    belief = belief_of(key)
    replies = [prose.fill(option.answer, figures) for option in belief.options]

    mistakes = [Mistake(i, [reply]) for i, reply in enumerate(replies) if i != belief.right]
    act = BeliefAct(tuple(prose.fill(option.words, figures) for option in belief.options))
    prompt = parts_of(prose.fill(belief.question, figures))
    right = judged(belief.right, [replies[belief.right]])
    return Task(act, right, lambda: mistakes, prompt=prompt)

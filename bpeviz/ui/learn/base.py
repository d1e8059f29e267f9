"""The parts of a chapter: questions about a text on the stage.

A question is built without its right answer, and `Question.judge` computes that when the user
answers. So before an answer, the browser receives nothing that depends on the right one: the
payload of the stage ends at the present step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NotRequired, TypedDict

from bpeviz.ui.learn import prose
from bpeviz.views.acts import Act, BeliefAct, Given, Judgment, Verdict
from bpeviz.views.payloads import Answer, MessagePart, MessageRow, Player, TaskResult

Mark = Literal["first", "second", "tried", "shown"]
"""How a question was answered: at the first or second try, in neither of two, or not at all."""

MOST_PLACES = 20
"""The most places for boundaries in a guess."""

LONGEST_OWN_WORD = 40
"""The most characters of a word of the user's own."""

TRIES = 2
"""The tries before the right answer is shown."""

SIGNS: Mapping[Mark, str] = {"first": "●", "second": "◐", "tried": "○", "shown": "◌"}
MARK_WORDS: Mapping[Mark, str] = {
    "first": "first try",
    "second": "second try",
    "tried": "two tries",
    "shown": "shown",
}

SENTENCES = (
    "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía "
    "un hidalgo de los de lanza en astillero",
    "Una olla de algo más vaca que carnero, salpicón las más noches, duelos y quebrantos los "
    "sábados, lantejas los viernes, algún palomino de añadidura los domingos, consumían las tres "
    "partes de su hacienda.",
    "El resto de ella concluían sayo de velarte, calzas de velludo para las fiestas, con sus "
    "pantuflos de lo mesmo.",
    "Tenía en su casa una ama que pasaba de los cuarenta, y una sobrina que no llegaba a los "
    "veinte.",
)
"""Parts of the first sentences of Don Quijote."""

DON_QUIJOTE = SENTENCES[0]
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
class Mistake(Generic[Given]):
    """A likely wrong answer.

    Attributes:
        given: The answer.
        words: What is wrong with it, without the right answer.
    """

    given: Given
    words: Sequence[MessagePart]


@dataclass(frozen=True)
class Question(Generic[Given]):
    """A question about a text.

    Attributes:
        act: How it is answered.
        judge: Returns the result for an accepted answer, or for None without one.
        mistakes: Returns the likely wrong answers, computed from the text like the right one.
        name: Its name, which tells no answer.
        hint: A hint after a wrong answer, without the right one.
        rows: What is listed below it: "title", the messages "items", and whether they are
            "numbered".
    """

    act: Act[Given]
    judge: Callable[[Given | None], Judgment[Given]]
    mistakes: Callable[[], Sequence[Mistake[Given]]] = tuple
    name: str = ""
    hint: str = ""
    rows: Sequence[MessageRow] = ()

    def likely(self) -> list[Mistake[Given]]:
        """Return the likely wrong answers that are possible and wrong here, each once."""
        likely: list[Mistake[Given]] = []
        for mistake in self.mistakes():
            is_new = not any(self.act.matches(mistake.given, other.given) for other in likely)
            if is_new and self.act.accepts(mistake.given) and not self.solved(mistake.given):
                likely.append(mistake)
        return likely

    def solved(self, given: Given) -> bool:
        """Return whether an answer is right, or near enough."""
        return self.judge(given).verdict in ("right", "near")

    def reply(self, given: Given) -> list[MessagePart]:
        """Return the sentence about a likely wrong answer, without the right answer."""
        replies = (each.words for each in self.likely() if self.act.matches(given, each.given))
        return [*next(replies, ())]

    def feedback(self, given: Given) -> list[MessagePart]:
        """Return the sentence about a wrong answer, or where to look again."""
        right = self.judge(None).right
        hint = [] if right is None else self.act.difference(given, right)
        return self.reply(given) or hint

    def mark(self, tries: Sequence[Given], gave_up: bool) -> Mark | None:
        """Return how a question was answered, or None while a try is left."""
        if tries and self.solved(tries[-1]):
            return "first" if len(tries) == 1 or self.act.is_live else "second"
        if gave_up:
            return "shown"
        return "tried" if len(tries) >= TRIES and not self.act.is_live else None

    def result(self, tries: Sequence[Given], gave_up: bool) -> TaskResult | None:
        """Return what the stage says about the answers so far, or None before the first one."""
        if not tries and not gave_up:
            return None
        mark = self.mark(tries, gave_up)
        if mark is None and self.act.is_live:
            message = self.judge(tries[-1]).message
            return {"kind": "draft", "message": message, "note": ""}
        if mark is None:
            message = [*self.feedback(tries[-1]), f" {self.hint}".rstrip()]
            return {"kind": "again", "message": message, "note": " One more try."}
        given = None if gave_up else tries[-1]
        judgment = self.judge(given)
        message = [*judgment.message]
        if mark == "tried":  # the second mistake is answered, too
            message = [*self.reply(tries[-1]), " ", *message]
        note = "" if self.act.is_live else f" {SIGNS[mark]} {MARK_WORDS[mark].capitalize()}"
        kind = judgment.verdict if given is not None else "shown"
        return {"kind": kind, "message": message, "note": note}


@dataclass(frozen=True)
class Task(Generic[Given]):
    """A text on the stage, and the questions about it.

    Attributes:
        questions: The questions in their order, or none where a text of the user's own is only
            seen. Each function may raise `NoQuestionError`.
        payload: Returns the player's payload once some questions are answered, by their number and
            the last answer to the next one, if any. It has no decision that the user has not seen.
            Its "task" has what depends on that answer: "places", "rows", or "actions", which are
            buttons and the answers that they give.
        figures: The figures in its prose that depend on its text, by their names.
    """

    questions: Sequence[Callable[[], Question[Given]]]
    payload: Callable[[int, Given | None], Player]
    figures: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Chapter:
    """A chapter of the Learn page. Its words are in `prose`.

    Attributes:
        key: Its name in links, and that of its prose.
        texts: The texts of each task, by its name. The first one is that of rooms and teachers;
            each of the others follows when the user asks for it.
        tasks: Returns a task about a text, by its name; may raise `NoQuestionError`.
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
    texts: Mapping[str, Sequence[str]]
    tasks: Mapping[str, Callable[[str], Task[Any]]]
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
        """The first text of the first task."""
        return next(iter(self.texts.values()))[0]

    def task(self, name: str, turn: int = 0) -> Task[Any]:
        """Return a task about its first text, or a later one; may raise `NoQuestionError`."""
        return self.tasks[name](self.texts[name][turn])


def belief_of(key: str) -> prose.Belief:
    """Return the belief of a chapter."""
    belief = prose.read(key).belief
    assert belief is not None  # noqa: S101 (a test reads all)
    return belief


def belief_question(key: str, figures: Mapping[str, int | str]) -> Question[int]:
    """Return the belief at the end of a chapter. Its answers do not depend on a text."""
    belief = belief_of(key)
    replies = [prose.fill(option.answer, figures) for option in belief.options]

    def judge(given: int | None) -> Judgment[int]:
        verdict: Verdict = "right" if given in (None, belief.right) else "wrong"
        return Judgment(verdict, [replies[belief.right]], belief.right)

    def mistakes() -> list[Mistake[int]]:
        return [Mistake(i, [reply]) for i, reply in enumerate(replies) if i != belief.right]

    options = (prose.fill(option.words, figures) for option in belief.options)
    return Question(
        BeliefAct(tuple(options)), judge, mistakes, prose.fill(belief.question, figures)
    )

"""The declaration of a chapter: its texts, its inputs, its questions, and its result.

A question is built without its right answer, and `Question.judge` computes that when the user
answers. So before an answer, the browser receives nothing that depends on the right one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bpeviz.ui.learn.forms import ChoiceForm, Form, MessagePart
from bpeviz.ui.permalink.codec import Value
from bpeviz.ui.widgets import Widget

Setup = Mapping[str, Any]
"""The values of a chapter's inputs, by the names in `Chapter.inputs`."""

Verdict = Literal["right", "near", "wrong", "shown"]

Mark = Literal["first", "second", "shown"]
"""How a question was answered: at the first try, at the second try, or by showing the answer."""

TRIES = 2
"""The tries before the right answer is shown."""

DON_QUIJOTE = (
    "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía "
    "un hidalgo de los de lanza en astillero"
)
"""The opening of Don Quijote, of 130 characters."""


class NoQuestionError(ValueError):
    """No question can be asked about a text; the message tells the user how to change it."""


@dataclass(frozen=True)
class Judgment:
    """The result of a question, computed by the engine.

    Attributes:
        verdict: How the answer compares with the right one; "shown" without an answer.
        message: The right answer, and how the given one differs.
        marks: The right answer in the picture, as the form draws it.
    """

    verdict: Verdict
    message: Sequence[MessagePart]
    marks: Mapping[str, Any]


@dataclass(frozen=True)
class PictureRow:
    """A row of the picture above a question: the text, tokens or numbers that it is about.

    Attributes:
        title: The name of the row.
        items: Its entries, each of them text and tokens.
        numbered: Whether the entries are numbered.
    """

    title: str
    items: Sequence[Sequence[MessagePart]]
    numbered: bool = False

    def payload(self) -> dict[str, Any]:
        """Return the data for the browser, as plain JSON values."""
        items = [list(item) for item in self.items]
        return {"title": self.title, "items": items, "numbered": self.numbered}


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer.

    Attributes:
        given: The answer.
        words: What is wrong with it, without the right answer.
    """

    given: Any
    words: Sequence[MessagePart]


@dataclass(frozen=True)
class Question:
    """A question about a text.

    Attributes:
        prompt: The question.
        form: How it is answered.
        judge: Returns the result for an accepted answer, or for None without one.
        mistakes: Returns the likely wrong answers, computed from the text like the right one.
        hint: A hint after a wrong answer, without the right one.
        see: The picture above the question.
        about_form: Sentences after the question, about how it is answered on the page of Learn.
        name: Its number in the course and its name, such as “4.1 The most frequent pair”.
    """

    prompt: Sequence[MessagePart]
    form: Form
    judge: Callable[[Any], Judgment]
    mistakes: Callable[[], Sequence[Mistake]] = tuple
    hint: str = ""
    see: Sequence[PictureRow] = ()
    about_form: Sequence[MessagePart] = ()
    name: str = ""

    def likely(self) -> list[Mistake]:
        """Return the likely wrong answers that are possible and wrong here, each once."""
        likely: list[Mistake] = []
        for mistake in self.mistakes():
            is_new = not any(self.form.matches(mistake.given, other.given) for other in likely)
            if is_new and self._is_wrong(mistake.given):
                likely.append(mistake)
        return likely

    def _is_wrong(self, given: Any) -> bool:
        return self.form.accepts(given) and not self.solved(given)

    def solved(self, given: Any) -> bool:
        """Return whether an answer is right, or near enough."""
        return self.judge(given).verdict in ("right", "near")

    def feedback(self, given: Any) -> list[MessagePart]:
        """Return the sentence about a wrong answer, and a hint, without the right answer."""
        messages = (
            mistake.words
            for mistake in self.mistakes()
            if self.form.matches(given, mistake.given) and self._is_wrong(mistake.given)
        )
        words = next(messages, None) or self.form.difference(given, self.judge(None).marks)
        return [*words, f" {self.hint}".rstrip()]

    def mark(self, tries: Sequence[Any], gave_up: bool) -> Mark | None:
        """Return how a question was answered, or None while a try is left."""
        if tries and self.solved(tries[-1]):
            return "first" if len(tries) == 1 else "second"
        return "shown" if gave_up or len(tries) >= TRIES else None

    def payload(self, of: str, tries: Sequence[Any] = (), gave_up: bool = False) -> dict[str, Any]:
        """Return the payload of the component `answer`.

        Args:
            of: Identifies the question and the inputs that it is about.
            tries: The answers so far.
            gave_up: Whether the user asked for the answer.
        """
        mark = self.mark(tries, gave_up)
        given = tries[-1] if tries and not gave_up else None
        result = self.judge(given) if mark else None
        data = {
            "of": of,
            "see": [row.payload() for row in self.see],
            "prompt": [*self.prompt, *self.about_form],
            "form": self.form.payload(),
            "given": given,
            "feedback": self.feedback(tries[-1]) if tries and not mark else None,
            "mark": mark,
            "result": result
            and {
                "verdict": result.verdict,
                "message": list(result.message),
                "marks": dict(result.marks),
            },
        }
        digest = hashlib.blake2b(json.dumps(data).encode(), digest_size=12)
        return data | {"key": digest.hexdigest()}


@dataclass(frozen=True)
class AnswerOption:
    """An answer to choose, with its feedback.

    Attributes:
        key: Its name in stored answers.
        words: The answer.
        feedback: The reason why it is right, or the sentence about the belief behind it.
        right: Whether it is right.
    """

    key: str
    words: str
    feedback: str
    right: bool = False


@dataclass(frozen=True)
class Why:
    """The question “Why?” at the end of a chapter. Its answers do not depend on the text."""

    prompt: str
    options: Sequence[AnswerOption]

    def question(self) -> Question:
        """Return the question for the component `answer`."""
        (right,) = (option for option in self.options if option.right)
        words = {option.key: option.words for option in self.options}
        return chosen([self.prompt], words, lambda: (right.key, [right.feedback]), self._mistakes)

    def _mistakes(self) -> list[Mistake]:
        return [
            Mistake(option.key, [option.feedback]) for option in self.options if not option.right
        ]


def chosen(
    prompt: Sequence[MessagePart],
    options: Mapping[str, str],
    answer: Callable[[], tuple[str, Sequence[MessagePart]]],
    mistakes: Callable[[], Sequence[Mistake]],
    hint: str = "",
    see: Sequence[PictureRow] = (),
) -> Question:
    """Return a question with one right option.

    Args:
        prompt: The question.
        options: The words of each option, by their keys.
        answer: Returns the key of the right option, and the reason.
        mistakes: Returns the sentences about the other options.
        hint: A hint after a wrong answer.
        see: The picture above the question.
    """

    def judge(given: str | None) -> Judgment:
        right, reason = answer()
        verdict: Verdict = "shown" if given is None else "right" if given == right else "wrong"
        return Judgment(verdict, reason, {"right": [right]})

    return Question(prompt, ChoiceForm(options), judge, mistakes, hint, see)


PictureKind = Literal["player", "score", "grid", "table"]


@dataclass(frozen=True)
class Picture:
    """Something that a chapter shows after its questions are answered.

    Attributes:
        kind: The component that draws it.
        data: Its payload: for a table, a header and rows of text.
        caption: A sentence about it, without text of users.
    """

    kind: PictureKind
    data: Any
    caption: str = ""


@dataclass(frozen=True)
class PageLink:
    """A page in a state: the link to it contains the values of its widgets.

    Attributes:
        path: The file of the page.
        label: The words of the link.
        values: The values, by their names in links.
    """

    path: str
    label: str
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Input:
    """An input of a chapter.

    Attributes:
        name: Its name in a `Setup`.
        widget: The widget, whose value a link contains.
        initial: The value at first.
        lines: Whether a text may have several lines.
        asked: Whether the questions depend on it. Other inputs are drawn above the pictures.
        slider: Whether a number is drawn as a slider.
    """

    name: str
    widget: Widget[Any]
    initial: Any
    lines: bool = False
    asked: bool = True
    slider: bool = False


@dataclass(frozen=True)
class Chapter:
    """A chapter of the Learn page.

    Attributes:
        key: Its name in links.
        place: Its place among the chapters: a larger number comes later.
        title: Its title.
        core: Whether it is on the core path.
        lead: Its subject, and the knowledge that its questions need.
        myth: A common misconception.
        fact: The correction; shown after the questions.
        settings: How its tokenizers are trained.
        source: Where its figures or its facts come from.
        inputs: The values that the user can change, the text first.
        questions: The questions in their order. Each function may raise `NoQuestionError`, or
            return None to skip its question.
        names: The names of the questions, which tell no answer.
        pictures: Returns the pictures to show after the questions.
        why: The question “Why?”.
        target: Returns the page that shows this text.
        samples: Other texts to try, by their labels; or values of several inputs, by their names.
        needs: The published vocabularies that it needs.
        claims: Returns corrections of wrong claims in tutorials, as Markdown.
    """

    key: str
    place: int
    title: str
    core: bool
    lead: str
    myth: str
    fact: str
    settings: str
    source: str
    inputs: Sequence[Input]
    questions: Sequence[Callable[[Setup], Question | None]]
    names: Sequence[str]
    pictures: Callable[[Setup], Sequence[Picture]]
    why: Why
    target: Callable[[Setup], PageLink]
    samples: Mapping[str, str | Setup] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    claims: Callable[[], str] | None = None

    @property
    def initial(self) -> Setup:
        """The values of the inputs at first."""
        return {field.name: field.initial for field in self.inputs}

    def sample(self, title: str) -> Setup:
        """Return the values of inputs that a sample sets."""
        sample = self.samples[title]
        return {self.inputs[0].name: sample} if isinstance(sample, str) else sample

    def about(self, setup: Setup) -> str:
        """Return a short name of the inputs that the questions are about."""
        values = json.dumps([setup[field.name] for field in self.inputs if field.asked])
        return hashlib.blake2b(values.encode(), digest_size=9).hexdigest()


def compared(given: int | None, right: int) -> Verdict:
    """Return the verdict of a number."""
    return "shown" if given is None else "right" if given == right else "wrong"

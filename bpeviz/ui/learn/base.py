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

DON_QUIJOTE = (
    "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía "
    "un hidalgo de los de lanza en astillero"
)
"""The opening of Don Quijote, of 130 characters."""


class NoQuestionError(ValueError):
    """No question can be asked about a text; the message tells the user how to change it."""


@dataclass(frozen=True)
class Result:
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
class Question:
    """A question about a text.

    Attributes:
        prompt: The question.
        form: How it is answered.
        judge: Returns the result for an accepted answer, or for None without one.
    """

    prompt: Sequence[MessagePart]
    form: Form
    judge: Callable[[Any], Result]

    def payload(self, of: str, given: Any, result: Result | None) -> dict[str, Any]:
        """Return the payload of the component `answer`.

        Args:
            of: Identifies the question and the inputs that it is about.
            given: The answer, or None.
            result: Its result, or None before an answer.
        """
        data = {
            "of": of,
            "prompt": list(self.prompt),
            "form": self.form.payload(),
            "given": given,
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
    """An answer to the question “Why?”, with its feedback."""

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

        def judge(given: int | None) -> Result:
            right = [i for i, option in enumerate(self.options) if option.right]
            one = self.options[right[0] if given is None else given]
            verdict: Verdict = "shown" if given is None else "right" if one.right else "wrong"
            return Result(verdict, [one.feedback], {"right": right})

        return Question([self.prompt], ChoiceForm([option.words for option in self.options]), judge)


PictureKind = Literal["player", "columns", "grid", "table"]


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
class Target:
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
    pictures: Callable[[Setup], Sequence[Picture]]
    why: Why
    target: Callable[[Setup], Target]
    samples: Mapping[str, str | Setup] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    claims: Callable[[], str] | None = None

    @property
    def initial(self) -> Setup:
        """The values of the inputs at first."""
        return {one.name: one.initial for one in self.inputs}

    def sample(self, title: str) -> Setup:
        """Return the values of inputs that a sample sets."""
        sample = self.samples[title]
        return {self.inputs[0].name: sample} if isinstance(sample, str) else sample

    def about(self, setup: Setup) -> str:
        """Return a short name of the inputs that the questions are about."""
        values = json.dumps([setup[one.name] for one in self.inputs if one.asked])
        return hashlib.blake2b(values.encode(), digest_size=9).hexdigest()


def compared(given: int | None, right: int, tolerance: int = 1) -> Verdict:
    """Return the verdict of a number: near if it differs by at most `tolerance`."""
    if given is None:
        return "shown"
    if given == right:
        return "right"
    return "near" if abs(given - right) <= tolerance else "wrong"

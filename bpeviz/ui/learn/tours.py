"""Guided tours: steps on a live page, each with a state of it, and some sentences about a part.

The address names the running tour and its step, such as `/Pre-tokenize?tour=splitting.3`. Each step
gives the page its state once. A tour is a Markdown file in `prose/tours`, which anybody can write:

    # The title

    On: Pre-tokenize
    Needs: gpt2
    Sources: Papers with their years.

    The subject.

    ## Guess

    Change: {"splits": ["words"]}

    A question that the first step answers?
    - A wrong answer. | The reply to it.
    * The right answer. | Why it is right.

    ## The heading of a step

    State: {"text_sample": "own", "text_box": "3 + 5", "splits": ["words", "nltk"]}
    Mark: .st-key-side-by-side | .comparison
    Jump: 3

    Words, whose figures a test computes again.

The state has the names and values of a link, or is a link that “Copy link” in “Share” has copied.
The mark is the part of the page that the words are about: the selector of an element, which begins
with the key of its section if it is in one, then that of a part in its shadow root. `Jump` is a
step of the player. State, mark and jump are those of the step before where they are missing, and
`Change` names only the values that differ from its state; those of the guess, from that of the
first step. `Needs` lists published vocabularies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from bpeviz.pretrained import catalog, download
from bpeviz.text import joined
from bpeviz.ui import components
from bpeviz.ui.learn import prose
from bpeviz.ui.pages import algorithms, compare, inspect, pretokenize, train
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import links, session
from bpeviz.ui.permalink.links import Value
from bpeviz.ui.runtime.reconnection import reconnected
from bpeviz.ui.widgets import SessionValue

FOLDER = Path(__file__).parent / "prose" / "tours"

_KEYS = "splitting", "real-tokenizers", "sentencepiece", "algorithms"
"""The names of the files, in the order in which Learn lists the tours."""

_MODULES = train, compare, inspect, algorithms, pretokenize
_PAGES = {module.PAGE.title: module.PAGE for module in _MODULES}

_KEPT = links.NOT_SETTINGS - {session.TOUR, links.PACKED, links.STEP}
"""The parameters of an address that have nothing to do with the state of a step."""

_FIELD = re.compile("^(On|Needs|Sources|State|Change|Mark|Jump): (.*)$", re.MULTILINE)
_PLUS, _UNBROKEN_PLUS = "` + `", "`\N{NO-BREAK SPACE}+\N{NO-BREAK SPACE}`"

_GUESSED: SessionValue[dict[str, int]] = SessionValue("tour_guessed")
"""The option that was picked in the guess of each tour."""

APPLIED: SessionValue[str] = SessionValue("tour_step_applied")
"""The step whose state the page has got, as in the address."""


@dataclass(frozen=True)
class Step:
    """A step of a tour.

    Attributes:
        heading: Its heading.
        paragraphs: Its words.
        values: The state of the page, by the names of its widgets in links.
        mark: Selectors of the part that the words are about.
        jump: The step to which the player goes.
    """

    heading: str
    paragraphs: Sequence[str]
    values: Mapping[str, Value]
    mark: tuple[str, ...]
    jump: int | None = None


@dataclass(frozen=True)
class Tour:
    """A tour of one page.

    Attributes:
        key: Its name in links, and that of its file.
        title: Its title.
        subject: Its subject and its length.
        page: The page.
        steps: Its steps.
        guess: The question before the first step.
        before: The values of the page for it.
        sources: Where its facts are from.
        needs: The published vocabularies that it needs.
    """

    key: str
    title: str
    subject: str
    page: Page
    steps: Sequence[Step]
    guess: prose.Belief | None = None
    before: Mapping[str, Value] = field(default_factory=dict)
    sources: str = ""
    needs: tuple[str, ...] = ()

    def link(self, step: int = 1) -> dict[str, str]:
        """Return the parameters of the address that opens the page at a step."""
        return {session.TOUR: f"{self.key}.{step}"}

    def paragraphs(self, number: int) -> Sequence[str]:
        """Return the paragraphs of a step, or what they wait for."""
        if missing := [catalog.title(name) for name in self.needs if not download.available(name)]:
            why = (
                f"This step needs the files of {joined(missing)}, which this machine does not have."
            )
            return [f"{why} The page tries to download them."]
        paragraphs = [*self.steps[number - 1].paragraphs]
        if number == 1 and self.guess:
            picked = (_GUESSED.get() or {}).get(self.key, self.guess.right)
            option = self.guess.options[picked]
            paragraphs.insert(
                0, f"**{'Right.' if option.right else 'Not quite.'}** {option.answer}"
            )
        sources = [f"Sources: {self.sources}"] if number == len(self.steps) else []
        return paragraphs + sources

    def is_asking(self, number: int) -> bool:
        """Return whether the guess stands before a step."""
        return bool(self.guess) and number == 1 and self.key not in (_GUESSED.get() or {})


def parse(key: str, text: str) -> Tour:
    """Return the tour in a Markdown text in the form above.

    Raises:
        ValueError: It is not in this form.
    """
    head, *sections = re.split("^#+ ", text, flags=re.MULTILINE)[1:]
    (title, *subject), fields = _section(head)
    if fields.get("On") not in _PAGES:
        raise ValueError(f"The tour {key} needs a line “On: PAGE”, one of {', '.join(_PAGES)}.")
    steps: list[Step] = []
    values: dict[str, Value] = {}
    mark: tuple[str, ...] = ()
    jump: int | None = None
    guess, before = None, "{}"
    for section in sections:
        if section.startswith("Guess\n"):
            before = dict(_FIELD.findall(section)).get("Change", "{}")
            guess = prose.belief_of(_FIELD.sub("", section.partition("\n")[2]))
            guess = replace(guess, question=guess.question.replace(_PLUS, _UNBROKEN_PLUS))
            continue
        (heading, *paragraphs), of_step = _section(section)
        values = _state(of_step["State"]) if "State" in of_step else values
        values = values | json.loads(of_step.get("Change", "{}"))
        mark = tuple(of_step["Mark"].split(" | ")) if "Mark" in of_step else mark
        jump = int(of_step["Jump"]) if "Jump" in of_step else jump
        steps.append(Step(heading, paragraphs, values, mark, jump))
    needs = tuple(filter(None, fields.get("Needs", "").split(", ")))
    values = (steps[0].values if steps else {}) | json.loads(before)
    page, sources = _PAGES[fields["On"]], fields.get("Sources", "")
    return Tour(key, title, " ".join(subject), page, steps, guess, values, sources, needs)


def _section(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the heading and the paragraphs of a section, each on a line, and its fields."""
    fields = dict(_FIELD.findall(text))
    heading, _, body = _FIELD.sub("", text).strip().partition("\n")
    paragraphs = [re.sub(r"[ \n]+", " ", part).strip() for part in re.split(r"\n\s*\n", body)]
    words = "\n".join(filter(None, paragraphs)).replace(_PLUS, _UNBROKEN_PLUS)
    words = re.sub("^(Many think:|In fact:)", r"**\1**", words, flags=re.MULTILINE)
    return [heading, *filter(None, words.split("\n"))], fields


def _state(written: str) -> dict[str, Value]:
    """Return the values of a page, written in JSON or as a link."""
    if written.startswith("{"):
        return dict(json.loads(written))
    values, _ = links.read(parse_qsl(urlsplit(written).query, keep_blank_values=True), {})
    return values


TOURS: Mapping[str, Tour] = {
    key: parse(key, (FOLDER / f"{key}.md").read_text("utf-8")) for key in _KEYS
}


# ---- a running tour


def _running(page: Page) -> tuple[Tour | None, int]:
    """Return the tour of the page in the address, and the number of its step, from 1."""
    key, _, number = st.query_params.get(session.TOUR, "").partition(".")
    tour = TOURS.get(key)
    if tour is None or tour.page != page or st.context.is_embedded:
        return None, 0
    step = int(number) if re.fullmatch("[0-9]{1,3}", number, re.ASCII) else 1
    return tour, min(max(step, 1), len(tour.steps))


def restore(page: Page) -> None:
    """Give the page the state of the step in the address, once, before it draws its widgets."""
    tour, number = _running(page)
    if tour is None:
        APPLIED.clear()
    elif APPLIED.get() != (at := f"{tour.key}.{0 if tour.is_asking(number) else number}"):
        is_known = not APPLIED.present and reconnected()  # the browser has newer values
        APPLIED.put(at)
        if not is_known:
            is_asking = tour.is_asking(number)
            step = tour.steps[number - 1]
            session.apply(page, tour.before if is_asking else step.values)
            if step.jump is not None and links.STEP not in st.query_params:
                session.LINKED_STEP.put({"step": step.jump, "key": None, "tourStep": at})


def draw(page: Page) -> None:
    """Draw the step of the tour in the address."""
    tour, number = _running(page)
    if tour is None:
        return
    step = tour.steps[number - 1]
    data = {"tour": tour.key, "title": tour.title, "step": number, "steps": len(tour.steps)}
    data |= {"heading": step.heading, "words": tour.paragraphs(number)}
    data |= {"mark": list(step.mark), "options": []}
    if tour.guess and tour.is_asking(number):
        options = [option.words for option in tour.guess.options]
        data |= {"heading": "Guess first", "words": [tour.guess.question], "options": options}
    components.tour(data, "tour", step=partial(_go, tour))


def _go(tour: Tour) -> None:
    """Go to the step that was pressed, or end the tour at 0."""
    number = st.session_state["tour"]["step"]
    if isinstance(number, dict) and tour.guess:
        given: Any = number.get("guess")
        is_option = type(given) is int and 0 <= given < len(tour.guess.options)
        picked: int = given if is_option else tour.guess.right
        _GUESSED.put({**(_GUESSED.get() or {}), tour.key: picked})
        return
    kept = {name: text for name, text in st.query_params.items() if name in _KEPT}
    is_step = type(number) is int and 1 <= number <= len(tour.steps)
    st.query_params.from_dict(kept | (tour.link(number) if is_step else {}))

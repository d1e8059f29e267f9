"""The guided tours: the states of their steps, the figures in their words, and missing files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from helpers.app_pages import Page, opened
from helpers.payloads import payload_of
from helpers.refusals import refusal
from helpers.tour_figures import figures

import bpeviz
from bpeviz.pretrained import download
from bpeviz.ui.learn import tours
from bpeviz.ui.learn.tours import TOURS, Step, Tour
from bpeviz.ui.widgets import LinkValues

GIVEN = {"1", "2", "3", "12"}
"""Numbers in words that are given, not computed: options, ids and names."""

STEPS = [(tour, number) for tour in TOURS.values() for number in range(1, len(tour.steps) + 1)]

TOLD = {
    "splitting": """{whitespace} pieces; gives {arithmetic}:
        {listed} remain
        {listed} words
        finds {listed} pieces
        {unknown} of its {new} words
        {whitespace} piece.; has {characters}.
        {list A} by; {list B} by""",
    "real-tokenizers": """({gpt2[ids]}); ({cl100k_base[ids]})
        {gpt2[n]} tokens; {cl100k_base[n]} in; {o200k_base[n]} in
        left: {o200k_base[tokens]}.
        text, {gpt2[n]} tokens; text, {cl100k_base[n]} tokens; text, {o200k_base[n]} tokens
        id {cl100k_base[id][0]},; has {cl100k_base[id][1]}.""",
    "sentencepiece": """tokens are {tokens}.
        becomes {tokens}:
        token: {tokens}.
        {steps} merges; {n} tokens: {tokens}.
        becomes {tokens},
        one is lost
        id {id[1]} here; with {control} tokens; by {control}.
        2 to {longest} spaces""",
    "algorithms": """{t ##h[count]} times.; {q ##u[count]} times.
        that is {q ##u[score]},; only {t ##h[score]}.
        with {most} pieces
        {steps} prunings; {least} pieces
        writes {tokens}.""",
}
"""The figures in words, with names in place of numbers, by tour: a line for each step."""


def shown(page: Page) -> list[dict[str, Any]]:
    """Return the payload of the tour that a page draws, if it draws one."""
    drawn = [payload_of(each.proto.bytes) for each in page.get("bidi_component")]
    return [payload for payload in drawn if isinstance(payload, dict) and "tour" in payload]


def numbers(words: str) -> set[str]:
    """Return the numbers in words, without those in quoted tokens and in names such as GPT-2."""
    return {*re.findall(r"(?<![\w-])\d+(?:\.\d+)?", re.sub("`[^`]*`", "", words))}


@pytest.mark.parametrize("tour", TOURS.values(), ids=TOURS)
def test_words_have_the_figures_of_their_steps(tour: Tour, vocabulary_files: None) -> None:
    for step, line in zip(tour.steps, TOLD[tour.key].splitlines(), strict=False):
        words = " ".join(step.paragraphs).replace("\N{NO-BREAK SPACE}", " ")
        values = figures(tour, step)
        for template in line.strip().split("; "):
            assert template.format(**values) in words
        told = " ".join(template.format(**values) for template in line.split("; "))
        assert numbers(words) <= numbers(told) | GIVEN, step.heading
    belief, fact = tour.steps[-1].paragraphs
    assert belief.startswith("**Many think:**")
    assert fact.startswith("**In fact:**")


def test_tour_is_written_in_markdown_alone() -> None:
    link = "http://here/Pre-tokenize?text=a%20b"
    tour = tours.parse(
        "own",
        f"# Mine\n\nOn: Pre-tokenize\n\nA subject.\n\n## First\n\nState: {link}\nMark: .a | .b\n"
        'Jump: 2\n\nOne\nparagraph.\n\nAnother.\n\n## Second\n\nChange: {"text_box": "c"}\n\nEnd.',
    )
    assert (tour.title, tour.subject, tour.page.title) == ("Mine", "A subject.", "Pre-tokenize")
    first, second = tour.steps
    assert first == Step(
        "First",
        ["One paragraph.", "Another."],
        {"text_sample": "own", "text_box": "a b"},
        (".a", ".b"),
        2,
    )
    assert (second.values["text_box"], second.mark, second.jump) == ("c", (".a", ".b"), 2)
    refusal(tours.parse, "own", "# Mine\n\nOn: Nowhere\n\nA subject.\n")


@pytest.mark.parametrize(("tour", "number"), STEPS, ids=[f"{t.key}.{n}" for t, n in STEPS])
def test_page_allows_the_state_of_each_step(tour: Tour, number: int) -> None:
    rest: dict[str, Any] = dict(tour.steps[number - 1].values)
    valid: dict[str, Any] = {}
    for widget in tour.page.widgets(LinkValues(valid, list(rest))):
        if widget.link in rest and widget.allows(rest[widget.link]):
            valid[widget.link] = rest.pop(widget.link)
    assert rest == {}


@pytest.mark.parametrize("tour", TOURS.values(), ids=[*TOURS])
def test_marks_name_keys_of_elements_and_classes_of_components(tour: Tour) -> None:
    def words(paths: str) -> set[str]:
        """Return what files have in quotes: class lists as words, keys as a whole."""
        sources = [path.read_text("utf-8") for path in Path(bpeviz.__file__).parent.glob(paths)]
        quoted = re.findall('["`]([\\w -]+)["`]', "".join(sources))
        return {*quoted, *" ".join(quoted).split()}

    classes, keys = words("components/*/*.html") | words("components/*/*.js"), words("ui/**/*.py")
    marks = " ".join(part for step in tour.steps for part in step.mark)
    for prefix, name in re.findall(r"\.(st-key-)?([\w-]+)", marks):
        assert {name, name.replace("-", " ")} & (keys if prefix else classes), name


@pytest.mark.parametrize("address", ["splitting.0", "nothing.3", "sentencepiece.2", "splitting.x"])
def test_address_of_another_page_or_of_no_step_is_harmless(address: str) -> None:
    steps = [payload["step"] for payload in shown(opened("Pre-tokenize", {"tour": address}))]
    assert steps == ([1] if address.startswith("splitting") else [])


def test_step_without_its_file_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: name != "o200k_base")
    (words,) = TOURS["real-tokenizers"].paragraphs(3)
    assert words.startswith("This step needs the files of GPT-4o (o200k), which this machine")


@pytest.mark.parametrize("tour", TOURS.values(), ids=TOURS)
def test_tour_starts_with_a_guess_and_ends_with_its_sources(tour: Tour) -> None:
    assert tour.guess is not None
    assert re.search(r"\b(19|20)\d\d\b", tour.sources)
    page = opened(tour.page.title, tour.link())
    (asked,) = shown(page)
    assert (asked["heading"], asked["words"]) == ("Guess first", [tour.guess.question])
    assert asked["options"] == [option.words for option in tour.guess.options]
    assert not any(option.answer in str(asked) for option in tour.guess.options)
    wrong = (tour.guess.right + 1) % len(tour.guess.options)
    page.session_state["tour_guessed"] = {tour.key: wrong}
    (told,) = shown(page.run())
    assert told["options"] == []
    assert told["words"][0] == f"**Not quite.** {tour.guess.options[wrong].answer}"
    assert tour.before != tour.steps[0].values


def test_guesses_have_the_figures_of_what_follows(vocabulary_files: None) -> None:
    first = {key: figures(tour, tour.steps[0]) for key, tour in TOURS.items()}
    guesses = {key: tour.guess for key, tour in TOURS.items() if tour.guess}
    right = {key: guess.options[guess.right].words for key, guess in guesses.items()}
    splitting = first["splitting"]
    assert f"gives {splitting['whitespace']} pieces" in guesses["splitting"].question
    assert splitting["arithmetic"] > splitting["whitespace"]
    assert right["splitting"].startswith("More")
    more = len(bpeviz.load("gpt2").encode("    Hello World")) - len(
        bpeviz.load("gpt2").encode("Hello World")
    )
    assert more == 3
    assert right["real-tokenizers"].startswith("Three")
    assert "`q` + `##u`" in right["algorithms"]

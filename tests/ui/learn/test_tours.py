"""The guided tours: the states of their steps, the figures in their words, and missing files."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.app_pages import Page, opened
from helpers.payloads import payload_of

import bpeviz
from bpeviz.pretrained import download
from bpeviz.ui.learn import tours
from bpeviz.ui.learn.tours import TOURS, Tour
from bpeviz.ui.widgets import LinkValues

STEPS = [(tour, number) for tour in TOURS.values() for number in range(1, len(tour.steps) + 1)]

KNOWN = {
    "splitting": """13 pieces; 15:
        9 remain
        9 words
        6 pieces
        3 of its 8 words
        1 piece.; has 7.
        3 by; 5 by""",
    "word-ends": """`e` + `s`; 9 times
        `est` + `</w>`, 9 times
        second merge, `es` + `t</w>`
        4 merges; `lo`, `low`, `lowe` and `lowes`; becomes `lowe` `r`.""",
    "real-tokenizers": """(220 220 220 18435 2159); (262 22691 4435
        11 tokens; 9 in; 4 in
        `123` `456` `7` `·` `202` `6`
        7 tokens
        2118; has 1.""",
    "sentencepiece": """`▁La` `▁c` `asa`
        `▁m` `<unk>` `s`
        `▁m` `<0xC3>` `<0xA1>` `s`
        12 merges; 5 tokens: `▁` `m` `<0xC3>` `<0xA1>` `s`
        `▁` `1` `2`
        one is lost
        195 here; by 3.
        2 to 16 spaces""",
    "algorithms": """`h`, 5 times; 2 times
        2 / (2 × 2) = 0.5; 5 / (5 × 5) = 0.2
        21 pieces
        9 prunings 12 pieces
        1.33 tokens
        `t` `h` `a` `t`
        `prueba` `##s` `de` `[UNK]` `[UNK]`""",
}
"""Figures that were computed apart, by tour: a line for each step."""


@pytest.fixture
def vocabularies() -> None:
    for name in tours.NEEDED:
        try:
            bpeviz.load(name)
        except download.VocabularyUnavailable as error:
            pytest.skip(str(error))


def shown(page: Page) -> list[dict[str, Any]]:
    """Return the payload of the tour that a page draws, if it draws one."""
    drawn = [payload_of(each.proto.bytes) for each in page.get("bidi_component")]
    return [payload for payload in drawn if isinstance(payload, dict) and "tour" in payload]


@pytest.mark.parametrize("tour", TOURS.values(), ids=TOURS)
def test_words_have_the_figures_of_their_steps(tour: Tour, vocabularies: None) -> None:
    assert len(tour.words) == len(tour.steps) + 1
    for number, figures in enumerate(KNOWN[tour.key].splitlines(), 1):
        words = " ".join(tour.told(number)).replace("\N{NO-BREAK SPACE}", " ")
        for figure in figures.strip().split("; "):
            assert figure in words
    *_, belief, fact = tour.told(len(tour.steps))
    assert belief.startswith("**Many think:**")
    assert fact.startswith("**In fact:**")


@pytest.mark.parametrize(("tour", "number"), STEPS, ids=[f"{t.key}.{n}" for t, n in STEPS])
def test_page_allows_the_state_of_each_step(tour: Tour, number: int) -> None:
    rest: dict[str, Any] = dict(tour.steps[number - 1].values)
    valid: dict[str, Any] = {}
    for widget in tour.page.widgets(LinkValues(valid, list(rest))):
        if widget.link in rest and widget.allows(rest[widget.link]):
            valid[widget.link] = rest.pop(widget.link)
    assert rest == {}


def test_step_in_the_address_sets_the_page_once() -> None:
    page = opened("Pre-tokenize", {"tour": "splitting.4"}, text_box="mine", text_sample="own")
    assert page.session_state["text_box"] == tours.MONEY
    (payload,) = shown(page)
    assert (payload["step"], payload["steps"], payload["heading"]) == (
        4,
        8,
        "A rule with exceptions",
    )
    page.session_state["white_space"] = False
    page.run()
    assert page.session_state["white_space"] is False
    page.query_params["tour"] = "splitting.5"
    page.run()
    assert page.session_state["unseen"] == tours.NEW
    assert page.session_state["white_space"] is True
    del page.query_params["tour"]
    assert shown(page.run()) == []


@pytest.mark.parametrize("address", ["splitting", "nothing.3", "word-ends.2", "splitting.x"])
def test_address_of_another_page_or_of_no_step_is_harmless(address: str) -> None:
    steps = [payload["step"] for payload in shown(opened("Pre-tokenize", {"tour": address}))]
    assert steps == ([1] if address.startswith("splitting") else [])


def test_step_without_its_file_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: name != "o200k_base")
    _, words = TOURS["real-tokenizers"].told(3)
    assert words.startswith("This step needs the files of GPT-4o (o200k), which this machine")

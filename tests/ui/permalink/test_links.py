"""Links by name, also typed ones: what each opens, says, and leaves alone."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from helpers import app_pages
from helpers.earlier_links import pack
from helpers.widget_values import opened_address
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.corpus import samples
from bpeviz.room import tickets
from bpeviz.text import clean
from bpeviz.trainers import TRAINERS
from bpeviz.ui import tab_state
from bpeviz.ui.learn import page as learn
from bpeviz.ui.learn import teachers_page
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import links, session
from bpeviz.ui.registry import PAGES
from bpeviz.ui.widgets import LinkValues, SessionValues

BY_TITLE = {page.title: page for page in PAGES}
SPANISH = samples.by_key("spanish").text
LONGEST = "low lower " * 200
PUBLISHED = ["yours", "gpt2", "o200k_base"]


def opened(link: str, **state: Any) -> AbstractContextManager[tuple[str, dict[str, Any]]]:
    """Open an address without a run of its page; see `opened_address`."""
    parts = urlsplit(link)
    page = parts.path.strip("/") or "Train"
    return opened_address(BY_TITLE[page], parts.query, **state)


def last(link: str) -> int:
    """Return the last step of the player in the content of an address."""
    values = session.values_of(BY_TITLE["Train"], urlsplit(link).query)
    return int(BY_TITLE["Train"].content(values).data["player"]["last"])


def ignored(*names: str) -> str:
    listed = ", ".join(f"“{name}”" for name in names)
    return f"Ignored, because this page cannot use it: {listed}."


ADDRESSES: dict[str, tuple[str, dict[str, Any]]] = {
    # what it says, and values of the session
    "/?text=banana%20bandana&algorithm=bpe&size=260": (
        "",
        {
            "text_box": "banana bandana",
            "algorithm": "bpe",
            "linked_size": 260,
            "text_sample": "own",
        },
    ),
    "/?text=2024": ("", {"text_box": "2024", "text_sample": "own"}),
    "/?text=%ED%A0%80": ("", {"text_box": "���"}),  # a lone surrogate
    "/?text=": ("", {"text_box": "", "text_sample": "own"}),
    f"/?text={quote(LONGEST)}": ("", {"text_box": LONGEST}),
    f"/?text={links._text(LONGEST)}": ("", {"text_box": LONGEST}),
    "/?text=~low": ("", {"text_box": "~low"}),
    "/?text=~eNlow": (
        "This link is damaged, so it was ignored. Ask for a new link.",
        {"text_box": None},
    ),
    "/?text=low&text=lower": (ignored("text (given twice)"), {"text_box": None}),
    "/?text=low&text_box=lower": (ignored("text_box=lower"), {"text_box": "low"}),
    "/?text=low&sample=spanish": (ignored("text=low"), {"text_box": SPANISH}),
    "/?text_box=low&trained_on_box=lower": (
        "",
        {"text_box": "low", "trained_on_box": "lower", "trained_on_sample": "own"},
    ),
    "/?sample=spanish&train_on=languages": (
        "",
        {"text_box": SPANISH, "trained_on_sample": "languages"},
    ),
    "/?sample=klingon&train_on=%3Cscript%3E": (
        ignored("sample=klingon", "train_on=<script>"),
        {"text_box": None, "trained_on_sample": None},
    ),
    "/?algoritm=bpe": (ignored("algoritm=bpe"), {"text_box": None}),
    "/?algorithm=<script>&pattern=words": (
        ignored("algorithm=<script>"),
        {"algorithm": None, "pattern": "words"},
    ),
    "/?sample=english-prose&size=2000": (
        "",
        {"linked_size": 2000, "largest": 2000, "more_open": False},
    ),
    "/?size=9999999": (ignored("size=9999999"), {"linked_size": None}),
    "/?size=260&size=300": (ignored("size (given twice)"), {"linked_size": None}),
    "/?size=-4&step=x": (ignored("Step", "size=-4"), {"linked_size": None}),
    f"/?text=low&s={pack({'text_sample': 'spanish'})}": ("", {"text_box": SPANISH}),
    "/?text=low&s=damaged": (
        "This link is damaged, so it was ignored. Ask for a new link.",
        {"text_box": None},
    ),
    "/Compare?text=hello&with=gpt2,o200k_base": (
        "",
        {"text_box": "hello", "compared": PUBLISHED, "text_sample": "own"},
    ),
    "/Compare?with=gpt2,%20o200k_base,yours,gpt2&token_ids=true": (
        "",
        {"compared": PUBLISHED, "token_ids": True},
    ),
    "/Compare?text=hello&with=": ("", {"compared": ["yours"]}),
    "/Compare?with=gpt2,gpt5": (ignored("with=gpt5"), {"compared": ["yours", "gpt2"]}),
    "/Algorithms?algorithm=bpe,bqe,unigram": (
        ignored("algorithm=bqe"),
        {"algorithms": ["bpe", "unigram"]},
    ),
    "/Algorithms?text=banana%20bandana&algorithm=bpe,unigram&size=260": (
        "",
        {"text_box": "banana bandana", "algorithms": ["bpe", "unigram"], "largest": 260},
    ),
    "/Pre-tokenize?text=banana%20bandana&pattern=words,gpt2&size=260": (
        ignored("size=260"),
        {"text_box": "banana bandana", "splits": ["words", "gpt2"]},
    ),
    "/Learn?text=banana%20bandana&chapter=merge&algorithm=bpe": (
        ignored("algorithm=bpe"),
        {"learn_text": "banana bandana"},
    ),
}


@pytest.mark.parametrize("link", ADDRESSES)
def test_typed_address_opens_its_settings_and_names_the_others(link: str) -> None:
    says, values = ADDRESSES[link]
    with opened(link) as (message, state):
        assert message == says
        assert {name: state.get(name) for name in values} == values


def test_typed_size_is_reached_as_in_the_library() -> None:
    assert len(bpeviz.train("banana bandana", vocab_size=260).decisions) == 4
    assert last("/?text=banana%20bandana&algorithm=bpe&size=260") == 4
    assert last("/?text=banana%20bandana&size=260&bpe_min_count=2") == 3
    assert last("/?text=banana%20bandana") == 3


def test_address_of_too_many_names_is_ignored() -> None:
    many_names = "&".join(f"n{i}=1" for i in range(links.MAX_LINK_VALUES))
    with opened(f"/?text=low&{many_names}") as (message, state):
        assert f"{links.MAX_LINK_VALUES + 1:,} names" in message
        assert "text_box" not in state


# ---- addresses that bpeviz reads and writes


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_every_text_is_read_as_it_was_written(text: str) -> None:
    query = links.written({"text_box": text, "names": ["a", text or "b"]}, {})
    values, _ = links.read(parse_qsl(query, keep_blank_values=True), {})
    assert values["text_box"] == clean(text)
    assert ["a", text or "b"] in [*links.meanings(values["names"])] or text in ("a", "", "\0")


@pytest.mark.parametrize("key", TRAINERS)
def test_written_size_names_the_options_that_pages_choose_otherwise(key: str) -> None:
    values: dict[str, links.Value] = {"text_sample": "own", "text_box": "low", "size": 300}
    values["algorithm"] = key
    query = dict(parse_qsl(links.written(values, {})))
    for option in TRAINERS[key].options:
        named = query.get(f"{key}_{option.name}")
        assert named == (None if option.at_first == option.default else str(option.at_first))


def test_short_settings_are_written_by_name() -> None:
    text = {"text_sample": "own", "text_box": "banana bandana", "trained_on_sample": "this"}
    values: dict[str, links.Value] = {**text, "algorithm": "unigram", "size": 40, "decimal": False}
    assert links.written(values, {}) == "text=banana%20bandana&algorithm=unigram&size=40"
    assert links.written({"decimal": True}, {}) == "decimal=true"
    assert links.written(text | {"compared": PUBLISHED}, {}).endswith("&with=gpt2%2Co200k_base")
    assert links.written({"text_box": "a" * links.LONG}, {}) == "text=" + "a" * links.LONG
    assert links.written({"text_box": "low " * links.LONG}, {}).startswith("text=~eN")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_settings_left_out_have_their_first_values(page: Page) -> None:
    app = app_pages.opened(page.path, compared=["yours"])
    first = {name: app.session_state[name] for name in links.UNCHANGED if name in app.session_state}
    assert first.items() <= links.UNCHANGED.items()


# ---- what the tab remembers


def outdated(page: Page) -> list[str]:
    """Return the names in the address that the browser removes after a run of the page."""
    return session.outdated([(each, each.get()) for each in page.widgets(SessionValues())])


def test_address_keeps_typed_names_until_a_change() -> None:
    page = BY_TITLE["Train"]
    with opened("/?text=banana&size=258&step=1&algoritm=bpe") as (_, state):
        assert outdated(page) == outdated(page) == []
        state["text_box"] = "bandana"
        assert outdated(page) == ["text", "size", "step", "algoritm"]
        session.restore(page)
        assert state["text_box"] == "bandana"
    with opened(f"/?s={pack({'text_sample': 'spanish'})}&step=1") as (_, state):
        assert outdated(page) == []
        state["text_sample"] = "russian"
        assert outdated(page) == ["s", "step"]


def test_another_typed_address_replaces_the_values() -> None:
    with opened("/?text=banana") as (_, state):
        pass
    with opened("/?text=lower", **state) as (_, state):
        assert state["text_box"] == "lower"


# ---- what no typed name changes


def test_parameters_with_other_effects_are_not_settings() -> None:
    others = {links.PACKED, links.STEP, session.TOUR, tab_state.MARK}
    others |= {tickets.PARAMETER, learn.PARAMETER}
    others |= {teachers_page.PARAMETER, learn.LARGE}
    assert others <= links.NOT_SETTINGS
    names = {widget.link for page in PAGES for widget in page.widgets(LinkValues({}, []))}
    assert names & links.NOT_SETTINGS == {learn.CHAPTER.link}

"""Addresses that people type: what each opens, says, and leaves alone."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from helpers import app_pages
from helpers.payloads import payloads
from helpers.properties import many
from helpers.text_box import payload, type_text
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz import limits
from bpeviz.corpus import samples
from bpeviz.room import tickets
from bpeviz.trainers import TRAINERS
from bpeviz.ui import tab_state
from bpeviz.ui.inputs.text import TEXT
from bpeviz.ui.learn import page as learn
from bpeviz.ui.learn import teachers_page
from bpeviz.ui.permalink import address, codec, session, typed
from bpeviz.ui.registry import PAGES
from bpeviz.ui.widgets import LinkValues

SHORT = {page.title: page.short for page in PAGES}
FIRST = samples.by_key(TEXT.first).text
SPANISH = samples.by_key("spanish").text
LONGEST = "low lower " * 200
PUBLISHED = ["yours", "gpt2", "o200k_base"]


def opened(link: str, **state: Any) -> AppTest:
    """Open an address with the values that Streamlit reads in its query."""
    parts = urlsplit(link)
    query: dict[str, Any] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        query[name] = [*query[name], value] if name in query else [value]
    return app_pages.opened(parts.path.strip("/") or "Train", query, **state)


def message(app: AppTest) -> str:
    assert not app.exception
    return " ".join(warning.value.replace("\\", "") for warning in app.warning)


def last(app: AppTest) -> int:
    """Return the last step of the player."""
    (player,) = (data for data in payloads(app) if "views" in data)
    return int(player["last"])


def ignored(*names: str) -> str:
    listed = ", ".join(f"“{name}”" for name in names)
    return f"Ignored, because this page cannot use it: {listed}."


TOO_LONG = (
    "The address has more than 2,000 characters under “text”, so the page opened without it. "
    "Paste it here; “Copy link” then makes a link."
)

ADDRESSES: dict[str, tuple[str, dict[str, Any]]] = {
    # what it says, and values of the session
    "/?text=banana%20bandana&algorithm=bpe&size=260": (
        "",
        {"text_box": "banana bandana", "algorithm": "bpe", "size": 260, "text_sample": "own"},
    ),
    "/?text=banana+bandana&size=260&step=2": (
        "",
        {"size": 260, "text_box": "banana bandana"},
    ),
    "/?text=2024": ("", {"text_box": "2024", "text_sample": "own"}),
    "/?text=007": ("", {"text_box": "007"}),
    "/?text=true": ("", {"text_box": "true"}),
    "/?text=a,b%26c%3Dd%23e": ("", {"text_box": "a,b&c=d#e"}),
    "/?text=%E0%A4%B9%E0%A4%BF%0A%F0%9F%91%8B": ("", {"text_box": "हि\n👋"}),
    "/?text=%ED%A0%80": ("", {"text_box": "���"}),  # a lone surrogate
    "/?text=%3Cscript%3Ealert(1)%3C/script%3E": ("", {"text_box": "<script>alert(1)</script>"}),
    "/?text=": ("", {"text_box": "", "text_sample": "own"}),
    f"/?text={quote(LONGEST)}": ("", {"text_box": LONGEST}),
    f"/?text={quote(LONGEST)}a": (TOO_LONG, {"text_box": FIRST, "text_sample": TEXT.first}),
    "/?text=low&text=lower": (ignored("text (given twice)"), {"text_box": FIRST}),
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
        {"text_box": FIRST, "trained_on_sample": "this"},
    ),
    "/?algoritm=bpe": (ignored("algoritm=bpe"), {"text_box": FIRST}),
    "/?algorithm=<script>&pattern=words": (
        ignored("algorithm=<script>"),
        {"algorithm": "bpe", "pattern": "words"},
    ),
    "/?sample=english-prose&size=2000": ("", {"size": 597, "largest": 2000, "more_open": False}),
    "/?size=9999999": (ignored("size=9999999"), {"size": 278}),
    "/?size=260&size=300": (ignored("size (given twice)"), {"size": 278}),
    "/?size=-4&step=x": (ignored("Step", "size=-4"), {"size": 278}),
    "/?algorithm=wordpiece&wordpiece_min_count=2&size=60&counted=false": (
        "",
        {"algorithm": "wordpiece", "wordpiece_min_count": 2, "counted": False},
    ),
    f"/?text=low&s={codec.pack({'text_sample': 'spanish'})}": ("", {"text_box": SPANISH}),
    "/?text=low&s=damaged": (
        "This link is damaged, so it was ignored. Ask for a new link.",
        {"text_box": FIRST},
    ),
    "/Compare?text=hello&with=gpt2,o200k_base": (
        "",
        {"text_box": "hello", "compared": PUBLISHED, "text_sample": "own"},
    ),
    "/Compare?with=gpt2,%20o200k_base,yours,gpt2&token_ids=true&color_every_token=true": (
        "",
        {"compared": PUBLISHED, "token_ids": True, "color_every_token": True},
    ),
    "/Compare?text=hello&with=gpt5": (ignored("with=gpt5"), {"text_box": "hello"}),
    "/Compare?text=hello&with=": ("", {"compared": ["yours"]}),
    "/Inspect?text=banana%20bandana&algorithm=bpe&size=260&inspected_by=gpt2": (
        "",
        {"text_box": "banana bandana", "algorithm": "bpe", "inspected_by": "gpt2"},
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
        {"learn_text": "banana bandana", "learn_chapter": "merge"},
    ),
}


@pytest.mark.parametrize("link", ADDRESSES)
def test_typed_address_opens_its_settings_and_names_the_others(link: str) -> None:
    says, values = ADDRESSES[link]
    app = opened(link)
    assert message(app) == says
    assert {name: app.session_state[name] for name in values} == values
    app.run()
    assert {name: app.session_state[name] for name in values} == values


def test_typed_step_is_where_the_player_opens() -> None:
    (player,) = (
        data for data in payloads(opened("/?text=banana&size=259&step=1")) if "views" in data
    )
    assert player["initialStep"] == 1 < player["last"]


def test_typed_size_is_reached_as_in_the_library() -> None:
    assert len(bpeviz.train("banana bandana", vocab_size=260).decisions) == 4
    assert last(opened("/?text=banana%20bandana&algorithm=bpe&size=260")) == 4
    assert last(opened("/?text=banana%20bandana&size=260&bpe_min_count=2")) == 3
    assert last(opened("/?text=banana%20bandana")) == 3


def test_typed_compare_shows_a_row_for_each_tokenizer() -> None:
    app = opened("/Compare?text=hello&with=gpt2,o200k_base")
    (score,) = (data for data in payloads(app) if "rows" in data)
    assert len(score["rows"]) == 3


def test_address_of_too_many_names_is_ignored() -> None:
    app = opened("/?text=low&" + "&".join(f"n{i}=1" for i in range(codec.MAX_LINK_VALUES)))
    assert "101 names" in message(app)
    assert payload(app)["text"] == FIRST


# ---- addresses that bpeviz reads and writes


NAMES = st.sampled_from(["text", "sample", "size", "with", "step", "chapter", "a b", "ü"])


@given(st.dictionaries(NAMES, st.text(st.characters(exclude_categories=["Cs"]), max_size=9)))
def test_packed_settings_are_those_of_the_address(query: dict[str, str]) -> None:
    link = typed.with_settings("/Compare?" + "&".join(f"{n}={quote(v)}" for n, v in query.items()))
    parts = dict(parse_qsl(urlsplit(link).query, keep_blank_values=True))
    packed = codec.unpack(parts.pop("s")) if "s" in parts else {"typed": True}
    assert parts == {name: query[name] for name in query if name in typed.NOT_SETTINGS}
    assert packed.pop("typed")
    own = {name: value for name, value in query.items() if name not in typed.NOT_SETTINGS}
    assert packed == typed.settings(own.items())


def test_run_sheet_opens_typed_settings() -> None:
    link = typed.with_settings("/Compare?text=banana&with=gpt2&step=4&algoritm=bpe")
    app = opened(link)
    assert message(app) == ignored("algoritm=bpe")
    assert app.session_state["text_box"] == "banana"
    assert app.session_state["compared"] == ["yours", "gpt2"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LINKED = st.fixed_dictionaries(
    {"text_sample": st.just("own"), "text_box": TEXTS, "algorithm": st.sampled_from([*TRAINERS])},
    optional={
        "trained_on_sample": st.sampled_from(["this", "languages"]),
        "size": st.integers(1, limits.VOCABULARY),
        "largest": st.integers(1, limits.VOCABULARY),
        "compared": st.lists(st.sampled_from(PUBLISHED), unique=True),
        "regex": TEXTS,
        "search": TEXTS,
        "token_ids": st.booleans(),
        "color_every_token": st.booleans(),
        "price": st.floats(0, 100),
    },
)


@many()
@given(LINKED)
def test_written_settings_restore_the_values_of_the_link(values: dict[str, Any]) -> None:
    query = typed.written(values, {})
    assert len(query) <= typed.MAX_WRITTEN
    if not query:
        return
    restored, _, too_long = typed.expand(typed.settings(parse_qsl(query, True)), {})
    assert not too_long
    for name, value in values.items():
        assert value in typed.meanings(restored.get(name, typed.UNCHANGED.get(name, "")))
    if "size" in values:  # the page has trained with its own first options
        for option in TRAINERS[values["algorithm"]].options:
            if option.at_first != option.default:
                assert restored[f"{values['algorithm']}_{option.name}"] == str(option.at_first)


def test_short_settings_are_written_by_name() -> None:
    text = {"text_sample": "own", "text_box": "banana bandana", "trained_on_sample": "this"}
    values = text | {"algorithm": "unigram", "size": 40, "search": ""}
    assert typed.written(values, {}) == "text=banana%20bandana&algorithm=unigram&size=40"
    assert typed.written(text | {"compared": PUBLISHED}, {}).endswith("&with=gpt2%2Co200k_base")
    assert typed.written({"text_box": "a" * typed.MAX_WRITTEN}, {}) == ""


@pytest.mark.parametrize("page", [page for page in PAGES if page.title != "Learn"])
def test_settings_left_out_have_their_first_values(page: Any) -> None:
    app = app_pages.opened(page.title, compared=["yours"])
    for name, value in typed.UNCHANGED.items():
        if name in app.session_state:
            assert app.session_state[name] == value


def test_frame_shows_short_texts_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "is_embeddable", lambda: True)
    app = opened("/?text=banana%20bandana&algorithm=bpe&size=260", share=True)
    app.session_state["copy_link"] = {"request": 1}
    app.run()
    query = app.session_state["made_link"]["typed"]
    assert query == "text=banana%20bandana&algorithm=bpe&size=260"
    assert last(opened(f"/?{query}")) == 4


# ---- what the tab remembers


def sent(app: AppTest) -> dict[str, Any]:
    """Return what was sent to the component that stores the state of the tab."""
    *_, state = (data for data in payloads(app) if "long" in data)
    return state


def test_address_keeps_typed_names_until_a_change() -> None:
    app = opened("/?text=banana&size=258&step=1&algoritm=bpe")
    assert sent(app)["outdated"] == []
    app.run()
    assert sent(app)["outdated"] == []
    type_text(app, "bandana")
    assert sent(app)["outdated"] == ["text", "size", "step", "algoritm"]
    for name in sent(app)["outdated"]:
        del app.query_params[name]
    app.run()
    assert sent(app)["outdated"] == []
    assert app.session_state["text_box"] == "bandana"


def test_packed_link_stays_in_the_address() -> None:
    app = opened(f"/?s={codec.pack({'text_sample': 'spanish'})}&step=1")
    type_text(app, "bandana")
    assert sent(app)["outdated"] == []


def test_another_typed_address_replaces_the_values() -> None:
    app = opened("/?text=banana")
    type_text(app, "bandana")
    app.query_params["text"] = "lower"
    app.run()
    assert app.session_state["text_box"] == "lower"
    assert sent(app)["outdated"] == []


# ---- what no typed name changes


def test_parameters_with_other_effects_are_not_settings() -> None:
    others = {session.PARAMETER, session.STEP, session.TOUR, tab_state.MARK}
    others |= {tickets.PARAMETER, learn.PARAMETER}
    others |= {teachers_page.PARAMETER, teachers_page.LARGE}
    assert others <= typed.NOT_SETTINGS
    links = {widget.link for page in PAGES for widget in page.widgets(LinkValues({}, []))}
    assert links & typed.NOT_SETTINGS == {learn.CHAPTER.link}

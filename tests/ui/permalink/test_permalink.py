"""Links: packed values round-trip, invalid links are rejected, and no link breaks a page.

`tests/browser/test_links.py` tests links in a real browser.
"""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from helpers import app_pages
from helpers.app_pages import size_box
from helpers.payloads import payloads
from helpers.properties import pairs
from helpers.text_box import choose_sample, payload, type_text
from hypothesis import example, given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz import limits
from bpeviz.corpus import samples
from bpeviz.text import clean
from bpeviz.trainers import TRAINERS
from bpeviz.ui import markdown
from bpeviz.ui.inputs.text import TextSource
from bpeviz.ui.inputs.training import MORE, SIDE_OPTIONS, option_widget
from bpeviz.ui.opened_tokenizers import Opened
from bpeviz.ui.pages import inspect
from bpeviz.ui.permalink import codec
from bpeviz.ui.permalink.codec import MAX_JSON, MAX_PACKED, LinkError, TooLongError, pack, unpack
from bpeviz.ui.registry import PAGES
from bpeviz.ui.widgets import LinkValues, Widget

PATHS = {page.title: page.path for page in PAGES}
WIDGETS = {page.title: page.widgets for page in PAGES}
WITH_TEXT = [title for title in PATHS if title != "Learn"]
"""The pages with the user's text. `tests/ui/pages/test_learn.py` tests links to chapters."""
every_page = pytest.mark.parametrize("page", WITH_TEXT)

TEXT = "low low lower lowest, newer newest wider 👋 `code` <b> " * 3

MIXED = "".join(Random(7).choices("abcdefghijklmnopqrstuvwxyz ", k=30_000))
"""A text that is too long for a link, since nothing in it repeats."""

# ---- packing

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)  # with lone surrogates
VALUES = st.one_of(
    ANY_TEXT,
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(ANY_TEXT, max_size=5),
)


def cleaned(value: Any) -> Any:
    if isinstance(value, list):
        return [clean(one) for one in value]
    return clean(value) if isinstance(value, str) else value


@given(
    st.dictionaries(st.text(max_size=20).filter(lambda name: name != "form"), VALUES, max_size=8)
)
def test_packed_values_round_trip(values: dict[str, Any]) -> None:
    packed = pack(values)
    assert packed.isascii()
    assert set(packed) <= set("-_") | {c for c in packed if c.isalnum()}
    found = unpack(packed)
    assert found == {name: cleaned(value) for name, value in values.items()}
    assert [type(found[name]) for name in values] == [type(value) for value in values.values()]


@given(
    st.text(max_size=300),
    st.integers(0, 10_000),
    st.one_of(st.characters(), st.just("")),
    st.sampled_from(["instead", "before"]),
)
def test_damaged_link_raises_link_error_or_round_trips(
    text: str, at: int, sign: str, how: str
) -> None:
    packed = pack({"text_box": text, "largest": 300})
    at %= len(packed)
    damaged = packed[:at] + sign + packed[at + (how == "instead") :]
    try:
        found = unpack(damaged)
    except LinkError:
        return
    # Bits after the last byte are unused; every other change is detected.
    assert found == {"text_box": text, "largest": 300}


@given(st.text() | st.text("ABCabc012-_="))
@example("=")
@example("eNo")
@example("A" * 400)
def test_arbitrary_text_raises_link_error(text: str) -> None:
    with pytest.raises(LinkError, match=r"\.$"):
        unpack(text)


def compressed(raw: bytes) -> str:
    """Return bytes in the format of a link."""
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


INVALID_CONTENTS = {
    "a list": b"[1]",
    "a number": b"1",
    "not JSON": b"{'a': 1}",
    "not UTF-8": b'{"a":"\xff"}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "null": b'{"a":null}',
    "nested": b'{"a":{"b":1}}',
    "a list of numbers": b'{"a":[1]}',
    "NaN": b'{"a":NaN}',
    "infinite": b'{"a":1e999}',
    "minus infinity": b'{"a":-Infinity}',
    "a huge number": b'{"a":' + b"9" * 5_000 + b"}",
    "deep": b'{"a":' + b"[" * 100_000,
    "many values": json.dumps({str(i): i for i in range(codec.MAX_LINK_VALUES + 1)}).encode(),
    "a long list": json.dumps({"a": ["b"] * (codec.MAX_LINK_VALUES + 1)}).encode(),
    "empty": b"",
}


@pytest.mark.parametrize("raw", INVALID_CONTENTS.values(), ids=INVALID_CONTENTS)
def test_unexpected_link_content_raises_link_error(raw: bytes) -> None:
    with pytest.raises(LinkError, match="damaged"):
        unpack(compressed(raw))


def test_extra_or_missing_bytes_raise_link_error() -> None:
    raw = base64.urlsafe_b64decode(pack({"text": "low lower lowest"}) + "==")
    for other in (raw + b"\0", raw + raw, raw[:-1], raw[:-4], raw[2:]):
        with pytest.raises(LinkError, match="damaged"):
            unpack(base64.urlsafe_b64encode(other).decode().rstrip("="))


@pytest.mark.parametrize(
    "raw",
    [b'{"a":"' + b"a" * 5_000_000 + b'"}', b"[" * 5_000_000, b'{"a":' + b"9" * 5_000_000],
    ids=["a long text", "brackets", "digits"],
)
def test_decompression_bomb_needs_little_memory(raw: bytes) -> None:
    bomb = compressed(raw)
    assert len(bomb) <= MAX_PACKED
    tracemalloc.start()
    with pytest.raises(LinkError, match="damaged"):
        unpack(bomb)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3 * MAX_JSON


def test_lone_surrogates_are_replaced() -> None:
    assert unpack(compressed(b'{"a":"x\\ud83dy","b":["\\udc00"]}')) == {"a": "x�y", "b": ["�"]}
    assert unpack(pack({"a": "x\ud83dy"})) == {"a": "x�y"}


def test_too_long_values_are_neither_packed_nor_unpacked() -> None:
    for text in (MIXED, "a" * MAX_JSON, "\0" * (MAX_JSON // 6)):
        with pytest.raises(TooLongError):
            pack({"text": text})
    longest = pack({"text": "a" * limits.PAGE_TEXT})
    assert len(longest) < MAX_PACKED
    assert unpack(longest) == {"text": "a" * limits.PAGE_TEXT}
    with pytest.raises(LinkError, match="too long"):
        unpack("A" * (MAX_PACKED + 1))


# ---- pages without a browser


def opened(page: str, packed: str | None = None, step: str | None = None, **state: Any) -> AppTest:
    """Return a page opened by a link, in a new session or one with `state`."""
    query = {"s": packed, "step": step}
    return app_pages.opened(PATHS[page], {k: v for k, v in query.items() if v is not None}, **state)


def copy_link(app: AppTest) -> tuple[str, list[str]]:
    """Press the button; return the packed link and the toasts."""
    app.session_state["copy_link"] = {"request": app.session_state["copy_link"]["request"] + 1}
    app.run()
    assert not app.exception
    return app.session_state["made_link"]["packed"], [one.value for one in app.toast]


def link_message(app: AppTest) -> str:
    """Return the message about the link, if any; check that no other error occurred."""
    assert not app.exception
    assert not app.error
    found = [one.value for one in app.warning]
    assert len(found) <= 1
    return found[0] if found else ""


def check_page_works(app: AppTest) -> None:
    """Check that the page works and reacts to a new choice."""
    choose_sample(app, "russian")
    assert not app.exception
    assert not app.error
    assert payload(app)["text"] == samples.by_key("russian").text
    assert len(payloads(app)) > 1  # the button, and the components of the page


INVALID_LINKS = {
    "not base64": "nonsense!",
    "damaged": pack({"text_sample": "spanish", "largest": 300})[:-3],
    "too long": "A" * (MAX_PACKED + 1),
    "far too long": "A" * 60_000,
    "decompression bomb": compressed(b'{"text_box":"' + b"a" * 5_000_000 + b'"}'),
    "a list": compressed(b"[1,2]"),
}


@pytest.mark.parametrize(("kind", "page"), pairs([*INVALID_LINKS], WITH_TEXT))
def test_damaged_link_shows_one_message_and_page_works(kind: str, page: str) -> None:
    app = opened(page, INVALID_LINKS[kind], step="3", compared=["yours"])
    message = link_message(app)
    assert message.startswith("This link is ")
    assert "ignored" in message
    assert payload(app)["sample"] == "seashells"
    check_page_works(app)


def all_widgets(page: str, **value: Any) -> Iterator[Widget[Any]]:
    """Yield the widgets of a page, for all algorithms and views."""
    some = {
        "text_sample": "own",
        "trained_on_sample": "own",
        "splits": ["regex", "list A", "list B"],
        "algorithms": list(TRAINERS),
    } | value
    stems = ("part_of_", "shown_of_", "inspected_part_of_", "drawn_part_of_")
    stems += ("lock_of_", "random_of_", "side by side of ", "levels of ")
    names = [f"{stem}3" for stem in stems] + ["strength of anything up to 1.0"]
    for pattern in ("regex", "list"):
        for closer in inspect.CLOSER.titles:
            for algorithm in TRAINERS:
                now = some | {"pattern": pattern, "closer": closer, "algorithm": algorithm}
                yield from WIDGETS[page](LinkValues(now, names))


INVALID_VALUES = (
    [],
    {},
    1.5,
    True,
    -(10**30),
    10**30,
    "\0nonsense",
    ["nonsense"],
    ["a", "a"],
    "a" * 2_000_000,
)


@every_page
def test_every_link_value_is_validated(page: str) -> None:
    found = {one.link: one for one in all_widgets(page)}
    assert "text_box" in found
    for name, one in found.items():
        allowed = [value for value in INVALID_VALUES if one.allows(value)]
        # An empty list, a switch, a share and a short text may have any value of their type.
        kinds = {type(value) for value in allowed}
        assert len(kinds) <= 1, name
        assert not one.allows("a" * 2_000_000)
        assert not one.allows(10**30)
        assert not one.allows(["nonsense"])


@every_page
def test_invalid_link_values_are_omitted_with_a_message(page: str) -> None:
    wrong = pack(
        {
            "text_sample": "own",
            "text_box": TEXT,
            "algorithm": "magic",
            "algorithms": ["bpe", "magic"],
            "largest": 10**12,
            "pattern": ["gpt2"],
            "counted": "yes",
            "size": -4,
            "part_of_3": 4,
            "inspected_by": "../../etc/passwd",
            "closer": 3,
            "splits": "all",
            "<b>un`known": "<script>",
            "picked_token": 3,
            "text_file": "not a file",
        }
    )
    app = opened(page, wrong, step="99999999999999999999")
    message = link_message(app)
    assert "cannot use" in message
    assert "more" in message
    assert "<b>" not in message
    assert payload(app)["text"] == TEXT  # valid values are applied
    assert "text_file" not in app.session_state
    check_page_works(app)


@pytest.mark.parametrize("step", ["-1", "x", "1e3", "٣", "9" * 30, ""])
def test_invalid_step_is_omitted(step: str) -> None:
    app = opened("Train", pack({"text_sample": "spanish"}), step=step)
    assert "“Step”" in link_message(app)
    (payload,) = (data for data in payloads(app) if "views" in data)
    assert payload["initialStep"] == 0 < payload["last"]


def test_out_of_range_size_and_step_are_clamped() -> None:
    app = opened("Train", pack({"text_sample": "spanish", "size": 9_999}), step="9999")
    assert link_message(app) == ""
    (payload,) = (data for data in payloads(app) if "views" in data)
    assert size_box(app).value == size_box(app).max
    assert payload["initialStep"] == payload["last"] > 9
    app = opened("Train", pack({"text_sample": "spanish", "size": 3}), step="3")
    assert link_message(app) == ""
    assert size_box(app).value == size_box(app).min


def test_link_step_applies_only_to_its_timeline() -> None:
    app = opened("Train", pack({"text_sample": "spanish"}), step="7")
    (payload,) = (data for data in payloads(app) if "views" in data)
    assert payload["initialStep"] == 7
    choose_sample(app, "russian")
    (payload,) = (data for data in payloads(app) if "views" in data)
    assert payload["initialStep"] == payload["last"] > 7


@every_page
def test_link_is_applied_once_until_another_link(page: str) -> None:
    app = opened(page, pack({"text_sample": "spanish"}), compared=["yours"])
    assert payload(app)["text"] == samples.by_key("spanish").text
    type_text(app, "mine")
    app.run()
    assert payload(app)["text"] == "mine"
    app.query_params["s"] = pack({"text_sample": "own", "text_box": "yours"})
    app.run()
    assert payload(app)["text"] == "yours"
    assert payload(app)["sample"] == "own"
    assert link_message(app) == ""


@every_page
def test_damaged_link_after_a_valid_one_keeps_the_state(page: str) -> None:
    app = opened(page, pack({"text_sample": "spanish"}), compared=["yours"])
    app.query_params["s"] = "nonsense!"
    app.run()
    assert "damaged" in link_message(app)
    assert payload(app)["text"] == samples.by_key("spanish").text


# ---- contents of a link

NOT_LINKED = {
    "text_upload": "a link names a file without its contents",
    "trained_on_upload": "the same",
    "named_files_upload": "the same",
    "adaptive_base_text_upload": "the same",
    "side_adaptive_base_text_upload": "the same",
    "no_vocabulary_size": "a placeholder of a slider",
}


def inputs_of(app: AppTest) -> set[str]:
    """Return the names of all inputs on a page, without tables, charts and buttons."""
    kinds = ("selectbox", "text_area", "text_input", "number_input", "slider", "radio", "toggle")
    kinds += ("button_group", "multiselect", "checkbox", "file_uploader", "select_slider")
    found: set[str] = set()
    for kind in kinds:
        for one in app.get(kind):
            key = getattr(one, "key", None) or one.proto.id.rsplit("-", 1)[-1]
            found.add(key)
    return found


OPEN: dict[str, Any] = dict.fromkeys([MORE.key, *(one.key for one in SIDE_OPTIONS.values())], True)
"""The state in which all settings are unfolded."""

STATES: dict[str, list[dict[str, Any]]] = {
    "Train": [{"algorithm": key} for key in TRAINERS]
    + [{"pattern": "regex"}, {"pattern": "list", "words": "a b"}, {"text_box": TEXT * 400}],
    "Compare": [
        {"trained_on_sample": "languages", "trained_on_box": ""},
        {"compared": ["gpt2", "yours", "cl100k_base"], "baseline": "cl100k_base"},
        {"compared": ["gpt2", "o200k_base"], "token_ids": True},
        {"compared": []},
        {
            "how_many_texts": "many",
            "pasted_texts": "# a\nlow\n# b\nlower",
            "figure_of_texts": "premium",
            "relative_to": "b",
            "texts_sorted_by": "yours",
            "text_in_tokens": "a",
            "figures_of_tokenizers_open": True,
            "worst_lines_open": True,
            "worst_text": "b",
        },
        {
            "how_many_texts": "many",
            "pasted_texts": "# a\nlow\n# b\nlower",
            "figure_of_texts": "cost",
            "price_of_yours": 2.5,
        },
        {"text_box": TEXT * 99},
    ],
    "Inspect": [
        *({"closer": closer, "text_box": TEXT * 9} for closer in inspect.CLOSER.titles),
    ],
    "Algorithms": [{"algorithms": [key]} for key in TRAINERS]
    + [{"algorithms": ["bpe", "unigram"], "text_box": TEXT * 99}],
    "Pre-tokenize": [{"splits": ["regex", "list A", "list B"]}, {"text_box": TEXT * 999}],
}


@pytest.mark.thorough
@every_page
def test_links_contain_and_restore_every_input_of_the_page(page: str) -> None:
    assert page in STATES, "add the states of the new page to STATES"
    all_linked: set[str] = set()
    for changed in STATES[page]:
        state: dict[str, Any] = {
            "compared": ["yours"],
            "text_box": TEXT,
            "text_sample": "own",
            **OPEN,
        } | changed
        app = opened(page, **state)
        assert not app.exception
        packed, _ = copy_link(app)
        linked = unpack(packed)
        all_linked |= {*linked}
        names = {
            key for key in inputs_of(app) if not key.startswith(("vocabulary_size_", "along_"))
        }
        # The name of a sample replaces its text.
        names -= {
            key for key in names if linked.get(key.replace("_box", "_sample"), "own") != "own"
        }
        assert names - {*linked} - {*NOT_LINKED} == set(), changed
        if any(key.startswith("vocabulary_size_") for key in inputs_of(app)):
            assert linked["size"] == size_box(app).value
        # A page that the link opens has the same inputs, and the same link.
        other = opened(page, packed)
        assert link_message(other) == ""
        assert unpack(copy_link(other)[0]) == linked
        assert inputs_of(other) == inputs_of(opened(page, **state))
    assert "text_box" in all_linked


@pytest.mark.parametrize(("key", "page"), pairs([*TRAINERS], ["Train", "Algorithms"]))
def test_trainer_options_round_trip_through_a_link(page: str, key: str) -> None:
    place = "side" if page == "Algorithms" else ""
    state: dict[str, Any] = OPEN | {"algorithm": key, "algorithms": [key]}
    for option in TRAINERS[key].options:
        widget = option_widget(TRAINERS[key], option, place)
        if isinstance(widget, TextSource) or option.name in ("base", TRAINERS[key].largest):
            continue
        choices = option.choices
        state[widget.key] = max(option.minimum, 7) if choices is None else [*choices][-1]
    state |= {"largest": 700, "pattern": "words", "text_box": TEXT, "text_sample": "own"}
    before = opened(page, **state)
    packed, _ = copy_link(before)
    after = opened(page, packed)
    for name in inputs_of(before):
        if name in after.session_state and not name.endswith("_upload"):
            assert after.session_state[name] == before.session_state[name], name
    assert inputs_of(after) == inputs_of(before)


def test_link_excludes_inputs_of_other_pages() -> None:
    app = opened("Train", look_up="a secret", word="secret", pasted_texts="secret", ids_box="1")
    packed, _ = copy_link(app)
    linked = unpack(packed)
    assert "secret" not in str(linked)
    assert len(packed) < 400


def test_link_contains_clamped_numbers() -> None:
    app = opened("Train", largest=99_999, bpe_min_count=-5)
    linked = unpack(copy_link(app)[0])
    assert linked["largest"] == 32_768
    assert linked["bpe_min_count"] == 1


def test_too_long_text_is_omitted_with_messages_to_both_sides() -> None:
    app = opened("Train", text_box=MIXED, text_sample="own", algorithm="unigram", counted=False)
    packed, toasts = copy_link(app)
    assert len(packed) < MAX_PACKED
    assert [markdown.escape("30,000 characters") in toast for toast in toasts] == [True]
    app = opened("Train", packed, step="12")
    assert markdown.escape("Text: 30,000 characters") in link_message(app)
    assert app.radio(key="algorithm").value == "unigram"
    assert payload(app)["sample"] == "seashells"
    check_page_works(app)


def test_link_of_compare_contains_the_morphemes() -> None:
    state = {"morphemes": "jump + s", "morphemes_open": True}
    packed, _ = copy_link(opened("Compare", compared=["yours"], **state))
    app = opened("Compare", packed)
    assert app.text_area(key="morphemes").value == "jump + s"


def test_longest_of_several_texts_is_omitted() -> None:
    state = {
        "text_box": MIXED,
        "text_sample": "own",
        "compared": ["yours"],
    }
    app = opened("Compare", **state, trained_on_box="short", trained_on_sample="own")
    packed, _ = copy_link(app)
    linked = unpack(packed)
    assert linked["trained_on_box"] == "short"
    assert linked["without"] == ["Text: 30,000 characters"]
    app = opened("Compare", packed)
    assert payload(app, "trained_on")["text"] == "short"


@every_page
def test_link_names_an_opened_file(page: str) -> None:
    name = "re`port <b>.txt"
    text = TEXT * 9
    app = opened(page, text_file=text, text_file_name=name, text_box=TEXT, compared=["yours"])
    packed, toasts = copy_link(app)
    assert [markdown.escape(f"{len(text):,} characters") in toast for toast in toasts] == [True]
    assert "newest" not in str(unpack(packed))
    app = opened(page, packed)
    assert markdown.escape(f"Text: {name}, {len(text):,} characters") in link_message(app)
    check_page_works(app)


def test_link_names_opened_tokenizers() -> None:
    mine = Opened("file:1234", "mine.json", bpeviz.train(TEXT, merges=9).tokenizer())
    state: dict[str, Any] = {
        "tokenizers_opened": [mine],
        "compared": ["yours", mine.key],
        "closer": "diagram",
    }
    for page, label in (("Compare", "Tokenizer"), ("Inspect", "Compare with (mirrored below)")):
        app = opened(page, **state, mirrored=mine.key)
        packed, toasts = copy_link(app)
        named = markdown.escape(f"{label}: mine.json")
        assert [named in toast for toast in toasts] == [True]
        app = opened(page, packed)
        assert named in link_message(app)
        check_page_works(app)
    packed, _ = copy_link(opened("Inspect", **state, inspected_by=mine.key))
    assert unpack(packed)["without"] == ["Tokenizer: mine.json"]


def test_message_about_omitted_values_tolerates_any_text() -> None:
    for without in (["a" * 5_000], ["x"] * 90, "not a list", [""], ["**b** `c` <i>\n# d"], 3, True):
        app = opened("Train", pack({"without": without, "text_sample": "spanish"}))
        message = link_message(app)
        assert len(message) < 900
        assert "\n" not in message
        check_page_works(app)


def test_link_contains_sample_names_not_texts() -> None:
    for sample in samples.SAMPLES[::5]:
        app = opened("Pre-tokenize", text_box=sample.text, text_sample=sample.key)
        packed, toasts = copy_link(app)
        assert toasts == []
        assert len(packed) < 200
        app = opened("Pre-tokenize", packed)
        assert payload(app)["text"] == sample.text
        assert payload(app)["sample"] == sample.key


@pytest.mark.parametrize("text", ["", " ", "\0", "\n\n", "a\r\nb", "\ufeffx", "</script>", "�"])
def test_difficult_texts_round_trip_through_a_link(text: str) -> None:
    app = opened("Train", pack({"text_sample": "own", "text_box": text}))
    assert link_message(app) == ""
    assert payload(app)["text"] == text


# ---- sections


@pytest.mark.parametrize(
    ("page", "section", "values"),
    [
        ("Train", "diagram_open", {"drawn_words": "lower"}),
        ("Train", "vocabulary_open", {"vocabulary": "cost"}),
        ("Pre-tokenize", "closer_open", {"entries": 7}),
    ],
)
def test_link_without_section_opens_it_for_a_value_in_it(
    page: str, section: str, values: dict[str, Any]
) -> None:
    text = {"text_sample": "own", "text_box": TEXT}
    assert opened(page, pack(text | values)).session_state[section]
    app = opened(page, pack(text | values | {section: False}))
    assert not app.session_state[section]

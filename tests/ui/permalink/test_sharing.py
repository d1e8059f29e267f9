"""Sharing: short links, the address as others reach it, and QR codes."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
import streamlit as st
from helpers import app_pages
from helpers.app_pages import size_box
from helpers.clock import Clock
from helpers.payloads import drawn
from helpers.text_box import choose_sample
from helpers.widget_values import opened_address, restored
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz import limits
from bpeviz.formats.opened import Opened
from bpeviz.ui import private
from bpeviz.ui.permalink import address, links, session
from bpeviz.ui.permalink.links import ShortLinks
from bpeviz.ui.registry import PAGES

HERE = "http://10.0.0.7:8501/Compare"


# ---- the store


def test_short_link_expires() -> None:
    clock = Clock()
    links = ShortLinks(clock=clock)
    name = links.put("eNabc", "ada")
    assert name is not None
    assert re.fullmatch(r"~[\w-]{12}", name)  # 72 random bits
    assert links.get(name) == "eNabc"
    clock.now += limits.SHORT_LINK_HOURS * 3600 - 1
    assert links.get(name) == "eNabc"
    assert links.put("eNabc", "ada") == name  # the same link again, for longer
    clock.now += 3600
    assert links.get(name) == "eNabc"
    clock.now += limits.SHORT_LINK_HOURS * 3600
    assert links.get(name) is None
    assert links.put("eNabc", "ada") != name
    assert links.get("~unknown") is None


def test_short_links_of_users_have_names_of_their_own() -> None:
    links = ShortLinks()
    assert links.put("eNabc", "ada") != links.put("eNabc", "bob")


def test_short_links_are_bounded_in_number_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "USER_SHORT_LINKS", 3)
    monkeypatch.setattr(limits, "SHORT_LINKS", 5)
    links = ShortLinks()
    adas = [links.put(f"eN{number}", "ada") or "" for number in range(5)]
    assert [links.get(name) for name in adas] == [None, None, "eN2", "eN3", "eN4"]
    # One too many: the user's own go first, then the oldest of all.
    bobs = [links.put(f"eN{number * 11}", "bob") or "" for number in range(2)]
    assert all(map(links.get, (*adas[2:], *bobs)))
    bobs += [links.put("eN99", "bob") or ""]
    left = [bool(links.get(name)) for name in (*adas[2:], *bobs)]
    assert left == [True, True, True, False, True, True]
    first = links.put("eN5", "eve") or ""
    assert [bool(links.get(name)) for name in (*adas[2:], first)] == [False, True, True, True]

    monkeypatch.setattr(limits, "SHORT_LINK_BYTES", 1)
    links = ShortLinks()
    kept = links.put("x" * 300_000, "ada")
    names = [links.put(str(number) * 400_000, "mallory") for number in range(3)]
    assert links.get(kept or "") is not None
    assert [links.get(name or "") is not None for name in names] == [False, False, True]

    assert links.put("x" * (limits.SHORT_LINK * 1_000 + 1), "ada") is None


def test_servers_share_the_short_links_in_a_file(tmp_path: Path) -> None:
    one, other = (ShortLinks(str(tmp_path / "links")) for _ in range(2))
    name = one.put("eNabc", "ada") or ""
    assert other.get(name) == "eNabc"
    assert other.put("eNabc", "ada") == name
    assert (tmp_path / "links").stat().st_mode & 0o777 == 0o600


# ---- the address


LOCAL = "http://localhost:8501/x/Compare"


@pytest.mark.parametrize(
    ("listens", "name", "page", "expected"),
    [
        # Behind a proxy, the browser of another machine knows the address.
        *(("localhost", None, page, page) for page in (HERE, "https://class.example/bpeviz/")),
        ("0.0.0.0", None, LOCAL, "http://192.168.1.23:8501/x/Compare"),
        ("10.0.0.7", None, LOCAL, "http://10.0.0.7:8501/x/Compare"),
        ("fd00::1", None, LOCAL, "http://[fd00::1]:8501/x/Compare"),
        ("fd00::1", "teacher.local", LOCAL, "http://teacher.local:8501/x/Compare"),
        ("localhost", None, LOCAL, "python -m bpeviz room"),
        ("localhost", None, "http://127.0.0.1:8501/", "DEPLOYMENT.md"),
        ("localhost", None, "http://[::1]:8501/", "DEPLOYMENT.md"),
        ("0.0.0.0", "localhost", LOCAL, "--browser.serverAddress"),
    ],
)
def test_address_is_that_of_others_or_has_a_note(
    monkeypatch: pytest.MonkeyPatch, listens: str, name: str | None, page: str, expected: str
) -> None:
    given = {"server.address": listens, "browser.serverAddress": name}
    monkeypatch.setattr(st, "get_option", given.get)
    monkeypatch.setattr(private.config, "is_manually_set", lambda option: bool(given[option]))
    monkeypatch.setattr(address, "network_address", lambda: "192.168.1.23")
    reached = address.reachable(page)
    if expected.startswith("http"):
        assert reached == address.Reachable(expected)
    else:
        assert (reached.page, expected in reached.note) == (page, True)


@pytest.mark.parametrize(
    "page", ["", "javascript:alert(1)", "http://[", "http:///x", "http://a/" + "x" * 999, "//a/b"]
)
def test_invalid_address_of_a_browser_is_ignored(page: str) -> None:
    assert address.reachable(page) == address.Reachable("")


def test_qr_code_is_bounded() -> None:
    code = unquote(address.qr_code(f"{HERE}?s=~abcdefghijkl&step=12"))
    assert "viewBox='0 0 41 41'" in code  # 33 modules, and a margin of four
    # The corner has the finder pattern of every QR code: a ring, seven modules wide.
    assert re.search("M4 4.5h7m[^-]*-33 1h1m5 0h1m", code)
    assert address.qr_code("x" * 106)
    assert address.qr_code("x" * 107) == address.qr_code("x" * 9_000) == ""


# ---- pages


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> ShortLinks:
    store = ShortLinks()
    monkeypatch.setattr(links, "SHORT_LINKS", store)
    return store


opened = partial(app_pages.opened, compared=["yours"])


def press_qr(app: AppTest, page: str) -> dict[str, Any]:
    """Press “QR code”; return the content of the dialog: address, code and notes."""
    request = {"number": 1, "page": page, "step": None, "qr": True}
    app.session_state["copy_link"] = {"request": request}
    app.run()
    assert not app.exception
    codes = [body for each in app.get("html") if 'class="qr"' in (body := each.proto.body)]
    notes = [one.value for one in app.caption if "link" in one.value]
    return {"address": app.code[-1].value, "qr": "".join(codes), "notes": notes}


def warnings(app: AppTest) -> list[str]:
    assert not app.exception
    return [one.value for one in app.warning if "link" in one.value]


TEXT = "".join(f"{number**5} " for number in range(4_000))
"""A text that is too long for a link."""


def test_code_has_the_lasting_address_where_that_is_short_and_is_clean(
    store: ShortLinks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "make", lambda page, longest=0: ("text=low", []))
    dialog = press_qr(opened("pages/Pre-tokenize.py"), page=f"{HERE}\ud800")
    assert dialog["address"] == f"{HERE}\ufffd?text=low"
    assert dialog["notes"] == []
    assert dialog["qr"]


def test_copied_link_says_that_it_is_long_and_once_that_the_server_is_local(
    store: ShortLinks,
) -> None:
    app = opened("pages/Pre-tokenize.py", text_box=TEXT[:6_000], text_sample="own")
    request = {"number": 1, "page": HERE, "step": None, "qr": False}
    app.session_state["copy_link"] = {"request": request}
    assert [f"{session.LONG_ADDRESS:,}" in toast.value for toast in app.run().toast] == [True]
    assert app.session_state["made_link"]["page"] == HERE
    app.session_state["text_sample"] = "spanish"
    for number in (2, 3):
        request = {"number": number, "page": "http://localhost/", "step": None, "qr": False}
        app.session_state["copy_link"] = {"request": request}
        told = ["this machine" in toast.value for toast in app.run().toast]
        assert told == ([True] if number == 2 else [])
    for odd in (None, "x", {}, {"number": "1"}, {"number": 1, "page": 3, "step": 1, "qr": True}):
        app.session_state["copy_link"] = {"request": odd}
        assert not app.run().toast


@pytest.mark.parametrize(
    ("origins", "password", "offered"),
    [
        ("", "", False),
        ("'self'", "", False),
        ("'self' https://course.example", "", True),
        ("https://course.example", "a password", False),
    ],
)
def test_embed_code_is_offered_where_others_may_show_the_app(
    monkeypatch: pytest.MonkeyPatch, origins: str, password: str, offered: bool
) -> None:
    monkeypatch.setenv("BPEVIZ_FRAME_ANCESTORS", origins)
    monkeypatch.setenv("BPEVIZ_PASSWORD", password)
    assert address.is_embeddable() == offered


def test_frame_shows_short_texts_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "is_embeddable", lambda: True)
    typed = {"text": "banana bandana", "algorithm": "bpe", "size": "260"}
    app = opened("Train", typed, copy_link={"request": 1})
    assert app.session_state["made_link"]["query"] == "text=banana%20bandana&algorithm=bpe&size=260"
    assert drawn(app, "fitFrames")["isEmbeddable"]


# ---- values that a link cannot have


def test_longest_texts_and_files_are_left_out_and_named_to_both_sides() -> None:
    page = PAGES[0]
    mixed = "".join(Random(7).choices("abcdefghijklmnopqrstuvwxyz ", k=30_000))
    values = {"text_sample": "own", "text_box": mixed, "algorithm": "unigram"}
    values |= {"trained_on_sample": "own", "trained_on_box": "short"}
    with restored(page, values):
        query, left_out = session.make(page)
    assert left_out == ["Text: 30,000 characters"]
    app = opened("Train", dict(parse_qsl(query)), may_fail=True)
    (warning,) = warnings(app)
    assert "Text: 30,000 characters" in warning.replace("\\", "")
    assert app.session_state["trained_on_box"] == "short"
    assert app.session_state["algorithm"] == "unigram"
    file = {"text_file": TEXT, "text_file_name": "re`port <b>.txt", "look_up": "a secret"}
    with restored(page, {"text_sample": "own", "text_box": "low"}):
        st.session_state.update(file)
        query, left_out = session.make(page)
    assert left_out == [f"Text: re`port <b>.txt, {len(TEXT):,} characters"]
    assert parse_qsl(query) == [("without", left_out[0])], "nor what other pages have"


def test_opened_tokenizers_are_left_out_and_named() -> None:
    by_title = {page.title: page for page in PAGES}
    mine = Opened("file:1234", "mine.json", bpeviz.train("low lower", merges=2).tokenizer())
    state = {"tokenizers_opened": [mine], "compared": ["yours", mine.key], "inspected_by": mine.key}
    for title, named in (("Compare", [("with", "")]), ("Inspect", [])):
        with restored(by_title[title], {}):
            st.session_state.update(state)
            query, left_out = session.make(by_title[title])
            assert left_out == ["Tokenizer: mine.json"]
            assert parse_qsl(query, True) == [*named, ("without", left_out[0])]


@pytest.mark.parametrize("step", ["-1", "x", "1e3", "٣", "9" * 30, ""])
def test_invalid_step_is_named(step: str) -> None:
    with opened_address(PAGES[0], f"sample=spanish&step={step}") as (message, state):
        assert "“Step”" in message
        assert session.LINKED_STEP.key not in state


def test_step_of_a_link_is_clamped_and_applies_only_to_its_text() -> None:
    app = opened("Train", {"sample": "spanish", "size": "9999", "step": "9999"})
    player = drawn(app, "views")
    assert player["initialStep"] == player["last"] > 9
    assert size_box(app).value == size_box(app).max
    app = opened("Train", {"sample": "spanish", "size": "3", "step": "7"})
    assert size_box(app).value == size_box(app).min
    app = opened("Train", {"sample": "spanish", "step": "7"})
    player = drawn(app, "views")
    assert player["initialStep"] == 7
    player = drawn(choose_sample(app, "russian"), "views")
    assert player["initialStep"] == player["last"] > 7

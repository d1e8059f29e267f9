"""The content of a page from its link alone equals what a run of the page draws."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from helpers.app_pages import opened
from helpers.payloads import payloads

from bpeviz.jobs import trainings
from bpeviz.pretrained import download
from bpeviz.room import sheet
from bpeviz.text import as_json
from bpeviz.trainers import TRAINERS
from bpeviz.ui import page_trainings
from bpeviz.ui.learn import prose, tours
from bpeviz.ui.learn.chapters import CHAPTERS
from bpeviz.ui.learn.page import BELIEF, END, PLACES
from bpeviz.ui.permalink import links, session
from bpeviz.ui.registry import PAGES
from bpeviz.ui.room import sheets
from bpeviz.ui.runtime import cache
from bpeviz.ui.runtime.user import acting_for
from bpeviz.views import race

OF_THE_RUN = {"reveal", "initialStep", "opensInMotion", "ways", "remark", "plays", "races"}
"""What a player has of the run of its page: how it opens, and what the user may do next."""

WRITTEN = [
    *(f"/?sample=banana&algorithm={key}" for key in TRAINERS),
    "/",
    "/?text=banana+bandana&size=260",
    "/?text=banana+bandana&size=3",
    "/?text=banana+bandana&size=100000",
    "/?text=banana+bandana&pattern=none",
    "/?text=",
    "/?text=x",
    "/?text=abc",
    "/?text=abc&bpe_min_count=1",
    "/?text=low+5%0Alower+2&counted=true&pattern=whitespace",
    "/?text=not+a+list&counted=true",
    "/?text=banana&train_on=languages",
    "/?text=banana&train_on=spanish&size=400",
    "/?text=banana&train_on=spanish&algorithm=wordpiece",
    "/?text=banana&trained_on_box=low+lower&largest=300",
    "/?text=a1b2a1b2&pattern=regex&regex=[a-z]%7C[0-9]",
    "/?text=thethethe&pattern=words&words=the",
    "/?text=aXb+aXb&special_names=X",
    "/?text=aXb+aXb&special_names=X&split_at_special=false",
    "/?text=banana&largest=257",
    "/?text=banana&largest=3&unknown=1",
    "/?sample=don-quijote&part_of_4=2",
    "/Algorithms",
    "/Algorithms?text=banana+bandana&algorithm=bpe,unigram&size=300",
    "/Algorithms?text=banana+bandana&train_on=seashells",
    "/Algorithms?sample=don-quijote",
    "/Compare",
    "/Compare?text=banana&with=gpt2&size=270",
    "/Compare?text=banana+bandana&compared=yours&token_ids=true",
    "/Compare?sample=don-quijote&shown_of_3=2&compared=o200k_base,gpt2",
    "/Inspect",
    "/Inspect?text=banana+bandana&inspected_by=gpt2",
    "/Inspect?text=banana+bandana&inspected_by=yours&size=260",
    "/Inspect?text=banana&inspected_by=yours&train_on=seashells",
    "/Inspect?text=a%3C%7Cendoftext%7C%3Eb&inspected_by=gpt2&special_tokens=special",
    "/Pre-tokenize",
    "/Pre-tokenize?sample=yao-ming",
    "/Pre-tokenize?sample=don-quijote&side+by+side+of+20=2",
    "/Pre-tokenize?text=a1+b2&splits=none,regex,list+A&regex=[a-z]&words=a1",
    "/Pre-tokenize?text=a1+b2&splits=none,regex&regex=[",
]


def ours() -> list[str]:
    """Return the addresses of run sheets, tours and chapters, which open without a message."""
    written = [part.link for each in sheet.ours().values() for part in each.parts if part.link]
    targets = " ".join(chapter.target(chapter.text) for chapter in CHAPTERS if chapter.target)
    written += re.findall(r"\]\(\.(/[^)]*)\)", prose.MORE.read_text("utf-8") + targets)
    states = ((tour.page, step.values) for tour in tours.TOURS.values() for step in tour.steps)
    for page, values in states:
        name = page.path.removeprefix("pages/").removesuffix(".py")
        query = links.written(values, page.short)
        written.append(f"/{'' if name == 'app' else name}?{query}")
    written += [f"/Learn?chapter={place}" for place in PLACES if not place.endswith((BELIEF, END))]
    return written


OURS = ours()


def content(link: str) -> Any:
    """Return the payload of the player or the score in the content of an address."""
    parts = urlsplit(link)
    page = next(page for page in PAGES if page.title == (parts.path[1:] or "Train"))
    data = page.content(session.values_of(page, parts.query)).data
    return data["player"] if "player" in data else data["score"]


def drawn(link: str) -> dict[str, Any]:
    """Return the payload of the player or the score of a page."""
    parts = urlsplit(link)
    query = dict(parse_qsl(parts.query, True)) | ({"closer": "steps"} if "Inspect" in link else {})
    app = opened(parts.path[1:] or "Train", query, may_fail=link not in OURS)
    assert link not in OURS or not any("address" in each.value for each in app.warning)
    (payload,) = (data for data in payloads(app) if "views" in data or "rows" in data)
    return payload


@pytest.mark.parametrize("link", dict.fromkeys(OURS + WRITTEN))
def test_link_has_the_content_of_its_page(monkeypatch: pytest.MonkeyPatch, link: str) -> None:
    monkeypatch.setattr(race, "STEPS", 9)  # races are not compared, and take long
    page = drawn(link)
    payload = json.loads(as_json(content(link)))
    names = {*payload} - OF_THE_RUN
    assert {name: payload[name] for name in names} == {name: page[name] for name in names}


@pytest.mark.skipif(not download.available("qwen"), reason="not available: qwen")
@pytest.mark.parametrize("begin", ["true", "false"])
def test_content_of_a_conversation_is_what_the_model_reads(begin: str) -> None:
    (view,) = content(f"/Inspect?text=hi&chat=true&begin_answer={begin}")["views"]
    assert "<|im_start|>user\nhi<|im_end|>" in view["text"]
    assert view["text"].endswith("assistant\n") == (begin == "true")


def test_run_sheets_show_every_page() -> None:
    assert {f"/{name}" for name in sheet.PAGES} == {*map(sheets.path_of, PAGES)}


def test_page_does_not_train_where_its_content_cannot() -> None:
    link = "/?text=thethethe&pattern=regex&regex=("
    with pytest.raises(page_trainings.TrainingError, match="regular expression"):
        content(link)
    assert not drawn(link)["last"]


def test_content_is_made_for_a_user_in_any_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*given: Any) -> Any:
        users.append(given[-1])
        return run_job(*given)

    users: list[str] = []
    run_job = trainings.run
    monkeypatch.setattr(trainings, "run", run)
    monkeypatch.setattr(page_trainings, "cache", cache.Cache(cache.BUDGET))
    with ThreadPoolExecutor() as pool, acting_for("leader"):
        pool.submit(copy_context().run, content, "/?text=banana+bandana").result(60)
    assert users == ["leader"]

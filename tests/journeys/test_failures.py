"""A server without vocabularies, and trainings that are stopped, left, or killed."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.serving import OPTIONS, TIMEOUT, Server, serving
from journeys.journey import Browser, Journey
from journeys.people import (
    FIRST,
    Page,
    Rows,
    Stage,
    alert,
    at_rest,
    await_equal,
    await_run,
    button,
    drawn_boundaries,
    expect,
    go_to,
    open_file,
    text_box,
    trained,
    type_text,
)

from bpeviz import components

NOWHERE = "http://127.0.0.1:9"
"""The discard port: all connections are refused."""

PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")

SLOWLY = "/?sample=seashells&algorithm=unigram&largest=8000"
"""A link to the first text, with options by which the training on `letters` takes seconds."""


@pytest.fixture(scope="module")
def offline(browser: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server with an empty cache, without a network and without pip packages."""
    folder = tmp_path_factory.mktemp("offline")
    with serving(
        folder,
        TIKTOKEN_CACHE_DIR=str(folder / "files"),
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(folder),
        NO_PROXY="",
        no_proxy="",
        **dict.fromkeys(PROXIES, NOWHERE),
    ) as server:
        yield server


def letters() -> bytes:
    """Return another text each time: a server keeps the training of a text."""
    return "".join(random.choices("abcdefghijklm ", k=200_000)).encode()


def train_slowly(page: Page, server: Server) -> int:
    """Wait until a page says how many pieces its worker has found; return the suspended worker.

    So the training ends only when the user does something, and takes no time of the machine.
    """
    progress = page.get_by_text(re.compile("Searching pieces|Pruning pieces"))
    end = time.monotonic() + TIMEOUT / 1_000
    while time.monotonic() < end:
        expect(progress).to_be_visible()
        for worker in server.workers():
            with contextlib.suppress(ProcessLookupError):  # the one of a former text has just ended
                os.kill(worker, signal.SIGSTOP)
                page.wait_for_timeout(500)  # the page looks at the progress 2.5 times a second
                if progress.count():
                    return worker
                os.kill(worker, signal.SIGCONT)
    raise AssertionError("The page does not say how many pieces its worker has found.")


def await_no_worker(server: Server) -> None:
    await_equal(server.workers, [])


@pytest.mark.skipif(
    not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists(),
    reason="This system does not list the children of a process.",
)
def test_training_ends_when_its_user_leaves_it_and_can_be_repeated(
    journey: Journey, offline: Server
) -> None:
    with journey.step("A long training shows its progress; nothing above it moves"):
        page = journey.open(SLOWLY, server=offline)
        stage = Stage(page)
        expect(stage.last).to_be_visible()
        await_run(page)
        more = button(page, "More")
        places = at_rest(stage.section)["y"], at_rest(more)["y"]
        open_file(page, "letters.txt", letters())
        train_slowly(page, offline)
        expect(page.get_by_role("progressbar")).to_be_visible()
        assert (at_rest(stage.section)["y"], at_rest(more)["y"]) == places
    with journey.step("Stop ends it, and it begins again where one asks"):
        button(page, "Stop training").click()
        expect(page.get_by_text("Training was stopped.")).to_be_visible()
        expect(page.get_by_role("progressbar")).to_have_count(0)
        await_no_worker(offline)
        button(page, "Train again").click()
        worker = train_slowly(page, offline)
    with journey.step("A worker that is killed is a message, and another one trains"):
        os.kill(worker, signal.SIGKILL)
        expect(alert(page, "Training was interrupted")).to_be_visible()
        button(page, "Train again").click()
        train_slowly(page, offline)
    with journey.step("Another page ends it, and works; on the way back it begins again"):
        go_to(page, "Pre-tokenize")
        expect(page.get_by_role("region", name="The text in each pre-tokenization")).to_be_visible()
        await_no_worker(offline)
        go_to(page, "Train")
        train_slowly(page, offline)
    with journey.step("Another text ends it"):
        button(page, "Back to the text box").click()
        expect(stage.text).to_be_visible()
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
        await_no_worker(offline)
    with journey.step("A closed tab ends it"):
        open_file(page, "letters.txt", letters())
        train_slowly(page, offline)
        page.close()
        await_no_worker(offline)


def test_compare_works_without_vocabularies(journey: Journey, offline: Server) -> None:
    with journey.step("It names what is missing and the remedy, and shows the own tokenizer"):
        page = journey.open("/Compare", server=offline)
        rows = Rows(page)
        for name in ("GPT-2", "GPT-4 (cl100k)"):
            message = alert(page, f"{name} could not be downloaded")
            expect(message).to_contain_text("python -m bpeviz vocabularies")
        training, boundaries = trained(FIRST)
        drawn = boundaries.boundary_mask(len(training.merges)).sum()
        assert drawn_boundaries(rows.text) == drawn
        expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    with journey.step("Another text works"):
        type_text(page, "low lower lowest low")
        expect(rows.text).to_contain_text("lowest")
    with journey.step("One can try again, as often as one likes"):
        retry = button(page, "Try again to download GPT-2")
        retry.click()
        again = alert(page, "Downloading GPT-2").or_(alert(page, "GPT-2 could not"))
        expect(again).to_be_visible()
        expect(retry).to_be_visible()
    with journey.step("A tour says which files it needs"):
        page.goto(f"{offline.address}/Compare?tour=real-tokenizers.2")
        tour = page.get_by_text("needs the files of GPT-2, GPT-4 (cl100k) and GPT-4o (o200k),")
        expect(tour).to_be_visible()


MOUNTED = """async () => {
  const { mount } = await import(location.href);
  const log = [];
  const module = (name) => ({
    default: `<b>${name}</b>`,
    mount: (root, data) => log.push([name, data, root.querySelectorAll("b").length]),
  });
  const place = () => document.body.appendChild(document.createElement("div"));
  const draw = (parentElement, value, loading) => {
    const json = new Blob([JSON.stringify(value)]).stream();
    return new Response(json.pipeThrough(new CompressionStream("deflate"))).arrayBuffer()
      .then((data) => () => mount({ data: new Uint8Array(data), parentElement }, loading, []));
  };
  const [late, removed] = [Promise.withResolvers(), Promise.withResolvers()];
  const [first, second, third, fourth] = [0, 1, 2, 3].map(place);
  const calls = await Promise.all([
    draw(first, "old", late.promise),
    draw(first, "new", late.promise),
    draw(second, "taken away", removed.promise),
    draw(third, "early", Promise.resolve(module("third"))),
    draw(fourth, "none", Promise.reject(new Error("lost"))),
  ]);
  const draws = calls.map((call) => call());
  second.remove();
  await new Promise((done) => setTimeout(done, 50));
  log.push("loaded");
  removed.resolve(module("second"));
  late.resolve(module("first"));
  await Promise.all(draws);
  const said = () => fourth.querySelectorAll("[role=alert] button").length;
  log.push(said());
  await (await draw(fourth, "again", Promise.resolve(module("fourth"))))();
  return [...log, said()];
}"""
"""Draws components whose modules arrive late, in another order, or not at all."""


@pytest.mark.parametrize("name", ["player", pytest.param("host", marks=pytest.mark.thorough)])
def test_script_that_is_late_or_lost_leaves_a_note(
    journey: Journey, name: str, browser: Browser
) -> None:
    page = browser.new_context(**OPTIONS).new_page()
    modules = f"{journey.server.address}/{components.PATH}"
    try:
        with journey.step("Parts are drawn in the order of the page, however late their scripts"):
            page.goto(f"{modules}/{components.module('host').file}")
            first, last = [["first", "new", 1], ["third", "early", 1]], ["fourth", "again", 1]
            assert page.evaluate(MOUNTED) == ["loaded", *first, 1, last, 0]
        with journey.step("A lost script leaves a note in its place, and the rest of the page"):
            lost = f"**/{components.module(name).file}"
            page.route(lost, lambda route: route.abort())
            page.goto(journey.server.address)
            note = page.get_by_role("alert").filter(has_text="This part could not be loaded")
            expect(note.first).to_be_visible()
            if name == "player":
                expect(note).to_have_count(1)
                expect(text_box(page)).to_be_visible()
        with journey.step("A press reloads the page, which is whole again"):
            page.unroute(lost)
            note.first.get_by_role("button", name="Reload the page").click()
            expect(button(page, "Play")).to_be_visible()
            expect(note).to_have_count(0)
    finally:
        page.context.close()

"""Long training in a worker process: progress, stopping, errors, and no leftover processes."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from page_helpers import Page, Player, alert, await_run, box_at_rest, expect, open_file
from serving import Server

from bpeviz.corpus import samples
from bpeviz.ui.permalink.codec import pack

PATIENCE = 180.0
"""Seconds until a worker begins or ends; it has a low priority, so others make it wait."""

FIRST = samples.by_key("seashells").text


@pytest.fixture(autouse=True)
def children_are_listed() -> None:
    if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
        pytest.skip("This system does not list the children of a process.")


SLOW = pack(
    {
        "text_sample": "seashells",
        "algorithm": "bpe",
        "bpe_ties": "largest",
        "pattern": "none",
        "largest": 30_000,
    }
)
"""A link with options with which training on `long_text()` takes many seconds."""


def long_text(letters: int = 400_000) -> bytes:
    """Return another text each time: a server keeps the training of a text that it has seen."""
    return "".join(random.choices("abcdefghijklm ", k=letters)).encode()


def await_workers(server: Server, number: int) -> None:
    """Wait until a server has this number of workers."""
    end = time.monotonic() + PATIENCE
    while len(found := server.workers()) != number:
        assert time.monotonic() < end, f"{len(found)} workers"
        time.sleep(0.05)


def await_training(page: Page, server: Server) -> None:
    """Wait until a page shows that its worker trains."""
    await_workers(server, 1)
    expect(page.get_by_text("Training merges:")).to_be_visible(timeout=1_000 * PATIENCE)


def suspend_workers(server: Server) -> None:
    """Stop the only worker of a server without ending it, so that it cannot end by itself."""
    (worker,) = server.workers()
    os.kill(worker, signal.SIGSTOP)


@pytest.fixture
def trained_page(server: Server, open_at: Callable[..., Page]) -> Page:
    """Open a page whose options make the next training long."""
    await_workers(server, 0)  # of pages that were left
    page = open_at(server, f"/?s={SLOW}")
    Player(page).await_text(FIRST, pattern="none", ties="largest", vocab_size=30_000)
    return page


@pytest.fixture
def training_page(trained_page: Page, server: Server) -> Page:
    """Open a page with a training that takes many seconds."""
    page = trained_page
    open_file(page, "letters.txt", long_text())
    await_training(page, server)
    return page


def test_training_shows_progress_and_ends_when_the_user_leaves_it(
    training_page: Page, server: Server
) -> None:
    page = training_page
    bar = page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    suspend_workers(server)
    page.get_by_role("button", name="Stop training").click()
    expect(page.get_by_text("Training was stopped.")).to_be_visible()
    expect(bar).to_have_count(0)
    await_workers(server, 0)
    page.get_by_role("button", name="Train again").click()
    await_training(page, server)
    # A killed job shows a message.
    os.kill(server.workers()[0], signal.SIGKILL)
    expect(alert(page, "Training was interrupted")).to_be_visible()
    page.get_by_role("button", name="Train again").click()
    await_training(page, server)
    # Another page ends the job.
    suspend_workers(server)
    page.get_by_role("link", name="Pre-tokenize", exact=True).click()
    expect(page.get_by_role("region", name="The text in each pre-tokenization")).to_be_visible()
    await_workers(server, 0)
    page.get_by_role("link", name="Train", exact=True).click()
    await_training(page, server)
    # Another choice ends it.
    suspend_workers(server)
    page.get_by_role("button", name="Back to the text box").click()
    expect(Player(page).text).to_be_visible()
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    await_workers(server, 0)
    # A closed tab ends it.
    await_run(page)  # which draws the button once more
    open_file(page, "letters.txt", long_text())
    await_workers(server, 1)
    suspend_workers(server)
    page.close()
    await_workers(server, 0)


def test_inputs_keep_their_positions_during_training(trained_page: Page) -> None:
    page = trained_page
    below = page.locator(".st-key-more_open")
    expect(below).to_be_visible()
    player = Player(page).section
    top = box_at_rest(player)["y"]
    open_file(page, "letters.txt", long_text(200_000))
    expect(page.get_by_role("button", name="Stop training")).to_be_visible()
    assert box_at_rest(player)["y"] == top
    expect(page.get_by_role("spinbutton", name="Vocabulary size")).to_have_count(1)
    expect(page.get_by_role("spinbutton", name="Vocabulary size")).to_be_disabled()
    before = box_at_rest(below)["y"]
    slider = page.get_by_role("spinbutton", name="Vocabulary size")
    expect(slider).to_be_enabled(timeout=1_000 * PATIENCE)
    expect(page.get_by_role("button", name="Stop training")).to_have_count(0)
    expect(slider).to_have_count(1)
    one_line = 24  # the caption below the slider may take one more
    assert abs(box_at_rest(below)["y"] - before) <= one_line

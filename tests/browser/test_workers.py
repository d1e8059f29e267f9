"""Long training in a worker process: progress, stopping, errors, and no leftover processes."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from page_helpers import (
    ENGLISH,
    Page,
    Player,
    alert,
    choose,
    expect,
    open_file,
    open_more,
    type_number,
)
from serving import Server, serving

from bpeviz.pretokenizers.patterns import PATTERNS

LONG = "".join(random.Random(3).choices("abcdefghijklm ", k=150_000))
PATIENCE = 60.0


@pytest.fixture(scope="module")
def own_server(
    vocabulary_files: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Start a server that no other test uses."""
    if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
        pytest.skip("This system does not list the children of a process.")
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def training_page(own_server: Server, open_at: Callable[..., Page]) -> Page:
    """Open a page with a training that takes many seconds."""
    page = open_at(own_server)
    choose(page, "Text", "English prose")
    Player(page).await_text(ENGLISH)
    choose(page, "Pre-tokenization", PATTERNS["none"].title)
    open_more(page)
    choose(page, "Among equally frequent pairs", "Lexicographically largest")
    type_number(page, "Largest vocabulary", 30_000)
    open_file(page, "letters.txt", LONG.encode())
    expect(page.get_by_text("Training merges:")).to_be_visible()
    assert len(own_server.workers()) == 1
    return page


def await_no_worker(server: Server) -> None:
    """Wait until all workers of a server have ended."""
    end = time.monotonic() + PATIENCE
    while server.workers():
        assert time.monotonic() < end, "a worker was left behind"
        time.sleep(0.05)


def test_training_shows_progress_and_can_be_stopped_and_restarted(
    training_page: Page, own_server: Server
) -> None:
    bar = training_page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    training_page.get_by_role("button", name="Stop training").click()
    expect(training_page.get_by_text("Training was stopped.")).to_be_visible()
    expect(bar).to_have_count(0)
    await_no_worker(own_server)
    training_page.get_by_role("button", name="Train again").click()
    expect(bar).to_be_visible()
    assert len(own_server.workers()) == 1


def test_inputs_keep_their_positions_during_training(own_server: Server, open_at: Any) -> None:
    page = open_at(own_server)
    choose(page, "Text", "English prose")
    Player(page).await_text(ENGLISH)
    below = page.get_by_role("combobox", name="Algorithm")
    expect(below).to_be_visible()
    open_file(page, "letters.txt", LONG.encode())
    expect(page.get_by_role("button", name="Stop training")).to_be_visible()
    expect(page.get_by_role("slider", name="Vocabulary size")).to_have_count(1)
    expect(page.get_by_role("slider", name="Vocabulary size")).to_be_disabled()
    before = below.bounding_box()["y"]
    expect(page.get_by_role("button", name="Stop training")).to_have_count(0)
    expect(page.get_by_role("slider", name="Vocabulary size")).to_have_count(1)
    expect(page.get_by_role("slider", name="Vocabulary size")).to_be_enabled()
    one_line = 24  # the caption below the slider may take one more
    assert abs(below.bounding_box()["y"] - before) <= one_line


def test_another_choice_ends_the_training_job(training_page: Page, own_server: Server) -> None:
    training_page.get_by_role("button", name="Back to the text box").click()
    expect(Player(training_page).text).to_be_visible()
    await_no_worker(own_server)


def test_closed_tab_ends_the_training_job(training_page: Page, own_server: Server) -> None:
    training_page.close()
    await_no_worker(own_server)


def test_page_change_ends_the_training_job(training_page: Page, own_server: Server) -> None:
    training_page.get_by_role("link", name="Pre-tokenize", exact=True).click()
    expect(
        training_page.get_by_role("region", name="The text in each pre-tokenization")
    ).to_be_visible()
    await_no_worker(own_server)


def test_killed_worker_shows_a_message_and_page_works(
    training_page: Page, own_server: Server
) -> None:
    os.kill(own_server.workers()[0], signal.SIGKILL)
    expect(alert(training_page, "Training was interrupted")).to_be_visible()
    training_page.get_by_role("button", name="Back to the text box").click()
    expect(Player(training_page).text).to_be_visible()
    expect(training_page.get_by_test_id("stAlert")).to_have_count(0)

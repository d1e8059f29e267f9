"""Files of users in workers: limits and their sentences, other users, and calls of the server."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import app_pages
from helpers.processes import children, eventually
from helpers.refusals import assert_sentence, refusal

import bpeviz
from bpeviz import formats, limits
from bpeviz.corpus import tables
from bpeviz.corpus.files import CorpusError
from bpeviz.formats import FormatError
from bpeviz.formats.opened import open_files
from bpeviz.jobs import files, trainings
from bpeviz.libraries import pool as libraries
from bpeviz.pretokenizers import expressions
from bpeviz.ui.opened_tokenizers import read_files
from bpeviz.workers.pool import Request

pytestmark = pytest.mark.slow

TABLE = "en,es\nThe river is wide.,El río es ancho.\nThe sea.,El mar.\n"


@pytest.fixture(scope="module", autouse=True)
def no_orphans() -> Iterator[None]:
    before = children()
    yield
    for pool in (files._pool, trainings._pool, libraries._pool, expressions._pool):
        pool.close()
    eventually(lambda: not (children() - before))


@pytest.fixture(autouse=True)
def none_running() -> Iterator[None]:
    yield
    eventually(lambda: not files._pool._running)


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    pages = Path("/proc/self/statm").read_text("utf-8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("megabytes", [0.4, 36])
def test_line_of_many_letters_is_refused_and_takes_no_memory_of_the_server(
    megabytes: float,
) -> None:
    content = b"YWFh" * int(250_000 * megabytes) + b" 1\n"
    refusal(read_files, [("a.json", b"{}")], naming="a.json")  # the worker has started
    before, most = resident(), 0
    longest, last = 0.0, time.monotonic()
    ended = threading.Event()

    def watch() -> None:
        nonlocal most, longest, last
        while not ended.wait(0.01):
            most = max(most, resident())
            longest, last = max(longest, time.monotonic() - last), time.monotonic()

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        refusal(read_files, [("x.tiktoken", content)], naming="x.tiktoken", error=FormatError)
    finally:
        ended.set()
        watching.join()
    assert most - before < 100e6
    assert longest < 1, "other threads run meanwhile"


def test_page_of_another_user_answers_while_a_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "Request", lambda: Request("first"))
    refusals: list[str] = []

    def read_for_long() -> None:
        refusals.append(refusal(files.read, "a", FormatError, sum, range(10**12)))

    reading = threading.Thread(target=read_for_long)
    reading.start()
    eventually(lambda: any(request.child for request in files._pool._running))
    (child,) = (request.child for request in files._pool._running)
    assert child is not None
    eventually(lambda: child._ready)
    os.kill(child.process.pid, signal.SIGSTOP)
    monkeypatch.setattr(files, "Request", lambda: Request("second"))
    assert files.read("t.csv", CorpusError, tables.read_table, "t.csv", TABLE).is_parallel
    app_pages.opened("Pre-tokenize")
    assert reading.is_alive()
    os.kill(child.process.pid, signal.SIGKILL)
    reading.join()
    assert_sentence(*refusals)


def test_what_a_limit_stops_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = refusal(files.read, "a.json", FormatError, bytearray, 2_000_000_000, naming="a.json")
    assert "memory" in sentence
    monkeypatch.setattr(limits, "LIBRARY_SECONDS", 1)
    sentence = refusal(
        files.read, "a.json", FormatError, sum, range(10**12), naming="a.json", error=FormatError
    )
    assert "1 second" in sentence


def test_opened_file_is_that_of_this_process_and_libraries_run_beside_the_server() -> None:
    tokenizer = bpeviz.train("low lower lowest " * 9, vocab_size=262).tokenizer()
    own = formats.dump(tokenizer, "huggingface")["tokenizer.json"]
    unigram = Path(__file__).parents[1] / "fixtures/unigram-bytes.json"
    libraries._pool.close()  # workers of earlier tests
    files._pool.close()
    for content in (own, unigram.read_bytes()):
        opened = files.read("a", FormatError, open_files, [("a.json", content)])
        expected = open_files([("a.json", content)])
        assert opened is not None
        assert expected is not None
        assert opened.key == expected.key
        assert opened.tokenizer.encode("lower low") == expected.tokenizer.encode("lower low")
    assert len(libraries._pool._idle) == 1
    assert len(files._pool._idle) == 1


def test_expression_of_a_file_runs_in_a_worker_of_the_server() -> None:
    ranks = formats.dump(bpeviz.train("low lower", vocab_size=258).tokenizer(), "tiktoken")
    given = [("a.tiktoken", ranks["tokenizer.tiktoken"])]
    message = refusal(read_files, given, "regex", "", "(a", error=FormatError)
    assert "regular expression" in message
    assert read_files(given, "regex", "", r"\w+|\W") is not None


def test_table_is_read_as_in_this_process() -> None:
    table = files.read("t.csv", CorpusError, tables.read_table, "t.csv", TABLE, None, ())
    assert table == tables.read_table("t.csv", TABLE)
    refusal(files.read, "t", CorpusError, tables.read_table, "t.csv", "a\n", naming="t.csv")

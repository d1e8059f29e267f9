"""Hostile tokenizer files are refused with a message, and end at most their own process."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models

from bpeviz import context, limits
from bpeviz.libraries import pool as library_pool
from bpeviz.libraries import worker as library_worker
from bpeviz.libraries.pool import File, LibraryError
from bpeviz.libraries.tokenizer import LibraryTokenizer
from bpeviz.workers import serving
from bpeviz.workers.child import Child
from bpeviz.workers.pool import Pool

pytestmark = pytest.mark.slow

WAIT = 60.0


def tokenizer_json(**parts: Any) -> File:
    """Return a tokenizer.json of single letters with other parts."""
    plain = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], unk_token="a"))
    document = json.loads(plain.to_str()) | parts
    return File(library_worker.HUGGING_FACE, json.dumps(document).encode())


def of_type(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


GROWING = of_type(
    "Sequence",
    normalizers=[of_type("Replace", pattern={"String": "a"}, content="a" * 2_000)] * 3,
)
REFUSED: dict[str, File] = {
    "a table that is none": tokenizer_json(
        normalizer=of_type("Precompiled", precompiled_charsmap="AAAA")
    ),
    "an unknown model": tokenizer_json(model=of_type("Own")),
    "an expression that is none": tokenizer_json(
        pre_tokenizer=of_type("Split", pattern={"Regex": "("}, behavior="Isolated", invert=False)
    ),
    "deep JSON": File(library_worker.HUGGING_FACE, b'{"model":' + b"[" * 200_000),
    "no JSON": File(library_worker.HUGGING_FACE, b"\xff\xfe{}"),
    "a length beyond the end": File(library_worker.SENTENCEPIECE, b"\n\xff\xff\xff\xff\x07a"),
    "lengths inside that lie": File(library_worker.SENTENCEPIECE, b"\n\x08\n\x7fabcdef"),
    "no pieces": File(library_worker.SENTENCEPIECE, b"\x12\x00\x1a\x00"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_hostile_file_is_refused_with_a_message(kind: str) -> None:
    with pytest.raises(LibraryError) as refused:
        LibraryTokenizer("hostile", REFUSED[kind]).encode("a")
    message = str(refused.value)
    assert message
    assert len(message) < 400


def test_library_that_aborts_for_lack_of_memory_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LIBRARY_MEMORY", 200)
    tokenizer = LibraryTokenizer("grows", tokenizer_json(normalizer=GROWING))
    with pytest.raises(LibraryError, match="memory"):
        tokenizer.encode("a")


def test_slow_file_stops_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    grows = of_type("Replace", pattern={"String": "a"}, content="a" * 30)
    slow = of_type("Sequence", normalizers=[grows] * 5)
    tokenizer = LibraryTokenizer("slow", tokenizer_json(normalizer=slow))
    assert tokenizer.encode("b")
    monkeypatch.setattr(limits, "LIBRARY_SECONDS", 0.2)
    monkeypatch.setattr(serving, "WORKER_CLOCK", 60)  # a busy machine gives it little time
    with pytest.raises(LibraryError, match="seconds"):
        tokenizer.encode("aaaa")
    monkeypatch.undo()
    assert tokenizer.encode("b")  # by a new process


def test_ids_with_the_same_spelling_are_in_the_vocabulary() -> None:
    twice = models.Unigram([("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("a", -1.0)], 0)
    content = Tokenizer(twice).to_str().encode()
    tokenizer = LibraryTokenizer("twice", File(library_worker.HUGGING_FACE, content))
    assert [*tokenizer.known_ids()] == [0, 1, 2, 3]
    assert tokenizer.decode(tokenizer.encode("ab")) == "a b"
    assert tokenizer.token_bytes(1) == tokenizer.token_bytes(3) == b"a"


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Return the pool of tokenizer files, without workers."""
    made = library_pool._pool
    made.close()
    yield made
    made.close()


def different(number: int) -> File:
    """Return one of several files that differ."""
    return tokenizer_json(decoder=of_type("Strip", content="x", start=number, stop=0))


def test_workers_are_reused_and_replaced(pool: Pool) -> None:
    ask, first = library_pool.ask, tokenizer_json()
    ids = ask(first, library_worker.IDS, b"ab")
    [(_, child)] = pool._idle
    assert ask(tokenizer_json(), library_worker.IDS, b"ab") == ids
    assert [one for _, one in pool._idle] == [child]
    os.kill(child.process.pid, signal.SIGTERM)
    child.process.wait()
    assert ask(first, library_worker.IDS, b"ab") == ids
    for number in range(limits.LIBRARY_PROCESSES):
        ask(different(number), library_worker.IDS, b"ab")
        ask(different(9), library_worker.IDS, b"ab")
    assert len(pool._idle) == limits.LIBRARY_PROCESSES
    ask(different(9), library_worker.LOAD, reuse=False)
    assert not any(request.key == different(9) for request, _ in pool._idle)


def test_unused_worker_ends(pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    brief = (
        "from bpeviz.libraries import worker as library_worker\n"
        "library_worker.IDLE = 0.5\n"
        "main = library_worker.main\n"
    )
    (tmp_path / "brief.py").write_text(brief, encoding="utf-8")
    child = Child("brief", str(tmp_path / "package" / "file.py"))
    assert child.process.wait(WAIT) not in (0, 1)


def test_user_with_the_most_loaded_files_loses_one(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(user: str, *numbers: int) -> None:
        monkeypatch.setattr(context, "_current", context.Context(lambda: user))
        for number in numbers:
            library_pool.ask(different(number), library_worker.LOAD)

    load("one", 0)
    load("two", *range(1, limits.LIBRARY_PROCESSES))
    load("three", 9)
    assert Counter(one.user for one, _ in pool._idle) == {"one": 1, "two": 2, "three": 1}
    load("three", 10, 11, 12)
    assert Counter(one.user for one, _ in pool._idle) == {"one": 1, "two": 1, "three": 2}
    assert pool._idle[-1][0].key == different(12)

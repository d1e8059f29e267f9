"""Hostile tokenizer files are refused with a message, and end at most their own process."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import pytest
import sentencepiece
from tokenizers import Tokenizer, models

from bpeviz import limits, users
from bpeviz.core import library_pool, library_worker
from bpeviz.core.library_pool import File, LibraryError, Pool
from bpeviz.core.library_tokenizer import LibraryTokenizer
from bpeviz.jobs.errors import is_transient

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
    with pytest.raises(LibraryError, match="seconds"):
        tokenizer.encode("aaaa")
    monkeypatch.undo()
    assert tokenizer.encode("b")  # by a new process


def test_mutated_sentencepiece_models_are_refused_or_read() -> None:
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["low lower lowest", "new newer newest"] * 9),
        model_writer=writer,
        vocab_size=30,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    content = writer.getvalue()
    chance = random.Random(7)
    for _ in range(8):
        mutated = bytearray(content)
        for _ in range(3):
            mutated[chance.randrange(len(content))] = chance.randrange(256)
        try:
            tokenizer = LibraryTokenizer("m", File(library_worker.SENTENCEPIECE, bytes(mutated)))
            text = "lower new"
            ids = tokenizer.encode(text)
            found = tokenizer.boundaries(text)
            assert int(found.ends[-1]) == len(text) or not ids
        except LibraryError:
            continue


def test_ids_with_the_same_spelling_are_in_the_vocabulary() -> None:
    twice = models.Unigram([("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("a", -1.0)], 0)
    content = Tokenizer(twice).to_str().encode()
    tokenizer = LibraryTokenizer("twice", File(library_worker.HUGGING_FACE, content))
    assert [*tokenizer.known_ids()] == [0, 1, 2, 3]
    assert tokenizer.decode(tokenizer.encode("ab")) == "a b"
    assert tokenizer.token_bytes(1) == tokenizer.token_bytes(3) == b"a"


def test_children_are_reused_and_replaced() -> None:
    pool = Pool()
    first, second = tokenizer_json(), tokenizer_json(decoder=of_type("Fuse"))
    try:
        ids = pool.ask(first, library_worker.IDS, b"ab")
        [child] = pool._idle
        assert pool.ask(first, library_worker.IDS, b"ab") == ids
        assert pool._idle == [child]
        os.kill(child.process.pid, signal.SIGTERM)
        child.process.wait()
        assert pool.ask(first, library_worker.IDS, b"ab") == ids
        for number in range(library_pool.AT_ONCE):
            strip = of_type("Strip", content="x", start=number, stop=0)
            pool.ask(tokenizer_json(decoder=strip), library_worker.IDS, b"ab")
            pool.ask(second, library_worker.IDS, b"ab")
        assert len(pool._idle) <= library_pool.AT_ONCE
        pool.ask(first, library_worker.LOAD, reuse=False)
        assert not any(one.file.key == first.key for one in pool._idle)
        old = pool._idle[0]
        old.used -= library_pool.IDLE
        pool._clean()
        assert old not in pool._idle
        assert old.process.poll() is not None
    finally:
        pool.close()
    assert not pool._idle


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    made.close()


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that sets the user of this thread."""
    here = threading.local()
    monkeypatch.setattr(users, "current", lambda: getattr(here, "user", "attacker"))
    return lambda name: setattr(here, "user", name)


def different(number: int) -> File:
    """Return one of several files that differ."""
    return tokenizer_json(decoder=of_type("Strip", content="x", start=number, stop=0))


def test_slow_files_of_a_user_do_not_delay_other_users(
    pool: Pool, user: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_pool, "PATIENCE", 0.01)
    user("someone")
    began = threading.Semaphore(0)
    leave = threading.Event()

    def slow(child: library_pool._Child, operation: int, payload: bytes) -> bytes:
        began.release()
        assert leave.wait(WAIT)
        return b""

    with ThreadPoolExecutor(library_pool.AT_ONCE) as threads:
        with monkeypatch.context() as slowly:
            slowly.setattr(library_pool._Child, "ask", slow)
            attacks = [
                threads.submit(pool.ask, different(number), library_worker.LOAD)
                for number in range(library_pool.AT_ONCE)
            ]
            for _ in range(library_pool.SHARE):
                assert began.acquire(timeout=WAIT)
        assert pool.ask(tokenizer_json(), library_worker.IDS, b"ab")
        ended = as_completed(attacks, WAIT)
        refused = [next(ended).exception() for _ in attacks[library_pool.SHARE :]]
        leave.set()
        assert [one.exception() for one in ended] == [None] * library_pool.SHARE
    for error in refused:
        assert error is not None
        assert "your other tabs" in str(error)
        assert is_transient(error)


def test_user_with_the_most_loaded_files_loses_one(pool: Pool, user: Callable[[str], None]) -> None:
    user("one")
    pool.ask(tokenizer_json(), library_worker.LOAD)
    user("two")
    for number in range(library_pool.AT_ONCE - 1):
        pool.ask(different(number), library_worker.LOAD)
    user("three")
    pool.ask(different(9), library_worker.LOAD)
    assert Counter(child.user for child in pool._idle) == {"one": 1, "two": 2, "three": 1}
    for number in range(10, 13):
        pool.ask(different(number), library_worker.LOAD)
    assert Counter(child.user for child in pool._idle) == {"one": 1, "two": 1, "three": 2}
    assert pool._idle[-1].file.key == different(12).key

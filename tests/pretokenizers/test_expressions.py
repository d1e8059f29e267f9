"""Child processes for expressions that are not ours: same results, and no harm to the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

import pytest
import reference
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from properties import examples
from texts import ANY_TEXT

from bpeviz import limits
from bpeviz.pretokenizers import expressions, regex_worker
from bpeviz.pretokenizers.patterns import SplitError, pretokenize
from bpeviz.workers.pool import BusyError, Pool

ROOT = Path(__file__).parents[2]
PATIENT = 60.0
"""Seconds that nothing here takes, even on a busy machine."""

SLOW_TO_COMPILE = "((){50000})"

ATOMS = st.sampled_from(
    ["a", "b", ".", r"\w", r"\s", r"\p{L}", "[^a]", "[ab]", r"\b", "^", "$", "é", "👍", r"\X", ""]
)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        st.tuples(
            st.sampled_from(["(?:{})", "({})", "(?={})", "(?!{})", "(?<={})", "(?>{})", "(?r:{})"]),
            inner,
        ).map(lambda both: both[0].replace("{}", both[1])),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{1,3}", "*?", "++"])).map(
            lambda both: f"(?:{both[0]}){both[1]}"
        ),
        st.tuples(inner, st.sampled_from(["{e<=1}", "{s<=1}"])).map(
            lambda both: f"(?:{both[0]}){both[1]}"
        ),
    ),
    max_leaves=6,
)


@pytest.fixture(autouse=True)
def pool() -> Iterator[Pool]:
    """Return the pool of expressions, without workers."""
    made = expressions._pool
    made.close()
    expressions._refused.clear()
    yield made
    made.close()


def children(pool: Pool) -> list[int]:
    return [child.process.pid for _, child in pool._idle]


def wait_until(done: object, seconds: float = PATIENT) -> None:
    until = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        assert time.monotonic() < until
        time.sleep(0.01)


def exists(process: int) -> bool:
    try:
        state = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        )
    except OSError:
        return False
    return state != "Z"  # ended; nobody has asked for its exit code


# ---- Results


@settings(max_examples=examples(300))
@given(EXPRESSIONS, ANY_TEXT | st.text("ab 👍\ud83d\udc4d", max_size=30))
@example("(?r)b.", "abcabc")
@example("a*", "aab")
@example("(?=b)", "abab")
def test_child_splits_as_the_definition_does(expression: str, text: str) -> None:
    if not expression:
        return
    try:
        expected = reference.split_by_expression(expression, text)
    except regex.error as error:
        with pytest.raises(SplitError, match=regex.escape(str(error))):
            pretokenize(text, "regex", expression, PATIENT)
    else:
        assert pretokenize(text, "regex", expression, PATIENT) == expected


@pytest.mark.parametrize("expression", [".", r"\w+", "(?!)", r"\s"])
def test_child_splits_a_long_text(expression: str) -> None:
    text = "It was the best of times, 👍 it was the worst.\n" * 4_000
    expected = reference.split_by_expression(expression, text)
    assert pretokenize(text, "regex", expression, PATIENT) == expected


# ---- Limits


def test_slow_compiling_ends_with_its_child(pool: Pool) -> None:
    expressions.run(regex_worker.ENDS, "a", "a", PATIENT)
    (before,) = children(pool)
    with pytest.raises(TimeoutError):
        expressions.run(regex_worker.ENDS, SLOW_TO_COMPILE, "", 0.1)
    assert not exists(before)
    assert expressions.run(regex_worker.ENDS, "a", "ab", PATIENT) == [1, 2]
    assert children(pool) != [before]


def test_request_that_took_too_long_is_refused_at_once(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TimeoutError):
        expressions.run(regex_worker.ENDS, SLOW_TO_COMPILE, "", 0.1)
    with monkeypatch.context() as patch:
        patch.setattr(pool, "_start", None)  # none is needed
        with pytest.raises(TimeoutError):
            expressions.run(regex_worker.ENDS, SLOW_TO_COMPILE, "", 0.1)
    assert expressions._refused.ttl == expressions.REMEMBERED


def test_memory_error_of_a_child_is_reported(pool: Pool) -> None:
    with pytest.raises(MemoryError):
        expressions.run(regex_worker.ENDS, "((a{1000}){1000}){1000}", "", PATIENT)
    assert expressions.run(regex_worker.ENDS, "a", "ab", PATIENT) == [1, 2]


def test_child_that_has_grown_is_replaced(pool: Pool) -> None:
    seen = set()
    for i in range(12):
        assert expressions.run(regex_worker.ENDS, f"(a){{{60_000 + i}}}", "a", PATIENT) == [1]
        seen.update(children(pool))
    assert len(seen) > 1


def test_parent_caches_no_compiled_expression() -> None:
    before = set(regex._main._cache)
    for i in range(20):
        pretokenize("ab", "regex", f"a|b{{{i}}}x")
    assert set(regex._main._cache) == before


def test_child_that_was_killed_is_replaced(pool: Pool) -> None:
    expressions.run(regex_worker.ENDS, "a", "a", PATIENT)
    (idle,) = children(pool)
    os.kill(idle, signal.SIGTERM)
    wait_until(lambda: not exists(idle))
    assert expressions.run(regex_worker.ENDS, "a", "ab", PATIENT) == [1, 2]


def test_crash_of_a_child_is_reported(pool: Pool) -> None:
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(expressions.run, regex_worker.ENDS, SLOW_TO_COMPILE, "", PATIENT)
        wait_until(
            lambda: pool._running and pool._running[0].child and pool._running[0].child._ready
        )
        os.kill(pool._running[0].child.process.pid, signal.SIGTERM)
        with pytest.raises(MemoryError):
            asked.result(PATIENT)


# ---- Several users


@pytest.mark.large
def test_slow_requests_leave_their_places_to_others(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_patience", PATIENT)
    number = 3 * limits.EXPRESSIONS_AT_ONCE
    with ThreadPoolExecutor(number) as threads:
        attacks = [
            threads.submit(expressions.run, regex_worker.ENDS, SLOW_TO_COMPILE, str(i), 5.0)
            for i in range(number)
        ]
        wait_until(lambda: len(pool._running) >= limits.EXPRESSIONS_AT_ONCE)
        assert expressions.run(regex_worker.ENDS, "a", "ab", PATIENT) == [1, 2]
        errors = [attack.exception(PATIENT) for attack in attacks]
    assert all(isinstance(error, TimeoutError) for error in errors)
    assert any(isinstance(error, BusyError) for error in errors)
    assert pool._running == []


def test_threads_share_the_children(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_patience", PATIENT)

    def ask(i: int) -> list[int]:
        return expressions.run(regex_worker.ENDS, f"a{{{i % 10}}}", "a" * i, PATIENT)

    with ThreadPoolExecutor(16) as threads:
        found = [*threads.map(ask, range(100))]
    split = [reference.split_by_expression(f"a{{{i % 10}}}", "a" * i) for i in range(100)]
    assert found == [[*accumulate(map(len, pieces))] for pieces in split]
    assert len(children(pool)) <= limits.EXPRESSIONS_AT_ONCE


# ---- The ends of processes


def run_script(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", source],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENT,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_process_uses_children_of_its_own() -> None:
    done = run_script(
        """
import os
from bpeviz.pretokenizers import expressions
from bpeviz.pretokenizers.patterns import pretokenize

assert pretokenize("ab", "regex", "a") == ["a", "b"]
own = expressions._pool._idle[0][1].process.pid
if (forked := os.fork()) == 0:
    assert not expressions._pool._idle
    assert pretokenize("ab", "regex", "a") == ["a", "b"]
    assert expressions._pool._idle[0][1].process.pid != own
else:
    assert os.waitpid(forked, 0)[1] == 0
    assert pretokenize("ab", "regex", "b") == ["a", "b"]
    assert expressions._pool._idle[0][1].process.pid == own
    print(own)
"""
    )
    assert (done.returncode, done.stderr) == (0, "")
    wait_until(lambda: not exists(int(done.stdout)))


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs a POSIX system")
def test_child_ends_while_it_compiles_if_its_parent_was_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", """
import threading, time
from bpeviz import users
from bpeviz.pretokenizers import expressions, regex_worker

threading.Thread(
    target=expressions.ends, args=("((){50000})", "", 0.5), daemon=True
).start()
while not (expressions._pool._running and expressions._pool._running[0].child):
    time.sleep(0.01)
print(expressions._pool._running[0].child.process.pid, flush=True)
time.sleep(60)
"""],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    wait_until(lambda: not exists(child))


def test_other_threads_run_while_an_expression_compiles() -> None:
    ticks = 0
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(expressions.ends, SLOW_TO_COMPILE, "x", 0.5)
        while not slow.done():
            ticks += 1
            threading.Event().wait(0.01)
    assert isinstance(slow.exception(), TimeoutError)
    assert ticks > 5

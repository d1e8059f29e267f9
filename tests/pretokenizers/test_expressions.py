"""Child processes for expressions that are not ours: same results, and no harm to the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import reference
import regex
from helpers.processes import PATIENCE, eventually, runs
from helpers.properties import examples
from helpers.texts import ANY_TEXT
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpeviz.pretokenizers import expressions, regex_worker
from bpeviz.pretokenizers.patterns import SplitError, pretokenize, pretokenize_each
from bpeviz.workers.pool import Pool

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
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
            pretokenize(text, "regex", expression, PATIENCE)
    else:
        assert pretokenize(text, "regex", expression, PATIENCE) == expected
        batch = pretokenize_each([text, "", text], "regex", expression)
        assert [*batch] == [expected, [], expected]


# ---- Limits


def test_slow_compiling_ends_with_its_child(pool: Pool) -> None:
    expressions.run(regex_worker.ENDS, "a", "a", PATIENCE)
    (before,) = children(pool)
    with pytest.raises(TimeoutError):
        expressions.run(regex_worker.ENDS, SLOW_TO_COMPILE, "", 0.1)
    assert not runs(before)
    assert expressions.run(regex_worker.ENDS, "a", "ab", PATIENCE) == [1, 2]
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


def test_child_that_has_grown_is_replaced(pool: Pool) -> None:
    seen = set()
    for i in range(12):
        assert expressions.run(regex_worker.ENDS, f"(a){{{60_000 + i}}}", "a", PATIENCE) == [1]
        seen.update(children(pool))
    assert len(seen) > 1


def test_parent_caches_no_compiled_expression() -> None:
    before = set(regex._main._cache)
    for i in range(20):
        pretokenize("ab", "regex", f"a|b{{{i}}}x")
    assert set(regex._main._cache) == before


def test_crash_of_a_child_is_reported(pool: Pool) -> None:
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(expressions.run, regex_worker.ENDS, SLOW_TO_COMPILE, "", PATIENCE)
        eventually(
            lambda: pool._running and pool._running[0].child and pool._running[0].child._ready
        )
        os.kill(pool._running[0].child.process.pid, signal.SIGTERM)
        with pytest.raises(MemoryError):
            asked.result(PATIENCE)


# ---- The ends of processes


def run_script(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", source],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
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
    eventually(lambda: not runs(int(done.stdout)))


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs a POSIX system")
def test_child_ends_while_it_compiles_if_its_parent_was_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", """
import threading, time
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
    eventually(lambda: not runs(child))


def test_other_threads_run_while_an_expression_compiles() -> None:
    ticks = 0
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(expressions.ends, SLOW_TO_COMPILE, "x", 0.5)
        while not slow.done():
            ticks += 1
            threading.Event().wait(0.01)
    assert isinstance(slow.exception(), TimeoutError)
    assert ticks > 1

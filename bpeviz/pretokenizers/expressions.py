"""Run regular expressions that are not ours in workers, which can be killed.

While `regex` compiles an expression, no other thread of its process runs: `((){50000})` would stop
a server for minutes. Compiled expressions can also be large. So expressions from users, links and
files are compiled and run in a few workers (`bpeviz.pretokenizers.regex_worker`), within limits of
time and memory. This process compiles none of them. Word lists are applied there as well: long
words that almost match take seconds.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock

import regex
from cachetools import TTLCache

from bpeviz import context, limits
from bpeviz.pretokenizers import regex_worker
from bpeviz.workers.child import Child, StartError
from bpeviz.workers.pool import BusyError, Places, Pool, Request

REMEMBERED = 30.0
"""Seconds for which a request that took too much time or memory is refused without another try."""

REQUEST_CLOCK = 2
"""A request may take this many times its processor seconds by the clock, on a busy machine."""

_TEXT, _MATCH, _SECOND = 32, 256, 256 << 20
"""Bytes of memory added for each byte of the text, to hold it and to match groups as in `(a|b)*`,
and the most that is added for matches, for each second of the time limit."""


class InvalidExpressionError(ValueError):
    """A text is not a regular expression; the message is that of `regex`."""


_pool = Pool(
    lambda key: Child(regex_worker.__name__, regex.__file__),
    Places(limits.EXPRESSIONS_AT_ONCE, limits.USER_EXPRESSIONS),
    Places(limits.SLOW_EXPRESSIONS_AT_ONCE),
    patience=limits.EXPRESSION_WAIT,
    large=64 << 20,
)
_refused: TTLCache[tuple[int, bytes, bytes], tuple[float, type[Exception]]] = TTLCache(
    1_000, REMEMBERED
)
_lock = Lock()


def run(
    operation: int,
    expression: str,
    texts: str | Sequence[str],
    seconds: float,
    user: str | None = None,
) -> list[int]:
    """Return the result of an operation of `bpeviz.pretokenizers.regex_worker`.

    Args:
        operation: The operation.
        expression: A regular expression.
        texts: The text to apply it to, or several, whose results follow each other.
        seconds: The limit of processor time, which includes compiling.
        user: The user, or None for that of this thread.

    Raises:
        InvalidExpressionError: `expression` is not a regular expression.
        RecursionError: It is nested too deeply.
        TimeoutError: It took longer than the time limit.
        BusyError: Slow requests take all the time.
        MemoryError: It needs too much memory.
        StartError: No worker could be started, or it had no time.
    """
    texts = [texts] if isinstance(texts, str) else texts
    pattern, *raws = (part.encode("utf-8", regex_worker.ERRORS) for part in (expression, *texts))
    key = operation, blake2b(pattern).digest(), blake2b(b"\xff".join(raws)).digest()
    with _lock:
        limit, refusal = _refused.get(key, (0.0, TimeoutError))
    if seconds <= limit:
        raise refusal
    size = sum(map(len, raws))
    more = _TEXT * size + min(_MATCH * size, int(_SECOND * seconds))
    memory = (limits.EXPRESSION_MEMORY << 20) + more
    try:
        with _pool.worker(Request(user)) as child:
            is_result, content = child.ask(
                operation,
                pattern,
                *raws,
                seconds=seconds,
                clock=REQUEST_CLOCK * seconds,
                memory=memory,
            )
    except (TimeoutError, MemoryError) as error:
        if not isinstance(error, BusyError | StartError):
            kind = MemoryError if isinstance(error, MemoryError) else TimeoutError
            with _lock:
                _refused[key] = seconds, kind
        raise
    if is_result:
        numbers = array("q")
        numbers.frombytes(content[0])
        return numbers.tolist()
    if content:
        raise InvalidExpressionError(str(content[0], "utf-8"))
    raise RecursionError


def ask(operation: int, expression: str, texts: str | Sequence[str], seconds: float) -> list[int]:
    """Run an expression as `run` does; a worker leaves that to the server."""
    numbers: list[int] = context.current().call(run, operation, expression, texts, seconds)
    return numbers


def ends(expression: str, texts: str | Sequence[str], seconds: float) -> list[int]:
    """Return the ends of the matches of an expression and of the parts between them.

    The arguments and errors are those of `run`.
    """
    return ask(regex_worker.ENDS, expression, texts, seconds)


def spans(expression: str, text: str, seconds: float) -> list[int]:
    """Return the start and the end of each match of an expression, in one list.

    The arguments and errors are those of `run`.
    """
    return ask(regex_worker.SPANS, expression, text, seconds)


def word_ends(words: str, text: str, seconds: float) -> list[int]:
    """Return the ends of the pre-tokens of a text with a list of words.

    The arguments and errors are those of `run`; words: the words, with white space between.
    """
    return ask(regex_worker.WORD_ENDS, words, text, seconds)

"""The child process of `bpeviz.pretokenizers.sandbox`: it runs expressions that are not ours.

The parent starts this file as a script, so it imports only `regex` and the standard library. A
request is a header, the expression and the text; an answer is a header and its content. One byte
announces that the child is ready. Texts are in UTF-8, and lone surrogates are kept. No pickles are
exchanged.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import struct
import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

if __name__ == "__main__":
    sys.path.append(sys.argv[1])  # the folder of the package, since `-S` omits site-packages

import regex

ENDS, ALONE, WORD_ENDS, SPANS = range(4)
"""Operations: find the ends of the pre-tokens; check that each character alone is a match; find the
ends of the pre-tokens of a word list, which is sent in place of the expression; find the start and
the end of each match."""

RESULT, INVALID, NESTED, MEMORY = range(4)
"""Answers: a result, or the reason why there is none."""

REQUEST = struct.Struct("<BdQQQ")
"""The operation, the limits in seconds and bytes, the sizes of expression and text in bytes."""

ANSWER = struct.Struct("<B?Q")
"""The answer, whether the child exits after it, and the size of its content in bytes.

The content of a result is int64; that of an invalid expression is the error message.
"""

ERRORS = "surrogatepass"

OUT_OF_MEMORY = 3
"""The exit code of a child that has no memory left to read a request or write an answer."""

GRACE = 1.0
"""Seconds after the time limit at which a child exits by itself: its parent has ended."""

_TEXT, _MATCH, _SECOND = 32, 256, 256 << 20
"""Bytes of memory added for each byte of the text, to hold it and to match groups as in `(a|b)*`,
and the most that is added for matches, for each second of the time limit."""

_LARGE = 64 << 20
"""Bytes of memory from which a child exits after its answer, so that the next one is small."""

_COMPILED = 16
"""The largest number of compiled expressions that a child caches."""


def ends(compiled: regex.Pattern[str], text: str) -> Iterator[int]:
    """Yield the ends of the pre-tokens: the matches and the parts between them."""
    end = 0
    for match in compiled.finditer(text):
        start, stop = match.span()
        if start > end:
            yield start
            end = start
        if stop > end:
            yield stop
            end = stop
    if end < len(text):
        yield len(text)


def spans(compiled: regex.Pattern[str], text: str) -> Iterator[int]:
    """Yield the start and the end of each match from left to right, as `ends` finds them."""
    end = 0
    for match in compiled.finditer(text):
        if match.end() >= end:
            yield max(match.start(), end)
            yield (end := match.end())


@lru_cache(_COMPILED)
def _listed(expression: str) -> tuple[frozenset[str], dict[str, list[int]]]:
    """Return the words of a list, and the lengths of those with each first character."""
    words = frozenset(expression.split())
    lengths: dict[str, set[int]] = {}
    for word in words:
        lengths.setdefault(word[0], set()).add(len(word))
    return words, {first: sorted(found, reverse=True) for first, found in lengths.items()}


def word_ends(expression: str, text: str) -> Iterator[int]:
    """Yield from the left the end of the longest listed word at each place, or of a character."""
    words, lengths = _listed(expression)
    at = 0
    while at < len(text):
        for length in lengths.get(text[at], ()):
            if text[at : at + length] in words:
                break
        else:
            length = 1
        at = min(at + length, len(text))  # a shorter word may have been found at the end
        yield at


@lru_cache(_COMPILED)
def _compiled(expression: str) -> regex.Pattern[str]:
    return regex.compile(expression, cache_pattern=False)  # the cache of `regex` holds 500


def _answer(operation: int, expression: str, text: str) -> tuple[int, array[int] | bytes]:
    try:
        if operation == WORD_ENDS:
            return RESULT, array("q", word_ends(expression, text))
        compiled = _compiled(expression)
        if operation == ALONE:
            return RESULT, array("q", [all(map(compiled.fullmatch, text))])
        if operation == SPANS:
            return RESULT, array("q", spans(compiled, text))
        return RESULT, array("q", ends(compiled, text))
    except RecursionError:
        return NESTED, b""
    except (MemoryError, OverflowError):
        return MEMORY, b""
    except Exception as error:  # `regex` raises its own error, but also ValueError and others
        return INVALID, str(error).encode("utf-8", "replace")


def _exit_after(seconds: float) -> None:
    """Exit after some seconds, even while `regex` holds the interpreter; 0 means never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)  # the signal's default action ends it
    elif seconds:
        faulthandler.dump_traceback_later(seconds, exit=True)
    else:
        faulthandler.cancel_dump_traceback_later()


def _used(column: int) -> int:
    """Return the used bytes of address space (0) or memory (1), or 0 if the system hides it."""
    with suppress(OSError, AttributeError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _limit_memory(size: int) -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource  # not on every system

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))


def main() -> None:
    """Answer requests on standard input until it ends or memory has grown."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this one
    with suppress(AttributeError, OSError):
        os.nice(5)
    used = _used(0)
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    answers.write(b"\n")
    answers.flush()
    while len(header := requests.read(REQUEST.size)) == REQUEST.size:
        operation, seconds, memory, *sizes = REQUEST.unpack(header)
        _exit_after(seconds + GRACE)
        if used:
            matches = min(_MATCH * sizes[1], int(_SECOND * seconds))
            _limit_memory(used + memory + _TEXT * sizes[1] + matches)
        expression, text = (str(requests.read(size), "utf-8", ERRORS) for size in sizes)
        answer, found = _answer(operation, expression, text)
        _exit_after(0)
        content = memoryview(found).cast("B")
        retires = answer == MEMORY or _used(1) > _LARGE
        answers.write(ANSWER.pack(answer, retires, content.nbytes))
        answers.write(content)
        answers.flush()
        if retires:
            return


if __name__ == "__main__":
    try:
        main()
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)

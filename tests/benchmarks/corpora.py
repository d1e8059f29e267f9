"""The texts that are measured on: whatever machine makes them, they are the same for one Python."""

from __future__ import annotations

import random
import re
import string
import sysconfig
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_NOT_PYTHONS_OWN = {"site-packages", "dist-packages", "__pycache__"}
_TESTS = {"test", "tests", "idle_test"}


def _sources() -> Iterator[str]:
    """Yield the modules of the standard library, and behind them its tests, if they are there.

    In the order of their paths. Those that are not UTF-8 are left out.
    """
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = {path.relative_to(root): path for path in root.rglob("*.py")}
    own = [short for short in paths if not _NOT_PYTHONS_OWN.intersection(short.parts)]
    own.sort(key=lambda short: (bool(_TESTS.intersection(short.parts)), short.as_posix()))
    for short in own:
        try:
            yield paths[short].read_bytes().decode()
        except (UnicodeDecodeError, OSError):
            continue


def standard_library(size: int) -> str:
    """Return `size` bytes of the standard library's sources, or what there is of them."""
    raw = bytearray()
    for source in _sources():
        raw += source.encode()
        if len(raw) >= size:
            break
    return raw[:size].decode(errors="ignore")  # a character that is cut at the end


def rotated(text: str, size: int) -> str:
    """Return `size` bytes: a text again and again, with other letters each time.

    The n-th time each letter is the n-th behind it in the alphabet: so new words keep coming, as
    they do in a text that is really so long.
    """
    small, large = string.ascii_lowercase, string.ascii_uppercase
    raw = bytearray()
    for by in count():
        table = str.maketrans(
            small + large, small[by % 26 :] + small[: by % 26] + large[by % 26 :] + large[: by % 26]
        )
        raw += text.translate(table).encode()
        if len(raw) >= size or not text:
            return raw[:size].decode(errors="ignore")
    raise AssertionError("it is long enough in the end")


def letters(text: str, size: int) -> str:
    """Return `size` small letters of a text, without anything between them: one chunk."""
    return re.sub("[^a-z]+", "", text)[:size]


def fibonacci(size: int) -> str:
    """Return the beginning of the Fibonacci word: abaababa…"""
    before, word = "b", "a"
    while len(word) < size:
        before, word = word, word + before
    return word[:size]


def four_letters(size: int) -> str:
    """Return random letters of four kinds, the same ones each time."""
    return "".join(random.Random(1).choices("abcd", k=size))

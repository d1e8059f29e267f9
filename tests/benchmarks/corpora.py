"""Benchmark texts. They depend on the Python version only, not on the machine."""

from __future__ import annotations

import os
import random
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_NOT_PYTHONS_OWN = {"site-packages", "dist-packages", "__pycache__"}
_TESTS = {"test", "tests", "idle_test"}


@cache
def _modules() -> list[Path]:
    """Return the modules of the standard library, then its tests, both sorted by path."""
    root = Path(sysconfig.get_paths()["stdlib"])
    own = []
    for folder, folders, files in os.walk(root):
        folders[:] = {*folders} - _NOT_PYTHONS_OWN
        own += [Path(folder, name).relative_to(root) for name in files if name.endswith(".py")]
    own.sort(key=lambda short: (bool(_TESTS.intersection(short.parts)), short.as_posix()))
    return [root / short for short in own]


def _sources() -> Iterator[str]:
    """Yield the modules of the standard library, without files that are not UTF-8."""
    for path in _modules():
        try:
            yield path.read_bytes().decode()
        except (UnicodeDecodeError, OSError):
            continue


def standard_library(size: int) -> str:
    """Return the first `size` bytes of the standard library's sources, or all of them."""
    raw = bytearray()
    for source in _sources():
        raw += source.encode()
        if len(raw) >= size:
            break
    return raw[:size].decode(errors="ignore")  # the last character may be incomplete


def letters(text: str, size: int) -> str:
    """Return the first `size` lowercase letters of a text, joined: one pre-token."""
    return re.sub("[^a-z]+", "", text)[:size]


def fibonacci(size: int) -> str:
    """Return the beginning of the Fibonacci word: abaababa…"""
    before, word = "b", "a"
    while len(word) < size:
        before, word = word, word + before
    return word[:size]


def four_letters(size: int) -> str:
    """Return random letters from a, b, c and d, with a fixed seed."""
    return "".join(random.Random(1).choices("abcd", k=size))

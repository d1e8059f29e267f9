"""Attack a server in the tabs of one browser, again and again; `load.py --attack` starts it.

    python tests/benchmarks/attacks.py ADDRESS CLASS SECONDS TABS

It is a process of its own, so that its work does not delay the users' clocks. The last line has the
number of attacks, and those before it have errors that pages showed to the attacker.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

import websockets
from benchmarks.load import Measured, User, connected, sentences

from bpeviz.jobs import worker
from bpeviz.limits import PAGE_TEXT
from bpeviz.ui.permalink.links import written
from bpeviz.ui.runtime.user import COOKIE

PAGES = ("Train", "Compare", "Inspect", "Pre-tokenize", "Algorithms", "Learn")

CHINESE = [chr(point) for point in range(0x4E00, 0x9FA5)]
"""Random ones make the largest training: every pair of them is a candidate."""

ALGORITHMS = ["bpe", "wordpiece", "unigram", "scaffold", "multilingual", "sentencepiece"]
"""The algorithms of the tabs."""

LONG = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! low lower lowest "
"""A text that lets expressions backtrack."""

ODD = ("a", " ", "a b\n", "\u202e\u05d0", "\u0301", "👩‍👩‍👧 ", "low <|endoftext|>", "\0", "ﷺ")

Attack = Callable[[User, int, random.Random], Awaitable[None]]
"""An attack in a tab with the first page: the tab, its number, and a source of random choices."""


def link(**values: Any) -> str:
    """Return the query of a link."""
    return written(values, {})


async def expressions(user: User, tab: int, draw: random.Random) -> None:
    """Open links with slow and large regular expressions."""
    number = draw.randrange(99_000)
    slow = [
        "((){50000})",
        f"(a){{{number}}}",
        r"(a+)+$",
        r"(?:(?:a|a?)+)+$",
        r"(?b)(?:a.*l.*w){e<=20}",
        rf"(?<=(a|aa){{1,{number}}})(?=(\w+\s?)+$)x",
        "(" * 2_000 + ")" * 2_000,
        "(?a)(?L)x",
    ]
    for expression in draw.sample(slow, len(slow)):
        values = {"splits": ["regex"], "text_sample": "own", "text_box": LONG * 20}
        await user.open("Pre-tokenize", link(regex=expression, **values))
        await user.open("Train", link(pattern="regex", regex=expression))


@functools.cache
def large_texts() -> tuple[str, str]:
    """Return almost ten million random Chinese characters, and random words of three million."""
    draw = random.Random(0)
    line = sentences(draw, 300_000)
    words = line.split()
    shuffled = (" ".join(draw.sample(words, len(words))) for _ in range(9))
    return "".join(draw.choices(CHINESE, k=9_999_000)), " ".join([line, *shuffled])


async def trainings(user: User, tab: int, draw: random.Random) -> None:
    """Train on random Chinese characters, and for a long time."""
    chinese, words = large_texts()
    algorithm = ["sentencepiece", "unigram"][tab % 2]
    await user.open("Train", link(algorithm=algorithm, pattern="none", largest=32_768))
    await user.edit(f"{tab} {draw.random()} " + (words if tab > 1 else chinese))


async def short_texts(user: User, tab: int, draw: random.Random) -> None:
    """Train on short texts that need as much time as short texts can."""
    algorithm = ALGORITHMS[tab % len(ALGORITHMS)]
    await user.open("Train", link(algorithm=algorithm, pattern="whitespace", largest=32_768))
    for _ in range(3):
        await user.edit("".join(draw.choices(CHINESE, k=worker.SHORT)))


def tokenizer_file(kind: str, number: int) -> bytes:
    """Return a tokenizer.json that is slow or takes much memory, or that is damaged."""
    grows = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 30}
    times = {"slow": 5, "large": 9, "plain": 0}.get(kind, 0)
    model = {"type": "BPE", "vocab": {"a": 0, f"b{number}": 1}, "merges": [], "unk_token": "a"}
    whole = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [grows] * times} if times else None,
        "model": model,
    }
    content = json.dumps(whole).encode()
    return content[:-9] if kind == "damaged" else content


async def files(user: User, tab: int, draw: random.Random) -> None:
    """Open slow, large and damaged tokenizer files."""
    await user.open("Compare")
    for kind in ("slow", "plain", "large", "damaged", "slow"):
        await user.open_file(tokenizer_file(kind, draw.getrandbits(60)))


async def texts(user: User, tab: int, draw: random.Random) -> None:
    """Paste a long odd text, a different one each time."""
    await user.open(PAGES[tab % len(PAGES)])
    part = draw.choice(ODD)
    await user.edit(f"{draw.random()} " + part * (PAGE_TEXT // len(part)))


ATTACKS: dict[str, Attack] = {
    "expressions": expressions,
    "trainings": trainings,
    "files": files,
    "texts": texts,
    "short": short_texts,
}


async def repeat(address: str, name: str, seconds: float, tabs: int) -> None:
    """Attack until the time is over, with another browser each time."""
    draw, measured, number, end = random.Random(0), Measured(), 0, time.monotonic() + seconds

    async def in_tab(tab: int, cookie: str) -> None:
        with contextlib.suppress(OSError, EOFError, websockets.WebSocketException):
            async with connected(address, measured, cookie) as user:
                await user.load()
                await ATTACKS[name](user, tab, draw)

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while time.monotonic() < end:
                number += 1
                cookie = f"{COOKIE}={draw.getrandbits(64):x}"
                await asyncio.gather(*(in_tab(tab, cookie) for tab in range(tabs)))
                await asyncio.sleep(0.05)
    print(*(error[:300] for error in sorted({*measured.errors})[:5]), sep="\n")
    print(f"{number} attacks")


if __name__ == "__main__":
    os.nice(10)  # a real attacker uses another machine
    asyncio.run(repeat(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])))

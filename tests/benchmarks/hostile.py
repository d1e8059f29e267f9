"""Measure users' response times and the server's memory while one user strains the server.

    python tests/benchmarks/hostile.py [--users 20] [--seconds 20] [--think 5] [--only CLASS]
                                       [--tabs 6]

The script starts a server on this machine. For each class of attacks, the users of `load.py` work
on it, and one attacker in a process of its own attacks it. Then all leave, and the next class
begins with other users.

The script prints a table in Markdown: the users' response times and errors, the tracebacks in the
server's log, and the memory of the server with its child processes. "nobody" is the class without
an attack; the 95th percentiles of the others are also relative to it.

It exits with code 1 if there was an error of a user or a traceback. The attacker's own errors are
expected.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import http.client
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

import psutil
import websockets
from benchmarks.load import (
    OPEN_UPLOADS,
    Measured,
    User,
    connected,
    percentile_95,
    sentences,
    simulate,
)
from browser.serving import Server, serving
from streamlit.proto.WidgetStates_pb2 import WidgetState

from bpeviz.jobs import worker
from bpeviz.limits import PAGE_TEXT
from bpeviz.ui.pages.pretokenize import OWN_RULES, SPLITS
from bpeviz.ui.permalink.codec import MAX_JSON, MAX_PACKED, pack
from bpeviz.ui.runtime.user import COOKIE

MB = 1_000_000
PAGES = ("Train", "Compare", "Inspect", "Pre-tokenize", "Algorithms", "Learn")

CHINESE = [chr(point) for point in range(0x4E00, 0x9FA5)]
"""Random ones make the largest training: every pair of them is a candidate."""

ALGORITHMS = ["bpe", "wordpiece", "unigram", "scaffold", "multilingual", "sentencepiece"]
"""The algorithms of the tabs."""

LONG = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! low lower lowest "
"""A text that lets expressions backtrack."""


class Attacker:
    """The connections and random choices of the attacker."""

    def __init__(self, server: Server, tabs: int) -> None:
        self.server = server
        self.tabs = tabs
        self.address = server.address
        self.draw = random.Random(0)
        self.measured = Measured()

    @contextlib.asynccontextmanager
    async def tab(self, cookie: str = "") -> Any:
        """Yield a browser tab with the first page."""
        async with connected(self.address, self.measured, cookie) as user:
            await user.load()
            yield user


Attack = Callable[[Attacker], Awaitable[None]]


def link(**values: Any) -> str:
    """Return the query of a link."""
    return f"s={pack(values)}"


def set_value(user: User, key: str, **value: Any) -> None:
    """Set a widget's value for the next run of the page, if the page has the widget."""
    if key in user.widgets:
        state = WidgetState(id=user.widgets[key].id)
        for name, one in value.items():
            if isinstance(one, list):
                getattr(state, name).data.extend(one)
            else:
                setattr(state, name, one)
        user.states[state.id] = state


async def expressions(attacker: Attacker) -> None:
    """Type slow and large regular expressions on Pre-tokenize, and open links with them."""
    number = attacker.draw.randrange(99_000)
    found = [
        "((){50000})",
        f"(a){{{number}}}",
        r"(a+)+$",
        r"(?:(?:a|a?)+)+$",
        r"(?b)(?:a.*l.*w){e<=20}",
        rf"(?<=(a|aa){{1,{number}}})(?=(\w+\s?)+$)x",
        "(" * 2_000 + ")" * 2_000,
        "(?a)(?L)x",
    ]
    browser = f"{COOKIE}={attacker.draw.getrandbits(64):x}"

    async def use() -> None:
        async with attacker.tab(browser) as user:
            await user.open("Pre-tokenize")
            await user.edit(LONG * 20)
            set_value(user, SPLITS.key, string_array_value=[OWN_RULES["regex"]])
            await user.act("choose")
            for expression in attacker.draw.sample(found, len(found)):
                set_value(user, "regex", string_value=expression)
                await user.act("type")
                values = {"splits": ["regex"], "text_sample": "own", "text_box": LONG * 20}
                await user.open("Pre-tokenize", link(regex=expression, **values))
                await user.open("Train", link(pattern="regex", regex=expression))

    await asyncio.gather(*(use() for _ in range(attacker.tabs)))


@functools.cache
def large_texts() -> tuple[str, str]:
    """Return almost ten million random Chinese characters, and random words of three million."""
    draw = random.Random(0)
    line = sentences(draw, 300_000)
    words = line.split()
    shuffled = (" ".join(draw.sample(words, len(words))) for _ in range(9))
    return "".join(draw.choices(CHINESE, k=9_999_000)), " ".join([line, *shuffled])


async def trainings(attacker: Attacker) -> None:
    """Train in the tabs of one browser: on random Chinese characters, and for a long time."""
    chinese, words = large_texts()
    browser = f"{COOKIE}={attacker.draw.getrandbits(64):x}"
    algorithms = ["sentencepiece", "unigram"]

    async def train(tab: int) -> None:
        async with attacker.tab(browser) as user:
            settings = {"algorithm": algorithms[tab % 2], "pattern": "none", "largest": 32_768}
            await user.open("Train", link(**settings))
            await user.edit(f"{tab} {attacker.draw.random()} " + (words if tab > 1 else chinese))

    await asyncio.gather(*map(train, range(attacker.tabs)))


async def short_texts(attacker: Attacker) -> None:
    """Train in the tabs of one browser on short texts that need as much time as short texts can."""
    browser = f"{COOKIE}={attacker.draw.getrandbits(64):x}"

    async def train(tab: int) -> None:
        settings = {
            "algorithm": ALGORITHMS[tab % len(ALGORITHMS)],
            "pattern": "whitespace",
            "largest": 32_768,
        }
        async with attacker.tab(browser) as user:
            await user.open("Train", link(**settings))
            for _ in range(3):
                await user.edit("".join(attacker.draw.choices(CHINESE, k=worker.SHORT)))

    await asyncio.gather(*map(train, range(attacker.tabs)))


async def links(attacker: Attacker) -> None:
    """Open links that are damaged, too long, bombs, or contain unknown names and values."""
    draw = attacker.draw
    good = link(algorithm="bpe", text_sample="own", text_box="low lower", largest=300)
    nested = b"[" * 100_000 + b"]" * 100_000
    bomb, longest = bytes(100 * MB), b'{"a":"' + b"a" * (MAX_JSON - 8) + b'"}'
    found = [
        good[: draw.randrange(len(good))],
        "s=" + "".join(draw.choices("abcdefgh0123-_=%&", k=draw.randrange(500))),
        "s=" + "A" * MAX_PACKED,
        "s=" + "A" * 5 * MB,
        *(
            "s=" + urlsafe_b64encode(zlib.compress(one, 9)).decode().rstrip("=")
            for one in [bomb, longest, nested]
        ),
        link(algorithm="x", largest=10**30, pattern=[""] * 50, text_sample=-1, counted=1.5),
        link(**{f"unknown {i} ![i](http://host/x.png)": "<b>" for i in range(90)}),
        link(text_sample="own", text_box="a" * (MAX_JSON - 100), largest=32_768),
        "&".join(["s=1"] * 1_000),
        good + "&step=" + "9" * 4_000,
    ]
    async with attacker.tab() as user:
        for query in found:
            await user.open(draw.choice(PAGES), query)


async def uploads(attacker: Attacker) -> None:
    """Upload more than the limits, and many files."""
    async with attacker.tab() as user:
        sent = [
            *(multipart(bytes(30 * MB)) for _ in range(5)),
            *(multipart(b"a") for _ in range(100)),
        ]
        for number, (body, kind) in enumerate(sent):
            session = user.session if number % 10 else "unknown"
            await asyncio.to_thread(put, attacker.address, session, number, body, kind)


def multipart(content: bytes) -> tuple[bytes, str]:
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="../\xff\n.txt"\r\n\r\n'
    return head + content + b"\r\n--x--\r\n", "multipart/form-data; boundary=x"


def put(address: str, session: str, number: int, body: bytes, kind: str) -> None:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        path = f"{parts.path}/_stcore/upload_file/{session}/{number}"
        connection.request("PUT", path, body, {"Content-Type": kind})
        connection.getresponse().read()


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


async def files(attacker: Attacker) -> None:
    """Open slow, large and damaged tokenizer files in the tabs of one browser."""
    browser = f"{COOKIE}={attacker.draw.getrandbits(64):x}"

    async def open_files() -> None:
        async with attacker.tab(browser) as user:
            await user.open("Compare")
            for kind in ("slow", "plain", "large", "damaged", "slow"):
                await user.open_file(tokenizer_file(kind, attacker.draw.getrandbits(60)))

    await asyncio.gather(*(open_files() for _ in range(attacker.tabs)))


async def texts(attacker: Attacker) -> None:
    """Paste long odd texts, a different one each time, in the tabs of one browser."""
    browser = f"{COOKIE}={attacker.draw.getrandbits(64):x}"
    parts = ("a", " ", "a b\n", "\u202e\u05d0", "\u0301", "👩‍👩‍👧 ", "low <|endoftext|>", "\0", "ﷺ")

    async def paste(page: str) -> None:
        async with attacker.tab(browser) as user:
            await user.open(page)
            part = attacker.draw.choice(parts)
            await user.edit(f"{attacker.draw.random()} " + part * (PAGE_TEXT // len(part)))

    await asyncio.gather(*map(paste, islice(cycle(PAGES), attacker.tabs)))


async def nobody(attacker: Attacker) -> None:
    """Do nothing."""
    await asyncio.sleep(1)


ATTACKS: dict[str, Attack] = {
    "nobody": nobody,
    "expressions": expressions,
    "trainings": trainings,
    "links": links,
    "uploads": uploads,
    "files": files,
    "texts": texts,
    "short": short_texts,
}


def attack(name: str, server: Server, seconds: float, tabs: int) -> tuple[int, list[str]]:
    """Attack again and again; return the number of attacks, and the errors that the pages showed.

    Runs in a process of its own, so that the attacker's work does not delay the users' clocks.
    """

    async def repeat() -> tuple[int, list[str]]:
        attacker, number = Attacker(server, tabs), 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    number += 1
                    with contextlib.suppress(OSError, EOFError, websockets.WebSocketException):
                        await ATTACKS[name](attacker)
                    await asyncio.sleep(0.05)
        return number, attacker.measured.errors

    return asyncio.run(repeat())


def memory(process: int) -> float:
    """Return the memory of a process and its child processes in MB."""
    root = psutil.Process(process)
    found = 0
    for one in (root, *root.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            found += one.memory_info().rss
    return found / MB


async def measure(arguments: argparse.Namespace, server: Server, pool: ProcessPoolExecutor) -> bool:
    """Print a row per class of attacks; return whether there were no errors."""
    warm = Measured()
    async with connected(server.address, warm) as first:
        await first.load()
        for page in PAGES:
            await first.open(page)
    problems = list(warm.errors)
    loop = asyncio.get_running_loop()
    large = "trainings" in arguments.only
    await loop.run_in_executor(pool, large_texts if large else os.getpid)  # starts the process
    heads = ["attack", "attacks", "actions", "median", "95 %", "of alone", "errors", "tracebacks"]
    heads += ["memory before", "at most"]
    alone = 0.0
    print(f"| {' | '.join(heads)} |\n| --- |{' ---: |' * (len(heads) - 1)}")
    for turn, name in enumerate(arguments.only):
        measured = Measured()
        before = most = memory(server.process)
        end = time.monotonic() + arguments.seconds
        attacks = loop.run_in_executor(
            pool, attack, name, server, arguments.seconds, arguments.tabs
        )
        users = [
            asyncio.create_task(
                simulate(server.address, 1_000 * turn + user, measured, end, arguments.think)
            )
            for user in range(arguments.users)
        ]
        while not (all(user.done() for user in users) and attacks.done()):
            await asyncio.sleep(0.25)
            most = max(most, memory(server.process))
        await asyncio.gather(*users)
        number, shown = await attacks
        log = server.tracebacks()
        times = [one for times in measured.times.values() for one in times] or [0.0]
        high = percentile_95(times)
        alone = high if name == "nobody" else alone
        cells = [
            name,
            f"{number:,}",
            f"{len(times):,}",
            f"{statistics.median(times) * 1e3:,.0f} ms",
            f"{high * 1e3:,.0f} ms",
            f"{high / alone:.1f}" if alone else "",
            f"{len(measured.errors)}",
            f"{max(log.count('Traceback'), bool(log))}",
            *(f"{one:,.0f} MB" for one in (before, most)),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
        problems += [f"{name}: {one}" for one in measured.errors]
        problems += [f"{name}, in the log:\n{log[-6_000:]}"] if log else []
        for one in sorted({*shown})[:5]:
            print(f"{name}, shown to the attacker: {one[:300]}", file=sys.stderr)
    print(f"\nErrors: {len(problems)}")
    for problem in problems[:20]:
        print(f"  {problem}")
    return not problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=20, help="number of users (default 20)")
    parser.add_argument(
        "--seconds", type=float, default=20, help="duration of each class (default 20)"
    )
    parser.add_argument(
        "--think",
        type=float,
        default=5,
        help="mean seconds between the actions of a user (default 5)",
    )
    parser.add_argument("--tabs", type=int, default=6, help="tabs of the attacker (default 6)")
    parser.add_argument(
        "--only", choices=ATTACKS, action="append", help="a class to run; repeatable (default all)"
    )
    arguments = parser.parse_args()
    arguments.only = arguments.only or [*ATTACKS]
    print(
        f"{arguments.users} users, {arguments.think:g} s between actions, one attacker for "
        f"{arguments.seconds:g} s each; {os.cpu_count()} processors\n"
    )
    # A real attacker uses another machine, so this process has a low priority.
    pool = ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), initializer=os.nice, initargs=(10,)
    )
    with tempfile.TemporaryDirectory() as folder, pool, serving(Path(folder), **OPEN_UPLOADS) as on:
        if not asyncio.run(measure(arguments, on, pool)):
            sys.exit(1)


if __name__ == "__main__":
    main()

"""How fast the app answers a room full of people, while one of them trains on a large text.

    python tests/benchmarks/load.py [--visitors 50] [--seconds 60] [--think 5] [--no-training]
                                    [--waves 1]

Starts a server of its own, on this machine only, and visits it over the websocket that browsers
use: each visitor loads a page, then again and again thinks, and edits the text, moves the slider,
steps through the merges, or changes the page. One more lets the server learn from ten megabytes.
What is measured is the time from what a visitor does until the server has sent all that follows
from it (a browser's drawing is not in it). Printed are the median and the 95th percentile for each
kind, errors, and the server's memory: before, at most, and after everybody has left. With more
than one wave, others come when all have left, each time; the memory is printed after each, and when
Streamlit has forgotten them all.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

# Found from wherever this is called.
sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from browser.serving import serving

from bpeviz.corpus import samples

PATIENCE = 120.0
LARGE = 10_000_000
AWAY = 15
"""Seconds for which the server is left alone before its memory is read."""

FORGOTTEN = 125
"""Seconds after which Streamlit forgets a visitor who has left, as soon as another one leaves."""

WORDS = samples.by_key("english-prose").text.split()


@dataclass
class Measured:
    """What all visitors saw. times: by kind of action, in seconds."""

    times: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    received: int = 0


def sentences(draw: random.Random, size: int) -> str:
    """Return some text of about so many characters."""
    words: list[str] = []
    length = 0
    while length < size:
        word = draw.choice(WORDS)
        words.append(word)
        length += len(word) + 1
    return " ".join(words)


class Visitor:
    """A browser tab, as the server sees it: it remembers what it was sent, and what it chose."""

    def __init__(self, socket: Any, measured: Measured) -> None:
        self.socket = socket
        self.measured = measured
        self.widgets: dict[str, Any] = {}  # by the key that ends their id: the element
        self.states: dict[str, WidgetState] = {}
        self.pages: dict[str, str] = {}
        self.page = ""
        self.fragments: dict[str, str] = {}
        self.timeline = ""

    async def act(self, kind: str, *, page: str = "", fragment: str = "") -> None:
        """Ask the server to run the page, and wait until it has; note how long that took."""
        message = BackMsg()
        run = message.rerun_script
        run.page_script_hash = page or self.page
        run.fragment_id = fragment
        run.widget_states.widgets.extend(self.states.values())
        began = time.monotonic()
        await self.socket.send(message.SerializeToString())
        try:
            async with asyncio.timeout(PATIENCE):
                await self._hear()
        except TimeoutError:
            self.measured.errors.append(f"{kind}: no answer within {PATIENCE:.0f} s")
            return
        self.measured.times[kind].append(time.monotonic() - began)

    async def _hear(self) -> None:
        while True:
            raw = await self.socket.recv()
            self.measured.received += len(raw)
            message = ForwardMsg()
            message.ParseFromString(raw)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.page = message.new_session.page_script_hash
            elif kind == "script_finished":
                # One that was interrupted is followed by another.
                if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    return
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                self._see(message.delta)

    def _see(self, delta: Any) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        shown = getattr(element, kind)
        if kind == "exception":
            self.measured.errors.append(f"{shown.type}: {shown.message}")
        elif kind == "page_link":
            self.pages[shown.label] = shown.page_script_hash
        elif getattr(shown, "id", ""):
            key = shown.id.split("-", 2)[-1]
            if key.startswith("vocabulary_size"):
                key = "vocabulary_size"
            self.widgets[key] = shown
            if shown.id not in self.states or getattr(shown, "set_value", False):
                self._say(kind, shown)
            self.fragments[key] = delta.fragment_id
            if key == "player" and '"timelineId": "' in shown.json:
                self.timeline = shown.json.split('"timelineId": "', 1)[1].split('"', 1)[0]

    def _say(self, kind: str, shown: Any) -> None:
        """From now on say of an input what the server has put there, as a browser does of all."""
        state = WidgetState(id=shown.id)
        anew = getattr(shown, "set_value", False)
        if kind == "slider":
            state.double_array_value.data.extend(shown.value if anew else shown.default)
        elif kind in ("text_area", "text_input"):
            state.string_value = shown.value if anew else shown.default
        elif kind == "number_input":
            state.double_value = shown.value if anew else shown.default
        elif kind == "checkbox":
            state.bool_value = shown.value if anew else shown.default
        elif kind == "selectbox":
            state.string_value = shown.raw_value if anew else shown.options[shown.default]
        elif kind in ("button_group", "multiselect"):
            options = [getattr(one, "content", one) for one in shown.options]
            chosen = shown.raw_values if anew else [options[one] for one in shown.default]
            state.string_array_value.data.extend(chosen)
        else:
            return
        self.states[shown.id] = state

    async def load(self) -> None:
        await self.act("load a page")

    async def edit(self, text: str, kind: str = "edit the text") -> None:
        box = self.widgets.get("text_box")
        if box is not None:
            self.states[box.id] = WidgetState(id=box.id, string_value=text)
            await self.act(kind)

    async def slide(self, draw: random.Random) -> None:
        slider = self.widgets.get("vocabulary_size")
        if slider is not None:
            state = WidgetState(id=slider.id)
            state.double_array_value.data.append(draw.randint(int(slider.min), int(slider.max)))
            self.states[slider.id] = state
            await self.act("move the slider")

    async def step(self, draw: random.Random) -> None:
        follower = self.widgets.get("follower")
        if follower is not None and self.timeline:
            told = (
                f'{{"step": {{"step": {draw.randint(0, 100)}, "timelineId": "{self.timeline}"}}}}'
            )
            self.states[follower.id] = WidgetState(id=follower.id, json_value=told)
            await self.act("step", fragment=self.fragments["follower"])

    async def change_page(self, draw: random.Random) -> None:
        name = draw.choice(["Train", "Train", "Compare", "Inspect", "Split", "Algorithms"])
        self.widgets.clear()
        self.states.clear()
        await self.act(f"go to {name}", page=self.pages[name])


@contextlib.asynccontextmanager
async def visiting(address: str, measured: Measured) -> AsyncIterator[Visitor]:
    uri = address.replace("http", "ws", 1) + "/_stcore/stream"
    async with websockets.connect(uri, max_size=None, ping_interval=None, open_timeout=60) as open_:
        yield Visitor(open_, measured)


async def visit(address: str, seed: int, measured: Measured, end: float, think: float) -> None:
    """Be one visitor until the end."""
    draw = random.Random(seed)
    await asyncio.sleep(draw.uniform(0, think))
    try:
        async with visiting(address, measured) as visitor:
            await visitor.load()
            while time.monotonic() < end:
                await asyncio.sleep(draw.uniform(0.5, 1.5) * think)
                on_train = "player" in visitor.widgets
                what = draw.random()
                if what < 0.15 or not visitor.pages:
                    await visitor.change_page(draw)
                elif what < 0.35:
                    await visitor.edit(sentences(draw, draw.randint(200, 4_000)))
                elif what < 0.6 or not on_train:
                    await visitor.slide(draw)
                else:
                    await visitor.step(draw)
    except (OSError, websockets.WebSocketException) as error:
        measured.errors.append(f"{type(error).__name__}: {error}")


async def train(address: str, measured: Measured, end: float) -> None:
    """Let the server learn from a large text, another one each time."""
    draw = random.Random(0)
    line = sentences(draw, 1_000_000)
    async with visiting(address, measured) as visitor:
        await visitor.load()
        number = 0
        while time.monotonic() < end:
            number += 1
            text = f"{number} " + line * (LARGE // len(line) - 1)
            text += sentences(draw, LARGE - len(text))[: LARGE - len(text)]
            await visitor.edit(text, "learn from 10 MB")


def memory(process: int) -> float:
    """Return the memory of a process in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1e3


async def measure(arguments: argparse.Namespace, address: str, server: int) -> bool:
    """Let all visitors come, wave after wave, and print the table; tell whether all went well."""
    measured, trainer, warm = Measured(), Measured(), Measured()
    async with visiting(address, warm) as first:
        await first.load()
        for name in ("Compare", "Inspect", "Split", "Algorithms", "Train"):
            await first.act(f"go to {name}", page=first.pages[name])
    before = most = memory(server)
    after = []
    for wave in range(arguments.waves):
        end = time.monotonic() + arguments.seconds
        seeds = range(wave * arguments.visitors, (wave + 1) * arguments.visitors)
        visits = [visit(address, seed, measured, end, arguments.think) for seed in seeds]
        if arguments.training:
            visits.append(train(address, trainer, end))
        tasks = [asyncio.create_task(one) for one in visits]
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0.5)
            most = max(most, memory(server))
        await asyncio.gather(*tasks)
        away = min(AWAY, arguments.seconds)
        await asyncio.sleep(away)
        after.append(f"{memory(server):,.0f}")
    print_table(measured, trainer)
    said = (
        f"{before:,.0f} MB before, {most:,.0f} MB at most, {', '.join(after)} MB {away:g} s after"
    )
    said += " all had left"
    if arguments.waves > 1:
        await asyncio.sleep(FORGOTTEN - away)
        for _ in range(2):
            async with visiting(address, warm) as another:
                await another.load()
            await asyncio.sleep(away / 2)
        said += f", wave by wave, and {memory(server):,.0f} MB when they were forgotten"
    print(f"\nMemory of the server: {said}.")
    return not measured.errors and not trainer.errors


def print_table(measured: Measured, trainer: Measured) -> None:
    everything = [one for times in measured.times.values() for one in times]
    rows = [*sorted(measured.times.items()), ("all of these", everything), *trainer.times.items()]
    print(f"\n{'action':<22}{'times':>7}{'median':>12}{'95 %':>12}{'longest':>12}")
    for kind, times in rows:
        if times:
            low = statistics.median(times)
            high = sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
            print(
                f"{kind:<22}{len(times):>7}{low * 1e3:>9,.0f} ms{high * 1e3:>9,.0f} ms"
                f"{max(times) * 1e3:>9,.0f} ms"
            )
    errors = measured.errors + trainer.errors
    print(f"\nErrors: {len(errors)}")
    for error in errors[:10]:
        print(f"  {error}")
    print(f"Received: {measured.received / 1e6:,.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--waves", type=int, default=1)
    parser.add_argument("--think", type=float, default=5, help="seconds between two actions")
    parser.add_argument("--training", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    training = ", and one training on 10 MB" if arguments.training else ""
    print(
        f"{arguments.visitors} visitors with {arguments.think:g} s of thought for "
        f"{arguments.seconds:g} s{training}; {os.cpu_count()} processors"
    )
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        if not asyncio.run(measure(arguments, server.address, server.process)):
            print(server.tracebacks())
            sys.exit(1)


if __name__ == "__main__":
    main()

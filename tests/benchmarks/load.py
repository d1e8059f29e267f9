"""Measure the app's response times with many users, while one of them trains on a large text.

    python tests/benchmarks/load.py [--users 50] [--seconds 60] [--think 5] [--no-training]
                                    [--two-processes] [--attack CLASS] [--tabs 6]

It starts a server on this machine and connects to it over the websocket that browsers use. Each
user loads a page, then repeatedly pauses and edits the text, changes the size, steps through the
merges or changes the page. One more user trains on 10 MB, repeatedly.

A response time runs from an action until the server has sent everything that follows from it,
without the browser's drawing. The script prints the median and the 95th percentile of each action,
errors, and the memory of the server and its workers: at first, at most, and after all users have
left. With `--two-processes`, two servers run behind nginx, as `bpeviz/DEPLOYMENT.md` shows. With
`--attack`, another user attacks the server in many tabs, in one of the ways of `attacks.py`. The
exit code is 1 if there was an error of a user, or a traceback in the server's log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

# Found from wherever this is called.
sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from browser.serving import proxied, serving

from bpeviz.corpus import samples
from bpeviz.ui.runtime.user import COOKIE

PATIENCE = 120.0
LARGE = 10_000_000
AWAY = 15
"""Idle seconds before the server's memory is read."""

OPEN_UPLOADS = {"STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false"}
"""With these settings, anyone can upload without a token of the page."""

WORDS = samples.by_key("english-prose").text.split()


@dataclass
class Measured:
    """The results of all users. times: seconds, by kind of action."""

    times: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    received: int = 0


def sentences(draw: random.Random, size: int) -> str:
    """Return random words of about `size` characters."""
    words: list[str] = []
    length = 0
    while length < size:
        word = draw.choice(WORDS)
        words.append(word)
        length += len(word) + 1
    return " ".join(words)


class User:
    """A browser tab as the server sees it: the elements received, and the widget states to send."""

    def __init__(self, socket: Any, measured: Measured, address: str, cookie: str = "") -> None:
        self.socket = socket
        self.cookie = cookie
        self.address = address
        self.measured = measured
        self.widgets: dict[str, Any] = {}  # elements by the key at the end of their id
        self.states: dict[str, WidgetState] = {}
        self.menus: dict[str, str] = {}  # the ids of menus by key
        self.pages: dict[str, str] = {}
        self.page = ""
        self.session = ""
        self.fragments: dict[str, str] = {}
        self.played = ""
        self.edits = self.uploads = 0
        self.alerts: list[str] = []

    async def act(self, kind: str, *, page: str = "", fragment: str = "", query: str = "") -> None:
        """Ask the server to run the page, wait until it has, and record the time."""
        message = BackMsg()
        run = message.rerun_script
        run.page_script_hash = page or self.page
        run.fragment_id = fragment
        run.query_string = query
        run.widget_states.widgets.extend(self.states.values())
        began = time.monotonic()
        await self.socket.send(message.SerializeToString())
        try:
            async with asyncio.timeout(PATIENCE):
                await self._receive()
        except TimeoutError:
            self.measured.errors.append(f"{kind}: no response within {PATIENCE:.0f} s")
            return
        self.measured.times[kind].append(time.monotonic() - began)

    async def _receive(self) -> None:
        while True:
            raw = await self.socket.recv()
            self.measured.received += len(raw)
            message = ForwardMsg()
            message.ParseFromString(raw)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.page = message.new_session.page_script_hash
                self.session = message.new_session.initialize.session_id
            elif kind == "script_finished":
                # An interrupted run is followed by another.
                if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    return
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                self._store(message.delta)
            elif kind == "delta" and (menu := message.delta.add_block.popover.id):
                self.menus[menu.split("-", 2)[-1]] = menu

    def _store(self, delta: Any) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        shown = getattr(element, kind)
        if kind == "exception":
            self.measured.errors.append(f"{shown.type}: {shown.message}")
        elif kind == "alert":
            self.alerts.append(shown.body)
        elif kind == "page_link":
            self.pages[shown.label] = shown.page_script_hash
        elif getattr(shown, "id", ""):
            key = shown.id.split("-", 2)[-1]
            if key.startswith("vocabulary_size"):
                key = "vocabulary_size"
            self.widgets[key] = shown
            if shown.id not in self.states or getattr(shown, "set_value", False):
                self._set_state(kind, shown)
            self.fragments[key] = delta.fragment_id
            if key == "player":
                self.played = json.loads(zlib.decompress(shown.bytes))["key"]

    def _set_state(self, kind: str, shown: Any) -> None:
        """Send the value of an input that the server has set from now on, as a browser does."""
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
        await self.report(0, "report the first step")

    async def edit(self, text: str, kind: str = "edit the text") -> None:
        box = self.widgets.get("text_component")
        if box is not None:
            self.edits += 1
            change: dict[str, Any] = {"number": self.edits, "sample": "own", "text": text}
            data = json.loads(zlib.decompress(box.bytes))
            if len(text) > data["longest"]:
                address = urllib.parse.urljoin(self.address, f"{data['address']}/{self.edits}")
                await asyncio.to_thread(send_text, address, text, self.cookie)
                change = {"number": self.edits, "sample": "own", "isUploaded": True}
            self.states[box.id] = WidgetState(id=box.id, json_value=json.dumps({"change": change}))
            await self.act(kind)

    async def upload(self, key: str, name: str, content: bytes) -> int:
        """Upload a file in the uploader of a key; return the status of the request."""
        self.uploads += 1
        info = UploadedFileInfo(name=name, size=len(content), file_id=str(self.uploads))
        info.file_urls.file_id = info.file_id
        address = f"{self.address}/_stcore/upload_file/{self.session}/{info.file_id}"
        status = await asyncio.to_thread(send_file, address, name, content, self.cookie)
        state = WidgetState(id=self.widgets[key].id)
        state.file_uploader_state_value.uploaded_file_info.append(info)
        self.states[state.id] = state
        await self.act("upload", fragment=self.fragments[key])
        del self.states[state.id]
        return status

    async def open_file(self, content: bytes) -> None:
        """Open a `tokenizer.json` in the dialog of the page, which is Compare."""
        # Streamlit gives the uploader another key after each file.
        self.widgets = {k: v for k, v in self.widgets.items() if "_upload_" not in k}
        menu = self.menus["compare_menu"]
        self.states[menu] = WidgetState(id=menu, bool_value=True)
        await self.act("open the menu")
        button = self.widgets["open_tokenizer"].id
        self.states[button] = WidgetState(id=button, trigger_value=True)
        await self.act("open the dialog")
        self.states[button] = WidgetState(id=button, trigger_value=False)
        for key in [key for key in self.widgets if key.startswith("tokenizer_upload_")]:
            if await self.upload(key, "tokenizer.json", content) >= HTTPStatus.BAD_REQUEST:
                self.measured.errors.append("An upload was refused.")
        await self.act("apply the file")

    async def slide(self, draw: random.Random) -> None:
        box = self.widgets.get("vocabulary_size")
        if box is not None:
            size = draw.randint(int(box.min), int(box.max))
            self.states[box.id] = WidgetState(id=box.id, double_value=size)
            await self.act("change the size")

    async def step(self, draw: random.Random) -> None:
        await self.report(draw.randint(0, 100), "step")

    async def report(self, step: int, kind: str) -> None:
        """Report the step of the player, if the page has one."""
        player = self.widgets.get("player")
        if player is not None and self.played:
            report = {"key": self.played, "step": step, "isLacking": False}
            value = json.dumps({"report": report})
            self.states[player.id] = WidgetState(id=player.id, json_value=value)
            await self.act(kind, fragment=self.fragments["player"])

    async def change_page(self, draw: random.Random) -> None:
        await self.open(
            draw.choice(["Train", "Train", "Compare", "Inspect", "Pre-tokenize", "Algorithms"])
        )

    async def open(self, name: str, query: str = "") -> None:
        """Open a page, with the query of a link or without."""
        self.widgets.clear()
        self.states.clear()
        await self.act(f"open {name}", page=self.pages[name], query=query)


@contextlib.asynccontextmanager
async def connected(address: str, measured: Measured, cookie: str = "") -> AsyncIterator[User]:
    async with websockets.connect(
        address.replace("http", "ws", 1) + "/_stcore/stream",
        additional_headers={"Cookie": cookie} if cookie else None,
        max_size=None,
        ping_interval=None,
        open_timeout=60,
    ) as socket:
        yield User(socket, measured, address, cookie)


async def simulate(address: str, seed: int, measured: Measured, end: float, think: float) -> None:
    """Act as one user until the end."""
    draw = random.Random(seed)
    await asyncio.sleep(draw.uniform(0, think))
    try:
        async with connected(address, measured, f"{COOKIE}=load-{seed}") as user:
            await user.load()
            while time.monotonic() < end:
                await asyncio.sleep(draw.uniform(0.5, 1.5) * think)
                on_train = "player" in user.widgets
                choice = draw.random()
                if choice < 0.15 or not user.pages:
                    await user.change_page(draw)
                elif choice < 0.35:
                    await user.edit(sentences(draw, draw.randint(200, 4_000)))
                elif choice < 0.6 or not on_train:
                    await user.slide(draw)
                else:
                    await user.step(draw)
    except (OSError, websockets.WebSocketException) as error:
        measured.errors.append(f"{type(error).__name__}: {error}")


async def train(address: str, measured: Measured, end: float) -> None:
    """Let the server train on a large text, a different one each time."""
    # Drawing 10 MB anew would block this process, so that all users seem to wait.
    line = sentences(random.Random(0), 1_000_000)
    same = (line * (LARGE // len(line) + 1))[:LARGE]
    async with connected(address, measured) as user:
        await user.load()
        assert "text_component" in user.widgets
        number = 0
        while time.monotonic() < end:
            number += 1
            await user.edit(f"{number} {same}"[:LARGE], "(train on 10 MB)")


def send_text(address: str, text: str, cookie: str = "") -> None:
    """Send a long text as the text box does. Errors show as a change that has no effect."""
    content, headers = text.encode(errors="replace"), {"Cookie": cookie}
    with contextlib.suppress(OSError):
        urllib.request.urlopen(
            urllib.request.Request(address, content, headers, method="PUT"), timeout=60
        )


def send_file(address: str, name: str, content: bytes, cookie: str = "") -> int:
    """Send a file as the uploader does; return the status."""
    head = f'--x\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + b"\r\n--x--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Cookie": cookie}
    request = urllib.request.Request(address, body, headers, method="PUT")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def percentile_95(times: list[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]


def memory(processes: list[int]) -> float:
    """Return the memory of processes and their child processes in MB."""
    total = 0
    for root in map(psutil.Process, processes):
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
    return total / 1e6


async def measure(arguments: argparse.Namespace, address: str, server: list[int]) -> bool:
    """Run all users and print the table; return whether there were no errors."""
    measured, trainer, warm = Measured(), Measured(), Measured()
    async with connected(address, warm) as first:
        await first.load()
        for name in ("Compare", "Inspect", "Pre-tokenize", "Algorithms", "Train"):
            await first.act(f"open {name}", page=first.pages[name])
    before = most = memory(server)
    end = time.monotonic() + arguments.seconds
    users = range(arguments.users)
    runs = [simulate(address, seed, measured, end, arguments.think) for seed in users]
    if arguments.training:
        runs.append(train(address, trainer, end))
    how = (address, arguments.attack, str(arguments.seconds), str(arguments.tabs))
    script = Path(__file__).with_name("attacks.py")
    attacker = subprocess.Popen([sys.executable, script, *how]) if arguments.attack else None
    tasks = [asyncio.create_task(run) for run in runs]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0.5)
        most = max(most, memory(server))
    await asyncio.gather(*tasks)
    if attacker:
        await asyncio.to_thread(attacker.wait)
    away = min(AWAY, arguments.seconds)
    await asyncio.sleep(away)
    print_table(measured, trainer)
    print(
        f"\nMemory of the server: {before:,.0f} MB at first, {most:,.0f} MB at most, "
        f"{memory(server):,.0f} MB {away:g} s after all users had left."
    )
    return not measured.errors and not trainer.errors


def print_table(measured: Measured, trainer: Measured) -> None:
    everything = [one for times in measured.times.values() for one in times]
    rows = [*sorted(measured.times.items()), ("all actions", everything), *trainer.times.items()]
    print(f"\n{'action':<22}{'times':>7}{'median':>12}{'95 %':>12}{'longest':>12}")
    for kind, times in rows:
        if times:
            middle = statistics.median(times)
            high = percentile_95(times)
            print(
                f"{kind:<22}{len(times):>7}{middle * 1e3:>9,.0f} ms{high * 1e3:>9,.0f} ms"
                f"{max(times) * 1e3:>9,.0f} ms"
            )
    errors = measured.errors + trainer.errors
    print(f"\nErrors: {len(errors)}")
    for error in errors[:10]:
        print(f"  {error}")
    print(f"Received data: {measured.received / 1e6:,.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=50, help="number of users (default 50)")
    parser.add_argument("--seconds", type=float, default=60, help="duration (default 60)")
    parser.add_argument(
        "--think",
        type=float,
        default=5,
        help="mean seconds between the actions of a user (default 5)",
    )
    parser.add_argument("--two-processes", action="store_true", help="two servers behind nginx")
    parser.add_argument("--attack", metavar="CLASS", help="expressions, trainings, files, …")
    parser.add_argument("--tabs", type=int, default=6, help="tabs of the attacker (default 6)")
    parser.add_argument("--training", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    training = ", and one that trains on 10 MB" if arguments.training else ""
    print(
        f"{arguments.users} users for {arguments.seconds:g} s, {arguments.think:g} s between "
        f"actions{training}; {os.cpu_count()} processors"
    )
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        if arguments.two_processes:
            address, servers = stack.enter_context(proxied(folder))
        else:
            servers = [stack.enter_context(serving(folder, **OPEN_UPLOADS))]
            address = servers[0].address
        no_errors = asyncio.run(measure(arguments, address, [one.process for one in servers]))
        if tracebacks := "".join(server.tracebacks() for server in servers):
            print(tracebacks[-6_000:])
        sys.exit(bool(tracebacks) or not no_errors)


if __name__ == "__main__":
    main()

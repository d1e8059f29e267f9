"""Measure a room of 60 followers, five of whom are pages of a real browser.

    python tests/benchmarks/room.py [--followers 60] [--answers] [--quick]

The leader's page and five followers are pages of Chromium (`BPEVIZ_CHROMIUM` sets its path), and
the others are clients of the room's websocket. The script starts its own servers, and prints:

- the time from the leader's click until a follower has painted the step,
- the time from the last vote until the leader's page has painted that all have answered,
- the frames per second of the leader's page while it plays,
- the time until a follower has the answer to a vote on a task, and to a fence (also alone, with
  `--answers`).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen

import websockets

# Found from wherever this is called.
sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from benchmarks import machine
from benchmarks.load import percentile_95
from browser.serving import FLAGS, chromium, serving
from playwright.async_api import Browser, Page, async_playwright

from bpeviz.ui.room.connections import LEADER

REAL = 5
"""The followers that are pages of a browser."""

CLICKS = 40

CHANGES = 10
"""The answers of each follower to a task."""

SETTINGS = "sample=english-prose"

RECORD = """() => {
  const now = () => performance.timeOrigin + performance.now();
  const afterPaint = (call) => { // in a frame
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => call(now());
    port2.postMessage(0);
  };
  window.painted = []; // [step, time]
  window.clicked = [];
  // The player reports its step only once it rests, so observe its sentence.
  const observe = setInterval(() => {
    const root = document.querySelector("#place-player > div")?.shadowRoot;
    const sentence = root?.querySelector(".sentence");
    if (!sentence) return;
    clearInterval(observe);
    const changed = () => requestAnimationFrame(() => afterPaint((time) =>
      painted.push([Number(root.querySelector(".place input").value), time])));
    new MutationObserver(changed).observe(sentence, { childList: true, subtree: true });
  }, 100);
  document.addEventListener("click", () => clicked.push(now()), true);
  const said = () => document.querySelector("#place-room > div")?.shadowRoot.querySelector(".said");
  window.whenSaid = (text) => new Promise((done) => {
    const look = () => {
      if (said()?.textContent === text) afterPaint(done);
      else requestAnimationFrame(look);
    };
    look();
  });
  window.framesIn = (milliseconds) => new Promise((done) => {
    const begin = now();
    let count = 0;
    const frame = () => {
      count += 1;
      if (now() - begin < milliseconds) requestAnimationFrame(frame);
      else done((1000 * count) / (now() - begin));
    };
    requestAnimationFrame(frame);
  });
}"""


@dataclass(frozen=True)
class Room:
    """A room on a server: its address, and the cookie of its leader."""

    page: str
    proof: str

    @classmethod
    async def open(cls, address: str, browser: Browser) -> Room:
        """Open a room as a teacher does, and the leader's page once."""
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{address}/?{SETTINGS}")
        await page.get_by_role("button", name="Play", exact=True).wait_for()
        await page.get_by_role("button", name="Share").click()
        await page.get_by_role("button", name="Open a room").click()
        link = page.get_by_role("link", name="Open the leader's page")
        lead = str(await link.get_attribute("href"))
        await page.goto(lead)
        await page.get_by_text("0 followers").wait_for()
        (proof,) = [one["value"] for one in await context.cookies(lead) if one["name"] == LEADER]
        await context.close()
        return cls(lead.partition("/lead")[0], proof)

    def follower(self) -> str:
        """Return the cookie that the page of a new follower sets."""
        with urlopen(self.page) as answer:
            return str(answer.headers["Set-Cookie"]).partition(";")[0]

    @contextlib.asynccontextmanager
    async def joined(self, cookie: str | None = None) -> AsyncIterator[Client]:
        """Join with a cookie, by default as the leader."""
        path = "/lead" if cookie is None else ""
        async with websockets.connect(
            f"{self.page.replace('http', 'ws', 1)}{path}/ws",
            additional_headers={"Cookie": f"{LEADER}={self.proof}" if cookie is None else cookie},
            max_size=None,
            ping_interval=None,
        ) as socket:
            client = Client(socket)
            await client.send()
            reader = asyncio.create_task(client.read())
            try:
                await client.until(lambda: client.state)
                yield client
            finally:
                reader.cancel()


class Client:
    """A member of a room as a client of its websocket, with the latest state that it received."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.state: dict[str, Any] = {}

    async def send(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def read(self) -> None:
        with contextlib.suppress(websockets.WebSocketException):
            async for message in self.socket:
                self.state |= json.loads(message)

    async def until(self, condition: Any, patience: float = 30) -> None:
        async with asyncio.timeout(patience):
            while not condition():
                await asyncio.sleep(0.005)

    def has_given(self, answer: int) -> bool:
        return bool(self.state["vote"]["task"]["given"] == answer)

    async def answer(self, option: int) -> None:
        await self.until(lambda: self.state["vote"])
        await self.send(answer=option, vote=self.state["vote"]["number"])


async def clicks(leader: Page, followers: list[Page], number: int) -> list[float]:
    """Return the milliseconds from each click of the leader until each follower has painted."""
    found: list[float] = []
    for step in range(1, number + 1):
        await leader.get_by_role("button", name="Step forward").click()
        await leader.wait_for_timeout(250)
        clicked = (await leader.evaluate("clicked"))[-1]
        for page in followers:
            painted = f"painted.find(([step, time]) => step === {step} && time > {clicked})"
            async with asyncio.timeout(30):
                while (at := await page.evaluate(painted)) is None:
                    await asyncio.sleep(0.05)
            found.append(at[1] - clicked)
    return found


async def votes(leader: Page, clients: list[Client], followers: list[Page]) -> float:
    """Return the seconds from the last vote of all followers until the leader has painted it."""
    number = len(clients) + len(followers)
    draw = random.Random(number)
    await leader.get_by_role("button", name="Vote on the next step").click()
    said = asyncio.create_task(leader.evaluate(f"whenSaid('{number} of {number} have answered.')"))
    last = 0.0

    async def vote(give: Any) -> None:
        nonlocal last
        await asyncio.sleep(draw.uniform(0, 1.5))
        last = max(last, time.time())
        await give()

    gives = [lambda one=one: one.answer(draw.randrange(3)) for one in clients]
    gives += [lambda page=page: send(page) for page in followers]
    await asyncio.gather(*map(vote, gives))
    found = await said / 1e3 - last
    await leader.get_by_role("button", name="Done").click()
    return float(found)


async def send(page: Page) -> None:
    await page.get_by_role("group", name="Pairs").get_by_role("button").first.click()
    await page.get_by_role("button", name="Send").click()


async def in_browsers(room: Room, browser: Browser, number: int, quick: bool) -> None:
    """Measure a room whose leader and some followers are pages."""
    real = min(REAL, number)
    async with contextlib.AsyncExitStack() as stack:
        clients = await class_of(number - real, room, stack)
        pages = []
        for path in ["/lead", *[""] * real]:
            context = await browser.new_context(viewport={"width": 1366, "height": 768})
            cookie = {"name": LEADER, "value": room.proof, "url": room.page}
            await context.add_cookies([cookie])
            page = await context.new_page()
            await page.add_init_script(f"({RECORD})()")
            await page.goto(room.page + path)
            pages.append(page)
        leader, *followers = pages
        await leader.get_by_text(f"{number} followers").wait_for()
        await leader.get_by_text("How to join").click()
        # At the beginning: where all candidates of the next step tie, there is no vote.
        lasts = [await votes(leader, clients, followers) for _ in range(1 if quick else 5)]
        print(f"From the last of {number} votes to the leader's paint: longest {max(lasts):.2f} s")
        times = await clicks(leader, followers, 5 if quick else CLICKS)
        print(
            f"From a click to the paint of a follower: median {median(times):.0f} ms, "
            f"95 % {percentile_95(times):.0f} ms, longest {max(times):.0f} ms ({len(times)} times)"
        )
        await leader.get_by_role("button", name="Play").click()
        rate = await leader.evaluate(f"framesIn({1_000 if quick else 10_000})")
        print(f"Frames of the leader while it plays: {rate:.0f} a second")
        reached = await leader.evaluate("painted.at(-1)[0]")
        await asyncio.sleep(1)
        seen = [client.state["step"] >= reached for client in clients]
        print(f"Followers at the leader's step, {reached:,}, after it: {sum(seen)} of {len(seen)}")
        for page in pages:
            await page.context.close()


async def class_of(number: int, room: Room, stack: contextlib.AsyncExitStack) -> list[Client]:
    """Return followers with a cookie each."""
    cookies = [await asyncio.to_thread(room.follower) for _ in range(number)]
    return [await stack.enter_async_context(room.joined(cookie)) for cookie in cookies]


async def answers(room: Room, number: int) -> None:
    """Measure how long followers wait for their answer to a task, and for the stage of a fence."""
    draw = random.Random(number)
    async with contextlib.AsyncExitStack() as stack:
        leader = await stack.enter_async_context(room.joined())
        clients = await class_of(number, room, stack)
        for name, key, places in (("vote", "why/letters/0", 9), ("fence", "fences/apart/0", 35)):
            await leader.send(do="ask question", key=key)
            times: list[float] = []

            async def answer(client: Client, key: str, places: int, times: list[float]) -> None:
                await client.until(lambda: (client.state.get("vote") or {}).get("task"))
                for _ in range(CHANGES):
                    await asyncio.sleep(draw.uniform(0.2, 1.5))
                    value = draw.randrange(1, 1 << places)
                    client.state.pop("stage", None)
                    begin = time.monotonic()
                    await client.send(answer=value, vote=client.state["vote"]["number"])
                    await client.until(lambda value=value: client.has_given(value))  # type: ignore[misc]
                    if key.startswith("fences"):
                        await client.until(lambda: "stage" in client.state)
                    times.append(time.monotonic() - begin)

            await leader.until(lambda: leader.state.get("vote"))
            await asyncio.gather(*(answer(client, key, places, times) for client in clients))
            await leader.send(do="end vote")
            await leader.until(lambda: leader.state["vote"] is None)
            print(
                f"From a {name} of {number} followers to its answer: median "
                f"{median(times) * 1e3:.0f} ms, 95 % {percentile_95(times) * 1e3:.0f} ms"
            )


async def measure(folder: Path, arguments: argparse.Namespace) -> None:
    number = arguments.followers
    async with async_playwright() as playwright:
        with serving(folder) as server:
            browser = await playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS])
            room = await Room.open(server.address, browser)
            await answers(room, number)
            if not arguments.answers:
                room = await Room.open(server.address, browser)
                await in_browsers(room, browser, number, arguments.quick)
            await browser.close()
            print(server.tracebacks())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--followers", type=int, default=60)
    parser.add_argument("--answers", action="store_true", help="only the answers to tasks")
    parser.add_argument("--quick", action="store_true", help="few clicks and votes")
    arguments = parser.parse_args()
    print(*machine.head(("streamlit", "starlette", "websockets", "playwright")), sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), arguments))


if __name__ == "__main__":
    main()

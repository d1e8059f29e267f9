"""Below a path: with a password, over a restart; and two servers behind a proxy."""

from __future__ import annotations

import http.client
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from benchmarks.load import Measured, connected
from browser.serving import Server, proxied, serving
from helpers.asgi import run
from helpers.http_server import Handler, running
from helpers.http_server import Server as PageServer
from helpers.payloads import payload_of
from journeys.journey import Journey
from journeys.people import (
    FIRST,
    PHONE,
    Page,
    Stage,
    alert,
    await_height,
    await_rest,
    await_run,
    button,
    choose,
    close_dialog,
    copy_link,
    expect,
    go_to,
    link,
    open_export,
    open_file,
    open_room,
    open_share,
    open_tokenizer,
    text_box,
    trained,
    type_text,
)

from bpeviz.ui.runtime.user import COOKIE

PASSWORD = "tea for two"

ASKED = "401"
"""The answer to a request without the password, or the word of a room."""

LOST = f"{ASKED}|ERR_|WebSocket connection|when disconnected|in reaching server|not responding"
"""Errors of pages whose server is gone, and comes back without the room."""

TYPED = "?text=banana%20bandana&algorithm=bpe&size=260"

TEXT = "low lower lowest " * 9


FILE = Path(__file__).parents[1] / "fixtures" / "bpe.tiktoken"

LONG = "".join(f"lorem ipsum dolor {number % 100} " for number in range(2_000))[:20_100]
"""Too long for a message, and short enough for a training at the usual priority."""


class Course(Handler):
    """Answers with a page that contains `code` twice."""

    code = ""

    def respond(self) -> None:
        self.answer(200, (self.code * 2).encode(), Content_Type="text/html")


def test_password_opens_links_and_a_restart_loses_nothing(journey: Journey, tmp_path: Path) -> None:
    environment = {
        "BPEVIZ_PASSWORD": PASSWORD,
        "BPEVIZ_SHORT_LINKS_FILE": str(tmp_path / "links"),
        "STREAMLIT_SERVER_BASE_URL_PATH": "/7b",
    }
    with serving(tmp_path, **environment) as server:
        with journey.step("A link asks for the password; a wrong one is refused", errors=ASKED):
            page = journey.open("/Pre-tokenize?s=broken", server=server)
            stage = Stage(page)
            box = page.get_by_label("Password of this server")
            expect(box).to_be_focused()
            box.fill("coffee")
            box.press("Enter")
            expect(page.get_by_role("alert")).to_contain_text("wrong")
        with journey.step("The right one opens the page of the link, which says what is wrong"):
            page.get_by_label("Password of this server").fill(PASSWORD)
            button(page, "Open").click()
            expect(alert(page, "link is damaged")).to_be_visible()
            expect(text_box(page)).to_have_value(FIRST)
            assert page.url == f"{server.address}/Pre-tokenize?s=broken"
        with journey.step("Its cookies are of this path, and no script can read them"):
            cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}
            for name in ("bpeviz_password", COOKIE):
                assert (cookies[name]["httpOnly"], cookies[name]["path"]) == (True, "/7b")
        with journey.step("An invitation leads to a room, and hides its key", errors=ASKED):
            go_to(page, "Train")
            leader = journey.beside(page, open_room(page))
            button(leader, "Copy invitation").click()
            expect(button(leader, "Copied")).to_be_visible()
            invitation: str = leader.evaluate("navigator.clipboard.readText()")
            word = leader.get_by_text(re.compile("^[A-Z]{6}$")).inner_text()
            phone = journey.open("/room", server=server, viewport=PHONE)
            expect(phone.get_by_label("room word")).to_be_visible()
            phone.goto(invitation)
            expect(phone.get_by_text("Following the leader: merge 0")).to_be_visible()
            room = leader.url.removesuffix("/lead")
            assert (phone.url, invitation.partition("?key=")[0]) == (room, room)
            expect(button(phone, "Save what was shown")).to_be_visible()
        with journey.step("So do the letters and the word on the screen", errors=ASKED):
            typed = journey.open(room.removeprefix(server.address), server=server, viewport=PHONE)
            typed.get_by_label("room word").fill(word.lower())
            typed.keyboard.press("Enter")
            expect(typed.get_by_text("Following the leader: merge 0")).to_be_visible()
        with journey.step("Nothing of it tells the password or the key"):
            for member in (leader, phone, typed):
                assert PASSWORD not in member.content()
            assert invitation.partition("=")[2] not in server.log.read_text()
        with journey.step("A tokenizer is opened, and a long text is typed"):
            close_dialog(page)
            go_to(page, "Compare")
            open_tokenizer(page, (FILE.name, FILE.read_bytes()))
            page.get_by_role("dialog").get_by_text("Open", exact=True).click()
            expect(page.get_by_role("heading", name=FILE.name).first).to_be_visible()
            close_dialog(page)
            go_to(page, "Train")
            choose(page, "Algorithm", "WordPiece")
            type_text(page, LONG)
            steps = trained(LONG, algorithm="wordpiece")[0].steps
            expect(stage.last).to_have_text(str(steps))
            stage.go(7)
            await_rest(page)  # the browser has stored it
    waiting = page.get_by_role("dialog", name="Waiting for the server")
    with journey.step("While the server is away, its pages say so", errors=LOST):
        expect(waiting).to_contain_text("Your texts and settings are not lost")
    port = urlsplit(server.address).port or 0
    with serving(tmp_path, port=port, **environment) as server:
        with journey.step("After a restart, text, settings and step are there", errors=LOST):
            expect(waiting).to_be_hidden()
            expect(page.get_by_role("alert").filter(has_text=FILE.name)).to_be_visible()
            expect(text_box(page)).to_have_value(LONG)
            expect(page.locator(".st-key-algorithm_menu")).to_have_text(re.compile("WordPiece"))
            expect(stage.last).to_have_text(str(steps))
            stage.await_step(7)
        with journey.step("The room ended with the server, and its invitation", errors=LOST):
            expect(leader.get_by_role("alert")).to_contain_text("This room has ended.")
            phone.reload()
            expect(phone.get_by_role("alert")).to_contain_text("its room may have ended")
        for member in (page, leader, phone, typed):
            member.context.close()


def test_typed_links_and_frames_work_below_a_path(journey: Journey, tmp_path: Path) -> None:
    course = PageServer(Course)
    environment = {
        "BPEVIZ_FRAME_ANCESTORS": f"'self' {course.address}",
        "STREAMLIT_SERVER_BASE_URL_PATH": "/class/7b",
    }
    with running(course), serving(tmp_path, **environment) as server:
        with journey.step("A typed link opens its step, and stays until a change"):
            page = journey.open(f"/{TYPED}&step=2", server=server)
            stage = Stage(page)
            expect(stage.last).to_have_text("4")
            stage.await_step(2)
            page.reload()
            stage.await_step(2)
            assert page.url == f"{server.address}/{TYPED}&step=2"
        with journey.step("Its copied link, its frame and its QR code have the path"):
            copied = urlsplit(copy_link(page))
            assert copied.path == "/class/7b/"
            assert parse_qs(copied.query)["text"] == ["banana bandana"]
            embed = page.get_by_title("Copy the HTML that shows this page's picture")
            embed.click()
            expect(embed).to_have_text("Copied")
            Course.code = page.evaluate("navigator.clipboard.readText()")
            written = TYPED.replace("&", "&amp;")
            assert f'src="{server.address}/{written}&amp;step=2&amp;embed=true"' in Course.code
            button(page, "QR code").click()
            dialog = page.get_by_role("dialog", name="QR code")
            expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
            expect(dialog.locator("code")).to_contain_text(f"{server.address}/?")
            close_dialog(page)
            page.keyboard.press("Escape")
        with journey.step("A change leaves it, also for a reload; typed again, it wins"):
            type_text(page, "low lower lowest")
            expect(page).to_have_url(f"{server.address}/")
            await_run(page)
            page.reload()
            expect(text_box(page)).to_have_value("low lower lowest")
            page.goto(f"{server.address}/{TYPED}")
            expect(text_box(page)).to_have_value("banana bandana")
        frames_play = "Two frames play independently, as high as their pages"
        with journey.step(frames_play, errors="request to another server"):
            page.goto(course.address)
            first, second = frames = [Stage(page.frame_locator("iframe").nth(i)) for i in range(2)]
            for frame in frames:
                frame.await_step(2)
                expect(frame.last).to_have_text("4")
                expect(frame.page.get_by_role("navigation", name="Pages")).to_be_hidden()
                expect(frame.page.get_by_role("textbox")).to_have_count(0)
            for width in (390, 1000):
                page.set_viewport_size({"width": width, "height": 700})
                for content in page.frames[1:]:
                    await_height(content, "[data-testid=stMainBlockContainer]")
            first.button("Last").click()
            first.await_step(4)
            second.await_step(2)
            expect(first.button("Last")).to_be_in_viewport()
        journey.close(page)


def status(address: str, method: str, path: str, **headers: str) -> int:
    """Return the status of the answer to a request."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request(method, path, headers=headers)
    return connection.getresponse().status


def users_of_both(address: str, servers: list[Server]) -> list[str]:
    """Return a value of the user's cookie for each server, by which nginx leads to it."""

    async def load(cookie: str) -> str:
        """Return the path to which a tab sends its texts; one of the servers knows it."""
        async with connected(address, Measured(), f"{COOKIE}={cookie}") as user:
            await user.load()
            return str(payload_of(user.widgets["text_component"].bytes)["address"])

    users: dict[int, str] = {}
    for number in range(30):
        path = run(load(str(number)))
        answers = [status(server.address, "PUT", f"{path}/1") for server in servers]
        assert sorted(answers) == [204, 404]
        users.setdefault(answers.index(204), str(number))
        if len(users) == 2:
            break
    return [users[0], users[1]]


@pytest.mark.skipif(shutil.which("nginx") is None, reason="No nginx: apt-get install nginx-light")
def test_two_servers_behind_nginx_share_links_and_keep_their_tabs(
    journey: Journey, tmp_path: Path
) -> None:
    with proxied(tmp_path) as (address, servers):
        gate = Server(address, servers[0].log, servers[0].process)

        def opened(user: str, path: str) -> Page:
            page = journey.open(
                "/room",
                server=gate,
                prepare=lambda page: page.context.add_cookies(
                    [{"name": COOKIE, "value": user, "url": address}]
                ),
            )
            page.goto(address + path)
            return page

        with journey.step("The proxy and both servers answer to their name alone"):
            assert status(address, "GET", "/bpeviz/", Host="class.example") == 200
            for server in servers:
                assert status(server.address, "GET", "/bpeviz/", Host="class.example") == 200
                assert status(server.address, "GET", "/bpeviz/", Host="evil.example:8501") == 403
            users = users_of_both(address, servers)
        with journey.step("Two users, one on each server, open links at the same time"):
            pages = [opened(user, link(TEXT)) for user in users]
            for page in pages:
                Stage(page).await_text(TEXT)
        for number, page in enumerate(pages):
            own = f"{number} {TEXT}"
            with journey.step(f"User {number} opens a file, and saves a tokenizer"):
                open_file(page, "a.txt", own.encode())
                Stage(page).await_text(own)
                dialog = open_export(page)
                with page.expect_download() as download:
                    button(dialog, "Save tokenizer.json").click()
                assert download.value.path().stat().st_size > 1_000
                close_dialog(page)
        with journey.step("A short link of one server opens a long text on the other"):
            with pages[0].expect_response(lambda answer: "/texts/" in answer.url) as sent:
                type_text(pages[0], LONG)
            assert sent.value.status == 204
            open_share(pages[0])
            button(pages[0], "QR code").click()
            code = pages[0].get_by_role("dialog", name="QR code").locator("code")
            short = code.inner_text()
            assert "/bpeviz/?s=~" in short
            other = opened(users[1], short.removeprefix(address))
            expect(text_box(other)).to_have_value(LONG)
        assert [server.tracebacks() for server in servers] == ["", ""]
        journey.close(*pages, other)

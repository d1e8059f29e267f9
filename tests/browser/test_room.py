"""A room: a leader's page, followers that see the same step, and a vote."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from page_helpers import await_rest
from playwright.sync_api import Browser, Page, expect
from serving import OPTIONS, TIMEOUT, Server, serving


def beside(page: Page, address: str, prepare: Callable[[Page], None] | None = None) -> Page:
    """Open an address in the browser of a page."""
    other = page.context.new_page()
    if prepare:
        prepare(other)
    other.goto(address)
    return other


def room_link(page: Page) -> str:
    """Open a room on a page; return the address of the leader's page."""
    await_rest(page)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Open a room").click()
    return page.get_by_role("link", name="Open the leader's page").get_attribute("href") or ""


def tap_after(page: Page, atoms: int) -> None:
    """Tap in the text, behind some letters of its first line."""
    cell = page.locator("#place-task .c").nth(atoms - 1).bounding_box()
    assert cell
    page.mouse.click(cell["x"] + cell["width"] - 1, cell["y"] + cell["height"] / 2)


def answer(page: Page, kind: str, *, right: bool) -> str:
    """Answer by touch if wrong, and by keyboard if right; return what the page says was sent."""
    stage = page.locator("#place-task")
    if kind == "belief":
        words = "The ids that it gets do not show letters" if right else "It reads the letters"
        option = page.get_by_role("group", name="Answers").get_by_role("button", name=words)
        option.press("Enter") if right else option.click()
        expect(option).to_have_attribute("aria-pressed", "true")
        return f"Sent: {words}"
    if kind == "number":
        field = page.get_by_role("spinbutton", name="Bring the opening of Don Quijote")
        field.fill("100")
        expect(page.get_by_role("button", name="Send")).to_be_disabled()
        field.fill("18" if right else "20")
        field.press("Enter") if right else page.get_by_role("button", name="Send").click()
        return "Sent: 18." if right else "Sent: 20."
    if kind == "pair":
        stage.get_by_role("button", name="o + ·" if right else "a + ·").press("Enter")
        expect(stage.locator(".c.outlined").first).to_be_visible()
        said = "Sent: o + ·." if right else "Sent: a + ·."
    elif kind == "boundaries" and right:
        for between in ("t and r", "w and b"):
            stage.get_by_role("button", name=f"Boundary between {between}").press("Enter")
        said = "Sent: st | raw | berry."
    elif kind == "boundaries":
        tap_after(page, 5)
        said = "Sent: straw | berry."
    elif kind == "stop" and right:
        stage.locator(".track").focus()
        for _ in range(14):
            page.keyboard.press("ArrowRight")
        said = "Sent: after 14 merges."
    elif kind == "stop":
        stage.locator(".track").fill("39")
        said = "Sent: after 39 merges."
    else:
        places = stage.get_by_role("button", name="Fence between a and period", exact=True)
        after = stage.get_by_role("button", name="Fence between period and space", exact=True)
        commas = stage.get_by_role("button", name="Fence between a and comma", exact=True)
        behind = stage.get_by_role("button", name="Fence between comma and space", exact=True)
        fences = (places, after, commas, behind) if right else (after,)
        for fence in (button for group in fences for button in group.all()):
            fence.press("Enter")
        said = "Sent: casa | . |" if right else "Sent: casa. |"
    if kind != "fences":
        stage.get_by_role("button", name="Send").press("Enter")
    return said


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("boundaries", "why/letters/0"),
        pytest.param("pair", "merge/pair/0", marks=pytest.mark.thorough),
        pytest.param("stop", "stop/line/0", marks=pytest.mark.thorough),
        pytest.param("fences", "fences/apart/0", marks=pytest.mark.thorough),
        pytest.param("belief", "why/belief/0", marks=pytest.mark.thorough),
        pytest.param("number", "golf/merges/0", marks=pytest.mark.thorough),
    ],
)
def test_class_answers_on_the_stage(
    kind: str,
    key: str,
    open_page: Callable[..., Page],
    open_at: Callable[..., Page],
    server: Server,
) -> None:
    page = open_page("/Compare")
    link = room_link(page)
    leader = beside(page, link)
    room = link.removeprefix(server.address).partition("/lead")[0]
    phone = open_at(server, room, viewport={"width": 390, "height": 844}, color_scheme="dark")
    keyboard = open_at(server, room)
    expect(leader.get_by_text("2 followers")).to_be_visible()
    leader.get_by_label("Ask a question of Learn").select_option(key)
    leader.get_by_role("button", name="Ask this question").click()
    is_staged = kind not in ("belief", "number")
    place = "#place-task" if is_staged else ".vote"
    for member, is_right in ((keyboard, True), (phone, False)):
        said = answer(member, kind, right=is_right)
        expect(member.get_by_text(said)).to_be_visible()
        expect(member.locator(f"{place} .told")).to_be_hidden()  # nothing is judged
    expect(leader.get_by_text("2 of 2 have answered.")).to_be_visible()
    phone.reload()
    expect(phone.get_by_text("Sent: ")).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    late = open_at(server, room)
    expect(late.locator(f"{place} .prompt")).to_be_visible()
    expect(leader.locator(f"{place} .check")).to_be_hidden()
    leader.get_by_role("button", name="Show the answers").click()
    counts = {"boundaries": ".gap .count", "fences": ".gap .count", "stop": ".ticks span"}
    count = leader.locator(f"{place} {counts.get(kind, '.options .value')}")
    expect(count.filter(has_text="1").first).to_be_visible()
    leader.get_by_role("button", name="Reveal the answer").click()
    had = "2 answers." if kind == "number" else "1 of 2 had it."
    for member, words in ((keyboard, "Right."), (phone, "Not quite."), (late, "The answer.")):
        verdict = "For example:" if (kind, member) == ("fences", late) else words
        told = "18 merges, the fewest known." if kind == "number" else verdict
        expect(member.locator(f"{place} .told")).to_contain_text(told)
        expect(member.get_by_text(had)).to_be_visible()
    expect(leader.get_by_text(had)).to_be_visible()
    leader.get_by_role("button", name="Close the room").click()


ASK = """(message) => new Promise((done) => {
  const socket = new WebSocket(location.href.replace("http", "ws") + "/ws");
  socket.onopen = () => socket.send(JSON.stringify(message));
  socket.onmessage = ({ data }) => done(JSON.parse(data));
})"""
"""Sends a message of the leader's page; returns the first answer."""

OF_STRANGER = "This is the page of the room's leader."


def attack_rooms(address: str, teacher: Page, student: Page) -> None:
    """Try links of a student on a teacher who leads a room, and his on her room."""
    link, own_link = room_link(teacher), room_link(student)
    leader = beside(teacher, link)
    expect(leader.get_by_text("0 followers")).to_be_visible()
    assert leader.url == link.partition("?")[0], "the ticket leaves the address"
    stolen = beside(student, link)
    expect(stolen.get_by_role("alert")).to_contain_text(OF_STRANGER)

    # A link that names a room and a leader's token.
    planted = beside(teacher, f"{address}/?room=HACK.token-of-a-stranger&sheet=20-minutes.3")
    expect(planted.get_by_role("button", name="Step forward")).to_be_visible()
    planted.goto(f"{address}/room/HACK")
    expect(planted.get_by_role("alert")).to_contain_text("no room with these letters")

    # A room that the student really opened and leads: its addresses do nothing for the teacher.
    planted.goto(own_link)
    expect(planted.get_by_role("alert")).to_contain_text(OF_STRANGER)
    lead = beside(student, own_link)
    expect(lead.get_by_text("0 followers")).to_be_visible()
    lead.get_by_role("button", name="Close the room").click()
    expect(lead.get_by_role("alert")).to_contain_text("ended")
    again = {"do": "open again", "link": "/?s=eNqrVipJrSiJL07MLchJVbJSSkrMA0KlWgBwvwjC"}
    room = lead.url.removesuffix("/lead")
    frame = address + lead.evaluate(ASK, again)["frame"]
    assert re.fullmatch(r".*/\?ticket=[\w-]{22}", frame), "nothing else"
    planted.goto(frame)
    expect(planted.get_by_role("button", name="Step forward")).to_be_visible()
    planted.goto(room)
    expect(planted.get_by_role("alert")).to_contain_text("no room with these letters")
    lead.get_by_role("button", name="Open it again").click()
    expect(lead.get_by_text("0 followers")).to_be_visible()
    planted.goto(f"{room}/lead")
    expect(planted.get_by_role("alert")).to_contain_text(OF_STRANGER)

    # The teacher still leads the own room, and nobody else does.
    lead.goto(f"{leader.url}")
    expect(lead.get_by_role("alert")).to_contain_text(OF_STRANGER)
    leader.reload()
    expect(leader.get_by_text("0 followers")).to_be_visible()
    teacher.reload()
    teacher.get_by_role("button", name="Share").click()
    letters = leader.url.split("/")[-2]
    expect(teacher.get_by_role("button", name=f"Show in room {letters}")).to_be_visible()
    for page in (leader, lead):
        page.close()


def test_no_link_plants_or_takes_over_a_room(
    open_page: Callable[..., Page], server: Server
) -> None:
    """`tests/ui/room/test_tickets_of_page_runs.py` tests these links, without a browser."""
    attack_rooms(server.address, open_page("/"), open_page("/"))


SLOW = 2 * TIMEOUT
"""Milliseconds until a room is there on a new server, whose first page run takes long."""


@pytest.mark.parametrize("has_key", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_restarted_server_has_its_rooms_where_it_has_their_key(
    browser: Browser, tmp_path: Path, has_key: bool
) -> None:
    page, phone = (browser.new_context(**OPTIONS).new_page() for _ in range(2))
    environment = {"BPEVIZ_PASSWORD": "tea at four"}
    if has_key:
        environment["BPEVIZ_SHORT_LINKS_FILE"] = str(tmp_path / "links")
    with serving(tmp_path, **environment) as server:
        page.goto(server.address)
        page.get_by_label("Password").fill("tea at four")
        page.keyboard.press("Enter")
        leader = beside(page, room_link(page))
        written = re.compile("^[A-Z]{6}$")
        expect(leader.locator(".word b")).to_have_text(written, timeout=SLOW)
        word = leader.locator(".word b").inner_text()
        phone.goto(leader.url.removesuffix("/lead"))
        phone.get_by_label("room word").fill(word.lower())
        phone.keyboard.press("Enter")
        expect(phone.get_by_text("Following the leader")).to_be_visible()
        for content in (leader.content(), phone.content()):
            assert "tea at four" not in content
    with serving(tmp_path, port=urlsplit(server.address).port or 0, **environment):
        if has_key:
            leader.get_by_role("button", name="Open it again").click()
            expect(leader.get_by_text("1 follower")).to_be_visible(timeout=SLOW)
            expect(phone.get_by_text("Following the leader")).to_be_visible()
        else:
            for member in (leader, phone):
                expect(member.get_by_role("alert")).to_contain_text("This room is over: the server")
            expect(leader.get_by_role("button", name="Open it again")).to_be_hidden()
            leader.reload()
            expect(leader.get_by_role("alert")).to_contain_text("This room is over: the server")
        for member in (page, phone):
            member.context.close()
        assert server.tracebacks() == ""

"""A room: a leader's page, followers that see the same step, and a vote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from helpers import properties
from page_helpers import await_rest, close_dialog, go_to
from playwright.sync_api import Browser, Page, expect
from serving import OPTIONS, TIMEOUT, Server, serving


def kept(page: Page, path: Path) -> Any:
    """Save the file of a follower; return what it contains."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save what was shown").click()
    download.value.save_as(path)
    found = re.search(r'id="data">(.*)</script>', path.read_text(encoding="utf-8"))
    assert found
    return json.loads(found[1])


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


def test_class_follows_votes_and_sees_the_answer(
    open_page: Callable[..., Page], open_at: Callable[..., Page], server: Server, tmp_path: Path
) -> None:
    page = open_page("/Compare")
    expect(page.locator(".score-row").first).to_be_visible()
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Open a room").click()
    expect(page.get_by_text("start it with “python -m bpeviz room”")).to_be_visible()
    expect(page.locator("img.qr")).to_have_count(0)  # no phone could open it
    link = page.get_by_role("link", name="Open the leader's page").get_attribute("href") or ""
    letters = re.search(r"/room/(\w+)/lead\?ticket=", link)
    assert letters
    leader = beside(page, link)
    join = leader.get_by_text("start it with “python -m bpeviz room”")
    expect(join).to_be_in_viewport(ratio=1)
    expect(leader.get_by_role("img", name="QR code of the address")).to_be_hidden()
    assert leader.url.endswith("/lead")
    stage = leader.locator("#place-score")
    assert join.bounding_box()["x"] > stage.bounding_box()["x"] + stage.bounding_box()["width"]
    room = f"/room/{letters[1].lower()}"
    phone = open_at(server, room, viewport={"width": 390, "height": 844}, color_scheme="dark")
    keyboard = open_at(server, room)
    leader.locator(".score-row").first.locator(".c").first.hover()
    for follower in (phone, keyboard):
        expect(follower.locator(".count")).to_have_count(4)
        expect(follower.get_by_role("tooltip")).to_contain_text("She id 3347")

    close_dialog(page)
    go_to(page, "Train")
    expect(page.get_by_role("button", name="Step forward")).to_be_visible()
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Show in room").click()
    expect(phone.get_by_text("Following the leader: merge 0")).to_be_visible()
    expect(leader.get_by_text("2 followers")).to_be_visible()

    leader.get_by_role("button", name="Vote on the next step").click()
    options = phone.get_by_role("group", name="Pairs").get_by_role("button")
    options.nth(0).click()
    expect(options.nth(0)).to_have_attribute("aria-pressed", "true")
    expect(phone.locator(".c.outlined").first).to_be_visible()  # its places in the text
    phone.get_by_role("button", name="Send").click()
    keyboard.get_by_role("group", name="Pairs").get_by_role("button").nth(1).press("Enter")
    keyboard.get_by_role("button", name="Send").press("Enter")
    expect(leader.get_by_text("2 of 2 have answered.")).to_be_visible()
    leader.get_by_role("button", name="Show the answers").click()
    expect(options.nth(1)).to_contain_text("1")
    leader.get_by_role("button", name="Discuss, then vote again").click()
    for follower in (phone, keyboard):
        follower.get_by_role("group", name="Pairs").get_by_role("button").nth(1).press("Enter")
        follower.get_by_role("button", name="Send").press("Enter")
    expect(leader.get_by_text("2 of 2 have answered again.")).to_be_visible()
    leader.get_by_role("button", name="Show the answers").click()
    for member in (leader, phone):
        counted = member.get_by_role("group", name="Pairs").locator(".value")
        expect(counted.nth(1)).to_have_text("1 → 2")
        expect(counted.nth(0)).to_have_text("1 → 0")
    leader.set_viewport_size({"width": 1024, "height": 576})  # a projector at 125 %
    shown = (leader.get_by_text("Discuss, or reveal"), leader.get_by_role("button", name="Play"))
    for one in shown:
        expect(one).to_be_in_viewport(ratio=1)
    leader.get_by_role("button", name="Reveal the answer").click()
    expect(phone.locator(".options .wins")).to_contain_text("✓")
    expect(keyboard.get_by_text("Following the leader: merge 1")).to_be_visible()
    leader.get_by_role("button", name="Done").click()
    early = kept(keyboard, tmp_path / "early.html")
    _, content = early
    assert (
        len(content["player"]["views"][0]["steps"]["id"]) == len(content["races"][0]["first"]) == 1
    )

    leader.get_by_label("Speed").select_option("0.5")
    leader.get_by_role("button", name="Play", exact=True).click()
    expect(keyboard.get_by_text("playing at 0.5×")).to_be_visible()
    expect(phone.get_by_role("button", name="Pause")).to_be_visible()
    # A question stops the player, which would reveal the answer, and takes no keys meanwhile.
    leader.get_by_label("Ask a question of Learn").select_option(label="2.1 Merge 1")
    expect(leader.locator("#place-task").get_by_text("Which two neighbors")).to_be_visible()
    expect(leader.get_by_text("2.1 Merge 1. Only this page shows it")).to_be_visible()
    expect(phone.get_by_role("region", name="Vote")).to_be_hidden()  # only the leader sees it
    leader.get_by_role("button", name="Ask this question").click()
    expect(phone.get_by_role("button", name="n + ·")).to_be_visible()
    step = leader.locator("#place-player .step").input_value()
    leader.keyboard.press("ArrowRight")
    leader.get_by_role("button", name="Done").click()
    expect(phone.get_by_role("button", name="Last")).to_be_disabled()
    assert leader.locator("#place-player .step").input_value() == step
    leader.locator(".c", has_text="S").first.hover()
    for follower in (phone, keyboard):
        expect(follower.get_by_role("tooltip")).to_contain_text("id 83")

    leader.get_by_role("button", name="Last").click()
    sentence = leader.locator(".sentence").inner_text()
    expect(keyboard.get_by_text("Following the leader: merge 22")).to_be_visible()
    assert keyboard.locator(".sentence").inner_text() == sentence
    tokens = "[...document.querySelector('#place-player > div').shadowRoot.querySelectorAll('.c')]"
    classes = f"{tokens}.map((cell) => cell.className).join()"
    assert keyboard.evaluate(classes) == leader.evaluate(classes) != ""
    keyboard.get_by_role("button", name="Step back").click()
    expect(keyboard.get_by_text("Looking around")).to_be_visible()
    phone.reload()
    expect(phone.get_by_text("Following the leader: merge 22")).to_be_visible()
    assert phone.locator(".sentence").inner_text() == sentence
    keyboard.get_by_role("button", name="Back to the leader").click()
    expect(keyboard.get_by_text("Following the leader: merge 22")).to_be_visible()
    leader.get_by_role("button", name="Close the room").click()
    expect(phone.get_by_role("alert")).to_contain_text("ended")
    if properties.FAST:  # another test opens a room again
        return
    leader.get_by_role("button", name="Open it again").click()
    expect(phone.get_by_text("Following the leader: merge 22")).to_be_visible()
    assert phone.locator(".sentence").inner_text() == sentence
    leader.get_by_role("button", name="Close the room").click()
    expect(phone.get_by_role("alert")).to_contain_text("ended")
    late = tmp_path / "late.html"
    score, timeline = kept(phone, late)  # also after the reload
    assert "score" in score
    assert len(timeline["player"]["views"][0]["steps"]["id"]) == 22
    file = phone.context.new_page()
    file.goto(late.as_uri())
    expect(file.get_by_role("heading", level=1)).to_contain_text("step by step")
    file.get_by_role("button", name="Last").click()
    assert file.locator(".sentence").inner_text() == sentence


def test_leader_clicks_through_a_run_sheet(
    open_page: Callable[..., Page], open_at: Callable[..., Page], server: Server
) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Open a room").click()
    page.get_by_role("combobox", name="Run sheet").click()
    page.get_by_role("option", name="Tokenizers in 90 minutes").click()
    link = page.get_by_role("link", name="Open the leader's page").get_attribute("href") or ""
    leader = beside(page, link)
    leader.get_by_role("button", name="Next: show Train").click()
    expect(leader.get_by_text("Part 1 of 27 · minute 1 · planned until minute 5")).to_be_visible()
    follower = open_at(server, re.sub("/lead.*", "", link).removeprefix(server.address))
    expect(follower.get_by_text("Following the leader: merge 0")).to_be_visible()
    leader.get_by_role("button", name="Next: ask 0.1 GPT-4o's tokens").click()
    expect(follower.locator("#place-task .prompt")).to_contain_text("Where does GPT-4o split")
    leader.get_by_role("button", name="Next: show the answers").click()
    leader.get_by_role("button", name="Next: reveal the answer").click()
    expect(follower.locator("#place-task").get_by_text("The answer.")).to_be_visible()
    leader.get_by_text("Run sheet", exact=True).click()
    leader.get_by_role("button", name="vote at step 0").last.click()
    follower.get_by_role("group", name="Pairs").get_by_role("button").first.click()
    follower.get_by_role("button", name="Send").click()
    expect(leader.get_by_text("1 of 1 have answered.")).to_be_visible()
    leader.keyboard.press("PageDown")
    leader.get_by_role("button", name="Next: reveal the answer").click()
    expect(follower.locator(".options .wins")).to_contain_text("✓")
    leader.get_by_role("button", name="Which languages").last.click()
    expect(follower.get_by_role("heading", name="Which languages")).to_be_visible()
    assert "right" not in follower.get_by_role("region", name="Vote").inner_text()
    leader.get_by_role("button", name="Next: show the answers").click()
    leader.get_by_role("button", name="Next: reveal the answer").click()
    expect(follower.locator(".vote .wins")).to_contain_text("Those that were rare")
    leader.get_by_role("button", name="Next: show Algorithms").click()
    expect(follower.get_by_text("Following the leader: size")).to_be_visible()
    expect(leader.get_by_text("Part 25 of 27")).to_be_visible()
    leader.keyboard.press("PageUp")  # to the question, with its page
    expect(follower.get_by_role("heading", name="Which languages")).to_be_visible()
    expect(follower.locator("#place-score")).to_be_visible()
    leader.get_by_role("button", name="show Algorithms").click()
    expect(follower.get_by_text("Following the leader: size")).to_be_visible()
    follower.set_viewport_size({"width": 390, "height": 844})
    token = leader.locator(".score-row").nth(1).locator(".c").first
    token.scroll_into_view_if_needed()  # it is below the run sheet
    box = token.bounding_box()
    assert box
    leader.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    expect(follower.get_by_role("tooltip")).to_contain_text("S id")
    outlined = follower.locator(".score-row").filter(has=follower.locator(".outlined"))
    expect(outlined).to_contain_text("WordPiece")
    leader.get_by_role("button", name="Close the room").click()
    expect(leader.get_by_role("alert")).to_contain_text("ended")
    leader.reload()
    leader.get_by_role("button", name="Open it again").click()
    expect(leader.get_by_text("Part 25 of 27")).to_be_visible()
    expect(follower.get_by_text("Following the leader: size")).to_be_visible()
    leader.get_by_text("Run sheet", exact=True).click()
    leader.emulate_media(media="print")
    expect(leader.get_by_text("✓ Those that were rare in its training text")).to_be_visible()
    expect(leader.get_by_role("button", name="Play")).to_be_hidden()


def test_phone_shows_the_notes_until_it_is_sent_away(
    open_page: Callable[..., Page], open_at: Callable[..., Page], server: Server
) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Open a room").click()
    page.get_by_role("combobox", name="Run sheet").click()
    page.get_by_role("option", name="Tokenizers in 20 minutes").click()
    link = page.get_by_role("link", name="Open the leader's page").get_attribute("href") or ""
    leader = beside(page, link)
    phone = open_at(server, "/room", viewport={"width": 390, "height": 844})
    phone.get_by_role("link", name="Notes on this device").click()
    code = phone.locator(".code").inner_text()
    assert re.fullmatch("[A-Z]{4}", code)
    notes = leader.locator(".second summary")
    notes.click()
    field = leader.get_by_label("Code of a phone")
    field.fill(code)
    field.press("Enter")
    expect(notes).to_have_text("1 second screen with the notes")
    expect(field).to_be_hidden()  # the box would cover the picture
    notes.click()
    field.fill(code)
    field.press("Enter")
    expect(leader.locator(".screens")).to_contain_text("code")  # it was for one use
    phone.get_by_role("button", name="Next: show Train").click()
    expect(leader.get_by_text("Part 1 of 8")).to_be_visible()
    expect(phone.get_by_role("heading", name="show Train")).to_be_visible()
    expect(phone.get_by_text("Goals", exact=True)).to_be_visible()
    leader.get_by_role("button", name="Send it away").click()
    expect(phone.get_by_text("has sent this screen away")).to_be_visible()
    expect(field).to_be_hidden()
    leader.get_by_role("button", name="Close the room").click()


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


REFUSE_STORAGE = """
  const get = () => { throw new DOMException("", "SecurityError"); };
  for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get });
"""


def test_browser_that_refuses_storage_leads_and_votes_once(
    open_page: Callable[..., Page], open_at: Callable[..., Page], server: Server
) -> None:
    sockets: list[Any] = []

    def prepare(page: Page) -> None:
        page.add_init_script(REFUSE_STORAGE)
        page.route_web_socket("**/ws", lambda one: sockets.append((one, one.connect_to_server())))

    page = open_page("/")
    expect(page.get_by_role("button", name="Step forward")).to_be_visible()
    link = room_link(page)
    leader = beside(page, link, prepare)
    room = link.removeprefix(server.address).partition("/lead")[0]
    follower = open_at(server, room, prepare)
    expect(leader.get_by_text("1 follower")).to_be_visible()
    leader.reload()
    expect(leader.get_by_text("1 follower")).to_be_visible()  # it is connected again
    leader.get_by_role("button", name="Vote on the next step").click()
    options = follower.get_by_role("group", name="Pairs").get_by_role("button")
    options.nth(0).click()
    follower.get_by_role("button", name="Send").click()
    expect(leader.get_by_text("1 of 1 have answered.")).to_be_visible()
    for one, to_server in sockets:
        to_server.close()
        one.close()
    expect(follower.get_by_text("Connecting again …")).to_be_visible()
    expect(follower.get_by_text("Following the leader")).to_be_visible()
    expect(options.nth(0)).to_have_attribute("aria-pressed", "true")
    options.nth(1).click()
    follower.get_by_role("button", name="Send").click()
    expect(options.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(leader.get_by_text("1 of 1 have answered.")).to_be_visible()
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

"""A room: a leader's screen in three browsers, votes, a run sheet, and its notes in a window."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from journeys.journey import Journey
from journeys.people import (
    PHONE,
    Locator,
    Page,
    Stage,
    at_rest,
    await_equal,
    button,
    close_dialog,
    expect,
    go_to,
    open_room,
)

PROJECTOR = {"width": 1024, "height": 576}
"""The window of a projector that scales by 125 %."""

TEXTS = "The text under each tokenizer"

REFUSE_STORAGE = """
  const get = () => { throw new DOMException("", "SecurityError"); };
  for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get });
"""


def room_of(leads: str) -> str:
    """Return the path of a room for followers, from the link to the leader's page."""
    return re.sub(r"^https?://[^/]*|/lead.*", "", leads)


def follows(page: Page, step: str) -> None:
    """Wait until a follower is at the leader's step."""
    expect(page.get_by_text(f"Following the leader: {step}")).to_be_visible()


def sentence_of(page: Page) -> Callable[[], str]:
    """Return a function that reads what happens at a page's step."""
    return Stage(page).sentence.inner_text


def pairs(page: Page) -> Locator:
    """Return the pairs to vote on."""
    return page.get_by_role("group", name="Pairs").get_by_role("button")


def votes(page: Page, pair: int) -> None:
    """Vote by keyboard, once the vote is open."""
    expect(pairs(page).nth(pair)).to_be_enabled()
    pairs(page).nth(pair).press("Enter")
    button(page, "Send").press("Enter")


def select_question(leader: Page, key: str) -> None:
    leader.get_by_label("A question of Learn").select_option(key)


def told_in_room(page: Page) -> Locator:
    """Return the judgment of the answer to a question of Learn."""
    return page.locator(".told").filter(visible=True)


def moves_line(step: int) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.locator("#place-task").get_by_label("Step", exact=True).fill(str(step))
        button(page, "Send").press("Enter")

    return act


def fences(*places: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        for place in places:
            all_places = button(page, f"Fence between {place}")
            expect(all_places.first).to_be_visible()
            for fence in all_places.all():
                fence.press("Enter")

    return act


RIGHT, WRONG, SHOWN = "Right.", "Not quite.", "The answer."

AROUND_MARKS = ("a and period", "period and space", "a and comma", "comma and space")

QUESTIONS = {
    "stop/line/0": (
        (moves_line(14), "after 14 merges."),
        (moves_line(39), "after 39 merges."),
        (WRONG, RIGHT, SHOWN),
    ),
    "fences/apart/0": (
        (fences(*AROUND_MARKS), "casa | . |"),
        (fences("period and space"), "casa. |"),
        (WRONG, RIGHT, "For example:"),
    ),
}
"""Questions of Learn: a right answer, a wrong one, and the judgments of the wrong, the right, and
none, each answer as an act and the words that the page then says."""


def end(leader: Page) -> None:
    button(leader, "Close the room").click()
    expect(leader.get_by_role("alert")).to_contain_text("ended")


def saved(page: Page, path: Path) -> list[Any]:
    """Save the file of a follower; return the pages that it contains."""
    with page.expect_download() as download:
        button(page, "Save what was shown").click()
    download.value.save_as(path)
    data = re.search(r'id="data">(.*)</script>', path.read_text(encoding="utf-8"))
    assert data
    pages: list[Any] = json.loads(data[1])
    return pages


def test_class_follows_votes_and_takes_the_lesson_home(journey: Journey, tmp_path: Path) -> None:
    sockets: list[Any] = []

    def make_shy(page: Page) -> None:
        """Let a browser refuse storage, and collect its connections."""
        page.add_init_script(REFUSE_STORAGE)
        page.route_web_socket(
            "**/ws", lambda near: sockets.append((near, near.connect_to_server()))
        )

    with journey.step("Share on Compare opens a room; its page says how to join, beside the text"):
        page = journey.open("/Compare")
        leads = open_room(page)
        assert re.search(r"/room/\w+/lead\?ticket=", leads)
        expect(page.get_by_text("start it with “python -m bpeviz room”")).to_be_visible()
        leader = journey.beside(page, leads)
        join = leader.get_by_text("start it with “python -m bpeviz room”")
        expect(join).to_be_in_viewport(ratio=1)
        expect(leader.get_by_role("img", name="QR code of the address")).to_be_hidden()
        assert leader.url.endswith("/lead"), "the ticket leaves the address"
        text = leader.get_by_role("region", name=TEXTS).bounding_box()
        beside = join.bounding_box()
        assert text
        assert beside
        assert beside["x"] > text["x"] + text["width"]
    with journey.step("A phone, a keyboard, and a browser that refuses storage see the same text"):
        room = room_of(leads)
        phone = journey.open(room, viewport=PHONE, color_scheme="dark")
        keys = journey.open(room)
        shy = journey.open(room, viewport=PHONE, prepare=make_shy)
        class_ = (phone, keys, shy)
        expect(leader.get_by_text("3 followers")).to_be_visible()
        leader.locator(".c").first.hover()
        for member in class_:
            expect(member.get_by_role("tooltip")).to_contain_text("She id 3347")
    with journey.step("Show in room on Train replaces it, before the first merge"):
        close_dialog(page)
        go_to(page, "Train")
        expect(button(page, "Step forward")).to_be_visible()
        button(page, "Share").click()
        page.get_by_role("button", name="Show in room").click()
        follows(phone, "merge 0")
    with journey.step("They vote on the next merge by finger and by keyboard"):
        button(leader, "Vote on the next step").click()
        pairs(phone).nth(0).click()
        expect(pairs(phone).nth(0)).to_have_attribute("aria-pressed", "true")
        expect(phone.locator(".c.outlined").first).to_be_visible()  # its places in the text
        button(phone, "Send").click()
        for member in (keys, shy):
            votes(member, 1)
        expect(leader.get_by_text("3 of 3 have answered.")).to_be_visible()
    with journey.step("A lost connection returns with its answer, and counts once"):
        for near, server in sockets:
            server.close()
            near.close()
        expect(shy.get_by_text("Connecting again …")).to_be_visible()
        expect(shy.get_by_text("Following the leader")).to_be_visible()
        expect(pairs(shy).nth(1)).to_have_attribute("aria-pressed", "true")
        votes(shy, 0)
        expect(pairs(shy).nth(0)).to_have_attribute("aria-pressed", "true")
        expect(leader.get_by_text("3 of 3 have answered.")).to_be_visible()
    with journey.step("The answers are shown, discussed, and given again: both counts stand there"):
        button(leader, "Show the answers").click()
        expect(pairs(phone).nth(0)).to_contain_text("2")
        button(leader, "Discuss, then vote again").click()
        for member in class_:
            votes(member, 1)
        expect(leader.get_by_text("3 of 3 have answered again.")).to_be_visible()
        button(leader, "Show the answers").click()
        for member in (leader, phone):
            counts = member.get_by_role("group", name="Pairs").locator(".value")
            expect(counts.nth(0)).to_have_text("2 → 0")
            expect(counts.nth(1)).to_have_text("1 → 3")
    with journey.step("On a projector, the question and Play need no scrolling"):
        leader.set_viewport_size(PROJECTOR)
        for part in (leader.get_by_text("Discuss, or reveal"), button(leader, "Play")):
            expect(part).to_be_in_viewport(ratio=1)
    with journey.step("The answer is revealed by the merge; a file saved now ends with it"):
        button(leader, "Reveal the answer").click()
        expect(phone.locator(".options .wins")).to_contain_text("✓")
        follows(keys, "merge 1")
        expect(leader.locator("#place-player .c").last).to_be_in_viewport(ratio=1)
        button(leader, "Done").click()
        _, content = saved(keys, tmp_path / "early.html")
        assert len(content["player"]["views"][0]["steps"]["id"]) == 1
    with journey.step("They play with the leader, at the leader's speed"):
        leader.get_by_label("Speed").select_option("0.5")
        button(leader, "Play").click()
        expect(keys.get_by_text("playing at 0.5×")).to_be_visible()
        expect(button(phone, "Pause")).to_be_visible()
    with journey.step("A question of Learn stops it"):
        select_question(leader, "why/letters/0")
        expect(phone.get_by_role("region", name="Vote")).to_be_hidden()
        step = Stage(leader).track.first.input_value()
        button(leader, "Ask it").click()
        expect(leader.get_by_text("0 of 3 have answered.")).to_be_visible()
        leader.keyboard.press("ArrowRight")
        expect(button(phone, "Boundary between t and r")).to_be_visible()
    with journey.step("They answer on the letters, right by keyboard, wrong by finger; a reload"):
        for between in ("t and r", "w and b"):
            button(keys, f"Boundary between {between}").press("Enter")
        button(keys, "Send").press("Enter")
        expect(keys.get_by_text("Sent: st | raw | berry.")).to_be_visible()
        for member in (phone, shy):
            cell = at_rest(member.locator("#place-task .c").nth(4))
            member.mouse.click(cell["x"] + cell["width"] - 1, cell["y"] + cell["height"] / 2)
            button(member, "Send").press("Enter")
            expect(member.get_by_text("Sent: straw | berry.")).to_be_visible()
            expect(member.locator(".told").first).to_be_hidden()  # nothing is judged
        phone.reload()
        expect(phone.get_by_text("Sent: straw | berry.")).to_be_visible()
        assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        expect(leader.get_by_text("3 of 3 have answered.")).to_be_visible()
    with journey.step("Each sees who was right; afterwards all are at the step from before"):
        button(leader, "Show the answers").click()
        button(leader, "Reveal the answer").click()
        for member, judgment in ((keys, "Right."), (phone, "Not quite."), (shy, "Not quite.")):
            expect(member.locator("#place-task .told")).to_contain_text(judgment)
            expect(member.get_by_text("1 of 3 had it.")).to_be_visible()
        button(leader, "Done").click()
        follows(phone, f"merge {step}")
        expect(button(phone, "Last")).to_be_disabled()  # of the steps that they know
    with journey.step("Other questions: a place of the line, fences"):
        for key, (right, wrong, judgments) in QUESTIONS.items():
            select_question(leader, key)
            button(leader, "Ask it").click()
            for member, (act, sent) in ((keys, right), (phone, wrong)):
                act(member)
                expect(member.get_by_text(f"Sent: {sent}")).to_be_visible()
            button(leader, "Show the answers").click()
            button(leader, "Reveal the answer").click()
            for member, judgment in zip(class_, judgments, strict=True):
                expect(told_in_room(member)).to_contain_text(judgment)
            button(leader, "Done").click()
            expect(leader.get_by_role("region", name="Vote")).to_be_hidden()
    with journey.step("At the last merge, all have the leader's words and tokens"):
        button(leader, "Last").click()
        follows(keys, "merge 22")
        await_equal(sentence_of(keys), Stage(leader).sentence.inner_text())
        await_equal(Stage(keys).pieces, Stage(leader).pieces())
    with journey.step("A follower looks around and returns; a reload returns, too"):
        button(keys, "Step back").click()
        expect(keys.get_by_text("Looking around")).to_be_visible()
        phone.reload()
        follows(phone, "merge 22")
        await_equal(sentence_of(phone), Stage(leader).sentence.inner_text())
        button(keys, "Back to the leader").click()
        follows(keys, "merge 22")
    with journey.step("The room ends during a vote, which is closed on every screen"):
        select_question(leader, "why/belief/0")
        button(leader, "Ask it").click()
        expect(phone.get_by_role("button", name="It gets a number")).to_be_visible()
        end(leader)
        for member in (leader, phone):
            expect(member.get_by_role("alert")).to_contain_text("ended")
            expect(member.get_by_role("region", name="Vote")).to_be_hidden()
    with journey.step("The file with both pages, saved after the end, plays from a folder"):
        path = tmp_path / "late.html"
        first, second = saved(phone, path)
        assert "score" in first
        assert len(second["player"]["views"][0]["steps"]["id"]) == 22
        journey.close(phone)
        phone = page.context.new_page()
        phone.goto(path.as_uri())
        expect(phone.get_by_role("heading", level=1)).to_contain_text("step by step")
        button(phone, "Last").click()
        await_equal(sentence_of(phone), Stage(leader).sentence.inner_text())
    journey.close(page, leader, keys, shy)


def test_leader_clicks_through_a_run_sheet_with_notes_in_a_window(journey: Journey) -> None:
    with journey.step("The first part is shown, with its minutes"):
        page = journey.open("/")
        leads = open_room(page, "Tokenizers in 45 minutes")
        leader = journey.beside(page, leads)
        button(leader, "Next: show Train").click()
        expect(leader.get_by_text("minute 1 · planned until minute 2")).to_be_visible()
        follower = journey.open(room_of(leads))
        follows(follower, "merge 0")
    with journey.step("A window with the notes leads on, and shows what the part is for"):
        with leader.expect_popup() as popup:
            button(leader, "Notes").click()
        notes = popup.value
        button(notes, "Next: ask why/letters: strawberry").click()
        expect(leader.get_by_text("Part 2 of 15")).to_be_visible()
        expect(follower.locator("#place-task .prompt")).to_contain_text("Where does GPT-4o split")
        expect(notes.get_by_role("heading", name="ask why/letters")).to_be_visible()
        expect(notes.get_by_text("st | raw | berry")).to_be_visible()
        button(leader, "Next: show the answers").click()
        button(leader, "Next: reveal the answer").click()
        expect(follower.get_by_text("The answer.").first).to_be_visible()
    with journey.step("A reload of the leader's page keeps the room, and its window"):
        leader.reload()
        expect(leader.get_by_text("Part 2 of 15")).to_be_visible()
        expect(notes.get_by_role("heading", name="ask why/letters")).to_be_visible()
    with journey.step("Parts are chosen from the list: a vote at a step, a question of the sheet"):
        leader.get_by_text("Run sheet", exact=True).click()
        leader.get_by_role("button", name="vote at step 0").last.click()
        votes(follower, 0)
        expect(leader.get_by_text("1 of 1 have answered.")).to_be_visible()
        leader.keyboard.press("PageDown")
        button(leader, "Next: reveal the answer").click()
        expect(follower.locator(".options .wins")).to_contain_text("✓")
        leader.get_by_role("button", name="Which languages").last.click()
        expect(follower.get_by_role("heading", name="Which languages")).to_be_visible()
        assert "right" not in follower.get_by_role("region", name="Vote").inner_text()
        button(leader, "Next: show the answers").click()
        button(leader, "Next: reveal the answer").click()
        expect(follower.locator(".vote .wins")).to_contain_text("Those that were rare")
    with journey.step("Another part brings its page, and the question its own again"):
        leader.get_by_role("button", name="show Train").click()
        follows(follower, "merge")
        leader.get_by_role("button", name="Which languages").last.click()
        expect(follower.get_by_role("heading", name="Which languages")).to_be_visible()
        leader.keyboard.press("PageUp")
        expect(follower.get_by_role("region", name=TEXTS)).to_be_visible()
        expect(leader.get_by_text("Part 14 of 15")).to_be_visible()
    with journey.step("A token that the leader points at is lit, and its row is named"):
        token = at_rest(leader.locator(".score-row").first.locator(".c").first)
        leader.mouse.move(token["x"] + 3, token["y"] + token["height"] / 2)
        card = follower.get_by_role("tooltip")
        expect(card).to_contain_text("In id 818")
        for row, weight in (("GPT-2", "600"), ("GPT-4o", "400")):
            expect(card.get_by_text(row, exact=True)).to_have_css("font-weight", weight)
    with journey.step("The sheet is printed with its answers"):
        leader.emulate_media(media="print")
        expect(leader.get_by_text("✓ Those that were rare in its training text")).to_be_visible()
        expect(button(leader, "Play")).to_be_hidden()
        leader.emulate_media(media="screen")
        end(leader)
    notes.close()
    journey.close(page, leader, follower)

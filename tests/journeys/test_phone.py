"""On a phone: the text and Play in the first view, large buttons, and nothing too wide."""

from __future__ import annotations

from journeys.journey import Journey
from journeys.people import (
    PHONE,
    Grid,
    Rows,
    Stage,
    button,
    expect,
    go_to,
    press_between,
    size_of_vocabulary,
    text_box,
    told,
    type_text,
)
from journeys.test_every_page import assert_no_wider

TITLES = ("GPT-2", "GPT-4 (cl100k)", "Your tokenizer")


def test_a_phone_plays_and_compares(journey: Journey) -> None:
    with journey.step("Title, line of the text, settings and the whole text need no scrolling"):
        page = journey.open("/", viewport=PHONE, has_touch=True, is_mobile=True)
        stage = Stage(page)
        expect(stage.last).to_have_text("22")
        settings = [button(page, "BPE"), button(page, "this text"), size_of_vocabulary(page)]
        for part in (page.get_by_role("heading", level=1), text_box(page), *settings, stage.text):
            expect(part).to_be_in_viewport(ratio=0.9)
        for part in (*settings, text_box(page)):
            assert (part.bounding_box() or {})["height"] >= 40
        assert_no_wider(page)
    with journey.step("The buttons are large enough for a finger, and play"):
        for name in ("First", "Step back", "Play", "Step forward", "Last"):
            box = stage.button(name).bounding_box()
            assert box
            assert min(box["width"], box["height"]) >= 40, name
            assert 0 <= box["x"] <= 390 - box["width"]
        stage.button("First").tap()
        stage.button("Play").tap()
        stage.await_step(1)
        stage.button("Pause").tap()
        assert stage.step > 0
    with journey.step("The pages are in the header, none beside the screen"):
        links = page.get_by_role("navigation", name="Pages").get_by_role("link").all()
        assert len(links) == 6
        for part in (*links, button(page, "Share")):
            box = part.bounding_box()
            assert box
            assert 0 <= box["x"] <= 390 - box["width"]
            assert box["y"] + box["height"] <= 90
    with journey.step("A typed text is used"):
        type_text(page, "low lower lowest low lower")
        stage.await_text("low lower lowest low lower")
    with journey.step("Compare has its rows one below the other"):
        go_to(page, "Compare")
        rows = Rows(page)
        tops = []
        for title in TITLES:
            rows.await_text(title, "lowest")
            tops.append((rows.row(title).first.bounding_box() or {})["y"])
        assert tops == sorted({*tops})
        assert_no_wider(page)
        cross = button(page, "Remove GPT-2").bounding_box()
        assert cross
        assert min(cross["width"], cross["height"]) >= 24
    with journey.step("Inspect breaks its lines"):
        go_to(page, "Inspect")
        grid = Grid(page)
        expect(grid.cells("ids").first).to_be_attached()
        assert "".join(grid.row("bytes")) == b"low lower lowest low lower".hex().upper()
        grid.closer("Merge diagram")
        expect(grid.blocks.first).to_be_visible()
        assert_no_wider(page)
    with journey.step("A question of Learn is answered by touch"):
        page.goto(f"{journey.server.address}/Learn?chapter=merge")
        expect(page.get_by_role("button", name="o and space", exact=True).first).to_be_attached()
        press_between(page, "o and space")
        button(page, "Merge this pair").click()
        told(page, "Right.")
        assert_no_wider(page)

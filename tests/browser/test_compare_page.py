"""The Compare page: the score, difference marks, hovering, metrics, and a test text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from page_helpers import (
    ENGLISH,
    Locator,
    Page,
    Score,
    box_at_rest,
    english,
    expect,
    labelled,
    link,
    open_menu,
    train_on,
    trained,
    type_text,
    unfold,
)
from PIL import Image

import bpeviz
from bpeviz.analysis import figures
from bpeviz.analysis.comparison import Comparison
from bpeviz.analysis.figures import measure
from bpeviz.analysis.metrics import Column
from bpeviz.pretrained.catalog import TITLES

Open = Callable[..., Page]
Share = Callable[[str], Page]


def columns_of(text: str, *names: str) -> list[Column]:
    """Return the columns that Python computes, the user's tokenizer first."""
    training, boundaries = trained(text)
    found = [Column("Your tokenizer", training.tokenizer(), boundaries, len(training.merges))]
    for name in names:
        tokenizer = bpeviz.load(name)
        boundaries = tokenizer.boundaries(text)
        found.append(Column(TITLES[name], tokenizer, boundaries, tokenizer.steps))
    return found


def same_in_all(columns: list[Column]) -> int:
    """Return the number of tokens that all columns have."""
    return len(set.intersection(*({*pairwise((0, *column.cuts.tolist()))} for column in columns)))


def test_deep_link_shows_verdict_rows_and_marks(open_page: Open) -> None:
    page = open_page(english("/Compare"))
    page.set_viewport_size({"width": 1280, "height": 768})
    score = Score(page)
    columns = columns_of(ENGLISH, "gpt2", "cl100k_base", "o200k_base")
    counts = [column.tokens for column in columns]
    for column in columns:
        score.await_text(column.title, "river")
        assert score.drawn_boundaries(column.title) == column.tokens
        assert score.about(column.title).startswith(f"{column.tokens} tokens")
        lines = score.row(column.title).locator(".score-name b").all_text_contents()
        assert sum(map(int, lines)) == column.tokens, "each token is counted in one line"
    percents = f"{(counts[1] - counts[3]) / counts[1]:.1%} fewer than GPT-2"
    assert counts[3] == min(counts)
    verdict = f"GPT-4o (o200k) needs the fewest tokens: {counts[3]}, {percents}"
    expect(page.get_by_text(verdict)).to_be_visible()
    assert "Fewest" in score.about("GPT-4o (o200k)")
    expect(score.frame.get_by_text("Fewest")).to_have_count(1)
    # What is equal in all rows is pale and ends in a tick.
    same = same_in_all(columns)
    assert 0 < same < min(counts)
    for column in columns:
        assert score.count(column.title, "tick") == same
        expect(score.row(column.title).locator(".c.t.tick")).to_have_count(0)
    expect(score.frame.get_by_text("the same in all rows")).to_be_visible()
    open_menu(page, "compare_menu")
    page.get_by_text("Color every token").click()
    expect(score.frame.get_by_text("after a longer token")).to_be_visible()
    river = score.row("GPT-2").locator(".c.t").filter(has_text="river").first
    expect(river).to_have_class(re.compile(r"color\d+ b$"))
    open_menu(page, "compare_menu")
    page.get_by_text("Color every token").click()
    expect(score.frame.get_by_text("the same in all rows")).to_be_visible()
    expect(score.row("GPT-2").locator(".c.t").filter(has_text="river")).to_have_count(0)

    # On a projector, the verdict and several lines of text need no scrolling, and text is enlarged.
    page.set_viewport_size({"width": 1024, "height": 576})
    answer = page.get_by_text(verdict).bounding_box()
    text_box = box_at_rest(score.text)
    assert answer["y"] < 130
    assert min(text_box["y"] + text_box["height"], 576) - text_box["y"] > 100
    projector = score.frame.get_by_role("button", name="Projector")
    projector.click()
    expect(score.frame.get_by_text(verdict)).to_be_visible()
    assert page.evaluate("document.fullscreenElement !== null")
    page.keyboard.press("p")
    expect(score.frame.get_by_text(verdict)).to_be_hidden()

    # The user's own tokenizer is removed like the others.
    page.get_by_role("button", name="Remove Your tokenizer").click()
    expect(score.row("Your tokenizer")).to_have_count(0)
    score.await_text("GPT-2", "river")

    open_menu(page, "compare_menu")
    page.get_by_text("Token ids").click()
    first = bpeviz.load("gpt2").encode(ENGLISH)[:3]
    expect(score.row("GPT-2").first.locator(".labels i").nth(2)).to_have_text(str(first[2]))
    assert score.drawn_boundaries("GPT-2") == counts[1]

    page.set_viewport_size({"width": 390, "height": 844})
    expect(score.row("GPT-2").first).to_be_visible()
    name = score.head("GPT-2").locator(".unbroken")
    expect(name).to_have_text("GPT-2")
    expect(name).to_have_css("white-space", "nowrap")


def test_hovering_a_token_dims_all_but_its_span_in_every_row(share_page: Share) -> None:
    page = share_page(english("/Compare"))
    score = Score(page)
    titles = ("Your tokenizer", "GPT-2", "GPT-4 (cl100k)")
    for title in titles:
        score.await_text(title, "river")
    # Nothing moves under the pointer any more.
    expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    at = ENGLISH.index(" lighthouse")
    for _ in range(20):
        score.hover("GPT-2", at + 3)
        if score.highlighted("GPT-2") == " lighthouse":
            break
        page.wait_for_timeout(500)
    expect(score.card).to_contain_text("Your tokenizer")
    assert " lighthouse" in score.highlighted("Your tokenizer")
    assert [score.highlighted(title) for title in titles[1:]] == [" lighthouse"] * 2
    ids = bpeviz.load("gpt2").encode(" lighthouse")
    assert len(ids) == 1
    expect(score.card).to_contain_text(f"id {ids[0]}")
    expect(score.card).to_contain_text("20 6C 69 67 68 74 68 6F 75 73 65 from ·l + ighthouse")
    page.get_by_role("heading", name="Metrics").hover()
    expect(score.card).to_be_hidden()
    assert [score.highlighted(title) for title in titles] == ["", "", ""]
    # By keyboard, and in words for screen readers.
    for key in "..,":
        page.keyboard.press(key)
    status = score.frame.locator("[role=status]")
    expect(status).to_have_text("Your tokenizer: W. GPT-2: Where. GPT-4: Where. GPT-4o: Where")
    page.keyboard.press("Escape")
    expect(score.card).to_be_hidden()


def test_tooltip_of_a_line_higher_than_the_window_is_inside_it(share_page: Share) -> None:
    page = share_page(english("/Compare"))
    page.set_viewport_size({"width": 1366, "height": 200})
    score = Score(page)
    score.await_text("GPT-2", "river")
    score.hover("GPT-2", ENGLISH.index(" lighthouse") + 3)
    expect(score.card).to_be_visible()
    box = score.card.bounding_box()
    assert box
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 200


def test_rows_that_are_equal_have_all_colors_and_say_so(open_page: Open) -> None:
    how = {"compared": ["cl100k_base", "o200k_base"]}
    page = open_page(link("She sells shells", "/Compare", **how))
    score = Score(page)
    score.await_text("GPT-4o", "shells")
    expect(score.frame.get_by_text("All rows are equal.")).to_be_visible()
    expect(score.row("GPT-4o").locator(".c.t.b")).to_have_count(3)


def test_metrics_equal_python_on_training_and_test_text(open_page: Open) -> None:
    page = open_page(english("/Compare"))
    expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    expect(page.get_by_text("Your tokenizer was trained on this text")).to_be_visible()
    # The icon before these words is not read out.
    expect(page.locator('[aria-label="balance icon"]')).to_have_attribute("aria-hidden", "true")
    unfold(page, "More metrics")
    columns = columns_of(ENGLISH, "gpt2", "cl100k_base", "o200k_base")
    table = page.locator("table.facts")
    expect(table).to_have_count(2)

    def shown(row: str, column: int) -> Locator:
        return table.locator("tr").filter(has_text=row).locator("td").nth(column)

    for number, measured in enumerate(measure(ENGLISH, columns, 1), 1):
        for figure in (figures.bytes_per_token, figures.whole_words, figures.f1):
            value = figure.text(figure.of(measured))
            expect(shown(figure.name, number)).to_have_text(value)
    unfold(page, "By vocabulary size")
    expect(page.get_by_test_id("stVegaLiteChart")).to_be_visible()

    train_on(page, "english-prose")
    text = "the keeper bakes zebras, quickly"
    type_text(page, text)
    expect(page.get_by_text("Your tokenizer was trained on English prose")).to_be_visible()
    score = Score(page)
    for title in ("Your tokenizer", "GPT-2", "GPT-4 (cl100k)"):
        score.await_text(title, "zebras")
    training, _ = trained(ENGLISH)
    tokens = len(training.tokenizer().encode(text))
    assert score.drawn_boundaries("Your tokenizer") == tokens


def test_signs_of_several_bytes_have_rulers_and_others_no_empty_row(share_page: Share) -> None:
    page = share_page("/Compare")
    type_text(page, "ภาษาไทย\nThai, which has too many letters for another column beside it")
    score = Score(page)
    score.await_text("GPT-2", "ไ")
    rulers = [one.bounding_box() for one in score.row("GPT-2").locator(".atoms").all()]
    assert len(rulers) == len("ภาษาไทย")
    for left, right in pairwise(rulers):
        assert left["x"] + left["width"] <= right["x"] + 1
    ruled, plain = (row.bounding_box() for row in score.row("GPT-2").all())
    assert ruled["height"] > plain["height"]


MANY = "# English\nWhere is the river?\n# Spanish\n¿Dónde está el río?\n# Hindi\nनदी कहाँ है?\n"


def test_many_texts_are_compared_in_one_table(open_page: Open, tmp_path: Path) -> None:
    page = open_page(link(ENGLISH, "/Compare", compared=["gpt2", "o200k_base"]))
    open_menu(page, "many_menu")
    page.get_by_role("radio", name="Many texts").click()
    label = "Tokens of 34 texts relative to English, sorted by GPT-4o"
    chart = page.locator(f".dots svg[aria-label^='{label}']")
    expect(chart.locator(".row")).to_have_count(34)
    assert chart.bounding_box()["width"] > 800, "the width of the page"
    names = chart.locator(".name").all_text_contents()
    assert (names[0], names[-1]) == ("Amharic", "English")
    first = chart.locator(".row").first.locator(".mark.best")
    expect(first).to_have_accessible_name(re.compile(r"Amharic, GPT-4o \(o200k\): 6\.\d\d \(.*×"))
    expect(chart.locator(".interval")).to_have_count(68)

    # By keyboard: to the next text, and from mark to mark, then open the text.
    first.focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Burmese under GPT-2 and")).to_be_visible()
    expect(chart.locator("[aria-selected]")).to_have_accessible_name(re.compile("Burmese, GPT-2"))
    page.get_by_role("button", name="Back to all texts").click()
    expect(Score(page).frame).to_have_count(0)
    for kind in ("svg", "png"):
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"Save as {kind.upper()}").click()
        saved.value.save_as(tmp_path / f"plot.{kind}")
    drawn = (tmp_path / "plot.svg").read_text("utf-8")
    assert all(f">{word}<" in drawn for word in ("Amharic", "English", "GPT-4o (o200k) 6.07×"))
    assert Image.open(tmp_path / "plot.png").width > 1000

    page.get_by_role("tab", name="Table").click()
    page.get_by_role("radio", name="Tokens", exact=True).click()
    table = labelled(page, "[role=grid]", "Tokens of 34 texts")
    expect(table.locator("tr")).to_have_count(35)
    table.locator("td").last.scroll_into_view_if_needed()
    expect(table.locator("th").last).to_be_in_viewport()
    page.get_by_role("radio", name="× English").click()
    table = labelled(page, "[role=grid]", "Tokens of 34 texts relative to English")
    expect(table.locator("tr")).to_have_count(35)
    page.set_viewport_size({"width": 390, "height": 844})
    table.locator("td").last.scroll_into_view_if_needed()
    expect(table.locator("th").last).to_be_in_viewport()
    heights = "rows => new Set(rows.map((row) => row.offsetHeight)).size"
    assert table.locator("tbody tr").evaluate_all(heights) == 1
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("radio", name="Tokens", exact=True).click()
    type_text(page, MANY, "Texts. Start each")
    found = compare_texts(MANY)
    table = labelled(page, "[role=grid]", "Tokens of 3 texts")
    expect(page.get_by_text(found.verdict)).to_be_visible()
    for row in found.rows:
        cells = table.locator("tr").filter(has_text=row.text).locator("td")
        cell = cells.nth(1 if row.tokenizer == "GPT-2" else 2)
        expect(cell.locator("bdi")).to_have_text(f"{row.tokens:,}")
        others = [one.tokens for one in found.rows if one.text == row.text]
        is_best = row.tokens == min(others) < max(others)
        expect(cell.get_by_text("fewest")).to_have_count(int(is_best))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download CSV").click()
    saved.value.save_as(tmp_path / "texts.csv")
    written = (tmp_path / "texts.csv").read_text("utf-8-sig").splitlines()
    assert [line.split(",")[:3] for line in written[1:]] == [
        [row.text, row.tokenizer, str(row.tokens)] for row in found.rows
    ]

    # By keyboard: sort by a title, and open a text under a tokenizer.
    head = table.locator("th").nth(1)
    head.focus()
    head.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(table.locator("td").first).to_have_text("Hindi")
    page.keyboard.press("Space")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(table.locator("td").first).to_have_text("English")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    cell = table.locator("tr").filter(has_text="Spanish").locator("td").nth(2)
    expect(cell).to_be_focused()
    page.keyboard.press("Enter")
    expect(
        page.get_by_role("heading", name="Spanish under GPT-2 and GPT-4o (o200k)")
    ).to_be_visible()
    Score(page).await_text("GPT-4o", "el")
    expect(Score(page).frame).to_be_in_viewport()
    expect(cell).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Back to all texts").click()
    expect(cell).to_be_focused()
    expect(Score(page).frame).to_have_count(0)
    expect(table.locator("td").first).to_have_text("English")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as SVG").click()
    saved.value.save_as(tmp_path / "texts.svg")
    drawn = (tmp_path / "texts.svg").read_text("utf-8")
    assert drawn.index(">English<") < drawn.index(">Spanish<") < drawn.index(">Hindi<")
    place = {word: float(x) for x, word in re.findall(r'<text x="([^"]+)"[^>]*>([^<]+)<', drawn)}
    assert all(place["English"] < place[f"{row.tokens:,}"] for row in found.rows)
    assert all(f">{row.tokens:,}<" in drawn for row in found.rows)

    # Files are opened together; one that is not a text does not keep the others out.
    page.get_by_role("button", name="Open files").click()
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
        [
            {"name": "t.csv", "mimeType": "text/csv", "buffer": b"en,de\nthe sea,das Meer\n"},
            {"name": "b.txt", "mimeType": "text/plain", "buffer": b"\xff\xfel\x00"},
        ]
    )
    expect(page.get_by_text("b.txt is not UTF-8 text")).to_be_visible()
    page.keyboard.press("Escape")
    table = labelled(page, "[role=grid]", "Tokens of 5 texts")
    expect(table.locator("tr").filter(has_text="de")).to_have_count(1)
    page.get_by_role("radio", name="One text").click()
    Score(page).await_text("GPT-2", "river")


def compare_texts(pasted: str) -> Comparison:
    """Return the comparison of pasted texts with the library."""
    parts = pasted.removeprefix("# ").split("\n# ")
    texts = dict(part.rstrip("\n").split("\n", 1) for part in parts)
    tokenizers = {TITLES[name]: bpeviz.load(name) for name in ("gpt2", "o200k_base")}
    return bpeviz.compare(texts, tokenizers, "English")


def test_blank_line_is_thin_in_all_rows(share_page: Share) -> None:
    page = share_page("/Compare")
    type_text(page, "a = 1\n\nb = 2\n")
    lines = Score(page).frame.locator(".line")
    expect(lines).to_have_count(3)
    full, blank, _ = lines.evaluate_all("all => all.map(line => line.offsetHeight)")
    assert blank < full / 3

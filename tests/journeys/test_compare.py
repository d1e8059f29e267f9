"""Compare: one text under several tokenizers, tokenizers from files, and many texts."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from journeys.journey import Journey
from journeys.people import (
    ENGLISH,
    PARAGRAPH,
    PHONE,
    SCREEN,
    Locator,
    Page,
    Rows,
    alert,
    await_equal,
    await_run,
    button,
    close_dialog,
    download,
    expect,
    go_to,
    link,
    menu,
    open_export,
    open_tokenizer,
    train_on,
    trained,
    type_text,
    unfold,
)
from PIL import Image

import bpeviz
from bpeviz import formats
from bpeviz.analysis import figures
from bpeviz.analysis.figures import measure
from bpeviz.analysis.metrics import Column
from bpeviz.pretrained.catalog import TITLES

NAMES = ("gpt2", "cl100k_base", "o200k_base")
MANY = "# English\nWhere is the river?\n# Spanish\n¿Dónde está el río?\n# Hindi\nनदी कहाँ है?\n"
LIGHTHOUSE = "The old lighthouse keeper counted the boats that came back at night."
LINES = (
    "from dataclasses import dataclass\n\n\nthe cat\nthe dog\nthe sun\n"
    "            return dataclasses.field(default=None)\n"
)
MARKED = "naïve 世界 👍🏽, שלום <b>&amp;</b>\tand\n"


def columns_of(text: str) -> list[Column]:
    """Return the columns that Python computes, the user's tokenizer last."""
    columns = []
    for name in NAMES:
        tokenizer = bpeviz.load(name)
        own = tokenizer.boundaries(text)
        columns.append(Column(TITLES[name], tokenizer, own, tokenizer.steps))
    training, boundaries = trained(text)
    size = len(training.merges)
    columns.append(Column("Your tokenizer", training.tokenizer(), boundaries, size))
    return columns


def test_one_text_under_several_tokenizers(journey: Journey) -> None:
    columns = columns_of(LIGHTHOUSE)
    counts = [column.tokens for column in columns]
    with journey.step("Rows, counts, marks and the verdict are those that Python computes"):
        page = journey.open(link(LIGHTHOUSE, "/Compare"))
        rows = Rows(page)
        published = columns[:3]
        tokens = ({*pairwise((0, *it.cuts.tolist()))} for it in published)
        same = len(set.intersection(*tokens))
        assert 0 < same < min(counts)
        for column in columns:
            rows.await_text(column.title, "boats")
            rows.await_count(column.title, f"{column.tokens} tokens")
            assert rows.count(column.title, "b") == column.tokens
            ticks = same if column in published else column.tokens
            assert rows.count(column.title, "tick") == ticks
        verdict = "GPT-2 and GPT-4o: 13 tokens. GPT-4: 14."
        assert counts[:3] == [13, 14, 13]
        expect(
            page.get_by_role("heading", level=1, name=verdict.replace("-", "-\u2060"))
        ).to_be_in_viewport()
        expect(rows.frame.locator(".best .score-name b")).to_have_text(["13", "13"])
        expect(rows.frame.get_by_text("the only place where they part")).to_be_visible()
        expect(rows.frame.get_by_text("is 1 token in GPT-2 and GPT-4o, 2 in")).to_be_visible()
    with journey.step("Metrics are those that Python computes"):
        unfold(page, "More metrics")
        table = page.locator("table.facts")
        expect(table).to_have_count(2)
        for number, measured in enumerate(measure(LIGHTHOUSE, columns), 1):
            for figure in (figures.bytes_per_token, figures.whole_words):
                cells = table.locator("tr").filter(has_text=figure.name).locator("td")
                expect(cells.nth(number)).to_have_text(figure.text(figure.of(measured)))
        expect(page.get_by_text("Yours has 264 entries and saw this text; GPT-4o")).to_be_visible()
    with journey.step("Pointing at a token shows its span in every row, and tells of it"):
        spans = dict.fromkeys(("GPT-2", "GPT-4 (cl100k)", "GPT-4o (o200k)"), " lighthouse")
        rows.await_highlighted("GPT-2", LIGHTHOUSE.index(" lighthouse") + 3, spans)
        assert " lighthouse" in rows.highlighted("Your tokenizer")
        (token_id,) = bpeviz.load("gpt2").encode(" lighthouse")
        for words in (
            "Yours",
            f"id {token_id}",
            "20 6C 69 67 68 74 68 6F 75 73 65 from ·l + ighthouse",
        ):
            expect(rows.card).to_contain_text(words)
        page.set_viewport_size({"width": 1366, "height": 200})
        rows.await_highlighted("GPT-2", LIGHTHOUSE.index(" lighthouse") + 3, spans)
        box = rows.card.bounding_box()
        assert box
        assert 0 <= box["y"] <= 200 - box["height"]
        page.set_viewport_size(SCREEN)
        page.get_by_role("heading", level=1).hover()
        expect(rows.card).to_be_hidden()
        await_equal(lambda: rows.highlighted("GPT-2"), "")
    with journey.step("The projector view repeats the verdict; P ends it"):
        rows.frame.get_by_role("button", name="Projector").click()
        expect(rows.frame.get_by_text(verdict)).to_be_visible()
        page.keyboard.press("p")
        expect(rows.frame.get_by_text(verdict)).to_be_hidden()
    with journey.step("A tokenizer that is trained on another text meets a test text"):
        train_on(page, "english-prose")
        text = f"the keeper bakes zebras, {'and a zebra bakes the keeper, ' * 4}\n\nภาษาไทย"
        type_text(page, text)
        expect(page.get_by_text("and saw English prose")).to_be_visible()
        rows.await_text("GPT-2", "ไ")
        tokens = len(trained(ENGLISH)[0].tokenizer().encode(text))
        await_equal(lambda: rows.count("Your tokenizer", "b"), tokens)
    with journey.step("A row is removed, ids stand below tokens, and equal rows say so"):
        button(page, "Remove Yours").click()
        expect(rows.row("Your tokenizer")).to_have_count(0)
        with menu(page, "More", 0):
            page.get_by_text("Token ids").click()
        third = bpeviz.load("gpt2").encode(text)[2]
        labels = rows.row("GPT-2").first.locator(".labels i")
        expect(labels.nth(2)).to_have_text(str(third))
        button(page, "Remove GPT-2").click()
        type_text(page, "She sells shells")
        expect(rows.frame.get_by_text("Every token is the same in all rows.")).to_be_visible()
    with journey.step("Of many lines, equal ones are folded, and each line has its bars"):
        choices = ["gpt2", "o200k_base"]
        page.goto(journey.server.address + link(LINES, "/Compare", compared=choices))
        heads = rows.frame.locator(".many .heads h2")
        expect(heads).to_have_text(["GPT-2 (50,256)", "GPT-4o (o200k, 199,998)"])
        expect(rows.frame.locator(".summary")).to_contain_text("tokens saved are white space")
        drawn = rows.lines.filter(has=page.locator(".bar:visible"))
        expect(drawn).to_have_count(2)
        expect(drawn.first.locator(".bar b")).to_have_text(["9", "7"])
        await_equal(lambda: rows.lines.nth(1).evaluate("line => line.offsetHeight") < 20, True)
        rows.frame.get_by_role("button", name="3 equal lines").click()
        expect(drawn).to_have_count(5)


def test_tokenizers_from_files(journey: Journey, tmp_path: Path) -> None:
    training, _ = trained("low lower lowest " * 9)
    mine = formats.dump(training.tokenizer(), "minbpe")["tokenizer.model"]
    two = formats.dump(trained(PARAGRAPH)[0].tokenizer(), "gpt2")
    with journey.step("A file that is refused is named, and the next one opens"):
        page = journey.open("/Compare")
        rows = Rows(page)
        expect(rows.row("GPT-2").first).to_be_visible()
        open_tokenizer(page, ("![x](y).json", b'{"model": {"type": "**bold**"}}'))
        expect(alert(page, "![x](y).json: tokenizers refuses it")).to_be_visible()
        open_tokenizer(page, ("vocab.json", two["vocab.json"]))
        expect(alert(page, "needs its merges.txt")).to_be_visible()
        open_tokenizer(page, ("merges.txt", two["merges.txt"]))
        expect(rows.row("vocab.json").first).to_be_visible()
        close_dialog(page)
    with journey.step("A file that is opened on Inspect is chosen there, and compared"):
        go_to(page, "Inspect")
        tokenizer = page.locator(".st-key-tokenizer_menu")
        expect(tokenizer).to_contain_text("GPT-4o")
        open_tokenizer(page, ("mine.model", mine))
        expect(tokenizer).to_contain_text("mine.model")
        close_dialog(page)
        go_to(page, "Compare")
        type_text(page, "lower and lower")
        tokens = len(training.tokenizer().encode("lower and lower"))
        rows.await_count("mine.model", f"{tokens} tokens")
    with journey.step("It is closed"):
        button(page, "More").first.click()
        page.get_by_role("button", name="Open a tokenizer file").click()
        button(page, "Close mine.model").click()
        expect(rows.row("mine.model")).to_have_count(0)
        close_dialog(page)
    with journey.step("A comparison is saved as a page that needs no server"):
        page.goto(journey.server.address + link(MARKED, "/Compare"))
        expect(rows.frame.locator(".letters").first).to_contain_text("世")
        open_export(page)
        name, content = download(page, "Interactive web page", tmp_path)
        assert name == "comparison.html"
        requests: list[str] = []
        other = page.context.new_page()
        other.on("request", lambda request: requests.append(request.url))
        other.set_content(content.decode())
        expect(other.locator(".count")).to_have_count(4)
        for words in ("世", "<b>&amp;</b>"):
            expect(other.locator(".comparison .text")).to_contain_text(words)
        assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert requests == []
        other.close()


def grid(page: Page, label: str) -> Locator:
    return page.locator(f'[role=grid][aria-label^="{label}"]')


def test_many_texts(journey: Journey, tmp_path: Path) -> None:
    with journey.step("34 languages are sorted by their premium, in the width of the page"):
        page = journey.open(link(PARAGRAPH, "/Compare", compared=["gpt2", "o200k_base"]))
        rows = Rows(page)
        rows.await_text("GPT-2", "river")
        button(page, "this text").first.click()
        page.get_by_role("radio", name="Many texts").click()
        label = "Tokens of 34 texts relative to English, sorted by GPT-4o"
        chart = page.locator(f"svg[aria-label^='{label}']")
        names = chart.locator(".name")
        expect(names).to_have_count(34)
        expect(names.first).to_have_text("Amharic")
        expect(names.last).to_have_text("English")
        first = chart.locator(".mark.best").first
        premium = re.compile(r"Amharic, GPT-4o \(o200k\): 6\.\d\d \(.*×")
        expect(first).to_have_accessible_name(premium)
        assert (chart.bounding_box() or {})["width"] > 800
        expect(page.get_by_text("Rows are in the order of GPT-4o")).to_be_visible()
    with journey.step("By keyboard: from text to text and mark to mark, into a text and back"):
        first.focus()
        for key in ("ArrowDown", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        expect(page.get_by_role("heading", name="Burmese under GPT-2 and")).to_be_visible()
        expect(chart.locator("[aria-selected]")).to_have_accessible_name(
            re.compile("Burmese, GPT-2")
        )
        button(page, "Back to all texts").click()
        expect(rows.frame).to_have_count(0)
    with journey.step("The plot is saved as a drawing and as a picture"):
        _, content = download(page, "Save as SVG", tmp_path, page)
        words = ("Amharic", "English", "GPT-4o (o200k) 6.07×")
        assert all(f">{word}<" in content.decode() for word in words)
        download(page, "Save this picture", tmp_path, page, "plot.png")
        assert Image.open(tmp_path / "plot.png").width > 1000
    with journey.step("The table reaches its last row and column, also on a phone"):
        page.get_by_role("tab", name="Table").click()
        for size in (SCREEN, PHONE):
            page.set_viewport_size(size)
            table = grid(page, "Tokens of 34 texts relative to English")
            expect(table.locator("tr")).to_have_count(35)
            table.locator("td").last.scroll_into_view_if_needed()
            expect(table.locator("th").last).to_be_in_viewport()
        page.set_viewport_size({"width": 1280, "height": 900})
    with journey.step("Pasted texts are counted as by the library, and saved"):
        with menu(page, "More"):
            page.get_by_role("radio", name="Tokens", exact=True).click()
        type_text(page, MANY, "Texts. Start each")
        parts = (part.rstrip("\n").split("\n", 1) for part in MANY[2:].split("\n# "))
        tokenizers = {TITLES[name]: bpeviz.load(name) for name in ("gpt2", "o200k_base")}
        compared = bpeviz.compare(dict(parts), tokenizers, "English")
        table = grid(page, "Tokens of 3 texts")
        expect(
            page.get_by_text(compared.verdict.partition(". ")[0].replace("-", "-\u2060"))
        ).to_be_visible()
        for row in compared.rows:
            cells = table.locator("tr").filter(has_text=row.text).locator("td")
            cell = cells.nth(1 if row.tokenizer == "GPT-2" else 2)
            expect(cell.locator("bdi")).to_have_text(f"{row.tokens:,}")
            others = [other.tokens for other in compared.rows if other.text == row.text]
            is_best = row.tokens == min(others) < max(others)
            expect(cell.get_by_text("fewest")).to_have_count(int(is_best))
        await_run(page)
        _, content = download(page, "Download CSV", tmp_path, page)
        lines = [line.split(",")[:3] for line in content.decode("utf-8-sig").splitlines()[1:]]
        assert lines == [[row.text, row.tokenizer, str(row.tokens)] for row in compared.rows]
    with journey.step("The table sorts by keyboard, opens a text, and gets the focus back"):
        head = table.locator("th").nth(1)
        head.focus()
        for key, order, text in (
            ("Enter", "descending", "Hindi"),
            ("Space", "ascending", "English"),
        ):
            page.keyboard.press(key)
            expect(head).to_have_attribute("aria-sort", order)
            expect(table.locator("td").first).to_have_text(text)
        for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
            page.keyboard.press(key)
        cell = table.locator("tr").filter(has_text="Spanish").locator("td").nth(2)
        expect(cell).to_be_focused()
        page.keyboard.press("Enter")
        heading = "Spanish under GPT-2 and GPT-4o (o200k)"
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        rows.await_text("GPT-4o", "el")
        expect(rows.frame).to_be_in_viewport()
        button(page, "Back to all texts").click()
        expect(cell).to_be_focused()
        expect(table.locator("td").first).to_have_text("English")
        _, content = download(page, "Save as SVG", tmp_path, page)
        drawn = content.decode()
        assert drawn.index(">English<") < drawn.index(">Spanish<") < drawn.index(">Hindi<")
    with journey.step("One text again"):
        button(page, "many texts").first.click()
        page.get_by_role("radio", name="One text").click()
        rows.await_text("GPT-2", "river")

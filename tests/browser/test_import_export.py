"""Import and export on the pages: downloads, files, and the merge diagram on Train."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from helpers import properties
from page_helpers import (
    ENGLISH,
    Controls,
    Page,
    Player,
    Score,
    await_run,
    await_sign,
    close_dialog,
    expect,
    go_to,
    link,
    open_share,
    trained,
    type_text,
    unfold,
)
from PIL import Image

from bpeviz import formats
from bpeviz.formats import FORMATS
from bpeviz.formats.archive import unpacked
from bpeviz.views import gif

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Open = Callable[..., Page]

MULTILINGUAL = "naïve 世界 👍🏽, שלום <b>&amp;</b>\tand\n"


def downloaded(page: Page, label: str, folder: Path) -> tuple[str, bytes]:
    """Press a download button; return the name and the bytes of the file."""
    with page.expect_download() as download:
        page.get_by_role("dialog").get_by_role("button", name=label, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path.name, path.read_bytes()


def open_export(page: Page) -> None:
    open_share(page)
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("dialog")).to_contain_text("Drawing (SVG)")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Charts and long tables")  # the last sentence
    more = dialog.get_by_text("More formats")
    if more.count():
        more.click()
        await_run(page)


def open_tokenizer(page: Page, *files: tuple[str, bytes]) -> None:
    """Open files of a tokenizer; the dialog may be open already."""
    dialog = page.get_by_role("dialog")
    if not dialog.count():
        page.get_by_role("button", name="Open a tokenizer file").click()
    dialog.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        [
            {"name": name, "mimeType": "application/octet-stream", "buffer": content}
            for name, content in files
        ]
    )


def test_tokenizer_of_a_size_is_exported_in_every_format_and_reopens(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page()
    player = Player(page)
    training, _ = player.await_text(ENGLISH)
    page.get_by_role("slider", name="Vocabulary size").press("PageDown")
    expect(player.last).not_to_have_text(f"{training.steps:,}")
    size = 256 + int(player.last.inner_text())
    tokenizer = training.tokenizer(size)
    open_export(page)
    exported = {}
    keys = [key for key in FORMATS if key != "sentencepiece"]  # for its own trainer and Unigram
    for key in keys[:2] if properties.FAST else keys:
        one = FORMATS[key]
        name, content = downloaded(page, one.title, tmp_path)
        exported[name] = content
        files = {name: content} if len(one.files) == 1 else unpacked(name, content, 10**6)
        assert files == formats.dump(tokenizer, key)
    close_dialog(page)
    go_to(page, "Compare")
    # `tests/formats` reads each of these files.
    name = next(iter(exported))
    open_tokenizer(page, (name, exported[name]))
    title = re.compile(f"^{re.escape(name[:11])}.*\\({size}\\)$")
    expect(Score(page).frame.get_by_role("heading", name=title)).to_be_visible()


@pytest.mark.parametrize(
    ("path", "title"),
    [
        pytest.param("/", "Byte-pair encoding (BPE), step by step", marks=pytest.mark.thorough),
        ("/Algorithms", "BPE, WordPiece, Unigram, step by step"),
        pytest.param(
            "/Inspect", "Byte-pair encoding (BPE), step by step", marks=pytest.mark.thorough
        ),
    ],
)
def test_exported_animation_plays_without_a_link_to_this_machine(
    open_page: Open, browser: Browser, tmp_path: Path, path: str, title: str
) -> None:
    page = open_page(path)
    grid = page.get_by_role("group", name="From characters to ids")
    expect(grid if path == "/Inspect" else Controls(page).last).to_be_visible()
    open_share(page)
    page.get_by_role("button", name="Export").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("stDownloadButton").first).to_contain_text("Web page that plays")
    name, _ = downloaded(page, "Web page that plays", tmp_path)
    file = browser.new_page()
    file.goto(f"{(tmp_path / name).as_uri()}#step={2 if path != '/Algorithms' else 0}")
    assert file.title() == title
    player = Controls(file)
    before = int(player.track.input_value())
    player.button("Step forward").click()
    expect(player.track).to_have_value(str(before + 1))
    expect(file.get_by_text("Made with bpeviz")).to_be_visible()
    expect(file.get_by_role("link")).to_have_count(0)  # others cannot open this server
    file.close()


def test_exported_comparison_has_the_rows_of_the_page_and_its_slide_columns(
    open_page: Open, browser: Browser, tmp_path: Path
) -> None:
    words = ["apple", "pear", "plum", "cherry", "grape", "fig", "lemon", "lime", "kiwi", "mango"]
    page = open_page(link("\n".join(words), "/Compare"))
    expect(page.locator(".line")).to_have_count(len(words))
    shown = Score(page).frame.locator(".count b")
    expect(shown).to_have_count(4)
    counts = shown.all_inner_texts()
    open_export(page)
    _, content = downloaded(page, "Slide (PNG)", tmp_path)
    with Image.open(BytesIO(content)) as slide:
        darkest, _ = slide.convert("L").crop((1600, 430, 1900, 640)).getextrema()
    assert darkest < 100  # the last word is in the fourth column
    name, _ = downloaded(page, "Interactive web page", tmp_path)
    file = browser.new_page()
    file.goto((tmp_path / name).as_uri())
    expect(file.locator(".count b")).to_have_count(4)
    assert file.locator(".count b").all_inner_texts() == counts
    file.close()


def test_opened_file_persists_across_pages_until_closed(open_page: Open) -> None:
    training, _ = trained("low lower lowest " * 9)
    tokenizer = training.tokenizer()
    page = open_page("/Inspect")
    open_tokenizer(page, ("mine.model", formats.dump(tokenizer, "minbpe")["tokenizer.model"]))
    # The page selects the new tokenizer.
    expect(page.get_by_role("combobox", name="Tokenizer")).to_have_value("mine.model")
    grid = page.get_by_role("group", name="From characters to ids")
    expect(grid.locator(".row.ids")).not_to_have_count(0)
    go_to(page, "Compare")
    score = Score(page)
    expect(score.row("mine.model").first).to_be_visible()
    type_text(page, "lower and lower")
    tokens = len(tokenizer.encode("lower and lower"))
    score.await_about("mine.model", f"{tokens} tokens")
    go_to(page, "Inspect")
    expect(page.get_by_role("combobox", name="Tokenizer")).to_have_value("mine.model")
    go_to(page, "Compare")
    expect(score.row("mine.model").first).to_be_visible()
    page.get_by_role("button", name="Open a tokenizer file").click()
    page.get_by_role("button", name="Close mine.model").click()
    expect(score.row("mine.model")).to_have_count(0)
    go_to(page, "Inspect")
    page.get_by_role("combobox", name="Tokenizer").click()
    expect(page.get_by_role("option", name="GPT-4 (cl100k)")).to_be_visible()
    expect(page.get_by_role("option", name="mine.model")).to_have_count(0)


def test_invalid_file_shows_an_error_and_next_file_opens(open_page: Open) -> None:
    page = open_page("/Compare")
    open_tokenizer(page, ("![x](y).json", b'{"model": {"type": "**bold**"}}'))
    error = page.get_by_test_id("stAlert").filter(has_text="refuses it")
    expect(error).to_contain_text("![x](y).json: tokenizers refuses it")
    # Two files of one tokenizer, one after the other.
    two = formats.dump(trained(ENGLISH)[0].tokenizer(), "gpt2")
    open_tokenizer(page, ("vocab.json", two["vocab.json"]))
    expect(page.get_by_test_id("stAlert").filter(has_text="needs its merges.txt")).to_be_visible()
    open_tokenizer(page, ("merges.txt", two["merges.txt"]))
    expect(Score(page).row("vocab.json").first).to_be_visible()


def test_colored_text_export_is_self_contained(open_page: Open, tmp_path: Path) -> None:
    page = open_page(link(MULTILINGUAL))
    await_sign(page.get_by_role("main"), "世")
    _assert_self_contained(page, tmp_path, columns=1)
    go_to(page, "Compare")
    Score(page).await_text("GPT-2", "世")
    _assert_self_contained(page, tmp_path, columns=4)
    if properties.FAST:
        return
    go_to(page, "Inspect")
    expect(page.get_by_role("group", name="From characters to ids")).to_contain_text("世")
    _assert_self_contained(page, tmp_path, columns=1)


def _assert_self_contained(page: Page, tmp_path: Path, columns: int) -> None:
    open_export(page)
    button = "Web page (HTML)" if columns == 1 else "Interactive web page"
    name, made = downloaded(page, button, tmp_path)
    assert name == ("tokens.html" if columns == 1 else "comparison.html")
    name, drawing = downloaded(page, "Drawing (SVG)", tmp_path)
    assert name == "tokens.svg"
    # The file sends no requests, and shows the text.
    other = page.context.new_page()
    requests: list[str] = []
    other.on("request", lambda request: requests.append(request.url))
    other.set_content(made.decode())
    expect(other.locator(".count")).to_have_count(columns)
    expect(other.locator(".comparison .text")).to_contain_text("世")
    expect(other.locator(".comparison .text")).to_contain_text("<b>&amp;</b>")
    assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")
    other.set_content(f"<body>{drawing.decode()}</body>")
    assert other.locator("svg text", has_text="世").count() >= 1
    assert requests == []
    # All texts of the drawing are inside its frame.
    assert other.evaluate(
        """() => {
          const frame = document.querySelector("svg").getBoundingClientRect();
          return [...document.querySelectorAll("svg text, svg rect")].every((one) => {
            const box = one.getBoundingClientRect();
            return box.left >= frame.left - 1 && box.right <= frame.right + 1;
          });
        }"""
    )
    other.close()
    close_dialog(page)


# ---- tables and charts

CONTAINER = "xpath=ancestor::*[@data-testid='stElementContainer'][1]"
"""The element that contains a table or a chart and its menu."""


def test_tables_download_as_csv_and_charts_as_images(open_page: Open) -> None:
    # Otherwise Chromium opens a dialog that asks for a path.
    page = open_page(prepare=lambda page: page.add_init_script("delete window.showSaveFilePicker"))
    for name in ("Train", "Compare") if properties.FAST else ("Train", "Compare", "Algorithms"):
        go_to(page, name)
        expect(page).to_have_title(f"{name} · bpeviz")
        sections = {
            "Train": ("All merges",),
            "Compare": ("More metrics", "By vocabulary size"),
            "Algorithms": ("WordPiece: scores beside counts", "Unigram: which pieces survive"),
        }
        for section in sections.get(name, ()):
            unfold(page, section)
            await_run(page)
        if name != "Train":  # its first text has few merges
            page.get_by_test_id("stVegaLiteChart").first.wait_for()
        _assert_downloads(page)


def _assert_downloads(page: Page) -> None:
    charts = page.get_by_test_id("stVegaLiteChart")
    page.get_by_role("grid").or_(page.locator(".facts")).first.wait_for()
    page.locator(".c").first.wait_for(state="attached")
    await_run(page)  # a run replaces the files behind the buttons
    buttons = page.get_by_role("button", name="Download CSV").all()
    assert buttons
    for button in buttons:
        await_run(page)
        with page.expect_download() as download:
            button.press("Enter")
        header, *rows = csv.reader(download.value.path().read_text("utf-8-sig").splitlines())
        assert len(header) > 1
        assert rows
        assert {len(row) for row in rows} == {len(header)}
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        chart.hover()
        container = chart.locator(CONTAINER)
        expect(container.get_by_role("button", name=re.compile("^Download as PNG"))).to_be_visible()


def test_slide_is_saved_as_png_and_its_steps_as_gif(open_page: Open, tmp_path: Path) -> None:
    text = "low lower lowest, the lowest of all the lower 世界 lamps"
    page = open_page(link(text))
    training, _ = Player(page).await_text(text)
    open_export(page)
    dialog = page.get_by_role("dialog")
    name, content = downloaded(page, "Slide (PNG)", tmp_path)
    small = dialog.locator(".preview").evaluate_all("(all) => all.map((one) => one.currentSrc)")
    assert (len(small), len({*small})) == (3, 1)
    dialog.get_by_text("Choose the slide").click()
    # Until the section is there, the buttons of its small picture have the same names.
    expect(dialog.get_by_role("button", name="Animation (GIF)")).to_be_visible()
    await_run(page)
    with Image.open(BytesIO(content)) as picture:
        assert (name[-4:], picture.size) == (".png", (1920, 1080))
        assert len(picture.getcolors(10**7) or ()) > 50
    _, content = downloaded(page, "Slide (SVG)", tmp_path)
    assert f" of {training.steps}</title>" in content.decode()
    dialog.get_by_role("button", name="Animation (GIF)").click()
    dialog.get_by_role("button", name="Stop").click()
    expect(dialog).to_contain_text("Stopped.")
    name, content = downloaded(page, "Animation (GIF)", tmp_path)
    expect(dialog).to_contain_text("Saved, ")
    with Image.open(BytesIO(content)) as animation:
        assert (name[-4:], animation.size) == (".gif", (1280, 720))
        assert animation.n_frames == training.steps + 1
        first, last = (_frame(animation, number) for number in (0, training.steps))
        assert first.getpixel((0, 0)) == last.getpixel((0, 0)) == (255, 255, 255)
        assert first.tobytes() != last.tobytes()
    assert len(content) <= gif.MOST_BYTES


def _frame(animation: Image.Image, number: int) -> Image.Image:
    animation.seek(number)
    return animation.convert("RGB")

"""The HTML file that plays a training, opened from a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from helpers.comparisons import comparison
from helpers.exports import animation
from helpers.hostile import HTML
from page_helpers import Page, await_height, expect, labelled
from test_accessibility import violations

import bpeviz
from bpeviz.views import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser

README = Path(bpeviz.__file__).parents[1] / "README.md"
TEXT = "low lower </script><script>document.title = 'run'</script> lowest newest widest " * 4


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return a page that records errors and requests."""
    page = browser.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda one: one.url.startswith("file:") or problems.append(one.url))
    yield page
    assert problems == []
    page.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "play.html"
    path.write_text(bpeviz.to_html(bpeviz.train(TEXT, vocab_size=290), TEXT), encoding="utf-8")
    return path


def violations_in_both_schemes(page: Page) -> list[str]:
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    return found + violations(page)


def test_file_plays_from_a_folder_and_axe_finds_nothing(page: Page, file: Path) -> None:
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(f"{file.as_uri()}#step=12")
    expect(page.locator(".step")).to_have_value("12")
    assert page.title() == "Byte-pair encoding (BPE), step by step"
    page.locator("summary").click()
    page.locator("tr[data-place='2'] td").first.click()
    expect(page.locator(".step")).to_have_value("3")
    page.locator("input[type=search]").fill("260")
    expect(page.locator("tr[data-place]")).to_have_count(1)
    assert violations_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    labelled(page, "button", "Play").click()
    expect(page.locator(".step")).not_to_have_value("3")


def test_frame_of_the_readme_plays_a_file(page: Page, file: Path) -> None:
    course = file.with_name("course.html")
    readme = README.read_text(encoding="utf-8")
    (lines,) = re.findall("```html\n(.*?)```", readme, re.DOTALL)
    # From a folder, a frame may fill the screen only in a sandbox.
    lines = re.sub('src="[^"]*"', 'src="play.html" sandbox="allow-scripts"', lines)
    course.write_text(f"<!doctype html><h1>A course</h1>{lines}", encoding="utf-8")
    page.goto(course.as_uri())
    shown = page.frame_locator("iframe")
    expect(shown.locator(".step")).to_have_value("34")
    for width in (390, 700, 1000, 390):
        page.set_viewport_size({"width": width, "height": 700})
        await_height(page.frames[1], "html")
    shown.locator("[aria-label=First]").click()
    expect(shown.locator(".step")).to_have_value("0")
    shown.locator("[aria-label=Projector]").click()
    page.wait_for_function("document.fullscreenElement")


def test_two_cells_of_a_notebook_play_independently(page: Page) -> None:
    page.set_content(str(bpeviz.train(TEXT, vocab_size=290)._repr_html_()) * 2)
    first, second = (page.frame_locator("iframe").nth(number) for number in range(2))
    expect(second.locator(".step")).to_have_value("34")
    first.locator("[aria-label=First]").click()
    expect(first.locator(".step")).to_have_value("0")
    expect(second.locator(".step")).to_have_value("34")
    for width in (390, 1000):
        page.set_viewport_size({"width": width, "height": 700})
        for frame in page.frames[1:]:
            await_height(frame, "html")


def test_hostile_texts_play_in_many_frames_without_running(page: Page) -> None:
    tokenizers = {text: bpeviz.load("gpt2") for text in HTML[:2]}
    texts = bpeviz.compare({text: text for text in HTML}, tokenizers)
    columns = comparison(" ".join(HTML))
    # Those that may end or nest a script have files of their own.
    alone = [*HTML[:10], " ".join(HTML[10:])]
    tables = [playable.of_texts(texts), playable.of_texts(texts, score=columns)]
    files = [*map(animation, alone), *map(playable.html, tables)]
    frames = (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(file)}"></iframe>' for file in files
    )
    page.set_content("".join(frames))
    for number, text in enumerate(alone):
        frame = page.frame_locator("iframe").nth(number)
        section = frame.locator("section.player")
        section.press("End")
        assert section.locator(".c").last.evaluate("piece => piece.end") == len(text), text
    names = page.frame_locator("iframe").nth(len(alone)).locator("[role=grid]").first
    expect(names.locator("tbody tr")).to_have_count(len(HTML))
    last = page.frame_locator("iframe").last
    expect(last.locator(".count b").first).to_be_attached()


def test_comparison_lights_the_same_span_in_all_rows(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "comparison.html"
    path.write_text(playable.html(comparison("low lower lowest " * 9)), encoding="utf-8")
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(path.as_uri())
    expect(page.locator(".count")).to_have_count(2)
    rows = page.locator(".line").first.locator(".score-row")
    rows.first.locator(".c").nth(5).hover()
    expect(rows.nth(1).locator(".c.lit")).not_to_have_count(0)
    assert violations_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    row = page.locator("tbody tr").first.bounding_box()
    assert row["height"] < 80  # words are not broken into letters


def test_tables_of_texts_sort_in_a_file_and_axe_finds_nothing(page: Page, tmp_path: Path) -> None:
    texts = {"</script><b>": "low", "es": "low low lower", "en": "low lower"}
    tokenizer = bpeviz.train("low low", merges=2).tokenizer()
    found = bpeviz.compare(texts, {"mine": tokenizer, "other": tokenizer})
    path = tmp_path / "texts.html"
    path.write_text(playable.html(playable.of_texts(found)), encoding="utf-8")
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(path.as_uri())
    tokens = labelled(page, "[role=grid]", "Tokens")
    names = tokens.locator("td:first-child")
    expect(names).to_have_text([*texts])
    tokens.locator("th").nth(1).click()
    expect(names).to_have_text(["es", "en", "</script><b>"])
    expect(labelled(page, "[role=grid]", "Bytes per token").locator("td").first).to_have_text(
        "</script><b>"
    )
    tokens.locator("td").nth(1).click()  # opens nothing
    assert violations(page) == []

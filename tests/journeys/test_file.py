"""Files that play: from a folder, in a frame, in cells of a notebook, and by another host."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

from browser.serving import Server
from helpers.comparisons import comparison
from helpers.exports import animation
from helpers.hostile import HTML
from journeys.journey import Journey
from journeys.people import Page, Stage, await_height, expect, trained
from journeys.test_every_page import violations

import bpeviz
from bpeviz.components import read
from bpeviz.views import playable
from bpeviz.views.stage import Stage as Drawing
from bpeviz.views.stage import of_training

DOCUMENTS = Path(bpeviz.__file__).with_name("DEPLOYMENT.md")

TEXT = "low lower </script><script>document.title = 'run'</script> lowest newest widest " * 4

NARROW = {"width": 320, "height": 700}

HOST = """([html, css, script, data]) => {
  const mount = new Function(`${script}; return mount`)();
  const host = document.body.appendChild(document.createElement("div"));
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${css}</style>${html}`;
  window.remove = mount(root, JSON.parse(data), () => {});
}"""
"""Mounts a component in a page of another host than Streamlit."""

FILL = "element => getComputedStyle(element).backgroundColor"


def write(folder: Path, name: str, content: str) -> str:
    """Write a file that plays; return its address below `file://`."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path.as_uri().removeprefix("file://")


def violations_in_both_themes(page: Page) -> list[str]:
    listed = violations(page)
    page.emulate_media(color_scheme="dark")
    listed += violations(page)
    page.emulate_media(color_scheme="light")
    return listed


def assert_as_wide_as_the_window(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth === innerWidth")


def test_files_play_wherever_they_are_opened(journey: Journey, tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    folder = Server("file://", tmp_path / "log", 0)
    playing = write(tmp_path, "play.html", bpeviz.to_html(bpeviz.train(TEXT, vocab_size=290), TEXT))
    with journey.step("From a folder, a file opens at the step of its address, and plays"):
        page = journey.open(f"{playing}#step=12", server=folder, viewport=NARROW)
        stage = Stage(page)
        stage.await_step(12)
        expect(page).to_have_title("Byte-pair encoding (BPE), step by step")
        page.get_by_text("All merges").click()
        page.get_by_role("searchbox").fill("260")
        expect(page.get_by_role("row")).to_have_count(2)  # with the head
        assert violations_in_both_themes(page) == []
        assert_as_wide_as_the_window(page)
        stage.button("Play").click()
        expect(stage.track).not_to_have_value("12")
    with journey.step("The frame of the documents has the file's height, and fills the screen"):
        (lines,) = re.findall("```html\n(.*?)```", DOCUMENTS.read_text("utf-8"), re.DOTALL)
        # From a folder, a frame may fill the screen only in a sandbox.
        lines = re.sub('src="[^"]*"', 'src="play.html" sandbox="allow-scripts"', lines)
        course = write(tmp_path, "course.html", f"<!doctype html><h1>A course</h1>{lines}")
        page.goto(f"file://{course}")
        framed = Stage(page.frame_locator("iframe"))
        framed.await_step(34)
        for width in (390, 700, 1000, 390):
            page.set_viewport_size({"width": width, "height": 700})
            await_height(page.frames[1], "html")
        framed.button("First").click()
        framed.await_step(0)
        framed.button("Projector").click()
        page.wait_for_function("document.fullscreenElement")
    with journey.step("Two cells of a notebook play independently"):
        page.set_content(str(bpeviz.train(TEXT, vocab_size=290)._repr_html_()) * 2)
        first, second = (Stage(page.frame_locator("iframe").nth(number)) for number in range(2))
        second.await_step(34)
        first.button("First").click()
        first.await_step(0)
        second.await_step(34)
        for width in (390, 1000):
            page.set_viewport_size({"width": width, "height": 700})
            for frame in page.frames[1:]:
                await_height(frame, "html")
    with journey.step("Hostile texts play in files and tables without running"):
        tokenizers = {text: bpeviz.load("gpt2") for text in HTML[:2]}
        texts = bpeviz.compare({text: text for text in HTML}, tokenizers)
        # Those that may end or nest a script have files of their own.
        alone = [*HTML[:10], " ".join(HTML[10:])]
        tables = [playable.of_texts(texts), playable.of_texts(texts, score=comparison(alone[-1]))]
        files = [*map(animation, alone), *map(playable.html, tables)]
        page.set_content(
            "".join(
                f'<iframe sandbox="allow-scripts" srcdoc="{escape(file)}"></iframe>'
                for file in files
            )
        )
        for number, text in enumerate(alone):
            section = page.frame_locator("iframe").nth(number).locator("section.player")
            section.press("End")
            assert section.locator(".c").last.evaluate("piece => piece.end") == len(text), text
        names = page.frame_locator("iframe").nth(len(alone)).get_by_role("grid").first
        expect(names.locator("tbody").get_by_role("row")).to_have_count(len(HTML))
        expect(page.frame_locator("iframe").last.locator(".count b").first).to_be_attached()
    with journey.step("In a comparison, the same span is lit in all rows"):
        page.set_viewport_size(NARROW)
        compared = playable.html(comparison("low lower lowest " * 9))
        page.goto(f"file://{write(tmp_path, 'comparison.html', compared)}")
        expect(page.locator(".count")).to_have_count(2)
        rows = page.locator(".line").first.locator(".score-row")
        rows.first.locator(".c").nth(5).hover()
        expect(rows.nth(1).locator(".c.lit")).not_to_have_count(0)
        assert violations_in_both_themes(page) == []
        assert_as_wide_as_the_window(page)
        row = page.locator("tbody").get_by_role("row").first.bounding_box()
        assert row
        assert row["height"] < 80  # words are not broken into letters
    with journey.step("A table of texts sorts by a column"):
        counted = {"</script><b>": "low", "es": "low low lower", "en": "low lower"}
        tokenizer = bpeviz.train("low low", merges=2).tokenizer()
        table = playable.of_texts(bpeviz.compare(counted, {"mine": tokenizer, "other": tokenizer}))
        page.goto(f"file://{write(tmp_path, 'texts.html', playable.html(table))}")
        tokens = page.get_by_role("grid", name="Tokens", exact=True)
        names = tokens.locator("td:first-child")
        expect(names).to_have_text([*counted])
        tokens.get_by_role("columnheader").nth(1).click()
        expect(names).to_have_text(["es", "en", "</script><b>"])
        first = page.get_by_role("grid", name="Bytes per token").locator("td").first
        expect(first).to_have_text("</script><b>")
        tokens.locator("td").nth(1).click()  # opens nothing
        assert violations(page) == []
    with journey.step("In a page of another host, the player has the colors of the system"):
        page.goto("about:blank")
        page.set_content('<html style="color-scheme: light dark"><body></body></html>')
        parts, text = read("player"), "low lower lowest </script> low lower"
        training, boundaries = trained(text)
        payload = {**Drawing([of_training(training, text, boundaries)]).payload}
        page.evaluate(HOST, [parts.html, parts.css, parts.script, json.dumps(payload)])
        stage.button("Last").click()
        last = f"id {training.merges[-1].new_id}"
        expect(stage.sentence).to_contain_text(last)
        token = page.locator(".c.t").first
        light = token.evaluate(FILL)
        page.emulate_media(color_scheme="dark")
        assert token.evaluate(FILL) != light
        scheme = "getComputedStyle(document.documentElement).colorScheme"
        assert page.evaluate(scheme) == "light dark"
    with journey.step("Once the host has removed it, no key reaches it"):
        page.evaluate("remove()")
        page.keyboard.press("Home")
        expect(stage.sentence).to_contain_text(last)
        page.close()

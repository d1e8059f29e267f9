"""Components in a page of another host than Streamlit: `mount(root, data, on)`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from page_helpers import Page, expect, labelled, trained

from bpeviz.components import read
from bpeviz.views.stage import Stage, of_training

if TYPE_CHECKING:
    from conftest import Tabs

TEXT = "low lower lowest </script> low lower"


def payload() -> dict[str, Any]:
    training, boundaries = trained(TEXT)
    return {**Stage([of_training(training, TEXT, boundaries)]).payload}


@pytest.fixture
def page(tabs: Tabs) -> Iterator[Page]:
    """Return a page with the player, whose host sets no theme."""
    page = tabs.open(reusable=False)
    page.set_content('<html style="color-scheme: light dark"><body></body></html>')
    files = read("player")
    page.evaluate(
        """([html, css, script, data]) => {
          const mount = new Function(`${script}; return mount`)();
          const host = document.body.appendChild(document.createElement("div"));
          const root = host.attachShadow({ mode: "open" });
          root.innerHTML = `<style>${css}</style>${html}`;
          window.remove = mount(root, JSON.parse(data), () => {});
        }""",
        [files.html, files.css, files.script, json.dumps(payload())],
    )
    yield page
    page.context.close()


def test_player_plays_outside_streamlit_in_the_colors_of_the_system(page: Page) -> None:
    labelled(page, "button", "Last").click()
    merge = trained(TEXT)[0].merges[-1]
    expect(page.locator(".sentence")).to_contain_text(f"id {merge.new_id}")
    token = page.locator(".c.t").first
    light = token.evaluate("one => getComputedStyle(one).backgroundColor")
    page.emulate_media(color_scheme="dark")
    assert token.evaluate("one => getComputedStyle(one).backgroundColor") != light
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light dark"
    # The host removes it, and no key reaches it any more.
    page.evaluate("remove()")
    page.keyboard.press("Home")
    expect(page.locator(".sentence")).to_contain_text(f"id {merge.new_id}")

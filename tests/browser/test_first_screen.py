"""The first screen of each page: few controls, in their order, and pages that are not long."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from page_helpers import Page, Player, expect, samples

Open = Callable[..., Page]

STOPS = """() => {
  const found = [];
  const visit = (root) => {
    for (const one of root.querySelectorAll("*")) {
      const box = one.getBoundingClientRect();
      const stops = "a[href], button, input, select, textarea, summary, [tabindex]";
      const isStop = one.matches(stops) && one.tabIndex >= 0 && !one.disabled;
      // Streamlit's buttons above a chart or a table are transparent until it has the pointer.
      const isControl = one.checkVisibility({ opacityProperty: true })
        && !one.matches("main, section, div, table");
      if (isStop && one.checkVisibility() && box.width)
        found.push({ index: one.tabIndex, control: isControl,
          top: box.top, bottom: box.bottom, left: box.left });
      if (one.shadowRoot) visit(one.shadowRoot);
    }
  };
  visit(document);
  return found;
}"""
"""Return the stops of the Tab key in their order."""


def test_train_has_few_controls_in_the_order_of_the_screen(share_page: Open) -> None:
    page = share_page("/")
    Player(page).await_text(samples.by_key("seashells").text)
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()
    assert page.evaluate("document.activeElement === document.body")  # no autofocus
    stops = [one for one in page.evaluate(STOPS) if 0 <= one["top"] < 768]
    controls = [one for one in stops if one["control"]]
    assert len(controls) <= 28
    assert {one["index"] for one in page.evaluate(STOPS)} == {0}
    # The inputs, then the player: each from top to bottom, a row from left to right.
    for column in (
        [one for one in controls if one["left"] < 340 and one["top"] > 50],
        [one for one in controls if one["left"] > 340 and one["top"] > 50],
    ):
        assert len(column) > 4
        for one, other in pairwise(column):
            assert one["top"] < other["bottom"]
            assert one["bottom"] <= other["top"] + 40 or one["left"] <= other["left"]


@pytest.mark.parametrize("path", ["/", "/Pre-tokenize"])
def test_page_is_not_long(share_page: Open, path: str) -> None:
    page = share_page(path)
    below = "Click the curve" if path == "/" else "Merges that pre-tokenization rules out"
    expect(page.get_by_text(below).first).to_be_attached()
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1)
    expect(page.locator("summary").last).to_be_attached()
    for width, height, most in ((1366, 768, 1_800), (390, 844, 3_000)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(
            """([low, most]) => {
              const height = document.querySelector("[data-testid=stMain]").scrollHeight;
              return low < height && height <= most;
            }""",
            arg=[height, most],
        )
        # The title is the largest of the headings.
        sizes = page.locator("h1, h2, h3").evaluate_all(
            "all => all.map(one => [one.tagName, parseFloat(getComputedStyle(one).fontSize)])"
        )
        (title,) = [size for name, size in sizes if name == "H1"]
        assert all(size < title for name, size in sizes if name != "H1")

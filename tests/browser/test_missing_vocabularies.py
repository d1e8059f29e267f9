"""Without vocabulary files, and without a way to bring any, Compare says so and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_helpers import ENGLISH, Columns, Page, alert, drawn_boundaries, expect, trained, type_text
from serving import Server, serving

NOWHERE = "http://127.0.0.1:9"  # the discard port: no proxy is there, so every way out is refused


@pytest.fixture
def cut_off(browser: object, tmp_path: Path) -> Iterator[Server]:
    """A server with an empty cache, no network, and a pip that finds nothing."""
    files, wheels = tmp_path / "files", tmp_path / "wheels"
    wheels.mkdir()
    proxies = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")
    with serving(
        tmp_path,
        TIKTOKEN_CACHE_DIR=str(files),
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(wheels),
        NO_PROXY="",
        no_proxy="",
        **dict.fromkeys(proxies, NOWHERE),
    ) as running:
        yield running


def test_compare_works_without_downloaded_vocabularies(
    open_at: Callable[..., Page], cut_off: Server
) -> None:
    page = open_at(cut_off, "/Compare")
    own = Columns(page).text("Your tokenizer")
    expect(own).to_contain_text("river")
    for name in ("GPT-2", "cl100k"):
        said = alert(page, f"{name} could not be downloaded")
        # What happened, and what to do about it.
        expect(said).to_contain_text("python -m bpeviz vocabularies", timeout=30_000)
    # The visitor's own column stands, and all else works.
    training, boundaries = trained(ENGLISH)
    assert drawn_boundaries(own) == boundaries.boundary_mask(len(training.merges)).sum()
    expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    type_text(page, "low lower lowest low")
    expect(own).to_contain_text("lowest")
    # One may try again: it is on its way, and fails anew.
    retry = page.get_by_role("button", name="Try again to download GPT-2")
    retry.click()
    expect(alert(page, "Downloading GPT-2").or_(alert(page, "GPT-2 could not"))).to_be_visible()
    expect(retry).to_be_visible(timeout=30_000)

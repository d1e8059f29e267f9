"""Compare without vocabulary files and without a network: a message, and the rest works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_helpers import Page, Score, alert, drawn_boundaries, expect, trained, type_text
from serving import Server, serving

from bpeviz.corpus import samples

NO_PROXY = "http://127.0.0.1:9"  # the discard port: all connections are refused


@pytest.fixture
def offline_server(browser: object, tmp_path: Path) -> Iterator[Server]:
    """Start a server with an empty cache, without a network and without pip packages."""
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
        **dict.fromkeys(proxies, NO_PROXY),
    ) as running:
        yield running


def test_compare_works_without_downloaded_vocabularies(
    open_at: Callable[..., Page], offline_server: Server
) -> None:
    page = open_at(offline_server, "/Compare")
    own = Score(page).text
    expect(own).to_contain_text("shells")
    for name in ("GPT-2", "GPT-4 (cl100k)"):
        message = alert(page, f"{name} could not be downloaded")
        # The message contains the remedy.
        expect(message).to_contain_text("python -m bpeviz vocabularies")
    # The user's own column and all other elements work.
    training, boundaries = trained(samples.by_key("seashells").text)
    assert drawn_boundaries(own) == boundaries.boundary_mask(len(training.merges)).sum()
    expect(page.get_by_role("heading", name="Metrics")).to_be_visible()
    type_text(page, "low lower lowest low")
    expect(own).to_contain_text("lowest")
    # A retry starts another download, which fails again.
    retry = page.get_by_role("button", name="Try again to download GPT-2")
    retry.click()
    expect(alert(page, "Downloading GPT-2").or_(alert(page, "GPT-2 could not"))).to_be_visible()
    expect(retry).to_be_visible()

    page.goto(f"{offline_server.address}/Compare?tour=real-tokenizers.2")
    box = page.locator(".box")
    expect(box).to_contain_text("needs the files of GPT-2, GPT-4 (cl100k) and GPT-4o (o200k),")
    expect(box).to_have_attribute("data-mark", "missing")

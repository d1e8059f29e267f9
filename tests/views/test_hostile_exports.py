"""Markup in texts and names stays text in every file that leaves bpeviz."""

from __future__ import annotations

from collections import Counter
from functools import cache
from html.parser import HTMLParser

import pytest
from helpers.exports import animation, cells, pages
from helpers.hostile import HTML
from helpers.payloads import data_of

PLAIN = "a plain text"
OF_TEXT = {"div", "i", "p", "span"}
"""The elements whose number and class depend on the text."""


class Elements(HTMLParser):
    """The number of elements of a page by name and attributes, and the pages within."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: Counter[tuple[str, ...]] = Counter()
        self.inner: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag not in OF_TEXT or {*values} - {"class", "dir"}:
            self.found[tag, *sorted(values)] += 1
        if content := values.get("srcdoc"):
            self.inner.append(content)


def check(page: str, plain: str) -> None:
    """Check that a page has the elements of a page of a plain text."""
    one, other = Elements(page), Elements(plain)
    assert one.found == other.found
    for inner in zip(one.inner, other.inner, strict=True):
        check(*inner)


@cache
def plain_files() -> list[str]:
    return [*pages(PLAIN), *cells(PLAIN)]


@pytest.mark.parametrize("text", [" ".join(HTML[i::4]) for i in range(4)], ids=range(4))
def test_text_and_names_are_never_markup(text: str) -> None:
    for page, plain in zip([*pages(text), *cells(text)], plain_files(), strict=True):
        check(page, plain)
    assert data_of(animation(text))["player"]["views"][0]["text"] == text

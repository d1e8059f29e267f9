"""Links of pages as tests write and read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from bpeviz.ui.permalink import links


def query_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values, by their names in links, as the query of an address."""
    return dict(parse_qsl(links.written(values, {}), keep_blank_values=True))


def settings_of(query: str) -> dict[str, str]:
    """Return the texts in the query of an address by their names there, unpacked."""
    return {name: links._unpacked(text) for name, text in parse_qsl(query, keep_blank_values=True)}

"""The strings of a page that a browser renders, under Streamlit's `AppTest`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

RAW = re.compile(r"[\[</`*_$^~]evil|:\w+\[evil|www\.evil|@evil|evil[\]>`*_$~]|\]\((?!Learn\?)")
"""Markup around the word "evil" that is not escaped, and links but our own."""

RAW_HTML = re.compile("<(/?evil|/?script|img src=(x|//))")
"""The same in HTML."""

NOT_MARKDOWN = {
    "bidi_component",  # the components use `textContent`
    "vega_lite_chart",
    "html",
    "code",
    "text",
    "page_link.page",
    "selectbox.options",
    "selectbox.raw_value",
    "multiselect.options",
    "multiselect.raw_values",
    "text_input.value",
    "text_input.default",
    "text_input.placeholder",
    "text_area.value",
    "text_area.default",
    "text_area.placeholder",
}
"""The elements, and fields of elements, that Streamlit does not render as Markdown."""


def _strings(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the value of every string that may be rendered as Markdown."""
    for field, value in message.ListFields():
        name = f"{path}.{field.name}".lstrip(".")
        if name in NOT_MARKDOWN or field.name in ("id", "form_id", "key", "url"):
            continue
        for part in value if field.is_repeated else [value]:
            if isinstance(part, Message):
                yield from _strings(part, name)
            elif isinstance(part, str):
                yield name, part


def _blocks(block: Any) -> Iterator[Any]:
    yield block
    for child in getattr(block, "children", {}).values():
        yield from _blocks(child)


def hostile_strings(app: AppTest) -> list[str]:
    """Return the strings of a page that contain "evil", and check that no markup of it renders."""
    blocks = [
        block for block in _blocks(app._tree) if isinstance(getattr(block, "proto", None), Message)
    ]
    known = [
        pair
        for block in blocks
        if (kind := getattr(block, "type", "")) not in NOT_MARKDOWN
        for pair in _strings(block.proto, kind)
        if "evil" in pair[1]
    ]
    plain = [(path, re.sub(r"\\[!-/:-@\[-`{-~]", "", text)) for path, text in known]
    assert [(path, text) for path, text in plain if RAW.search(text)] == []
    bodies = [element.proto.body for element in app.get("html")]
    assert [body for body in bodies if RAW_HTML.search(body)] == []
    return [text for _, text in known]

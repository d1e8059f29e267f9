"""The style of the pages finds the elements of the installed Streamlit."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit

from bpeviz.ui.runtime import style


def test_every_test_id_exists_in_streamlit() -> None:
    folder = Path(streamlit.__file__).parent / "static/static/js"
    scripts = b"".join(path.read_bytes() for path in folder.glob("*.js"))
    used = {*re.findall(r"data-testid=(\w+)", style.STYLE + style.DARK)}
    assert "stMainBlockContainer" in used
    assert b'"data-stale":' in scripts  # of elements that the current run has not yet replaced
    quoted = {name.decode() for name in re.findall(rb"""["`](\w+)(?=["`])""", scripts)}
    assert used <= quoted


def test_no_change_of_a_page_styles_all_of_it() -> None:
    # Chromium would style each element of the page anew, also each line break in a text box.
    rules = re.findall(r"(?:html|body|\.stApp)\S*:has\([^{}]*?\) [^{},\s][^{},]*", style.STYLE)
    assert [rule for rule in rules if "stPopoverBody" not in rule] == []  # which is seldom open

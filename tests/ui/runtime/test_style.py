"""The style of the pages finds the elements of the installed Streamlit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import streamlit

from bpeviz.ui.runtime import style


@pytest.mark.slow
def test_every_test_id_exists_in_streamlit() -> None:
    scripts = "".join(
        path.read_text(encoding="utf-8", errors="ignore")
        for path in (Path(streamlit.__file__).parent / "static" / "static" / "js").glob("*.js")
    )
    used = set(re.findall(r"data-testid=(\w+)", style.STYLE + style.DARK))
    assert "stMainBlockContainer" in used
    assert '"data-stale":' in scripts  # of elements that the current run has not yet replaced
    assert {
        name for name in used if f'"{name}"' not in scripts and f"`{name}`" not in scripts
    } == set()


def test_no_change_of_a_page_styles_all_of_it() -> None:
    # Chromium would style each element of the page anew, also each line break in a text box.
    rules = re.findall(r"(?:html|body|\.stApp)\S*:has\([^{}]*?\) [^{},\s][^{},]*", style.STYLE)
    assert [rule for rule in rules if "stPopoverBody" not in rule] == []  # which is seldom open

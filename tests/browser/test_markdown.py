"""Escaped text in the places that Streamlit renders as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from helpers.hostile import MARKUP
from page_helpers import Page, expect
from serving import serving

SCRIPT = """
import streamlit as st
from helpers.hostile import MARKUP
from bpeviz.ui import markdown

for number, text in enumerate(MARKUP):
    shown = markdown.escape(text)
    with st.container(key=f"hostile_{number}"):
        st.markdown(shown)
        st.markdown(f":green[:material/check:] **Before** {shown}: after")
        st.caption(shown)
        st.error(shown)
        st.subheader(shown, anchor=False)
        st.expander(shown)
        st.button(shown, key=f"button {number}")
        st.text_input(shown, key=f"input {number}")
        st.radio("radio", [shown], key=f"radio {number}", label_visibility="collapsed")
"""

RENDERED = "[data-testid=stMarkdownContainer], [data-testid=stCaptionContainer]"


def test_escaped_markup_renders_as_the_same_text(
    open_at: Callable[..., Page], tmp_path: Path
) -> None:
    script = tmp_path / "app.py"
    script.write_text(SCRIPT)
    tests = Path(__file__).resolve().parents[1]
    with serving(tmp_path, str(script), PYTHONPATH=f"{tests}:{tests.parent}") as server:
        page = open_at(server)
        for number, text in enumerate(MARKUP):
            rendered = page.locator(f".st-key-hostile_{number}").locator(RENDERED)
            joined = "[\u2060]?".join(map(re.escape, " ".join(text.split())))
            alone, label = re.compile(f"^{joined}$"), re.compile("^radio$")
            mixed = re.compile(f"^check Before {joined}: after$")
            expect(rendered).to_have_text([alone, mixed, *[alone] * 6, label, alone])
            tags = rendered.locator("*").evaluate_all("all => all.map((one) => one.tagName)")
            assert {*tags} <= {"P", "SPAN", "DIV", "H3", "STRONG"}, text

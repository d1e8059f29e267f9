"""Escaped text in the places that Streamlit renders as Markdown."""

from __future__ import annotations

import re
from pathlib import Path

from browser.serving import serving
from helpers.hostile import MARKUP
from journeys.journey import Journey
from journeys.people import expect

SCRIPT = """
import streamlit as st
from helpers.hostile import MARKUP
from bpeviz.ui import markdown

for number, text in enumerate(MARKUP):
    escaped = markdown.escape(text)
    with st.container(key=f"hostile_{number}"):
        st.markdown(escaped)
        st.markdown(f":green[:material/check:] **Before** {escaped}: after")
        st.caption(escaped)
        st.error(escaped)
        st.subheader(escaped, anchor=False)
        st.expander(escaped)
        st.button(escaped, key=f"button {number}")
        st.text_input(escaped, key=f"input {number}")
        st.radio("radio", [escaped], key=f"radio {number}", label_visibility="collapsed")
"""

RENDERED = "[data-testid=stMarkdownContainer], [data-testid=stCaptionContainer]"


def test_escaped_markup_is_rendered_as_the_same_text(journey: Journey, tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text(SCRIPT)
    tests = Path(__file__).resolve().parents[1]
    with serving(tmp_path, str(script), PYTHONPATH=f"{tests}:{tests.parent}") as server:
        page = journey.open("/", server=server)
        for number, text in enumerate(MARKUP):
            with journey.step(text):
                rendered = page.locator(f".st-key-hostile_{number}").locator(RENDERED)
                joined = "[\u2060]?".join(map(re.escape, " ".join(text.split())))
                alone, label = re.compile(f"^{joined}$"), re.compile("^radio$")
                mixed = re.compile(f"^check Before {joined}: after$")
                expect(rendered).to_have_text([alone, mixed, *[alone] * 6, label, alone])
                tags = rendered.locator("*").evaluate_all("all => all.map(it => it.tagName)")
                assert {*tags} <= {"P", "SPAN", "DIV", "H3", "STRONG"}
        journey.close(page)

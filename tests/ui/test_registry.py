"""A new page is one file in `pages/`, one in `bpeviz/ui/pages/`, and one registry line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BODY = """
from bpeviz.ui.pages.base import Page
from bpeviz.ui.widgets import TextField

NAME = TextField(link="name", key="greeted", label="Name", longest=20)
PAGE = Page("pages/Toy.py", "Toy", "Who is greeted?", lambda values: iter([NAME]), NotImplemented)
"""
SCRIPT = """
import streamlit as st
from bpeviz.ui.page import frame
from bpeviz.ui.pages import toy

with frame(toy.PAGE):
    st.code("Hello " + toy.NAME.line())
"""
OPEN = """
from streamlit.testing.v1 import AppTest

app = AppTest.from_file("app.py", default_timeout=60)
app.query_params["name"] = "Ada"
app.switch_page("pages/Toy.py").run()
assert not app.exception, app.exception
assert app.code[0].value == "Hello Ada"
app.session_state["share"] = True
app.session_state["copy_link"] = {"request": 1}
app.run()
assert app.session_state["made_link"]["query"] == "name=Ada"
"""


@pytest.mark.slow
def test_new_page_is_two_files_and_an_entry(tmp_path: Path) -> None:
    for folder in ("bpeviz", "pages", "sample_texts", ".streamlit"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "app.py", tmp_path)
    (tmp_path / "bpeviz/ui/pages/toy.py").write_text(BODY)
    (tmp_path / "pages/Toy.py").write_text(SCRIPT)
    registry = tmp_path / "bpeviz/ui/registry.py"
    lines = registry.read_text()
    lines = lines.replace("import algorithms,", "import toy, algorithms,")
    registry.write_text(lines.replace("    train.PAGE,\n", "    train.PAGE,\n    toy.PAGE,\n"))
    (tmp_path / "open.py").write_text(OPEN)
    done = subprocess.run(
        [sys.executable, "open.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    changed = [
        str(path.relative_to(tmp_path))
        for path in tmp_path.rglob("*.py")
        if path.name != "open.py"
        and not (
            (ROOT / path.relative_to(tmp_path)).exists()
            and (ROOT / path.relative_to(tmp_path)).read_bytes() == path.read_bytes()
        )
    ]
    assert sorted(changed) == [
        "bpeviz/ui/pages/toy.py",
        "bpeviz/ui/registry.py",
        "pages/Toy.py",
    ]

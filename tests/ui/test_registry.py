"""A new page is one file in `pages/`, one in `bpeviz/ui/pages/`, and one registry line.

A new chapter of the Learn page is one file, one of its words, and an entry.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

BODY = """
from bpeviz.ui.pages.base import Page
from bpeviz.ui.widgets import TextField

NAME = TextField(link="name", key="greeted", label="Name", longest=20)
PAGE = Page("pages/Toy.py", "Toy", "Who is greeted?", lambda values: iter([NAME]))
"""
SCRIPT = """
import streamlit as st
from bpeviz.ui.page import frame
from bpeviz.ui.pages import toy

with frame(toy.PAGE):
    st.code("Hello " + toy.NAME.line())
"""
CHAPTER = """
from functools import partial

from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import Chapter

CHAPTER = Chapter(
    key="toy",
    texts={"pair": ("banana", "papaya")},
    tasks={"pair": partial(engine.rounds_of, rounds=1)},
    own="pair",
)
"""
PROSE = """
# A toy
Goal: Play.
Minutes: 1

A word has letters.

In fact: They have some.

## Task: pair
Which pair?
Why: It saves most.

## This is why
Toys are made.

## Belief
Why?
Many think: It just does. | No.
- It asks. | No.
* It counts pairs. | Yes.

## Own text
Another word.
"""
OPEN = """
import json
import zlib
from streamlit.testing.v1 import AppTest
from bpeviz.ui.permalink.codec import pack, unpack

app = AppTest.from_file("app.py", default_timeout=60)
app.query_params["s"] = pack({"name": "Ada"})
app.switch_page("pages/Toy.py").run()
assert not app.exception, app.exception
assert app.code[0].value == "Hello Ada"
app.session_state["share"] = True
app.session_state["copy_link"] = {"request": 1}
app.run()
assert unpack(app.session_state["made_link"]["packed"]) == {"name": "Ada"}

app = AppTest.from_file("app.py", default_timeout=60)
app.query_params["chapter"] = "toy"
app.switch_page("pages/Learn.py").run()

def sent():
    return [json.loads(zlib.decompress(one.proto.bytes)) for one in app.get("bidi_component")]

(task,) = [data["task"] for data in sent() if "task" in data]
of = task["of"].rpartition("/")[0]
given = {"toy/pair/0": (of, task["places"][1]), "toy/belief/0": ("belief", 1)}
app.session_state["learn_answers"] = {
    name: {"of": of, "tries": [value], "shown": False} for name, (of, value) in given.items()
}
app.run()
assert not app.exception, app.exception
assert app.header[0].value == "9. A toy"
assert any("They have some." in one.proto.body for one in app.get("html"))
(bar,) = [data["chapters"] for data in sent() if "chapters" in data]
assert [one["marks"] for one in bar if any(one["marks"])] == [["first", "first"]]
app.query_params["teacher"] = "1"
app.run()
assert any("It counts pairs." in one.proto.body for one in app.get("html"))
"""


def test_new_page_is_two_files_and_an_entry_and_a_chapter_two(tmp_path: Path) -> None:
    for folder in ("bpeviz", "pages", "sample_texts", ".streamlit"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "app.py", tmp_path)
    (tmp_path / "bpeviz/ui/pages/toy.py").write_text(BODY)
    (tmp_path / "pages/Toy.py").write_text(SCRIPT)
    (tmp_path / "bpeviz/ui/learn/chapters/toy.py").write_text(CHAPTER)
    (tmp_path / "bpeviz/ui/learn/prose/toy.md").write_text(PROSE.lstrip())
    chapters = tmp_path / "bpeviz/ui/learn/chapters/__init__.py"
    lines = chapters.read_text().replace("import encode,", "import toy, encode,")
    lines = lines.replace("    golf.CHAPTER,\n", "    golf.CHAPTER,\n    toy.CHAPTER,\n")
    chapters.write_text(lines)
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
        "bpeviz/ui/learn/chapters/__init__.py",
        "bpeviz/ui/learn/chapters/toy.py",
        "bpeviz/ui/pages/toy.py",
        "bpeviz/ui/registry.py",
        "pages/Toy.py",
    ]

"""A new page is one file in `pages/`, one in `bpeviz/ui/pages/`, and one registry line.

A new chapter of the Learn page is one file.
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
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import AnswerOption, Chapter, Judgment, Question, Why, compared
from bpeviz.ui.learn.forms import NumberForm

def letters(setup):
    right = len(setup["text"])
    def judge(given):
        return Judgment(compared(given, right), [f"{right} letters."], {"right": right})
    return Question(["How many letters?"], NumberForm(0, 99, "letters"), judge)

CHAPTER = Chapter(
    key="toy", place=45, title="A toy", core=True,
    lead="A word has letters.", myth="Words have none.", fact="They have some.",
    settings="None.", source="None.",
    inputs=(engine.text_input("toy", "cat", "Word"),), questions=(letters,),
    names=("Letters of a word",),
    pictures=lambda setup: [],
    why=Why("Why?", [
        AnswerOption("does", "It just does.", "No."),
        AnswerOption("counts", "It counts.", "Yes.", right=True),
    ]),
    target=lambda setup: engine.inspect_page(setup["text"]),
)
"""
OPEN = """
import json
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
    return [json.loads(one.proto.bytes) for one in app.get("bidi_component")]

def give(question, value):
    of = [one for one in sent() if "form" in one][-1]["of"]
    answer = {"number": 1, "of": of, "value": value}
    app.session_state[f"learn_toy/{question}"] = {"answer": answer}
    app.run()
    assert not app.exception, app.exception
    return [one["mark"] for one in sent() if one.get("result")][-1]

assert app.header[0].value == "5. A toy"
assert give(0, 3) == "first"
assert give("why", "counts") == "first"
assert any("They have some." in one.proto.body for one in app.get("html"))
(bar,) = [data["chapters"] for data in sent() if "chapters" in data]
assert [one["key"] for one in bar if any(one["marks"])] == ["toy"]
app.query_params["teacher"] = "1"
app.run()
assert any("It counts." in one.proto.body for one in app.get("html"))
"""


def test_new_page_is_two_files_and_an_entry_and_a_new_chapter_is_one_file(tmp_path: Path) -> None:
    for folder in ("bpeviz", "pages", "sample_texts", ".streamlit"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "app.py", tmp_path)
    (tmp_path / "bpeviz/ui/pages/toy.py").write_text(BODY)
    (tmp_path / "pages/Toy.py").write_text(SCRIPT)
    (tmp_path / "bpeviz/ui/learn/toy.py").write_text(CHAPTER)
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
        "bpeviz/ui/learn/toy.py",
        "bpeviz/ui/pages/toy.py",
        "bpeviz/ui/registry.py",
        "pages/Toy.py",
    ]

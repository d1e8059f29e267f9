"""The house keeps its own rules: style, types, walls, and what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    scripts = Path(sys.executable).parent
    return subprocess.run(
        [scripts / command[0], *command[1:]],
        cwd=ROOT,
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("lint-imports",),
    ],
    ids=" ".join,
)
def test_house_rules_hold(command: tuple[str, ...]) -> None:
    done = run(*command)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["pandas", "altair", "tiktoken", "numpy"])
def test_a_page_may_not_import_what_computes(module: str) -> None:
    source = f'"""A page."""\n\nimport {module}\n\nprint({module})\n'
    done = run("ruff", "check", "--stdin-filename", "pages/Some.py", "-", text=source)
    assert "TID251" in done.stdout


@pytest.mark.parametrize(
    ("room", "imported", "contract"),
    [
        ("bpeviz/compare.py", "streamlit", "Only ui knows Streamlit"),
        ("bpeviz/charts.py", "streamlit", "Only ui knows Streamlit"),
        ("bpeviz/learners/bpe.py", "streamlit", "Only ui knows Streamlit"),
        ("bpeviz/ui/cache.py", "tiktoken", "tiktoken is imported in encodings alone"),
        ("bpeviz/ui/page.py", "altair", "Altair is imported in charts alone"),
        ("bpeviz/replay.py", "pandas", "pandas is imported in tables and charts alone"),
        ("bpeviz/tokenizer.py", "bpeviz.learners", "Rooms import downward only"),
        ("bpeviz/boundaries.py", "bpeviz.tokenizer", "Rooms import downward only"),
        ("bpeviz/charts.py", "bpeviz.ui", "Rooms import downward only"),
    ],
)
def test_a_broken_wall_is_found(room: str, imported: str, contract: str, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(ROOT / "bpeviz", tmp_path / "bpeviz", ignore=shutil.ignore_patterns("__pyc*"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    with (tmp_path / room).open("a") as file:
        file.write(f"\nimport {imported}\n")
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert f"{contract} BROKEN" in done.stdout


def test_every_page_is_in_the_menu_and_in_the_readme() -> None:
    from bpeviz.ui.page import PAGES

    readme = (ROOT / "README.md").read_text()
    files = {"app.py", *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))}
    assert files == {path for path, _ in PAGES}
    for _, name in PAGES:
        assert f"**{name}**" in readme


def test_the_readme_names_every_learner_split_and_option() -> None:
    from bpeviz.learners import LEARNERS
    from bpeviz.pretokenize import CUSTOM, PATTERNS

    readme = (ROOT / "README.md").read_text()
    for name in (*PATTERNS, CUSTOM, *LEARNERS):
        assert f"`{name}`" in readme
    for learner in LEARNERS.values():
        for option in learner.options:
            assert f"`{option.name}`" in readme


def test_python_in_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    import doctest

    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert blocks
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test).failed == 0


def test_nothing_at_the_top_but_what_was_agreed() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    top = {name.split("/")[0] for name in listed.stdout.split()}
    allowed = {"app.py", "pages", "bpeviz", "tests", "requirements.txt", "README.md"}
    assert {name for name in top if not name.startswith(".")} == allowed | {"sample_texts"}

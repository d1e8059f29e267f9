"""The house keeps its own rules: style, types, walls, and what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


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
        ("bpeviz/analysis/metrics.py", "streamlit", "Streamlit is imported in ui alone"),
        ("bpeviz/views/charts.py", "streamlit", "Streamlit is imported in ui alone"),
        ("bpeviz/trainers/bpe.py", "streamlit", "Streamlit is imported in ui alone"),
        (
            "bpeviz/ui/trained.py",
            "tiktoken",
            "tiktoken is imported in pretrained and its engine alone",
        ),
        ("bpeviz/ui/page.py", "altair", "pandas and Altair are imported in views alone"),
        ("bpeviz/analysis/trace.py", "pandas", "pandas and Altair are imported in views alone"),
        ("bpeviz/core/tokenizer.py", "bpeviz.trainers", "Packages import downward only"),
        ("bpeviz/core/boundaries.py", "bpeviz.formats", "Packages import downward only"),
        ("bpeviz/views/charts.py", "bpeviz.ui", "Packages import downward only"),
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
    from bpeviz.ui.pages.registry import PAGES

    readme = (ROOT / "README.md").read_text()
    files = {"app.py", *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))}
    assert files == {page.path for page in PAGES}
    for page in PAGES:
        assert f"**{page.title}**" in readme


def test_the_readme_names_every_learner_split_and_option() -> None:
    from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS
    from bpeviz.trainers import TRAINERS

    readme = (ROOT / "bpeviz/trainers/README.md").read_text()
    for name in (*PATTERNS, CUSTOM, *TRAINERS):
        assert f"`{name}`" in readme
    for trainer in TRAINERS.values():
        for option in trainer.options:
            assert f"`{option.name}`" in readme


READMES = sorted(ROOT.rglob("README.md"))


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_examples_of_readmes_run(readme: Path) -> None:
    import doctest

    source = readme.read_text(encoding="utf-8")
    blocks = [b for b in re.findall(r"```python\n(.*?)```", source, re.DOTALL) if ">>>" in b]
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, str(readme), str(readme), 0)
    assert bool(test.examples) == bool(blocks)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_top_readme_is_short_and_names_every_other() -> None:
    source = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 200
    assert source.count("README.md)") >= 5


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_readmes_lead_to_files(readme: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", readme.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (readme.parent / target).exists(), target


EVERY_PAGE = """
from streamlit.testing.v1 import AppTest
import bpeviz
training = bpeviz.train("banana bandana " * 9, "rarest", merges=9)
assert 0 < training.steps <= 9
assert bpeviz.train("aaaa bbb", "rarest", merges=1, pattern="none").merges[0].count == 2
for page in ("app.py", "pages/Compare.py", "pages/Algorithms.py"):
    app = AppTest.from_file("app.py", default_timeout=60)
    app.session_state["algorithm"] = "rarest"
    app.session_state["algorithms"] = ["bpe", "rarest"]
    app.session_state["others"] = []
    app.switch_page(page).run()
    assert not app.exception and not app.error, (page, app.exception, app.error)
    assert "rarest" in str(app.session_state["algorithm"])
    assert app.get("bidi_component"), page
print("every page")
"""


def test_the_learner_that_the_readme_adds_is_one_file_and_one_line(tmp_path: Path) -> None:
    import shutil

    readme = (ROOT / "bpeviz/README.md").read_text()
    (source,) = (
        block
        for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
        if "TRAINER = Trainer(" in block
    )
    (line,) = re.findall(r"```\n( *\w+\.TRAINER,\n)```", readme)
    for folder in ("bpeviz", "pages", "sample_texts", ".streamlit"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for file in ("app.py", ".ruff.toml", ".mypy.ini", ".importlinter"):
        shutil.copy(ROOT / file, tmp_path)
    (tmp_path / "bpeviz/trainers/rarest.py").write_text(source)
    registry = tmp_path / "bpeviz/trainers/registry.py"
    listed = registry.read_text().replace(
        "    multilingual_bpe,\n", "    multilingual_bpe,\n    rarest,\n"
    )
    registry.write_text(
        listed.replace(
            "        continued_bpe.TRAINER,\n", "        continued_bpe.TRAINER,\n" + line
        )
    )
    scripts = Path(sys.executable).parent
    cache = tmp_path / ".mypy_cache"  # what is known of other packages need not be found out again
    if (ROOT / ".mypy_cache").exists():
        shutil.copytree(ROOT / ".mypy_cache", cache)
    for command in (
        [scripts / "ruff", "check", "bpeviz"],
        [scripts / "mypy", "--cache-dir", cache],
        [scripts / "lint-imports", "--no-cache"],
        [sys.executable, "-c", EVERY_PAGE],
    ):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "every page" in done.stdout


def test_nothing_at_the_top_but_what_was_agreed() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    top = {name.split("/")[0] for name in listed.stdout.split()}
    allowed = {"app.py", "pages", "bpeviz", "tests", "requirements.txt", "README.md"}
    assert {name for name in top if not name.startswith(".")} == allowed | {"sample_texts"}

"""Style, types and import rules of the project, its READMEs, and the cost of adding to it."""

from __future__ import annotations

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import lines
import pytest
from helpers.readme import example, readme_trainer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = Path(sys.executable).parent
READMES = [ROOT / "README.md", *sorted(ROOT.glob("bpeviz/**/README.md"))]
READMES += [*sorted(ROOT.glob("tests/**/README.md")), ROOT / "bpeviz/DEPLOYMENT.md"]


def run(
    *command: str | Path, folder: Path = ROOT, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command of the environment on a copy of the project, or on the project itself."""
    return subprocess.run(
        [SCRIPTS / command[0], *command[1:]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
    )


def assert_passes(*command: str | Path, folder: Path = ROOT) -> None:
    done = run(*command, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the project, to change it."""
    for folder in ("bpeviz", "pages", "sample_texts", ".streamlit"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    for file in ("app.py", ".ruff.toml", ".mypy.ini", ".importlinter"):
        shutil.copy2(ROOT / file, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("lint-imports",)],
    ids=" ".join,
)
def test_project_follows_its_style_and_import_rules(command: tuple[str, ...]) -> None:
    assert_passes(*command)


@functools.cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax tree of each module of the package."""
    return {path: lines.tree(path) for path in (ROOT / "bpeviz").glob("**/*.py")}


@functools.cache
def nodes() -> list[tuple[Path, ast.AST]]:
    """Return all nodes of all trees."""
    return [(path, node) for path, tree in trees().items() for node in ast.walk(tree)]


VAGUE_NAMES = 0
"""Assignments of `found` and `one` in the package, where a name is the noun of its value."""

LONGEST_FUNCTION = 70
"""Lines of a function, with its docstring."""


def test_few_variables_have_vague_names() -> None:
    number = 0
    for _, node in nodes():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            number += node.id in ("found", "one")
        elif isinstance(node, ast.arg):
            number += node.arg in ("found", "one")
    assert number == VAGUE_NAMES


def test_functions_are_short() -> None:
    for path, node in nodes():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{path}: {node.name}"


def test_public_numbers_with_one_name_are_equal() -> None:
    values: dict[str, set[object]] = {}
    for tree in trees().values():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = node.value
                if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
                    values.setdefault(node.targets[0].id, set()).add(value.value)
    several = {name: each for name, each in values.items() if len(each) > 1 and name[0] != "_"}
    assert not several, "a name says what is counted, as in limits.py"


LATE_IMPORTS = {
    ("cli/encode.py", "bpeviz.palette"): "only colored output needs it",
}
"""Imports of bpeviz inside functions, which import-linter does not order, and their reasons."""


def test_functions_import_no_modules_of_the_package() -> None:
    late = set()
    for path, function in nodes():
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "bpeviz"]
            elif isinstance(node, ast.Import):
                names = [module.name for module in node.names]
            else:
                continue
            place = path.relative_to(ROOT / "bpeviz").as_posix()
            late |= {(place, name) for name in names if name.startswith("bpeviz")}
    assert late == {*LATE_IMPORTS}


def test_class_name_has_one_meaning() -> None:
    names = Counter(node.name for _, node in nodes() if isinstance(node, ast.ClassDef))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("module", ["pandas", "altair", "tiktoken", "numpy"])
def test_page_that_imports_a_computing_library_is_refused(module: str) -> None:
    source = f'"""A page."""\n\nimport {module}\n\nprint({module})\n'
    done = run("ruff", "check", "--stdin-filename", "pages/Some.py", "-", text=source)
    assert "banned-api" in done.stdout or "TID251" in done.stdout


def test_training_imports_no_data_frames() -> None:
    source = "import sys, bpeviz; bpeviz.train('low', merges=1); print('pandas' in sys.modules)"
    assert run("python", "-c", source).stdout == "False\n"


def test_every_page_is_in_the_menu_and_the_readme_names_no_other() -> None:
    from bpeviz.ui.registry import PAGES

    files = {"app.py", *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))}
    assert files == {page.path for page in PAGES}
    readme = (ROOT / "README.md").read_text()
    named = re.findall(r"^\| \*\*(.+?)\*\* \|", readme, re.MULTILINE)
    assert {*named} == {page.title for page in PAGES}


def test_readme_names_every_trainer_pattern_and_option() -> None:
    from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS
    from bpeviz.trainers import TRAINERS

    readme = (ROOT / "bpeviz/trainers/README.md").read_text()
    for name in (*PATTERNS, CUSTOM, *TRAINERS):
        assert f"`{name}`" in readme
    for trainer in TRAINERS.values():
        for option in trainer.options:
            assert f"`{option.name}`" in readme


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
    app.session_state["compared"] = ["yours"]
    app.switch_page(page).run()
    assert not app.exception and not app.error, (page, app.exception, app.error)
    assert "rarest" in str(app.session_state["algorithm"])
    assert app.get("bidi_component"), page
print("every page")
"""


def add_trainer(copy: Path) -> None:
    """Add the trainer of the README to a copy of the project, in the two places that it names."""
    readme = (ROOT / "bpeviz/README.md").read_text()
    (line,) = re.findall(r"```\n( *\w+\.TRAINER,\n)```", readme)
    (copy / "bpeviz/trainers/rarest.py").write_text(readme_trainer())
    registry = copy / "bpeviz/trainers/registry.py"
    listed = registry.read_text().replace("    parity_bpe,\n", "    parity_bpe,\n    rarest,\n")
    registry.write_text(
        listed.replace(
            "        continued_bpe.TRAINER,\n", "        continued_bpe.TRAINER,\n" + line
        )
    )


LONGEST = """
import sys
from streamlit.testing.v1 import AppTest
sys.path.append(sys.argv[1])
from helpers.payloads import payloads
app = AppTest.from_file("app.py", default_timeout=60)
app.query_params["text"] = "low lower"
app.switch_page("pages/Longest.py").run()
assert not app.exception and not app.error, (app.exception, app.error)
app.session_state["share"] = True
app.session_state["copy_link"] = {"request": 1}
assert app.run().session_state["made_link"]["query"].startswith("text=low%20lower&")
(payload,) = (data for data in payloads(app) if "views" in data)
assert payload["last"] > 0
assert any(text.value.startswith("The longest tokens: ") for text in app.markdown)
print("drawn")
"""


def test_page_of_the_readme_has_a_player_in_60_lines(copy: Path) -> None:
    source = example('"pages/Longest.py"')
    assert source.count("\n") <= 60
    (copy / "bpeviz/ui/pages/longest.py").write_text(source)
    script = (copy / "pages/Algorithms.py").read_text()
    (copy / "pages/Longest.py").write_text(script.replace("algorithms", "longest"))
    registry = copy / "bpeviz/ui/registry.py"
    listed = registry.read_text().replace(
        "import algorithms, compare, inspect,", "import algorithms, compare, inspect, longest,"
    )
    registry.write_text(
        listed.replace("    pretokenize.PAGE,\n", "    pretokenize.PAGE,\n    longest.PAGE,\n")
    )
    assert_passes("ruff", "check", "bpeviz", "pages", folder=copy)
    done = run(sys.executable, "-c", LONGEST, ROOT / "tests", folder=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "drawn" in done.stdout


LINES = {
    "bpeviz": 42_787,
    "bpeviz data, kB": 1,
    "bpeviz/*.py": 573,
    "bpeviz/analysis": 2_592,
    "bpeviz/cli": 1_798,
    "bpeviz/components": 8_511,
    "bpeviz/core": 2_114,
    "bpeviz/corpus": 1_120,
    "bpeviz/formats": 4_597,
    "bpeviz/jobs": 385,
    "bpeviz/libraries": 1_436,
    "bpeviz/pretokenizers": 1_177,
    "bpeviz/pretrained": 1_170,
    "bpeviz/room": 831,
    "bpeviz/trainers": 3_464,
    "bpeviz/ui": 9_862,
    "bpeviz/views": 2_694,
    "bpeviz/workers": 463,
    "tests": 30_753,
    "tests data, kB": 205,
    "tests/*.mjs": 1_417,
}
"""The most lines of code, and kilobytes of data beside them: see `lines.py`."""


def test_lines_of_code_do_not_rise() -> None:
    counted = lines.counted()
    if counted is None:
        pytest.skip("not a git checkout")
    assert counted.keys() == LINES.keys()
    higher = {key: (number, LINES[key]) for key, number in counted.items() if number > LINES[key]}
    assert not higher, "lines counted, and stated in LINES"


def test_path_through_the_code_is_readable_in_an_hour() -> None:
    readme = (ROOT / "bpeviz/README.md").read_text("utf-8")
    section = readme.partition("## Readable in an hour\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. \[(.+?)\]\((.+?)\) (.+)$", section, re.MULTILINE)
    assert 6 <= len(steps) <= 12
    assert all(name == target and words.count(".") == 1 for name, target, words in steps)
    assert sum(lines.code_lines(ROOT / "bpeviz" / target) for _, target, _ in steps) <= 2_500
    assert readme.index("## Readable in an hour") < readme.index("## The central idea")


def test_definition_of_bpe_is_in_the_first_40_lines_of_its_file() -> None:
    path = ROOT / "bpeviz/trainers/bpe.py"
    (loop,) = (node for node in trees()[path].body if getattr(node, "name", "") == "definition")
    assert (loop.end_lineno or 0) <= 40


@pytest.mark.thorough
def test_project_and_the_trainer_of_the_readme_pass_the_type_checker(copy: Path) -> None:
    """Check the added trainer with mypy, using the cache of the run on the whole project."""
    assert_passes("mypy")
    add_trainer(copy)
    shutil.copytree(ROOT / ".mypy_cache", copy / ".mypy_cache")
    assert_passes("mypy", "bpeviz/trainers/rarest.py", folder=copy)


@pytest.mark.thorough
def test_trainer_of_the_readme_is_one_file_and_one_line_and_works_on_every_page(copy: Path) -> None:
    add_trainer(copy)
    assert_passes("ruff", "check", "bpeviz", folder=copy)
    assert_passes("lint-imports", "--no-cache", folder=copy)
    done = run(sys.executable, "-c", EVERY_PAGE, folder=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every page" in done.stdout


def test_top_folder_contains_only_the_agreed_files() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    top = {name.split("/")[0] for name in listed.stdout.split()}
    allowed = {"app.py", "pages", "bpeviz", "tests", "requirements.txt", "README.md"}
    assert {name for name in top if not name.startswith(".")} == allowed | {"sample_texts"}


def test_public_methods_have_docstrings_unless_they_override() -> None:
    """ruff cannot tell overrides apart, so it does not check methods (D102)."""
    import importlib
    import inspect
    import pkgutil

    import bpeviz

    missing = []
    for module in pkgutil.walk_packages(bpeviz.__path__, "bpeviz."):
        if module.name == "bpeviz.__main__":
            continue
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            protocol = getattr(kind, "_is_protocol", False)
            if kind.__module__ != module.name or name.startswith("_") or protocol:
                continue
            for method, value in vars(kind).items():
                function = getattr(value, "fget", getattr(value, "func", value))
                if method.startswith("_") or not inspect.isfunction(function):
                    continue
                if function.__name__ == "<lambda>":  # the default of a field
                    continue
                parents = kind.__mro__[1:]
                inherited = any(
                    hasattr(parent, method) or method in getattr(parent, "__annotations__", {})
                    for parent in parents
                )
                if not function.__doc__ and not inherited:
                    missing.append(f"{module.name}.{name}.{method}")
    assert missing == []

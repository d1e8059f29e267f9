"""The commands that start the app from a checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pin
import pytest
from browser.serving import free_port, started
from helpers import http_server
from helpers.properties import mostly_thorough
from helpers.served_pages import assert_serves_the_app
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


def uv_run() -> list[str | Path]:
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    uv = shutil.which("uv", path=places) or pytest.skip("uv is not installed")
    # In this environment, which has all packages, it needs no network.
    return [uv, "run", "--active", "--offline"]


COMMANDS: dict[str, tuple[Callable[[], list[str | Path]], str]] = {
    "uv run": (uv_run, "--"),
    "python": (lambda: [sys.executable], "--"),
    "streamlit run": (lambda: [sys.executable, "-m", "streamlit", "run"], "--server."),
}
"""The beginning of each command, and that of its options."""


OUTSIDE: list[str] = []
"""The requests of the app to other hosts."""


class Outside(http_server.Handler):
    def respond(self) -> None:
        OUTSIDE.append(self.path)
        self.answer(502, b"")

    do_CONNECT = respond  # noqa: N815


@pytest.mark.slow
@pytest.mark.parametrize("command", mostly_thorough(COMMANDS, ["python"]))
def test_each_command_serves_the_app(command: str, tmp_path: Path) -> None:
    folder = tmp_path / "a folder with a space"
    for name in ("bpeviz", "pages", "sample_texts", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy2(ROOT / "app.py", folder)
    script = folder / "app.py"
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho $1 > '{tmp_path}/opened'\n", encoding="utf-8")
    browser.chmod(0o755)
    beginning, options = COMMANDS[command]
    port = free_port()
    address = f"http://localhost:{port}"
    environment = {
        "BROWSER": str(browser),
        "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
        "VIRTUAL_ENV": sys.prefix,
    }
    outside, start = http_server.Server(Outside), time.monotonic()
    environment |= dict.fromkeys(("http_proxy", "https_proxy"), outside.address)
    line = [*beginning(), script, f"{options}port", str(port)]
    where = folder if command == "uv run" else tmp_path
    app = started(line, address, tmp_path, env=environment, cwd=where)
    with http_server.running(outside), app as server:
        assert_serves_the_app(address)
        opened = tmp_path / "opened"
        while command != "streamlit run" and not opened.exists():
            assert time.monotonic() < start + 60, "no browser was opened"
            time.sleep(0.05)
        assert opened.exists() == (command != "streamlit run")
        log = server.log.read_text(encoding="utf-8")
        assert log.count("bpeviz is starting.") == 1
        assert address in log
        assert server.tracebacks() == ""
    assert OUTSIDE == []


@pytest.mark.parametrize("command", [["app.py"], ["-m", "bpeviz", "app"]])
def test_first_line_is_printed_before_the_imports(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "bpeviz").mkdir()
    for name in ("bpeviz/analysis", "bpeviz/cli", "streamlit"):
        (tmp_path / f"{name}.py").write_text("import sys; sys.exit('imported')", encoding="utf-8")
    for name in ("app.py", "bpeviz/__init__.py", "bpeviz/__main__.py", "bpeviz/interrupts.py"):
        shutil.copy2(ROOT / name, tmp_path / name)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("bpeviz is starting.\n", "imported\n")


def test_header_of_the_app_lists_the_requirements() -> None:
    header = (ROOT / "app.py").read_text(encoding="utf-8").partition("# ///\n")[0]
    lines = header.removeprefix("# /// script\n").splitlines()
    listed = tomllib.loads("\n".join(line.removeprefix("#").strip() for line in lines))
    first, *requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert first == "-c .package/constraints.txt"
    assert listed["dependencies"] == requirements
    pins = (ROOT / ".package/constraints.txt").read_text(encoding="utf-8").splitlines()
    assert listed["tool"]["uv"]["constraint-dependencies"] == pins


def test_installed_versions_are_those_of_the_constraints() -> None:
    if os.environ.get("BPEVIZ_FREE_VERSIONS"):
        pytest.skip("Other versions are wanted.")
    tests = (ROOT / "tests/requirements.txt").read_text(encoding="utf-8").splitlines()
    assert tests[:2] == ["-c ../.package/constraints.txt", "-r ../requirements.txt"]
    pins = [*map(Requirement, pin.CONSTRAINTS.read_text(encoding="utf-8").splitlines())]
    here = [of for of in pins if of.marker is None or of.marker.evaluate()]
    assert {of.name: str(of.specifier) for of in here} == {
        of.name: f"=={version(of.name)}" for of in here
    }
    needed = {*map(canonicalize_name, re.findall(r"^[a-z][\w.-]+", "\n".join(tests), re.MULTILINE))}
    assert needed <= {canonicalize_name(of.name) for of in here}

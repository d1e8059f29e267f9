"""The wheel: its contents, and its commands where it alone is installed."""

from __future__ import annotations

import os
import re
import subprocess
import urllib.request
import zipfile
from pathlib import Path

import pytest
from browser.serving import free_port, started
from helpers import installed_wheel
from helpers.installed_wheel import PROJECT, ROOT, Environment
from helpers.served_pages import assert_serves_the_app, status
from packaging.requirements import Requirement

CORE = "numpy regex tiktoken orjson cachetools wcwidth pyarrow"
TEXT = "low lower lowest newest widest " * 3


def git_status() -> str:
    """Return the untracked and ignored files of the checkout, without caches of tools."""
    options = ("--porcelain", "--ignored", "--untracked-files=all", "--", ":!*cache*")
    done = subprocess.run(
        ["git", "status", *options], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    before = git_status()
    path = installed_wheel.build(tmp_path_factory.mktemp("wheel"))
    assert git_status() == before, "building leaves files in the checkout"
    return path


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return installed_wheel.install(wheel, "", tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def complete(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return installed_wheel.install(wheel, "app", tmp_path_factory.mktemp("complete"))


def test_ranges_of_the_wheel_begin_with_the_requirements() -> None:
    _, *lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    listed = {requirement.name: requirement for requirement in map(Requirement, lines)}
    everything = PROJECT["dependencies"] + [
        line for extra in PROJECT["optional-dependencies"].values() for line in extra
    ]
    ranges = {r.name: r for r in map(Requirement, everything) if r.name != "bpeviz"}
    # Of protobuf, Streamlit has its own range.
    assert ranges.keys() == listed.keys() | {"protobuf"}
    for name, requirement in listed.items():
        assert str(requirement.marker) == str(ranges[name].marker)
        ((lower,), (own,)) = (requirement.specifier, ranges[name].specifier)
        assert own.version == lower.version
        assert own.operator == ("~=" if name == "streamlit" else ">=")


def test_core_is_small() -> None:
    names = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert names == {*CORE.split(), "psutil"}  # psutil replaces Linux's /proc elsewhere


@pytest.mark.thorough
def test_wheel_is_small_and_contains_the_app(wheel: Path) -> None:
    assert wheel.stat().st_size <= 1_200_000
    names = set(zipfile.ZipFile(wheel).namelist())
    pages = {f"pages/{path.name}" for path in ROOT.glob("pages/*.py")}
    assert {f"bpeviz/app/{path}" for path in pages | {"app.py", ".streamlit/config.toml"}} <= names
    texts = {str(path.relative_to(ROOT)) for path in ROOT.glob("sample_texts/**/*.txt")}
    assert {f"bpeviz/app/{text}" for text in texts} <= names
    sources = {str(path.relative_to(ROOT)) for path in ROOT.glob("bpeviz/**/*.py")}
    assert sources <= names
    assert not any("__pycache__" in name for name in names)


@pytest.mark.thorough
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="The files are not in a Git repository.")
def test_wheel_is_built_from_a_git_address(tmp_path: Path) -> None:
    wheel = installed_wheel.build(tmp_path, f"git+{ROOT.as_uri()}#subdirectory=.package")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"bpeviz/__main__.py", "bpeviz/py.typed", "bpeviz/app/app.py"} < set(names)


@pytest.mark.thorough
def test_every_command_runs_with_the_core_alone(core: Environment) -> None:
    for command in (
        "train --merges 8 --output t.json",
        "encode --tokenizer t.json --tokens",
        "decode --tokenizer t.json [108]",
        "lookup --tokenizer t.json low",
        "count --output counts.parquet",
        "compare --tokenizer t.json",
        "play --merges 8 --output play.html",
        "convert --tokenizer t.json --output t.tiktoken",
        "train --merges 8 --progress --output t.json",
    ):
        done = core.run(*command.split(), text=TEXT)
        assert done.returncode == 0, (command, done.stderr)
    done = core.run("encode", "--tokenizer", "t.json", "--tokens", text="lowest")
    assert done.stdout == "low est\n"
    for command, extra in (
        ("room --address localhost", "app"),
        ("app", "app"),
        ("encode --tokenizer t.json --tokens --color always", "app"),
        ("encode --tokenizer hf:owner/name", "files"),
        ("train --algorithm unigram --vocab-size 20 --format huggingface --output u.json", "files"),
        ("train --algorithm sentencepiece --merges 4 --pattern none --output s.model", "files"),
    ):
        done = core.run(*command.split(), text=TEXT)
        assert done.returncode == 1, (command, done.stderr)
        assert f"bpeviz[{extra}]" in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.thorough
def test_installed_command_serves_the_app(complete: Environment, tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [complete.folder / "bin/bpeviz", "app", "--headless", "--address", "127.0.0.1"]
    command += ["--port", str(port)]
    with started(command, address, tmp_path, env=complete.variables(), cwd=complete.work) as server:
        assert_serves_the_app(address)
        assert (complete.package / "app/app.py").exists()
        assert "bpeviz is starting." in server.log.read_text(encoding="utf-8")
        assert server.tracebacks() == ""
    assert [*complete.work.iterdir()] == []


def instructions(dockerfile: str, name: str) -> str:
    """Return the arguments of all instructions of a Dockerfile with this name."""
    return " ".join(re.findall(f"^{name} (.+)$", dockerfile, re.MULTILINE))


@pytest.mark.thorough
def test_container_serves_as_a_user_without_rights_to_write(
    complete: Environment, tmp_path: Path
) -> None:
    dockerfile = (ROOT / ".package/Dockerfile").read_text(encoding="utf-8")
    assert len(dockerfile.splitlines()) <= 20
    variables = dict(re.findall(r'(\w+)="?([^"\s]+)', instructions(dockerfile, "ENV")))
    assert variables["PORT"] == "7860"
    port = free_port()
    variables |= {
        "PORT": str(port),
        "TIKTOKEN_CACHE_DIR": str(tmp_path),
        "STREAMLIT_BROWSER_SERVER_ADDRESS": "hub.example",
        "BPEVIZ_FRAME_ANCESTORS": "'self' https://hub.example",
    }
    for path in [complete.package, *complete.package.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    # Without this capability, the rights of files hold for root, too.
    limited = ["setpriv", "--bounding-set=-dac_override"] if os.getuid() == 0 else []
    assert subprocess.run([*limited, "touch", complete.package / "new"], timeout=60).returncode
    environment = {**complete.variables(), **variables, "HOME": "/nonexistent"}
    address = f"http://127.0.0.1:{port}"
    health, start = instructions(dockerfile, "(?:HEALTHCHECK )?CMD").split(" exec ")
    assert " --address 0.0.0.0 " in start
    loopback = start.replace("0.0.0.0", "127.0.0.1")
    command = [*limited, "sh", "-c", f"exec {loopback}"]
    with started(command, address, tmp_path, env=environment, cwd="/") as server:
        assert status(address, "hub.example") == 200
        with urllib.request.urlopen(address, timeout=30) as page:
            policy = page.headers["Content-Security-Policy"]
        assert "frame-ancestors 'self' https://hub.example" in policy
        subprocess.run(["sh", "-c", health], env=os.environ | environment, check=True, timeout=60)
        log = server.log.read_text(encoding="utf-8")
        assert f"http://hub.example:{port}" in log
        assert server.tracebacks() == ""

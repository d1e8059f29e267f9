"""Build the wheel and install it without a network, beside packages of this environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / ".package/pyproject.toml").read_text())["project"]


def requirements(extra: str = "") -> list[Requirement]:
    """Return what the wheel needs on this system, alone or with an extra."""
    listed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"].get(extra, [])]
    needed = []
    for requirement in map(Requirement, listed):
        if requirement.name == PROJECT["name"]:
            (included,) = requirement.extras
            needed += map(Requirement, PROJECT["optional-dependencies"][included])
        elif requirement.marker is None or requirement.marker.evaluate():
            needed.append(requirement)
    return needed


def build(folder: Path, source: str | Path = ROOT / ".package") -> Path:
    """Build the wheel of a folder or Git address in a folder, and return its path."""
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder)
    pip = (sys.executable, "-m", "pip", "wheel", "-q")
    subprocess.run([*pip, *options, source], check=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the wheel, and a folder to work in, which is empty at first."""

    folder: Path
    work: Path

    @property
    def package(self) -> Path:
        """The folder of the installed package."""
        (package,) = self.folder.glob("lib/python*/site-packages/bpeviz")
        return package

    def variables(self) -> dict[str, str]:
        """Return the variables of its processes: the program folder first, no other packages."""
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "PYTHONPATH": "", "VIRTUAL_ENV": str(self.folder)}

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command `bpeviz`."""
        return subprocess.run(
            [self.folder / "bin" / "bpeviz", *arguments],
            cwd=self.work,
            env=self.variables(),
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
        )


def install(wheel: Path, extra: str, folder: Path) -> Environment:
    """Install the wheel with an extra in a new environment in a folder."""
    environment = Environment(folder / "a venv", folder / "work")
    environment.work.mkdir()
    python = environment.folder / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", environment.folder], check=True, timeout=60
    )
    (packages,) = environment.folder.glob("lib/python*/site-packages")
    waiting, linked = [requirement.name for requirement in requirements(extra)], set()
    while waiting:
        if (name := waiting.pop().lower().replace("_", "-")) in linked:
            continue
        linked.add(name)
        package = distribution(name)
        for top in {file.parts[0] for file in package.files or () if file.parts[0] != ".."}:
            if not (packages / top).exists() and top != "__pycache__":
                (packages / top).symlink_to(Path(str(package.locate_file(top))))
        waiting += [
            requirement.name
            for requirement in map(Requirement, package.requires or ())
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        ]
    # pip fails if a package is missing, or has a version outside of its range.
    target = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index")
    subprocess.run([*pip, target], check=True, timeout=120)
    return environment

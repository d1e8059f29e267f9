"""Tokenizers of models on Hugging Face, from a stand-in of the hub on the loopback address."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from helpers.gguf_files import gguf_file
from helpers.http_server import Handler, Server, running
from helpers.processes import eventually
from helpers.refusals import refusal

import bpeviz
from bpeviz import context
from bpeviz.__main__ import main
from bpeviz.pretrained import download, hub, transfer
from bpeviz.pretrained.download import VocabularyUnavailable

pytestmark = pytest.mark.slow

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "hf:someone/model"


@dataclass
class Repository:
    """A model of the stand-in.

    Attributes:
        files: Content by path.
        lfs: Paths that are stored as large files, with another checksum.
        stated: Sizes in the listing, if they are not true.
        status: Status and error code of all responses, instead of 200.
        drip: Whether files arrive byte by byte.
    """

    files: dict[str, bytes]
    lfs: frozenset[str] = frozenset()
    stated: dict[str, int] = field(default_factory=dict)
    status: tuple[int, str] | None = None
    drip: bool = False

    def listing(self) -> list[dict[str, Any]]:
        found = []
        for name, content in self.files.items():
            size = self.stated.get(name, len(content))
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            one: dict[str, Any] = {"rfilename": name, "size": size, "blobId": blob}
            if name in self.lfs:
                sha256 = hashlib.sha256(content).hexdigest()
                one["lfs"] = {"size": size, "sha256": sha256, "pointerSize": 130}
            found.append(one)
        return found


class Hub(Server):
    """A stand-in of the hub. requests: paths and Authorization headers."""

    def __init__(self) -> None:
        super().__init__(Answers)
        self.models: dict[str, Repository] = {}
        self.changed: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.waiting = threading.Event()
        self.waiting.set()


class Answers(Handler):
    server: Hub

    def respond(self) -> None:
        self.server.requests.append((self.path, self.headers.get("Authorization")))
        path = self.path.partition("?")[0]
        self.server.waiting.wait(30)
        name = "/".join(path.removeprefix("/api/models/").strip("/").split("/")[:2])
        found = self.server.models.get(name)
        if found is None:
            return self.answer(401, b"{}", X_Error_Code="RepoNotFound")
        if found.status is not None:
            status, code = found.status
            return self.answer(status, b"{}", X_Error_Code=code)
        if path.startswith("/api/"):
            if path.split("/revision/")[-1] not in ("main", "v1"):
                return self.answer(404, b"{}", X_Error_Code="RevisionNotFound")
            listing = {"id": name, "sha": COMMIT, "siblings": found.listing()}
            return self.answer(200, json.dumps(listing).encode())
        file = path.removeprefix(f"/{name}/resolve/{COMMIT}/")
        content = self.server.changed.get(file, found.files[file])
        if not found.drip:
            return self.answer(200, content)
        self.answer(200, content, send=0)
        return self.drip(content)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub()
    with running(server):
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
        monkeypatch.setattr(download, "_downloads", {})
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_TELEMETRY", True)
        bpeviz.api._parsed.cache_clear()
        yield server
        server.waiting.set()


def saved(tmp_path: Path) -> tuple[bpeviz.Tokenizer, bytes]:
    """Return a tokenizer and its tokenizer.json."""
    tokenizer = bpeviz.train("low lower lowest", vocab_size=262).tokenizer()
    (path,) = bpeviz.save(tokenizer, tmp_path / "tokenizer.json")
    return tokenizer, path.read_bytes()


def fetch(name: str = NAME) -> list[str]:
    messages: list[str] = []
    download.fetch(name, messages.append)
    return messages


def test_load_reads_the_tokenizer_of_a_model_and_stays_offline(server: Hub, tmp_path: Path) -> None:
    tokenizer, content = saved(tmp_path)
    weights = {"model.safetensors": b"w" * 1000, "pytorch_model.bin": b"p", "tokenizer.py": b"0/0"}
    server.models["someone/model"] = Repository({"tokenizer.json": content, **weights})
    assert download.progress(NAME).state == "missing"
    assert bpeviz.load(NAME).encode("lowest low") == tokenizer.encode("lowest low")
    assert [path.partition("?")[0] for path, _ in server.requests] == [
        "/api/models/someone/model/revision/main",
        f"/someone/model/resolve/{COMMIT}/tokenizer.json",
    ]
    assert [path.name for path in download.paths(NAME)] == ["tokenizer.json"]
    assert download.progress(NAME).state == "ready"
    server.requests.clear()
    bpeviz.api._parsed.cache_clear()
    assert bpeviz.load(NAME).encode("low") == tokenizer.encode("low")
    assert server.requests == []


def test_load_reads_the_beginning_of_the_smallest_gguf_model(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata: dict[str, Any] = {
        "model": "gpt2",
        "pre": "gpt-2",
        "tokens": ["a", "b", "ab"],
        "merges": ["a b"],
    }
    small, large = (gguf_file(metadata, tensors=bytes(size)) for size in (60_000, 90_000))
    models = {"model-Q8_0.gguf": large, "model-Q4_0.gguf": small, "mmproj-F16.gguf": b"GGUF"}
    parts = {"model-00002-of-00002.gguf": b"GGUF", "sub/model.gguf": b"GGUF"}
    server.models["someone/model"] = Repository(models | parts, frozenset(models))
    monkeypatch.setattr(transfer, "LIMITS", replace(transfer.LIMITS, most_bytes=20_000))
    assert bpeviz.load(NAME).encode("aba") == [2, 0]
    (path,) = download.paths(NAME)
    assert (path.name, path.stat().st_size) == ("model-Q4_0.gguf", 20_000)


def test_requests_contain_the_token_of_the_server_only_if_its_operator_allows_it(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.models["someone/model"] = Repository({"tokenizer.json": b"{}"}, frozenset())
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch()
    assert [token for _, token in server.requests] == [None, None]
    server.requests.clear()
    monkeypatch.setenv(hub.TOKEN_VARIABLE, "1")
    fetch(f"{NAME}@v1")
    assert [token for _, token in server.requests] == ["Bearer hf_secret"] * 2
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", "missing")
    server.models["someone/other"] = Repository({"tokenizer.json": b"{}"})
    fetch("hf:someone/other")
    assert server.requests[-1][1] is None


TOOLS = "additional_chat_templates/tool_use.jinja"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["tokenizer.json", "tokenizer.model", "vocab.json"], ["tokenizer.json"]),
        (["tokenizer.model", "vocab.json"], ["tokenizer.model"]),
        (["vocab.json", "merges.txt", "vocab.txt"], ["merges.txt", "vocab.json"]),
        (["vocab.json", "vocab.txt"], ["vocab.txt"]),
        (["vocab.txt", "config.json", "pytorch_model.bin"], ["config.json", "vocab.txt"]),
        (
            ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "config.json"],
            ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"],
        ),
        (
            ["tokenizer.json", TOOLS, "special_tokens_map.json", "prompts/x.jinja"],
            ["special_tokens_map.json", "tokenizer.json", TOOLS],
        ),
        (["qwen.tiktoken", "config.json", "sub/other.tiktoken"], ["qwen.tiktoken"]),
    ],
)
def test_fetch_downloads_one_set_of_tokenizer_files(
    server: Hub, files: list[str], expected: list[str]
) -> None:
    contents = {name: name.encode() for name in files}
    server.models["someone/model"] = Repository(contents, frozenset(files[:1]))
    messages = fetch()
    assert messages[-1] == f"{NAME}: ready"
    stored = {name.rpartition("/")[2]: contents[name] for name in expected}
    assert download.contents(NAME) == stored


def test_fetch_reports_models_without_tokenizer_files(server: Hub) -> None:
    server.models["someone/model"] = Repository(
        {"../tokenizer.json": b"1", "sub/tokenizer.json": b"2", "tokenizer.py": b"3"}
    )
    refusal(fetch, naming=("someone/model", "tokenizer.json"), error=VocabularyUnavailable)
    assert len(server.requests) == 1
    other = f"{NAME}@other/branch"
    refusal(fetch, other, naming=(other, "no such revision"), error=VocabularyUnavailable)
    named_like_a_file = "hf:someone/model.json"
    refusal(bpeviz.load, named_like_a_file, naming="model.json", error=VocabularyUnavailable)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ((403, "GatedRepo"), "gated"),
        ((403, ""), "gated or private"),
        ((401, "RepoNotFound"), "does not exist, or is private"),
        ((500, ""), "status 500"),
        ((429, ""), "status 429"),
    ],
)
def test_fetch_reports_refusals_of_the_hub(
    server: Hub, status: tuple[int, str], reason: str
) -> None:
    server.models["someone/model"] = Repository({}, status=status)
    with pytest.raises(VocabularyUnavailable) as caught:
        fetch()
    assert reason in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


def test_fetch_reports_that_the_hub_cannot_be_reached(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nothing listens there
    refusal(fetch, naming="someone/model", error=VocabularyUnavailable)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    refusal(fetch, naming=("someone/model", "HF_HUB_OFFLINE"), error=VocabularyUnavailable)


def limit(monkeypatch: pytest.MonkeyPatch, **changed: float) -> None:
    monkeypatch.setattr(transfer, "LIMITS", replace(transfer.LIMITS, **changed))  # type: ignore[arg-type]


def test_fetch_refuses_large_files_before_and_during_the_download(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, most_bytes=10_000)
    large = Repository({"tokenizer.json": bytes(200_000)})
    server.models["someone/model"] = large
    refusal(fetch, naming="someone/model", error=VocabularyUnavailable)
    assert len(server.requests) == 1
    large.stated["tokenizer.json"] = 5
    refusal(fetch, naming="someone/model", error=VocabularyUnavailable)
    assert len(server.requests) == 3
    assert not download.available(NAME)


def test_fetch_stops_slow_downloads(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, total=0.3)
    server.models["someone/model"] = Repository({"tokenizer.json": bytes(100_000)}, drip=True)
    refusal(fetch, naming=("someone/model", "0.3 s"), error=VocabularyUnavailable)


@pytest.mark.parametrize("lfs", [frozenset(), frozenset({"tokenizer.json"})])
def test_fetch_refuses_files_with_another_checksum(server: Hub, lfs: frozenset[str]) -> None:
    server.models["someone/model"] = Repository({"tokenizer.json": b"{}"}, lfs)
    server.changed["tokenizer.json"] = b"[]"
    refusal(fetch, naming="tokenizer.json", error=VocabularyUnavailable)
    assert not download.available(NAME)


def test_changed_files_in_the_cache_are_downloaded_again(server: Hub) -> None:
    server.models["someone/model"] = Repository({"tokenizer.json": b"{}"})
    fetch()
    download.paths(NAME)[0].write_bytes(b"changed")
    with pytest.raises(VocabularyUnavailable):
        download.contents(NAME)
    assert not download.available(NAME)
    fetch()
    assert download.contents(NAME) == {"tokenizer.json": b"{}"}


def test_cache_that_is_only_readable_is_used(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    server.models["someone/model"] = Repository({"tokenizer.json": b"{}"})
    fetch()

    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refused)
    assert download.contents(NAME) == {"tokenizer.json": b"{}"}


def test_full_disk_is_reported_and_leaves_nothing_behind(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    server.models["someone/model"] = Repository({"tokenizer.json": b"{}"})
    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_bytes", full)
        refusal(fetch, naming="TIKTOKEN_CACHE_DIR", error=VocabularyUnavailable)
    assert not [*hub.hub_folder().iterdir()]
    fetch()
    assert download.available(NAME)


@pytest.mark.parametrize("revision", ["é" * 100, "a/" * 49 + "a"])
def test_long_revisions_fit_into_the_name_of_a_folder(server: Hub, revision: str) -> None:
    hub.hub_folder().mkdir(parents=True)
    one = f"hf:{'o' * 96}/{'n' * 96}@{revision}"
    assert not download.available(one)
    hub._store(hub.ModelId.parse(one), {"tokenizer.json": b"{}"}, COMMIT)
    assert download.available(one)
    assert not download.available(f"{one[:-1]}b")


def test_the_quota_removes_the_models_that_were_unused_for_longest(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"hf:someone/model-{number}" for number in range(4)]
    limit(monkeypatch, quota=25_000)
    for age, name in enumerate(names):
        server.models[name.removeprefix("hf:")] = Repository({"tokenizer.json": bytes(10_000)})
        fetch(name)
        os.utime(hub.ModelId.parse(name).folder, (age, age))
        if age == 1:
            download.contents(names[0])  # used now
    assert [download.available(name) for name in names] == [True, False, False, True]


@pytest.mark.parametrize(
    "name",
    [
        *("hf:", "hf:model", "hf:a/b/c", "hf:../b", "hf:a/..", "hf:a/b@", "hf:a/b@../x"),
        *(
            "hf:a/b@/x",
            "hf:a/b\n",
            "hf:a--b/c",
            "hf:http://x/y",
            "hf:a/b@-x",
            "hf:a/.b",
            "hf:a/b c",
        ),
    ],
)
def test_invalid_ids_raise_value_errors(name: str) -> None:
    if name.endswith("\n"):
        assert hub.ModelId.parse(name) == hub.ModelId("a/b", "main")
        return
    for function in (download.available, download.fetch, download.contents, bpeviz.load):
        refusal(function, name)


def test_background_fetch_limits_downloads_at_once(
    server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.waiting.clear()
    names = [f"{NAME}-{number}" for number in range(5)]
    for name in names:
        server.models[name.removeprefix("hf:")] = Repository({"tokenizer.json": b"{}"})
    monkeypatch.setattr(context, "_current", context.Context(lambda: "one"))
    download.fetch_in_background(names[0])
    refusal(download.fetch_in_background, names[1], error=VocabularyUnavailable)
    monkeypatch.setattr(context, "_current", context.Context(lambda: "two"))
    download.fetch_in_background(names[1])
    monkeypatch.setattr(context, "_current", context.Context(lambda: ""))
    download.fetch_in_background(names[2])
    refusal(download.fetch_in_background, names[3], naming="3", error=VocabularyUnavailable)
    states = [download.progress(name).state for name in names]
    assert states == ["fetching"] * 3 + ["missing"] * 2
    server.waiting.set()
    eventually(lambda: all(map(download.available, names[:3])))
    eventually(lambda: not any(job.is_alive() for job in download._downloads.values()))
    monkeypatch.setattr(context, "_current", context.Context(lambda: "one"))
    download.fetch_in_background(names[4])
    eventually(lambda: download.available(names[4]))


def test_commands_accept_model_ids(
    server: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer, content = saved(tmp_path)
    server.models["someone/model"] = Repository({"tokenizer.json": content})
    command = [sys.executable, "-m", "bpeviz", "vocabularies", NAME]
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_TOKEN": "hf_secret"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tokenizer.json" in done.stdout
    assert len(server.requests) == 2  # no usage statistics
    assert {token for _, token in server.requests} == {None}
    (tmp_path / "text").write_text("lowest")
    assert main(["encode", str(tmp_path / "text"), "--tokenizer", NAME]) == 0
    assert json.loads(capsys.readouterr().out) == tokenizer.encode("lowest")
    assert main(["vocabularies", "hf:someone/other"]) == 1
    assert "does not exist" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["vocabularies", "hf:other"])

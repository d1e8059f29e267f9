"""Counting on a Dask cluster: results equal local ones, also if workers are lost."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import distributed as dask
import pytest
from helpers.refusals import refusal

from bpeviz.__main__ import main
from bpeviz.corpus import dask as cluster
from bpeviz.corpus import files, parquet
from bpeviz.corpus.dask import ClusterError
from bpeviz.corpus.files import ByteRange, CorpusError
from bpeviz.pretokenizers.counts import PreTokenCounts, count_blocks

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LINE = "It's the 12345th “time” we meet, Élodie;\r\n  and слово {} follows {}.\n"


def start_cluster(workers: int) -> dask.LocalCluster:
    """Start a cluster on this machine, with a process for each worker."""
    return dask.LocalCluster(
        n_workers=workers,
        processes=True,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        silence_logs=50,
        env={"PYTHONPATH": str(ROOT)},
    )


def await_workers(local: dask.LocalCluster, workers: int) -> None:
    """Wait until all workers run: Dask fails to stop a worker that is just being restarted."""
    with dask.Client(local, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)


@pytest.fixture(scope="module")
def two_workers() -> Iterator[dask.LocalCluster]:
    """Start a cluster with two workers."""
    with start_cluster(2) as local:
        yield local


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write three files of one text, divided within a line end and within a word."""
    monkeypatch.chdir(tmp_path)
    text = "".join(LINE.format(i % 97, i) for i in range(12_000)).encode()
    third = len(text) // 3
    names = ["a.txt", "b.txt", "c.txt"]
    middle = text.index(b"\r\n", third) + 1
    last = text.index(b"follow", 2 * third) + 3
    parts = (text[:middle], text[middle:last], text[last:])
    for name, content in zip(names, parts, strict=True):
        Path(name).write_bytes(content)
    return names


def count_locally(paths: list[str], pattern: str) -> bytes:
    """Return the counts of files, counted in this process, as a Parquet file."""
    counted = count_blocks(files.read([ByteRange(path) for path in paths]), pattern)
    return parquet.dump(counted)


def count_on(
    local: dask.LocalCluster, paths: list[str], pattern: str, **limits: float
) -> PreTokenCounts:
    """Count files on a cluster, in small parts."""
    return cluster.count(local.scheduler_address, paths, pattern, part=50_000, **limits)


@pytest.mark.thorough
def test_cluster_counts_equal_local_counts_bit_for_bit(
    two_workers: dask.LocalCluster, corpus: list[str]
) -> None:
    for pattern in ("gpt2", "cl100k", "o200k", "sentences", "none"):
        assert len([*files.parts(corpus, pattern, 50_000)]) > 6 or pattern == "none"
        counted = parquet.dump(count_on(two_workers, corpus, pattern))
        assert counted == count_locally(corpus, pattern), pattern


def test_count_command_runs_on_a_cluster(
    two_workers: dask.LocalCluster, corpus: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    address = ["--scheduler", two_workers.scheduler_address]
    assert main(["count", *corpus, "--pattern", "cl100k", "--output", "c", *address]) == 0
    assert Path("c").read_bytes() == count_locally(corpus, "cl100k")
    assert capfd.readouterr() == ("", "")


def test_unreadable_file_on_a_worker_raises_corpus_error(
    two_workers: dask.LocalCluster, corpus: list[str]
) -> None:
    with open("b.txt", "r+b") as file:
        file.seek(200_000)
        file.write(b"\xff")
    refusal(
        count_on, two_workers, corpus, "gpt2", naming=("b.txt", "200,001", "FF"), error=CorpusError
    )


@pytest.mark.thorough
def test_killed_workers_are_replaced(corpus: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers are killed while they count; other workers count their parts."""
    expected = count_locally(corpus, "gpt2")
    killed: list[int] = []
    with start_cluster(2) as local:
        add = cluster.Tally.add

        def add_and_kill(tally: cluster.Tally, counts: PreTokenCounts) -> None:
            """Kill a worker when a result arrives, since the others are busy then."""
            add(tally, counts)
            if len(killed) < 2:
                workers = [nanny.pid for nanny in local.workers.values() if nanny.pid]
                if workers and workers[-1] not in killed:
                    os.kill(workers[-1], signal.SIGKILL)
                    killed.append(workers[-1])

        monkeypatch.setattr(cluster.Tally, "add", add_and_kill)
        assert parquet.dump(count_on(local, corpus, "gpt2")) == expected
        await_workers(local, 2)
    assert killed


@pytest.mark.thorough
def test_part_that_crashes_every_worker_raises_cluster_error(
    corpus: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        os._exit(1)

    monkeypatch.setattr(cluster, "_count_part", crash)
    with start_cluster(1) as local:
        refusal(count_on, local, corpus, "gpt2", naming="workers", error=ClusterError)
        await_workers(local, 1)


def test_worker_exception_raises_cluster_error(
    two_workers: dask.LocalCluster, corpus: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("no such\nthing")

    monkeypatch.setattr(cluster, "_count_part", fail)
    with pytest.raises(ClusterError, match=r"LookupError: no such thing$"):
        count_on(two_workers, corpus, "gpt2")


def test_cluster_without_workers_raises_cluster_error(corpus: list[str]) -> None:
    with (
        start_cluster(0) as local,
        pytest.raises(ClusterError, match="no workers for 1 seconds"),
    ):
        count_on(local, corpus, "gpt2", patience=1)


def test_missing_scheduler_times_out(
    corpus: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        for listens in (False, True):  # no server; a server that never responds
            if listens:
                silent.listen()
            command = ["count", *corpus, "--scheduler", f"tcp://127.0.0.1:{port}", "--output", "c"]
            assert main(command) == 1
            message = capfd.readouterr().err
            assert f"tcp://127.0.0.1:{port} within 0.5 seconds" in message
            assert not Path("c").exists()


def test_missing_dask_prints_install_command(
    corpus: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["count", *corpus, "--scheduler", "tcp://127.0.0.1:1", "--output", "c"]) == 1
    assert "pip install distributed" in capfd.readouterr().err
    assert main(["count", *corpus, "--output", "c"]) == 0


def test_worker_with_another_regex_version_raises_cluster_error(
    two_workers: dask.LocalCluster, corpus: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regex.__version__", "1.0")
    refusal(count_on, two_workers, corpus, "gpt2", naming="regex", error=ClusterError)

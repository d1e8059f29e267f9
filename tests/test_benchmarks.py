"""The benchmark scripts run, print every row, and mark wrong results. No time is asserted."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import corpora, speed
from benchmarks.contenders import CONTENDERS
from serving import chromium

SPEED = Path(speed.__file__)
TEXT = speed.ROOT / "sample_texts" / "english-prose.txt"


@pytest.fixture(scope="module")
def printed() -> str:
    done = subprocess.run(
        [sys.executable, SPEED, TEXT, "--quick", "--rounds", "1"],
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def cells(printed: str) -> list[list[str]]:
    rows = [line for line in printed.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


@pytest.mark.large
def test_speed_prints_a_figure_and_a_right_result_for_every_contender(
    printed: str, tmp_path: Path
) -> None:
    texts = speed.Texts(tmp_path, TEXT, speed.QUICK)
    expected = [
        (entry.name, "same" if entry.like else entry.why)
        for group in speed.groups(texts, speed.QUICK, None)
        for row in group.rows
        for entry in row.entries
        if not entry.hidden
    ]
    full, brief = printed.split("# In brief")
    # text, job, contender, result, figure, …
    found = [line for line in cells(full) if line[2] in {name for name, _ in expected}]
    assert [(line[2], line[3]) for line in found] == expected
    assert all(line[4].endswith((" s", " MB")) for line in found)
    assert {name for name, _ in expected} <= {line[0] for line in cells(brief)}


@pytest.mark.large
def test_speed_prints_the_machine_date_and_versions(printed: str) -> None:
    head = printed.split("\n## ")[0]
    for what in ("Measured on 20", "core", "CPython", "rustbpe 0", "sentencepiece 0", "SHA-256"):
        assert what in head


def test_speed_skips_a_missing_text(tmp_path: Path) -> None:
    absent = tmp_path / "tinyshakespeare.txt"
    texts = speed.Texts(tmp_path, absent, speed.QUICK)
    assert texts.missing == absent
    assert [*texts.main] == ["std"]


ENTRIES = (
    speed.Entry(speed.BPEVIZ),
    speed.Entry("a peer", speed.BPEVIZ),
    speed.Entry("another", why="another job"),
)
ROW = speed.Row("a text", "a job", "short", speed.job("train", "text.txt", size=300), ENTRIES)
GROUP = speed.Group("training", "Title", "About.", (ROW,), 30.0)
RIGHT = speed.Outcome([2.0, 4.0, 2.0], {"digest"})


def outcomes(**changed: object) -> dict[str, speed.Outcome]:
    return {
        "bpeviz": RIGHT,
        "a peer": replace(speed.Outcome([1.0, 8.0, 5.0], {"digest"}), **changed),
        "another": speed.Outcome([2.0, 4.0, 2.0], {"else"}),
    }


def test_table_shows_medians_of_the_ratios_of_rounds() -> None:
    # The median of 1/2, 8/4 and 5/2, not the ratio of the medians, 5/2.
    _, _, *rows = cells(speed.in_full(GROUP, [(ROW, outcomes())]))
    assert rows[1] == ["", "", "a peer", "same", "5 s", "1 – 8", "2.00", "0.50 – 2.50", "3"]
    assert rows[2][3] == "another job"


@pytest.mark.parametrize("digests", [{"else"}, {"digest", "else"}])
def test_tables_mark_wrong_results(digests: set[str]) -> None:
    done = [(ROW, outcomes(digests=digests))]
    assert "WRONG" in speed.in_full(GROUP, done)
    assert "WRONG" in speed.in_brief(GROUP, done)
    assert speed.wrong(ENTRIES[1], done[0][1])
    assert not speed.wrong(ENTRIES[2], done[0][1])


def test_tables_show_the_limit_for_stopped_contenders() -> None:
    done = [(ROW, outcomes(figures=[], digests=set(), over=True))]
    _, _, *rows = cells(speed.in_full(GROUP, done))
    assert rows[1][3:7] == ["", "over 30 s", "", "over 15.0"]
    assert "over 15.0" in speed.in_brief(GROUP, done)
    assert not speed.wrong(ENTRIES[1], done[0][1])


def test_verdict_is_wrong_only_if_bpeviz_itself_fails() -> None:
    found = outcomes(figures=[], digests=set(), problem="PanicException: too much")
    assert speed.verdict(ENTRIES[1], found) == "PanicException: too much"
    assert not speed.wrong(ENTRIES[1], found)
    failed = {**found, "bpeviz": speed.Outcome(problem="ValueError: no")}
    assert speed.wrong(ENTRIES[0], failed)


def test_worker_stops_its_process_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("many words " * 200_000)
    path.with_suffix(".ends").write_text("[2200000]")
    worker = speed.Worker("minbpe's loop")
    try:
        assert worker.do(speed.job("train", str(path), size=5_000), 0.5) == {"over": True}
        assert not worker.alive
    finally:
        worker.end()


def test_measure_skips_larger_vocabularies_after_a_timeout() -> None:
    larger = replace(ROW, job=replace(ROW.job, size=400), entries=ENTRIES[1:2])
    found = speed.measure(
        larger,
        GROUP,
        1,
        {},
        [(ROW, outcomes(figures=[], digests=set(), over=True))],
        lambda message: None,
    )
    assert found["a peer"].over


def test_into_readme_replaces_the_text_between_the_marks(tmp_path: Path) -> None:
    readme = speed.ROOT / "tests/benchmarks/README.md"
    copy = tmp_path / "README.md"
    copy.write_text(readme.read_text())
    speed.into_readme("the ratios", copy)
    before, rest = readme.read_text().split(speed.BEGIN)
    _, behind = rest.split(speed.END)
    assert copy.read_text() == f"{before}{speed.BEGIN}\nthe ratios\n{speed.END}{behind}"


def test_rotated_has_the_size_asked_for_and_new_words() -> None:
    text = corpora.standard_library(20_000)
    assert len(text.encode()) == 20_000
    assert text == corpora.standard_library(20_000)
    large = corpora.rotated(text, 50_000)
    assert large.startswith(text)
    assert len(large.encode()) == 50_000
    words = set(text.split())
    assert len(set(large.split()) - words) > len(words) / 2


def test_worst_case_texts_have_the_letters_of_their_names() -> None:
    assert corpora.letters("No spaces, HERE 1", 100) == "ospaces"
    assert corpora.fibonacci(12) == "abaababaabaa"
    assert set(corpora.four_letters(1_000)) == {*"abcd"}


def test_groups_contain_every_contender(tmp_path: Path) -> None:
    texts = speed.Texts(tmp_path, TEXT, speed.QUICK)
    measured = {
        (row.job.kind, entry.name)
        for group in speed.groups(texts, speed.QUICK, None)
        for row in group.rows
        for entry in row.entries
    }
    known = {(kind, name) for kind, by_name in CONTENDERS.items() for name in by_name}
    assert measured == known


def output_of(script: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, SPEED.with_name(script), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.large
def test_load_runs_without_errors() -> None:
    printed = output_of("load.py", "--users=3", "--think=0.5", "--seconds=4", "--no-training")
    (all_actions,) = [line for line in printed if line.startswith("all actions")]
    assert int(all_actions.split()[2]) > 3
    assert "Errors: 0" in printed
    assert printed[-1].startswith("Memory of the server: ")


@pytest.mark.large
def test_hostile_prints_a_row_per_attack_without_errors() -> None:
    only = ("--only=links", "--only=disconnects")
    printed = output_of("hostile.py", "--users=2", "--think=0.5", "--seconds=2", "--no-wait", *only)
    _, _, *rows = cells("\n".join(printed))
    assert [row[0] for row in rows] == ["links", "disconnects"]
    for row in rows:
        assert all(int(count) > 0 for count in row[1:3])
        assert row[6:8] == ["0", "0"]
        assert all(figure.endswith(" MB") for figure in row[8:11])


@pytest.mark.large
def test_frames_measures_the_player_and_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    if (found := chromium()) is None:
        pytest.skip("Chromium not found.")
    # The browser without windows, if there is one, needs less processor time than a complete one.
    monkeypatch.setenv("BPEVIZ_CHROMIUM", found)
    printed = output_of("frames.py", "--quick", "--seconds=1")
    rows = [line for line in printed if "1,000" in line]
    assert len(rows) == 2
    assert all("normal" in row and " ms " in row for row in rows)


@pytest.mark.large
def test_first_paint_measures_a_page_beside_an_empty_one() -> None:
    if chromium() is None:
        pytest.skip("Chromium not found.")
    _, _, empty, page = cells("\n".join(output_of("first_paint.py", "--quick")))
    assert (empty[0], page[0]) == ("empty", "Train")
    for row in (empty, page):
        assert 0 <= float(row[1]) < 2
        assert float(row[2].removesuffix(" s")) > 0.05
    assert empty[3] == "0.00 s"

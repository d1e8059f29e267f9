"""Train and Compare without a browser: every sample, every option, and bad input.

What users see and do in a browser is tested in `tests/journeys`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers import app_pages, usual
from helpers.app_pages import errors, size_box, verdict
from helpers.html_tables import shown_tables, token_tables
from helpers.payloads import drawn, payloads
from helpers.refusals import refusal
from helpers.text_box import choose_sample
from streamlit.testing.v1 import AppTest

from bpeviz import limits
from bpeviz.corpus.files import CorpusError
from bpeviz.jobs import trainings
from bpeviz.pretokenizers.patterns import PATTERNS
from bpeviz.pretrained import download
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui import page_trainings, training_progress
from bpeviz.ui.inputs.text import read_file
from bpeviz.ui.inputs.training import SPLIT_HELP
from bpeviz.ui.runtime import cache

ROOT = Path(__file__).resolve().parents[3]
SECTIONS = dict.fromkeys(("why_open", "log_open", "vocabulary_open"), True)

SHORT = "low low lower lowest, newer newest wider " * 3
"""Enough for some merges, and quick."""


def opened(page: str, **state: Any) -> AppTest:
    return app_pages.opened(page, **{"compared": ["yours"]} | SECTIONS | state)


def with_text(page: str, text: str, **state: Any) -> AppTest:
    return opened(page, text_box=text, text_sample="own", **state)


def component(app: AppTest) -> dict[str, Any]:
    """Return the payload of the page's component: a timeline or columns."""
    shown = [data for data in payloads(app) if "samples" not in data]  # not the text box
    (data,) = [data.get("views", [data])[0] for data in shown if "views" in data or "text" in data]
    assert isinstance(data, dict)
    return data


def report_step(app: AppTest, step: int) -> None:
    """Set the step that the player reports in the next run."""
    report = {"key": drawn(app, "initialStep")["key"], "step": step, "isLacking": False}
    app.session_state["player"] = {"report": report}


def step_of(app: AppTest) -> int:
    """Return the step whose candidates are listed."""
    (rule,) = [one.value for one in app.caption if "pairs before merge" in one.value]
    return int(rule.split("merge ")[1].split(".")[0])


# ---- every sample, every option


def test_train_opens_at_the_end_and_a_size_moves_the_step_only_beyond_the_end() -> None:
    app = opened("Train")
    assert step_of(app) == component(app)["last"] > 10
    report_step(app, 5)
    slider = size_box(app)
    for size, step in ((slider.max - 1, 5), (256 + 5, 5), (256 + 3, 3), (slider.max, 5)):
        slider.set_value(size).run()
        assert step_of(app) == step
        assert not drawn(app, "initialStep")["views"]  # the browser has the text
    # Another text begins at its end.
    choose_sample(app, "russian")
    assert step_of(app) == component(app)["last"] > 100


# ---- the vocabulary size


@pytest.mark.parametrize(
    ("page", "moment"), [("Train", training_progress.PROGRESS), ("Compare", 0.0)]
)
def test_changing_vocabulary_size_does_not_retrain(
    page: str, moment: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[str] = []

    def run_job(*given: Any) -> Any:
        jobs.append(given[2])
        return run(*given)

    run = trainings.run
    monkeypatch.setattr(trainings, "run", run_job)
    monkeypatch.setattr(training_progress, "PROGRESS", moment)
    monkeypatch.setattr(page_trainings, "cache", cache.Cache(cache.BUDGET))
    app = with_text(page, SHORT, more_open=True)
    size_box(app).set_value(258).run()
    size_box(app).set_value(260).run()
    assert jobs == ["bpe"]


@pytest.mark.parametrize("transient", [True, False])
def test_stopped_training_shows_what_to_do(
    transient: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    users: list[str] = []

    @contextmanager
    def run_job(*given: Any) -> Iterator[Any]:
        users.append(given[-1])
        outcome = trainings.JobError(trainings.TOO_LONG, transient)
        yield SimpleNamespace(
            share=0.0, message=lambda: "Starting …", wait=lambda seconds: True, outcome=outcome
        )

    monkeypatch.setattr(trainings, "run", run_job)
    monkeypatch.setattr(page_trainings, "cache", cache.Cache(cache.BUDGET))
    monkeypatch.setattr(page_trainings, "current_user", lambda: "someone")
    app = with_text("Train", SHORT, may_fail=True)
    shown = [one.value for one in (app.warning if transient else app.error)]
    assert any("shorter text" in one and "600 seconds" in one for one in shown)
    again = [one for one in app.button if one.label == "Train again"]
    assert len(again) == transient
    if again:
        again[0].click().run()
    assert users == ["someone"] * (1 + transient)


@pytest.mark.parametrize(("largest", "words"), [(100, "256"), (99_999, "32,768")])
def test_largest_vocabulary_out_of_range_is_kept_with_a_warning(largest: int, words: str) -> None:
    for is_open in (False, True):
        app = with_text("Train", SHORT, largest=largest, more_open=is_open)
        assert [words in each.value for each in app.warning] == [True]
        assert component(app)["text"] == SHORT
    assert app.number_input(key="largest").value == largest


# ---- bad input


def test_too_long_text_shows_one_error() -> None:
    (sentence,) = errors(with_text("Train", "a" * (limits.TEXT + 1), may_fail=True))
    assert f"{limits.TEXT + 1:,}" in sentence
    assert f"{limits.TEXT:,}" in sentence


def test_only_the_start_of_a_long_text_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PAGE_TEXT", 50)
    app = opened("Compare", **app_pages.trained_apart("ab " * 90, text_box=SHORT))
    assert any("50 of 270" in caption.value for caption in app.caption)
    assert component(app)["text"] == ("ab " * 90)[:50]


def test_messages_have_room_for_three_full_boxes() -> None:
    # Above the limit, the connection closes repeatedly, without an error message.
    server = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["server"]
    for name in ("maxMessageSize", "maxWidgetStateSize"):
        assert server[name] * 1_000_000 > 3 * 4 * (limits.BOX + 1) + 1_000_000


# ---- files


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"\xef\xbb\xbf", "is empty"),
        ("hello".encode("utf-16")[:-1], "UTF-16"),
    ],
)
def test_non_utf8_file_gives_a_message(content: bytes, fact: str) -> None:
    refusal(read_file, "a.bin", content, naming=("a.bin", fact), error=CorpusError)


# ---- Compare


@pytest.mark.usefixtures("vocabulary_files")
def test_compare_opens_with_four_columns_and_a_verdict() -> None:
    app = app_pages.opened("Compare")
    columns = component(app)["rows"]
    assert [column["title"].split()[0] for column in columns] == [
        "GPT-2",
        "GPT-4",
        "GPT-4o",
        "Your",
    ]
    counts = [column["tokenCount"] for column in columns]
    assert [column["isBest"] for column in columns] == [
        count == min(counts[:3]) for count in counts
    ]
    assert [column["isOwn"] for column in columns] == [False] * 3 + [True]
    words = f"GPT-4o: {counts[2]} tokens. GPT-4: {counts[1]}. GPT-2: {counts[0]}."
    assert verdict(app) == words
    assert any("](Learn?chapter=stop)" in one.value for one in app.markdown), "why not better"
    (table,) = shown_tables(app)
    assert [*table.columns[1:-1]] == [column["title"] for column in columns]


@pytest.mark.usefixtures("vocabulary_files")
def test_a_text_has_the_costs_of_typed_prices_in_the_verdict_and_the_metrics() -> None:
    text = "नदी कहाँ है?"
    app = with_text("Compare", text, compared=["gpt2", "o200k_base"], costs_open=True)
    tokens = component(app)["rows"][1]["tokenCount"]
    assert "cost" not in [*shown_tables(app)[0]["metric"]]
    app.number_input(key="price_of_gpt2").set_value(0.0).run()
    app.number_input(key="price_of_o200k_base").set_value(5.0).run()
    words = " ".join(one.value for one in app.markdown).replace("\\", "")
    (cost,) = [row for row in shown_tables(app)[0].to_numpy().tolist() if row[0] == "cost"]
    assert [*map(float, cost[1:3])] == pytest.approx([0, tokens / 2e5], rel=5e-3)
    assert f"This text costs least with GPT-2: {cost[1]}; GPT-4o (o200k) {cost[2]}." in words
    assert "Fewer tokens are not better" in words, "and not cheaper"


@pytest.mark.usefixtures("vocabulary_files")
def test_compare_trains_no_tokenizer_that_is_not_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any, **options: Any) -> Any:
        raise AssertionError("trained")

    monkeypatch.setattr(training_progress, "get", fail)
    app = with_text("Compare", SHORT, compared=["gpt2"])
    assert verdict(app) == f"GPT-2: {component(app)['rows'][0]['tokenCount']} tokens."
    assert component(app)["rows"][0]["notes"] == []
    assert not component(app)["rows"][0]["isBest"]


def test_compare_says_what_to_do_without_columns_or_text() -> None:
    app = with_text("Compare", SHORT, compared=[])
    assert verdict(app) == "No tokenizer is chosen."
    assert verdict(with_text("Compare", "")) == "There is no text yet."


@pytest.mark.usefixtures("vocabulary_files")
def test_compare_goes_on_where_the_own_tokenizer_cannot_be_trained() -> None:
    state = {"compared": ["yours", "gpt2"], "pattern": "regex", "regex": "("}
    app = with_text("Compare", SHORT, may_fail=True, **state)
    assert len(errors(app)) == 1
    assert [column["title"].split()[0] for column in component(app)["rows"]] == ["GPT-2"]


@pytest.mark.parametrize("key", ["bpe", "unigram", "adaptive"])
def test_train_shows_the_steps_and_candidates_of_every_trainer(key: str) -> None:
    training = usual.train(key, SHORT)
    boundaries = training.tokenizer().boundaries(SHORT)
    app = with_text("Train", SHORT, algorithm=key)
    last, texts = training.opening, texts_of(training)
    assert drawn(app, "initialStep")["initialStep"] == last > 4
    assert component(app)["tokenCounts"] == boundaries.token_counts.tolist()
    headings = [one.label for one in app.expander]
    assert "All candidates" in headings
    assert texts.rule.format(step=f"{last:,}") in [one.value for one in app.caption]
    best = training.candidates(SHORT, boundaries, last - 1, 1)[0]
    candidates = token_tables(app)[0]
    assert candidates.iloc[0, : len(best.ids)].tolist() == [training.name(i) for i in best.ids]
    details = texts.details(training, SHORT, boundaries, last)
    assert {f"{TRAINERS[key].short}: {one.title}" for one in details} <= {*headings}


def test_train_shows_the_vocabulary() -> None:
    size = usual.train("bpe", SHORT).vocab_size
    app = with_text("Train", SHORT)
    (shown,) = (each for each in token_tables(app) if "uses" in each and "kind" in each)
    assert shown["id"].tolist() == [*range(256, size), *range(256)], "those learned first"
    assert shown["uses"].sum() == len(usual.train("bpe", SHORT).tokenizer().encode(SHORT))


def test_compare_works_without_downloaded_vocabularies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(download, "fetch_in_background", lambda name, retry=False: None)
    failed = download.DownloadStatus("failed", "The network is not there; plug it in.")
    monkeypatch.setattr(download, "progress", lambda name: failed)
    app = with_text("Compare", SHORT, compared=["yours", "gpt2", "cl100k_base"])
    assert [column["title"].split()[0] for column in component(app)["rows"]] == ["Your"]
    assert ["plug it in" in warning.value for warning in app.warning] == [True, True]
    assert {button.key for button in app.button} >= {"retry_gpt2", "retry_cl100k_base"}


def test_declared_help_has_at_most_300_characters() -> None:
    found = [option.help for trainer in TRAINERS.values() for option in trainer.options]
    found += [trainer.about for trainer in TRAINERS.values()]
    found += [f"{SPLIT_HELP} {one.title}: {one.about}" for one in PATTERNS.values()]
    assert [one for one in found if len(one) > 300] == []


@pytest.mark.usefixtures("vocabulary_files")
def test_tokenizer_trained_on_this_text_never_wins() -> None:
    text = "banana bandana banana bandana"
    how = {"algorithm": "wordpiece", "compared": ["yours", "gpt2"]}
    app = with_text("Compare", text, **how)
    words = "GPT-2: 7 tokens."
    assert verdict(app) == words
    other, mine = component(app)["rows"]
    assert (mine["tokenCount"], mine["isInSample"], other["isInSample"]) == (4, True, False)
    assert [row["isBest"] for row in (mine, other)] == [False, False]
    assert [row["notes"] for row in (mine, other)] == [["trained on this text"], []]
    offer = app.session_state["offered_export"]
    data = offer.file()().data["score"]
    assert not any(row["isBest"] for row in data["rows"])
    assert data["verdict"] == words
    # On another text it may win, if it loses nothing.
    how |= {"trained_on_sample": "own", "trained_on_box": f"{text} " * 9, "algorithm": "bpe"}
    assert verdict(with_text("Compare", text, **how)) == "Your tokenizer: 5 tokens. GPT-2: 7."

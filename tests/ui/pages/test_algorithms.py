"""The Algorithms page without a browser: algorithms, samples, the vocabulary size, and errors.

`tests/journeys` test its look and its controls.
"""

from __future__ import annotations

import re
from functools import partial
from html import unescape
from typing import Any

import pandas as pd
from helpers import app_pages, usual
from helpers.app_pages import errors, verdict
from helpers.html_tables import shown_tables
from helpers.payloads import drawn
from streamlit.testing.v1 import AppTest

from bpeviz.analysis import figures
from bpeviz.analysis.figures import measure
from bpeviz.analysis.metrics import Column
from bpeviz.corpus import samples
from bpeviz.trainers import TRAINERS
from bpeviz.ui.pages.algorithms import PAGE
from bpeviz.ui.widgets import LinkValues
from bpeviz.views.stage import steps_at

SHORT = "low low lower lowest, newer newest wider " * 3
USUAL = ["bpe", "wordpiece", "unigram"]


opened = partial(app_pages.opened, "Algorithms", metrics_open=True, random_open=True)


with_text = partial(app_pages.with_text, "Algorithms", metrics_open=True, random_open=True)


def report_player(app: AppTest, place: int) -> AppTest:
    """Run the page with the step of the player.

    Args:
        app: The page.
        place: The index of a size among the player's; a negative one counts from the end.
    """
    payload = drawn(app, "views")
    step = place if place >= 0 else len(payload["vocabSizes"]) + place
    report = {"key": payload["key"], "step": step, "isLacking": False}
    app.session_state["lock_step"] = {"report": report}
    return app.run()


def headings(app: AppTest) -> list[str]:
    return [one.label for one in app.expander]


def only_cut(app: AppTest) -> str:
    """Return the only segmentation of a word, named without a chart of a single bar."""
    assert drawn_cuts(app) == []
    (found,) = [body for one in app.get("html") if "Always " in (body := one.proto.body)]
    return " | ".join(map(unescape, re.findall('<bdi class="piece.*?">(.*?)</bdi>', found)))


def drawn_cuts(app: AppTest) -> list[dict[str, Any]]:
    """Return the sampled segmentations of a word."""
    for table in shown_tables(app):
        if "share of the samples" in table:
            shares = [round(10 * float(share.rstrip("%"))) for share in table.iloc[:, 1]]
            pairs = zip(table["segmentation"], shares, strict=True)
            return [{"segmentation": name, "times": times} for name, times in pairs]
    return []


def metrics_of(app: AppTest) -> pd.DataFrame:
    """Return the table of metrics."""
    return next(table for table in shown_tables(app) if "metric" in table)


# ---- display


def test_default_shows_three_algorithms_at_a_common_size() -> None:
    app = opened()
    payload = drawn(app, "views")
    assert [view["title"] for view in payload["views"]] == [TRAINERS[key].short for key in USUAL]
    assert {view["text"] for view in payload["views"]} == {samples.by_key("seashells").text}
    size = payload["vocabSizes"][payload["initialStep"]]
    assert verdict(app).startswith(f"With {size:,} entries, WordPiece drops white space")
    # Over characters, so that their sizes are similar.
    assert {view["atomKind"] for view in payload["views"]} == {"characters"}
    rules = [(view["algorithm"], view["rule"]) for view in payload["views"]]
    assert rules == [(TRAINERS[key].title, TRAINERS[key].rule) for key in USUAL]
    assert "One word, split at random" in headings(app)
    assert any(head.startswith("WordPiece: ") for head in headings(app))
    assert any(head.startswith("Unigram: ") for head in headings(app))
    assert drawn_cuts(app)
    # All differ, and pruning costs something.
    place, (*_, unigram) = payload["initialStep"], payload["views"]
    assert unigram["steps"]["score"][unigram["ownSteps"][place] - 1] > 0
    for larger in payload["vocabSizes"][place + 1 :]:
        step = unigram["ownSteps"][payload["vocabSizes"].index(larger)]
        assert step == 0 or unigram["steps"]["score"][step - 1] == 0
    size = payload["vocabSizes"].index(46)
    assert verdict(report_player(app, size)) == (
        "With 46 entries, BPE and Unigram split this text alike; WordPiece drops white space and "
        "splits two more words."
    )


# ---- tables at the vocabulary size


def test_metrics_use_each_algorithm_step_for_the_size() -> None:
    app, place = with_text(SHORT), 7
    payload = drawn(app, "views")
    size = payload["vocabSizes"][place]
    app = report_player(app, place)
    assert verdict(app).startswith(f"With {size:,} entries")
    columns = []
    for key in USUAL:
        training = usual.train(key, SHORT, **usual.ON_ALGORITHMS)
        step = int(steps_at(training.sizes, size, size)[0])
        boundaries = training.tokenizer().boundaries(SHORT)
        columns.append(Column(TRAINERS[key].short, training.at_step(step), boundaries, step))
    for measured in measure(SHORT, columns, 0):
        values = metrics_of(app).set_index("metric")[measured.column.title]
        for figure in (figures.tokens, figures.f1, figures.vocab_size):
            assert values[figure.name] == figure.text(figure.of(measured))


def test_step_of_another_timeline_is_ignored() -> None:
    app = with_text(SHORT)
    report = {"key": "another", "step": 1, "isLacking": False}
    app.session_state["lock_step"] = {"report": report}
    app.run()
    payload = drawn(app, "views")
    assert verdict(app).startswith(f"With {payload['vocabSizes'][payload['initialStep']]:,} ")
    # Nor does a place beyond the end.
    app = report_player(app, 99_999)
    assert verdict(app).startswith(f"With {payload['vocabSizes'][-1]:,} ")


# ---- random segmentations of a word


def test_long_word_is_segmented_until_another_is_typed() -> None:
    app = opened()
    assert app.text_input(key="word").value == " seashells"
    app.text_input(key="word").set_value("S").run()
    assert only_cut(app) == "S"
    app = with_text(SHORT)
    assert app.text_input(key="word").value == " lowest"
    app.text_input(key="word").input("newest").run()
    assert {row["segmentation"].replace(" | ", "") for row in drawn_cuts(app)} == {"newest"}
    # With a leading space a word is another pre-token.
    app.text_input(key="word").input(" wider").run()
    assert app.text_input(key="word").value == " wider"
    assert {row["segmentation"].replace(" | ", "") for row in drawn_cuts(app)} == {"·wider"}


def test_dropout_zero_gives_the_tokenizer_segmentation_only() -> None:
    app = with_text(SHORT, word="lowest")
    app.slider(key="strength of BPE-dropout up to 1.0").set_value(0.0).run()
    training = usual.train("bpe", SHORT, **usual.ON_ALGORITHMS)
    payload = drawn(app, "views")
    size = payload["vocabSizes"][payload["initialStep"]]
    step = int(steps_at(training.sizes, size, size)[0])
    ids = training.at_step(step).encode("lowest")
    cut = " | ".join(map(training.name, ids))
    assert only_cut(app) == cut
    assert any("1 different segmentation in 1,000 samples" in one.value for one in app.caption)
    app.slider(key="strength of BPE-dropout up to 1.0").set_value(1.0).run()
    assert only_cut(app) == "l | o | w | e | s | t"


# ---- options


def test_algorithm_options_change_only_their_view() -> None:
    before, after, other = (
        PAGE.content(LinkValues(values, [*values])).data["player"]["views"]
        for values in ({}, {"side_bpe_atoms": "bytes"}, {"bpe_atoms": "bytes"})
    )
    assert after[0]["atomKind"] == "bytes"
    changed = [a["steps"] != b["steps"] for a, b in zip(before, after, strict=True)]
    assert changed == [True, False, False]
    assert other == before, "the options of the Train page are separate"


def test_word_counts_are_written_out_for_all_algorithms() -> None:
    app = with_text("low 3\nlowest 2", counted=True)
    assert {view["text"] for view in drawn(app, "views")["views"]} == {
        "low low low\nlowest lowest\n"
    }
    (sentence,) = errors(with_text("low three", counted=True, may_fail=True))
    assert "Line 1" in sentence

"""The data that charts draw, and the rows of tables."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import altair as alt
import numpy as np
import pytest
from helpers import usual
from helpers.html_tables import frame_of
from helpers.trainings import TEXT, trained
from hypothesis import example, given
from hypothesis import strategies as st

import bpeviz
from bpeviz.analysis.figures import OF_TEXT, measure
from bpeviz.analysis.metrics import Column
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.text import label
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.trainers.screen_texts import Survival
from bpeviz.views import charts, tables
from bpeviz.views.table import TokenCell

pytestmark = pytest.mark.slow


def with_curve(algorithm: str, values: list[float]) -> Any:
    """Return what a chart reads of a training: what decided each step."""
    return SimpleNamespace(algorithm=algorithm, curve=np.array(values, np.float64))


def drawn(chart: charts.Chart) -> dict[str, Any]:
    """Return a chart that Altair has validated, with its data as rows."""
    data = {name: table.to_pylist() for name, table in chart["datasets"].items()}
    made = json.loads(json.dumps(chart | {"datasets": data}, allow_nan=False))
    # Validating every row takes a quarter of a second.
    few = {name: rows[:2] for name, rows in data.items()}
    alt.LayerChart.from_dict(made | {"datasets": few})
    return made


def rows_of(chart: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the rows of each layer, in the order of the layers."""
    found = []
    for layer in chart["layer"]:
        data = layer.get("data") or chart["data"]
        found.append(chart["datasets"][data["name"]])
    return found


def title_of(chart: dict[str, Any]) -> str:
    return str(chart["title"]["text"])


# ---- counts


def test_decided_chart_thins_long_curves_and_keeps_their_ends() -> None:
    training = with_curve("bpe", [10_000 - i for i in range(5_000)])
    rows = rows_of(drawn(charts.decided(training, 5_000)))[0]
    assert 100 < len(rows) <= charts.POINTS
    assert (rows[0]["step"], rows[-1]["step"]) == (1, 5_000)
    assert all(row["value"] == 10_001 - row["step"] for row in rows)


@given(st.lists(st.integers(1, 9_999), min_size=1, max_size=9))
@example([3, 3])
@example([9, 4, 9])
def test_title_of_the_decided_is_that_of_the_drawn_series(counts: list[int]) -> None:
    chart = charts.decided(with_curve("bpe", counts), len(counts))
    series = chart["datasets"]["points"]["value"].to_pylist()
    numbers = [int(one.replace(",", "")) for one in re.findall("[0-9,]+", title_of(chart))]
    match title_of(chart).removeprefix("The count of the pair ").split()[0:2]:
        case ["is", "always"]:
            assert {*series} == {*numbers}
        case ["is", "between"]:
            assert numbers == [min(series), max(series)]
            assert series not in (sorted(series), sorted(series, reverse=True))
        case [moves, "from"]:
            assert numbers == [series[0], series[-1]]
            assert series == sorted(series, reverse=moves == "falls")
        case other:
            raise AssertionError(other)


def columns_of(text: str, *merges: int) -> list[Column]:
    columns = []
    for number in merges or (20, 80):
        tokenizer = bpeviz.train(text, merges=number).tokenizer()
        boundaries = tokenizer.boundaries(text)
        columns.append(Column(f"{number} merges", tokenizer, boundaries, tokenizer.steps))
    return columns


# ---- tables


@pytest.mark.parametrize("key", TRAINERS)
def test_tables_have_the_decisions_and_candidates_of_every_trainer(key: str) -> None:
    history = trained(key)
    merges, count = not TRAINERS[key].prunes, "weighted count" if history.weighted else "count"
    score = texts_of(history).score or ("score" if history.decisions[0].score else "")
    fields = {"id": "new_id" if merges else "id", count if merges else "uses": "count"}
    fields |= {score: "score" if merges else "loss"} if score else {}
    table = frame_of(tables.decisions(history, history.steps))
    for column, field in fields.items():
        assert table[column].tolist() == [getattr(each, field) for each in history.decisions]
    assert table["token"].tolist() == [*map(history.name, table["id"])]
    others = {"applied", "ties", "note", "left", "right", "round", texts_of(history).unit}
    assert {*table.columns} <= {*fields, "token", *others}
    assert len(tables.decisions(history, 2)) == 2
    for step in (1, history.steps // 2):
        ranked = history.candidates(TEXT, history.boundaries(TEXT), step - 1, 40)
        table = frame_of(tables.candidates(history, ranked, step))
        values = table[score if ranked[0].score is not None else count].tolist()
        assert table["left" if merges else "token"].tolist() == [
            history.name(each.ids[0]) for each in ranked
        ]
        notes = [note.split(" ")[0] for note in table["note"]]
        assert notes[0] == ("winner" if merges else "cheapest")
        assert notes[1:] == ["same" * (value == values[0]) for value in values[1:]]
    assert {*tables.candidates(history, [], 1).names} <= {*table.columns}


def test_metrics_table_has_each_figure_in_its_own_row_with_a_column_per_tokenizer() -> None:
    text = "ab ab c"
    atoms, merged = columns_of(text, 0, 1)
    table = frame_of(tables.metrics(measure(text, [atoms, merged], 0))).set_index("metric")
    figures = {"tokens": "5", "bytes per token": "1.40", "words kept whole": "100.0%"}
    figures |= {"recall": "66.7%", "agreement (F1)": "80.0%"}
    assert figures.items() <= table[merged.title].to_dict().items()
    assert table[atoms.title]["agreement (F1)"] == "100.0%"
    assert table["meaning"]["bytes per token"] == "UTF-8 bytes of the text, per token"


def test_metrics_table_leaves_out_what_is_the_same_for_all_and_shows_known_costs() -> None:
    columns = [replace(one, name=one.title) for one in columns_of("ab ab c", 1, 1)]
    measured = measure("ab ab c", columns, 0, {columns[0].title: 2.5})
    alike = tables.metrics(measured, chosen=OF_TEXT)
    assert alike.columns[0] == ("tokens per word", "words kept whole", "cost")
    assert alike.columns[1][-1] == "0.0000125"
    without = tables.metrics(measure("ab ab c", columns, 0), chosen=OF_TEXT)
    assert without.columns[0] == alike.columns[0][:-1]
    assert len(tables.metrics(measured)) > len(alike)
    assert len(tables.metrics(measured[:1], chosen=OF_TEXT)) > len(alike)


def test_metrics_table_names_dropped_text_only_if_there_is_some() -> None:
    text = "low  low"
    tokenizer = bpeviz.train(text, "wordpiece", merges=2).tokenizer()
    column = Column("A", tokenizer, tokenizer.boundaries(text), tokenizer.steps)
    table = frame_of(tables.metrics(measure(text, [column], 0))).set_index("metric")
    assert table["A"]["dropped bytes"] == "2"
    dropped = "UTF-8 bytes of the text, dropped text included, per token"
    assert table["meaning"]["bytes per token"] == dropped


# ---- trainers that prune, or merge by score


def test_decided_chart_draws_losses_of_zero() -> None:
    for zeros, scale, named in ((2, "linear", ""), (100, "symlog", " (logarithmic axis)")):
        losses = [0] * zeros + [0.25, 3.5]
        chart = drawn(charts.decided(with_curve("unigram", losses), zeros + 2))
        assert [row["value"] for row in rows_of(chart)[0]] == losses
        # A logarithmic scale cannot show zero.
        x, y = (chart["layer"][0]["encoding"][channel] for channel in "xy")
        assert (y["scale"]["type"], y["scale"]["domain"]) == (scale, [0, 3.5])
        assert title_of(chart) == "The cost of the piece rises from 0 to 3.5"
        assert (x["title"], y["axis"]["title"]) == (f"pruning{named}", f"cost of the piece{named}")


@pytest.mark.parametrize(
    "losses", [[0.0], [0.0] * 101, [-1.5, -0.5] * 60, [-1.5, -0.5], [1e-9] * 101, [1e9, 1e-9]]
)
def test_decided_chart_scale_contains_all_values(losses: list[float]) -> None:
    chart = drawn(charts.decided(with_curve("unigram", losses), len(losses)))
    low, high = chart["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert low <= min(losses) <= max(losses) <= high
    assert low < high
    if chart["layer"][0]["encoding"]["y"]["scale"]["type"] == "log":
        assert low > 0


@pytest.mark.parametrize("key", TRAINERS)
def test_decided_chart_draws_the_curve_of_every_trainer(key: str) -> None:
    training = usual.train(key, samples.by_key("english-prose").text)
    for last in {1, 2, training.steps}:
        chart = drawn(charts.decided(training, last))
        name, values = texts_of(training).curve, training.curve
        assert name in title_of(chart)
        rows = rows_of(chart)[0]
        assert [row["value"] for row in rows] == [values[row["step"] - 1] for row in rows]
        assert (rows[0]["step"], rows[-1]["step"]) == (1, last)


def test_survival_strip_ends_each_bar_with_the_round_that_prunes_its_piece() -> None:
    text = samples.by_key("seashells").text
    training = usual.train("unigram", text, **usual.ON_ALGORITHMS)
    boundaries = training.tokenizer().boundaries(text)
    pruned = {training.name(pruning.id): pruning for pruning in training.decisions}
    rounds = {pruning.round for pruning in training.decisions}
    for step in (0, 40, 81, training.steps):
        (detail,) = texts_of(training).details(training, text, boundaries, step)
        survival = detail.content()
        assert isinstance(survival, Survival)
        for name, number, cost, uses in survival.pieces:
            assert (number, cost, uses) == (
                pruned[name].round,
                pruned[name].loss,
                pruned[name].count,
            )
            of_round = [one.loss for one in training.decisions if one.round == number]
            assert cost == max(of_round)
        assert {piece[1] for piece in survival.pieces} >= {1, max(rounds)}
        assert survival.sizes[0] == training.sizes[0]
        assert survival.sizes[-1] == training.sizes[-1]
        assert len(survival.sizes) == len(rounds) + 1
        # Only the last pieces cost something.
        chart = drawn(charts.survival(survival))
        assert title_of(chart) == "80 of 92 pieces cost nothing to drop"
        current, rows, _ = rows_of(chart)
        over = sum(1 for number in rounds if max_step(training, number) <= step)
        assert over <= current[0]["round"] < over + 1
        for row, piece in zip(rows, survival.pieces, strict=True):
            assert (row["piece"], row["round"]) == (piece[0], piece[1])
            is_gone = training.decisions.index(pruned[piece[0]]) < step
            assert is_gone or row["words"].startswith("kept: costs ")


def max_step(training: Training, number: int) -> int:
    """Return the step at which a round is over."""
    return sum(pruning.round <= number for pruning in training.decisions)


@pytest.mark.parametrize("key", TRAINERS)
def test_detail_tables_and_charts_support_every_trainer(key: str) -> None:
    text = samples.by_key("several-languages").text
    training = usual.train(key, text)
    boundaries = training.tokenizer().boundaries(text)
    for step in (0, training.opening, training.steps):
        for one in texts_of(training).details(training, text, boundaries, step):
            content = one.content()
            if isinstance(content, Survival):
                drawn(charts.survival(content))
                continue
            table = frame_of(tables.Table.of(content))
            assert table.columns.tolist() == [*content]
            assert {*map(len, content.values())} == {len(table)}


def test_samples_are_bars_relative_to_the_most_frequent_segmentation() -> None:
    drawn = ((["low"], 700), (["l", "ow"], 245), (["lo", "w"], 55))
    cells = [(TokenCell([(part, -1) for part in parts]), times) for parts, times in drawn]
    table = tables.samples(cells, 1_000)
    assert [str(cell) for cell in table.columns[0]] == ["low", "l | ow", "lo | w"]
    assert [(cell.text, cell.shade) for cell in table.columns[1]] == [
        ("70.0%", 1.0),
        ("24.5%", 0.35),
        ("5.5%", pytest.approx(0.0786, abs=1e-4)),
    ]


def test_cells_of_tokens_are_pieces_in_html_and_words_in_files() -> None:
    thai = "น้ำ<b>"
    signs = [(label(sign.encode()), -1) for sign in thai[:2]]
    tokens = TokenCell([*signs, (thai[2:], 3)], "3: ")
    table = tables.Table.of({"text": ["a"], "tokens": [tokens]})
    assert table.csv() == "text,tokens\na,3: น | ◌้ | ำ<b>\n"
    pieces = re.findall('<bdi class="(piece.*?)">(.*?)</bdi>', table.html())
    looks = ("piece tick", "piece tick", "piece color3")
    assert pieces == [*zip(looks, ("น", "◌้", "ำ&lt;b&gt;"), strict=True)]

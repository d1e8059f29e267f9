"""The table of many texts: its order, shades and marks."""

from __future__ import annotations

import pytest

import bpeviz
from bpeviz.analysis import figures
from bpeviz.analysis.comparison import priced
from bpeviz.analysis.figures import Figure
from bpeviz.views import text_table
from bpeviz.views.table import Cell, Table

TEXTS = {"short": "low low", "dear": "zzzz zzzz zzzz", "none": ""}
COARSE = bpeviz.train("low low low lower", merges=6).tokenizer()
FINE = bpeviz.train("low low low lower", merges=0).tokenizer()
FOUND = bpeviz.compare(TEXTS, {"coarse": COARSE, "fine": FINE}, "short")


def drawn(figure: Figure) -> dict[str, list[Cell]]:
    return dict(zip(TEXTS, text_table.cells(FOUND, figure), strict=True))


def test_cells_are_shaded_by_cost_and_the_best_of_a_row_is_marked() -> None:
    cells = drawn(figures.tokens)
    tokens = [[len(one.encode(text)) for one in (COARSE, FINE)] for text in TEXTS.values()]
    assert [[int(one.text) for one in row] for row in cells.values()] == tokens
    assert [one.mark for one in cells["short"]] == ["fewest", ""]
    assert [one.mark for one in cells["none"]] == ["", ""], "all are equal"
    assert [one.shade for one in cells["short"]] == [0, 1]
    assert [one.shade for one in cells["dear"]] == [0, 0], "the same number"
    assert [one.shade for one in drawn(figures.bytes_per_token)["short"]][::-1] == [1, 0]
    drawn_row = Table.of_rows(["text", "coarse", "fine"], [["short", *cells["short"]]])
    html = drawn_row.html(right=["coarse"])
    assert 'class="right marked"><bdi>2</bdi><span class="unseen"> fewest</span>' in html
    assert 'style="--shade: 100%"' in html


def test_premiums_have_intervals_and_equal_ones_are_all_marked() -> None:
    texts = {"en": ["low"] * 12, "de": ["niedrig"] * 12}
    found = bpeviz.compare(texts, {"a": COARSE, "b": COARSE, "c": FINE}, "en")
    _, cells = text_table.cells(found, figures.premium)
    assert [one.interval for one in cells] == [(7, 7), (7, 7), (7 / 3, 7 / 3)]
    assert [each.text for each in cells] == [*["7.00 (7.00 to 7.00)"] * 2, "2.33 (2.33 to 2.33)"]
    assert [each.mark for each in cells] == ["", "", "fewest"]
    assert "interval over rows" in text_table.chart_legend(found, figures.premium)
    assert "interval over lines" in text_table.legend(FOUND, figures.tokens)
    equal = bpeviz.compare({"a": "low", "b": "low"}, {"c": FINE}, "a")
    assert text_table.chart_legend(equal, figures.premium) == "", "no order"
    found = bpeviz.compare(texts, {"c": FINE, "d": FINE, "a": COARSE}, "en")
    _, cells = text_table.cells(found, figures.premium)
    assert [one.mark for one in cells] == ["fewest", "fewest", ""]


def test_payload_has_the_cells_with_their_values() -> None:
    payload = text_table.payload(FOUND, figures.bytes_per_token, "Bytes")
    assert payload["header"] == ["Text", "coarse", "fine"]
    assert [row["name"] for row in payload["rows"]] == [*TEXTS]
    values = [cell[3] for row in payload["rows"] for cell in row["cells"]]
    assert values == [row.bytes_per_token for row in FOUND.rows]
    plot = {"leader": 0, "axis": "bytes per token (logarithmic axis)", "unit": ""}
    assert payload["plot"] == plot | {"note": "Bytes. Rows are in the order of coarse."}
    assert text_table.payload(FOUND, figures.cost, "Cost")["plot"] is None, "no price"
    premium = text_table.payload(FOUND, figures.premium, "Premium")["plot"]
    assert premium["axis"] == "tokens relative to short (logarithmic axis)"
    assert text_table.payload(FOUND, figures.tokens, "Bytes")["key"] != payload["key"]


def test_exact_table_has_every_figure() -> None:
    exact = text_table.exact(FOUND)
    assert len(exact) == len(FOUND.rows) == 6
    assert exact.names[:3] == ["text", "tokenizer", "tokens"]
    premiums = exact.columns[exact.names.index("premium")]
    assert [*premiums] == [row.premium for row in FOUND.rows]
    for name in ("tokens", "gini", "worst_text", "used_vocabulary"):
        figures = exact.columns[exact.names.index(f"all_texts_{name}")]
        assert [*figures] == [getattr(one, name) for one in FOUND.tokenizers] * 3


def test_no_cell_is_marked_where_the_best_is_in_doubt() -> None:
    texts = {"en": ["q"] * 30, "de": ["abc abc"] * 16 + ["xyz xyz"] * 14}
    one, other = (
        bpeviz.train(text, merges=2).tokenizer() for text in ("abc abc abc", "xyz xyz xyz")
    )
    found = bpeviz.compare(texts, {"one": one, "other": other}, "en")
    for figure in (figures.tokens, figures.premium, figures.bytes_per_token):
        _, cells = text_table.cells(found, figure)
        assert [one.mark for one in cells] == ["", ""], figure
    assert found.rows[2].tokens < found.rows[3].tokens


def test_cost_is_marked_by_the_prices_unless_in_doubt() -> None:
    texts = {"en": ["low low"] * 12}
    both = {"coarse": COARSE, "fine": FINE}
    tokens = [row.tokens for row in bpeviz.compare(texts, both).rows]
    expected = {
        (1.0, 1.0): ["lowest", ""],
        (tokens[1], tokens[0]): ["", ""],
        (9, 0): ["", "lowest"],
    }
    for prices, marks in expected.items():
        found = bpeviz.compare(texts, both, prices=dict(zip(both, prices, strict=True)))
        (row,) = text_table.cells(found, figures.cost)
        assert [one.mark for one in row] == marks, prices
        assert [float(one.text) for one in row] == [
            pytest.approx(price * number / 1e6, rel=5e-3)
            for price, number in zip(prices, tokens, strict=True)
        ]
    (row,) = text_table.cells(bpeviz.compare(texts, both, prices={"fine": 1}), figures.cost)
    assert [one.mark for one in row] == ["", ""], "only one has a price"
    mixed = {"a": ["low low"] * 16 + ["zzz"] * 14}
    other = bpeviz.train("zzz zzz zzz", merges=2).tokenizer()
    found = bpeviz.compare(mixed, {"coarse": COARSE, "other": other})
    price = found.rows[0].tokens / found.rows[1].tokens * 1.01
    costs = priced(found, {"coarse": 1, "other": price})
    (row,) = text_table.cells(costs, figures.cost)
    assert [one.mark for one in row] == ["", ""], "1% dearer, but lines differ"

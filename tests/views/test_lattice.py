"""The drawing of a lattice: rows without overlaps, the best path first, text as text."""

from __future__ import annotations

from itertools import pairwise

from helpers.html_tables import frame_of
from helpers.properties import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bpeviz.core.lattice import UnigramModel, score
from bpeviz.views import tables
from bpeviz.views.lattice import description, lattice_html, rows

SCORES = st.dictionaries(
    st.text("ab", min_size=1, max_size=4), st.floats(-9, -1), min_size=1, max_size=12
)


@settings(max_examples=examples(100))
@given(SCORES, st.text("abc", min_size=1, max_size=10))
def test_rows_contain_each_edge_once_without_overlaps(scores: dict[str, float], text: str) -> None:
    lattice = UnigramModel.of(scores).lattice(text)
    found = rows(lattice)
    assert tuple(found[0]) == lattice.best()
    assert sorted(edge for row in found for edge in row) == sorted(lattice.edges)
    if others := [edge.end - edge.start for row in found[1:] for edge in row]:
        assert max(others) in [edge.end - edge.start for edge in found[1]], "the longest first"
    for row in found:
        for left, right in pairwise(row):
            assert left.end <= right.start


def test_drawing_shows_pieces_as_text_with_their_log_probabilities() -> None:
    pieces = {"<b>": -3.0, "<": -2.0, "b": -2.0, ">": -1.5, "<b": -2.5}
    model = UnigramModel.of(pieces)
    lattice = model.lattice("<b>")
    html = lattice_html(lattice, [*"<b>"], model.pieces.__getitem__)
    assert "<b>" not in html
    assert html.count("edge best") == 1
    assert "&lt;b&gt;</bdi><small>\N{MINUS SIGN}3.00" in html
    assert "5 pieces in 3 segmentations. Best: &lt;b&gt;, log probability -3.00" in html
    assert "<b>" in description(lattice, [*"<b>"], model.pieces.__getitem__)


def test_table_lists_segmentations() -> None:
    model = UnigramModel.of({"a": -3.0, "b": -2.0, "ab": -4.5})
    lattice = model.lattice("ab")
    name = model.pieces.__getitem__
    best = frame_of(tables.segmentations(lattice.nbest(5), name))
    assert [*best["segmentation"]] == ["ab", "a | b"]
    assert [*best["log probability"]] == [score(path) for path in lattice.nbest(5)]

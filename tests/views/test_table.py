"""Tables as HTML."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from bpeviz import components
from bpeviz.views.table import FIRST_ROWS, Table


def test_table_keeps_names_with_hyphens_on_one_line() -> None:
    html = Table(["GPT-2 (50,256)", "pre-tokens"], [["<GPT-4o>"], ["1"]]).html(right=["pre-tokens"])
    assert '<span class="unbroken">GPT-2</span> (50,256)' in html
    assert '&lt;<span class="unbroken">GPT-4o</span>&gt;' in html
    assert "<bdi>pre-tokens</bdi>" in html


def test_a_long_table_ends_with_whole_rows_and_the_number_of_the_others() -> None:
    short, long = (Table(["n"], [range(rows)]).html() for rows in (15, 28))
    assert "<details>" not in short
    assert "</table><details><summary>18 more</summary></details></div>" in long
    assert long.count("<tr>") == 1 + 28
    assert f"nth-child(n + {FIRST_ROWS + 1})" in components.table_style()


def test_numbers_are_aligned_on_the_right() -> None:
    def page() -> None:
        import numpy as np

        from bpeviz.ui.table import draw_table
        from bpeviz.views.table import Table

        columns = {
            "token": ["low", "7"],
            "count": [1234, None],
            "change": [-12345.6, 1],
            "share": [0.5, float("nan")],
            "ids": np.array([1, 2000]),
            "mixed": [1, "–"],
        }
        draw_table(Table.of(columns), "drawn", label="Tokens")

    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    (drawn,) = (one.proto.body for one in app.get("html"))
    for text in ("1234", "", "-12,346", "0.5", "1", "2000"):
        assert f'<td class="right"><bdi>{text}</bdi></td>' in drawn
    for text in ("low", "7", "–"):
        assert f'<td class=""><bdi>{text}</bdi></td>' in drawn

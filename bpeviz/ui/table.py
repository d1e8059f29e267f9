"""Tables: short ones as HTML, and those that are long or contain tokens as a component."""

from __future__ import annotations

from collections.abc import Callable, Collection

import streamlit as st

from bpeviz.ui import components
from bpeviz.views.table import Table
from bpeviz.views.token_table import Ids, Look, payload

MOST_ROWS = 200
"""Of longer tables, the page contains only the rows in view."""

SEARCHED_ROWS = 20
"""Tables of tokens with as many rows have a field to search in."""


def draw_table(
    table: Table,
    key: str,
    *,
    label: str,
    right: Collection[str] = (),
    download: bool = False,
    ids: Ids | None = None,
    look: Look | None = None,
) -> None:
    """Draw a table; columns of numbers are right-aligned.

    Args:
        table: The table.
        key: The key of the element, and the name of its file.
        label: The accessible name.
        right: The names of right-aligned columns of texts.
        download: Whether to offer the table as a file.
        ids: The ids in columns of tokens, which are drawn as in the text.
        look: The look of these tokens.
    """
    if ids is None and len(table) <= MOST_ROWS:
        st.html(table.html(label, right=right))
    else:
        data = payload(table, label, ids, look, searches=SEARCHED_ROWS)
        components.token_table(data, f"{key} as a table")
    if download:
        offer_file(lambda: table, key, label)


def offer_file(table: Callable[[], Table], key: str, label: str) -> None:
    """Draw a button that downloads a table as CSV.

    Args:
        table: Returns the table. The session keeps this function.
        key: The name of the file.
        label: The name of the table.
    """
    st.download_button(
        "Download CSV",
        # On demand: a browser fetches finished content at once, to check its address.
        lambda: table().csv().encode("utf-8-sig"),
        f"{key.replace('_', '-').replace(' ', '-')}.csv",
        "text/csv",
        key=f"{key} as a file",
        icon=":material/download:",
        help=f"Download the table “{label}”.",
        type="tertiary",
        on_click="ignore",
    )

"""Read the tables of a page in `AppTest`."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from bpeviz.views.table import Table
from helpers.payloads import payloads


class _Reader(HTMLParser):
    """Collects the texts of the rows of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.is_table = True
        self.after_piece = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        is_piece = "piece" in (dict(attrs).get("class") or "").split()
        if is_piece and self.after_piece:
            self.rows[-1][-1] += "| "
        self.after_piece = is_piece
        self.is_table = self.is_table and tag != "details"

    def handle_data(self, data: str) -> None:
        if self.is_table:
            self.rows[-1][-1] += data


def frame_of(table: Table) -> pd.DataFrame:
    """Return a table as a data frame."""
    return pd.DataFrame(table.rows, columns=[*table.names])


def shown_tables(app: AppTest) -> list[pd.DataFrame]:
    """Return the HTML tables of a page, as texts, and then its tables of tokens."""
    found = []
    for element in app.get("html"):
        body = element.proto.body
        if body.startswith('<div class="facts-frame'):
            reader = _Reader()
            reader.feed(body)
            header, *rows = reader.rows
            found.append(pd.DataFrame(rows, columns=header))
    return [*found, *token_tables(app)]


def token_tables(app: AppTest) -> list[pd.DataFrame]:
    """Return the tables of tokens of a page, with the labels of tokens."""
    return [
        pd.DataFrame({column["name"]: _cells(column, data) for column in data["columns"]})
        for data in payloads(app)
        if "columns" in data
    ]


def _cells(column: dict[str, Any], data: dict[str, Any]) -> list[Any]:
    if not column["isToken"]:
        return list(column["values"])
    labels = {int(i): label for i, (label, _) in data["tokenStyles"].items()}
    lists = [i if isinstance(i, list) else [i] for i in column["values"]]
    return [" ".join(labels[i] for i in ids if i is not None) for ids in lists]

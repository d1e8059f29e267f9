"""Links of form 1, and a file of each format of bpeviz's own, open with the same values and ids.

Pages and commands wrote those in `fixtures/form_1.json` and beside it. Never write them anew: a
later form gets files of its own.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from helpers import app_pages
from helpers.hostile import packed
from helpers.payloads import payloads
from helpers.widget_values import values_of
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.__main__ import main
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink.links import earlier
from bpeviz.ui.registry import PAGES

FIXTURES = Path(__file__).parent / "fixtures"
FORM_1: dict[str, Any] = json.loads((FIXTURES / "form_1.json").read_text("utf-8"))
LINKS: list[dict[str, Any]] = FORM_1["links"]


def plain(link: str) -> dict[str, Any]:
    """Return all that a link contains."""
    raw = zlib.decompress(base64.urlsafe_b64decode(link + "=" * (-len(link) % 4)))
    return dict(json.loads(raw))


def restored(app: AppTest, page: Page) -> dict[str, Any]:
    """Return the values of a new link to the page."""
    app.session_state["copy_link"] = {"request": 1}
    return values_of(page, app.run().session_state["made_link"]["query"])


def token_counts(app: AppTest) -> list[int]:
    """Return the tokens of each row of scores, and at the last step of each row of players."""
    counts: list[int] = []
    for data in payloads(app):
        rows = (row for row in data.get("rows", ()) if isinstance(row, dict))
        counts += [row["tokenCount"] for row in rows if "tokenCount" in row]
        counts += [view["tokenCounts"][-1] for view in data.get("views", ())]
    return counts


GONE = {"baseline", "by_merges", "levels_open", "search"}
"""Settings that earlier links have, and pages no longer."""


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS, ids=[f"{link['page']} {i}" for i, link in enumerate(LINKS)])
def test_link_restores_its_values(link: dict[str, Any]) -> None:
    app = app_pages.opened(link["page"], link["query"])
    assert token_counts(app) == link["tokens"]
    players = [data["initialStep"] for data in payloads(app) if "initialStep" in data]
    assert [*map(int, filter(None, [link["query"].get("step")]))] in ([], players)
    values = earlier(link["query"]["s"])
    (page,) = (page for page in PAGES if page.title == link["page"])
    gone = [name for name in values if name in GONE]
    for name in gone:
        del values[name]
    (ignored,) = [warning.value.partition("page ")[2] for warning in app.warning] or [""]
    assert re.findall("“(.+?)”", ignored.replace("\\", "")) == gone
    values.get("compared", []).sort(key="yours".__eq__)  # one's own tokenizer stands last
    # Settings that came later have their first values.
    assert values.items() <= restored(app, page).items()


def test_link_without_the_number_of_its_form_has_form_1() -> None:
    (link,) = (link for link in LINKS if link["page"] == "Pre-tokenize")
    values = plain(link["query"]["s"])
    assert values.pop("form") == 1
    assert earlier(packed(json.dumps(values).encode())) == values == earlier(link["query"]["s"])


@pytest.mark.parametrize("name", FORM_1["files"])
def test_file_gives_the_same_ids(
    name: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    ids = FORM_1["files"][name]
    tokenizer = bpeviz.read(FIXTURES / name)
    assert tokenizer.encode(FORM_1["text"]) == ids
    for path in bpeviz.save(tokenizer, tmp_path / name):
        assert path.read_bytes() == (FIXTURES / path.name).read_bytes()
    (tmp_path / "text.txt").write_bytes(FORM_1["text"].encode())
    assert main(["encode", str(tmp_path / "text.txt"), "--tokenizer", str(FIXTURES / name)]) == 0
    assert json.loads(capsysbinary.readouterr().out) == ids


def test_counts_train_the_same_tokenizer(tmp_path: Path) -> None:
    output = tmp_path / "merges.csv"
    counts = ["--counts", str(FIXTURES / "counts.parquet"), "--vocab-size", "285"]
    assert main(["train", *counts, "--output", str(output)]) == 0
    assert bpeviz.read(output).encode(FORM_1["text"]) == FORM_1["counts"]

"""Links and files of an earlier version still open, with the same values and the same ids.

`fixtures/links.json` holds links to every page, with each value under its name in the link;
`fixtures/files.json` lists saved tokenizers and counts. Version 1b4bf43 wrote all of them: the
links by driving the pages and pressing "Copy link", the files by `bpeviz.save` and
`python -m bpeviz count`. Never write them anew: add others beside them.

A value counts as restored if a widget of the page shows it, whatever the widget's label or key, or
if the session keeps it for a widget that is not drawn now: in a closed section, or for another
tokenizer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import app_pages
from helpers.payloads import payloads
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.__main__ import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures"

# ---- internal names: adapt these, and nothing below, when the code is reorganized

PAGE_FILES = {
    "/": "app.py",
    "/Compare": "pages/Compare.py",
    "/Inspect": "pages/Inspect.py",
    "/Algorithms": "pages/Algorithms.py",
    "/Split": "pages/Pre-tokenize.py",
}
"""The script of each address. Old addresses are redirected."""

OPENING = "initialStep"
"""The name of the opening step in the player's payload."""

PUBLISHED = ("gpt2", "cl100k_base", "o200k_base")

SAMPLE = {"text_sample": "english-prose"}
"""What a page showed that could use nothing of a damaged link: its sample at that time."""

NOT_DRAWN = {
    **{name: name for name in ("drawn_words", "levels of 6", "special_tokens")},
    "size": "linked_size",
    "shown_of_14": "shown_of_14",
}
"""The keys in the session, by the names in links, of values whose widgets are not always drawn."""


def displayed(name: str, restored: dict[str, Any]) -> Any:
    """Return the value that a widget shows for a value of a link, which may have another form."""
    if restored == SAMPLE:
        return "seashells"
    value = expanded(restored[name])
    columns = ["yours", *(one for one in PUBLISHED if one in restored.get("others", ()))]
    if name == "others":  # the tokenizers beside the user's own; now it is one of them
        return columns
    if name.startswith("reference_of_"):  # an index; now a key
        return columns[value]
    return value


# ---- links

WIDGETS = (
    *("selectbox", "multiselect", "radio", "button_group", "checkbox", "toggle"),
    *("text_area", "text_input", "number_input", "slider", "select_slider"),
)
LINKS: list[dict[str, Any]] = json.loads((FIXTURES / "links.json").read_text("utf-8"))


def expanded(value: Any) -> Any:
    """Return a value, a repeated text written out."""
    return value["repeated"] * value["times"] if isinstance(value, dict) else value


def shown(app: AppTest) -> Iterator[str]:
    """Yield the value of each widget as JSON, which tells 1 from True and 1.0."""
    for kind in WIDGETS:
        for widget in app.get(kind):
            yield json.dumps(widget.value)
    for payload in payloads(app):
        if "samples" in payload:  # a text box
            yield json.dumps(payload["sample"])
            yield json.dumps(payload["text"])


def plain(words: str) -> str:
    """Return words without Markdown's escapes and code marks."""
    for sign in ("\\", "\u2060"):
        words = words.replace(sign, "")
    return " ".join(words.replace("`", " ").split())


@pytest.mark.large
@pytest.mark.parametrize("link", LINKS, ids=[f"{one['page']} {one['about']}" for one in LINKS])
def test_link_made_before_restores_its_values(link: dict[str, Any]) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in link["query"].items():
        app.query_params[name] = expanded(value)
    app.switch_page(PAGE_FILES[link["page"]]).run()

    assert not app.exception
    assert not app.error
    found = Counter(shown(app))
    for name in link["restores"]:
        if name in ("measured_on", "inspected"):  # now two texts of other names
            continue
        if link["warnings"] and name not in app.session_state:  # at first, which is not drawn
            continue
        wanted = json.dumps(displayed(name, link["restores"]))
        if not found[wanted] and name in NOT_DRAWN:
            assert json.dumps(app.session_state[NOT_DRAWN[name]]) == wanted
            continue
        assert found[wanted] > 0, f"no widget shows {name}: {wanted[:200]}"
        found[wanted] -= 1
    if "step" in link:
        assert [one[OPENING] for one in payloads(app) if OPENING in one] == [link["step"]]
    warnings = [plain(one.value) for one in app.warning]
    assert len(warnings) == link["warnings"]
    for words in link.get("named", []):
        assert plain(words) in warnings[0]


COUNTS = {
    ("/", "bpe, 1"): [152, 152, 8],
    ("/", "a list of words with counts"): [104, 32, 15],
    ("/", "a sample, a size and a step"): [1222, 465, 150],
    ("/Compare", "two others, the reference, another text of its own"): [9, 8, 8],
    ("/Compare", "all others, another text that is a sample"): [2177, 1212, 830, 584],
    ("/Compare", "no other tokenizer"): [132],
    ("/Inspect", "step by step, a text of its own"): [21, 13, 8, 13],
    ("/Inspect", "the text at the left"): [118, 96, 7, 130],
    ("/Inspect", "the picture, mirrored"): [7],
    ("/Algorithms", "bpe, sentencepiece, 3"): [162, 24, 57, 160, 78, 28],
}
"""For ten links, the numbers of tokens in all rows, in the grid, and at the first and the last
step of the player, and the number of its steps, as commit e3fffb4 showed them."""


@pytest.mark.parametrize("name", COUNTS, ids=str)
def test_link_made_before_shows_the_same_tokens(name: tuple[str, str]) -> None:
    (link,) = [one for one in LINKS if (one["page"], one["about"]) == name]
    query = {key: expanded(value) for key, value in link["query"].items()}
    app = app_pages.opened(PAGE_FILES[link["page"]], query)
    texts = {key: expanded(value) for key, value in link["restores"].items()}
    boxes = ("held_out_box", "inspect_box", "text_box")
    own = next((texts[box] for box in boxes if box in texts), None)
    counts: list[int] = []
    for data in payloads(app):
        if "baseline" in data:
            counts += [row["tokenCount"] for row in data["rows"]]
        elif "bytes" in data and "tokens" in data:
            counts.append(len(data["tokens"]))
        for view in data.get("views", ()):
            counts += [
                *view["tokenCounts"][:1],
                *view["tokenCounts"][-1:],
                len(view["steps"]["id"]),
            ]
        if own is not None and data.get("name") == "text":
            assert data["text"] == own
    assert counts == COUNTS[name]


# ---- files

FILES: dict[str, Any] = json.loads((FIXTURES / "files.json").read_text("utf-8"))
TOKENIZERS: dict[str, Any] = FILES["tokenizers"]


@pytest.mark.parametrize("name", TOKENIZERS)
def test_file_made_before_gives_the_same_ids(
    name: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    made = TOKENIZERS[name]
    tokenizer = bpeviz.read(FIXTURES / name)
    assert [tokenizer.encode(text) for text in FILES["texts"]] == made["ids"]
    assert [tokenizer.decode(ids) for ids in made["ids"]] == made["decoded"]
    assert dict(tokenizer.special_tokens) == made["special_tokens"]

    (tmp_path / "text.txt").write_bytes(FILES["texts"][0].encode())
    assert main(["encode", str(tmp_path / "text.txt"), "--tokenizer", str(FIXTURES / name)]) == 0
    assert json.loads(capsysbinary.readouterr().out) == made["ids"][0]


def test_file_made_before_is_written_again_with_the_same_merges(tmp_path: Path) -> None:
    for name in ("merges-bytes.csv", "merges-characters.csv", "merges-regex.csv"):
        [written] = bpeviz.save(bpeviz.read(FIXTURES / name), tmp_path / name)
        assert written.read_bytes() == (FIXTURES / name).read_bytes()


@pytest.mark.parametrize("name", ["bpe.tiktoken", "merges-bytes.csv"])
def test_file_made_before_opens_without_its_metadata_if_the_pattern_is_given(
    name: str, tmp_path: Path
) -> None:
    lines = (FIXTURES / name).read_bytes().splitlines(keepends=True)
    bare = [line for line in lines if not line.startswith(b"#")]
    (tmp_path / name).write_bytes(b"".join(bare))
    with pytest.raises(ValueError, match=r"split|pattern|pre-token"):
        bpeviz.read(tmp_path / name)
    tokenizer = bpeviz.read(tmp_path / name, pattern="gpt2")
    for text, ids in zip(FILES["texts"], TOKENIZERS[name]["ids"], strict=True):
        assert tokenizer.encode(text) == ids


@pytest.mark.parametrize("name", FILES["counts"])
def test_counts_made_before_train_the_same_tokenizer(name: str, tmp_path: Path) -> None:
    made = FILES["counts"][name]
    output = tmp_path / "tokenizer.json"
    options = ["--vocab-size", str(made["vocab_size"]), "--output", str(output)]
    assert main(["train", "--counts", str(FIXTURES / name), *options]) == 0
    tokenizer = bpeviz.read(output)
    assert [tokenizer.encode(text) for text in FILES["texts"]] == made["ids"]

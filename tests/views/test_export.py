"""Colored text as HTML contains the whole text, whatever it is, and nothing executable."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from helpers.payloads import color_index

import bpeviz
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import UNKNOWN_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus import samples
from bpeviz.text import clean
from bpeviz.views import export
from bpeviz.views.credit import MADE_WITH, credit, parts

TRAINED = bpeviz.train("low lower lowest, the newest 世界 ", vocab_size=280)


def column(tokenizer: Tokenizer, text: str, title: str = "A title") -> Column:
    return Column(title, tokenizer, tokenizer.boundaries(text), tokenizer.steps)


class Page(HTMLParser):
    """The content of an HTML page: tags with attributes, and the text of each column."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, str]] = []
        self.columns: list[str] = []
        self.style = ""
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag == "section":
            self.columns.append("")
        if tag != "meta":
            self.open.append((tag, dict(attributes).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self.inside("style"):
            self.style += data
        elif not self.inside("div"):
            self.words += data
        elif not any(name == "strip" for _, name in self.open):
            self.columns[-1] += data

    def inside(self, tag: str) -> bool:
        return any(name == tag for name, _ in self.open)

    def ending(self, looks: str) -> int:
        """Return the number of boundaries of a class, including those inside a character."""
        return sum(looks in (attributes.get("class") or "").split() for _, attributes in self.tags)


def shown(text: str) -> str:
    """Return a text with its stand-ins, but with real spaces and tabs."""
    names = {"\n": "↵", "\r": "␍", " ": " ", "\t": "\t"}
    found = ""
    for sign in export._graphemes(text):
        one = sign if len(sign) > 1 else names.get(sign)
        found += export.character_stand_in(sign) if one is None else one
    return found


ODD = (
    *(
        "",
        "\n",
        "\n\n",
        "a\x00b\ufffe\uffff\u2028\x85",
        "<b>&amp;\"'`]]>",
        "\r\n\t",
        "é" * 9,
        "e\u0301",
    ),
    *(
        "👩‍👩‍👧 👍🏽 🇩🇪 ❤️",
        "שלום עולם 12, abc",
        "مرحبا\u202eabc",
        "हिन्दी ไทย",
        "a\u0301" + "\u0301" * 40,
    ),
    *("\ud800", "\U0010ffff\ue000", "  two  ", "\ufeffbom"),
)


@pytest.mark.slow
@pytest.mark.parametrize("text", [*(sample.text[:1_500] for sample in samples.SAMPLES), *ODD])
def test_html_contains_any_text(text: str) -> None:
    tokenizer = TRAINED.tokenizer()
    text = clean(text)
    one = column(tokenizer, text)
    page = Page(export.html(export.ColoredText(text, [one], "T")))
    assert page.open == []
    assert "".join(page.columns) == shown(text)
    # Every token ends with a line, after a character or between its bytes.
    assert page.ending("b") == len(tokenizer.encode(text))


def test_html_contains_no_scripts_or_links() -> None:
    text = "<script>alert(1)</script> <img src=x onerror=1> url(http://a.b) ]]> --> &lt; \u202e"
    titled = column(TRAINED.tokenizer(), text, "</style><script>1</script>")
    html = export.html(export.ColoredText(text, [titled], "</title><script>2</script>"))
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2"),
        *("p", "main", "section", "div", "span", "i"),
    }
    names = {name for tag, values in page.tags if tag != "meta" for name in values}
    assert "default-src 'none'" in html
    assert "\u202e" not in html
    assert not any(name.startswith("on") or "href" in name or name == "src" for name in names)
    assert "url(" not in page.style
    assert "@import" not in page.style


def test_html_colors_tokens_by_color_index() -> None:
    page = export.html(export.ColoredText("low", [column(TRAINED.tokenizer(), "low")], "T"))
    assert f'<span class="h{color_index(b"low")} b">low</span>' in page


def test_notes_of_columns_count_tokens_and_differences_from_the_baseline() -> None:
    text = "low low lower"
    pieces = bpeviz.train(text, "wordpiece", merges=2).tokenizer()  # low; it drops white space
    columns = [
        column(pieces, text, "WordPiece"),
        column(bpeviz.train(text, merges=0).tokenizer(), text, "Bytes"),
    ]
    count = len(pieces.tokens(text))
    page = export.html(export.ColoredText(text, columns, "T", baseline=1))
    notes = re.findall(r"<h2>(.*?)</h2><p>(.*?)</p>", page)
    missing = len({*columns[1].inner_boundaries} - {*columns[0].inner_boundaries})
    assert notes == [
        ("WordPiece", f"{count} tokens; {missing} missing cuts"),
        ("Bytes", "13 tokens; baseline"),
    ]


def test_html_marks_differences_from_the_baseline() -> None:
    bytewise = bpeviz.train("", merges=0).tokenizer()
    for baseline, looks, legend, text in (
        (0, "own", "A thick line", "the lowest 世界 lamp"),
        (1, "missing", "A dotted line", "the lowest lamp"),
    ):
        columns = [column(TRAINED.tokenizer(), text, "mine"), column(bytewise, text, "bytes")]
        other = columns[1 - baseline]
        extra = np.setdiff1d(columns[1].inner_boundaries, columns[0].inner_boundaries)
        assert len(extra) > 3
        page = Page(export.html(export.ColoredText(text, columns, "T", baseline=baseline)))
        assert page.ending(looks) == len(extra)
        assert legend in page.words
        assert f"{other.title}" in page.words
        assert "baseline" not in export.html(export.ColoredText(text, columns[:1], "T"))


def test_html_marks_unknown_and_omitted_text() -> None:
    text = "low 世 lower"
    training = bpeviz.train("low lower lowest", "wordpiece", vocab_size=20)
    tokenizer = training.tokenizer()
    assert UNKNOWN_ID in tokenizer.boundaries(text).ids(training.steps)
    made = export.html(export.ColoredText(text, [column(tokenizer, text)], "T"))
    page = Page(made)
    assert page.ending("unknown") == 1
    assert page.ending("left-out") == 2
    assert "A wavy underline" in page.words
    assert "Pale text" in page.words


def test_html_shows_end_marks_after_their_word() -> None:
    training = bpeviz.train("low lower", atoms="characters", end_mark="symbol", merges=0)
    page = Page(export.html(export.ColoredText("low", [column(training.tokenizer(), "low")], "T")))
    assert page.columns == ["low</w>"]


def test_html_limits_long_texts_and_names_the_part() -> None:
    text = "low lower 世界 " * 3_000
    one = column(TRAINED.tokenizer(), text)
    page = Page(export.html(export.ColoredText(text, [one], "T", first=3, last=9)))
    assert page.columns == [text[3:9]]
    assert f"Characters 4 to 9 of {len(text):,}." in page.words
    page = Page(export.html(export.ColoredText(text, [one], "T", first=5)))
    content = page.columns[0]
    assert export.HELD - 4 < len(content.encode()) <= export.HELD
    assert text[5:].startswith(content)
    assert f"Characters 6 to {5 + len(content):,} of {len(text):,}." in page.words


def test_every_export_names_the_version_and_a_page_its_link() -> None:
    text = "low lower"
    shown = export.ColoredText(text, [column(TRAINED.tokenizer(), text)], "A title")
    assert MADE_WITH in export.html(shown)
    assert export.payload(shown, "https://host")["credit"]["words"] == MADE_WITH
    assert 'href="https://host.example/?s=&quot;&gt;"' in export.html(
        shown, 'https://host.example/?s=">'
    )
    with pytest.raises(ValueError, match="https://"):
        export.html(shown, "javascript:alert(1)")


@pytest.mark.parametrize(
    ("host", "is_public"),
    [
        *((host, False) for host in ("localhost:8501", "127.0.0.1", "[::1]:8501", "192.168.1.7")),
        *((host, False) for host in ("10.0.0.4:8501", "[fe80::1]", "teacher", "teacher.local")),
        *((host, True) for host in ("bpeviz.example", "93.184.215.14:8501", "a.b:80/x")),
    ],
)
def test_files_link_only_to_addresses_that_others_can_open(host: str, is_public: bool) -> None:
    address = f"http://{host}/?s=1"
    assert parts(address)["link"] == (address if is_public else "")
    assert ("<a href" in credit(address)) == is_public

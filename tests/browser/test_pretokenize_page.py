"""The Pre-tokenize page: columns, two word lists, a custom expression, and levels."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from page_helpers import (
    ENGLISH,
    Columns,
    Locator,
    Page,
    Player,
    alert,
    choose,
    english,
    expect,
    go_to,
    open_more,
    piece_at,
    type_text,
)

from bpeviz.pretokenizers.patterns import PATTERNS, pretokenize

Open = Callable[..., Page]
YAO_MING = "姚明进入总决赛"


class Splits:
    """The columns of the Pre-tokenize page: side by side, or level by level."""

    def __init__(self, page: Page, name: str = "The text in each pre-tokenization") -> None:
        self.page = page
        self.frame = page.get_by_role("region", name=name)
        self.card = self.frame.locator("xpath=..").get_by_role("tooltip")

    def text(self, title: str) -> Locator:
        return self.frame.get_by_role("group", name=f"Pre-tokens of {title}", exact=True)

    def head(self, title: str) -> Locator:
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return self.frame.locator(".column").filter(has=heading)

    def pre_tokens(self, title: str) -> list[str]:
        """Return the text between the drawn boundaries, for texts without split characters."""
        found: list[str] = self.text(title).evaluate(
            """text => {
              const preTokens = [""];
              for (const piece of text.querySelectorAll(".c")) {
                preTokens[preTokens.length - 1] += piece.textContent;
                if (piece.classList.contains("b")) preTokens.push("");
              }
              const shown = (text) => text.replaceAll("↵", "\\n").replaceAll("\u00a0", " ");
              return preTokens.slice(0, -1).map(shown);
            }"""
        )
        return found


def pill(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


@pytest.fixture
def split_page(share_page: Callable[[str], Page]) -> Page:
    """Return the Pre-tokenize page, which tests share that change nothing on it."""
    return share_page(english("/Pre-tokenize", closer_open=True, levels_open=True))


def test_deep_link_shows_pre_tokenizations_side_by_side(open_page: Open) -> None:
    page = open_page(english("/Pre-tokenize"))
    shown = Splits(page)
    for key in ("whitespace", "words", "gpt2", "cl100k"):
        title = PATTERNS[key].title
        expect(shown.text(title)).to_contain_text("river")
        pre_tokens = pretokenize(ENGLISH, key)
        assert shown.pre_tokens(title) == pre_tokens
        expect(shown.head(title)).to_contain_text(f"{len(pre_tokens)} pre-tokens")
        expect(shown.head(title)).to_contain_text(PATTERNS[key].about)
    # Titles, descriptions and texts are aligned across the columns.
    for part in ("h2", "p:not(.below)", ".text", ".below"):
        tops = shown.frame.locator(f".column > {part}").evaluate_all(
            "all => all.map(one => Math.round(one.getBoundingClientRect().top))"
        )
        assert len(tops) == 4
        assert len({*tops}) == 1
    # Add a column, and remove one.
    pill(page, "NLTK's book").click()
    expect(shown.text("NLTK's book")).to_contain_text("river")
    assert shown.pre_tokens("NLTK's book") == pretokenize(ENGLISH, "nltk")
    pill(page, "GPT-2").click()
    expect(shown.text("GPT-2")).to_have_count(0)


def test_hovering_a_pre_token_shows_card_and_highlights_its_span(split_page: Page) -> None:
    page = split_page
    shown = Splits(page)
    titles = [PATTERNS[key].title for key in ("whitespace", "words", "gpt2", "cl100k")]
    for title in titles:
        expect(shown.text(title)).to_contain_text("river")
    piece_at(shown.text("GPT-2"), ENGLISH.index(" lighthouse") + 3).hover()
    expect(shown.card).to_contain_text("·lighthouse")
    expect(shown.card).to_contain_text("11 characters, 11 bytes; ")
    expect(shown.card).to_contain_text("White space: 2 pre-tokens here")
    expect(shown.card).not_to_contain_text("id")
    for title in titles:
        lit = shown.text(title).locator(".c.lit").all_text_contents()
        assert "".join(lit).replace("\xa0", " ") == " lighthouse"
    page.get_by_role("heading", name="Merges that pre-tokenization rules out").hover()
    expect(shown.card).to_be_hidden()


def test_word_list_persists_across_pages(open_page: Open) -> None:
    page = open_page(english("/Pre-tokenize"))
    page.get_by_role("button", name="Load the Chinese example").click()
    shown = Splits(page)
    expect(shown.text("Word list A")).to_contain_text("总")
    assert shown.pre_tokens("Word list A") == ["姚明", "进入", "总决赛"]
    # The page does not keep the height of a longer text free.
    page.wait_for_function(
        """() => {
          const place = document.querySelector(".st-key-side-by-side");
          const board = place.querySelector("[data-testid^=stBidi]").shadowRoot;
          const bottom = (element) => element.getBoundingClientRect().bottom;
          return bottom(place) - bottom(board.querySelector(".columns")) < 40;
        }"""
    )

    type_text(page, "姚明进入 总决赛", "Word list A")
    expect(shown.head("Word list A")).to_contain_text("2 pre-tokens")
    assert shown.pre_tokens("Word list A") == ["姚明进入", "总决赛"]
    # The word list and the text persist across pages.
    go_to(page, "Train")
    expect(page.get_by_role("textbox", name="Text to use")).to_have_value(YAO_MING)
    go_to(page, "Pre-tokenize")
    expect(shown.head("Word list A")).to_contain_text("2 pre-tokens")
    expect(page.get_by_role("textbox", name="Word list A")).to_have_value("姚明进入 总决赛")


@pytest.mark.large
def test_custom_expression_is_shared_with_train(open_page: Open) -> None:
    page = open_page()
    choose(page, "Pre-tokenization", "Regular expression")
    box = page.get_by_role("textbox", name="Regular expression")
    box.fill("[a-z]+")
    box.press("Enter")
    Player(page).await_text(ENGLISH, pattern="regex", expression="[a-z]+")
    go_to(page, "Pre-tokenize")
    pill(page, "Regular expression").click()
    shown = Splits(page)
    expect(shown.text("Regular expression")).to_contain_text("river")
    expect(box).to_have_value("[a-z]+")
    assert shown.pre_tokens("Regular expression") == pretokenize(ENGLISH, "regex", "[a-z]+")

    # An invalid expression shows an error; the other columns remain.
    box.fill("[a-z")
    box.press("Enter")
    expect(alert(page, "This is not a regular expression")).to_be_visible()
    expect(shown.text("Regular expression")).to_have_count(0)
    expect(shown.text("GPT-2")).to_contain_text("river")
    box.fill("the")
    box.press("Enter")
    expect(shown.text("Regular expression")).to_contain_text("river")
    go_to(page, "Train")
    open_more(page)
    expect(box).to_have_value("the")


def test_phone_layout_has_no_horizontal_scrolling(open_page: Open) -> None:
    page = open_page(
        english("/Pre-tokenize"), viewport={"width": 390, "height": 844}, has_touch=True
    )
    shown = Splits(page)
    tops = []
    for key in ("whitespace", "words", "gpt2", "cl100k"):
        text = shown.text(PATTERNS[key].title)
        expect(text).to_contain_text("river")
        box = text.bounding_box()
        tops.append(box["y"])
    assert tops == sorted({*tops})  # one below the other
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    main = page.get_by_role("main")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0


@pytest.mark.large
def test_compare_column_names_tokens_after_pre_tokenize_page(open_page: Open) -> None:
    """Both pages use the same component."""
    page = open_page()
    go_to(page, "Pre-tokenize")
    expect(Splits(page).text("GPT-2")).to_contain_text("river")
    go_to(page, "Compare")
    columns = Columns(page)
    expect(columns.text("Your tokenizer")).to_contain_text("river")
    expect(columns.frame.locator(".column").first).to_contain_text("tokens")
    go_to(page, "Pre-tokenize")
    expect(Splits(page).text("GPT-2")).to_contain_text("river")

"""The Pre-tokenize page: columns, two word lists, a custom expression, and levels."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from page_helpers import (
    ENGLISH,
    Locator,
    Page,
    Player,
    Score,
    alert,
    choose,
    english,
    expect,
    go_to,
    open_more,
    type_text,
)

from bpeviz.pretokenizers.patterns import PATTERNS, pretokenize

Open = Callable[..., Page]
YAO_MING = "姚明进入总决赛"


def splits(page: Page, name: str = "The text in each pre-tokenization") -> Score:
    """Return a score of the Pre-tokenize page: of pre-tokenizations, or level by level."""
    return Score(page, name)


def pill(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


@pytest.fixture
def split_page(share_page: Callable[[str], Page]) -> Page:
    """Return the Pre-tokenize page, which tests share that change nothing on it."""
    return share_page(english("/Pre-tokenize", closer_open=True, levels_open=True))


def test_deep_link_shows_pre_tokenizations_side_by_side(open_page: Open) -> None:
    page = open_page(english("/Pre-tokenize"))
    shown = splits(page)
    for key in ("whitespace", "words", "gpt2", "cl100k"):
        title = PATTERNS[key].title
        shown.await_text(title, "river")
        pre_tokens = pretokenize(ENGLISH, key)
        assert shown.pieces(title) == pre_tokens
        assert shown.about(title) == f"{len(pre_tokens)} pre-tokens {PATTERNS[key].about}"
    # Add a row, and remove one.
    pill(page, "NLTK's book").click()
    shown.await_text("NLTK's book", "river")
    assert shown.pieces("NLTK's book") == pretokenize(ENGLISH, "nltk")
    pill(page, "GPT-2").click()
    expect(shown.row("GPT-2")).to_have_count(0)


def test_hovering_a_pre_token_shows_card_and_highlights_its_span(split_page: Page) -> None:
    page = split_page
    shown = splits(page)
    titles = [PATTERNS[key].title for key in ("whitespace", "words", "gpt2", "cl100k")]
    for title in titles:
        shown.await_text(title, "river")
    shown.hover("GPT-2", ENGLISH.index(" lighthouse") + 3)
    expect(shown.card).to_contain_text("·lighthouse")
    expect(shown.card).to_contain_text("11 characters, 11 bytes; ")
    expect(shown.card).to_contain_text("alternative 1: A run of characters that are not")
    # White space alone does not part the comma from the word.
    expected = [" lighthouse,", *[" lighthouse"] * 3]
    assert [shown.highlighted(title) for title in titles] == expected
    page.get_by_role("heading", name="Merges that pre-tokenization rules out").hover()
    expect(shown.card).to_be_hidden()


def test_word_list_persists_across_pages(open_page: Open) -> None:
    page = open_page(english("/Pre-tokenize"))
    page.get_by_role("button", name="Load the Chinese example").click()
    shown = splits(page)
    shown.await_text("Word list A", "总")
    assert shown.pieces("Word list A") == ["姚明", "进入", "总决赛"]
    type_text(page, "姚明进入 总决赛", "Word list A")
    shown.await_about("Word list A", "2 pre-tokens")
    assert shown.pieces("Word list A") == ["姚明进入", "总决赛"]
    # The word list and the text persist across pages.
    go_to(page, "Train")
    expect(page.get_by_role("textbox", name="Text to use")).to_have_value(YAO_MING)
    go_to(page, "Pre-tokenize")
    shown.await_about("Word list A", "2 pre-tokens")
    expect(page.get_by_role("textbox", name="Word list A")).to_have_value("姚明进入 总决赛")


@pytest.mark.thorough
def test_custom_expression_is_shared_with_train(open_page: Open) -> None:
    page = open_page()
    choose(page, "Pre-tokenization", "Regular expression")
    box = page.get_by_role("textbox", name="Regular expression")
    box.fill("[a-z]+")
    box.press("Enter")
    Player(page).await_text(ENGLISH, pattern="regex", expression="[a-z]+")
    go_to(page, "Pre-tokenize")
    pill(page, "Regular expression").click()
    shown = splits(page)
    shown.await_text("Regular expression", "river")
    expect(box).to_have_value("[a-z]+")
    assert shown.pieces("Regular expression") == pretokenize(ENGLISH, "regex", "[a-z]+")

    # An invalid expression shows an error; the other columns remain.
    box.fill("[a-z")
    box.press("Enter")
    expect(alert(page, "This is not a regular expression")).to_be_visible()
    expect(shown.row("Regular expression")).to_have_count(0)
    shown.await_text("GPT-2", "river")
    box.fill("the")
    box.press("Enter")
    shown.await_text("Regular expression", "river")
    go_to(page, "Train")
    open_more(page)
    expect(box).to_have_value("the")


@pytest.mark.thorough
def test_compare_names_tokens_after_pre_tokenize_page(open_page: Open) -> None:
    """Both pages use the same component."""
    page = open_page()
    go_to(page, "Pre-tokenize")
    splits(page).await_text("GPT-2", "river")
    go_to(page, "Compare")
    score = Score(page)
    score.await_text("Your tokenizer", "river")
    assert " tokens " in score.about("Your tokenizer")
    go_to(page, "Pre-tokenize")
    splits(page).await_text("GPT-2", "river")

"""Any text is displayed completely as plain text, and can be copied."""

from __future__ import annotations

from collections.abc import Callable

from page_helpers import (
    ENGLISH,
    Locator,
    Page,
    Player,
    Score,
    await_rest,
    go_to,
    open_menu,
    piece_at,
)

Open = Callable[..., Page]


def background(cell: Locator) -> str:
    """Return the background color of a cell."""
    found: str = cell.evaluate("cell => getComputedStyle(cell).backgroundColor")
    return found


def test_a_token_has_one_color_on_a_page(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    at = ENGLISH.index(" the keeper")  # " the" and " keeper" are tokens of all three
    places = (at, at + 1, at + 5)
    seen = [background(piece_at(player.text, place)) for place in places]
    assert seen[0] == seen[1] != seen[2]
    assert player.text.evaluate("text => getComputedStyle(text).backgroundColor") not in seen
    go_to(page, "Compare")
    open_menu(page, "compare_menu")
    page.get_by_text("Color every token", exact=True).click()
    score = Score(page)
    titles = ("Your tokenizer", "GPT-2", "GPT-4 (cl100k)")
    for title in titles:
        score.await_text(title, "river")
    await_rest(page)  # a row that arrives draws the pieces of the others again

    # Several rows have more tokens at once, so a token may have another color than on Train.
    seen = [background(score.piece(titles[0], place)) for place in places]
    assert seen[0] == seen[1] != seen[2]
    for title in titles:
        assert [background(score.piece(title, place)) for place in places] == seen, title

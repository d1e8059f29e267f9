"""Any text is displayed completely as plain text, and can be copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from helpers import properties
from page_helpers import (
    ENGLISH,
    ODD,
    Locator,
    Page,
    Player,
    Score,
    await_equal,
    await_rest,
    box_at_rest,
    choose,
    expect,
    go_to,
    link,
    open_file,
    open_more,
    piece_at,
    shown_text,
)

from bpeviz.corpus import samples
from bpeviz.ui.permalink.codec import pack

Open = Callable[..., Page]

HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'> &amp; &lt;b&gt;\n"
    "a\u202eb 👩‍👩‍👧 nul\0 \u200b\u00a0 tab\tcarriage\r\nreturn \ufeff **no** $x$ `y`\n"
) * 2
HOSTILE_SHOWN = (
    HOSTILE.replace("\u202e", "⟨202E⟩")
    .replace("\0", "⟨0000⟩")
    .replace("\u200b", "⟨200B⟩")
    .replace("\u00a0", "⟨00A0⟩")
    .replace("\ufeff", "⟨FEFF⟩")
    .replace("\r", "␍")
    .replace("\n", "↵")
)


def test_hostile_text_is_displayed_as_plain_text(open_page: Open) -> None:
    page = open_page()
    player = Player(page)
    player.await_text(ENGLISH)
    # NUL and carriage returns cannot be typed into a box; a file may contain them.
    open_file(page, "hostile.txt", HOSTILE.encode())
    player.await_text(HOSTILE)
    assert shown_text(player.text) == HOSTILE_SHOWN
    # Token labels contain the text, too: in the card, the merges and the sentence.
    piece_at(player.text, 3).hover()
    expect(player.card).to_contain_text("script")
    piece_at(player.text, 3).click()
    expect(player.merges).to_contain_text("script")
    page.keyboard.press("Escape")
    player.go(5)
    go_to(page, "Compare")
    score = Score(page)
    score.await_text("GPT-2", "<script>")
    assert shown_text(score.row("GPT-2")) == HOSTILE_SHOWN
    score.hover("GPT-2", 1)
    expect(score.card).to_contain_text("script")
    for root in (score.text, page.locator("body")):
        assert root.locator("script:has-text('hacked'), img[src=x]").count() == 0
    assert page.evaluate("window.hacked") is None


def select(text: Locator, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Select from one piece to another; each end is (piece, offset in it), or -1 for its end."""
    text.evaluate(
        """(text, [start, end]) => {
          const pieces = [...text.querySelectorAll(".score-row:not([inert]) .c")];
          const at = ([piece, place]) => {
            const node = pieces.at(piece).firstChild;
            return [node, place < 0 ? node.length : place];
          };
          document.getSelection().setBaseAndExtent(...at(start), ...at(end));
        }""",
        [start, end],
    )


def copy_selection(page: Page) -> str:
    """Copy by keyboard; return the text that the page puts on the clipboard."""
    page.evaluate(
        """() => {
          window.copied = null;
          document.addEventListener("copy", event => {
            window.copied = event.clipboardData.getData("text/plain");
          }, { once: true });
        }"""
    )
    page.keyboard.press("Control+C")
    page.wait_for_function("window.copied !== null")
    found: str = page.evaluate("window.copied")
    return found


def test_copying_gives_the_original_text(open_page: Open) -> None:
    text = ODD + "\ttab\tand  spaces\n\nتعرف \u202e end"
    page = open_page(link(text))
    Player(page).await_text(text)
    _assert_copied(page, Player(page).text, text)
    go_to(page, "Compare")
    score = Score(page)
    score.await_text("GPT-4 (cl100k)", "ف")
    _assert_copied(page, score.text, text)


def _assert_copied(page: Page, shown: Locator, text: str) -> None:
    # Select the whole text.
    shown.evaluate("text => document.getSelection().selectAllChildren(text)")
    assert copy_selection(page) == text
    # Select a range of pieces, and then a range with the mouse.
    pieces = shown.locator(".score-row:not([inert]) .c")
    last = pieces.count() - 1
    select(shown, (0, 0), (last, -1))
    assert copy_selection(page) == text
    select(shown, (last - 5, 0), (last, -1))
    assert text.endswith(copy_selection(page))
    ends = [pieces.nth(place) for place in (2, 9)]
    first, second = box_at_rest(ends[0]), ends[1].bounding_box()
    page.mouse.move(first["x"] + 1, first["y"] + first["height"] / 2)
    page.mouse.down()
    page.mouse.move(second["x"] + 1, second["y"] + second["height"] / 2, steps=6)
    page.mouse.up()
    start, end = (piece.evaluate("piece => piece.cell") for piece in ends)
    assert copy_selection(page) == text[start:end]


def test_character_split_by_tokens_shows_its_bytes(open_page: Open) -> None:
    text = "naïve café 茶 👍🏽 é\n" * 2
    page = open_page(link(text))
    player = Player(page)
    player.await_text(text)
    for step in (0, 3):
        player.go(step)
        cut = player.text.locator(".c.split").filter(has_text="茶").first
        if not step:
            cut.hover()
            expect(player.card.locator("i")).to_have_text(["E8", "8C", "B6"])
        assert "\ufffd" not in (player.text.text_content() or "")
    player.button("Last").click()
    expect(player.text.locator(".c.split")).to_have_count(0)
    # If the atoms are characters, a grapheme of several code points shows these instead.
    choose(page, "Start from", "Characters")
    player.await_text(text, atoms="characters")
    player.go(0)
    player.text.locator(".c.split").first.hover()
    expect(player.card.locator("i")).to_have_text(["1F44D", "1F3FD"])


def test_words_show_their_end_mark(open_page: Open) -> None:
    text = "low low lower नमस्ते naïve\n"
    page = open_page(link(text, algorithm="bpe", bpe_atoms="characters"))
    player = Player(page)
    player.await_text(text, atoms="characters")
    open_more(page)
    titles = {"attached": "Part of the last character", "symbol": "Separate symbol"}
    for mark, title in [*titles.items()][1 if properties.FAST else 0 :]:
        choose(page, "End-of-word mark", title)
        how: dict[str, Any] = {"atoms": "characters", "end_mark": mark}
        training, boundaries = player.await_text(text, **how)
        # Each pre-token but white space has an end mark. GPT-2's pattern separates combining
        # marks from their letter, so some end marks are within a grapheme of नमस्ते.
        words = [one for one in training.pre_tokenizer.pre_tokens(text) if not one.isspace()]
        assert len(words) > 5
        expect(player.text.get_by_text("</w>")).to_have_count(len(words))
        for step in (0, len(training.merges)):
            player.go(step)
            assert player.drawn_boundaries() == boundaries.boundary_mask(step).sum()
        player.text.evaluate("text => document.getSelection().selectAllChildren(text)")
        assert copy_selection(page) == text  # without the end marks


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


def test_non_latin_scripts_are_drawn_completely(open_page: Open) -> None:
    scripts = [samples.by_key(key) for key in ("arabic-hindi", "chinese-japanese")]
    page = open_page(f"/?s={pack({'text_sample': scripts[0].key})}&step=9999")
    player = Player(page)
    for sample in scripts:
        if sample is not scripts[0]:
            choose(page, "Text", sample.title)
        training, boundaries = player.await_text(sample.text)
        steps = len(training.merges)
        await_equal(player.drawn_boundaries, boundaries.boundary_mask(steps).sum())
        # Joiners shape letters and emoji, so they stay.
        marked = {c: f"⟨{ord(c):04X}⟩" for c in "\u200e\u200f\u3000"}
        expected = sample.text.translate(str.maketrans(marked)).replace("\n", "↵")
        await_equal(lambda: shown_text(player.text), expected)
    go_to(page, "Compare")
    score = Score(page)
    for sample in reversed(scripts):
        choose(page, "Text", sample.title)
        score.await_text("GPT-4 (cl100k)", sample.text[1])
        await_equal(lambda: score.drawn_boundaries("GPT-4 (cl100k)") > 0, True)


def test_thousands_of_lines_are_drawn_searched_and_copied(open_page: Open) -> None:
    text = "".join(f"{i} line\n" for i in range(1_200))
    page = open_page(link(text))
    player = Player(page)
    training, boundaries = player.await_text(text)
    assert player.text.locator(".block").count() < 30
    # Select from the middle of one block to that of another, and then two whole blocks.
    pieces = player.text.locator(".c")
    select(player.text, (700, 0), (-700, -1))
    start, end = pieces.evaluate_all("all => [all.at(700).cell, all.at(-700).end]")
    assert copy_selection(page) == text[start:end]
    starts: list[int] = player.text.locator(".block").evaluate_all(
        "blocks => blocks.map(block => block.querySelector('.c').cell)"
    )
    player.text.evaluate("text => getSelection().setBaseAndExtent(text, 1, text, 3)")
    assert copy_selection(page) == text[starts[1] : starts[3]]
    page.evaluate("getSelection().empty()")
    # The last word is found, and the token under the mouse at the end has a card.
    assert page.evaluate("find('1199')")
    player.text.evaluate("text => text.scrollTo(0, text.scrollHeight)")
    pieces.nth(-3).hover()
    expect(player.card).to_contain_text("id ")
    # The only place of a late merge is seen, and the text plays on from there.
    names = [training.name(merge.new_id) for merge in training.merges]
    player.go(names.index("11") + 1)
    seen = """text => {
      const { top, bottom } = text.getBoundingClientRect();
      const isSeen = box => box.top >= top && box.bottom <= bottom;
      return [...text.querySelectorAll(".c.first")].some(c => isSeen(c.getBoundingClientRect()));
    }"""
    assert player.text.evaluate(seen)
    assert player.drawn_boundaries() == boundaries.boundary_mask(player.step).sum()

"""The Algorithms page: rows in lock-step, and random segmentations of a word."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from helpers import usual
from page_helpers import (
    ENGLISH,
    LockStep,
    Page,
    choose,
    english,
    expect,
    link,
    type_text,
)

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.views.stage import steps_at

Open = Callable[..., Page]
SAMPLE = samples.by_key("seashells").text
USUAL = ("bpe", "wordpiece", "unigram")


@dataclass
class Trained:
    """The training of a text by one trainer, with its state at any vocabulary size."""

    title: str
    training: Training
    boundaries: Boundaries

    def step(self, size: int) -> int:
        return int(steps_at(self.training.sizes, size, size)[0])

    def tokens(self, size: int) -> int:
        return int(self.boundaries.token_counts[self.step(size)])


def train_all(*keys: str, text: str = ENGLISH, **initial: str) -> list[Trained]:
    """Train the algorithms with these keys on a text, with the page's initial options."""
    found = []
    for key in keys:
        training = usual.train(key, text, **usual.ON_ALGORITHMS | initial)
        boundaries = training.tokenizer().boundaries(text)
        found.append(Trained(TRAINERS[key].short, training, boundaries))
    return found


def sizes_of(trainings: list[Trained]) -> list[int]:
    """Return the sizes of the player's steps."""
    ranges = [range(one.training.sizes.min(), one.training.sizes.max() + 1) for one in trainings]
    return sorted({size for one in ranges for size in one})


def opening_of(page: Page) -> int:
    """Return the first size that the player shows; `tests/ui` tests which it is."""
    page.get_by_text(re.compile("^At [0-9]+ entries")).wait_for()
    return LockStep(page).size


def assert_rows(player: LockStep, trainings: list[Trained], size: int) -> None:
    """Assert that each row shows its trainer at this size, letters below the same letters."""
    for one in trainings:
        player.await_tokens(one.title, one.tokens(size))
        boundaries = one.boundaries.boundary_mask(one.step(size)).sum()
        assert player.drawn_boundaries(one.title) == boundaries, (one.title, size)
    lines = player.text.locator(".line").evaluate_all(
        """all => all.map(line => [...line.querySelectorAll(".staff")].map(staff => {
          const signs = document.createRange();
          signs.selectNodeContents(staff);
          const { left, right } = signs.getBoundingClientRect();
          const words = staff.textContent.replaceAll("</w>", "");
          return [words, Math.round(left), Math.round(right)].join();
        }))"""
    )
    assert lines
    for staves in lines:
        assert len(staves) == len(trainings)
        assert len({*staves}) == 1, staves


def await_size(page: Page, size: int) -> None:
    """Wait until the elements below the player show this vocabulary size."""
    expect(page.get_by_text(re.compile(f"^At {size:,} entries"))).to_be_visible()


def add_algorithm(page: Page, key: str) -> None:
    page.get_by_role("combobox", name="Algorithms").click()
    page.get_by_role("option", name=TRAINERS[key].short, exact=True).click()
    page.keyboard.press("Escape")


def test_deep_link_shows_three_algorithms_in_lock_step(open_page: Open) -> None:
    page = open_page(english("/Algorithms"))
    player = LockStep(page)
    trained = train_all(*USUAL)
    sizes, opening = sizes_of(trained), opening_of(page)
    low, high = sizes[0], sizes[-1]
    expect(player.text).to_contain_text("river")
    expect(player.decisions).to_have_count(3)
    expect(player.last).to_have_text(f"{high:,}")
    assert_rows(player, trained, opening)
    expect(player.decision("WordPiece")).to_contain_text("tokens, spaces left out")
    pruned = f"{trained[2].step(opening)} pieces pruned so far, {opening} left."
    expect(player.decision("Unigram")).to_contain_text(pruned)
    await_size(page, opening)
    player.go(high)
    assert_rows(player, trained, high)
    await_size(page, high)
    # Below its smallest vocabulary, a trainer shows that vocabulary.
    player.go(low)
    assert_rows(player, trained, low)
    larger = [one for one in trained if one.training.sizes.min() > low]
    for one in larger:
        expect(player.decision(one.title)).to_contain_text(
            f"vocabulary {one.training.sizes.min():,}"
        )
    # Playback moves all rows.
    player.button("Play").click()
    expect(player.button("Pause")).to_be_visible()
    expect(player.track).to_have_value(re.compile("[1-9]"))
    player.button("Pause").click()
    size = player.size
    assert size > low
    player.button("Step forward").click()
    expect(player.number).to_have_value(str(size + 1))
    assert_rows(player, trained, size + 1)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


def test_clicked_word_shows_sampled_segmentations(open_page: Open) -> None:
    page = open_page(english("/Algorithms", random_open=True))
    player = LockStep(page)
    bpe, wordpiece, _ = train_all(*USUAL)
    opening = opening_of(page)
    word = page.get_by_role("textbox", name="Word (")
    expect(word).to_have_value(" lighthouse")  # a long word with several segmentations
    drawn = page.get_by_text(re.compile("different segmentations? in 1,000 samples"))
    expect(drawn).to_be_visible()

    def shares(found: dict[tuple[int, ...], int]) -> str:
        average = sum(len(ids) * times for ids, times in found.items()) / 1_000
        plural = "" if len(found) == 1 else "s"
        count = f"{len(found)} different segmentation{plural} in 1,000 samples"
        return f"{count}, {average:.2f} tokens on average"

    # A click includes the leading space: with it the word is another pre-token.
    for one, clicked in ((wordpiece, " river"), (bpe, " keeper")):
        page.mouse.click(*player.place(one.title, ENGLISH.index(clicked) + 2))
        expect(word).to_have_value(clicked)
        step = bpe.step(opening)
        expect(drawn).to_contain_text(
            shares(bpe.training.segmentations(step, clicked, 0.1, 1_000, 0))
        )
        page.keyboard.press("Escape")  # close the merges of the clicked token
    expect(page.get_by_role("group", name="Sampled segmentations")).to_contain_text("%")
    # Without dropout the only segmentation is the tokenizer's, and no table is drawn.
    assert bpe.training.stochastic
    strength = page.get_by_role("slider", name=texts_of(bpe.training).randomness.strength)
    strength.press("Home")
    tokens = len(bpe.training.at_step(step).encode(" keeper"))
    expect(drawn).to_contain_text(f"1 different segmentation in 1,000 samples, {tokens:.2f} tokens")
    # Another size gives another segmentation.
    player.go(bpe.training.sizes.min())
    expect(drawn).to_contain_text("1 different segmentation in 1,000 samples, 7.00 tokens")


def test_algorithm_options_change_only_their_row_and_four_fit(open_page: Open) -> None:
    page = open_page(english("/Algorithms"))
    player = LockStep(page)
    trained = train_all(*USUAL)
    opening_of(page)
    add_algorithm(page, "sentencepiece")
    trained += train_all("sentencepiece")
    expect(player.decisions).to_have_count(4)
    sizes, opening = sizes_of(trained), opening_of(page)
    assert_rows(player, trained, opening)
    middle = sizes[sizes.index(opening) // 2]
    player.go(middle)
    box = player.section.bounding_box()
    assert box
    assert box["x"] + box["width"] <= 1366

    page.get_by_text("BPE options", exact=True).click()
    choose(page, "Start from", "Bytes")
    trained[0] = train_all("bpe", atoms="bytes")[0]
    expect(player.number).not_to_have_value(str(middle))
    opening = opening_of(page)
    await_size(page, opening)
    assert_rows(player, trained, opening)


def test_default_text_fits_its_stage(share_page: Open) -> None:
    page = share_page("/Algorithms")
    player = LockStep(page)
    expect(player.text).to_contain_text("shells. 🐚")
    expect(player.section).not_to_have_class(re.compile("scrolls|fitting"))


def test_lines_of_four_algorithms_fill_the_stage(open_page: Open) -> None:
    page = open_page("/Algorithms", viewport={"width": 1366, "height": 768})
    player = LockStep(page)
    add_algorithm(page, "scaffold")
    expect(player.decisions).to_have_count(4)
    expect(player.section).to_have_class(re.compile("scrolls"))
    below = """text => {
      const end = shown => shown.getBoundingClientRect().bottom;
      const ends = [...text.querySelectorAll(".line")].map(end);
      return end(text) - Math.max(...ends.filter(bottom => bottom <= end(text)));
    }"""
    assert player.text.evaluate(below) < 60


def test_lines_of_code_are_whole_and_far_lines_have_their_height(open_page: Open) -> None:
    line = "    total = " + " + ".join(f"value_{i}" for i in range(10, 16))
    code = f"{line:<79}#\n" * 20
    page = open_page(link(code, "/Algorithms"))
    text = LockStep(page).text
    expect(text).to_contain_text("value_15")
    expect(text.locator(".line")).to_have_count(20)
    # The races, which stand beside shorter lines, are below, and on the first screen.
    bar = page.locator(".race .group").first
    expect(bar).to_be_visible()
    assert bar.bounding_box()["y"] < 768
    type_text(page, "\n".join(f"{i}. She sells seashells by the seashore." for i in range(60)))
    blocks = text.locator(".block")
    expect(blocks.nth(4)).to_be_attached()
    heights = blocks.evaluate_all("all => all.map(e => [`${e.offsetHeight}px`, e.style.height])")
    assert all(drawn == height for drawn, height in heights), heights


def test_pointing_at_a_token_dims_all_but_the_same_characters(share_page: Open) -> None:
    page = share_page("/Algorithms")
    player = LockStep(page)
    size = opening_of(page)
    sells = SAMPLE.index("sells")
    for title in ("Unigram", "BPE"):
        page.mouse.move(*player.place(title, sells + 1))
        expect(player.text).to_have_class(re.compile("dims"))
        expect(player.section.get_by_role("tooltip")).to_contain_text("id ")
        for row in ("BPE", "WordPiece", "Unigram"):
            lit = "".join(player.row(row).first.locator(".c.lit").all_text_contents())
            assert lit.replace("\u00a0", " ") == " sells"
        expect(player.text.locator(".outlined-first")).to_have_count(1)
    page.mouse.move(0, 0)
    expect(player.text.locator(".lit")).to_have_count(0)
    page.keyboard.press(".")
    announced = player.section.locator(".announced")
    expect(announced).to_have_text(re.compile(r"^BPE: S, id \d+\. WordPiece: S, .*Unigram: S, "))
    assert player.size == size

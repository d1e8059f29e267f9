"""The elements of the pages, found by role and label, and the actions of users."""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from serving import TIMEOUT

import bpeviz
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.ui.inputs.vocabulary_size import LARGEST
from bpeviz.ui.permalink import codec

try:
    from playwright.sync_api import Error, FloatRect, Frame, Locator, Page
    from playwright.sync_api import expect as expect_at_once
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("No playwright: pip install -r tests/requirements.txt", allow_module_level=True)

expect_at_once.set_options(timeout=TIMEOUT)

ABSENT = {"to_be_hidden", "to_have_count", "not_to_have_count", "not_to_be_visible"}
"""The assertions that may hold for an element that does not exist."""


class _Expectation:
    """The assertions of Playwright about an element, which first wait until it exists."""

    def __init__(self, element: Locator) -> None:
        self._element = element

    def __getattr__(self, name: str) -> Callable[..., None]:
        check: Callable[..., None] = getattr(expect_at_once(self._element), name)
        if name in ABSENT:
            return check

        def wait_and_check(*expected: Any, **options: Any) -> None:
            state: Any = "visible" if name == "to_be_visible" else "attached"
            if expected != ([],) and options.get("visible", True):
                self._element.first.wait_for(state=state, timeout=options.get("timeout", TIMEOUT))
            check(*expected, **options)

        return wait_and_check


def expect(actual: Locator | Page) -> Any:
    """Return Playwright's assertions about an element or a page.

    While an element does not exist, Playwright 1.65 describes the whole page each time that it
    looks: a tenth of the browser's processor time. So these wait for it first.
    """
    return expect_at_once(actual) if isinstance(actual, Page) else _Expectation(actual)


ENGLISH = samples.by_key("english-prose").text
ODD = samples.by_key("emoji-and-unicode").text


@functools.cache
def trained(text: str, **how: Any) -> tuple[Training, Boundaries]:
    """Return the training of a text with the initial options of the pages, and its boundaries."""
    training = bpeviz.train(text, **{"vocab_size": LARGEST, "min_count": 2} | how)
    return training, training.tokenizer().boundaries(text)


def labelled(within: Page | Locator, selector: str, label: str) -> Locator:
    """Return the element of an accessible label.

    Playwright's search by role computes the names of all elements, some thousands of tokens among
    them, each time that it looks.
    """
    return within.locator(f'{selector}[aria-label="{label}"]')


def box_at_rest(element: Locator) -> FloatRect:
    """Return the box of an element in pixels, once it has kept its place for 0.3 seconds.

    While content above it is still being loaded, a mouse sent to its box would miss it.
    """
    element.scroll_into_view_if_needed()
    before = None
    for _ in range(300):
        box = element.bounding_box()
        if box is not None and box == before:
            return box
        before = box
        element.page.wait_for_timeout(300)
    raise AssertionError(f"{element} does not keep its place")


def await_equal(read: Callable[[], object], wanted: object) -> None:
    """Wait until what is read from a page equals what is wanted."""
    end = time.monotonic() + TIMEOUT / 1_000
    while (value := read()) != wanted:
        assert time.monotonic() < end, value
        time.sleep(0.1)


class Controls:
    """The section of a player, with its buttons."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.section = labelled(page, "section", "Player: the tokens of this text, step by step")
        self.track = labelled(self.section, "input", "Step")
        self.last = self.section.locator("output")

    def button(self, name: str) -> Locator:
        return labelled(self.section, "button", name)


class Player(Controls):
    """The player of the Train page. unit: the word for one of its steps."""

    def __init__(self, page: Page, unit: str = "merge") -> None:
        super().__init__(page)
        self.text = labelled(self.section, "[role=group]", "The text and its tokens")
        self.number = labelled(self.section, "input", f"{unit.capitalize()} number")
        self.speed = labelled(self.section, "select", "Speed")
        self.sentence = self.section.locator(".sentence")
        self.card = self.section.locator("[role=tooltip]")
        self.merges = labelled(self.section, "[role=dialog]", "Merges of a token")

    def figure(self, name: str) -> Locator:
        """Return the value beside a name such as "tokens", also if it is in the singular."""
        named = self.page.locator("dt").filter(has_text=re.compile(f"^{name}?$"))
        return self.section.locator("dl > div").filter(has=named).locator("dd").last

    def await_text(self, text: str, **how: Any) -> tuple[Training, Boundaries]:
        """Wait until the player shows the training of a text, and go to its last step."""
        training, boundaries = trained(text, **how)
        steps = len(training.merges)
        expect(self.last).to_have_text(f"{steps:,}")
        if self.step != steps:
            self.button("Last").click()
        expect(self.figure("tokens")).to_have_text(f"{boundaries.token_counts[steps]:,}")
        return training, boundaries

    def go(self, step: int) -> None:
        self.number.fill(str(step))
        self.number.press("Enter")
        expect(self.track).to_have_value(str(step))

    @property
    def step(self) -> int:
        return int(self.track.input_value())

    def drawn_boundaries(self) -> int:
        """Return the number of boundaries drawn: in the text, or on rulers inside of signs."""
        return drawn_boundaries(self.text)

    def pieces(self) -> list[str]:
        """Return the text between the drawn boundaries, with line breaks for their stand-ins."""
        found: list[str] = self.text.evaluate(
            """text => {
              const pieces = [""];
              for (const cell of text.querySelectorAll(".c")) {
                pieces[pieces.length - 1] += cell.textContent;
                if (cell.classList.contains("b")) pieces.push("");
              }
              return pieces.slice(0, -1)
                .map(piece => piece.replaceAll("↵", "\\n").replaceAll("\\u00a0", " "));
            }"""
        )
        return found

    def classes(self) -> list[str]:
        """Return the classes of all pieces and of the bytes below them."""
        found: list[str] = self.text.evaluate(
            "text => [...text.querySelectorAll('.c, .atoms i')].map(piece => piece.className)"
        )
        return found

    def first_piece_of(self, ends: Sequence[int], token: int) -> Locator:
        """Return the first piece of a token in an ASCII text, where each atom is a sign."""
        return piece_at(self.text, 0 if not token else int(ends[token - 1]))


BOUNDARIES = ".c.b, .atoms i.b:not(:last-child)"
SCROLL_THROUGH = """text => {
  for (let top = 0; top < text.scrollHeight; top += text.clientHeight) {
    text.scrollTop = top;
    text.dispatchEvent(new Event("scroll"));
  }
}"""
"""Draws the rulers, which are drawn near the visible part."""


def drawn_boundaries(text: Locator) -> int:
    text.evaluate(SCROLL_THROUGH)
    return text.locator(BOUNDARIES).count()


def piece_at(text: Locator, sign: int) -> Locator:
    """Return the piece of a drawn text that contains a sign, by the number of the sign."""
    index: int = text.evaluate(
        "(text, sign) => [...text.querySelectorAll('.c')].findIndex(piece => piece.end > sign)",
        sign,
    )
    return text.locator(".c").nth(index)


def shown_text(text: Locator) -> str:
    """Return the displayed text with its stand-ins, of all lines."""
    found: str = text.evaluate_all(
        """lines => lines.flatMap(line => [...line.querySelectorAll(".c")])
          .map(piece => piece.textContent).join("").replaceAll("\\u00a0", " ")"""
    )
    return found


def await_sign(text: Locator, sign: str) -> None:
    """Wait until a text that contains this sign is displayed."""
    expect(text.locator(".c").filter(has_text=sign).first).to_be_attached()


def link(text: str, path: str = "/", **state: object) -> str:
    """Return a link to a page with a text, at the last step, and with other inputs by name."""
    packed = codec.pack({"text_sample": "own", "text_box": text} | state)
    return f"{path}?s={packed}&step=9999"


def english(path: str, **state: object) -> str:
    """Return a link to a page with the English prose, and with other inputs by name."""
    return f"{path}?s={codec.pack({'text_sample': 'english-prose'} | state)}"


def type_text(page: Page, text: str, label: str = "Text to use") -> None:
    box = page.get_by_role("textbox", name=label)
    box.fill(text)
    box.press("Control+Enter")


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of a select box.

    Its list closes if the page scrolls, or if an earlier run of the page redraws the box.
    """
    if label in ("Start from", "Pre-tokenization") and "/Algorithms" not in page.url:
        open_more(page)
    box = page.get_by_role("combobox", name=label, exact=True)
    named = re.compile(f"^{re.escape(option)}( ·|$)")  # some also say what they are
    if box.evaluate("box => box.tagName") == "SELECT":
        box.select_option(box.locator("option").filter(has_text=named).get_attribute("value"))
        return
    wanted = page.get_by_role("option", name=named)
    box.scroll_into_view_if_needed()
    for _ in range(5):
        box.click()
        try:
            wanted.click(timeout=2_000)
        except Error:
            continue
        return
    raise AssertionError(f"{label} does not have the option {option}.")


def await_run(page: Page) -> None:
    """Wait until the page's script has ended."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def with_clock(page: Page) -> None:
    """Prepare a page whose time passes as usual, and at once by `page.clock.run_for`."""
    page.clock.install()


def await_rest(page: Page) -> None:
    """Wait until the script has not run for one and a half seconds.

    A run that a page asks for itself, such as that with the player's step, closes a new dialog.
    """
    page.wait_for_function(
        """start => {
          const isIdle = document.querySelector("[data-test-script-state=notRunning]");
          if (!isIdle || window.waitStart !== start) window.idleSince = Date.now();
          window.waitStart = start;
          return isIdle && Date.now() - window.idleSince > 1500;
        }""",
        arg=time.monotonic(),  # an earlier wait does not count
    )


def await_height(frame: Frame, content: str) -> None:
    """Wait until a frame is as high as its content."""
    # The browser does not lay out a frame of another origin that is out of sight.
    frame.frame_element().scroll_into_view_if_needed()
    script = "box => [innerHeight, Math.ceil(box.getBoundingClientRect().height)]"
    for _ in range(300):
        height, wanted = frame.locator(content).evaluate(script)
        if height == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(f"The frame has {height} pixels, its content {wanted}.")


def open_share(page: Page) -> None:
    """Open the menu with the link, the QR code and the exports, unless it is open."""
    if not page.get_by_role("button", name="QR code").is_visible():
        page.get_by_role("button", name="Share", exact=True).click()


def close_dialog(page: Page) -> None:
    """Close the open dialog. A menu that is closing behind it may take the first Escape."""
    dialog = page.get_by_role("dialog")
    for _ in range(3):
        dialog.press("Escape")
        try:
            expect(dialog).to_have_count(0, timeout=3_000)
        except AssertionError:
            continue
        return
    raise AssertionError("The dialog stays open.")


def open_more(page: Page) -> None:
    """Open the options below the vocabulary size, unless they are open."""
    more = page.get_by_text("More", exact=True)
    more.wait_for()
    if page.locator("details").filter(has=more).get_attribute("open") is None:
        more.click()
    expect(page.get_by_role("spinbutton", name="Largest vocabulary")).to_be_visible()


def unfold(page: Page, title: str) -> None:
    """Open a section of the page."""
    page.locator("summary").get_by_text(title, exact=True).click()


def type_number(page: Page, label: str, number: int) -> None:
    box = page.get_by_role("spinbutton", name=label)
    box.fill(str(number))
    box.press("Enter")


def go_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()


def open_file(page: Page, name: str, content: bytes) -> None:
    page.locator(".st-key-text_upload").wait_for(state="attached")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open a file").click()
    chooser.value.set_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )


def drop_file(target: Locator, name: str, content: str) -> None:
    """Drop a file on an element of a page."""
    target.page.locator(".st-key-text_upload").wait_for(state="attached")
    target.evaluate(
        """(target, [name, content]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([content], name));
          const how = { dataTransfer, bubbles: true, composed: true, cancelable: true };
          for (const type of ["dragover", "drop"]) target.dispatchEvent(new DragEvent(type, how));
        }""",
        [name, content],
    )


def alert(page: Page, text: str) -> Locator:
    """Return the message on the page that contains `text`: an error, a warning or a note."""
    return page.get_by_test_id("stAlert").filter(has_text=text)


class Score:
    """A score: the text once per row, as on the Compare page."""

    def __init__(self, page: Page, label: str = "The text under each tokenizer") -> None:
        self.page = page
        self.frame = labelled(page, "section", label)
        self.text = self.frame.locator(".text")
        self.card = self.frame.locator("[role=tooltip]")

    def await_text(self, title: str, words: str) -> None:
        """Wait until a row has these words in one of its lines."""
        expect(self.row(title).filter(has_text=words).first).to_be_visible()

    def row(self, title: str) -> Locator:
        """Return a row of all lines, by its name."""
        names = {title, title.split(" (")[0]}
        return self.frame.locator(", ".join(f'[data-row="{name}"]' for name in sorted(names)))

    def head(self, title: str) -> Locator:
        """Return the name of a row, above the text."""
        return self.frame.get_by_role("heading", name=title.removesuffix(")"))

    def about(self, title: str) -> str:
        """Return the figures and the notes of a row."""
        found: str = self.head(title).evaluate(
            "({ nextSibling }) => `${nextSibling.innerText} ${nextSibling.nextSibling.innerText}`"
        )
        return found

    def await_about(self, title: str, words: str) -> None:
        """Wait until the figures of a row begin with these words."""
        heading = self.head(title)
        expect(heading.locator("xpath=following-sibling::p[1]")).to_have_text(words)

    def count(self, title: str, looks: str) -> int:
        """Return the number of atoms of a row with a class, such as "tick"."""
        self._see_all()
        return self.row(title).locator(f".c.{looks}, .atoms i.{looks}:not(:last-child)").count()

    def drawn_boundaries(self, title: str) -> int:
        """Return the number of boundaries that a row draws."""
        return self.count(title, "b")

    def _see_all(self) -> None:
        drawn_boundaries(self.text)

    def pieces(self, title: str) -> list[str]:
        """Return the text between the drawn boundaries of a row, without split characters."""
        found: list[str] = self.row(title).evaluate_all(
            """rows => {
              const pieces = [""];
              for (const piece of rows.flatMap((row) => [...row.querySelectorAll(".c")])) {
                pieces[pieces.length - 1] += piece.textContent;
                if (piece.classList.contains("b")) pieces.push("");
              }
              const shown = (text) => text.replaceAll("↵", "\\n").replaceAll("\u00a0", " ");
              return pieces.slice(0, -1).map(shown);
            }"""
        )
        return found

    def highlighted(self, title: str) -> str:
        """Return the highlighted part of a row."""
        return "".join(self.row(title).locator(".c.lit").all_text_contents()).replace("\xa0", " ")

    def piece(self, title: str, sign: int) -> Locator:
        """Return the piece of a row that contains a sign, by the number of the sign."""
        pieces = self.row(title).locator(".c")
        index: int = pieces.evaluate_all(
            "(all, sign) => all.findIndex(piece => piece.end > sign)", sign
        )
        return pieces.nth(index)

    def hover(self, title: str, sign: int) -> None:
        """Move the mouse to a sign of a row, of which the score alone knows the place."""
        piece = self.piece(title, sign)
        piece.scroll_into_view_if_needed()
        box = piece.bounding_box()
        assert box
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


class LockStep(Controls):
    """The player of the Algorithms page: a row for each trainer, at one vocabulary size."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.number = labelled(self.section, "input", "Vocabulary size")
        self.decisions = self.section.locator(".decision")
        self.text = labelled(self.section, "[role=group]", "The text and its tokens")

    def row(self, title: str) -> Locator:
        """Return the lines of one trainer."""
        name = self.page.locator(".score-name").filter(has_text=re.compile(f"^{title} *[0-9]*$"))
        return self.section.locator(".score-row").filter(has=name)

    def decision(self, title: str) -> Locator:
        """Return the token count, the rule and the last decision of one trainer."""
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return self.decisions.filter(has=heading)

    def go(self, size: int) -> None:
        self.number.fill(str(size))
        self.number.press("Enter")
        expect(self.number).to_have_value(str(size))

    @property
    def size(self) -> int:
        return int(self.number.input_value())

    def await_tokens(self, title: str, tokens: int) -> None:
        """Wait until a row shows this token count."""
        expect(self.decision(title).locator(".note b")).to_have_text(f"{tokens:,}")

    def place(self, title: str, sign: int) -> tuple[float, float]:
        """Return where a sign of the text is on the screen, in the row of one trainer."""
        x, y = self.row(title).evaluate_all(
            """(rows, sign) => {
              const pieces = rows.flatMap(row => [...row.querySelectorAll(".c")]);
              const piece = pieces.find(({ end }) => end > sign);
              piece.scrollIntoView({ block: "center", behavior: "instant" });
              const { left, right, top, bottom } = piece.getBoundingClientRect();
              return [(left + right) / 2, (top + bottom) / 2];
            }""",
            sign,
        )
        return x, y

    def drawn_boundaries(self, title: str) -> int:
        """Return the number of boundaries drawn in the lines of one trainer."""
        self.text.evaluate(SCROLL_THROUGH)
        return self.row(title).locator(BOUNDARIES).count()

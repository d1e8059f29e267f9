"""The elements of the pages, found by role and label, and the actions of users."""

from __future__ import annotations

import re
from typing import Any

from journeys.people import (  # noqa: F401
    BOUNDARIES,
    ENGLISH,
    SCROLL_THROUGH,
    Rows,
    alert,
    await_height,
    await_rest,
    await_run,
    choose,
    close_dialog,
    drawn_boundaries,
    english,
    expect,
    go_to,
    link,
    open_file,
    open_menu,
    open_more,
    open_share,
    piece_at,
    train_on,
    trained,
    type_text,
    unfold,
)
from playwright.sync_api import FloatRect, Locator, Page

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training


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


def await_sign(text: Locator, sign: str) -> None:
    """Wait until a text that contains this sign is displayed."""
    expect(text.locator(".c").filter(has_text=sign).first).to_be_attached()


def with_clock(page: Page) -> None:
    """Prepare a page whose time passes as usual, and at once by `page.clock.run_for`."""
    page.clock.install()


class Score(Rows):
    """A score: the text once per row, as on the Compare page."""

    def about(self, title: str) -> str:
        """Return the figures and the notes of a row."""
        found: str = self.head(title).evaluate(
            "({ nextSibling }) => `${nextSibling.innerText} ${nextSibling.nextSibling.innerText}`"
        )
        return found

    def await_about(self, title: str, words: str) -> None:
        """Wait until the figures of a row begin with these words."""
        self.await_count(title, words)

    def drawn_boundaries(self, title: str) -> int:
        """Return the number of boundaries that a row draws."""
        return self.count(title, "b")

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

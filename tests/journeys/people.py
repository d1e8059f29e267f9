"""What people do and see on the pages: the one place that knows how these are built."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser.serving import TIMEOUT
from playwright.sync_api import Error, Frame, FrameLocator, Locator, Page
from playwright.sync_api import expect as expect_at_once

import bpeviz
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.ui.inputs.vocabulary_size import LARGEST
from bpeviz.ui.permalink.links import written

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
                self._element.first.wait_for(state=state, timeout=options.get("timeout"))
            check(*expected, **options)

        return wait_and_check


def expect(actual: Locator | Page) -> Any:
    """Return Playwright's assertions about an element or a page.

    While an element does not exist, Playwright 1.65 describes the whole page each time that it
    looks: a tenth of the browser's processor time. So these wait for it first.
    """
    return expect_at_once(actual) if isinstance(actual, Page) else _Expectation(actual)


FIRST = samples.by_key("seashells").text
ENGLISH = samples.by_key("english-prose").text
PARAGRAPH = ENGLISH.partition("\n")[0]
"""Its beginning, where the length does not matter: a browser draws and searches it much faster."""
PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1366, "height": 768}
TEXT_BOX = "Text to use"


@functools.cache
def trained(text: str, **how: Any) -> tuple[Training, Boundaries]:
    """Return the training of a text with the initial options of the pages, and its boundaries."""
    training = bpeviz.train(text, **{"vocab_size": LARGEST, "min_count": 2} | how)
    return training, training.tokenizer().boundaries(text)


def link(text: str, path: str = "/", **state: Any) -> str:
    """Return a link to a page with a text, at the last step, and with other inputs by name."""
    return f"{path}?{written({'text_box': text} | state, {})}&step=9999"


# ---- waiting


def await_equal(read: Callable[[], object], wanted: object) -> None:
    """Wait until what is read from a page equals what is wanted."""
    end = time.monotonic() + TIMEOUT / 1_000
    while (value := read()) != wanted:
        assert time.monotonic() < end, f"{value!r} instead of {wanted!r}"
        time.sleep(0.05)


def await_run(page: Page) -> None:
    """Wait until the page's script has ended, also in the run that was requested last."""
    idle = "document.querySelector('[data-test-script-state=notRunning]')"
    page.wait_for_function(f"() => {idle} && (window.hasEndedRuns?.() ?? true)")


def await_rest(page: Page) -> None:
    """Wait until the script has not run for a second, in which a page may ask for another run."""
    page.wait_for_function(
        """start => {
          const isIdle = document.querySelector("[data-test-script-state=notRunning]");
          if (!isIdle || window.waitStart !== start) window.idleSince = Date.now();
          window.waitStart = start;
          return isIdle && Date.now() - window.idleSince > 1000;
        }""",
        arg=time.monotonic(),  # an earlier wait does not count
    )


def await_height(frame: Frame, content: str) -> None:
    """Wait until a frame is as high as its content."""
    # The browser does not lay out a frame of another origin that is out of sight.
    frame.frame_element().scroll_into_view_if_needed()
    script = "box => innerHeight - Math.ceil(box.getBoundingClientRect().height)"
    await_equal(lambda: frame.locator(content).evaluate(script), 0)


def at_rest(element: Locator) -> dict[str, float]:
    """Return the box of an element in pixels, once it keeps its place.

    While content above it is still being loaded, a mouse sent to its box would miss it.
    """
    element.wait_for(state="attached")
    before: Any = None
    for _ in range(300):
        try:
            if before is None:
                element.scroll_into_view_if_needed()
            box = element.bounding_box()
        except Error:  # it was drawn anew
            box = None
        if box is not None and box == before:
            return {**box}
        before = box
        element.page.wait_for_timeout(150)
    raise AssertionError(f"{element} does not keep its place")


# ---- inputs and menus


def text_box(page: Page, label: str = TEXT_BOX) -> Locator:
    return page.get_by_role("textbox", name=label)


def type_text(page: Page, text: str, label: str = TEXT_BOX) -> None:
    """Type a text, use it at once, and leave the box, which closes."""
    text_box(page, label).fill(text)
    text_box(page, label).press("Control+Enter")
    text_box(page, label).blur()


def put(box: Locator, script_value: str) -> None:
    """Set a box to the value of a JavaScript expression, as if it were pasted."""
    box.evaluate(
        f"""field => {{
          const {{ set }} = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value");
          field.focus();
          set.call(field, {script_value});
          field.dispatchEvent(new Event("input", {{ bubbles: true }}));
          field.blur();
        }}"""
    )


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of a select box, or of a menu of the sentence."""
    box = page.get_by_role("combobox", name=label, exact=True)
    if label in ("Algorithm", "Tokenizer"):
        await_run(page)
        page.locator(f".st-key-{label.lower()}_menu").get_by_role("button").click()
        page.get_by_test_id("stRadio").get_by_text(option, exact=True).click()
    elif label in ("Start from", "Pre-tokenization", "End-of-word mark") and not box.count():
        with menu(page, "More"):
            _choose(box, label, option)
    else:
        _choose(box, label, option)


def _choose(box: Locator, label: str, option: str) -> None:
    page = box.page
    named = re.compile(f"^{re.escape(option)}( ·|$)")  # some also say what they are
    if box.evaluate("box => box.tagName") == "SELECT":
        box.select_option(box.locator("option").filter(has_text=named).get_attribute("value"))
        return
    wanted = page.get_by_role("option", name=named)
    box.scroll_into_view_if_needed()
    for _ in range(5):  # its list closes if an earlier run of the page redraws the box
        box.click()
        try:
            wanted.click(timeout=3_000)
        except Error:
            continue
        return
    raise AssertionError(f"{label} does not have the option {option}.")


@contextmanager
def menu(page: Page, words: str, which: int = -1) -> Iterator[Locator]:
    """Open a menu of the sentence of settings, and close it at the end."""
    opener = button(page, words).nth(which)
    opened = page.get_by_role("dialog", name=words, exact=True)
    if opener.get_attribute("aria-expanded") != "true":  # a link may open it
        opener.click()
    expect(opened).to_be_visible()
    await_run(page)
    yield opened
    await_run(page)
    close_dialog(page)


def train_on(page: Page, option: str) -> None:
    """Choose another text to train on than that of the page, by its key: its menu then closes."""
    settings = button(page, "settings")
    (settings if settings.count() else button(page, "this text").last).click()
    page.get_by_label("Train on", exact=True).select_option(option)
    await_run(page)  # a choice in a menu that closes at once may be lost
    close_dialog(page)


def set_number(page: Page, label: str, number: int) -> None:
    box = page.get_by_role("spinbutton", name=label)
    box.fill(str(number))
    box.press("Enter")


def size_of_vocabulary(page: Page) -> Locator:
    """Return the number in the sentence, which the arrow keys change by one."""
    return page.locator('main input[aria-label="Vocabulary size"]').first


def change_size(page: Page, by: int) -> None:
    """Change the size of the vocabulary by arrow keys."""
    size = size_of_vocabulary(page)
    size.focus()
    wanted = int(size.input_value()) + by
    for _ in range(abs(by)):
        page.keyboard.press("ArrowDown" if by < 0 else "ArrowUp")
    expect(size).to_have_value(str(wanted))


def unfold(page: Page, title: str) -> None:
    """Open a section of the page."""
    page.locator("summary").get_by_text(title, exact=True).first.click()


def go_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator("[aria-current=page]")).to_have_text(name)


def button(page: Page | FrameLocator | Frame | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def alert(page: Page, words: str) -> Locator:
    """Return the message on the page that contains some words: an error, a warning or a note."""
    return page.get_by_test_id("stAlert").filter(has_text=words)


def open_file(page: Page, name: str, content: bytes) -> None:
    """Open a file as the text."""
    page.locator(".st-key-text_upload").wait_for(state="attached")
    await_run(page)
    with page.expect_file_chooser() as chooser:
        button(page, "Open a file").click()
    chooser.value.set_files(file_of(name, content))


def file_of(name: str, content: bytes) -> Any:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def open_tokenizer(page: Page, *files: tuple[str, bytes]) -> None:
    """Open files of a tokenizer; the dialog may be open already."""
    dialog = page.get_by_role("dialog", name="Tokenizers from files")
    if not dialog.count():
        has_menu = "/Inspect" in page.url
        opener = page.locator(".st-key-tokenizer_menu").get_by_role("button")
        (opener if has_menu else button(page, "More")).first.click()
        page.get_by_role("button", name="Open a tokenizer file").click()
    box = dialog.get_by_test_id("stFileUploaderDropzoneInput")
    box.set_input_files([file_of(*file) for file in files])


def drop_file(target: Locator, name: str, content: str, box: str = "text_upload") -> None:
    """Drop a file on an element of a page. box: the key of the input that takes it."""
    target.page.locator(f".st-key-{box}").wait_for(state="attached")
    target.evaluate(
        """(target, [name, content]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([content], name));
          const how = { dataTransfer, bubbles: true, composed: true, cancelable: true };
          for (const type of ["dragover", "drop"]) target.dispatchEvent(new DragEvent(type, how));
        }""",
        [name, content],
    )


def open_share(page: Page) -> None:
    """Open the menu with the link, the QR code and the exports, unless it is open."""
    if not page.get_by_role("button", name="QR code").is_visible():
        button(page, "Share").click()


def copy_link(page: Page) -> str:
    """Copy the link of a page; return the address in the clipboard."""
    open_share(page)
    copy = page.get_by_role("button", name=re.compile("^(Copy link|Copied|Not copied)$"))
    expect(copy).to_have_text("Copy link")  # its label changes for a moment when pressed
    copy.click()
    expect(copy).to_have_text("Copied")
    address: str = page.evaluate("navigator.clipboard.readText()")
    return address


def open_room(page: Page, sheet: str = "") -> str:
    """Open a room, perhaps with a run sheet; return the address of the leader's page."""
    await_rest(page)
    button(page, "Share").click()
    button(page, "Open a room").click()
    if sheet:
        page.get_by_role("combobox", name="Run sheet").click()
        page.get_by_role("option", name=sheet).click()
    return page.get_by_role("link", name="Open the leader's page").get_attribute("href") or ""


def open_export(page: Page) -> Locator:
    """Open the dialog with the files of a page, all of them; return it."""
    open_share(page)
    button(page, "Export").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Charts and long tables")  # the last sentence
    return dialog


def download(
    page: Page, name: str, folder: Path, within: Page | Locator | None = None, to: str = ""
) -> tuple[str, bytes]:
    """Press a button that saves a file; return the name and the content of the file.

    Args:
        page: The page.
        name: The name of the button.
        folder: A folder for the file.
        within: What contains the button, by default the open dialog.
        to: The name of the file in the folder, by default its own.
    """
    with page.expect_download() as saved:
        button(within or page.get_by_role("dialog").last, name).click()
    path = folder / (to or saved.value.suggested_filename)
    saved.value.save_as(path)
    return saved.value.suggested_filename, path.read_bytes()


def close_dialog(page: Page) -> None:
    """Close a dialog, the menu from which it was opened, and a tooltip below the mouse."""
    dialogs = page.get_by_role("dialog")
    for _ in range(5):
        try:
            if dialogs.count():
                dialogs.last.press("Escape", timeout=2_000)
            expect(dialogs).to_have_count(0, timeout=2_000)
        except (AssertionError, Error):
            continue
        return
    raise AssertionError("The dialog stays open.")


# ---- the drawn text

BOUNDARIES = ".c.b, .atoms i.b:not(:last-child)"
SCROLL_THROUGH = """text => {
  for (let top = 0; top < text.scrollHeight; top += text.clientHeight) {
    text.scrollTop = top;
    text.dispatchEvent(new Event("scroll"));
  }
}"""
"""Draws the rulers, which are drawn near the visible part."""


def drawn_boundaries(text: Locator) -> int:
    """Return the number of boundaries drawn: in the text, or on rulers inside of signs."""
    text.evaluate(SCROLL_THROUGH)
    return text.locator(BOUNDARIES).count()


def piece_at(text: Locator, sign: int) -> Locator:
    """Return the piece of a drawn text that contains a sign, by the number of the sign."""
    index: int = text.evaluate(
        "(text, sign) => [...text.querySelectorAll('.c')].findIndex(piece => piece.end > sign)",
        sign,
    )
    return text.locator(".c").nth(index)


def drawn_text(lines: Locator) -> str:
    """Return the displayed text with its stand-ins, of all lines."""
    text: str = lines.evaluate_all(
        """lines => lines.flatMap(line => [...line.querySelectorAll(".c")])
          .map(piece => piece.textContent).join("").replaceAll("\\u00a0", " ")"""
    )
    return text


def pieces_of(lines: Locator) -> list[str]:
    """Return the text between the drawn boundaries, with line breaks for their stand-ins."""
    pieces: list[str] = lines.evaluate_all(
        """lines => {
          const pieces = [""];
          for (const piece of lines.flatMap((line) => [...line.querySelectorAll(".c")])) {
            pieces[pieces.length - 1] += piece.textContent;
            if (piece.classList.contains("b")) pieces.push("");
          }
          const read = (text) => text.replaceAll("↵", "\\n").replaceAll("\\u00a0", " ");
          return pieces.slice(0, -1).map(read);
        }"""
    )
    return pieces


def copied(page: Page) -> str:
    """Copy what is selected by keyboard; return the text that reaches the clipboard."""
    page.evaluate("navigator.clipboard.writeText('')")
    page.keyboard.press("Control+C")
    await_equal(lambda: page.evaluate("navigator.clipboard.readText()") != "", True)
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


class Stage:
    """The player of a page: the text with its tokens, and the controls of its steps."""

    def __init__(self, page: Page | FrameLocator | Frame, unit: str = "Merge") -> None:
        self.page = page
        self.section = page.locator('section[aria-label^="Player: "]')
        self.text = self._labeled("[role=group]", "The text and its tokens")
        self.track = self._labeled("input", "Step")
        self.number = self._labeled("input", f"{unit} number")
        self.speed = self._labeled("select", "Speed")
        self.last = self.section.locator("output").first
        """The number of the last step."""
        self.sentence = self.section.locator(".sentence")
        """What happens at the step."""
        self.said = self.section.locator(".announced")
        """What a screen reader says."""
        self.card = self.section.get_by_role("tooltip")
        """What is known of a token."""
        self.made = self.section.get_by_role("dialog", name="Merges of a token")

    def _labeled(self, selector: str, label: str) -> Locator:
        # Playwright's search by role computes the names of all elements, thousands of tokens among
        # them, each time that it looks.
        return self.section.locator(f'{selector}[aria-label="{label}"]')

    def button(self, name: str) -> Locator:
        return self._labeled("button", name)

    @property
    def tokens(self) -> Locator:
        """Return the number of tokens at the step."""
        return self.section.locator("[data-figure=tokens]")

    @property
    def step(self) -> int:
        return int(self.track.input_value())

    def await_step(self, step: int | str | re.Pattern[str]) -> None:
        expect(self.track).to_have_value(str(step) if isinstance(step, int) else step)

    def await_text(self, text: str, **how: Any) -> tuple[Training, Boundaries]:
        """Wait until the training of a text is played, and go to its last step."""
        training, boundaries = trained(text, **how)
        steps = len(training.merges)
        expect(self.last).to_have_text(f"{steps:,}")
        if isinstance(self.page, Page):
            await_run(self.page)  # a run may bring another training of as many steps
        if self.step != steps:
            self.button("Last").click()
        expect(self.tokens).to_have_text(f"{boundaries.token_counts[steps]:,}")
        return training, boundaries

    def go(self, step: int) -> None:
        self.number.fill(str(step))
        self.number.press("Enter")
        self.await_step(step)

    def has_focus(self) -> bool:
        focused: bool = self.section.evaluate(
            "section => section.getRootNode().activeElement === section"
        )
        return focused

    def pieces(self) -> list[str]:
        return pieces_of(self.text)

    def assert_drawn(self, text: str, boundaries: Boundaries, step: int) -> None:
        """Assert that the tokens of a step are drawn, of a text whose signs are its atoms."""
        ends = boundaries.token_ends(step).tolist()
        starts = [0, *ends[:-1]]
        await_equal(self.pieces, [text[a:b] for a, b in zip(starts, ends, strict=True)])

    def first_piece_of(self, ends: Sequence[int], token: int) -> Locator:
        """Return the first piece of a token in an ASCII text, where each atom is a sign."""
        return piece_at(self.text, 0 if not token else int(ends[token - 1]))

    def fits(self) -> bool:
        """Return whether the text with its controls is in the window, and fills half the stage."""
        fits: bool = self.section.evaluate(
            """section => {
              const text = section.querySelector(".text"), frame = text.getBoundingClientRect();
              const boxes = [...text.querySelectorAll(".c")].map(c => c.getBoundingClientRect());
              const edge = (pick, name) => pick(...boxes.map(box => box[name]));
              const area = (edge(Math.max, "right") - edge(Math.min, "left"))
                * (edge(Math.max, "bottom") - edge(Math.min, "top"));
              return area >= frame.width * frame.height / 2
                && text.scrollHeight <= text.clientHeight
                && section.getBoundingClientRect().bottom <= innerHeight + 2;
            }"""
        )
        return fits

    def letter_size(self) -> float:
        size: float = self.text.evaluate("text => parseFloat(getComputedStyle(text).fontSize)")
        return size


class Rows:
    """A text once per row: under tokenizers, or in pre-tokenizations."""

    def __init__(self, page: Page | Frame, label: str = "The text under each tokenizer") -> None:
        self.page = page
        self.frame = page.locator(f'section[aria-label="{label}"]')
        self.text = self.frame.locator(".text")
        self.lines = self.frame.locator(".line")
        self.card = self.frame.get_by_role("tooltip")

    def row(self, title: str) -> Locator:
        """Return a row of all lines, by its name."""
        title = title.replace("Your tokenizer", "Yours")
        names = {title, title.split(" (")[0]}
        return self.frame.locator(", ".join(f'[data-row="{name}"]' for name in sorted(names)))

    def head(self, title: str) -> Locator:
        """Return the name of a row, above the text."""
        name = title.removesuffix(")").replace("Your tokenizer", "Yours")
        return self.frame.get_by_role("heading", name=name)

    def await_text(self, title: str, words: str) -> None:
        """Wait until a row has these words in one of its lines."""
        expect(self.row(title).filter(has_text=words).first).to_be_attached()  # or folded

    def await_count(self, title: str, words: str) -> None:
        """Wait until the figures of a row begin with these words."""
        expect(self.head(title).locator("xpath=following-sibling::p[1]")).to_have_text(words)

    def count(self, title: str, look: str) -> int:
        """Return the number of atoms of a row with a look: "b" before boundaries."""
        self.text.evaluate(SCROLL_THROUGH)
        return self.row(title).locator(f".c.{look}, .atoms i.{look}:not(:last-child)").count()

    def pieces(self, title: str) -> list[str]:
        return pieces_of(self.row(title))

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

    def await_highlighted(self, title: str, sign: int, words: dict[str, str]) -> None:
        """Point at a sign of a row until words are highlighted in rows."""
        for _ in range(20):  # rows that arrive move those below them
            box = at_rest(self.piece(title, sign))
            mouse = self.piece(title, sign).page.mouse
            mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            if {name: self.highlighted(name) for name in words} == words:
                return
        raise AssertionError({name: self.highlighted(name) for name in words})


class LockStep(Stage):
    """The player of Algorithms: a row for each trainer, at one vocabulary size."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.number = self._labeled("input", "Vocabulary size")
        self.decisions = self.section.locator(".decision")

    def row(self, title: str) -> Locator:
        """Return the lines of one trainer."""
        name = self.section.page.locator(".score-name")
        named = name.filter(has_text=re.compile(f"^{title} *[0-9]*$"))
        return self.section.locator(".score-row").filter(has=named)

    def decision(self, title: str) -> Locator:
        """Return the token count, the rule and the last decision of one trainer."""
        heading = self.section.page.get_by_role("heading", name=title, exact=True)
        return self.decisions.filter(has=heading)

    def go(self, size: int) -> None:
        self.number.fill(str(size))
        self.number.press("Enter")
        expect(self.number).to_have_value(str(size))

    @property
    def size(self) -> int:
        return int(self.number.input_value())

    def assert_row(self, title: str, boundaries: Boundaries, step: int) -> None:
        """Assert that the row of a trainer has the tokens of one of its steps."""
        tokens = self.decision(title).locator(".note b")
        expect(tokens).to_have_text(f"{boundaries.token_counts[step]:,}")
        self.text.evaluate(SCROLL_THROUGH)
        drawn = self.row(title).locator(BOUNDARIES).count()
        assert drawn == boundaries.boundary_mask(step).sum(), title

    def point_at(self, title: str, sign: int, *, click: bool = False) -> None:
        """Move the mouse to a sign of the text in the row of one trainer."""
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
        mouse = self.section.page.mouse
        mouse.click(x, y) if click else mouse.move(x, y)


class Grid:
    """The grid of Inspect, from characters to ids, with what is closer below it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frame = page.get_by_role("group", name="From characters to ids")
        self.blocks = page.locator(".st-key-diagram_player .merge-block.top bdi")

    def cells(self, row: str) -> Locator:
        """Return the cells of a row, in all lines: graphemes, bytes, preTokens, tokens or ids."""
        return self.frame.locator(f".row.{row} .cell")

    def row(self, name: str) -> list[str]:
        return [words.strip("\n") for words in self.cells(name).all_inner_texts()]

    def await_ids(self, ids: Sequence[int]) -> None:
        expect(self.cells("ids")).to_have_text([str(i) for i in ids])

    def closer(self, name: str) -> None:
        self.page.get_by_role("radio", name=name, exact=True).click()


# ---- the focus, and tasks of Learn

FOCUSED = """() => {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active?.ariaLabel ?? active?.textContent ?? "";
}"""


def focused(page: Page) -> str:
    """Return the label or the text of the element that has the focus."""
    words: str = page.evaluate(FOCUSED)
    return words


def tab_to(page: Page, label: str, most: int = 40) -> None:
    """Press Tab until the element of this label or text has the focus."""
    for _ in range(most):
        if focused(page).startswith(label):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{label} was not reached.")


def told(page: Page | FrameLocator, words: str | re.Pattern[str]) -> None:
    """Wait until the judgment of the first task contains some words."""
    expect(page.locator(".told").first).to_contain_text(words)


def press_between(page: Page, name: str) -> None:
    """Press with the mouse where a place of the text is."""
    place = at_rest(page.get_by_role("button", name=name, exact=True).first)
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)

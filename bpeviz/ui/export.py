"""What a user takes along, and what he brings: tokenizers as files, and the colored text.

A file that is opened stays for the session, on every page, until it is closed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import regex
import streamlit as st

from bpeviz import formats
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FORMATS, FormatError, archive
from bpeviz.formats.base import printable_name
from bpeviz.pretokenizers.patterns import PATTERNS
from bpeviz.pretrained.catalog import TITLES
from bpeviz.text import shorten
from bpeviz.ui.runtime.cache import shared
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.views import export

MOST_OPEN = 3
"""How many files' tokenizers a session holds."""

MOST_BYTES = 30_000_000
"""How many bytes the files of a tokenizer may have together, unpacked."""

LONGEST_TITLE = 24

_OPENED, _CHANGED, _NUMBER, _FAILED, _WAITING = (
    f"tokenizers_{part}" for part in ("opened", "changed", "number", "failed", "waiting")
)
"""Names of the session: the tokenizers that are open, and whether these have just changed; the
number of the uploader, which begins anew once its files are read; why a file is not taken; files
that wait for a split to be chosen."""

_SIGNS = regex.compile(r"[!-/:-@\[-`{-~]")


def as_text(words: str) -> str:
    """Return words that may come from a file for a place that reads Markdown: as they are."""
    escaped = _SIGNS.sub(r"\\\g<0>", " ".join(words.split()))
    # What looks like an address would become a link all the same, but for a joiner inside.
    found: str = regex.sub(r"(?=\\:\\/|\\@)|(?<=www)(?=\\\.)", "\u2060", escaped)
    return found


# ---- others' tokenizers


@dataclass(frozen=True, eq=False)
class Opened:
    """A tokenizer that was read from a file. key: tells it from all others, by its content."""

    key: str
    title: str
    tokenizer: Tokenizer


def opened() -> list[Opened]:
    """Return the tokenizers whose files are open in this session."""
    found: list[Opened] = st.session_state.get(_OPENED, [])
    return found


@shared("Cutting …")
def boundaries(key: str, text: str, _tokenizer: Tokenizer) -> Boundaries | str:
    """Return the boundaries of a text under an opened tokenizer, or why it cannot be cut."""
    try:
        return _tokenizer.boundaries(text)
    except ValueError as error:
        return str(error)


def open_here(chosen: Callable[[str], None] = lambda key: None) -> None:
    """Draw the button behind which files of tokenizers are opened and closed.

    chosen: is told the key of one that was just opened, before the page is drawn again.
    """
    # No popover: one that is drawn only while it is open runs the page again when it closes, and
    # that run would call back a user who closes it by going to another page.
    if st.button("From a file", icon=":material/upload_file:", key="open_tokenizer"):
        _opener(chosen)


@st.dialog("Tokenizers from files", width="medium")
def _opener(chosen: Callable[[str], None]) -> None:
    state = st.session_state
    if state.pop(_CHANGED, False):
        st.rerun()  # the page behind; the dialog closes
    if len(opened()) < MOST_OPEN:
        _uploader(chosen)
    else:
        st.caption(f"{MOST_OPEN} files are open, the most there can be. Close one first.")
    if state.get(_FAILED):
        st.error(as_text(state[_FAILED]))
    for one in opened():
        label = f"Close {one.title}"
        st.button(label, icon=":material/close:", key=label, on_click=_close, args=(one.key,))


def _uploader(chosen: Callable[[str], None]) -> None:
    state = st.session_state
    upload = f"tokenizer_upload_{state.get(_NUMBER, 0)}"

    def take() -> None:
        for part in (_FAILED, _WAITING):
            state.pop(part, None)
        if state[upload]:
            _take([(one.name, one.getvalue()) for one in state[upload]], "", chosen)

    def take_split() -> None:
        _take(state[_WAITING], state["split_of_file"], chosen)

    st.file_uploader(
        "A tokenizer: one file, or two that belong together",
        accept_multiple_files=True,
        key=upload,
        on_change=take,
        max_upload_size=min(int(st.get_option("server.maxUploadSize")), MOST_BYTES // 1_000_000),
        help="A larger one may be packed as .zip. A file is read as data; nothing in it is run. "
        "What was read stays on this server until you close it or leave.",
    )
    if _WAITING not in state:
        st.caption(" · ".join(one.title for one in FORMATS.values()))
        return
    st.selectbox(
        "This file does not say how a text is split first. Split by",
        PATTERNS,
        format_func=lambda key: PATTERNS[key].title,
        key="split_of_file",
    )
    st.button("Open with this split", on_click=take_split, key="open_with_split")


def _take(given: Sequence[tuple[str, bytes]], pattern: str, chosen: Callable[[str], None]) -> None:
    """Open what was given, or keep the sentence that says why it is not taken."""
    state = st.session_state
    # Files that were not taken are still there when others follow; those may do without them.
    told = ""
    for some in dict.fromkeys((tuple(given), tuple(given[-2:]), tuple(given[-1:]))):
        try:
            found = _read(some, pattern)
        except FormatError as error:
            told = told or str(error)
            continue
        state.pop(_FAILED, None)
        if found is None:
            state[_WAITING] = some
            return
        if found.key not in (one.key for one in opened()):
            state[_OPENED] = [*opened(), found]
        # A new uploader: the old one's files need no longer be held.
        state[_NUMBER] = state.get(_NUMBER, 0) + 1
        state.pop(_WAITING, None)
        state[_CHANGED] = True
        chosen(found.key)
        return
    state[_FAILED] = told


def _read(given: Sequence[tuple[str, bytes]], pattern: str) -> Opened | None:
    """Return the tokenizer of files, or None where only the split is missing.

    Raises `FormatError`.
    """
    files = _files(given)
    try:
        tokenizer = formats.parse(files, pattern=pattern)
    except FormatError:
        if pattern:
            raise
        # If it can be read with any split, that is all that is missing; else this says what is.
        formats.parse(files, pattern="none")
        return None
    digest = hashlib.blake2b(repr((sorted(files), pattern)).encode(), digest_size=12)
    for name in sorted(files):
        digest.update(hashlib.blake2b(files[name]).digest())
    title = _title(given[0][0], [one.title for one in opened()])
    return Opened(f"file {digest.hexdigest()}", title, tokenizer)


def _files(given: Sequence[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return files by name, a .zip unpacked. Raises `FormatError`."""
    if len(given) == 1 and given[0][0].lower().endswith(".zip"):
        return archive.unpacked(*given[0], MOST_BYTES)
    files = dict(given)
    if len(files) < len(given):
        raise FormatError(f"Two of these files are called {printable_name(given[0][0])}. Give one.")
    if sum(map(len, files.values())) > MOST_BYTES:
        raise FormatError(
            f"Together these files have more than {MOST_BYTES / 1e6:,.0f} MB, which is too much."
        )
    return files


def _title(name: str, taken: Sequence[str]) -> str:
    """Return what a file's tokenizer is called on the pages: no two alike, and nothing that means
    something in Markdown."""
    kept = regex.sub(r"[^\p{L}\p{M}\p{N}._ -]+", " ", name)
    kept = regex.sub(r"(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])|\.\s|\s+", " ", kept).strip(" .-")
    kept = shorten(regex.sub(" +", " ", kept), LONGEST_TITLE) or "tokenizer"
    found, number = kept, 1
    while found in taken or found in TITLES.values() or found == "Yours":
        number += 1
        found = f"{kept} {number}"
    return found


def _close(key: str) -> None:
    st.session_state[_OPENED] = [one for one in opened() if one.key != key]
    st.session_state.pop(_FAILED, None)
    st.session_state[_CHANGED] = True


# ---- taking along


@dataclass(frozen=True)
class Picture:
    """The colored text as it can be taken along: arguments of `bpeviz.views.export`."""

    text: str
    columns: Sequence[Column]
    title: str
    reference: int = 0
    first: int = 0
    last: int | None = None

    def drawn(self, kind: Callable[..., str]) -> bytes:
        made: str = kind(
            self.text,
            self.columns,
            title=self.title,
            reference=self.reference,
            first=self.first,
            last=self.last,
        )
        return made.encode()


@dataclass(frozen=True)
class Learnt:
    """A tokenizer that can be taken along. identity: tells it from all others, for caches."""

    title: str
    identity: tuple[object, ...]
    make: Callable[[], Tokenizer]


@fragment
def along(key: str, picture: Callable[[], Picture], learnt: Learnt | None = None) -> None:
    """Draw the button behind which is what can be taken along.

    key: of the page, for its widgets. picture: returns the text that stands on it. Both it and the
    tokenizer are made only when they are asked for, and not held before.
    """
    if st.button("Take it along", icon=":material/download:", type="tertiary", key=f"along_{key}"):
        _shelf(key, picture, learnt)


@st.dialog("Take it along", width="medium")
def _shelf(key: str, picture: Callable[[], Picture], learnt: Learnt | None) -> None:
    shown = picture()
    if learnt is not None:
        _tokenizer(key, learnt)
    st.markdown("**The colored text**")
    st.caption(
        "As it stands on the page, each file complete in itself, for a page, a slide or a print. "
        f"Up to {export.HELD:,} bytes of the text are held."
    )
    with st.container(horizontal=True):
        _button(key, "tokens.html", "A page of HTML", lambda: shown.drawn(export.html))
        _button(key, "tokens.svg", "A drawing (SVG)", lambda: shown.drawn(export.svg))
    st.caption(
        "Tables and charts have a menu of their own: point at one, and it stands at the upper "
        "right corner."
    )


def _tokenizer(key: str, learnt: Learnt) -> None:
    refused = _refused(learnt.identity, learnt)
    tokenizer = learnt.make()
    st.markdown(f"**The tokenizer**, {learnt.title}")
    for one in FORMATS.values():
        if one.key in refused:
            st.caption(as_text(refused[one.key]))
            continue
        file = one.files[0] if len(one.files) == 1 else f"tokenizer-{one.key}.zip"

        def made(format: str = one.key) -> bytes:
            files = formats.dump(tokenizer, format)
            return next(iter(files.values())) if len(files) == 1 else archive.packed(files)

        _button(key, file, one.title, made)
        st.caption(as_text(one.about))


@shared("Trying which files can hold it …")
def _refused(identity: tuple[object, ...], _learnt: Learnt) -> dict[str, str]:
    """Return by format why it cannot hold a tokenizer; one that can is not among them."""
    tokenizer = _learnt.make()
    found: dict[str, str] = {}
    for one in FORMATS:
        try:
            formats.dump(tokenizer, one)
        except FormatError as error:
            found[one] = str(error)
    return found


def _button(key: str, file: str, label: str, made: Callable[[], Any]) -> None:
    st.download_button(
        label,
        made,
        file,
        icon=":material/download:",
        on_click="ignore",
        key=f"{file} of {key}",
    )

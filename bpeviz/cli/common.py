"""What the commands share: reading, writing, loading a tokenizer, and telling how far it is."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shutil
import stat
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bpeviz import api, formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus import files as corpus_files
from bpeviz.corpus.files import STANDARD, Span, named
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST
from bpeviz.pretrained import catalog, download, rank_tokenizer
from bpeviz.progress import reporting_to

if TYPE_CHECKING:  # the class has no type arguments when the program runs
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = object


class WrongCommand(Exception):  # noqa: N818 (it is a state of affairs, said in full)
    """A command that makes no sense as it stands; the text says why."""


class Failure(ValueError):  # noqa: N818 (as above)
    """What went wrong; the text is a sentence."""


# --- What may be asked of several commands -------------------------------------------------------


def text_argument(argument: str) -> str:
    """Check an argument that is a text: the system passes on bytes that are none."""
    try:
        argument.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("is not UTF-8") from error
    return argument


def add_tokenizer(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Let a command take ``--tokenizer``, once or several times."""
    command.add_argument(
        "--tokenizer",
        action="append" if several else "store",
        required=True,
        metavar="TOKENIZER",
        help=f"{', '.join(catalog.NAMES)}, a file that `train` wrote or another library did, "
        "or its folder" + ("; give it once for each" if several else ""),
    )
    add_split(
        command,
        "",
        "how a text is split first, for a file that does not say so, such as a .tiktoken "
        "without the .tiktoken.json that `train` writes beside it",
    )


def add_files(command: argparse.ArgumentParser) -> None:
    """Let a command take the names of texts."""
    command.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="a text in UTF-8; - or nothing: standard input",
    )


def add_split(command: argparse.ArgumentParser, default: str | None, help_text: str) -> None:
    """Let a command take ``--pattern`` and ``--expression``."""
    command.add_argument(
        "--pattern", choices=[*PATTERNS, CUSTOM, WORD_LIST], default=default, help=help_text
    )
    command.add_argument(
        "--expression",
        default="",
        type=text_argument,
        metavar="TEXT",
        help=f"the regular expression of --pattern {CUSTOM}, or the words of --pattern {WORD_LIST}",
    )


def add_output(command: argparse.ArgumentParser) -> None:
    """Let a command take ``--output``."""
    command.add_argument(
        "--output", default=STANDARD, metavar="FILE", help="write there, not to standard output"
    )


def add_progress(command: argparse.ArgumentParser) -> None:
    """Let a command take ``--progress`` and ``--no-progress``."""
    command.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="say on standard error what takes long (default: if that is a terminal)",
    )


def check_expression(options: argparse.Namespace) -> None:
    """Check that an expression is meant for something. Raises `WrongCommand`."""
    if options.expression and options.pattern not in (CUSTOM, WORD_LIST):
        raise WrongCommand(
            f"--expression goes with --pattern {CUSTOM} or --pattern {WORD_LIST} alone."
        )


# --- Standard output and standard error ----------------------------------------------------------


def tell(sentence: str) -> None:
    """Write a sentence to standard error. Whether anybody reads it does not matter."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(sentence, file=sys.stderr, flush=True)


def silence_output() -> None:
    """Let what still waits to be written go nowhere: else Python complains at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class Progress:
    """Says on standard error what is being done. Nothing, where that is neither asked nor seen."""

    PATIENCE = 1.0
    """Seconds after which something is said on a terminal, and between two of what is said."""

    LINES = 10.0
    """Seconds between two lines of what is not a terminal, as a file."""

    def __init__(self, asked: bool | None) -> None:
        self.terminal = sys.stderr is not None and sys.stderr.isatty()
        self.shown = self.terminal if asked is None else asked
        self.heard = ""  # how far the library says that it is

    def say(self, sentence: str) -> None:
        """Write a line."""
        if self.shown:
            tell(sentence)

    @contextlib.contextmanager
    def during(self, doing: str) -> Iterator[None]:
        """Say that something is being done, and for how long already."""
        if not self.shown:
            yield
        else:
            done = threading.Event()
            tick = self._tick if self.terminal else self._tick_in_lines
            clock = threading.Thread(target=tick, args=(doing, done), daemon=True)
            clock.start()
            try:
                self.heard = ""
                with reporting_to(self._hear):
                    yield
                self.heard = "done"
            finally:
                done.set()
                clock.join()

    def _hear(self, doing: str, done: int, of: int) -> None:
        self.heard = f", {doing[:1].lower()}{doing[1:]}: {done:,} of {of:,}"

    def _tick_in_lines(self, doing: str, done: threading.Event) -> None:
        began = time.monotonic()
        tell(f"{doing} …")
        while not done.wait(self.LINES):
            tell(f"{doing} … {time.monotonic() - began:.0f} s{self.heard}")
        if self.heard == "done":
            tell(f"{doing}: done after {time.monotonic() - began:.1f} s")

    def _tick(self, doing: str, done: threading.Event) -> None:
        began = time.monotonic()
        width = 0
        while not done.wait(self.PATIENCE):
            line = f"{doing} … {time.monotonic() - began:.0f} s{self.heard}"
            line = line[: shutil.get_terminal_size().columns - 1]
            print(f"\r{line:{width}}", end="", file=sys.stderr, flush=True)
            width = len(line)
        if width:
            print("\r" + " " * width + "\r", end="", file=sys.stderr, flush=True)


# --- Reading -------------------------------------------------------------------------------------


def open_file(path: str) -> BinaryIO:
    """Open a file, or standard input, to read its bytes. Raises `ValueError` with a sentence."""
    if path != STANDARD:
        return corpus_files.open_file(path)
    if sys.stdin is None:
        raise Failure("There is no standard input to read. Name a file.")
    if sys.stdin.isatty():
        tell("Type or paste, and end with Ctrl-D on a line of its own.")
    return sys.stdin.buffer


def read(path: str, most: int | None = None) -> bytes:
    """Return the content of a file, or of standard input. Raises `ValueError` with a sentence."""
    try:
        with open_file(path) as file:
            content = file.read() if most is None else file.read(most + 1)
    except OSError as error:
        raise Failure(f"{named(path)} could not be read: {error.strerror or error}.") from error
    if most is not None and len(content) > most:
        raise Failure(f"{named(path)} has more than {most:,} bytes, so it is not taken.")
    return content


def read_text(path: str) -> str:
    """Return the text of a file, or of standard input, in UTF-8. A byte order mark is left out.

    Raises `ValueError` with a sentence.
    """
    return "".join(corpus_files.read([Span(path)], open_file))


def once(paths: Sequence[str]) -> None:
    """Check that standard input is named only once. Raises `WrongCommand`."""
    if list(paths).count(STANDARD) > 1:
        raise WrongCommand("Standard input (-) can be read only once.")


def load(name: str, options: argparse.Namespace, progress: Progress) -> Tokenizer:
    """Return the tokenizer that ``--tokenizer`` names. Raises `ValueError` with a sentence."""
    if name in catalog.NAMES:
        if not download.available(name):
            return rank_tokenizer.load(name, progress.say)  # tells itself how bringing it goes
        with progress.during(f"Loading {name}"):
            return rank_tokenizer.load(name)
    if name != STANDARD and not os.path.exists(name):
        raise Failure(
            f"There is no tokenizer {named(name)}: it is neither a file nor one of "
            f"{', '.join(catalog.NAMES)}."
        )
    split = {"pattern": options.pattern, "expression": options.expression}
    with progress.during(f"Loading {named(name)}"):
        if name == STANDARD:
            return formats.parse({named(name): read(name, formats.MAX_FILE)}, **split)
        try:
            return api.read(name, **split)
        except OSError as error:
            raise Failure(f"{named(name)} could not be read: {error.strerror or error}.") from error


# --- Writing -------------------------------------------------------------------------------------


def target(options: argparse.Namespace) -> str:
    """Return where to write what no terminal could show. Raises `WrongCommand`."""
    output: str | None = options.output
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        raise WrongCommand("Say where to write with --output FILE (or - for here).")
    return STANDARD if output is None else output


def write_out(path: str, content: bytes) -> None:
    """Write to a file, as `write_files` does, or to standard output."""
    if path != STANDARD:
        write_files({Path(path): content})
    elif sys.stdout is None:
        raise Failure("There is no standard output to write to. Name a file: --output FILE.")
    else:
        # As bytes: in UTF-8 whatever the system's language, and with the ends of lines as they are.
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write files so that under each name stands the old content or the whole new one.

    Raises `Failure`.
    """
    waiting: list[tuple[Path, Path, Path]] = []
    try:
        for path, content in files.items():
            with _writing(path):
                target = path.resolve()  # a link stays one
                if target.exists() and not target.is_file():
                    target.write_bytes(content)  # such as /dev/null: nothing to rename there
                    continue
                beside = target.with_name(f".bpeviz-{secrets.token_hex(8)}")
                waiting.append((beside, target, path))
                with open(beside, "xb") as file:
                    file.write(content)
                if target.exists():
                    beside.chmod(stat.S_IMODE(target.stat().st_mode))
        while waiting:
            beside, target, path = waiting[0]
            with _writing(path):
                beside.replace(target)
            del waiting[0]
    finally:
        for beside, _, _ in waiting:
            beside.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Find out ahead of long work whether `write_files` could write there. Raises `Failure`."""
    with _writing(path):
        target = path.resolve()
        if target.is_dir():
            raise IsADirectoryError
        if not target.exists() or target.is_file():
            beside = target.with_name(f".bpeviz-{secrets.token_hex(8)}")
            beside.touch(exist_ok=False)
            beside.unlink()


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn what goes wrong with a file into a sentence."""
    called = named(str(path))
    try:
        yield
    except BrokenPipeError:
        raise
    except FileNotFoundError:
        raise Failure(f"{called} cannot be written: there is no such folder.") from None
    except IsADirectoryError:
        raise Failure(f"{called} cannot be written: it is a folder.") from None
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in a name; links in a circle
        why = getattr(error, "strerror", None) or error
        raise Failure(f"{called} cannot be written: {why}.") from error

"""Input and output of the commands: texts, tokenizers, standard streams and files."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from bpeviz import api, formats
from bpeviz.cli.errors import CommandError, UsageError, print_error
from bpeviz.cli.progress import Progress
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus import files as corpus_files
from bpeviz.corpus.files import STANDARD, named
from bpeviz.formats import archive
from bpeviz.formats.chat_templates import chat_template
from bpeviz.libraries.chat_template import SETTINGS, SOURCE, ChatTemplate
from bpeviz.pretokenizers.patterns import CUSTOM, WORD_LIST
from bpeviz.pretrained import catalog, download, hub

MAX_COUNTS = 4_000_000_000
"""The largest size of a file with counts, in bytes."""

# ---- Arguments


def begin(
    options: argparse.Namespace, inputs: Sequence[str], outputs: Iterable[Path] | None = None
) -> Progress:
    """Check the files of a command, and its pattern; return its progress.

    Args:
        options: The arguments.
        inputs: The paths that the command reads, without those of tokenizers.
        outputs: The paths that it writes, by default that of ``--output``.

    Raises:
        UsageError: An output is also an input, standard input is named twice, or an expression is
            given without a pattern that uses it.
        CommandError: An output is not writable.
    """
    tokenizers = vars(options).get("tokenizer") or []
    names = [tokenizers] if isinstance(tokenizers, str) else tokenizers
    inputs = [*inputs, *(path for name in names for path in tokenizer_inputs(name))]
    if inputs.count(STANDARD) > 1:
        raise UsageError("Standard input (-) can be read only once.")
    if vars(options).get("expression") and options.pattern not in (CUSTOM, WORD_LIST):
        raise UsageError(f"--expression needs --pattern {CUSTOM} or --pattern {WORD_LIST}.")
    if outputs is None:
        outputs = [] if options.output == STANDARD else [Path(options.output)]
    for output in outputs:
        # A device is not overwritten.
        if os.path.isfile(output) and any(_is_same_file(path, output) for path in inputs):
            raise UsageError(f"--output would overwrite an input, {named(str(output))}.")
        check_writable(output)
    return Progress(options.progress)


def _is_same_file(path: str, output: Path) -> bool:
    """Return whether two names, links included, are of one file."""
    with contextlib.suppress(OSError, ValueError):  # reading it reports the error
        return os.path.samefile(0 if path == STANDARD else path, output)
    return False


# ---- Input


def open_file(path: str) -> BinaryIO:
    """Open a file or standard input to read bytes. Raises `ValueError` if that fails."""
    if path != STANDARD:
        return corpus_files.open_file(path)
    if sys.stdin is None:
        raise CommandError("There is no standard input. Name a file.")
    if sys.stdin.isatty():
        print_error("Type or paste a text. End it with Ctrl-D on a line of its own.")
    return corpus_files.unpacked(sys.stdin.buffer)


def read_bytes(path: str, limit: int) -> bytes:
    """Return the bytes of a file or of standard input.

    Raises:
        ValueError: The file cannot be read or has more than `limit` bytes; the message is
            user-facing.
    """
    return corpus_files.read_bytes(path, limit, open_file)


def read_text(path: str, encoding: str | None = None) -> str:
    """Return the text of a file or of standard input, without a byte order mark.

    Raises:
        ValueError: The file is not a text or too large; the message is user-facing.
    """
    return corpus_files.read_whole(path, open_file, encoding)


def load_tokenizer(name: str, options: argparse.Namespace, progress: Progress) -> Tokenizer:
    """Return the tokenizer that ``--tokenizer`` names.

    Raises:
        ValueError: The tokenizer does not exist or is not valid; the message is user-facing.
    """
    if name in catalog.ENTRIES:
        if not download.available(name):
            return api.load(name, progress.print)  # shows the download
        with progress.during(f"Loading {title(name)}"):
            return api.load(name)
    if hub.is_id(name):
        if not download.available(name):
            download.fetch(name, progress.print)
    elif name != STANDARD and not os.path.exists(name):
        raise CommandError(
            f"There is no tokenizer {named(name)}: it is neither a file nor one of "
            f"{', '.join(catalog.ENTRIES)}.{catalog.did_you_mean(name)}"
        )
    with progress.during(f"Loading {named(name)}"):
        files = _tokenizer_files(name)
        tokenizer = formats.parse(files, pattern=options.pattern, expression=options.expression)
        if assumption := formats.assumption(files, pattern=options.pattern):
            # For --json:
            options.assumptions = getattr(options, "assumptions", {}) | {name: assumption}
            progress.print(f"{named(name)}: {assumption}")
    return tokenizer


def note_on(name: str, options: argparse.Namespace) -> dict[str, str]:
    """Return for JSON the note on what is assumed about a loaded tokenizer, or nothing."""
    notes = getattr(options, "assumptions", {})
    return {"note": notes[name]} if name in notes else {}


def title(name: str) -> str:
    """Return the name on screen of the tokenizer that ``--tokenizer`` names."""
    return catalog.title(name) if name in catalog.ENTRIES else named(name)


def _tokenizer_files(name: str) -> Mapping[str, bytes]:
    """Return the files of a tokenizer by name, settings included. Raises `ValueError`."""
    if hub.is_id(name):
        return download.contents(name)
    if name == STANDARD:
        return archive.opened({named(name): read_bytes(name, formats.MAX_FILE)})
    try:
        return api.files_at(name)
    except OSError as error:
        reason = error.strerror or error
        raise CommandError(f"{named(name)} could not be read: {reason}.") from error


def tokenizer_inputs(name: str) -> list[str]:
    """Return the paths that ``--tokenizer`` reads, those of a chat template included."""
    if name == STANDARD:
        return [name]
    if name in catalog.ENTRIES or hub.is_id(name):
        return []
    with contextlib.suppress(OSError, ValueError):  # loading reports the error
        return [*map(str, formats.paths_to_read(Path(name)))]
    return []


def load_chat_template(name: str) -> ChatTemplate:
    """Return the chat template in or beside the tokenizer that ``--tokenizer`` names.

    Raises:
        ValueError: There is none, or its file cannot be read; the message is user-facing.
    """
    if name in catalog.ENTRIES and (shape := catalog.ENTRIES[name].chat) is not None:
        return shape.chat_template
    is_read = name != STANDARD and name not in catalog.ENTRIES
    template = chat_template(_tokenizer_files(name) if is_read else {})
    if template is None:
        raise CommandError(
            f"{named(name)} has no chat template. It would be in {SOURCE} or {SETTINGS} beside "
            "the tokenizer, or in the metadata of a GGUF file."
        )
    return template


# ---- Output


def name_output(options: argparse.Namespace) -> str:
    """Return ``--output`` of a command with binary output, and set it where it is missing.

    Raises:
        UsageError: The option is missing, and standard output is a terminal.
    """
    if options.output is None:
        if sys.stdout is not None and sys.stdout.isatty():
            raise UsageError("Name a file with --output FILE (or - for this terminal).")
        options.output = STANDARD
    return str(options.output)


@dataclass(frozen=True)
class Target:
    """Where a tokenizer is written.

    Attributes:
        output: ``--output``.
        format: The key of the format.
        paths: The path of each file, none for standard output.
    """

    output: str
    format: str
    paths: Sequence[Path]

    @property
    def _folder(self) -> Path | None:
        output = Path(self.output)
        return output if self.paths and self.paths[0] != output else None

    @property
    def outputs(self) -> Sequence[Path]:
        """The paths that are written, or their folder if it does not exist."""
        folder = self._folder
        return self.paths if folder is None or folder.exists() else [folder]

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Write the files of the format. Raises `CommandError`."""
        if not self.paths:
            write_output(STANDARD, *contents.values())
            return
        if self._folder is not None:
            with _write_errors(self._folder):
                self._folder.mkdir(exist_ok=True)
        write_files(dict(zip(self.paths, contents.values(), strict=True)))


def target(options: argparse.Namespace, algorithm: str) -> Target:
    """Return where ``--output`` and ``--format`` write a tokenizer.

    Args:
        options: The arguments.
        algorithm: The trainer, for a suffix of several formats, or "".

    Raises:
        UsageError: The format is not known, or needs a path.
    """
    output, format = name_output(options), options.format
    if output != STANDARD:
        try:
            known, paths = formats.paths_to_save(Path(output), format, algorithm)
        except formats.FormatError as error:
            raise UsageError(f"{error} Or name a format with --format.") from None
        return Target(output, known.key, paths)
    format = format or "huggingface"
    if len(formats.FORMATS[format].files) > 1:
        raise UsageError(f"The format {format} has two files: name a path with --output.")
    return Target(output, format, ())


def as_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def write_output(path: str, content: bytes | str) -> None:
    """Write bytes or a text to a file, as `write_files` does, or to standard output."""
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    if path != STANDARD:
        write_files({Path(path): content})
    elif sys.stdout is None:
        raise CommandError("There is no standard output. Name a file: --output FILE.")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def report(progress: Progress, output: str, result: str) -> None:
    """Print to standard error that a result is written, if progress is shown."""
    where = "standard output" if output == STANDARD else named(output)
    progress.print(f"Written to {where}: {result}.")


def buffered(stream: TextIO) -> TextIO:
    """Return a stream to the same file that writes all of its output or raises an error.

    With ``PYTHONUNBUFFERED=1``, Python ignores that the system writes only a part.
    """
    if isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return open(stream.fileno(), "w", encoding="utf-8", closefd=False)
    return stream


def discard_output() -> None:
    """Discard buffered output; otherwise Python fails to write it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write each file completely, or leave its old contents.

    Raises:
        CommandError: A file cannot be written.
    """
    complete: list[tuple[Path, Path, Path]] = []
    with contextlib.ExitStack() as unfinished:
        for path, content in contents.items():
            with _write_errors(path):
                target = path.resolve()  # replace the target of a link, not the link
                if target.exists() and not target.is_file():
                    target.write_bytes(content)  # a device such as /dev/null
                    continue
                temporary = _temporary(target)
                unfinished.callback(temporary.unlink, missing_ok=True)
                temporary.write_bytes(content)
                if target.exists():
                    temporary.chmod(stat.S_IMODE(target.stat().st_mode))
                complete.append((temporary, target, path))
        for temporary, target, path in complete:
            with _write_errors(path):
                temporary.replace(target)


def check_writable(path: Path) -> None:
    """Raise `CommandError` if a file is not writable; call this before long work."""
    with _write_errors(path):
        target = path.resolve()
        if target.is_dir():
            raise IsADirectoryError
        if not target.exists() or target.is_file():
            temporary = _temporary(target)
            temporary.touch(exist_ok=False)
            temporary.unlink()


def _temporary(target: Path) -> Path:
    return target.with_name(f".bpeviz-{secrets.token_hex(8)}")


@contextlib.contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Convert errors of writing a file to `CommandError`."""
    name = named(str(path))
    try:
        yield
    except BrokenPipeError:
        raise
    except FileNotFoundError:
        raise CommandError(f"{name} cannot be written: there is no such folder.") from None
    except IsADirectoryError:
        raise CommandError(f"{name} cannot be written: it is a folder.") from None
    except (OSError, ValueError, RuntimeError) as error:  # also a NUL in a name, a loop of links
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{name} cannot be written: {reason}.") from error

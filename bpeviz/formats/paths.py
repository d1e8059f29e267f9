"""Which files belong to a path, in saving and in reading, for the library and the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

import regex

from bpeviz.formats.base import HEAD, Format, FormatError, printable_name
from bpeviz.formats.model_settings import SETTINGS_FILES
from bpeviz.formats.recognition import is_companion
from bpeviz.formats.registry import FORMATS, READERS
from bpeviz.libraries.chat_template import FURTHER, SOURCE

FOLDER_FORMAT = "gpt2"
"""The format of a folder, unless another one is named."""


def known_format(key: str) -> Format:
    """Return the format of a key. Raises `FormatError`."""
    if key not in READERS:
        raise FormatError(f"There is no format {key!r}. Known formats: {', '.join(READERS)}.")
    return READERS[key]


def writable() -> str:
    """Return the suffixes and keys of the formats that are written, as a sentence."""
    known = ", ".join(f"{end} ({f.key})" for f in FORMATS.values() for end in f.suffixes)
    return f"Written are {known}, and a folder, a path without a suffix ({FOLDER_FORMAT})"


def paths_to_save(
    path: Path, key: str | None = None, algorithm: str = ""
) -> tuple[Format, list[Path]]:
    """Return the format of a path and the path of each of its files.

    A path is a folder if it exists as one, if it has no suffix, or if the format needs a folder.

    Args:
        path: a file or a folder; it need not exist.
        key: the format, or None to take it from the suffix.
        algorithm: the trainer, for a suffix of several formats.

    Raises:
        FormatError: the key or the suffix is unknown.
    """
    folder = path.is_dir() or (not path.suffix and not path.exists())
    suffix = path.suffix.lower()
    if key is None and not folder:
        formats = [format for format in FORMATS.values() if suffix in format.suffixes]
        formats.sort(key=lambda format: algorithm not in format.algorithms)
        key = formats[0].key if formats else None
        if key is None:
            is_read = any(suffix in format.suffixes for format in READERS.values())
            how = f"{suffix} is read, not written" if is_read else "this suffix has no format"
            raise FormatError(f"{printable_name(path.name)}: {how}. {writable()}.")
    format = known_format(key or FOLDER_FORMAT)
    first, *others = format.files
    if folder or not format.suffixes:
        return format, [path / name for name in format.files]
    return format, [path, *(_beside(path, name.removeprefix(first)) for name in others)]


def paths_to_read(path: Path) -> list[Path]:
    """Return the files of the tokenizer at a path, and the settings of a model beside them.

    Args:
        path: a folder, or one of its files.

    Raises:
        FormatError: the folder does not contain a tokenizer.
    """
    if not path.is_dir():
        groups = chain.from_iterable(_groups({path.name, *_names(path.parent)}))
        group = next((names for names in groups if path.name in names), [path.name])
        return [*map(path.with_name, group), *_settings_in(path.parent)]
    if names := names_to_read(_names(path)) or recognized_names(_heads(path)):
        return [*(path / name for name in names), *_settings_in(path)]
    folders = sorted(
        folder.name
        for folder in path.iterdir()
        if folder.is_dir() and names_to_read(_names(folder))
    )
    if folders:
        raise FormatError(
            f"The folder {printable_name(str(path))} does not contain a tokenizer itself, but "
            f"{printable_name(', '.join(folders))} in it does. Name that folder."
        )
    expected = ", ".join(
        dict.fromkeys(
            " and ".join(f.files if not f.suffixes else f.files[:1])
            for f in (FORMATS | READERS).values()
        )
    )
    raise FormatError(
        f"The folder {printable_name(str(path))} does not contain a tokenizer, such as {expected}."
    )


def _settings_in(folder: Path) -> list[Path]:
    """Return the files with settings and chat templates of a model."""
    files = [folder / name for name in (*SETTINGS_FILES, SOURCE)]
    files += sorted((folder / FURTHER).glob("*.jinja"))
    return [file for file in files if file.is_file()]


_PREFIXED = (("-vocab.json", "-merges.txt"), (".vocab", ".merges.txt"), ("-vocab.txt",))
"""The endings of files after the name of their tokenizer, as `tokenizers` saves them."""


def _names(folder: Path) -> list[str]:
    try:
        return [file.name for file in folder.iterdir() if file.is_file()]
    except OSError:
        return []


def names_to_read(names: Collection[str]) -> list[str]:
    """Return the names of the tokenizer's files in a folder, or an empty list.

    Args:
        names: The names of all files in the folder.
    """
    return next((groups[0] for groups in _groups({*names}) if len(groups) == 1), [])


def _groups(names: set[str]) -> Iterator[list[list[str]]]:
    """Yield by each rule, the surest first, which files in a folder may be a tokenizer."""
    # Formats that are written come first: tokenizer.json before the tokenizer.model beside it.
    for format in (FORMATS | READERS).values():
        for files in (format.files, *format.other_files):
            if names.issuperset(files[:1] if format.suffixes else files):
                yield [[name for name in files if name in names]]
    for endings in _PREFIXED:
        titles = (name.removesuffix(endings[0]) for name in names if name.endswith(endings[0]))
        groups = ([title + ending for ending in endings] for title in titles)
        yield [group for group in groups if names.issuperset(group)]
    # Names of other programs, such as spiece.model.
    for format in READERS.values():
        suffixes = tuple(suffix for suffix in format.suffixes if suffix not in (".json", ".csv"))
        mains = (name for name in names if name.lower().endswith(suffixes))
        yield [[main, *names.intersection([f"{main}.json"])] for main in mains]


def recognized_names(files: Mapping[str, bytes]) -> list[str]:
    """Return the names of the files in a folder that begin as tokenizers, whatever their names.

    Args:
        files: Content, or its beginning, by name.
    """
    return [
        name
        for name, content in sorted(files.items())
        if not is_companion(name)
        and any(format.detect({"": content}) for format in READERS.values())
        and (not _JSON.match(content) or _TOKENIZER_JSON.search(content, endpos=HEAD))
    ]


_JSON = regex.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_TOKENIZER_JSON = regex.compile(rb'"(?:added_tokens|default_num_special_tokens|bpeviz tokenizer)"')


_MANY = 200


def _heads(folder: Path) -> dict[str, bytes]:
    """Return the beginning of each file in a folder, unless there are many."""
    heads = {}
    names = _names(folder)
    for name in names if len(names) <= _MANY else ():
        with suppress(OSError), (folder / name).open("rb") as file:
            heads[name] = file.read(HEAD)
    return heads


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)

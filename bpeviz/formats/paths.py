"""Which files belong to a path, in saving and in reading, for the library and the command line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import regex

from bpeviz.formats.base import HEAD, Format, FormatError, printable_name
from bpeviz.formats.model_settings import SETTINGS_FILES
from bpeviz.formats.recognition import is_companion
from bpeviz.formats.registry import FORMATS, READERS

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
    """Return the files of the tokenizer at a path: of a folder, or of one of its files.

    Raises:
        FormatError: the folder does not contain a tokenizer.
    """
    if path.is_dir():
        if own_names := names_to_read(_names(path)) or recognized_names(_heads(path)):
            return [path / name for name in own_names]
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
            f"The folder {printable_name(str(path))} does not contain a tokenizer, such as "
            f"{expected}."
        )
    for endings in _PREFIXED:
        for ending in endings:
            start = path.name.removesuffix(ending)
            siblings = [path.with_name(f"{start}{ending}") for ending in endings]
            if start != path.name and all(sibling.is_file() for sibling in siblings):
                return [*siblings, *_settings_beside(path)]
    for format in READERS.values():
        if not format.suffixes and format.settings:
            for names in (format.files, *format.other_files):
                siblings = [path.with_name(name) for name in names]
                if path in siblings and all(sibling.is_file() for sibling in siblings):
                    return [*siblings, *_settings_beside(path)]
    for format in FORMATS.values():
        if path.suffix.lower() in format.suffixes:
            first, *others = format.files
            beside = [_beside(path, name.removeprefix(first)) for name in others]
            beside += [path.with_name(name) for name in _settings(path.suffix.lower())]
            return [path, *(file for file in beside if file.is_file())]
    return [path, *(_settings_beside(path) if path.suffix.lower() == ".txt" else ())]


def _settings_beside(path: Path) -> list[Path]:
    """Return the files with settings beside a vocabulary."""
    return [file for name in SETTINGS_FILES if (file := path.with_name(name)).is_file()]


_PREFIXED = (("-vocab.json", "-merges.txt"), (".vocab", ".merges.txt"))
"""The endings of two files after the name of their tokenizer."""


def _settings(suffix: str) -> Collection[str]:
    """Return the names of settings beside files with a suffix."""
    return {
        name for format in READERS.values() if suffix in format.suffixes for name in format.settings
    }


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
    # What is written first: tokenizer.json before the tokenizer.model beside it.
    for format in (FORMATS | READERS).values():
        for files in (format.files, *format.other_files):
            needed = files[:1] if format.suffixes else files
            if all(name in names for name in needed):
                return [name for name in (*files, *format.settings) if name in names]
    # Names with a prefix, as `tokenizers` saves them: mine-vocab.json and mine-merges.txt.
    for of_pair in (*_PREFIXED, ("-vocab.txt",)):
        mains = [name for name in names if name.endswith(of_pair[0])]
        if len(mains) == 1:
            both = [mains[0].removesuffix(of_pair[0]) + ending for ending in of_pair]
            if all(name in names for name in both):
                return [name for name in (*both, *SETTINGS_FILES) if name in names]
    # Names of other programs, such as spiece.model, if only one file may be a tokenizer.
    for format in READERS.values():
        suffixes = tuple(suffix for suffix in format.suffixes if suffix not in (".json", ".csv"))
        vocabularies = [name for name in names if suffixes and name.lower().endswith(suffixes)]
        if len(vocabularies) == 1:
            beside = (f"{vocabularies[0]}.json", *format.settings)
            return [vocabularies[0], *(name for name in beside if name in names)]
    return []


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

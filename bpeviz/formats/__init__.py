"""Tokenizer files of other libraries, written and read exactly.

`dump` writes files from which the format's own library encodes every text to the same ids.
`parse` reads files as data: strictly, within size limits, and with the ids of the file. Both refuse
the rest with a `FormatError` that states the reason and, for a file, the line or the key.

README.md beside this file describes the formats and how to add one.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.archive import unzipped
from bpeviz.formats.base import (
    Format,
    FormatError,
    Source,
    TransientError,
    UnsupportedError,
    has_suffix,
    printable_name,
)
from bpeviz.formats.conversion import converted
from bpeviz.formats.gguf.container import MAGIC
from bpeviz.formats.model_settings import SETTINGS_FILES
from bpeviz.formats.parsing import MAX_FILE
from bpeviz.formats.paths import (
    known_format,
    names_to_read,
    paths_to_read,
    paths_to_save,
    recognized_names,
    writable,
)
from bpeviz.formats.recognition import (
    is_companion,
    is_text_file,
    refuse_known,
    unknown_format,
)
from bpeviz.formats.registry import FORMATS, READERS
from bpeviz.formats.verification import (
    check_written,
    is_sentencepiece,
    refused,
    special_differences,
)
from bpeviz.text import joined, shorten

__all__ = [
    "FORMATS",
    "MAX_FILE",
    "READERS",
    "Format",
    "FormatError",
    "assumption",
    "dump",
    "guesses_pattern",
    "losses",
    "parse",
    "paths_to_read",
    "paths_to_save",
]

_MAX_FILES = 2


def dump(tokenizer: Tokenizer, format: str, *, suggests: bool = False) -> dict[str, bytes]:
    """Return the files of a tokenizer in a format, by name.

    Args:
        tokenizer: the tokenizer.
        format: key of the format.
        suggests: whether a refusal names another format that works, which takes time.

    Raises:
        FormatError: the format is unknown or cannot represent the tokenizer.

    >>> import bpeviz
    >>> tokenizer = bpeviz.train("low lower lowest", vocab_size=258).tokenizer()
    >>> print(dump(tokenizer, "minbpe")["tokenizer.model"].decode().splitlines()[-2:])
    ['108 111', '256 119']
    """
    known = known_format(format)
    if known.write is None:
        raise FormatError(f"{known.title}: this format is read, not written. {writable()}.")
    try:
        try:
            files = known.write(converted(tokenizer, format))
            back = parse(files, format)
        except ValueError as error:  # of the tokenizer, its library, or the file read back
            raise refused(error) from error
        check_written(tokenizer, back, by_line=known.by_line)
        return files
    except UnsupportedError as error:
        other = ""
        if suggests and not isinstance(error, TransientError):
            other = _suggested(tokenizer, format)
        refusal = f"{known.title} cannot represent this tokenizer: {error}.{other}"
        raise FormatError(refusal) from error


def _suggested(tokenizer: Tokenizer, refused: str) -> str:
    """Return which other format can represent a tokenizer, as a sentence after another one."""
    is_busy = False
    for key in dict.fromkeys(("huggingface", "bpeviz", *FORMATS)):
        if key != refused:
            try:
                dump(tokenizer, key)
            except FormatError as error:
                is_busy |= isinstance(error.__cause__, TransientError)
                continue
            holder = next(iter(FORMATS[key].suffixes), "A folder")
            return f" {holder} holds it (--format {key})."
    return "" if is_busy else " No other format holds it, either."


def losses(tokenizer: Tokenizer, files: Mapping[str, bytes], format: str) -> str:
    """Return what files of `dump` do not contain, or apply in another way, as sentences, or ""."""
    around = [*chain(*tokenizer.template)]
    if not around and format != "sentencepiece" and not is_sentencepiece(tokenizer):
        return ""  # without reading the files, which takes long
    back = parse(files, format)
    notes = [special_differences(tokenizer, back)]
    if around and [*chain(*back.template)] != around:
        names = joined([shorten(tokenizer.token_label(i)) for i in dict.fromkeys(around)])
        notes.append(
            f"The file does not contain the template, which adds {names} around each text."
        )
    return " ".join(filter(None, notes))


def parse(
    files: Mapping[str, bytes],
    format: str | None = None,
    *,
    pattern: str = "",
    expression: str = "",
) -> Tokenizer:
    """Return the tokenizer of one file, or of two that belong together.

    Args:
        files: content by file name.
        format: key of the format, or None to detect it from names and contents.
        pattern: pre-tokenization, as in `bpeviz.train`, for files that do not contain it: ranks
            of tiktoken without the second file, CSV merges without the first line, and vocab.json
            with merges.txt.
        expression: regular expression or word list of `pattern`.

    Raises:
        FormatError: the files are not valid, or bpeviz would encode differently.
    """
    name = printable_name(next(iter(files), ""))
    try:
        known, source = _source(files, format, pattern, expression)
        name = printable_name(next(iter(source.files)))
        return known.read(source)
    except UnsupportedError as error:
        raise FormatError(f"{name} is not supported: {error}.") from error
    except MemoryError as error:
        raise FormatError(f"{name} takes more memory than there is.") from error


def assumption(files: Mapping[str, bytes], *, pattern: str = "") -> str:
    """Return what files do not contain and `parse` assumes, as a sentence, or "".

    Raises:
        FormatError: the files are not valid.
    """
    known, source = _source(files, None, pattern, "")
    return "" if known.assumption is None else known.assumption(source)


def guesses_pattern(files: Mapping[str, bytes]) -> bool:
    """Return whether `assumption` is about the pre-tokenization. Raises `FormatError`."""
    return _source(files, None, "", "")[0].guesses_pattern


def _source(
    files: Mapping[str, bytes], format: str | None, pattern: str, expression: str
) -> tuple[Format, Source]:
    """Return the format of files and their checked contents. Raises `FormatError`."""
    if not files:
        raise FormatError("There is no file.")
    last = {name.replace("\\", "/").rsplit("/", 1)[-1]: name for name in files}
    settings = {name: files[last[name]] for name in SETTINGS_FILES if name in last}
    files = _without_companions(files)
    if len(files) > _MAX_FILES:  # before they are unzipped: each may become as large as the limit
        raise unknown_format(files)
    files = {name: unzipped(name, content) for name, content in files.items()}
    for name, content in files.items():
        if len(content) > MAX_FILE and not content.startswith(MAGIC):  # of GGUF, the head suffices
            raise FormatError(
                f"{printable_name(name)} is too large: the limit is {MAX_FILE:,} bytes."
            )
        if not content.strip():
            raise FormatError(f"{printable_name(name)} is empty.")
    known = _detected(files) if format is None else known_format(format)
    name = _tokenizer_name(files)
    return known, Source(name, dict(files), pattern, expression, settings)


def _tokenizer_name(files: Mapping[str, bytes]) -> str:
    shortest = min(files, key=len)
    stem = shortest.replace("\\", "/").rsplit("/", 1)[-1].split(".", 1)[0]
    return shorten(printable_name(stem), 40) or "tokenizer"


def _detected(files: Mapping[str, bytes]) -> Format:
    """Return the format that recognizes files, or whose suffix they have. Raises `FormatError`."""
    for format in READERS.values():
        if format.detect(files):
            return format
    refuse_known(files)
    for format in READERS.values():
        # A .model of minbpe is recognized by its content, and that of SentencePiece is not text.
        if len(files) == 1 and has_suffix(files, *format.suffixes):
            if format.suffixes == (".model",) and is_text_file(*files.values()):
                break
            return format
    raise unknown_format(files)


def _without_companions(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return the files of a tokenizer out of a whole folder.

    Files with settings of a model are left out, and all others beside a tokenizer.json.
    """
    if len(files) < 2:
        return files
    last = {name: name.replace("\\", "/").rsplit("/", 1)[-1] for name in files}
    kept = {name: content for name, content in files.items() if not is_companion(last[name])}
    for name, content in kept.items():
        if last[name] == "tokenizer.json":
            return {name: content}
    if len(kept) > _MAX_FILES:
        chosen = names_to_read([*last.values()]) or recognized_names(
            {last[name]: content for name, content in kept.items()}
        )
        kept = {name: kept[name] for name in kept if last[name] in chosen} or kept
    return kept or dict([*files.items()][:1])  # whose message says what is missing

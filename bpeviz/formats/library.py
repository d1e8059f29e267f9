"""Files that their library reads: every tokenizer.json, and SentencePiece's .model.

Other files without settings of their own are converted to a tokenizer.json first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import regex

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, Source
from bpeviz.formats.model_settings import model_settings
from bpeviz.formats.parsing import MAX_ENTRIES, MAX_ID, error_at
from bpeviz.libraries import worker
from bpeviz.libraries.pool import File, LibraryError
from bpeviz.libraries.tokenizer import LibraryTokenizer


def read_tokenizer_json(name: str, file: str, content: bytes) -> LibraryTokenizer:
    """Return the tokenizer of a tokenizer.json. Raises `FormatError`."""
    return _read(name, file, File(worker.HUGGING_FACE, content))


def read_sentencepiece(
    name: str, file: str, content: bytes, flags: Mapping[int, Sequence[str]] | None = None
) -> LibraryTokenizer:
    """Return the tokenizer of a SentencePiece model. Raises `FormatError`.

    Args:
        name: The name on screen.
        file: The name of the file.
        content: The model.
        flags: Those of special tokens, "lstrip" and "rstrip", which a model does not contain.
    """
    return _read(name, file, File(worker.SENTENCEPIECE, content), flags)


def content_of(tokenizer: Tokenizer, library: str) -> bytes | None:
    """Return the file of a tokenizer if this library applies it, or None."""
    file: File | None = getattr(tokenizer, "file", None)
    is_whole = file is not None and tokenizer.exact_kind == LibraryTokenizer.kind
    return file.content if file is not None and is_whole and file.library == library else None


def _read(
    name: str, title: str, file: File, flags: Mapping[int, Sequence[str]] | None = None
) -> LibraryTokenizer:
    """Load a file in its library, and check its sizes. Raises `FormatError`."""
    try:
        tokenizer = LibraryTokenizer(name, file, flags)
        if (size := tokenizer.info["size"]) > MAX_ENTRIES:
            raise error_at(title, "", f"{size:,} entries exceed the limit of {MAX_ENTRIES:,}")
        largest = tokenizer.vocab_size
        tokenizer.encode("a")  # some files load, and fail at every text
    except LibraryError as error:
        raise error_at(title, "", str(error)) from error
    if largest > MAX_ID:
        raise error_at(title, "", f"the id {largest - 1:,} is too large; the limit is {MAX_ID:,}")
    return tokenizer


# ---- SentencePiece


def _read_sentencepiece(source: Source) -> Tokenizer:
    return read_sentencepiece(source.name, *source.single())


_OTHER_IDS = regex.compile(
    "(?:XLMRoberta|Camembert|MBart|MBart50|Nllb|XGLM|Barthez|M2M100|Pegasus|Marian|Plbart)"
    "Tokenizer(?:Fast)?|xlm-roberta|camembert|mbart|m2m_100|xglm|pegasus|marian|plbart",
    regex.IGNORECASE,
)
"""Classes and types of models that number the pieces of SentencePiece in another way."""


def _assumption(source: Source) -> str:
    """Return how the class of the settings differs from SentencePiece, as a sentence, or ""."""
    settings = model_settings(source.settings)
    if not settings.name:
        return ""
    if _OTHER_IDS.fullmatch(settings.name):
        return (
            f"The tokens are those of {settings.name}, and the ids those of SentencePiece. Only a "
            "tokenizer.json contains the ids of this model."
        )
    return (
        "Ids and decoded texts are those of SentencePiece, which decodes control symbols to "
        f"nothing. In transformers 5.24, {settings.name} decodes them to their names, and may "
        "write other spaces before a text and after special tokens."
    )


def is_sentencepiece(content: bytes) -> bool:
    """Return whether content begins as a SentencePiece model: with a piece of a few bytes.

    Source: `sentencepiece_model.proto`. The first field is a message with a text.
    """
    return (
        len(content) > 4
        and content[0] == content[2] == 0x0A
        and 2 <= content[3] + 2 <= content[1] < 0x80
    )


def _detect_sentencepiece(files: Mapping[str, bytes]) -> bool:
    return len(files) == 1 and is_sentencepiece(next(iter(files.values())))


SENTENCEPIECE = Format(
    key="sentencepiece",
    title="SentencePiece’s .model",
    about="One file with pieces, scores and normalization.",
    files=("tokenizer.model",),
    suffixes=(".model",),
    read=_read_sentencepiece,
    detect=_detect_sentencepiece,
    assumption=_assumption,
)

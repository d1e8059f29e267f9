"""Convert files of other programs, which their library applies, to tokenizers of bpeviz.

These can be written in formats of merges or ranks over bytes, if the file has no more than that.
"""

from __future__ import annotations

from typing import cast

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import FormatError, UnsupportedError
from bpeviz.formats.huggingface import LARGEST_PARSED, bpe
from bpeviz.formats.merges import tokenizer_of
from bpeviz.formats.parsing import parse_json
from bpeviz.libraries.tokenizer import LibraryTokenizer
from bpeviz.libraries.worker import HUGGING_FACE, SENTENCEPIECE

_WITHOUT_CONVERSION = {
    (HUGGING_FACE, "huggingface"),
    (SENTENCEPIECE, "sentencepiece"),
    (SENTENCEPIECE, "huggingface"),
}
"""The libraries of files, with the formats that are written from the file itself."""


def converted(tokenizer: Tokenizer, format: str) -> Tokenizer:
    """Return a tokenizer that a format can write, from one that a library applies, or itself.

    Raises:
        UnsupportedError: the format cannot represent its file.
    """
    if tokenizer.kind != LibraryTokenizer.kind:
        return tokenizer
    if not tokenizer.exact_kind:
        raise UnsupportedError("it has only the first merges of a file")
    opened = cast("LibraryTokenizer", tokenizer)
    library = opened.file.library
    if (library, format) in _WITHOUT_CONVERSION:
        return tokenizer
    kind = opened.info["model"]["type"]
    if library == SENTENCEPIECE and kind == "BPE":
        raise UnsupportedError(
            "SentencePiece writes spaces as ▁ and has characters, which this format cannot say"
        )
    if kind != "BPE":
        raise UnsupportedError(f"its model is {kind}, which does not merge")
    if len(opened.file.content) > LARGEST_PARSED:
        raise UnsupportedError("its file is too large to be converted")
    try:
        document = parse_json("its file", opened.file.content)
        try:
            return tokenizer_of(tokenizer.name, bpe.merges_of_document(document))
        except (FormatError, UnsupportedError):
            if not document["model"]["ignore_merges"].value or format != "tiktoken":
                raise
            return bpe.ranks_of_document(document)
    except ValueError as error:  # of the file, or of its ranks
        raise UnsupportedError(str(error).rstrip(".")) from None

"""Hugging Face's tokenizer.json, as the library `tokenizers` reads and writes it.

Written are its three models: BPE, over bytes or characters, WordPiece, and Unigram. A pre-token of
ours is a pre-token there: a `Split` cuts a text as our expression does, written for Oniguruma, and
over bytes a `ByteLevel` turns bytes into characters. What is written encodes as we do, on every
text, as far as both know the same Unicode; what cannot be made to, is refused.

Special tokens. There, their names are always taken for them, wherever they stand in a text, unless
`tokenizer.encode_special_tokens = True` is set in code; here, only where `encode` is told to allow
them.

Read are files that do exactly what a tokenizer here can do. Over bytes these are others' as well,
with a `ByteLevel`, or one `Split` and a `ByteLevel`, and nothing more that changes ids. For the
rest, a file must say what would be written here for the same tokenizer.
"""

from __future__ import annotations

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.huggingface import bpe, unigram, wordpiece
from bpeviz.formats.huggingface.common import added_tokens
from bpeviz.formats.merges import merges_of
from bpeviz.formats.parsing import Format, FormatError, Keys, as_json, json_of, kind
from bpeviz.formats.remapped_ids import RemappedTokenizer
from bpeviz.trainers.unigram import UnigramTokenizer
from bpeviz.trainers.wordpiece import WordPieceTokenizer

FORMAT = Format(
    "huggingface",
    "Hugging Face’s tokenizer.json",
    "One file with everything, for merges over bytes or characters, WordPiece and Unigram.",
    ("tokenizer.json",),
)


def write(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the file. Raises `CannotError`."""
    inner = tokenizer.inner if isinstance(tokenizer, RemappedTokenizer) else tokenizer
    if isinstance(inner, WordPieceTokenizer):
        document = wordpiece.document(inner, tokenizer)
    elif isinstance(inner, UnigramTokenizer):
        document = unigram.document(inner, tokenizer)
    else:
        document = bpe.document(merges_of(tokenizer))
    return {FORMAT.files[0]: as_json(document, FORMAT.title)}


def read(name: str, files: dict[str, bytes]) -> Tokenizer:
    """Return the tokenizer of the file. Raises `FormatError` and `CannotError`."""
    if len(files) != 1:
        raise FormatError("One file is needed, a tokenizer.json.")
    ((file, content),) = files.items()
    keys = Keys.of(file, "", json_of(file, content))
    keys.expect("version", "1.0", None)
    keys.expect("truncation", None, why="a text is never cut short here")
    keys.expect("padding", None, why="nothing is added to a text here")
    _check_processors(keys)
    model = keys.keys("model")
    special = added_tokens(keys)
    for key in ("normalizer", "pre_tokenizer", "decoder"):
        keys.get(key)
    keys.done()
    # Older files do not name the model where it is BPE.
    of_model = model.get("type", "BPE" if "merges" in model.values else None)
    if of_model == "BPE":
        return bpe.read(name, keys, model, special)
    if of_model == "WordPiece":
        return wordpiece.read(name, keys, model, special)
    if of_model == "Unigram":
        return unigram.read(name, keys, model, special)
    raise model.wrong("type", f"expected BPE, WordPiece or Unigram, not {kind(of_model)}")


def _check_processors(keys: Keys) -> None:
    """Check that what comes behind the model changes no ids of the text itself.

    A template puts special tokens around a text for a model that wants them. The ids of the text
    are those between; a program that asks without them gets these alone.
    """
    harmless = ("ByteLevel", "TemplateProcessing")
    processor = keys.get("post_processor")
    if processor is None:
        return
    one = keys.keys("post_processor")
    steps = [processor]
    if one.get("type") == "Sequence":
        steps = list(one.listed("processors"))
    for step in steps:
        if not isinstance(step, dict) or step.get("type") not in harmless:
            raise keys.wrong(
                "post_processor",
                f"expected null, ByteLevel or TemplateProcessing, not {kind(step)}, which may "
                "change ids",
            )

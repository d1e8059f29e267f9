"""Explain files that are not tokenizers, or that are incomplete."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import regex

from bpeviz.formats.base import FormatError, MissingFileError, printable_name
from bpeviz.formats.library import is_sentencepiece
from bpeviz.formats.parsing import error_at, quoted

COMPANIONS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
    "generation_config.json",
    "chat_template.jinja",
    "chat_template.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
    "processor_config.json",
    "model.safetensors.index.json",
    "params.json",
    "README.md",
)
"""Files beside a tokenizer in a folder of Hugging Face."""


def is_companion(name: str) -> bool:
    """Return whether a file beside a tokenizer has settings or a chat template."""
    return name in COMPANIONS or name.endswith(".jinja")


_CHOOSE = (
    "Choose the tokenizer itself, such as tokenizer.json, tokenizer.model, or vocab.json and "
    "merges.txt"
)
_BESIDE = (
    "The tokenizer.json beside them is missing (or tokenizer.model, or vocab.json and merges.txt)"
)
_WEIGHTS = "these are the weights of a model. Its tokenizer is in another file, which is missing"
_CHAT_TEMPLATE = "this is a chat template. Open it together with the tokenizer of its model"
_DICTIONARY = (
    "this is a dictionary of fairseq, such as PhoBERT’s vocab.txt: tokens with their counts. It "
    "does not contain how a text is split. The codes or the SentencePiece model beside it make the "
    "same tokens, with other ids. Only a tokenizer.json would contain both"
)

# fmt: off
_KINDS: tuple[tuple[bytes, str], ...] = (
    (rb"version https://git-lfs", "this is a pointer of Git LFS, and the file itself is missing. "
     "Download it, or run `git lfs pull`"),
    (rb"\x80|\(dp0", "this looks like a pickle, which is never loaded"),
    (rb"<!doctype html|<html", "this is a web page. Download the file itself, such as by “raw”"),
    (rb"<svg|\x89PNG|\xff\xd8\xff|GIF8|.{8}WEBP", f"this is a picture. {_CHOOSE}"),
    (rb"<\?xml", f"this is XML, such as a picture or the error of a download. {_CHOOSE}"),
    (rb"<error>", "this is the error message of a download. Download the file again"),
    (rb"PK\x03\x04", "this is an archive with other files than a tokenizer"),
    (rb"%PDF", f"this is a PDF. {_CHOOSE}"),
    (rb"\{\\rtf", f"this is a document. {_CHOOSE}"),
    (rb".{4}ftyp", f"this is a video or a picture. {_CHOOSE}"),
    (rb".{257}ustar|BZh|\xfd7zXZ|7z\xbc\xaf|Rar!|\x28\xb5\x2f\xfd",
     "this archive is neither .zip nor .gz. Unpack it, and choose the files in it"),
    (rb"\x89HDF|.{4}TFL3|.{8}\{\"", _WEIGHTS),
    (rb"\x93NUMPY", "this is an array of NumPy, such as weights. The tokenizer is missing"),
    (rb"lmgg", "this model of llama.cpp is older than GGUF. Convert it, or open the "
     "tokenizer.model that it was made of"),
    (rb".{4}\0{4}\x05\0{3}<unk>", "this is the tokenizer.bin of llama2.c: pieces and scores "
     "without the settings of a tokenizer. Open the tokenizer.model that it was made of"),
    (rb"PAR1", f"this is a table in Parquet. {_CHOOSE}"),
    (rb"SQLite format", f"this is a database. {_CHOOSE}"),
    (rb"\x7fELF|MZ", f"this is a program. {_CHOOSE}"),
    (rb"\{[%{#]", _CHAT_TEMPLATE),
    (rb"---\n", f"this is a document, such as a model card. {_CHOOSE}"),
    (rb"# ", f"this is a document, such as a README. {_CHOOSE}"),
    (rb"\xff\xfe|\xfe\xff|(?:[\x01-\x7f]\0){4}", "this is UTF-16; save it as UTF-8"),
    (rb"v3;", "these are codes of OpenNMT’s Tokenizer, which marks joined words and capitals "
     "in its own way. bpeviz does not open them"),
    (rb"(?:[^\t\n]+\t-?[0-9.e-]+\r?\n){2}", "this list of SentencePiece’s pieces is for reading. "
     "The .model beside it is missing"),
    (rb"\[[^\n]*\] 0\r?\n\[[^\n]*\] 1\r?\n", "this vocabulary of minbpe is for reading. The "
     ".model beside it is missing"),
    (rb"(?:---\r?\n)?(?:\"?[^\n{]+\"?: \d+\r?\n){3}", "this is a vocabulary in YAML, such as "
     "Marian’s, with ids only. The SentencePiece model beside it, such as source.spm, makes the "
     "same tokens, with other ids"),
    (rb"\xba\x16\x4f\x2f|(?:\d+ \d+ ?\r?\n)?\S+(?: -?[\d.e-]+){8}(?:[\r\n ]|$)", "these are "
     f"vectors of whole words, such as those of fastText, and not a tokenizer. {_CHOOSE}"),
)
"""Kinds of files by a regular expression for their first bytes, in any case."""

_JSON_KINDS: tuple[tuple[str, str], ...] = (
    ("nbformat", f"this is a notebook of Jupyter. {_CHOOSE}"),
    ("class_name word_index", "this is a tokenizer of Keras, which splits a text into words and "
     "has no subwords. bpeviz does not open it"),
    ("peft_type base_model_name_or_path", "these are settings of an adapter, such as LoRA. Open "
     "the tokenizer of its base model"),
    ("log_history best_model_checkpoint", f"this is the log of a training. {_CHOOSE}"),
    ("_class_name", "these are settings of a model for pictures. Its folder tokenizer contains the "
     "tokenizer"),
    ("unk_id", "these are pieces of Unigram without the settings of a tokenizer. Save the whole "
     "tokenizer as tokenizer.json"),
    ("weight_map", "this lists the weights of a model. Its tokenizer is missing"),
    ("tokenizer_class model_type architectures transformers_version model_max_length n_layers "
     "hidden_size bos_token eos_token unk_token pad_token cls_token bos_token_id",
     f"these are settings. {_BESIDE}"),
    ("feature_extractor_type image_processor_type processor_class", "these are settings for "
     "pictures or sound. The tokenizer.json beside them is missing"),
    ("chat_template", _CHAT_TEMPLATE),
)
"""Kinds of JSON files by the keys of which one is present."""
# fmt: on

_COMPILED = [(regex.compile(b"(?si:" + start + b")"), reason) for start, reason in _KINDS]
_COUNTED = regex.compile(rb"(?:\S+ (\d+)\r?\n){3,}")
_MERGES = regex.compile(rb"(?:[^\s\d]+ [^\s\d]+\r?\n){2}")
_WORDS = regex.compile(rb"(?:[^\s]+\r?\n){3}")
_MESSAGE = regex.compile(
    rb"(?i)404|Entry not found|Not found|Repository not found|Access (?:denied|to )|Invalid user|"
    rb"Unauthorized|Forbidden"
)

_LARGEST_SETTINGS = 20_000_000
"""Bytes of a JSON file up to which its kind is explained."""


def explain(files: Mapping[str, bytes]) -> None:
    """Raise `FormatError` for contents that are known, but not a tokenizer."""
    for name, content in files.items():
        start = _start(content)
        for kind, reason in _COMPILED:
            if kind.match(start) or kind.match(content[:300]):
                raise error_at(name, "", reason)
        if (pairs := _COUNTED.match(start)) is not None:
            counts = [*map(int, pairs.captures(1))]
            if counts == sorted(counts, reverse=True):  # ranks rise
                raise error_at(name, "", _DICTIONARY)
        if len(files) == 1 and start.startswith((b"{", b'"{')):
            _explain_json(name, content)


def _start(content: bytes) -> bytes:
    return content[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n")


def unknown_format(files: Mapping[str, bytes]) -> FormatError:
    """Return the error for files in no known format; the message says what they contain."""
    if len(files) > 1:
        models = [*map(printable_name, filter(lambda name: is_sentencepiece(files[name]), files))]
        if len(models) > 1:
            return FormatError(
                f"{' and '.join(models)}: these are several models of SentencePiece, such as "
                "Marian’s for two languages. Choose one of them. Its tokens are those of the "
                "model, and its ids those of SentencePiece."
            )
        if len(files) > 2:
            return FormatError(f"{len(files)} files are too many: a tokenizer has one or two.")
        names = " and ".join(map(printable_name, files))
        return FormatError(f"{names}: these files do not belong together. {_CHOOSE}.")
    ((name, content),) = files.items()
    start = _start(content)
    if _MESSAGE.match(start) and len(content) < 2_000:
        return error_at(name, "", _failed_download(_first_line(start)))
    if _MERGES.match(start):
        return MissingFileError(
            f"{printable_name(name)} is a list of merges without ids. Open it together with its "
            "vocab.json."
        )
    if _WORDS.match(start):
        return error_at(
            name,
            "",
            "this is a list of words or pieces without the settings of a tokenizer. bpeviz opens "
            "the vocab.txt of BERT, which contains [UNK]",
        )
    is_text = is_text_file(content)
    contents = f"text that begins with {quoted(_first_line(content))}" if is_text else "binary data"
    if is_text and name.lower().endswith(".model"):
        contents += ". A .model of SentencePiece is binary, and minbpe’s begins with “minbpe v1”"
    return error_at(name, "", f"unknown format: {contents}. {_CHOOSE}")


def _failed_download(message: str) -> str:
    return f"this is the error message of a download: {quoted(message)}. Download the file again"


def is_text_file(content: bytes) -> bool:
    """Return whether a file of an unknown kind begins as text."""
    try:
        text = content[:200].decode("utf-8", "strict" if len(content) <= 200 else "ignore")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and len(text.encode()) > 150 * (len(content) > 200)


def _first_line(content: bytes) -> str:
    lines = content[:200].decode("utf-8-sig", "ignore").strip().splitlines()
    return lines[0] if lines else ""


def explain_archive(archive: str, names: Collection[str]) -> None:
    """Raise `FormatError` for a .zip of a known kind that does not contain a tokenizer.

    Args:
        archive: The name of the .zip.
        names: The names in it, with folders.
    """
    if any(name.endswith("data.pkl") for name in names):
        raise error_at(archive, "", _WEIGHTS)
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise error_at(archive, "", f"this is a document. {_CHOOSE}")
    if names and all(name.endswith((".npy", ".h5")) for name in names):
        raise error_at(archive, "", _WEIGHTS)


def _explain_json(file: str, content: bytes) -> None:
    """Raise `FormatError` for a JSON file that is not a tokenizer.json, if its kind is known.

    The file is parsed leniently: a tokenizer_config.json may contain a number of 31 digits.
    """
    try:
        is_small = len(content) <= _LARGEST_SETTINGS
        value: Any = json.loads(content.decode("utf-8-sig")) if is_small else None
        if isinstance(value, str) and value.startswith("{"):  # JSON in JSON, as some write Keras'
            value = json.loads(value)
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict) or isinstance(value.get("model"), dict | list):
        return
    ids = [number for number in value.values() if type(number) is int]
    if len(ids) == len(value) > 0 and not {"n_layers", "eos_token_id"} & value.keys():
        if min(ids) > len(ids):
            raise error_at(file, "", f"these are added tokens only. {_BESIDE}")
        if any("▁" in name for name in value):
            raise error_at(
                file,
                "",
                "these are pieces of SentencePiece with the ids of a model, such as Marian’s. The "
                "model of SentencePiece is missing, such as source.spm or sentencepiece.bpe.model. "
                "It makes the same tokens, with other ids",
            )
        raise MissingFileError(
            f"{printable_name(file)} is a vocabulary without merges. It needs its merges.txt."
        )
    if "pat_str" in value:
        raise MissingFileError(
            f"{printable_name(file)} contains the pattern and the special tokens for ranks. Open "
            "it together with its .tiktoken file."
        )
    for keys, reason in _JSON_KINDS:
        if not value.keys().isdisjoint(keys.split()):
            raise error_at(file, "", reason)
    if isinstance(message := value.get("error"), str):
        raise error_at(file, "", _failed_download(message))


def with_reason(error: FormatError, file: str, content: bytes) -> FormatError:
    """Return the error for JSON that is not valid; for a file that is cut off, with that reason."""
    if "not valid JSON" not in str(error) or content.rstrip().endswith((b"}", b"]")):
        return error
    return FormatError(f"{str(error).rstrip('.')}: the file ends too early. Download it again.")

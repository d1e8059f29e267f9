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
"""Files beside a tokenizer in a folder of Hugging Face; none is needed for ids."""

_CHOOSE = (
    "Choose the tokenizer itself, such as tokenizer.json, tokenizer.model, or vocab.json and "
    "merges.txt"
)
_WEB_PAGE = "this is a web page. Download the file itself, for example by “raw”"
_PICTURE = f"this is a picture. {_CHOOSE}"
_WEIGHTS = "these are the weights of a model. Its tokenizer is in another file, which is missing"
_ARCHIVE = "this archive is neither .zip nor .gz. Unpack it, and choose the files in it"
_PICKLE = "this looks like a pickle, which is never loaded"
_VECTORS = "these are vectors of whole words, such as those of fastText, and not a tokenizer"
_DICTIONARY = (
    "this is a dictionary of fairseq, such as PhoBERT’s vocab.txt: tokens with their counts. It "
    "does not contain how a text is split. The codes or the SentencePiece model beside it make the "
    "same tokens, with other ids. Only a tokenizer.json would contain both"
)
_YAML = (
    "this is a vocabulary in YAML, such as Marian’s, with ids only. The SentencePiece model beside "
    "it, such as source.spm, makes the same tokens, with other ids"
)
_CHAT_TEMPLATE = "this is a chat template. Open it together with the tokenizer of its model"
_PROGRAM = f"this is a program. {_CHOOSE}"

_STARTS: tuple[tuple[int, bytes, str], ...] = (
    (
        0,
        b"version https://git-lfs",
        "this is a pointer of Git LFS, and the file itself is missing. Download it, or run "
        "`git lfs pull`",
    ),
    (0, b"\x80", _PICKLE),
    (0, b"(dp0", _PICKLE),
    (0, b"<!doctype html", _WEB_PAGE),
    (0, b"<html", _WEB_PAGE),
    (0, b"<svg", _PICTURE),
    (0, b"<?xml", f"this is XML, such as a picture or the error of a download. {_CHOOSE}"),
    (0, b"<error>", "this is the error message of a download. Download the file again"),
    (0, b"PK\x03\x04", "this is an archive with other files than a tokenizer"),
    (0, b"%PDF", f"this is a PDF. {_CHOOSE}"),
    (0, b"{\\rtf", f"this is a document. {_CHOOSE}"),
    (0, b"\x89PNG", _PICTURE),
    (0, b"\xff\xd8\xff", _PICTURE),
    (0, b"GIF8", _PICTURE),
    (8, b"WEBP", _PICTURE),
    (4, b"ftyp", f"this is a video or a picture. {_CHOOSE}"),
    (257, b"ustar", _ARCHIVE),
    (0, b"BZh", _ARCHIVE),
    (0, b"\xfd7zXZ", _ARCHIVE),
    (0, b"7z\xbc\xaf", _ARCHIVE),
    (0, b"Rar!", _ARCHIVE),
    (0, b"\x28\xb5\x2f\xfd", _ARCHIVE),
    (0, b"\xba\x16\x4f\x2f", f"{_VECTORS}. {_CHOOSE}"),
    (0, b"\x89HDF", _WEIGHTS),
    (4, b"TFL3", _WEIGHTS),
    (0, b"\x93NUMPY", "this is an array of NumPy, such as weights. The tokenizer is missing"),
    (
        0,
        b"lmgg",
        "this model of llama.cpp is older than GGUF. Convert it, or open the tokenizer.model that "
        "it was made of",
    ),
    (0, b"PAR1", f"this is a table in Parquet. {_CHOOSE}"),
    (0, b"SQLite format", f"this is a database. {_CHOOSE}"),
    (0, b"\x7fELF", _PROGRAM),
    (0, b"MZ", _PROGRAM),
    (0, b"{%", _CHAT_TEMPLATE),
    (0, b"{{", _CHAT_TEMPLATE),
    (0, b"{#", _CHAT_TEMPLATE),
    (0, b"---\n", f"this is a document, such as a model card. {_CHOOSE}"),
    (0, b"# ", f"this is a document, such as a README. {_CHOOSE}"),
)
"""Kinds of files by the bytes at a place, in any case."""

_PIECES = regex.compile(rb"(?:[^\t\n]+\t-?[0-9.e-]+\r?\n){2}")
_MINBPE_VOCABULARY = regex.compile(rb"\[[^\n]*\] 0\r?\n\[[^\n]*\] 1\r?\n")
_WORD_VECTORS = regex.compile(rb"(?:\d+ \d+ ?\r?\n)?\S+(?: -?[\d.e-]+){8}(?:[\r\n ]|$)")
_COUNTED = regex.compile(rb"(?:\S+ (\d+)\r?\n){3,}")
_YAML_IDS = regex.compile(rb"(?:---\r?\n)?(?:\"?[^\n{]+\"?: \d+\r?\n){3}")
_MERGES = regex.compile(rb"(?:[^\s\d]+ [^\s\d]+\r?\n){2}")
_WORDS = regex.compile(rb"(?:[^\s]+\r?\n){3}")
_MESSAGE = regex.compile(
    rb"(?:404|Entry not found|Not found|Repository not found|Access (?:denied|to )|Invalid user|"
    rb"Unauthorized|Forbidden)",
    regex.IGNORECASE,
)
_UTF_16 = regex.compile(rb"\xff\xfe|\xfe\xff|(?:[\x01-\x7f]\0){4}")
_SAFETENSORS = regex.compile(rb"^.{8}\{\"", regex.DOTALL)

_LARGEST_SETTINGS = 20_000_000
"""Bytes of a JSON file up to which its kind is explained."""


def explain(files: Mapping[str, bytes]) -> None:
    """Raise `FormatError` for contents that are known, but not a tokenizer."""
    for name, content in files.items():
        start = content[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n")
        for at, known, reason in _STARTS:
            if start[at : at + len(known)].lower() == known.lower():
                raise error_at(name, "", reason)
        if _SAFETENSORS.match(content[:20]):
            raise error_at(name, "", _WEIGHTS)
        if _UTF_16.match(content):
            raise error_at(name, "", "this is UTF-16; save it as UTF-8")
        if _PIECES.match(start):
            raise error_at(
                name,
                "",
                "this list of SentencePiece’s pieces is for reading. The .model beside it is "
                "missing",
            )
        if _MINBPE_VOCABULARY.match(start):
            raise error_at(
                name,
                "",
                "this vocabulary of minbpe is for reading. The .model beside it is missing",
            )
        if _YAML_IDS.match(start):
            raise error_at(name, "", _YAML)
        if (found := _COUNTED.match(start)) is not None:
            counts = [*map(int, found.captures(1))]
            if counts == sorted(counts, reverse=True):  # ranks rise
                raise error_at(name, "", _DICTIONARY)
        if _WORD_VECTORS.match(start):
            raise error_at(name, "", f"{_VECTORS}. {_CHOOSE}")
        if len(files) == 1 and start.startswith((b"{", b'"{')):
            _explain_json(name, content)


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
    start = content[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n")
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
            "the vocab.txt of BERT, which contains [UNK] and pieces with ##",
        )
    return error_at(name, "", f"unknown format: {_description(content)}. {_CHOOSE}")


def _failed_download(message: str) -> str:
    return f"this is the error message of a download: {quoted(message)}. Download the file again"


def _description(content: bytes) -> str:
    """Return what a file of an unknown kind contains, for a message."""
    try:
        text = content[:200].decode("utf-8", "strict" if len(content) <= 200 else "ignore")
        is_text = "\0" not in text and len(text.encode()) > 150 * (len(content) > 200)
    except UnicodeDecodeError:
        is_text = False
    return f"text that begins with {quoted(_first_line(content))}" if is_text else "binary data"


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


_MODEL_KEYS = (
    "tokenizer_class",
    "model_type",
    "architectures",
    "transformers_version",
    "model_max_length",
    "n_layers",
    "hidden_size",
)
_TOKEN_KEYS = ("bos_token", "eos_token", "unk_token", "pad_token", "cls_token", "bos_token_id")

_BESIDE = (
    "The tokenizer.json beside them is missing (or tokenizer.model, or vocab.json and merges.txt)"
)

_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("nbformat",), f"this is a notebook of Jupyter. {_CHOOSE}"),
    (
        ("class_name", "word_index"),
        "this is a tokenizer of Keras, which splits a text into words and has no subwords. bpeviz "
        "does not open it",
    ),
    (
        ("peft_type", "base_model_name_or_path"),
        "these are settings of an adapter, such as LoRA. Open the tokenizer of its base model",
    ),
    (("log_history", "best_model_checkpoint"), f"this is the log of a training. {_CHOOSE}"),
    (
        ("_class_name",),
        "these are settings of a model for pictures. Its folder tokenizer contains the tokenizer",
    ),
    (
        ("unk_id",),
        "these are pieces of Unigram without the settings of a tokenizer. Save the whole "
        "tokenizer as tokenizer.json",
    ),
    (("weight_map",), "this lists the weights of a model. Its tokenizer is missing"),
    (
        (*_MODEL_KEYS, *_TOKEN_KEYS),
        f"these are settings. {_BESIDE}",
    ),
    (
        ("feature_extractor_type", "image_processor_type", "processor_class"),
        "these are settings for pictures or sound. The tokenizer.json beside them is missing",
    ),
    (("chat_template",), _CHAT_TEMPLATE),
)
"""Kinds of JSON files by the keys of which one is present."""


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
    ids = [one for one in value.values() if type(one) is int]
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
    for keys, reason in _KINDS:
        if any(key in value for key in keys):
            raise error_at(file, "", reason)
    if isinstance(message := value.get("error"), str):
        raise error_at(file, "", _failed_download(message))


def with_reason(error: FormatError, file: str, content: bytes) -> FormatError:
    """Return the error for JSON that is not valid; for a file that is cut off, with that reason."""
    if "not valid JSON" not in str(error) or content.rstrip().endswith((b"}", b"]")):
        return error
    return FormatError(f"{str(error).rstrip('.')}: the file ends too early. Download it again.")

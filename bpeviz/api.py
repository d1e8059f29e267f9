"""The doors of the library: `train`, `load`, `save` and `read`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.formats import FORMATS, MAX_FILE, FormatError
from bpeviz.pretrained.rank_tokenizer import load
from bpeviz.trainers import TRAINERS, Corpus

__all__ = ["load", "read", "save", "train"]

_BY_SUFFIX = {".json": "huggingface", ".tiktoken": "tiktoken", ".model": "minbpe", ".csv": "csv"}


def train(
    text: Corpus,
    algorithm: str = "bpe",
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    **options: Any,
) -> Training:
    """Learn a tokenizer from a text, or from a mapping of pre-tokens to how often each comes.

    algorithm: a key of `bpeviz.trainers.TRAINERS`; `options` are those of that trainer (see its
        `train`, for "bpe" `bpeviz.trainers.bpe.train`).
    vocab_size or merges: how far to go. `vocab_size` counts atoms (bytes or characters) and what
        is learnt, but no special tokens.
    pattern: how the text is split first, a key of `bpeviz.pretokenizers.patterns.PATTERNS`, or "regex" with
        a regular expression, or "list" with words, of your own in `expression`.
    special_tokens: names that get the ids after all others.

    Raises `ValueError` with a sentence where a value makes no sense.
    """
    trainer = TRAINERS.get(algorithm)
    if trainer is None:
        raise ValueError(f"There is no algorithm {algorithm!r}. Known: {', '.join(TRAINERS)}.")
    known = {option.name for option in trainer.options}
    if unknown := set(options) - known:
        raise ValueError(
            f"{trainer.title} has no option {', '.join(sorted(unknown))}. "
            f"It has: {', '.join(sorted(known))}."
        )
    return trainer.train(
        text,
        vocab_size=vocab_size,
        merges=merges,
        pattern=pattern,
        expression=expression,
        special_tokens=special_tokens,
        **options,
    )


def save(tokenizer: Tokenizer, path: str | Path, format: str | None = None) -> list[Path]:
    """Write a tokenizer to a file, or to a folder, and return what was written.

    format: a key of `bpeviz.formats.FORMATS`. If None, the path tells: `.json` is Hugging Face's
        tokenizer.json, `.tiktoken` tiktoken's ranks (with a second file, `.tiktoken.json`),
        `.model` minbpe's, `.csv` merges; a path without any of these is a folder for GPT-2's
        vocab.json and merges.txt. Into a folder that is there, or a path without such an ending,
        files go under the format's own names.

    Raises `FormatError`, whose message is a sentence, where the format cannot hold the tokenizer.

    >>> import tempfile
    >>> tokenizer = train("low lower lowest", vocab_size=258).tokenizer()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = save(tokenizer, Path(folder) / "low.model")
    ...     [path.name for path in written], read(written[0]).encode("lowest")
    (['low.model'], [257, 101, 115, 116])
    """
    path = Path(path)
    into_folder = path.suffix not in _BY_SUFFIX or path.is_dir()
    if format is None:
        format = "gpt2" if into_folder else _BY_SUFFIX[path.suffix]
    files = formats.dump(tokenizer, format)
    if into_folder:
        path.mkdir(parents=True, exist_ok=True)
        paths = {path / name: content for name, content in files.items()}
    elif format == "gpt2":
        names = " and ".join(files)
        raise FormatError(f"{FORMATS[format].title} are two files, {names}: name a folder.")
    else:
        first = FORMATS[format].files[0]
        paths = {
            path.with_name(path.name + name.removeprefix(first)): content
            for name, content in files.items()
        }
    for one, content in paths.items():
        one.write_bytes(content)
    return [*paths]


def read(
    path: str | Path, format: str | None = None, *, pattern: str = "", expression: str = ""
) -> Tokenizer:
    """Read a tokenizer from a file or a folder, in any format that `save` writes.

    format: found from the name and the content where it is None.
    pattern, expression: how a text is split, as in `train`, for a file that does not say so: ranks
        of tiktoken's alone, and merges as CSV without their first line.

    Raises `FormatError`, whose message is a sentence that tells the line or the key; and `OSError`.
    """
    path = Path(path)
    paths = [path]
    if path.is_dir():
        sets = (("tokenizer.json",), ("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
        found = (names for names in sets if all((path / name).is_file() for name in names))
        names = next(found, None)
        if names is None:
            raise FormatError(
                f"{path} is a folder without a tokenizer.json, and without a vocab.json and a "
                "merges.txt."
            )
        paths = [path / name for name in names]
    elif path.suffix == ".tiktoken":
        paths += (one for one in [path.with_name(path.name + ".json")] if one.is_file())
    files = {}
    for one in paths:
        with one.open("rb") as file:
            # Not by its size: what is no file, as a pipe, has none.
            files[one.name] = file.read(MAX_FILE + 1)
        if len(files[one.name]) > MAX_FILE:
            raise FormatError(f"{one.name} is too large: at most {MAX_FILE:,} bytes are taken.")
    return formats.parse(files, format, pattern=pattern, expression=expression)

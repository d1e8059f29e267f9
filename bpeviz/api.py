"""The public functions of the library: `train`, `load`, `save` and `read`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents
from bpeviz.formats import MAX_FILE, archive
from bpeviz.formats.gguf.container import MAGIC
from bpeviz.pretrained import catalog, download, rank_tokenizer
from bpeviz.trainers import TRAINERS, Corpus

if TYPE_CHECKING:
    from bpeviz.core.boundaries import MergeBoundaries
    from bpeviz.core.merges import MergeTokenizer
    from bpeviz.core.training import MergeTraining

    class BpeTraining(MergeTraining):
        """The type of trainings by BPE but with `encode` or `threshold`: no boundary comes back."""

        def tokenizer(self, vocab_size: int | None = None) -> MergeTokenizer: ...

        def at_step(self, step: int) -> MergeTokenizer: ...

        def boundaries(self, text: str | Documents) -> MergeBoundaries: ...


__all__ = ["load", "read", "save", "train"]

Texts = Corpus | Iterable[str]
"""A text, documents, or counts of documents or pre-tokens."""

Merging = Literal["wordpiece", "sentencepiece", "scaffold", "superbpe", "multilingual", "parity"]
"""The algorithms that merge, for type checkers."""


@overload
def train(text: Texts, algorithm: Literal["bpe"] = "bpe", **options: Any) -> BpeTraining: ...
@overload
def train(text: Texts, algorithm: Merging, **options: Any) -> MergeTraining: ...
@overload
def train(text: Texts, algorithm: str, **options: Any) -> Training: ...
def train(
    text: Texts,
    algorithm: str = "bpe",
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    split_at_special: bool = True,
    **options: Any,
) -> Training:
    """Train a tokenizer on a text, on a list of documents, or on a mapping of texts to counts.

    Documents are split one by one, so no token crosses from one into the next.

    Args:
        text: the text, the documents, or the counts of documents or pre-tokens.
        algorithm: a key of `bpeviz.trainers.TRAINERS`.
        vocab_size: size of the vocabulary: atoms (bytes or characters) and trained tokens, without
            special tokens.
        merges: number of merges, instead of `vocab_size`.
        pattern: the pre-tokenization: a key of `bpeviz.pretokenizers.patterns.PATTERNS`, "regex"
            or "list".
        expression: the regular expression or the word list of the last two.
        special_tokens: names that get the ids after all others.
        split_at_special: whether to split the text at these names, and at those of the algorithm
            such as [SEP], before it is counted, so that no merge touches them. Otherwise they are
            plain text in it, as in Hugging Face's trainers.
        **options: options of the trainer, such as those of `trainers.bpe_training.BpeOptions`.

    Raises:
        ValueError: a value is not valid.
    """
    trainer = TRAINERS.get(algorithm)
    if trainer is None:
        raise ValueError(f"There is no algorithm {algorithm!r}. Known: {', '.join(TRAINERS)}.")
    if isinstance(text, Iterable) and not isinstance(text, str | Mapping):
        text = Documents(tuple(text))
    training = trainer(
        text,
        vocab_size=vocab_size,
        merges=merges,
        pattern=pattern,
        expression=expression,
        special_tokens=special_tokens,
        split_at_special=split_at_special,
        **options,
    )
    if not isinstance(text, str):
        return training
    return replace(training, training_text=text, training_options=options)


_FILES = tuple(suffix for format in formats.READERS.values() for suffix in format.suffixes)


def load(name: str, report: Callable[[str], None] | None = None) -> Tokenizer:
    """Return a published tokenizer.

    Missing files are downloaded first, within time limits.

    Args:
        name: a key of `bpeviz.pretrained.catalog.ENTRIES`, such as "gpt2" or "llama_3"; or a model
            on Hugging Face, as "hf:owner/name" or "hf:owner/name@revision".
        report: called with a message before each step that can take time.

    Raises:
        ValueError: the name is unknown, or bpeviz cannot read the files.
        VocabularyUnavailable: the files could not be downloaded.
    """
    if not isinstance(name, str):
        raise ValueError(f"Give the name of a published tokenizer, such as 'gpt2', not {name!r}.")
    if name.lower().endswith(_FILES) and not name.startswith("hf:"):
        raise ValueError(f"{name!r} is a file: open it with bpeviz.read({name!r}).")
    if name in catalog.NAMES:
        return rank_tokenizer.load(name, report)
    if not download.available(name):
        download.fetch(name, report)
    return _parsed(name)


@lru_cache(maxsize=8)
def _parsed(name: str) -> Tokenizer:
    entry = catalog.ENTRIES.get(name)
    if entry is not None and entry.pattern:
        return rank_tokenizer.from_entry(name)
    return formats.parse(download.contents(name))


def save(tokenizer: Tokenizer, path: str | Path, format: str | None = None) -> list[Path]:
    """Write a tokenizer to a file or a folder, and return the paths of the written files.

    A path without a suffix, or of an existing folder, is a folder. So is any path in the format
    "gpt2". The files in a folder have the names of the format.

    Args:
        tokenizer: the tokenizer.
        path: the file or folder.
        format: a key of `bpeviz.formats.FORMATS`. If None, the suffix selects it: `.json` is
            Hugging Face's tokenizer.json, `.tiktoken` tiktoken's ranks (with a second file),
            `.model` SentencePiece's for its trainer and Unigram, else minbpe's, `.csv` merges as
            CSV, `.bpeviz` bpeviz's own; a folder is GPT-2's vocab.json and merges.txt.
            minbpe encodes with the pattern of its constructor, whatever the file contains. Make
            `RegexTokenizer(pattern)` with the second line of the file before `load`, or
            `BasicTokenizer()` if that line is empty.

    Raises:
        FormatError: the suffix is unknown, or the format cannot represent the tokenizer.
        OSError: a file cannot be written.

    >>> import tempfile
    >>> tokenizer = train("low lower lowest", vocab_size=258).tokenizer()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = save(tokenizer, Path(folder) / "low.model")
    ...     [path.name for path in written], read(written[0]).encode("lowest")
    (['low.model'], [257, 101, 115, 116])
    """
    known, paths = formats.paths_to_save(Path(path), format, tokenizer.name)
    contents = formats.dump(tokenizer, known.key, suggests=True)
    if paths[0] != Path(path):
        Path(path).mkdir(parents=True, exist_ok=True)
    for target, content in zip(paths, contents.values(), strict=True):
        target.write_bytes(content)
    return paths


def read(
    path: str | Path, format: str | None = None, *, pattern: str = "", expression: str = ""
) -> Tokenizer:
    """Read a tokenizer from a file or a folder, in any format of `bpeviz.formats.READERS`.

    If the tokenizer has two files, the path of one of them suffices, or that of their folder.

    Args:
        path: the file or folder, or a .zip of them.
        format: a key of `bpeviz.formats.READERS`, or None to detect it.
        pattern: the pre-tokenization, as in `train`, for files that do not contain it: ranks of
            tiktoken without the second file, CSV merges without the first line, and vocab.json with
            merges.txt.
        expression: the regular expression or the word list of `pattern`.

    Raises:
        FormatError: the file is not valid or not supported; the message names the line or key.
        OSError: a file cannot be read.
    """
    return formats.parse(files_at(path), format, pattern=pattern, expression=expression)


def files_at(path: str | Path) -> Mapping[str, bytes]:
    """Return the files of the tokenizer at a path by name, unpacked from a .zip.

    Raises:
        FormatError: a folder does not contain a tokenizer, or a .zip is damaged.
        OSError: a file cannot be read.
    """
    files = {}
    for member in formats.paths_to_read(Path(path)):
        with member.open("rb") as file:
            files[member.name] = file.read(MAX_FILE + 1)  # `parse` refuses a larger one
        if files[member.name].startswith((MAGIC, b"PK")):  # it contains its settings
            return archive.opened({member.name: files[member.name]})
    return files

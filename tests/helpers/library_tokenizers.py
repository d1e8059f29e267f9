"""Small tokenizers that other libraries train on the samples, of each kind that files contain."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from helpers.difficult import DIFFICULT
from helpers.library_files import LINES, sentencepiece_model

ByteLevel = pre_tokenizers.ByteLevel
END = "<|end|>"
CORPUS = [*LINES, *DIFFICULT]
LLAMA = (  # the split of Llama 3's tokenizer.json, which is cl100k's as it was once
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
UNKNOWN = {"unk_token": "<unk>"}
ALL = "huggingface gpt2 tiktoken csv bpeviz"
FEW: Mapping[str, Any] = {"limit_alphabet": 150}


def special(name: str, **flags: bool) -> AddedToken:
    """Return a special token, as the files of models have them."""
    return AddedToken(name, special=True, **{"normalized": False, **flags})


def trained(
    model: Any,
    pre_tokenizer: Any = None,
    *,
    added: Sequence[AddedToken | str] = (),
    options: Mapping[str, Any] = {},
    **parts: Any,
) -> Tokenizer:
    """Return a tokenizer trained on the samples.

    Args:
        model: a model without entries.
        pre_tokenizer: its pre-tokenizer.
        added: tokens that are added after the training.
        options: further options of the trainer.
        parts: normalizer, decoder and post-processor.
    """
    made = Tokenizer(model)
    parts["pre_tokenizer"] = pre_tokenizer
    kind = type(model).__name__.replace("BPE", "Bpe")
    trainer = getattr(trainers, f"{kind}Trainer")
    unknown = getattr(model, "unk_token", None)
    settings: dict[str, Any] = {"vocab_size": 700, "show_progress": False}
    settings["special_tokens"] = [unknown] if unknown else []
    if kind == "Unigram":
        settings |= {"unk_token": "<unk>", "special_tokens": ["<unk>"], "vocab_size": 1_500}
    for name, part in parts.items():
        if part is not None and name != "post_processor":
            setattr(made, name, part)
    made.train_from_iterator(CORPUS, trainer(**settings | options))
    made.add_tokens([*added])
    if "post_processor" in parts:
        made.post_processor = parts["post_processor"]
    return made


def over_bytes(pre_tokenizer: Any = None, **more: Any) -> Tokenizer:
    """Return merges over all 256 bytes."""
    made = {"decoder": decoders.ByteLevel(), "added": [special(END)], **more}
    options = {"initial_alphabet": ByteLevel.alphabet(), **made.pop("options", {})}
    model = models.BPE(**made.pop("model", {}))
    return trained(model, pre_tokenizer or ByteLevel(False), options=options, **made)


def split_over_bytes(*splits: Any, **more: Any) -> Tokenizer:
    level = ByteLevel(add_prefix_space=False, use_regex=False)
    return over_bytes(pre_tokenizers.Sequence([*splits, level]), **more)


def split(expression: str, behavior: str = "isolated", **more: bool) -> Any:
    return pre_tokenizers.Split(Regex(expression), behavior, **more)


def changed(made: Tokenizer, change: Callable[[dict[str, Any]], object]) -> Tokenizer:
    """Return a tokenizer with a changed file."""
    document = json.loads(made.to_str())
    change(document)
    changed_tokenizer: Tokenizer = Tokenizer.from_str(json.dumps(document))
    return changed_tokenizer


def llama_2() -> Tokenizer:
    """Return a tokenizer with the settings of Llama 2: no pre-tokenizer, and byte fallback."""
    of_bytes = [f"<0x{byte:02X}>" for byte in range(256)]
    options = {"special_tokens": ["<unk>", *of_bytes], **FEW}
    model = models.BPE(**UNKNOWN, byte_fallback=True, fuse_unk=True)
    made = trained(model, pre_tokenizers.Metaspace(), options=options)
    replace = normalizers.Replace(" ", "▁")
    ends = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]

    def change(document: dict[str, Any]) -> None:
        document |= {"pre_tokenizer": None, "added_tokens": document["added_tokens"][:1]}

    made = changed(made, change)
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), replace])
    made.decoder = decoders.Sequence([*ends, decoders.Strip(" ", 1, 0)])
    made.add_tokens([special("<s>"), special("<x>", rstrip=True)])
    return made


def whole_words() -> Tokenizer:
    """Return a file as Llama 3's: all pairs are merges, and some tokens are only whole words."""
    entries = {letter: i for i, letter in enumerate(sorted(ByteLevel.alphabet()))}
    tokens = ["th", "he", "the", "in", "ing", "ng", "zqx"]
    entries |= {token: 256 + i for i, token in enumerate(tokens)}
    pairs = [(token[:i], token[i:]) for token in tokens for i in range(1, len(token))]
    merges = [pair for pair in pairs if {*pair} <= {*entries}]
    made = Tokenizer(models.BPE(entries, merges, ignore_merges=True))
    level = ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([split(LLAMA), level])
    made.decoder = decoders.ByteLevel()
    return made


def clip() -> Tokenizer:
    """Return marks at the ends of words over bytes, with the parts of CLIP."""
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    words = split(
        r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", "removed", invert=True
    )
    return over_bytes(
        pre_tokenizers.Sequence([words, ByteLevel(add_prefix_space=False)]),
        model={"end_of_word_suffix": "</w>", "unk_token": "<|endoftext|>"},
        options={
            "end_of_word_suffix": "</w>",
            "special_tokens": ["<|startoftext|>", "<|endoftext|>"],
        },
        normalizer=normalizers.Sequence([normalizers.NFC(), spaces, normalizers.Lowercase()]),
        added=[],
    )


def bert(**options: Any) -> Tokenizer:
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return trained(
        models.WordPiece(unk_token="[UNK]"),
        pre_tokenizers.BertPreTokenizer(),
        normalizer=normalizers.BertNormalizer(**options),
        decoder=decoders.WordPiece(),
        options={"special_tokens": names},
    )


def unigram(pre_tokenizer: Any = None, **parts: Any) -> Tokenizer:
    parts = {"decoder": decoders.Metaspace(), **parts}
    return trained(models.Unigram(), pre_tokenizer or pre_tokenizers.Metaspace(), **parts)


def metaspace(scheme: str, **more: Any) -> Tokenizer:
    return trained(
        models.BPE(**UNKNOWN, byte_fallback=True),
        pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False),
        decoder=decoders.Metaspace(prepend_scheme=scheme),
        options=FEW,
        **more,
    )


@dataclass(frozen=True)
class Kind:
    """A kind of tokenizer.json.

    Attributes:
        make: returns the tokenizer of the library.
        formats: keys of the formats that can contain it, with "?" if that takes long to write.
    """

    make: Callable[[], Tokenizer]
    formats: str = "huggingface"


NFC = normalizers.NFC()
TEMPLATE = processors.TemplateProcessing(f"{END} $A", None, [(END, 700)])
KINDS: dict[str, Kind] = {
    "GPT-2": Kind(over_bytes, ALL),
    "Llama 3's split": Kind(
        lambda: split_over_bytes(split(LLAMA)), "huggingface tiktoken csv? bpeviz?"
    ),
    "whole words, as in Llama 3": Kind(whole_words, "huggingface tiktoken"),
    "bytes that are not split": Kind(split_over_bytes, "huggingface tiktoken csv bpeviz"),
    "an expression that leaves text": Kind(
        lambda: split_over_bytes(split(r"\p{L}+")), "huggingface tiktoken? csv? bpeviz?"
    ),
    "bytes, some missing": Kind(lambda: trained(models.BPE(), ByteLevel(False), added=[END])),
    "a space before the text": Kind(
        lambda: over_bytes(
            ByteLevel(True),
            added=[special("<s>", single_word=True), special("pad", single_word=True)],
        )
    ),
    "NFC, as in Qwen": Kind(lambda: split_over_bytes(split(LLAMA), normalizer=NFC)),
    "NFKC, as in Claude": Kind(lambda: over_bytes(normalizer=normalizers.NFKC())),
    "several splits, as in DeepSeek": Kind(
        lambda: over_bytes(pre_tokenizers.Sequence([pre_tokenizers.Digits(True), ByteLevel(False)]))
    ),
    "trimmed offsets, as in RoBERTa": Kind(
        lambda: over_bytes(
            ByteLevel(True),
            added=[special("<mask>", lstrip=True), special("<x>")],
            post_processor=processors.RobertaProcessing(("<mask>", 700), ("<x>", 701)),
        )
    ),
    "dropout": Kind(
        lambda: over_bytes(model={"dropout": 0.1}), " ".join(f"{key}?" for key in ALL.split())
    ),
    "a word that is a special token": Kind(
        lambda: over_bytes(model={"ignore_merges": True}, options={"special_tokens": ["hello"]})
    ),
    "a template": Kind(
        lambda: over_bytes(post_processor=TEMPLATE), "huggingface gpt2 tiktoken csv"
    ),
    "added words": Kind(lambda: over_bytes(added=["the", AddedToken("é", rstrip=True)])),
    "spaces around a special token": Kind(
        lambda: over_bytes(added=[special("<s>", lstrip=True, rstrip=True), special("<x>")])
    ),
    "names inside each other": Kind(
        lambda: over_bytes(added=[special("<s>"), special("<s><x>"), special("<x>")]),
        ALL,
    ),
    "characters": Kind(lambda: trained(models.BPE(**UNKNOWN), split(r"\s+|\S+"), options=FEW)),
    "marks at ends of words": Kind(
        lambda: trained(
            models.BPE(**UNKNOWN, end_of_word_suffix="</w>"),
            split(r"\s+|\S+"),
            options=FEW | {"end_of_word_suffix": "</w>"},
        )
    ),
    "CLIP": Kind(clip),
    "Llama 2": Kind(llama_2),
    "▁ at the start, as in Phi-3": Kind(
        lambda: metaspace("first", added=[special("<|end|>", rstrip=True), special("<x>")])
    ),
    "▁ after special tokens": Kind(
        lambda: metaspace("always", added=[special("<s>", lstrip=True)])
    ),
    "BERT": Kind(bert),
    "WordPiece by white space": Kind(
        lambda: trained(models.WordPiece(unk_token="[UNK]"), pre_tokenizers.WhitespaceSplit())
    ),
    "T5": Kind(unigram),
    "names in normalized text": Kind(
        lambda: unigram(
            normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
            added=[special("<S>", normalized=True), special("<x>"), AddedToken("<U>")],
        )
    ),
    "ALBERT": Kind(
        lambda: unigram(
            normalizer=normalizers.Sequence(
                [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
            )
        )
    ),
    "WordLevel": Kind(
        lambda: trained(models.WordLevel(unk_token="<unk>"), pre_tokenizers.Whitespace())
    ),
}

LLAMA_MODEL: dict[str, object] = {
    "model_type": "bpe",
    "byte_fallback": True,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "split_digits": True,
    "vocab_size": 900,
}
SENTENCEPIECE: dict[str, tuple[dict[str, object], str]] = {
    "Llama 2's model": (LLAMA_MODEL, "huggingface sentencepiece"),
    "Llama 2's model without ▁ at the start": (
        LLAMA_MODEL | {"add_dummy_prefix": False},
        "huggingface sentencepiece",
    ),
    "BPE with unknown characters": (
        LLAMA_MODEL | {"byte_fallback": False, "character_coverage": 0.98, "vocab_size": 600},
        "huggingface sentencepiece",
    ),
    "BPE with ▁ after words": (
        {"model_type": "bpe", "treat_whitespace_as_suffix": True},
        "sentencepiece",
    ),
    "BPE with symbols of a user": (
        LLAMA_MODEL | {"user_defined_symbols": ["<tool>", "user"]},
        "sentencepiece",
    ),
    "Unigram": ({"model_type": "unigram"}, "sentencepiece"),
    "Unigram with byte fallback": (
        {
            "model_type": "unigram",
            "byte_fallback": True,
            "add_dummy_prefix": False,
            "normalization_rule_name": "identity",
            "user_defined_symbols": ["the", "▁▁"],
            "vocab_size": 900,
        },
        "sentencepiece",
    ),
    "characters of SentencePiece": ({"model_type": "char"}, "sentencepiece"),
    "words of SentencePiece": ({"model_type": "word"}, "sentencepiece"),
}


@cache
def of_kind(kind: str) -> Tokenizer:
    """Return a tokenizer of the library `tokenizers`. Tests that change one make their own."""
    return KINDS[kind].make()


@cache
def files_of(kind: str) -> dict[str, bytes]:
    """Return the file of a kind of either library."""
    if kind in SENTENCEPIECE:
        return {"tokenizer.model": sentencepiece_model(**SENTENCEPIECE[kind][0])}
    return {"tokenizer.json": of_kind(kind).to_str().encode()}

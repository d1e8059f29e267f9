"""Files of other programs are converted where every id stays, and else refused with the reason."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from helpers.difficult import DIFFICULT
from helpers.libraries import hugging_face
from helpers.library_files import sentencepiece_model
from helpers.library_tokenizers import of_kind
from helpers.refusals import refusal
from tokenizers import models, pre_tokenizers

import bpeviz
from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FormatError, verification
from bpeviz.formats.base import TransientError
from bpeviz.libraries.pool import LibraryError

pytestmark = pytest.mark.slow


def opened(made: tokenizers.Tokenizer, **changes: Any) -> Tokenizer:
    document = json.loads(made.to_str())
    for key, value in changes.items():
        document[key] = value
    return formats.parse({"tokenizer.json": json.dumps(document).encode()})


def test_ids_in_another_order_than_the_merges_are_refused() -> None:
    entries = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = [("t", "h"), ("th", "e")]
    made = tokenizers.Tokenizer(models.BPE(entries | {"the": 256, "th": 257}, merges))
    made.pre_tokenizer = of_kind("Llama 3's split").pre_tokenizer
    refusal(formats.dump, opened(made), "tiktoken", naming="tiktoken", error=FormatError)


@pytest.mark.parametrize("key", formats.FORMATS)
def test_written_file_of_any_format_is_read_back_and_compared(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    format = formats.FORMATS[key]
    options: dict[str, Any] = {"merges": 4, "special_tokens": ("<|end|>",)}
    if key == "sentencepiece":
        options |= {"algorithm": "sentencepiece", "pattern": "none"}
    ours, other, fewer = (
        bpeviz.train(text, **(options | more)).tokenizer()
        for text, more in (
            ("low lower lowest", {}),
            ("lowest slower", {}),
            ("low lower lowest", {"special_tokens": ()}),
        )
    )
    assert format.write is not None
    files = [format.write(tokenizer) for tokenizer in (other, fewer)]
    damaged = dict.fromkeys(files[0], b"damaged")
    for written, reason in (
        (files[0], "would encode some texts with other ids, such as"),
        (files[1], "would not have its special token"),
        (damaged, "tokenizer: .*(not valid|pre-tokenization|expected|damaged)"),
    ):
        wrong = replace(format, write=lambda _, written=written: written)
        monkeypatch.setitem(formats.READERS, key, wrong)  # type: ignore[arg-type]
        with pytest.raises(FormatError, match=reason):
            formats.dump(ours, key)


def test_library_that_is_busy_is_no_reason_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = opened(of_kind("Llama 3's split"))

    def busy(*_: object) -> list[int]:
        raise LibraryError("the server is busy") from TimeoutError()

    monkeypatch.setattr(verification, "ask", busy)
    with pytest.raises(FormatError, match=r"the server is busy\. Try again") as refused:
        formats.dump(ours, "tiktoken")
    assert isinstance(refused.value.__cause__, TransientError)


# ---- SentencePiece

LLAMA_2: dict[str, object] = {
    "byte_fallback": True,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "split_digits": True,
    "vocab_size": 900,
}


def test_model_of_sentencepiece_says_what_its_special_tokens_lose() -> None:
    unigram = bpeviz.train("漢字", "unigram", pattern="whitespace", special_tokens=("<s>",))
    files = formats.dump(unigram.tokenizer(), "sentencepiece")
    assert formats.losses(unigram.tokenizer(), files, "sentencepiece") == (
        "The file decodes the ids of '<s>' to '', and this tokenizer to '<s>'."
    )
    training = bpeviz.train(
        "the low the lower",
        "sentencepiece",
        merges=5,
        pattern="none",
        unknown="unk",
        special_tokens=("<s>",),
    )
    tokenizer = training.tokenizer()
    files = formats.dump(tokenizer, "sentencepiece")
    assert formats.losses(tokenizer, files, "sentencepiece") == (
        "The file reads '<unk>' in a text as plain text. The file decodes the ids of 'the<s>the' "
        "to 'the the', and this tokenizer to 'the<s>the'."
    )


@pytest.mark.parametrize(
    ("kind", "legacy"),
    [
        *(("LlamaTokenizer", True), ("LlamaTokenizer", False)),
        *(("CodeLlamaTokenizer", None), ("GemmaTokenizer", None), ("", None)),
    ],
)
def test_settings_beside_a_model_of_sentencepiece_say_what_their_class_changes(
    kind: str, legacy: bool | None, tmp_path: Path
) -> None:
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    from transformers import AutoTokenizer

    content = sentencepiece_model(model_type="bpe", **LLAMA_2)
    values = {"tokenizer_class": kind, "legacy": legacy}
    values = {name: value for name, value in values.items() if value not in ("", None)}
    files = {"tokenizer.model": content, "tokenizer_config.json": json.dumps(values).encode()}
    for name, part in files.items():
        (tmp_path / name).write_bytes(part)
    ours, sentence = bpeviz.read(tmp_path), formats.assumption(files)
    if not kind:
        assert sentence == ""
        return
    theirs: Any = AutoTokenizer.from_pretrained(tmp_path)
    texts = ("the low", "the<s>the", "<s> low</s>low")
    pairs = [
        (
            ours.encode(text, allowed_special={*ours.special_tokens}),
            theirs(text, add_special_tokens=False).input_ids,
        )
        for text in texts
    ]
    assert any(ids != other for ids, other in pairs)
    assert sentence == (
        "Ids and decoded texts are those of SentencePiece, which decodes control symbols to "
        f"nothing. In transformers 5.24, {kind} decodes them to their names, and may write other "
        "spaces before a text and after special tokens."
    )
    assert "<s>" in theirs.decode(pairs[1][1])
    assert ours.decode(pairs[1][0]) == "the the"


@pytest.mark.thorough
def test_published_tokenizers_become_a_tokenizer_json() -> None:
    for name in ("mistral_v1", "llama_3", "qwen", "mistral_nemo"):
        ours = bpeviz.load(name)
        encode = hugging_face(formats.dump(ours, "huggingface"))
        for text in DIFFICULT:
            assert encode(text) == ours.encode(text), name

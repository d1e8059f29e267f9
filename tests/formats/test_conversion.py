"""Files of other programs are converted where every id stays, and else refused with the reason."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from helpers.difficult import DIFFICULT
from helpers.libraries import LIBRARIES, hugging_face
from helpers.library_files import LINES, sentencepiece_model
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

import bpeviz
from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FormatError, verification
from bpeviz.formats.base import TransientError
from bpeviz.libraries.pool import LibraryError
from bpeviz.libraries.tokenizer import LibraryTokenizer

pytestmark = pytest.mark.slow

LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPLIT = pre_tokenizers.Split(Regex(LLAMA), "isolated")
LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def byte_level(*parts: Any, special: tuple[str, ...] = ("<|end|>",)) -> tokenizers.Tokenizer:
    """Return a tokenizer over bytes that the library trains on the samples."""
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence([*parts, LEVEL])
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=700, show_progress=False, initial_alphabet=alphabet, special_tokens=[]
    )
    made.train_from_iterator(LINES, trainer)
    made.add_special_tokens([*special])
    return made


def opened(made: tokenizers.Tokenizer, **changes: Any) -> Tokenizer:
    document = json.loads(made.to_str())
    for key, value in changes.items():
        document[key] = value
    return formats.parse({"tokenizer.json": json.dumps(document).encode()})


def check_kept(ours: Tokenizer, format: str) -> None:
    """Check that a converted file gives every id in its library and here."""
    files = formats.dump(ours, format)
    theirs, back = LIBRARIES[format](files), formats.parse(files)
    for text in DIFFICULT:
        assert theirs(text) == ours.encode(text)
        assert back.encode(text) == ours.encode(text)
    assert dict(back.special_tokens) == dict(ours.special_tokens)


def test_bytes_with_a_published_expression_become_tiktoken_ranks_and_back() -> None:
    ours = opened(byte_level(SPLIT))
    assert isinstance(ours, LibraryTokenizer)
    check_kept(ours, "tiktoken")
    with pytest.raises(FormatError, match="single bytes have other ids"):
        formats.dump(ours, "minbpe")  # its bytes are in order, and those of the library are not
    again = formats.parse(formats.dump(ours, "tiktoken"))
    check_kept(again, "huggingface")


def test_bytes_with_the_expression_of_gpt2_become_vocab_and_merges() -> None:
    made = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), special=())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    document = json.loads(made.to_str())
    document["truncation"] = {
        "direction": "Right",
        "max_length": 9,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    ours = formats.parse({"tokenizer.json": json.dumps(document).encode()})
    assert isinstance(ours, LibraryTokenizer)  # a saved truncation
    for format in ("gpt2", "tiktoken"):
        check_kept(ours, format)


def test_several_merges_for_a_token_become_ranks() -> None:
    """As Llama 3's file: all pairs are merges, and some tokens are found only as a whole."""
    entries = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokens = ["th", "he", "the", "in", "ing", "ng", "zqx"]
    entries |= {token: 256 + i for i, token in enumerate(tokens)}
    merges = [
        (token[:i], token[i:])
        for token in tokens
        for i in range(1, len(token))
        if token[:i] in entries and token[i:] in entries
    ]
    made = tokenizers.Tokenizer(models.BPE(entries, merges, ignore_merges=True))
    made.pre_tokenizer = pre_tokenizers.Sequence([SPLIT, LEVEL])
    made.decoder = decoders.ByteLevel()
    ours = opened(made)
    check_kept(ours, "tiktoken")
    assert LIBRARIES["tiktoken"](formats.dump(ours, "tiktoken"))("zqx") == [262]
    check_kept(formats.parse(formats.dump(ours, "tiktoken")), "huggingface")
    with pytest.raises(FormatError, match=r"second merge"):
        formats.dump(ours, "csv")
    made.model = models.BPE(entries, merges[::-1], ignore_merges=True)
    with pytest.raises(FormatError, match="its ids are not in the order of its merges"):
        formats.dump(opened(made), "tiktoken")


NEVER = "which only a tokenizer.json can contain"


def _with_flag(name: str, **flags: bool) -> tokenizers.Tokenizer:
    made = byte_level(SPLIT)
    token = tokenizers.AddedToken(name, **flags)
    (made.add_special_tokens if flags.get("special", True) else made.add_tokens)([token])
    return made


def _normalized() -> tokenizers.Tokenizer:
    made = byte_level(SPLIT)
    made.normalizer = normalizers.NFC()
    return made


def _with_space() -> tokenizers.Tokenizer:
    made = byte_level(SPLIT)
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    return made


def _over_characters() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made


REFUSED: dict[str, tuple[Any, str]] = {
    "a normalizer": (_normalized, f"normalizes a text before it splits it, {NEVER}"),
    "several splits": (
        lambda: byte_level(pre_tokenizers.Digits(individual_digits=True), SPLIT),
        "several rules, and this format has one expression",
    ),
    "a space before": (_with_space, f"adds a space before a text, {NEVER}"),
    "an added token": (
        lambda: _with_flag("  ", special=False),
        f"finds its added token '  ' in every text, {NEVER}",
    ),
    "a flag": (lambda: _with_flag("<mask>", lstrip=True), "'<mask>' has the flag lstrip"),
    "characters": (_over_characters, "its atoms are characters"),
    "Unigram": (
        lambda: tokenizers.Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0)], 0)),
        "its model is Unigram, which does not merge",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_file_that_ranks_cannot_represent_is_refused_with_the_reason(what: str) -> None:
    make, reason = REFUSED[what]
    ours = opened(make())
    for format in ("tiktoken", "gpt2", "csv"):
        with pytest.raises(FormatError, match=reason):
            formats.dump(ours, format)
    assert formats.dump(ours, "huggingface")["tokenizer.json"]


def test_ids_in_another_order_than_the_merges_are_refused() -> None:
    entries = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = [("t", "h"), ("th", "e")]
    made = tokenizers.Tokenizer(models.BPE(entries | {"the": 256, "th": 257}, merges))
    made.pre_tokenizer = pre_tokenizers.Sequence([SPLIT, LEVEL])
    with pytest.raises(FormatError, match="not in the order of its merges"):
        formats.dump(opened(made), "tiktoken")


def test_template_stays_in_a_tokenizer_json() -> None:
    made = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    token = ("<|end|>", made.token_to_id("<|end|>"))
    made.post_processor = processors.TemplateProcessing("<|end|> $A", special_tokens=[token])
    ours = opened(made)
    assert ours.template == ([token[1]], [])
    files = formats.dump(ours, "huggingface")
    assert formats.parse(files).template == ours.template
    assert formats.left_out(ours, files, "huggingface") == ""


@pytest.mark.parametrize("key", ["tiktoken", "gpt2", "csv"])
def test_formats_without_a_template_say_so(key: str) -> None:
    training = bpeviz.train("low lower", merges=3, special_tokens=("<s>", "</s>"))
    ids = training.tokenizer().special_tokens
    made = tokenizers.Tokenizer.from_buffer(
        formats.dump(training.tokenizer(), "huggingface")["tokenizer.json"]
    )
    made.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", special_tokens=[*ids.items()]
    )
    ours = opened(made)
    files = formats.dump(ours, key)
    assert "template, which adds <s> and </s> around" in formats.left_out(ours, files, key)
    assert formats.left_out(training.tokenizer(), files, key) == ""


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


def test_value_error_of_a_writer_is_a_reason_in_a_format_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def write(_: object) -> dict[str, bytes]:
        raise ValueError("The ranks are wrong.")

    wrong = replace(formats.FORMATS["tiktoken"], write=write)
    monkeypatch.setitem(formats.READERS, "tiktoken", wrong)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="cannot represent this tokenizer: The ranks are wrong"):
        formats.dump(bpeviz.train("low", merges=1).tokenizer(), "tiktoken")


def test_conversion_with_another_id_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = opened(byte_level(SPLIT))
    other = opened(byte_level(pre_tokenizers.Split(Regex(r"\S+|\s+"), "isolated")))
    monkeypatch.setattr(formats, "converted", lambda tokenizer, format: converted(other, format))
    from bpeviz.formats.conversion import converted

    with pytest.raises(FormatError, match="would encode some texts with other ids, such as"):
        formats.dump(ours, "tiktoken")


def test_library_that_is_busy_is_no_reason_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = opened(byte_level(SPLIT))

    def busy(*_: object) -> list[int]:
        raise LibraryError("the server is busy") from TimeoutError()

    monkeypatch.setattr(verification, "ask", busy)
    with pytest.raises(FormatError, match=r"the server is busy\. Try again") as refused:
        formats.dump(ours, "tiktoken")
    assert isinstance(refused.value.__cause__, TransientError)


# ---- SentencePiece

MODELS: dict[str, dict[str, object]] = {
    "Llama 2": {
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "split_digits": True,
        "vocab_size": 900,
    },
    "without a prefix": {
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
        "vocab_size": 900,
    },
    "unknown characters": {
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "character_coverage": 0.98,
    },
}


@pytest.mark.parametrize("kind", MODELS)
def test_sentencepiece_bpe_becomes_a_tokenizer_json(kind: str) -> None:
    content = sentencepiece_model(model_type="bpe", **MODELS[kind])
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    ours = formats.parse({"a.model": content})
    files = formats.dump(ours, "huggingface")
    encode, back = hugging_face(files), formats.parse(files)
    for text in DIFFICULT:
        assert encode(text) == theirs.encode(text)
        assert back.encode(text) == theirs.encode(text)
    assert dict(back.special_tokens).items() >= dict(ours.special_tokens).items()
    assert back.decode(theirs.encode("the low")) == "the low"
    for text in ("the<s>the", "the<unk>low", "<s> low</s><unk>"):
        ids, again = (
            each.encode(text, allowed_special={*each.special_tokens}) for each in (ours, back)
        )
        assert again == ids
    ids = ours.encode("the<s>the", allowed_special={"<s>"})
    assert (
        f"The file decodes the ids of 'the<s>the' to '{back.decode(ids)}', and this tokenizer to "
        f"'{theirs.decode(ids)}'."
    ) in formats.left_out(ours, files, "huggingface")
    assert "<s>" in back.decode(ids)
    assert formats.left_out(ours, {"a.model": content}, "sentencepiece") == ""


def test_model_of_sentencepiece_says_what_its_special_tokens_lose() -> None:
    unigram = bpeviz.train("漢字", "unigram", pattern="whitespace", special_tokens=("<s>",))
    files = formats.dump(unigram.tokenizer(), "sentencepiece")
    assert formats.left_out(unigram.tokenizer(), files, "sentencepiece") == (
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
    assert formats.left_out(tokenizer, files, "sentencepiece") == (
        "The file reads '<unk>' in a text as plain text. The file decodes the ids of 'the<s>the' "
        "to 'the the', and this tokenizer to 'the<s>the'."
    )


@pytest.mark.parametrize("legacy", [True, False, None])
@pytest.mark.parametrize("kind", ["LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", ""])
def test_settings_beside_a_model_of_sentencepiece_say_what_their_class_changes(
    kind: str, legacy: bool | None, tmp_path: Path
) -> None:
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    from transformers import AutoTokenizer

    content = sentencepiece_model(model_type="bpe", **MODELS["Llama 2"])
    values = {"tokenizer_class": kind, "legacy": legacy}
    values = {name: value for name, value in values.items() if value not in ("", None)}
    files = {"tokenizer.model": content, "tokenizer_config.json": json.dumps(values).encode()}
    for name, part in files.items():
        (tmp_path / name).write_bytes(part)
    ours, sentence = bpeviz.read(tmp_path), formats.assumed(files)
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


@pytest.mark.parametrize(
    ("options", "format", "reason"),
    [
        ({"model_type": "unigram"}, "huggingface", "its model is Unigram"),
        ({"model_type": "bpe", "treat_whitespace_as_suffix": True}, "huggingface", "end of words"),
        ({"model_type": "bpe", "user_defined_symbols": ["x"]}, "huggingface", "after its symbol"),
        ({"model_type": "bpe"}, "tiktoken", "SentencePiece writes spaces as ▁"),
        ({"model_type": "unigram"}, "tiktoken", "Unigram, which does not merge"),
    ],
)
def test_other_models_of_sentencepiece_are_refused(
    options: dict[str, object], format: str, reason: str
) -> None:
    ours = formats.parse({"a.model": sentencepiece_model(**options)})
    with pytest.raises(FormatError, match=reason):
        formats.dump(ours, format)
    assert formats.dump(ours, "sentencepiece") == {"tokenizer.model": ours.file.content}  # type: ignore[attr-defined]


@pytest.mark.large
@pytest.mark.parametrize("name", ["mistral_v1", "llama_3", "qwen", "mistral_nemo"])
def test_published_tokenizers_become_a_tokenizer_json(name: str) -> None:
    ours = bpeviz.load(name)
    encode = hugging_face(formats.dump(ours, "huggingface"))
    for text in DIFFICULT:
        assert encode(text) == ours.encode(text)

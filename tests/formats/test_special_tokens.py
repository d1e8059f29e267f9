"""Texts that contain special tokens give the ids that the library of the file gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from bpeviz import formats
from bpeviz.analysis.round_trip import round_trip
from bpeviz.analysis.trace import inspect, scored_words
from bpeviz.formats.huggingface.common import assigned_ids
from bpeviz.libraries.tokenizer import _stripped as stripped

pytestmark = pytest.mark.slow

Added = Sequence[AddedToken]
CORPUS = ["The capital of France is Paris, the system user said hi there. Hello you!"] * 3


def special(name: str, **flags: bool) -> AddedToken:
    return AddedToken(name, special=True, **{"normalized": False, **flags})


FLAGS: Mapping[str, Added] = {
    "none": [special("<s>"), special("<s><x>"), special("<x>")],
    "lstrip": [special("<s>"), special("<mask>", lstrip=True)],
    "rstrip": [special("<|end|>", rstrip=True), special("<|user|>", rstrip=True)],
    "both": [special("<s>", lstrip=True, rstrip=True), special("<x>")],
    "single_word": [special("<s>", single_word=True), special("pad", single_word=True)],
    "normalized": [special("<S>", normalized=True), special("<x>"), AddedToken("<U>")],
}


def byte_level() -> Tokenizer:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.decoder = decoders.ByteLevel()
    return made


def metaspace(scheme: str) -> Tokenizer:
    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    made.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return made


def prepended() -> Tokenizer:
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return made


def word_piece() -> Tokenizer:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    return made


def unigram() -> Tokenizer:
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    return made


KINDS: Mapping[str, Callable[[], Tokenizer]] = {
    "ByteLevel": byte_level,
    "Metaspace first": lambda: metaspace("first"),
    "Metaspace always": lambda: metaspace("always"),
    "Prepend": prepended,
    "WordPiece": word_piece,
    "Unigram": unigram,
}


def library(kind: str, added: Added) -> Tokenizer:
    """Return a small tokenizer of a library with added tokens."""
    made = KINDS[kind]()
    options: dict[str, Any] = {"show_progress": False, "vocab_size": 300}
    trainers: Mapping[type, Callable[..., Any]] = {
        models.BPE: tokenizers.trainers.BpeTrainer,
        models.WordPiece: tokenizers.trainers.WordPieceTrainer,
        models.Unigram: tokenizers.trainers.UnigramTrainer,
    }
    if kind == "Unigram":
        options |= {"unk_token": "<unk>", "vocab_size": 60}
    options["special_tokens"] = ["[UNK]" if kind == "WordPiece" else "<unk>"]
    made.train_from_iterator(CORPUS, trainers[type(made.model)](**options))
    made.add_tokens([*added])
    return made


def small(model: Any, **parts: Any) -> Tokenizer:
    made = Tokenizer(model)
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def phi_3() -> bytes:
    """Return a tokenizer.json with the ids and flags of Phi-3, and a few of its entries.

    Only the start of a text gets a ▁.
    """
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("r", "e"), ("▁the", "re"), ("H", "i")]
    merges += [("▁", "Hi")]
    entries = {"<unk>": 0, "Hi": 18567, "▁Hi": 6324, "▁there": 727, "<0x0A>": 13}
    names = {"<|endoftext|>": 32000, "<|assistant|>": 32001, "<|end|>": 32007, "<|user|>": 32010}
    for token in ("▁", *"Hither", *(left + right for left, right in merges)):
        entries.setdefault(token, 29871 + len(entries))
    made = small(
        models.BPE(entries | names, merges, unk_token="<unk>", byte_fallback=True),
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
        decoder=decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        ),
    )
    made.add_tokens([special(name, rstrip=name != "<|endoftext|>") for name in names])
    return made.to_str().encode()


def test_special_tokens_of_phi_3_contain_the_line_ends_after_them() -> None:
    ours = formats.parse({"tokenizer.json": phi_3()})
    text = "<|user|>\nHi there<|end|>\n<|assistant|>\n"
    assert ours.encode(text, allowed_special="all") == [32010, 18567, 727, 32007, 32001]
    spans = [(token.start, token.end) for token in ours.tokens(text, allowed_special="all")]
    assert spans == [(0, 9), (9, 11), (11, 17), (17, 25), (25, 39)]
    found = inspect(text, ours, [*ours.special_tokens])
    # The player draws an atom for each character, also of a special token.
    assert found.boundaries.ends.tolist() == [*range(1, len(text) + 1)]
    (loss,) = round_trip(found).losses
    assert (loss.title, loss.times) == ("white space beside a special token", 3)


def test_mask_of_roberta_contains_the_space_before_it() -> None:
    entries = {character: i for i, character in enumerate("is.<mask>Ġ")}
    theirs = small(
        models.BPE(entries, []),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoder=decoders.ByteLevel(),
    )
    theirs.add_special_tokens([special("<mask>", lstrip=True)])
    ours = formats.parse({"tokenizer.json": theirs.to_str().encode()})
    found = ours.tokens("is <mask>.", allowed_special="all")
    assert [(token.label, token.start, token.end) for token in found] == [
        ("i", 0, 1), ("s", 1, 2), ("<mask>", 2, 9), (".", 9, 10)
    ]  # fmt: skip


def test_text_after_a_special_token_of_mistral_has_no_prefix() -> None:
    # As Mistral v0.3's tokenizer.json: `Metaspace` adds ▁ at the start of the text only.
    entries = {character: i for i, character in enumerate("▁Hi")} | {"▁H": 3, "Hi": 4, "▁Hi": 5}
    theirs = small(
        models.BPE(entries, [("▁", "H"), ("▁H", "i"), ("H", "i")]),
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
        decoder=decoders.Metaspace(prepend_scheme="first"),
    )
    names = ["<s>", "</s>", "[INST]", "[/INST]"]
    theirs.add_special_tokens([special(name) for name in names])
    ours = formats.parse({"tokenizer.json": theirs.to_str().encode()})
    text = "<s>[INST] Hi[/INST]Hi</s>"
    labels = [token.label for token in ours.tokens(text, allowed_special="all")]
    assert labels == ["<s>", "[INST]", "▁Hi", "[/INST]", "Hi", "</s>"]
    found = inspect(text, ours, names)
    assert found.normalized.text == "<s>[INST]▁Hi[/INST]Hi</s>"
    assert found.pre_token_ends == (3, 9, 12, 19, 21, 25)
    assert round_trip(found).lossless
    assert ours.encode("Hi</s>", allowed_special=["<s>"]) != ours.encode(
        "Hi</s>", allowed_special="all"
    )


def test_loss_after_a_special_token_is_its_prefix() -> None:
    ours = formats.parse({"tokenizer.json": library("Prepend", FLAGS["none"]).to_str().encode()})
    trip = round_trip(inspect("the<s>you <unk>", ours, ["<s>", "<unk>"]))
    assert trip.decoded == "the<s> you <unk>"
    (loss,) = trip.losses
    assert (loss.title, loss.places) == ("dummy prefix", ((7, "nothing", "·"),))
    assert "after a special token" in loss.why


def test_normalized_names_are_found_in_the_normalized_text() -> None:
    theirs = library("Unigram", [special("<S>", normalized=True), special("<x>", lstrip=True)])
    theirs.pre_tokenizer = pre_tokenizers.Metaspace()
    ours = formats.parse({"tokenizer.json": theirs.to_str().encode()})
    found = inspect("Hi <s>You  <x>The", ours, ["<S>", "<x>"])
    assert found.normalized.text == "▁hi▁<s>▁you  <x>▁the"
    assert found.pre_token_ends is not None
    assert {3, 6, 9, 14, 17} <= {*found.pre_token_ends}
    assert {word.text for word in scored_words(found)} == {"▁hi", "▁", "▁you", "▁the"}


def test_space_is_added_before_each_part_between_special_tokens() -> None:
    theirs = library("ByteLevel", [special("<s>")])
    ours = formats.parse({"tokenizer.json": theirs.to_str().encode()})
    assert inspect("hi<s>you<s> the<s>", ours, ["<s>"]).normalized.text == " hi<s> you<s> the<s>"


def test_unknown_word_is_not_the_name_of_the_unknown_token() -> None:
    ours = formats.parse(
        {"tokenizer.json": library("WordPiece", [special("[X]")]).to_str().encode()}
    )
    found = inspect("the Ω [UNK] said", ours, ["[UNK]"])
    assert found.normalized.text == "the ω [UNK] said"


def test_added_token_gets_the_next_id_after_the_vocabulary() -> None:
    entries = {"<s>": 0, "a": 1, "b": 2}
    assert assigned_ids(entries, {"<s>": 0, "<x>": 3, "<y>": 4}) == {"<s>": 0, "<x>": 3, "<y>": 4}


def test_stripped_space_is_not_taken_from_another_special_token() -> None:
    parts = [("<a> ", 1), ("<x>", 2), (" <b>", 3)]
    assert stripped(parts, {2: ["lstrip", "rstrip"]}) == parts
    ordinary = [("a ", None), ("<x>", 2), (" b", None)]
    both = [("a", None), (" <x> ", 2), ("b", None)]
    assert stripped(ordinary, {2: ["lstrip", "rstrip"]}) == both

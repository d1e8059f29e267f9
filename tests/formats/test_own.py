"""bpeviz's own format keeps tokenizers that no other library can apply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.refusals import refusal
from tokenizers import Tokenizer, models, pre_tokenizers

import bpeviz
from bpeviz import formats
from bpeviz.core.byte_alphabet import BYTE_OF
from bpeviz.core.merges import MergeTokenizer
from bpeviz.formats import FormatError
from bpeviz.pretrained import download

TEXT = "low lower lowest newest widest\n---\nthe low island, the lowest isle 12 123"


def test_bytes_keep_the_order_of_their_file(tmp_path: Path) -> None:
    """Ordinary files number the bytes in the order of GPT-2's alphabet."""
    entries = {character: i for i, character in enumerate(sorted(BYTE_OF))}
    merges = [("l", "o"), ("lo", "w")]
    model = models.BPE(entries | {"lo": 256, "low": 257}, merges)
    theirs = Tokenizer(model)
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.save(str(tmp_path / "tokenizer.json"))
    (path,) = bpeviz.save(bpeviz.read(tmp_path / "tokenizer.json"), tmp_path / "x.bpeviz")
    assert bpeviz.read(path).encode("lowest") == theirs.encode("lowest").ids == [257, 68, 82, 83]


SCAFFOLD = {"algorithm": "scaffold", "merges": 5}


def changed(arguments: dict[str, Any] = SCAFFOLD, **changes: Any) -> bytes:
    tokenizer = bpeviz.train(TEXT, **arguments).tokenizer()
    document = json.loads(formats.dump(tokenizer, "bpeviz")["tokenizer.bpeviz"])
    for path, value in changes.items():
        *outer, last = path.split("__")
        at = document
        for key in outer:
            at = at[int(key) if key.isdigit() else key]
        at[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"bpeviz tokenizer": 2}, "version"),
        ({"kind": "pickle"}, "kind"),
        ({"kind": "superbpe"}, "pre_tokenizer"),
        ({"pre_tokenizer__kind": "os"}, "pre_tokenizer.kind"),
        ({"pre_tokenizer__pattern": "other"}, "pattern"),
        ({"pre_tokenizer__expression": 5}, "expression"),
        ({"pre_tokenizer__end_mark": "symbol"}, "pre_tokenizer: An end-of-word mark"),
        ({"alphabet": ["a"]}, "alphabet: the atoms are the 256 bytes"),
        ({"merges": [[1, 256, 0]]}, "merges[0]"),
        ({"merges": [[-1, 2, 0]]}, "merges[0]"),
        ({"merges": [[1, 2]]}, "merges[0]"),
        ({"merges": [[1, True, 0]]}, "merges[0]"),
        (
            {"merges": [[255 + i, 255 + i, 0] for i in range(200)], "hidden_times": [[]] * 200},
            "tokens are too long",
        ),
        ({"hidden_times": [[3, 1], [], [], [], []]}, "hidden_times[0]"),
        ({"hidden_times": []}, "hidden_times"),
        ({"special": ["a", "a"]}, "special"),
        ({"more": 1}, "more"),
    ],
)
def test_invalid_files_are_refused_with_the_place(changes: dict[str, Any], place: str) -> None:
    refusal(formats.parse, {"x.bpeviz": changed(**changes)}, naming=place, error=FormatError)


@pytest.mark.parametrize(("key", "place"), [("kind", "pre_tokenizer"), ("alphabet", "alphabet")])
def test_sentencepiece_is_refused_where_it_cannot_encode(key: str, place: str) -> None:
    tokenizer = bpeviz.train(TEXT, "sentencepiece", merges=3).tokenizer()
    document = json.loads(formats.dump(tokenizer, "bpeviz")["tokenizer.bpeviz"])
    if key == "kind":
        document["kind"] = "merges"
    else:
        document["alphabet"][-1] = "two characters"
    refusal(
        formats.parse, {"x.bpeviz": json.dumps(document).encode()}, naming=place, error=FormatError
    )


def test_class_that_no_trainer_declares_is_refused_by_name() -> None:
    class Unknown(MergeTokenizer):
        """A tokenizer that is not in the registry."""

    known = bpeviz.train(TEXT, merges=3).tokenizer()
    own = Unknown(known.name, known.pre_tokenizer, known.alphabet, known.merges)
    refusal(formats.dump, own, "bpeviz", naming="Unknown", error=FormatError)


def test_published_base_is_saved_by_its_name() -> None:
    if not download.available("gpt2"):
        pytest.skip("GPT-2's files are not on this machine")
    tokenizer = bpeviz.train(TEXT, "adaptive", base="gpt2", merges=5).tokenizer()
    content = formats.dump(tokenizer, "bpeviz")["tokenizer.bpeviz"]
    assert json.loads(content)["base"] == "gpt2"
    assert formats.parse({"x.bpeviz": content}).encode(TEXT) == tokenizer.encode(TEXT)
    refusal(
        formats.parse,
        {"x.bpeviz": content.replace(b'"gpt2","pre', b'"../gpt2","pre')},
        naming="base",
        error=FormatError,
    )


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"pieces": ["x"]}, "pieces"),
        ({"step": 10_000}, "step"),
        ({"rounds": []}, "rounds"),
        ({"rounds__0__log_probabilities": [0.5]}, "rounds[0]"),
        ({"rounds__0__losses": ["x"]}, "numbers"),
        ({"rounds__0__start": 1}, "rounds"),
    ],
)
def test_invalid_unigram_files_are_refused_with_the_place(
    changes: dict[str, Any], place: str
) -> None:
    refusal(
        formats.parse,
        {"x.bpeviz": changed({"algorithm": "unigram"}, **changes)},
        naming=place,
        error=FormatError,
    )


def test_tokenizers_inside_each_other_are_bounded() -> None:
    document = json.loads(changed({"algorithm": "adaptive", "merges": 1}))
    for _ in range(9):
        document["base"] = {**document, "name": "inner"}
        document["base"].pop("bpeviz tokenizer", None)
    refusal(
        formats.parse,
        {"x.bpeviz": json.dumps(document).encode()},
        naming="x.bpeviz",
        error=FormatError,
    )


def test_tokens_that_are_too_long_to_be_read_are_not_written() -> None:
    tokenizer = bpeviz.train("a" * (1 << 20), merges=20, pattern="none").tokenizer()
    refusal(formats.dump, tokenizer, "bpeviz", error=FormatError)

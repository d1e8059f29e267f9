"""Refused tokenizers name a format that holds them, and files decode as the tokenizer does."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer as Library

import bpeviz
from bpeviz import formats
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.verification import check_written

pytestmark = pytest.mark.slow

TEXT = "low lower lowest the theory of the newest " * 9


@pytest.mark.parametrize("prefix", ["yes", "no"])
@pytest.mark.parametrize("name", ["<s>", "[a.b]\\"])
def test_saved_sentencepiece_tokenizer_decodes_around_special_tokens(
    prefix: str, name: str
) -> None:
    tokenizer = bpeviz.train(
        TEXT, "sentencepiece", vocab_size=320, pattern="none", prefix=prefix, special_tokens=(name,)
    ).tokenizer()
    content = formats.dump(tokenizer, "huggingface")["tokenizer.json"]
    read, library = formats.parse({"tokenizer.json": content}), Library.from_str(content.decode())
    for text in (f"the{name}the", f"{name} the {name}  a\nb", f"{name}\nthe", f"the{name}"):
        ids = tokenizer.encode(text, allowed_special={name})
        assert tokenizer.decode(ids) == text
        assert read.decode(ids) == library.decode(ids, skip_special_tokens=False) == text
    for text in ("the<s> the", " low  the\n the\n\n"):
        assert library.decode(tokenizer.encode(text)) == text


def test_file_with_other_decoding_is_refused() -> None:
    tokenizer = bpeviz.train(TEXT, "sentencepiece", vocab_size=320, pattern="none").tokenizer()
    document = json.loads(formats.dump(tokenizer, "huggingface")["tokenizer.json"])
    document["decoder"]["decoders"].pop()  # which removes the space before a text
    back = formats.parse({"tokenizer.json": json.dumps(document).encode()})
    with pytest.raises(UnsupportedError, match="would decode the ids of"):
        check_written(tokenizer, back)


@pytest.mark.parametrize("cleanup", [True, False])
def test_unknown_token_of_a_wordpiece_decoder_is_decoded_as_by_its_library(cleanup: bool) -> None:
    tokenizer = bpeviz.train(TEXT, "wordpiece", merges=9).tokenizer()
    document = json.loads(formats.dump(tokenizer, "huggingface")["tokenizer.json"])
    document["decoder"]["cleanup"] = cleanup
    content = json.dumps(document)
    read, library = formats.parse({"tokenizer.json": content.encode()}), Library.from_str(content)
    ids = read.encode("low zz lower 🐚")
    decoded = library.decode(ids, skip_special_tokens=False)
    assert read.decode(ids) == decoded == "low [UNK] lower [UNK]"

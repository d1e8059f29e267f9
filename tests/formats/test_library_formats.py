"""SentencePiece's .model and BERT's vocab.txt give the ids and boundaries of their libraries."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import sentencepiece
import tokenizers
from difficult import DIFFICULT

import bpeviz
from bpeviz import formats
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.core.tokenizer import Tokenizer

SAMPLES = Path(__file__).resolve().parents[2] / "sample_texts"
LINES = [line for path in sorted(SAMPLES.glob("*.txt"))[:6] for line in path.open()]
LINES = [line.strip() for line in LINES if line.strip()][:400]


def sentencepiece_model(**options: object) -> bytes:
    """Return the .model of a tokenizer that the library trains on the samples."""
    writer = io.BytesIO()
    settings = {"vocab_size": 600, "hard_vocab_limit": False, "minloglevel": 2} | options
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=writer, **settings
    )
    return writer.getvalue()


SENTENCEPIECE: dict[str, dict[str, object]] = {
    "unigram": {"model_type": "unigram"},
    "bpe with byte fallback, as in Llama 2": {
        "model_type": "bpe",
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "split_digits": True,
        "vocab_size": 900,
    },
    "unigram with byte fallback and no prefix": {
        "model_type": "unigram",
        "byte_fallback": True,
        "add_dummy_prefix": False,
        "normalization_rule_name": "identity",
        "user_defined_symbols": ["the", "▁▁"],
        "vocab_size": 900,
    },
    "characters": {"model_type": "char"},
    "words": {"model_type": "word"},
}


def covered(tokenizer: Tokenizer, text: str) -> list[tuple[int, int, int]]:
    """Return start and end in bytes, and id, of the tokens of a text."""
    bounds = tokenizer.boundaries(text)
    ends = bounds.cuts(0).tolist()
    found = zip([0, *ends], ends, bounds.ids(0).tolist(), strict=False)
    unknown = tokenizer.unknown_id
    assert ends[-1:] in ([len(text.encode())], [])
    return [
        (start, end, token_id if token_id != UNKNOWN_ID or unknown is None else unknown)
        for start, end, token_id in found
        if token_id != DROPPED_ID
    ]


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_sentencepiece_model_gives_the_ids_and_boundaries_of_the_library(kind: str) -> None:
    content = sentencepiece_model(**SENTENCEPIECE[kind])
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    ours = formats.parse({"a.model": content})
    assert ours.vocab_size == theirs.vocab_size()
    for text in DIFFICULT:
        assert ours.encode(text) == theirs.encode(text)
        tokens = covered(ours, text)
        assert [token_id for *_, token_id in tokens] == theirs.encode(text)
        pieces = theirs.encode(text, return_type="proto").pieces
        for (start, end, token_id), piece in zip(tokens, pieces, strict=True):
            # A byte of a character has no span of its own in the library.
            if theirs.is_byte(token_id) and theirs.normalize(text).replace("▁", " ").endswith(text):
                assert text.encode()[start:end] == bytes([int(piece.piece[3:5], 16)])
            elif piece.begin < piece.end and not theirs.is_byte(token_id):
                assert (start, end) == (piece.begin, piece.end)
        assert ours.decode(theirs.encode(text)) == theirs.decode(theirs.encode(text))


@pytest.mark.parametrize("lower", [True, False])
def test_vocab_txt_gives_the_ids_of_bert(lower: bool, tmp_path: Path) -> None:
    made = tokenizers.BertWordPieceTokenizer(lowercase=lower)
    made.train_from_iterator(LINES, vocab_size=900, show_progress=False)
    made.save_model(str(tmp_path))
    ours = bpeviz.read(tmp_path / "vocab.txt")
    assert ours.unknown_id == made.token_to_id("[UNK]")
    theirs = tokenizers.Tokenizer.from_str(made.to_str())
    theirs.encode_special_tokens = True
    for text in DIFFICULT:
        found = theirs.encode(text, add_special_tokens=False)
        assert ours.encode(text) == found.ids
        before = [len(text[:i].encode()) for i in range(len(text) + 1)]
        spans: list[tuple[int, int]] = []
        for start, end in found.offsets:  # two tokens of one character have the same
            reached = spans[-1][1] if spans else 0
            spans.append((max(reached, before[start]), max(reached, before[end])))
        assert [(start, end) for start, end, _ in covered(ours, text)] == spans
    if lower:
        assert ours.decode(ours.encode("STOP")) == "stop"


def test_tokens_of_a_file_are_found_and_labeled() -> None:
    ours = formats.parse({"a.model": sentencepiece_model(model_type="unigram")})
    [found] = ours.find("·the")
    assert ours.token_label(found) == "▁the"
    assert ours.token_bytes(found) == b" the"
    assert dict(ours.special_tokens) == {"<s>": 1, "</s>": 2}
    assert ours.encode("a</s>", allowed_special={"</s>"})[-1] == 2
    with pytest.raises(ValueError, match="no id"):
        ours.token_bytes(ours.vocab_size)
    with pytest.raises(ValueError, match="no id"):
        ours.decode([ours.vocab_size])

"""Aligned spans equal a slow reference and known answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from references.reference_comparison import aligned_spans

import bpeviz
from bpeviz.analysis.alignment import AlignedPiece, most_different, sentence, tokens_of_spans
from bpeviz.analysis.metrics import Column
from bpeviz.core.tokenizer import Tokenizer

TEXT = "low lower lowest new newer newest widest 🐚 низкий"


def column(tokenizer: Tokenizer, text: str, name: str = "") -> Column:
    return Column(name, tokenizer, tokenizer.boundaries(text), tokenizer.steps, name)


TOKENIZERS = [
    bpeviz.train(TEXT, "bpe", merges=12).tokenizer(),
    bpeviz.train(TEXT, "bpe", merges=3, pattern="none").tokenizer(),
    bpeviz.train(TEXT, "wordpiece", merges=5).tokenizer(),  # drops white space
    bpeviz.train("abc abc", "bpe", merges=1, atoms="characters").tokenizer(),  # unknown characters
]


def test_end_of_dropped_white_space_is_not_the_end_of_a_token() -> None:
    text = "low   lower\n\n\nnew"
    wordpiece = column(bpeviz.train(text, "wordpiece", merges=20).tokenizer(), text, "WordPiece")
    single = column(bpeviz.train(text, merges=0).tokenizer(), text, "bytes")
    assert sentence(wordpiece, single) == (
        "WordPiece and bytes share 3 of the 3 token boundaries of WordPiece."
    )
    assert sentence(single, wordpiece) == (
        "bytes and WordPiece share 3 of the 17 token boundaries of bytes."
    )
    assert tokens_of_spans([wordpiece, single]).tolist() == [[1, 1, 1], [3, 8, 6]]


@given(
    st.text(st.sampled_from("low new🐚ер\u0301"), max_size=40),
    st.lists(st.sampled_from(TOKENIZERS), min_size=1, max_size=4),
)
def test_aligned_spans_equal_the_reference(text: str, tokenizers: list[Tokenizer]) -> None:
    columns = [column(tokenizer, text) for tokenizer in tokenizers]
    tokens = [[*zip(one.cuts.tolist(), one.ids.tolist(), strict=True)] for one in columns]
    expected = aligned_spans(tokens)
    assert tokens_of_spans(columns).T.tolist() == [counts for _, counts in expected]
    raw, start, texts = text.encode(), 0, []
    for end, counts in expected:
        texts += [raw[start:end]] * (max(counts) > 1)
        start = end
    pieces = most_different(text, columns, 10**6)
    assert len(pieces) == len({*texts})
    assert sum(piece.times for piece in pieces) == len(texts)
    spreads = [
        max(counts) - min(counts) for piece in pieces for counts in [[*map(len, piece.tokens)]]
    ]
    assert spreads == sorted(spreads, reverse=True)


def test_pieces_have_their_tokens_and_how_often_they_occur() -> None:
    text = "low low lower"
    trainings = (bpeviz.train("low low low", merges=merges) for merges in (3, 0))
    columns = [column(training.tokenizer(), text) for training in trainings]
    assert most_different(text, columns, 2) == [
        AlignedPiece("·low", 2, [[("·low", 258)], [*zip("·low", b" low", strict=True)]]),
        AlignedPiece("low", 1, [[("low", 257)], [*zip("low", b"low", strict=True)]]),
    ]
    assert most_different("", [column(TOKENIZERS[0], "")]) == []

"""SentencePiece's .model: pieces with scores, and the rules of the library, as a protobuf message.

Source: `sentencepiece_model.proto`, `bpe_model.cc` and `unigram_model.cc` of the library, version
0.2.3. It encodes a line at a time. For BPE, the score of a merged piece is minus its rank; for
Unigram, it is the log probability.

The library adds up log probabilities in single precision. So they are rounded to multiples of
`WRITTEN_QUANTUM`, whose sums are exact up to `2**24 * WRITTEN_QUANTUM`: then ties stay ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import library
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.huggingface.common import ids_of
from bpeviz.formats.merges import Merges, as_ranks, merges_of
from bpeviz.formats.parsing import quoted
from bpeviz.libraries.worker import SENTENCEPIECE
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.pretokenizers.pretokenizer import UNKNOWN
from bpeviz.trainers.sentencepiece_bpe import BYTES, SPACE
from bpeviz.trainers.unigram import LONGEST_PRE_TOKEN, UnigramTokenizer

FILE = library.SENTENCEPIECE.files[0]

WRITTEN_QUANTUM = 2.0**-13
"""Log probabilities are multiples of this number."""

BEFORE_SPACES = " ?[^ ]+| "
"""The expression of SentencePiece's own rule for Unigram: a pre-token begins at each space."""

NORMAL, UNKNOWN_PIECE, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""Types of pieces."""

SPLITS = {"whitespace": "", "words": "", "characters": "", CUSTOM: BEFORE_SPACES}
"""The pre-tokenization that follows from pieces alone, as a pattern with its expression.

Each boundary depends on the characters beside it only, so no piece can span one.
"""


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the file of a tokenizer. Raises `UnsupportedError`."""
    if (content := library.content_of(tokenizer, SENTENCEPIECE)) is not None:
        return {FILE: content}
    dense: Any = tokenizer.with_dense_ids
    if dense.kind == "unigram":
        return {FILE: _unigram(dense, tokenizer)}
    merges = None if as_ranks(dense) else merges_of(tokenizer)  # which takes long
    if merges is None or not merges.pre_tokenizer.marks_spaces:
        raise UnsupportedError("the format is only for SentencePiece-style BPE and Unigram")
    return {FILE: _bpe(merges)}


def _bpe(merges: Merges) -> bytes:
    """Return the model of merges with ▁ for spaces. Raises `UnsupportedError`."""
    pre_tokenizer = merges.pre_tokenizer
    if pre_tokenizer.pattern != "none":
        raise UnsupportedError(
            "its pre-tokenization splits more than the library does, at spaces; train it with "
            "--pattern none"
        )
    fallback = pre_tokenizer.unknown is None
    if SPACE not in merges.symbols.values():
        raise UnsupportedError("it has no piece for a space")
    pieces = {i: (piece, 0.0) for i, piece in merges.spellings(merges.symbols).items()}
    for rank, (_, _, new) in enumerate(merges.merges):
        pieces[new] = (pieces[new][0], -float(rank))
    special = dict(merges.special)
    unknown = special.pop(UNKNOWN, None) if not fallback else None
    return _model("BPE", pieces, special, unknown, fallback, pre_tokenizer.adds_prefix)


def _unigram(dense: UnigramTokenizer, tokenizer: Tokenizer) -> bytes:
    """Return the model of scored pieces. Raises `UnsupportedError`."""
    pre_tokenizer = dense.pre_tokenizer
    if pre_tokenizer.atoms == "bytes":
        raise UnsupportedError("its atoms are bytes, and the library has characters")
    if pre_tokenizer.pattern == "none":
        raise UnsupportedError(
            f"without pre-tokenization, it divides a text every {LONGEST_PRE_TOKEN} characters, "
            "and the library does not; train it with "
            f"--pattern {CUSTOM} --expression {BEFORE_SPACES!r}"
        )
    if SPLITS.get(pre_tokenizer.pattern) != pre_tokenizer.expression:
        raise UnsupportedError(
            "the library cannot split a text in this way; train it with --pattern whitespace, "
            f"words or characters, or --pattern {CUSTOM} --expression {BEFORE_SPACES!r}"
        )
    pieces: dict[int, tuple[str, float]] = {}
    scores = dense.model.scores.tolist()
    for token_id, piece, score in zip(
        ids_of(dense, tokenizer), dense.model.pieces, scores, strict=True
    ):
        if SPACE in piece:
            raise UnsupportedError(
                f"its piece {quoted(piece)} contains the library's mark of spaces"
            )
        if pre_tokenizer.pre_tokens(piece) != [piece]:
            raise UnsupportedError(f"its piece {quoted(piece)} is longer than a pre-token")
        pieces[token_id] = (
            piece.replace(" ", SPACE),
            round(score / WRITTEN_QUANTUM) * WRITTEN_QUANTUM,
        )
    special = dict(tokenizer.special_tokens)
    return _model("UNIGRAM", pieces, special, special.pop(UNKNOWN), False, False)


def new_model(
    kind: str, rows: Iterable[tuple[str, float, int]], unknown: int, *, prefix: bool
) -> Any:
    """Return the message of a model that normalizes nothing, without BOS and EOS.

    Args:
        kind: "BPE" or "UNIGRAM".
        rows: piece, score and type by id.
        unknown: id of the unknown token.
        prefix: whether each line gets a space before it.
    """
    from sentencepiece import sentencepiece_model_pb2

    messages: Any = sentencepiece_model_pb2  # its classes are made at run time
    model = messages.ModelProto()
    for piece, score, row_kind in rows:
        model.pieces.add(piece=piece, score=score, type=row_kind)
    trainer, rules = model.trainer_spec, model.normalizer_spec
    trainer.model_type = messages.TrainerSpec.ModelType.Value(kind)
    trainer.vocab_size = len(model.pieces)
    trainer.byte_fallback = any(piece.type == BYTE for piece in model.pieces)
    trainer.unk_id = unknown
    trainer.bos_id = trainer.eos_id = trainer.pad_id = -1
    rules.name = "identity"
    rules.add_dummy_prefix = prefix
    rules.remove_extra_whitespaces = False
    rules.escape_whitespaces = True
    return model


def _model(
    kind: str,
    pieces: Mapping[int, tuple[str, float]],
    special: Mapping[str, int],
    unknown: int | None,
    fallback: bool,
    prefix: bool,
) -> bytes:
    """Return the message.

    Args:
        kind: as in `new_model`.
        pieces: piece and score by id.
        special: ids of special tokens, without the unknown one.
        unknown: id of the unknown token. The library needs one; None adds it after all others.
        fallback: whether the first pieces are bytes, the tokens of unknown characters.
        prefix: as in `new_model`.
    """
    if not pieces:
        raise UnsupportedError("it has no piece, and the library refuses an empty model")
    rows = {
        i: (piece, score, BYTE if fallback and piece in _BYTES else NORMAL)
        for i, (piece, score) in pieces.items()
    }
    rows |= {i: (name, 0.0, CONTROL) for name, i in special.items()}
    unknown = max(rows) + 1 if unknown is None else unknown
    rows[unknown] = (UNKNOWN, 0.0, UNKNOWN_PIECE)
    if {*rows} != {*range(len(rows))}:
        raise UnsupportedError("its ids have gaps, and in this format they are indices of a list")
    seen: dict[str, int] = {}
    for i, (piece, _, _) in rows.items():
        if seen.setdefault(piece, i) != i:
            raise UnsupportedError(f"two ids are spelled {quoted(piece)}")
        if "\0" in piece:
            raise UnsupportedError(
                f"its token {quoted(piece)} contains NUL, which the library refuses"
            )
    model = new_model(kind, [rows[i] for i in range(len(rows))], unknown, prefix=prefix)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


_BYTES = frozenset(BYTES)

FORMAT = replace(
    library.SENTENCEPIECE, write=_write, by_line=True, algorithms=("sentencepiece", "unigram")
)

"""Tokenizer files that libraries train on the sample texts."""

from __future__ import annotations

import io
from pathlib import Path

import sentencepiece

SAMPLES = Path(__file__).resolve().parents[2] / "sample_texts"
TEXTS = [
    *("arabic-hindi", "banana", "chinese-japanese"),
    *("don-quijote", "emoji-and-unicode", "english-prose"),
]
LINES = [line for text in TEXTS for line in (SAMPLES / f"{text}.txt").open()]
LINES = [line.strip() for line in LINES if line.strip()][:400]


def sentencepiece_model(**options: object) -> bytes:
    """Return the .model of a tokenizer that the library trains on the samples."""
    writer = io.BytesIO()
    settings = {"vocab_size": 600, "hard_vocab_limit": False, "minloglevel": 2} | options
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=writer, **settings
    )
    return writer.getvalue()

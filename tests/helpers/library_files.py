"""Tokenizer files that libraries train on the sample texts."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import sentencepiece

from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer

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


def tekken(tokenizer: Tokenizer, special: int, unused: int = 0) -> dict[str, Any]:
    """Return a tekken.json of merges over bytes, with special tokens and unused ranks."""
    files = formats.dump(tokenizer, "tiktoken")
    rows = [line.split() for line in files["tokenizer.tiktoken"].decode().splitlines()]
    vocab = [{"rank": int(rank), "token_bytes": raw, "token_str": None} for raw, rank in rows]
    config = {
        "pattern": json.loads(files["tokenizer.tiktoken.json"])["pat_str"],
        "num_vocab_tokens": len(vocab),
        "default_vocab_size": len(vocab) - unused + special,
        "default_num_special_tokens": special,
        "version": "v3",
    }
    return {"config": config, "vocab": vocab}

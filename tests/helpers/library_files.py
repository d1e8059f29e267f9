"""Tokenizer files that libraries train on the sample texts."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import sentencepiece

from bpeviz import formats
from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.tokenizer import Tokenizer
from helpers.gguf_files import gguf_file

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


RWKV = [*(bytes([byte]) for byte in range(256)), b"low", b" the"]
READ_ONLY = {
    "gguf": {
        "model.gguf": gguf_file(
            {
                "model": "gpt2",
                "pre": "gpt-2",
                "tokens": [*CHARACTER_OF.values(), "lo", "low", "<|e|>"],
                "merges": ["l o", "lo w"],
                "token_type": [1] * 258 + [3],
                "eos_token_id": 258,
            }
        )
    },
    "rwkv": {
        "rwkv_vocab.txt": "".join(
            f"{i} {raw!r} {len(raw)}\n" for i, raw in enumerate(RWKV, 1)
        ).encode()
    },
    "wordpiece": {"vocab.txt": b"[PAD]\n[UNK]\nlow\nl\n##er\n##est\n##o\n##w\nt\n##h\n##e\n"},
    "clip": {"a.txt": b'"bpe_simple_vocab_16e6.txt#version: 0.2\nl o\nlo w</w>\n'},
}
"""Files of formats that bpeviz reads, and does not write."""


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

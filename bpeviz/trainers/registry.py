"""The registry of trainers, in the order in which the pages list them."""

from __future__ import annotations

from bpeviz.trainers import (
    bpe,
    continued_bpe,
    multilingual_bpe,
    scaffold_bpe,
    sentencepiece_bpe,
    superbpe,
    unigram,
    wordpiece,
)
from bpeviz.trainers.base import Trainer

TRAINERS: dict[str, Trainer] = {
    trainer.key: trainer
    for trainer in (
        bpe.TRAINER,
        wordpiece.TRAINER,
        unigram.TRAINER,
        sentencepiece_bpe.TRAINER,
        scaffold_bpe.TRAINER,
        superbpe.TRAINER,
        multilingual_bpe.TRAINER,
        continued_bpe.TRAINER,
    )
}

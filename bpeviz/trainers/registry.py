"""The registry of trainers, in the order in which the pages list them."""

from __future__ import annotations

from bpeviz.core.training import Training
from bpeviz.trainers import (
    bpe_training,
    continued_bpe,
    multilingual_bpe,
    parity_bpe,
    scaffold_bpe,
    sentencepiece_bpe,
    superbpe,
    unigram,
    wordpiece,
)
from bpeviz.trainers.base import Trainer
from bpeviz.trainers.screen_texts import ScreenTexts

TRAINERS: dict[str, Trainer] = {
    trainer.key: trainer
    for trainer in (
        bpe_training.TRAINER,
        wordpiece.TRAINER,
        unigram.TRAINER,
        sentencepiece_bpe.TRAINER,
        scaffold_bpe.TRAINER,
        superbpe.TRAINER,
        multilingual_bpe.TRAINER,
        parity_bpe.TRAINER,
        continued_bpe.TRAINER,
    )
}


def texts_of(training: Training) -> ScreenTexts:
    """Return the on-screen texts about a training."""
    return TRAINERS[training.algorithm].texts

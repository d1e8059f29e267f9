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
from bpeviz.trainers.base import Learner

LEARNERS: dict[str, Learner] = {
    learner.key: learner
    for learner in (
        bpe.LEARNER,
        wordpiece.LEARNER,
        unigram.LEARNER,
        sentencepiece_bpe.LEARNER,
        scaffold_bpe.LEARNER,
        superbpe.LEARNER,
        multilingual_bpe.LEARNER,
        continued_bpe.LEARNER,
    )
}

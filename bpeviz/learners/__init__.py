"""The learners: one algorithm a file, all with the same interface, listed in one registry.

A new algorithm is one new file with a `LEARNER`, and its line in `LEARNERS`.
"""

from __future__ import annotations

from bpeviz.learners import (
    adaptive,
    bpe,
    multilingual,
    scaffold,
    sentencepiece,
    superbpe,
    unigram,
    wordpiece,
)
from bpeviz.learners.interface import Corpus, Learner, Option

LEARNERS: dict[str, Learner] = {
    learner.key: learner
    for learner in (
        bpe.LEARNER,
        wordpiece.LEARNER,
        unigram.LEARNER,
        sentencepiece.LEARNER,
        scaffold.LEARNER,
        superbpe.LEARNER,
        multilingual.LEARNER,
        adaptive.LEARNER,
    )
}

__all__ = ["LEARNERS", "Corpus", "Learner", "Option"]

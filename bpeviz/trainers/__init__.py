"""Training algorithms: one file each, with the same interface, listed in `registry`.

To add one, write a file that declares a `TRAINER` and add its line to `registry`.
"""

from __future__ import annotations

from bpeviz.trainers.base import Corpus, Option, Trainer
from bpeviz.trainers.registry import TRAINERS, texts_of

__all__ = ["TRAINERS", "Corpus", "Option", "Trainer", "texts_of"]

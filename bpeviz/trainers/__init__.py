"""Training algorithms: one file each, with the same interface, listed in `registry`.

To add one, write a file that declares a `TRAINER` and add its line to `registry`.
"""

from __future__ import annotations

from bpeviz.trainers.base import Corpus, Option, Options, Trainer
from bpeviz.trainers.registry import TRAINERS, texts_of

__all__ = ["TRAINERS", "Corpus", "Option", "Options", "Trainer", "texts_of"]

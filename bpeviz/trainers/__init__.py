"""Training algorithms: one file each, with the same interface, listed in `registry`.

To add one, write a file that declares a `LEARNER` and add its line to `registry`.
"""

from __future__ import annotations

from bpeviz.trainers.base import Corpus, Learner, Option
from bpeviz.trainers.registry import LEARNERS

__all__ = ["LEARNERS", "Corpus", "Learner", "Option"]

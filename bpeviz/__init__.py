"""bpeviz: learn, apply, and see tokenizers.

>>> import bpeviz
>>> training = bpeviz.train("low lower lowest newest widest", merges=4)
>>> [token.label for token in training.tokenizer().tokens("lowest")]
['low', 'est']
"""

from __future__ import annotations

from bpeviz.api import load, read, save, train
from bpeviz.boundaries import NEVER, Boundaries
from bpeviz.formats import FormatError
from bpeviz.merging import Merge
from bpeviz.pretokenize import SplitError
from bpeviz.tokenizer import Token, Tokenizer
from bpeviz.training import Training

__all__ = [
    "NEVER",
    "Boundaries",
    "FormatError",
    "Merge",
    "SplitError",
    "Token",
    "Tokenizer",
    "Training",
    "load",
    "read",
    "save",
    "train",
]

"""bpeviz: train, apply and visualize tokenizers.

>>> import bpeviz
>>> training = bpeviz.train("low lower lowest newest widest", merges=4)
>>> [token.label for token in training.tokenizer().tokens("lowest")]
['low', 'est']
>>> bpeviz.pretokenize("I'll go!", "gpt2")
['I', "'ll", ' go', '!']
>>> bpeviz.PATTERNS["gpt2"].title
'GPT-2'
"""

from __future__ import annotations

from bpeviz import interrupts as _interrupts  # noqa: F401  # first: the others take a second

# isort: split
from bpeviz.analysis.comparison import compare
from bpeviz.analysis.lines import worst_lines
from bpeviz.api import load, read, save, train
from bpeviz.core.boundaries import NEVER, Boundaries
from bpeviz.core.merges import Merge
from bpeviz.core.tokenizer import Token, Tokenizer
from bpeviz.core.training import Training
from bpeviz.formats import FormatError
from bpeviz.pretokenizers.patterns import PATTERNS, SplitError, pretokenize
from bpeviz.version import __version__
from bpeviz.views import notebook as _notebook  # noqa: F401  # lets notebooks show results
from bpeviz.views.playable import to_html

__all__ = [
    "NEVER",
    "PATTERNS",
    "Boundaries",
    "FormatError",
    "Merge",
    "SplitError",
    "Token",
    "Tokenizer",
    "Training",
    "__version__",
    "compare",
    "load",
    "pretokenize",
    "read",
    "save",
    "to_html",
    "train",
    "worst_lines",
]

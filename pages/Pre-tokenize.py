"""Pre-tokenize: how a text is split into pre-tokens before training."""

from bpeviz.ui.page import frame
from bpeviz.ui.pages import pretokenize

with frame(pretokenize.PAGE) as side:
    pretokenize.show(side)

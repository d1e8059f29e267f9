"""Pre-tokenize: how a text is split into pre-tokens before training."""

from bpeviz.ui.inputs.text import TEXT, choose_text
from bpeviz.ui.page import frame
from bpeviz.ui.pages import pretokenize

with frame(pretokenize.PAGE) as side:
    with side:
        text = choose_text(TEXT)
    pretokenize.show(text, pretokenize.choose())

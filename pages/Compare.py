"""Compare: several tokenizers side by side on the same text."""

from bpeviz.ui.page import frame
from bpeviz.ui.pages import compare

with frame(compare.PAGE) as side:
    compare.show(side)

"""The chapters of the Learn page: one file each, listed in `chapters`.

A chapter is data and a few small functions. The engine computes every figure and every right answer
from the text, so a changed text has other right answers. Nothing here draws a page;
`bpeviz.ui.learn.page` does.
"""

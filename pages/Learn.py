"""Learn: short chapters, each with a prediction before the result."""

from bpeviz.ui.learn.page import PAGE, show
from bpeviz.ui.page import frame

with frame(PAGE):
    show()

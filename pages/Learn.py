"""Learn: short chapters, each with a prediction before the result."""

from bpeviz.ui.page import frame
from bpeviz.ui.pages import learn

with frame(learn.PAGE):
    learn.show()

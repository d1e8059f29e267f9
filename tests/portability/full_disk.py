"""Train, compare and export while no process can write a byte to a file.

`test_portability.py` starts this script, and its limit of file sizes holds for all child processes.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]

resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
tempfile.tempdir = None
try:
    tempfile.gettempdir()
except FileNotFoundError:
    print("full")

from bpeviz.formats import FORMATS  # noqa: E402
from bpeviz.libraries import pool as library_pool  # noqa: E402 (the disk is full when they start)
from bpeviz.libraries import worker as library_worker  # noqa: E402
from bpeviz.pretokenizers import expressions  # noqa: E402
from bpeviz.ui import export_dialog  # noqa: E402

TEXT = "".join(f"low lower lowest {number} " for number in range(4_000))
made = 0
whole_button = export_dialog._button


def button(key: str, file: str, label: str, make: object, **options: Any) -> None:
    """Draw a button, and make its file at once."""
    global made
    assert callable(make)
    assert make()
    made += 1
    whole_button(key, file, label, make, **options)


export_dialog._button = button
app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
app.session_state["text_sample"] = "own"
app.session_state["text_box"] = TEXT
app.session_state["share"] = True
app.run()
assert not app.exception, app.exception
assert not app.error, app.error
assert not app.warning, app.warning
app.button(key="along_train").click().run()
assert not app.exception, app.exception
assert made > len(FORMATS) / 2, made
for page in ("Compare", "Inspect", "Pre-tokenize", "Algorithms", "Learn"):
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    assert app.session_state["text_box"] == TEXT
assert expressions.ends("b", "abc", 20) == [1, 2, 3]
assert library_pool.ask(
    library_pool.File(
        library_worker.HUGGING_FACE,
        b'{"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"added_tokens":[]}',
    ),
    library_worker.IDS,
    b"a",
)
print("done", file=sys.stdout)

# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "streamlit~=1.67.0",
#   "pandas~=3.1",
#   "altair~=6.3",
#   "regex>=2026.11.15",
#   "tiktoken~=0.14",
#   "tokenizers~=0.23.3",
#   "sentencepiece~=0.2.3",
#   "jinja2~=3.1",
#   "cachetools~=8.0",
#   "orjson~=3.13",
#   "numpy~=2.4",
#   "pyarrow~=26.0",
#   'psutil~=7.2; sys_platform != "linux"',
#   "segno~=1.6",
#   "wcwidth~=0.9",
#   "pillow~=13.0",
#   "rich~=15.0",
#   "huggingface_hub~=2.4",
#   'uvloop~=0.23; sys_platform != "win32"',
#   "pip>=23",
# ]
# ///
"""Train: watch a tokenizer train, merge by merge.

`uv run app.py`, `python app.py` and `streamlit run app.py` serve the app. While it runs, Streamlit
runs this file as the page Train.
"""

import signal
import sys

runtime = sys.modules.get("streamlit.runtime")
serves = not (runtime and runtime.exists())
if serves and "bpeviz" not in sys.modules:
    print("bpeviz is starting.", flush=True)  # the imports take seconds

if __name__ == "app":  # imported by `streamlit run app.py`, which serves it
    import streamlit as st

    from bpeviz.ui import server

    app = st.App(__file__, **server.options())
elif __name__ == "__main__" and serves:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during imports would print a traceback

    from bpeviz.cli.main import main

    sys.exit(main(["app", *sys.argv[1:]]))
else:
    from bpeviz.ui.page import frame
    from bpeviz.ui.pages import train

    with frame(train.PAGE) as side:
        train.show(side)

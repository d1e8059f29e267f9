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
#   "rich~=15.0",
#   "huggingface_hub~=2.4",
#   'uvloop~=0.23; sys_platform != "win32"',
#   "pip>=23",
# ]
# [tool.uv]
# constraint-dependencies = [
#   "altair==6.3.0",
#   "annotated-doc==0.0.7",
#   "annotated-types==0.8.0",
#   "anyio==4.16.0",
#   "ast-serialize==0.13.1",
#   "attrs==26.1.0",
#   "axe-playwright-python==0.1.8",
#   "cachetools==8.0.2",
#   "certifi==2026.10.19.post1",
#   "charset-normalizer==3.5.3",
#   "click==8.5.1",
#   "cloudpickle==3.1.3",
#   "colorama==0.4.6 ; sys_platform == 'win32'",
#   "dask==2026.8.0",
#   "defusedxml==0.7.1",
#   "distributed==2026.8.0",
#   "execnet==2.1.2",
#   "filelock==4.3.1",
#   "fsspec==2026.9.0",
#   "greenlet==3.5.6",
#   "grimp==3.20",
#   "h11==0.16.0",
#   "hatchling==1.33.0",
#   "hf-xet==1.8.0 ; platform_machine == 'AMD64' or platform_machine == 'ARM64' or platform_machine == 'aarch64' or platform_machine == 'amd64' or platform_machine == 'arm64' or platform_machine == 'x86_64'",
#   "httpcore2==2.16.2 ; sys_platform != 'emscripten'",
#   "httpx2==2.16.2",
#   "httpx2-jsfetch==1.0 ; python_full_version >= '3.12' and sys_platform == 'emscripten'",
#   "huggingface-hub==2.4.0",
#   "hypothesis==6.170.17",
#   "idna==3.20",
#   "import-linter==2.17",
#   "importlib-metadata==10.2.0 ; python_full_version < '3.12'",
#   "iniconfig==2.3.1",
#   "itsdangerous==2.2.0",
#   "jinja2==3.1.6",
#   "joblib==1.6.0",
#   "jsonschema==4.26.0",
#   "jsonschema-specifications==2025.9.1",
#   "lazy-importer==0.1.0 ; python_full_version < '3.12'",
#   "librt==0.17.0 ; platform_python_implementation != 'PyPy'",
#   "locket==1.0.0",
#   "markdown-it-py==4.3.0",
#   "markupsafe==3.0.4",
#   "mdurl==0.1.2",
#   "mock==5.2.0",
#   "msgpack==1.2.4",
#   "mypy==2.4.1",
#   "mypy-extensions==1.2.0",
#   "narwhals==2.29.0",
#   "nltk==3.10.4",
#   "numpy==2.4.6 ; python_full_version < '3.12'",
#   "numpy==2.5.5 ; python_full_version >= '3.12'",
#   "orjson==3.13.0",
#   "packaging==26.4",
#   "pandas==3.1.1",
#   "pandas-stubs==3.1.0.261029",
#   "partd==1.4.2",
#   "pathspec==1.1.1",
#   "pillow==13.0.0",
#   "playwright==1.65.2",
#   "pluggy==1.7.0",
#   "protobuf==7.36.2",
#   "psutil==7.2.2",
#   "pyarrow==26.0.1",
#   "pydantic==2.14.4",
#   "pydantic-core==2.50.5",
#   "pydeck==0.9.3",
#   "pygments==2.21.0",
#   "pyphen==0.18.1",
#   "pytest==9.2.0",
#   "pytest-xdist==3.8.0",
#   "python-dateutil==4.0.0",
#   "python-multipart==0.0.34",
#   "pyyaml==6.0.4",
#   "referencing==0.37.0",
#   "regex==2026.11.19",
#   "requests==2.34.2",
#   "rich==15.0.0",
#   "rpds-py==2026.9.1",
#   "ruff==0.17.6",
#   "rustbpe==0.1.0",
#   "safetensors==0.8.0",
#   "segno==1.6.6",
#   "sentencepiece==0.2.3",
#   "shellingham==1.5.4",
#   "sortedcontainers==2.4.0",
#   "starlette==1.10.0",
#   "streamlit==1.67.0",
#   "subword-nmt==0.3.8",
#   "tblib==3.2.2",
#   "tiktoken==0.14.0",
#   "tokenizers==0.23.3",
#   "tomlkit==0.15.2",
#   "toolz==1.2.0",
#   "tornado==6.6.1",
#   "tqdm==4.70.1",
#   "transformers==5.24.0",
#   "trove-classifiers==2026.9.21.13",
#   "truststore==0.10.5 ; sys_platform != 'emscripten'",
#   "typer==0.29.2",
#   "types-cachetools==7.0.0.20260713",
#   "types-psutil==7.2.2.20261111",
#   "typing-extensions==4.16.0",
#   "typing-inspection==0.4.5",
#   "tzdata==2026.6",
#   "urllib3==2.8.0",
#   "uv==0.13.9",
#   "uvicorn==0.54.0",
#   "uvloop==0.23.0 ; sys_platform != 'win32'",
#   "watchdog==7.1.0 ; sys_platform != 'darwin'",
#   "wcwidth==0.9.4",
#   "websockets==17.4",
#   "zict==3.0.0",
#   "zipp==4.1.2 ; python_full_version < '3.12'",
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

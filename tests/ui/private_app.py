"""An app with a fragment inside a container and an uploader, whose runs end slowly."""

import time
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from bpeviz.ui import private


@st.fragment
def part() -> None:
    st.checkbox("fragment", key="fragment")


with st.container():
    part()
st.checkbox("page", key="page")
st.file_uploader("one", key="one")
st.info(f"{len(private.uploads())} {sum(private.upload_sizes().values())}")

end = ScriptRunner._on_script_finished
if end.__module__ != __name__:

    def end_slowly(runner: Any, *arguments: Any) -> None:
        time.sleep(0.5)
        end(runner, *arguments)

    ScriptRunner._on_script_finished = end_slowly  # type: ignore[method-assign]

"""An empty Streamlit page, for `first_paint.py`."""

import streamlit as st

st.text("Empty")

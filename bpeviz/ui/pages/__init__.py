"""The body of each page, drawn beside its inputs.

To add a page, write its file here with a `PAGE`, the file that Streamlit runs in `pages/`, and its
line in `registry`.
"""

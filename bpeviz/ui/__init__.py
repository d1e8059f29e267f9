"""All that knows Streamlit: the page frame, shared inputs, caches, and the components."""

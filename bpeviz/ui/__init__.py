"""The Streamlit user interface: page frame, inputs, pages and components."""

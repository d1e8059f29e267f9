"""Workarounds for Streamlit's run model, each with the behavior that it answers."""

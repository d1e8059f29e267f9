"""The pages and websockets of rooms, beside Streamlit's: `bpeviz.room` has the rooms themselves."""

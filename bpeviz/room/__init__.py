"""Rooms: what a leader shows to followers, and their votes, in memory only and without Streamlit.

`contents` divides a player's payload by steps, `votes` counts answers, and `rooms` connects
members.
"""

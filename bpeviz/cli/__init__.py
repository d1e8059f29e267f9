"""The commands of ``python -m bpeviz``: one module each.

A command's module has `add`, which says what may be asked of it, and `run`, which does it and
returns the exit code. `main` chooses among them, and `plumbing` holds what they share.
"""

"""The commands of ``python -m bpeviz``, one module each.

The module of a command has `add`, which declares its arguments, and `run`, which returns the exit
code. `main` selects the command. The commands share `arguments`, `errors`, `files` and `progress`.
"""

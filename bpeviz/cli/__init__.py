"""The commands of ``python -m bpeviz``, one module each.

The module of a command has `COMMAND`, which declares its arguments, and `run`, which returns the
exit code. `main` selects the command. All share `arguments`, `errors`, `files` and `progress`.
"""

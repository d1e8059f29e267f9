"""The commands of ``python -m bpeviz``, one module each.

The docstring of a command's module is its help, with the words of its options. The module has
`COMMAND`, which declares them, and `run`, which returns the exit code. `main` selects the command.
All share `arguments`, `errors`, `files` and `progress`.
"""

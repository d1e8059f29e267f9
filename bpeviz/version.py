"""The version of bpeviz."""

__version__ = "0.1.0"

"""The chapters of earlier links and run sheets, and where their subjects are now."""

MOVED = {
    "text-is-numbers": "units",
    "splitting-rules": "fences",
    "why-subwords": "units",
    "first-merge": "merge",
    "training-loop": "merge",
    "how-large": "stop",
    "pre-tokenization": "fences",
    "encoding": "encode",
    "two-ways": "encode",
    "word-ends": "encode",
    "published": "real",
    "sentencepiece": "end",
    "other-trainers": "end",
}
"""The key of the chapter that has the subject now, by the key that it had."""

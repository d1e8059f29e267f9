"""The error of downloads."""

from __future__ import annotations

import errno
from pathlib import Path


class VocabularyUnavailable(ValueError):  # noqa: N818 (a public name)
    """A tokenizer could not be downloaded. The text is a user-facing message."""


def why_not_stored(folder: Path, error: OSError) -> str:
    """Return why a file could not be stored in a folder, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The disk is full: a vocabulary file could not be stored in {folder}. Free some "
            "space, or set the environment variable TIKTOKEN_CACHE_DIR to a folder on another disk."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what = f"The folder {folder} is not writable"
    else:
        what = f"The folder {folder} cannot be used ({error.strerror or error})"
    return (
        f"{what}: a vocabulary file could not be stored there. Set the environment variable "
        "TIKTOKEN_CACHE_DIR to another folder."
    )

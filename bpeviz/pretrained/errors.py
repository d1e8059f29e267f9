"""The error of downloads, and the reasons of others in words."""

from __future__ import annotations

import errno
from pathlib import Path

from bpeviz import installation
from bpeviz.pretrained import transfer


class VocabularyUnavailable(ValueError):  # noqa: N818 (a public name)
    """A tokenizer could not be downloaded. The text is a user-facing message."""


_REASONS = {
    "TooLargeError": "it exceeds {limits.most_bytes:,} bytes",
    "TimeoutError": "it was not finished within {limits.total:g} s",
    "TimeoutException": "there was no response for {limits.silence:g} s",
    "GatedRepoError": "it is gated: its owner must grant access",
    "RevisionNotFoundError": "there is no such revision",
    "RepositoryNotFoundError": "it does not exist, or is private",
    "OfflineModeIsEnabled": "HF_HUB_OFFLINE is set",
    "TransportError": "the server could not be reached",
}
"""Why a download failed, by the name of the class of its error, or of a base of it."""


def reason(error: Exception) -> str:
    """Return why a download failed, without addresses, which can contain passwords."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return installation.missing(error.name)
    names = [kind.__name__ for kind in type(error).__mro__]
    if (words := next((_REASONS[name] for name in names if name in _REASONS), None)) is not None:
        return words.format(limits=transfer.LIMITS)
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return f"access is refused (status {status}): it is gated or private"
    return f"the server answered with status {status}" if status else type(error).__name__


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

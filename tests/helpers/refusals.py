"""A call that is refused: the class of its error, and a message for the user.

Wordings are free. A test says what the message names, and asks for `error` where a page or a
command reacts to a class of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LOWER_CASE = ("bpeviz", "llama.cpp", "minbpe", "subword-nmt", "tiktoken", "tokenizers")
"""Names with which a sentence may begin."""

ENDS = (".", "?", "!", ".”", "?”", "!”", ".)")


def refusal(
    call: Callable[..., Any],
    *arguments: Any,
    naming: str | tuple[str, ...] = (),
    error: type[Exception] = Exception,
    **options: Any,
) -> str:
    """Check that a call is refused in a sentence, and return the sentence.

    Args:
        call: What to call with `arguments` and `options`.
        arguments: Its arguments.
        naming: What the message names of what the user gave; several, where it is a tuple.
        error: The class of the error; by default any of the project, or ValueError itself.
        options: Its arguments by name.
    """
    with pytest.raises(error) as refused:
        call(*arguments, **options)
    kind = type(refused.value)
    ours = kind.__module__.partition(".")[0] == "bpeviz"
    assert ours or kind is ValueError, f"{kind.__name__} is not an error for users: {refused.value}"
    message = str(refused.value)
    assert_sentence(message, naming)
    return message


def assert_sentence(message: str, naming: str | tuple[str, ...] = ()) -> None:
    """Check that a message begins with a capital or a name, ends with a period, and names these."""
    names = (naming,) if isinstance(naming, str) else naming
    assert message == message.strip() != ""
    is_name = not message.split()[0].rstrip(",:").isalpha()  # such as of a file
    assert not message[0].islower() or is_name or message.startswith((*names, *LOWER_CASE)), message
    assert message.endswith(ENDS), message
    assert message.isprintable(), message
    assert len(message) < 700, message
    assert [name for name in names if name not in message] == [], message

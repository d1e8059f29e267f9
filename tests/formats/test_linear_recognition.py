"""A file of any content is recognized or refused in a time that grows with its size only."""

from __future__ import annotations

from time import process_time
from unittest.mock import patch

import pytest
from helpers.refusals import refusal

from bpeviz import formats
from bpeviz.formats import FormatError

SIZE = 400_000

REPEATED = {
    "base64 without a space": (b"YWFh", b" 1\n"),
    "base64 in the second line": (b"YWFh", b""),
    "quotation marks of RWKV": (b"'1 ", b""),
    "an entry without an end": (b"a", b'": x'),
    "digits": (b"1", b""),
    "pairs": (b"a b\n", b""),
}
BEGINNINGS = {
    "base64 in the second line": b"YWFh 1\n",
    "quotation marks of RWKV": b"1 '",
    "an entry without an end": b'{"',
}


@pytest.mark.parametrize("case", REPEATED)
def test_a_file_of_repetitions_is_refused_in_linear_time(case: str) -> None:
    part, end = REPEATED[case]
    content = BEGINNINGS.get(case, b"") + part * (SIZE // len(part)) + end
    began = process_time()
    refusal(formats.parse, {"it.txt": content}, error=FormatError, naming="it.txt")
    assert process_time() - began < 2


def test_a_lack_of_memory_is_refused_in_a_sentence() -> None:
    with patch.object(formats, "_detected", side_effect=MemoryError):
        refusal(formats.parse, {"large.txt": b"a"}, error=FormatError, naming="large.txt")

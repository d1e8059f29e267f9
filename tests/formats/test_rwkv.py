"""RWKV's vocabulary: the longest token at each place."""

from __future__ import annotations

import pytest
from helpers.difficult import DIFFICULT
from helpers.refusals import refusal

from bpeviz import formats
from bpeviz.formats import FormatError

MORE = ["ab", "abc", "é", " the", "日本", b"\xe6\x97", "\r\n", "'\"", "    "]


def line(token_id: int, token: str | bytes) -> str:
    raw = token.encode() if isinstance(token, str) else token
    return f"{token_id} {token!r} {len(raw)}\n"


def vocabulary() -> str:
    tokens: list[str | bytes] = [chr(byte) for byte in range(128)]
    tokens += [bytes([byte]) for byte in range(128, 256)]
    return "".join(line(token_id, token) for token_id, token in enumerate([*tokens, *MORE], 1))


def test_rwkv_vocabulary_takes_the_longest_token_from_the_left() -> None:
    ours = formats.parse({"rwkv_vocab.txt": vocabulary().encode()})
    known = {token.encode() if isinstance(token, str) else token: 257 + i
             for i, token in enumerate(MORE)}  # fmt: skip
    for text in (*DIFFICULT, "abcab the 日本 日x\r\n'\"     abc"):
        raw, expected = text.encode(), []
        while raw:
            longest = max((one for one in known if raw.startswith(one)), key=len, default=raw[:1])
            expected.append(known.get(longest, longest[0] + 1))
            raw = raw[len(longest) :]
        assert ours.encode(text) == expected
        bounds = ours.boundaries(text)
        assert bounds.ids(0).tolist() == expected
        assert bounds.cuts(0).tolist()[-1:] == ([len(text.encode())] if text else [])
        assert ours.decode(expected) == text
    assert ours.steps == 0
    assert "longest" in (ours.without_steps or "")
    assert [*ours.find("·the")] == [260]
    assert (ours.vocab_size, ours.is_atom(1), ours.is_atom(257)) == (257 + len(MORE), True, False)
    refusal(ours.token_bytes, 0, naming="0")


@pytest.mark.parametrize(
    ("changed", "fact"),
    [
        (vocabulary().replace(line(258, "abc"), "258 'abc' 4\n"), "3 bytes"),
        (vocabulary().replace(line(258, "abc"), line(257, "abc")), "twice"),
        (vocabulary().replace(line(258, "abc"), line(258, "ab")), "twice"),
        (vocabulary().replace(line(98, "a"), ""), "0x61"),
        (vocabulary().replace(line(258, "abc"), "258 print('abc') 3\n"), "quotation marks"),
        (vocabulary().replace(line(258, "abc"), r"258 '\xa' 3" + "\n"), "literal"),
        (vocabulary().replace(line(258, "abc"), r"258 '\ud800' 3" + "\n"), "surrogate"),
    ],
)
def test_rwkv_vocabulary_that_is_damaged_is_refused(changed: str, fact: str) -> None:
    with pytest.raises(FormatError, match=fact):
        formats.parse({"rwkv_vocab.txt": changed.encode()})

"""Lines with the most tokens per character."""

from __future__ import annotations

import pytest
import reference_comparison
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.core.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return bpeviz.train("a river, a river\n\n", merges=6, pattern="none").tokenizer()


@given(lines=st.lists(st.sampled_from(["", " ", "a river", "¿Dónde?", "安娜 👋"]), max_size=20))
def test_worst_lines_have_the_most_tokens_per_character(
    tokenizer: Tokenizer, lines: list[str]
) -> None:
    text = "\n".join(lines).rstrip("\n")
    worst = bpeviz.worst_lines(text, tokenizer, 99)
    numbers = [i for i, line in enumerate(lines, 1) if line.strip()]
    assert sorted(line.number for line in worst) == numbers
    assert all(line.text == lines[line.number - 1] for line in worst)
    ratios = [line.tokens_per_character for line in worst]
    assert ratios == sorted(ratios, reverse=True)
    if not numbers:
        return
    starts = [token.start for token in tokenizer.tokens(text)]
    expected = reference_comparison.tokens_by_line(text, starts)
    assert [line.tokens for line in sorted(worst)] == expected
    ends = [sum(len(line) + 1 for line in lines[: number - 1]) for number in numbers[1:]]
    sizes = [end - begin for begin, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    assert sorted(ratios) == pytest.approx(
        sorted(tokens / size for tokens, size in zip(expected, sizes, strict=True))
    )
    assert bpeviz.worst_lines(text, tokenizer, 1) == worst[:1]

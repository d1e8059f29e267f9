"""The false claims on the last page: figures from outside, and links that open."""

from __future__ import annotations

from collections import Counter

import pytest

import bpeviz
from bpeviz.pretrained import download
from bpeviz.ui.learn.people_say import HUGS, HUGS_SIZE, SAYINGS, Saying, words

EXPECTED = {
    "hello": "It is `h` + `e` or `e` + `l`: each occurs 3 times. `ll` occurs only 2 times",
    "quijote": "has 79 tokens.~~ (wrong) It has 81",
    "digits": "`1000` becomes `1000`. GPT-4 brought the rule: `100` `0`",
    "coche": "into `coche` `·azul`",
    "case": "`DON` `'` `T`, but `don` `'t`",
    "quotes": "comes back as “quoted”",
    "finer": "131 tokens without a merge become 81 with 20",
    "order": "`!` is 0, and `a` is 64, though its byte is 97",
    "pasted": "makes 7 ordinary tokens of it",
    "course": "it is `hu` + `##gs`: 1/15 is more than 2/45",
    "mark": "`low` begins as `l` `o` `w</w>`",
    "spaces": "`a`, 16 spaces and `b` are 3 tokens, and one of them is 15 spaces",
    "overlap": "`a` + `a` counts 4, as neighbors may overlap, and 2 are replaced",
}


@pytest.mark.parametrize("saying", SAYINGS, ids=lambda saying: saying.key)
def test_correction_has_known_figures(saying: Saying) -> None:
    if not all(map(download.available, saying.needs)):
        pytest.skip("It needs published vocabularies.")
    assert EXPECTED[saying.key] in words(saying)


def test_links_open_at_what_refutes_the_claim() -> None:
    links = {saying.key: saying.link.values for saying in SAYINGS}
    assert links["order"]["token_ids"] is True
    training = bpeviz.train(
        Counter(HUGS), "wordpiece", vocab_size=HUGS_SIZE, min_count=1, pattern="whitespace"
    )
    assert links["course"]["largest"] == HUGS_SIZE
    assert training.steps == 3

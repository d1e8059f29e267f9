"""Lists of ids in the forms in which programs print them."""

from __future__ import annotations

import json
import pprint
from typing import Any

import numpy as np
import pytest
from helpers.properties import examples
from helpers.refusals import refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from bpeviz import limits
from bpeviz.corpus.ids import IdsError, read_ids

TORCH = "tensor([[{0}],\n        [{0}]], device='cuda:0', dtype=torch.int32)"


@settings(max_examples=examples(100))
@given(ids=st.lists(st.integers(-5, 200_000), max_size=30))
def test_ids_are_read_in_every_form(ids: list[int]) -> None:
    words = [*map(str, ids)]
    encoded: dict[str, Any] = {"ids": ids, "tokens": ['"ids": 7'] * len(ids), "offsets": [[0, 1]]}
    batch = {"input_ids": [ids], "attention_mask": [[1] * len(ids)]}
    array = np.array(ids, np.int64)
    with np.printoptions(threshold=100):
        forms = [
            *(json.dumps(ids), " ".join(words), ",".join(words), "\n".join(words), str(ids)),
            *(json.dumps(batch), json.dumps(encoded), json.dumps(encoded, indent=2)),
            *(repr(batch), repr({"token_ids": (ids,)}), pprint.pformat({"tokens": ids})),
            *(str(array), repr(array), repr(array.astype(np.int32))),
            repr({"input_ids": array}),
            f"[{', '.join(f'np.int64({i})' for i in ids)}]",
            f"{{'input_ids': tensor([[{', '.join(words)}]]), 'attention_mask': tensor([[1, 1]])}}",
        ]
    for form in forms:
        assert read_ids(form) == ids, form
    twice = [
        *(f"{json.dumps(encoded)}\n" * 2, json.dumps([encoded, encoded]), f"{ids}\n{ids}\n"),
        *(TORCH.format(", ".join(words)), json.dumps({"input_ids": [ids, ids]})),
    ]
    for form in twice:
        assert read_ids(form) == ids * 2, form


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1, two, 3", "“two” at character 4 is not an id"),
        ("1\n2\n3, x", "“x” at character 4 of line 3 is not an id"),
        ("1.5", "“1.5” at character 1"),
        ("١٢", "“١٢” at character 1"),
        ("1" * 19, "is not an id"),
        ("\x1b[31m", "“⟨001B⟩” at character 1"),
        ('{"ids": [1', "not an object in JSON or Python"),
        ('{"words": [1]}', "none of these lists"),
        ('[{"ids": [1]}, 2]: ', "not an object"),
        *((f'{{"ids": [1, {entry}]}}', "is not an id") for entry in ('"a"', "true", "1.0", "null")),
        ('{"ids": [1, 1' + "0" * 18 + "]}", "is not an id"),
        ('{"ids": ' + "[" * 15_000, "not an object"),
        ('{"ids": ' + "[" * 900 + "x" + "]" * 900 + "}", "not an object"),
        ("tensor([1, 2,  ..., 3, 4])", "abbreviated"),
        ("1 " * 3_000, "3,000 ids"),
        ("1" * 50_000, "50,000 characters"),
        ("<script>alert(1)</script>", "is not an id"),
        ("{'ids': __import__('os').getcwd()}", "not an object"),
    ],
)
def test_invalid_lists_are_reported(text: str, says: str) -> None:
    refusal(read_ids, text, limits.IDS, limits.ID_LIST, naming=says, error=IdsError)


def test_deep_lists_are_read() -> None:
    assert read_ids('{"ids": ' + "[" * 90 + "7" + "]" * 90 + "}") == [7]

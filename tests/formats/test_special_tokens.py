"""What is said of text beside special tokens; the contracts compare their ids with libraries."""

from __future__ import annotations

from helpers.library_tokenizers import files_of

from bpeviz import formats
from bpeviz.analysis.round_trip import round_trip
from bpeviz.analysis.trace import inspect, scored_words
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.huggingface.common import assigned_ids
from bpeviz.libraries.tokenizer import _stripped as stripped


def opened(kind: str) -> tuple[Tokenizer, list[str]]:
    """Return a tokenizer and its special tokens."""
    ours = formats.parse(files_of(kind))
    return ours, [name for name, i in ours.special_tokens.items() if i != ours.unknown_id]


def test_stripped_white_space_beside_a_special_token_is_a_loss_of_its_own() -> None:
    ours, names = opened("spaces around a special token")
    trip = round_trip(inspect(f"the {names[0]} old", ours, names))
    losses = {loss.title: loss.times for loss in trip.losses}
    assert losses == {"white space beside a special token": 1}


def test_loss_after_a_special_token_is_its_prefix() -> None:
    ours, names = opened("▁ after special tokens")
    trip = round_trip(inspect(f"the{names[0]}you", ours, names))
    assert trip.decoded == f"the{names[0]} you"
    (loss,) = trip.losses
    assert loss.title == "dummy prefix"
    assert "after a special token" in loss.why


def test_words_with_scores_lie_between_special_tokens() -> None:
    ours, names = opened("names in normalized text")
    found = inspect(f"Hi {names[0]}You", ours, names)
    assert names[0].lower() in found.normalized.text.lower()
    assert not {names[0], names[0].lower()} & {word.text for word in scored_words(found)}


def test_added_token_gets_the_next_id_after_the_vocabulary() -> None:
    entries = {"<s>": 0, "a": 1, "b": 2}
    assert assigned_ids(entries, {"<s>": 0, "<x>": 3, "<y>": 4}) == {"<s>": 0, "<x>": 3, "<y>": 4}


def test_stripped_space_is_not_taken_from_another_special_token() -> None:
    parts = [("<a> ", 1), ("<x>", 2), (" <b>", 3)]
    assert stripped(parts, {2: ["lstrip", "rstrip"]}) == parts
    ordinary = [("a ", None), ("<x>", 2), (" b", None)]
    both = [("a", None), (" <x> ", 2), ("b", None)]
    assert stripped(ordinary, {2: ["lstrip", "rstrip"]}) == both

"""SuperBPE against its definition (`reference_superbpe.py`), at every step."""

from __future__ import annotations

from typing import Any

import reference_superbpe
from helpers.candidates import check_candidates
from helpers.properties import many
from helpers.steps import check_steps
from helpers.texts import over
from hypothesis import example, given
from hypothesis import strategies as st

import bpeviz
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.trainers import texts_of
from bpeviz.trainers.superbpe import SuperTokenizer, SuperTraining

TEXTS = st.one_of(
    over("ab ", 60),
    over("ab: \n", 60),
    st.lists(
        st.sampled_from(["by the way", " by the", " way", " the", "\n", ".", " A", "  ", "12"]),
        max_size=16,
    ).map("".join),
    over("aé👍 \n.", 30),
)
HOW = st.fixed_dictionaries(
    {
        "pattern": st.sampled_from(["gpt2", "words", "whitespace", "none"]) | st.just("regex"),
        "expression": st.just("a+b?|b"),  # splits the same bytes in two ways
        "second": st.sampled_from(["none", "lines", "sentences"]),
        "atoms": st.sampled_from(["bytes", "characters"]),
        "ties": st.sampled_from(["first", "smallest", "bytes", "largest"]),
        "min_count": st.integers(1, 2),
        "max_words": st.integers(1, 4),
    }
)
WAY = "by the way, by the way she saw by the way\n" * 3


def train(text: str, how: dict[str, Any], transition: int, merges: int = 25) -> SuperTraining:
    """Train with `turn` merges before the second phase."""
    atoms = 256 if how.get("atoms") != "characters" else len({*text})
    training = bpeviz.train(text, "superbpe", merges=merges, transition=atoms + transition, **how)
    assert isinstance(training, SuperTraining)
    return training


def groups_of(text: str, training: SuperTraining) -> list[list[list[int]]]:
    how = training.pre_tokenizer
    pre_tokens = pretokenize(text, how.pattern, how.expression)
    pieces = {
        "none": [text],
        "lines": reference_superbpe.lines(text),
        "sentences": pretokenize(text, "sentences"),
    }[how.second]
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}

    def atoms(pre_token: str) -> list[int]:
        if how.atoms == "bytes":
            return list(pre_token.encode())
        return [atom_id.get(character, -1) for character in pre_token]

    return [
        [atoms(pre_token) for pre_token in group]
        for group in reference_superbpe.group_pre_tokens(pre_tokens, pieces)
    ]


@many()
@given(TEXTS, HOW, st.integers(0, 12), st.integers(0, 25))
@example("a b a b", {}, 0, 5)
@example("Answer: yes. Question: no. " * 5, {}, 0, 25)
@example("so be it. And so\n" * 6, {"second": "lines", "max_words": 30}, 6, 25)
@example("so be it. And so\n" * 6, {"second": "sentences", "max_words": 30}, 6, 25)
@example("one two three four five six seven " * 5, {"max_words": 2}, 20, 40)
def test_merges_equal_reference_loop(
    text: str, how: dict[str, Any], transition: int, merges: int
) -> None:
    training = train(text, how, transition, merges)
    expected, first_of_phase_2, reason = reference_superbpe.train(
        groups_of(text, training),
        training.alphabet,
        merges,
        transition,
        how.get("max_words", 4),
        how.get("ties", "first"),
        how.get("min_count", 1),
    )
    assert [merge._replace(note="") for merge in training.merges] == expected
    assert (training.transition_step, training.stopped) == (first_of_phase_2, reason)
    check_candidates(training, text)


@many()
@given(TEXTS, TEXTS, HOW, st.integers(0, 12))
@example("bbabaab", "babaabbab", {"pattern": "regex", "expression": "a+b?|b"}, 3)
def test_tokens_equal_reference_segmentation_at_every_step(
    corpus: str, text: str, how: dict[str, Any], transition: int
) -> None:
    """Check the training text, other text, and the tokenizer of each step."""
    training = train(corpus, how, transition)
    assert isinstance(training.tokenizer(), SuperTokenizer)
    for held in (corpus, text):
        groups = groups_of(held, training)

        def expected(step: int, groups: Any = groups) -> list[tuple[int, int]]:
            merges, atoms = training.merges[:step], len(training.alphabet)
            phase = training.transition_step
            return reference_superbpe.segment(groups, merges, phase, atoms)

        check_steps(training, held, expected)


# The two phases


def labels(training: SuperTraining) -> list[str]:
    return [training.name(merge.new_id) for merge in training.merges]


def test_first_phase_equals_bpe_and_second_joins_words() -> None:
    training = bpeviz.train(WAY, "superbpe", vocab_size=280, transition=266)
    bpe = bpeviz.train(WAY, "bpe", vocab_size=280)
    transition = training.transition_step
    assert transition == 10
    assert training.merges[:transition] == bpe.merges[:transition]
    assert not any("·" in name[1:] for name in labels(training)[:transition])
    assert "by·the·way" in labels(training)[transition:]
    noted = {i: merge.note for i, merge in enumerate(training.merges) if merge.note}
    assert noted == {transition: "from here on, merges may cross words"}
    assert texts_of(training).vocabulary(training, 10) == "256 bytes + 10 merges"
    assert (
        texts_of(training).vocabulary(training, 16)
        == "256 bytes + 10 merges within words + 6 across words"
    )

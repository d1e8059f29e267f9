"""BPE-dropout: merges are dropped at random, so that one word has many segmentations.

Source: Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword
Regularization", 2020, arXiv:1910.13267, Algorithm 1.

The vocabulary is that of ordinary byte-pair encoding. Dropout is for encoding the text on which a
model is trained, so that the model sees several segmentations of a word. Inference never uses it.

Each round lists all possible merges, each place by itself, and drops each with probability p. It
applies the earliest merge that is left (among equals, the leftmost). The first round that leaves
none is the last. So p = 0 is plain byte-pair encoding, and p = 1 leaves the atoms. With many
possible merges a round seldom leaves none, so a very long pre-token is merged almost completely.

Libraries differ in the details that the paper leaves open. Here a round makes one merge.
subword-nmt applies it at every place where it was not dropped, and only then draws again. Hugging
Face applies one, as here, but a queued merge that has become impossible also ends a round when it
is drawn. If no two places have the same pair and no two possible merges share a token, all agree.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from bpeviz.core.merges import MergeTokenizer
from bpeviz.core.merging import merge_by_rank

MOST_DRAWS = 20_000_000
"""The largest number of random numbers for one call: some ten seconds."""


def segmentations(
    tokenizer: MergeTokenizer, pre_token: str, strength: float, draws: int, seed: int
) -> Counter[tuple[int, ...]]:
    """Segment a pre-token `draws` times with dropout, and count each segmentation, given as ids.

    Args:
        tokenizer: The tokenizer whose merges are dropped.
        pre_token: The pre-token.
        strength: The probability that a merge is dropped, 0 to 1.
        draws: The number of draws.
        seed: The same seed gives the same segmentations.

    Raises:
        ValueError: A value is out of range, or would take too long.

    >>> from bpeviz import train
    >>> tokenizer = train("low low lower", merges=2, pattern="whitespace").tokenizer()
    >>> found = segmentations(tokenizer, "low", 0.5, draws=1_000, seed=1)
    >>> [[tokenizer.token_label(i) for i in ids] for ids, _ in found.most_common()]
    [['l', 'o', 'w'], ['low'], ['lo', 'w']]
    """
    if draws < 0:
        raise ValueError(f"The number of draws must be 0 or more, not {draws}.")
    row, _ = tokenizer.row(pre_token)
    if tokenizer.pre_tokenizer.drops(pre_token):
        row = ()
    if not 0 <= strength <= 1:
        raise ValueError(f"The probability of dropout must be between 0 and 1, not {strength}.")
    # Each of at most `atoms` rounds draws until a merge is not dropped; the last one draws for all.
    atoms = len(row)
    numbers = atoms * min(atoms, 1 / (1 - strength)) if strength < 1 else atoms
    if numbers * draws > MOST_DRAWS:
        raise ValueError(
            f"With p = {strength:g}, segmenting {atoms:,} atoms {draws:,} times would take too "
            "long. Use a shorter text, a smaller p, or fewer draws."
        )
    random = Random(seed)  # noqa: S311 - not for cryptography

    def segment() -> tuple[int, ...]:
        ids, _ = merge_by_rank(
            row,
            tokenizer._rank.get,
            lambda left, right, new: new,
            lambda: random.random() < strength,
        )
        return tuple(ids)

    return Counter(segment() for _ in range(draws))

"""Options that several trainers share."""

from __future__ import annotations

from bpeviz.trainers.base import Option

ATOMS = Option(
    "Start from",
    "Bytes: the text in UTF-8, with 256 atoms (the units before the first merge) and no unknown "
    "characters. Characters: those of the training text; any other is unknown later.",
    "bytes",
    {"bytes": "Bytes", "characters": "Characters"},
)
END_MARK = Option(
    "End-of-word mark",
    "The mark `</w>` distinguishes the end of a word from its middle (Sennrich et al. 2016). It is "
    "part of the last character, as in subword-nmt since version 0.2, or a separate symbol, as "
    "before. The two lead to different merges.",
    "none",
    {
        "none": "None",
        "attached": "Part of the last character",
        "symbol": "Separate symbol",
    },
    needs=("atoms", "characters"),
)
TIES = Option(
    "Ties between pairs",
    "Implementations break ties differently: minbpe takes the pair seen first, subword-nmt the "
    "lexicographically largest, courses that compare byte strings the smallest or the largest. "
    "The left tokens are compared first. Over characters, Hugging Face tokenizers takes the "
    "smallest ids.",
    "first",
    {
        "first": "First seen",
        "smallest": "Smallest ids",
        "bytes": "Lexicographically smallest",
        "largest": "Lexicographically largest",
    },
)
TIE_WINNERS = {
    "first": "the first in the text wins",
    "smallest": "the smallest ids win",
    "huggingface": "the smallest ids win",
    "bytes": "the lexicographically smallest wins",
    "largest": "the lexicographically largest wins",
}
"""What decides under each value of a tie rule, as half a sentence."""

UNMATCHED = Option(
    "Text that the pattern does not match",
    "For example, the commas between the matches of `\\w+`. Kept: it becomes pre-tokens. Dropped: "
    "it does not become a token. Only your own expressions and word lists leave such text, and "
    "NLTK's pattern, which skips symbols such as @.",
    "keep",
    {"keep": "Kept", "drop": "Dropped"},
)
MIN_COUNT = Option(
    "Minimum pair count",
    "Pairs with a lower count are not merged.",
    1,
    initial=2,
)

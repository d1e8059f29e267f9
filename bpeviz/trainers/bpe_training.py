"""Byte-pair encoding as a trainer: its options, and the merges of `bpe_loop`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.hidden_tokens import RestrictedTraining, rare_times
from bpeviz.core.longest_match import LongestMatchTraining
from bpeviz.core.training import MergeTraining
from bpeviz.pretokenizers.pretokenizer import Atoms, EndMark, PreTokenizer
from bpeviz.trainers.base import Corpus, Option, Options, Trainer
from bpeviz.trainers.bpe import TieRule
from bpeviz.trainers.bpe_loop import MergeLoop
from bpeviz.trainers.options import ATOMS, END_MARK, MIN_COUNT, TIES
from bpeviz.trainers.pre_tokens import lay_out
from bpeviz.trainers.preparation import PER_ATOM, count_pre_tokens, merge_limit
from bpeviz.trainers.screen_texts import texts_of_hidden


@dataclass(frozen=True, kw_only=True)
class BpeOptions(Options):
    """Options of BPE."""

    atoms: Atoms = ATOMS.field(
        help="Bytes: the text in UTF-8, with 256 atoms (the units before the first merge) and no "
        "unknown characters. This is byte-level BPE, or BBPE (Wang et al. 2019, arXiv:1909.03341). "
        "Characters: those of the training text; any other is unknown later."
    )
    end_mark: EndMark = END_MARK.field()
    ties: TieRule | Literal["huggingface"] = TIES.field(
        help="minbpe takes the pair seen first, subword-nmt the lexicographically largest by "
        "bytes, Hugging Face tokenizers the smallest ids. Left tokens are compared first. Over "
        "bytes, Hugging Face numbers the printable bytes before the others (space is 220).",
        choices={**(TIES.choices or {}), "huggingface": "Smallest ids, as in Hugging Face"},
    )
    min_count: int = MIN_COUNT.field()
    encode: Literal["merges", "longest"] = Option(
        "Encode by",
        "BPE applies the merges in the order of training. Some tutorials instead take the longest "
        "matching token from the left: often the same tokens, but not always.",
        "merges",
        {"merges": "Merges in order", "longest": "Longest match"},
    ).field()
    threshold: int = Option(
        "Vocabulary threshold",
        "Encoding splits back tokens that occur less often than this in the training text, as "
        "subword-nmt does with its vocabulary threshold. 0: none.",
        0,
        minimum=0,
        needs=("encode", "merges"),
    ).field()


def train(corpus: Corpus, options: BpeOptions) -> MergeTraining:
    """Train BPE."""
    atoms, min_count = options.atoms, options.min_count
    pre_tokenizer = PreTokenizer(atoms, options.pattern, options.expression, options.end_mark)
    byte_ids = _HUGGING_FACE_IDS if options.ties == "huggingface" and atoms == "bytes" else None
    rule: TieRule = "smallest" if options.ties == "huggingface" else options.ties
    alphabet, rows = lay_out(count_pre_tokens(corpus, pre_tokenizer), pre_tokenizer, byte_ids)
    limit = merge_limit(options, len(alphabet), PER_ATOM[atoms])
    trained, stopped = MergeLoop(rows, alphabet, limit, ties=rule, min_count=min_count).train()
    if byte_ids is not None:
        # Trained with the ids of Hugging Face, whose ties are by them; ours are the bytes.
        ours = [*_BY_CHARACTER, *range(256, 256 + len(trained))]
        trained = [new._replace(left=ours[new.left], right=ours[new.right]) for new in trained]
    history = ("bpe", pre_tokenizer, alphabet, stopped, options.special_tokens, tuple(trained))
    if options.encode == "longest":
        return LongestMatchTraining(*history)
    if options.threshold:
        rare = rare_times(trained, len(alphabet), options.threshold)
        return RestrictedTraining(*history, rare, options.threshold)
    return MergeTraining(*history)


_BY_CHARACTER = sorted(range(256), key=CHARACTER_OF.__getitem__)
_HUGGING_FACE_IDS = bytes(map(_BY_CHARACTER.index, range(256)))
"""The rank of each byte in Hugging Face's byte-level alphabet, which is sorted by code point."""


# --- On screen -----------------------------------------------------------------------------------

TRAINER = Trainer(
    key="bpe",
    title="Byte-pair encoding (BPE)",
    short="BPE",
    rule="join the most frequent pair of neighbors, again and again",
    gist="the most frequent pair",
    about="Repeatedly merges the most frequent pair of neighbors. Over bytes this is "
    "byte-level BPE, also called BBPE.",
    source="Sennrich, Haddow and Birch 2016, arXiv:1508.07909; over bytes: Wang, Cho and Gu 2019, "
    "arXiv:1909.03341",
    train=train,
    declares=BpeOptions,
    texts=texts_of_hidden(
        "too rare to use",
        "tokens too rare to use",
        "Encoding splits these tokens back into their parts: they occur fewer than "
        "{0.threshold:,} times in the training text (“times”: after this merge).",
    ),
)

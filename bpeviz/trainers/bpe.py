"""Byte-pair encoding: merge the most frequent pair of neighbors repeatedly.

Sources: Gage, "A New Algorithm for Data Compression", C Users Journal, 1994; Sennrich, Haddow
and Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016, arXiv:1508.07909
(over characters, with an end-of-word mark). Over bytes it is called byte-level BPE:
Wang, Cho and Gu, "Neural Machine Translation with Byte-Level Subwords", 2019, arXiv:1909.03341.

`tests/references/reference.py` has the definition as a slow loop that recounts all pairs for each
merge. `train_merges` makes the same decisions with counts that each merge updates
(`pair_counts`), and `train_merges_fast` makes them with NumPy (`fast_bpe`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from bpeviz import progress
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.hidden_tokens import RestrictedTraining
from bpeviz.core.longest_match import LongestMatchTraining
from bpeviz.core.merges import Merge
from bpeviz.core.training import MergeTraining, Stopped
from bpeviz.pretokenizers.pretokenizer import Atoms, EndMark, PreTokenizer
from bpeviz.trainers.base import Corpus, Option, Trainer
from bpeviz.trainers.fast_bpe import layout, rounds
from bpeviz.trainers.fast_bpe.pre_tokens import lay_out_bytes, lay_out_characters
from bpeviz.trainers.options import ATOMS, END_MARK, MIN_COUNT, TIES
from bpeviz.trainers.pair_counts import PairCounts, TieRule
from bpeviz.trainers.preparation import BYTES, PER_ATOM, count_pre_tokens, merge_limit, to_rows
from bpeviz.trainers.screen import Detail, Texts, atoms_and_merges, hidden_table

PROGRESS = "Training merges"
REPORT_EVERY = 10
"""Merges between two reports of progress."""


def train_merges(
    pre_tokens: Sequence[tuple[Sequence[int], int]],
    symbols: Sequence[str],
    limit: int,
    *,
    ties: TieRule | Literal["shortest"] = "first",
    min_count: int = 1,
    allowed: Callable[[str], bool] | None = None,
    watch: Callable[[Merge, int], bool] | None = None,
) -> tuple[list[Merge], Stopped]:
    """Train up to `limit` merges.

    Args:
        pre_tokens: Distinct rows of atom ids, each with its count, in first-seen order.
        symbols: String of each atom. Atom ids are its indices; merge i creates the id
            len(symbols) + i.
        limit: Largest number of merges.
        ties: Tie rule. "shortest" takes the pair with the shorter, then lexicographically smaller
            merged string, as SentencePiece does.
        min_count: Pairs with a lower count are not merged.
        allowed: Returns whether a pair may be merged into this string.
        watch: Called with each merge and the count of the next pair (0 if none is left). Returns
            whether to stop.

    Returns:
        The merges and why there are not more: the limit, no pair left, or only rare pairs left.
    """
    pairs = PairCounts(pre_tokens, symbols, ties, allowed)
    merges: list[Merge] = []
    pair = pairs.most_frequent()
    while len(merges) < limit:
        if not len(merges) % REPORT_EVERY:
            progress.report(PROGRESS, len(merges), limit)
        if pair is None:
            return merges, "no pair"
        count = pairs.counts[pair]
        if count < min_count:
            return merges, "rare"
        n_tied = pairs.n_tied(pair)
        new_id, applied = pairs.merge(pair)
        merges.append(Merge(*pair, new_id, count, applied, n_tied))
        pair = pairs.most_frequent()
        if watch is not None and watch(merges[-1], 0 if pair is None else pairs.counts[pair]):
            break
    return merges, "full"


def train_merges_fast(
    pre_tokens: Sequence[tuple[Sequence[int], int]],
    symbols: Sequence[str],
    limit: int,
    *,
    ties: TieRule = "first",
    min_count: int = 1,
) -> tuple[list[Merge], Stopped]:
    """Return the result of `train_merges`, with NumPy unless the largest strings win a tie."""
    if ties == "largest":
        return train_merges(pre_tokens, symbols, limit, ties=ties, min_count=min_count)
    row = layout.TokenRow.from_pre_tokens(pre_tokens)
    return _train_row(row, symbols, limit, ties, min_count)


def _train_row(
    row: layout.TokenRow,
    symbols: Sequence[str],
    limit: int,
    ties: Literal["first", "smallest", "bytes"],
    min_count: int,
) -> tuple[list[Merge], Stopped]:
    """Train merges with NumPy on pre-tokens that are laid out."""

    def report(done: int, limit: int) -> None:
        progress.report(PROGRESS, done, limit)

    return rounds.train_merges(row, symbols, limit, ties=ties, min_count=min_count, report=report)


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    atoms: Atoms = "bytes",
    end_mark: EndMark = "none",
    ties: TieRule | Literal["huggingface"] = "first",
    min_count: int = 1,
    encode: Literal["merges", "longest"] = "merges",
    threshold: int = 0,
) -> MergeTraining:
    """Train BPE. `TRAINER` declares the arguments and checks them."""
    pre_tokenizer = PreTokenizer(atoms, pattern, expression, end_mark)
    byte_ids = _HUGGING_FACE_IDS if ties == "huggingface" and atoms == "bytes" else None
    rule: TieRule = "smallest" if ties == "huggingface" else ties
    if rule != "largest" and (atoms == "bytes" or end_mark == "none"):
        # The pre-tokens have no name here, so their memory is free once they are laid out.
        if atoms == "bytes":
            alphabet = BYTES
            laid_out = lay_out_bytes(count_pre_tokens(corpus, pre_tokenizer), byte_ids)
        else:
            alphabet, laid_out = lay_out_characters(count_pre_tokens(corpus, pre_tokenizer))
        limit = merge_limit(vocab_size, merges, len(alphabet), PER_ATOM[atoms])
        trained, stopped = _train_row(laid_out, alphabet, limit, rule, min_count)
    else:
        alphabet, rows = to_rows(count_pre_tokens(corpus, pre_tokenizer), pre_tokenizer)
        limit = merge_limit(vocab_size, merges, len(alphabet), PER_ATOM[atoms])
        trained, stopped = train_merges_fast(rows, alphabet, limit, ties=rule, min_count=min_count)
    if byte_ids is not None:
        byte = [*_BY_CHARACTER, *range(256, 256 + len(trained))]
        trained = [one._replace(left=byte[one.left], right=byte[one.right]) for one in trained]
    decided = ("bpe", pre_tokenizer, alphabet, stopped, special_tokens, tuple(trained))
    if encode == "longest":
        return LongestMatchTraining(*decided)
    return RestrictedTraining(*decided, threshold) if threshold else MergeTraining(*decided)


_BY_CHARACTER = sorted(range(256), key=CHARACTER_OF.__getitem__)
_HUGGING_FACE_IDS = bytes(map(_BY_CHARACTER.index, range(256)))
"""The rank of each byte in Hugging Face's byte-level alphabet, which is sorted by code point."""


# --- On screen -----------------------------------------------------------------------------------


def _vocabulary(training: MergeTraining, step: int) -> str:
    made = atoms_and_merges(training, step)
    if not isinstance(training, RestrictedTraining):
        return made
    return f"{made}, {int(training.hidden[step]):,} of them too rare to use"


def _details(training: MergeTraining, text: str, boundaries: Boundaries, step: int) -> list[Detail]:
    if not isinstance(training, RestrictedTraining):
        return []
    about = (
        "Encoding splits these tokens back into their parts: they occur fewer than "
        f"{training.threshold:,} times in the training text (“times”: after this merge)."
    )
    table = hidden_table(training, training.hidden_times, step)
    return [Detail("tokens too rare to use", about, table)]


TRAINER = Trainer(
    key="bpe",
    title="Byte-pair encoding (BPE)",
    short="BPE",
    about="Repeatedly merges the most frequent pair of neighbors. Over bytes this is "
    "byte-level BPE, also called BBPE.",
    source="Sennrich, Haddow and Birch 2016, arXiv:1508.07909; over bytes: Wang, Cho and Gu 2019, "
    "arXiv:1909.03341",
    train=cast(Any, train),
    options=(
        replace(
            ATOMS,
            help="Bytes: the text in UTF-8, with 256 atoms (the units before the first merge) and "
            "no unknown characters. This is byte-level BPE, or BBPE (Wang et al. 2019, "
            "arXiv:1909.03341). Characters: those of the training text; any other is unknown "
            "later.",
        ),
        END_MARK,
        replace(
            TIES,
            help="minbpe takes the pair seen first, subword-nmt the lexicographically largest by "
            "bytes, Hugging Face tokenizers the smallest ids. Left tokens are compared first. Over "
            "bytes, Hugging Face numbers the printable bytes before the others (space is 220).",
            choices={**(TIES.choices or {}), "huggingface": "Smallest ids, as in Hugging Face"},
        ),
        MIN_COUNT,
        Option(
            "encode",
            "Encode by",
            "BPE applies the merges in the order of training. Some tutorials instead take the "
            "longest matching token from the left: often the same tokens, but not always.",
            "merges",
            {"merges": "Merges in order", "longest": "Longest match"},
        ),
        Option(
            "threshold",
            "Vocabulary threshold",
            "Encoding splits back tokens that occur less often than this in the training text, as "
            "subword-nmt does with its vocabulary threshold. 0: none.",
            0,
            minimum=0,
            needs=("encode", "merges"),
        ),
    ),
    texts=Texts(vocabulary=_vocabulary, details=_details),
)

"""Byte-pair encoding: merge the most frequent pair of neighbors, again and again.

Sources: Gage, "A New Algorithm for Data Compression", C Users Journal, 1994; Sennrich, Haddow
and Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016, arXiv:1508.07909
(over characters, with an end-of-word mark). Over bytes it is what is called byte-level BPE:
Wang, Cho and Gu, "Neural Machine Translation with Byte-Level Subwords", 2019, arXiv:1909.03341.

`tests/references/reference.py` has the definition as a slow loop that counts all pairs anew for each
merge. `train_merges` makes the same decisions with counts that each merge updates (`pair_counts`),
and `train_merges_fast` makes them with NumPy (`fast_bpe`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from bpeviz import progress
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.hidden_tokens import RestrictedTraining
from bpeviz.core.longest_match import LongestMatchTraining
from bpeviz.core.merges import Merge
from bpeviz.core.training import MergeTraining, Stopped
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, UNKNOWN, Atoms, EndMark, PreTokenizer
from bpeviz.text import clean
from bpeviz.trainers.base import Corpus, Option, Trainer, collector_off
from bpeviz.trainers.fast_bpe import layout, rounds
from bpeviz.trainers.fast_bpe.pre_tokens import lay_out_bytes, lay_out_characters
from bpeviz.trainers.pair_counts import PairCounts, TieRule
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
    """Return the result of `train_merges`, with NumPy unless the tie rule compares strings."""
    if ties == "largest":
        return train_merges(pre_tokens, symbols, limit, ties=ties, min_count=min_count)
    return _train_row(
        layout.TokenRow.from_pre_tokens(pre_tokens), len(symbols), limit, ties, min_count
    )


def _train_row(
    row: layout.TokenRow,
    n_atoms: int,
    limit: int,
    ties: Literal["first", "smallest"],
    min_count: int,
) -> tuple[list[Merge], Stopped]:
    def report(done: int, limit: int) -> None:
        progress.report(PROGRESS, done, limit)

    return rounds.train_merges(row, n_atoms, limit, ties=ties, min_count=min_count, report=report)


def weighted_pre_tokens(corpus: Corpus, pre_tokenizer: PreTokenizer) -> Mapping[str, int]:
    """Return the distinct pre-tokens in first-seen order with how often each comes."""
    if isinstance(corpus, str):
        return pre_tokenizer.counted(clean(corpus))
    if pre_tokenizer.has_made(corpus):
        return corpus
    for pre_token, times in corpus.items():
        if times < 1:
            raise ValueError(f"The count of {pre_token!r} must be 1 or more, not {times}.")
    pieces: Counter[str] = Counter()
    for pre_token, times in corpus.items():
        for piece in pre_tokenizer.pre_tokens(clean(pre_token)):
            pieces[piece] += times
    return pieces


def alphabet_of(rows: Iterable[Sequence[str]], pre_tokenizer: PreTokenizer) -> tuple[str, ...]:
    if pre_tokenizer.atoms == "bytes":
        return tuple(map(chr, range(256)))
    # The mark belongs to it even where there is no word yet: it must never be unknown.
    mark = {END_OF_WORD} if pre_tokenizer.end_mark == "symbol" else set()
    return tuple(sorted(mark.union(*rows)))


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
    ties: TieRule = "first",
    min_count: int = 1,
    encode: Literal["merges", "longest"] = "merges",
    threshold: int = 0,
) -> MergeTraining:
    """Learn byte-pair merges from a text, or from pre-tokens with counts.

    vocab_size counts atoms and merges; give it or `merges`, not both. `min_count`: a pair that
    comes less often is not merged. `encode`: by the merges in their order, or by longest match
    with what they make (`bpeviz.core.longest_match`). `threshold`: a token that comes less often in the text
    that was learnt from is taken apart again at encoding. Raises `ValueError`, whose message is a
    sentence, for values that make no sense, and `SplitError` (one of them) for a bad split.
    """
    if threshold < 0:
        raise ValueError(f"The vocabulary threshold must be 0 or more, not {threshold}.")
    if encode not in ("merges", "longest"):
        raise ValueError(f"There is no way to encode {encode!r}: take merges or longest.")
    if threshold and encode == "longest":
        raise ValueError("A vocabulary threshold needs encoding in the order of the merges.")
    pre_tokenizer = checked_splitting(
        pattern, expression, special_tokens, atoms, end_mark, ties, min_count
    )
    with collector_off():
        if atoms == "bytes" and ties != "largest":
            alphabet = alphabet_of((), pre_tokenizer)
            limit = merge_limit(vocab_size, merges, len(alphabet), atoms)
            # The pre-tokens may go when they are laid out.
            laid_out = lay_out_bytes(weighted_pre_tokens(corpus, pre_tokenizer))
            learnt, stopped = _train_row(laid_out, len(alphabet), limit, ties, min_count)
        elif end_mark == "none" and ties != "largest":
            alphabet, laid_out = lay_out_characters(weighted_pre_tokens(corpus, pre_tokenizer))
            limit = merge_limit(vocab_size, merges, len(alphabet), atoms)
            learnt, stopped = _train_row(laid_out, len(alphabet), limit, ties, min_count)
        else:
            alphabet, rows = prepared(corpus, pre_tokenizer)
            limit = merge_limit(vocab_size, merges, len(alphabet), atoms)
            learnt, stopped = train_merges_fast(
                rows, alphabet, limit, ties=ties, min_count=min_count
            )
    decided = ("bpe", pre_tokenizer, alphabet, stopped, special_tokens, tuple(learnt))
    if encode == "longest":
        return LongestMatchTraining(*decided)
    if threshold:
        return RestrictedTraining(*decided, threshold)
    return MergeTraining(*decided)


def checked_splitting(
    pattern: str,
    expression: str,
    special_tokens: tuple[str, ...],
    atoms: Atoms,
    end_mark: EndMark,
    ties: TieRule,
    min_count: int,
) -> PreTokenizer:
    """Return the splitting that these arguments of `train` ask for. Raises `ValueError`."""
    if ties not in ("first", "smallest", "largest"):
        raise ValueError(f"There is no tie rule {ties!r}: take first, smallest or largest.")
    if atoms not in ("bytes", "characters"):
        raise ValueError(f"There are no atoms {atoms!r}: take bytes or characters.")
    if end_mark not in ("none", "attached", "symbol"):
        raise ValueError(f"There is no end mark {end_mark!r}: take none, attached or symbol.")
    if min_count < 1:
        raise ValueError(f"The smallest count must be 1 or more, not {min_count}.")
    if len({*special_tokens}) < len(special_tokens) or {"", UNKNOWN} & {*special_tokens}:
        raise ValueError(f"Special tokens must differ, and be neither empty nor {UNKNOWN}.")
    return PreTokenizer(atoms, pattern, expression, end_mark)


def prepared(
    corpus: Corpus, pre_tokenizer: PreTokenizer
) -> tuple[tuple[str, ...], list[tuple[list[int], int]]]:
    """Return the alphabet, and the distinct pre-tokens as rows of atom ids with their weights."""
    pre_tokens = weighted_pre_tokens(corpus, pre_tokenizer)
    rows = [(pre_tokenizer.symbols(pre_token), times) for pre_token, times in pre_tokens.items()]
    alphabet = alphabet_of((row for row, _ in rows), pre_tokenizer)
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}
    return alphabet, [([atom_id[symbol] for symbol in row], times) for row, times in rows]


def merge_limit(vocab_size: int | None, merges: int | None, atoms: int, kind: str) -> int:
    if (vocab_size is None) == (merges is None):
        raise ValueError("Say either the vocabulary size or the number of merges.")
    limit = cast(int, merges) if vocab_size is None else vocab_size - atoms
    if limit < 0 and vocab_size is None:
        raise ValueError(f"The number of merges must be 0 or more, not {limit}.")
    if limit < 0:
        raise ValueError(
            f"The vocabulary must hold at least the {atoms} {kind} of this text; "
            f"{vocab_size} is too small."
        )
    return limit


def _vocabulary(training: MergeTraining, step: int) -> str:
    made = atoms_and_merges(training, step)
    if not isinstance(training, RestrictedTraining):
        return made
    return f"{made}, {int(training.hidden[step]):,} of them too rare to use"


def _details(training: MergeTraining, text: str, boundaries: Boundaries, step: int) -> list[Detail]:
    if not isinstance(training, RestrictedTraining):
        return []
    about = (
        f"Encoding splits these tokens back into their parts: they occur fewer than "
        f"{training.threshold:,} times in the training text (“times”: after this merge)."
    )
    table = hidden_table(training, training.hidden_times, step)
    return [Detail("tokens too rare to use", about, table)]


TRAINER = Trainer(
    key="bpe",
    title="Byte-pair encoding (BPE)",
    short="BPE",
    about="Merges the most frequent pair of neighbors, again and again. Over bytes this is "
    "byte-level BPE, also called BBPE.",
    source="Sennrich, Haddow and Birch 2016, arXiv:1508.07909; over bytes: Wang, Cho and Gu 2019, "
    "arXiv:1909.03341",
    train=cast(Any, train),
    options=(
        Option(
            "atoms",
            "Start from",
            "Bytes: the text in UTF-8. There are 256 different ones, so nothing is ever unknown; "
            "BPE over them is byte-level BPE, or BBPE (Wang et al. 2019, arXiv:1909.03341). "
            "Characters: those of the text; any other is unknown later.",
            "bytes",
            {"bytes": "Bytes", "characters": "Characters"},
        ),
        Option(
            "end_mark",
            "End-of-word mark",
            "The mark `</w>` tells the end of a word from its middle (Sennrich et al. 2016). It is "
            "part of the last character, as in subword-nmt since version 0.2, or a symbol of its "
            "own, as before that: the two learn different merges.",
            "none",
            {
                "none": "None",
                "attached": "Part of the last character",
                "symbol": "A symbol of its own",
            },
            needs=("atoms", "characters"),
        ),
        Option(
            "ties",
            "Among equally frequent pairs",
            "Each implementation breaks ties its own way: minbpe takes the pair first seen, "
            "Hugging Face tokenizers the smallest ids, subword-nmt the lexicographically largest.",
            "first",
            {
                "first": "The one first seen",
                "smallest": "The smallest ids",
                "largest": "The lexicographically largest",
            },
        ),
        Option(
            "min_count",
            "Smallest count of a pair",
            "A pair that comes less often is not merged.",
            1,
            initial=2,
        ),
        Option(
            "encode",
            "Encode by",
            "BPE applies the merges in the order in which they were learnt. Some tutorials take, "
            "from the left, the longest token of the vocabulary that fits: often the same tokens, "
            "but not always.",
            "merges",
            {"merges": "The merges, in their order", "longest": "Longest match first"},
        ),
        Option(
            "threshold",
            "Vocabulary threshold",
            "Tokens rarer than this in the text learnt from are taken apart again at encoding, as "
            "by subword-nmt's vocabulary threshold. 0: none are.",
            0,
            minimum=0,
            needs=("encode", "merges"),
        ),
    ),
    texts=Texts(vocabulary=_vocabulary, details=_details),
)

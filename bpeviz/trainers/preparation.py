"""Prepare a corpus for training: convert its pre-tokens to rows of atom ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, PreTokenizer
from bpeviz.text import clean
from bpeviz.trainers.base import Corpus, Options, texts_of_corpus

BYTES = tuple(map(chr, range(256)))
"""The alphabet over bytes: one symbol per byte value."""


def count_pre_tokens(corpus: Corpus, pre_tokenizer: PreTokenizer) -> Mapping[str, int]:
    """Return the distinct pre-tokens of a corpus with their counts, in first-seen order."""
    if isinstance(corpus, Mapping) and pre_tokenizer.has_made(corpus):
        return corpus
    texts = texts_of_corpus(corpus)
    if len(texts) == 1 and 1 in texts.values():
        return pre_tokenizer.counted(clean(*texts))
    if isinstance(corpus, Mapping):  # documents are clean
        counts: Counter[str] = Counter()
        for text, count in texts.items():
            counts[clean(text)] += count
        texts = counts
    return pre_tokenizer.counted_each(texts)


def alphabet_of(rows: Iterable[Sequence[str]], pre_tokenizer: PreTokenizer) -> tuple[str, ...]:
    """Return the symbols of the atoms in the order of their ids."""
    if pre_tokenizer.atoms == "bytes":
        return BYTES
    # The alphabet contains the end-of-word mark even if the text has no word.
    mark = {END_OF_WORD} if pre_tokenizer.end_mark == "symbol" else set()
    return tuple(sorted(mark.union(*rows)))


def to_rows(
    pre_tokens: Mapping[str, int], pre_tokenizer: PreTokenizer
) -> tuple[tuple[str, ...], list[tuple[list[int], int]]]:
    """Return the alphabet of pre-tokens, and the atom ids and the count of each pre-token."""
    rows = [
        (pre_tokenizer.symbols(pre_token), count)
        for pre_token, count in pre_tokens.items()
        if not pre_tokenizer.drops(pre_token)
    ]
    alphabet = alphabet_of((row for row, _ in rows), pre_tokenizer)
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}
    return alphabet, [([atom_id[symbol] for symbol in row], count) for row, count in rows]


def merge_limit(options: Options, n_atoms: int, atoms: str) -> int:
    """Return the largest number of merges.

    Args:
        options: The options with the largest vocabulary or the number of merges.
        n_atoms: The number of ids before the first merge.
        atoms: The unit of one of these ids, for the error message.

    Raises:
        ValueError: The vocabulary is smaller than the atoms.
    """
    vocab_size = options.vocab_size
    if vocab_size is None:
        return options.merges or 0
    if vocab_size < n_atoms:
        raise ValueError(
            f"The vocabulary size must be at least {n_atoms}: one entry per {atoms}, "
            f"not {vocab_size}."
        )
    return vocab_size - n_atoms


PER_ATOM = {"bytes": "byte value", "characters": "character of the text"}
"""The unit of an atom, by the kind of atoms."""

"""Types of the arguments and results of `bpeviz.train`, for type checkers.

The declarations of the trainers define the options. A test compares these types with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from bpeviz.core.boundaries import MergeBoundaries
from bpeviz.core.merges import MergeTokenizer
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import MergeTraining
from bpeviz.corpus.documents import Documents
from bpeviz.pretokenizers.pretokenizer import Atoms, EndMark
from bpeviz.trainers.bpe import TieRule

YesNo = Literal["yes", "no"]


class Common(TypedDict, total=False):
    """The arguments that all trainers take, but for the size."""

    pattern: str
    expression: str
    special_tokens: tuple[str, ...]
    split_at_special: bool


class Pruned(Common, total=False):
    """The size of a trainer that prunes."""

    vocab_size: int | None


class Sized(Pruned, total=False):
    """The size of a trainer that merges: that of the vocabulary, or the number of merges."""

    merges: int | None


class Bpe(Sized, total=False):
    """Options of BPE whose tokenizers apply all merges."""

    atoms: Atoms
    end_mark: EndMark
    ties: Literal[TieRule, "huggingface"]
    min_count: int


class BpeVariant(Bpe, total=False):
    """All options of BPE."""

    encode: Literal["merges", "longest"]
    threshold: int


class WordPiece(Sized, total=False):
    """Options of WordPiece."""

    case: Literal["keep", "lower"]
    unmatched: Literal["keep", "drop"]
    ties: Literal["first", "smallest"]
    min_count: int


class Unigram(Pruned, total=False):
    """Options of Unigram."""

    atoms: Atoms
    seed_size: int | None
    max_piece: int
    em_steps: int
    pruned_share: int


class SentencePieceBpe(Sized, total=False):
    """Options of SentencePiece BPE."""

    prefix: YesNo
    unknown: Literal["bytes", "unk"]
    digits: YesNo
    coverage: Literal["1.0", "0.9995", "0.99", "0.98"]
    longest: int


class Counted(Sized, total=False):
    """Options of trainers that merge the most frequent pair."""

    ties: TieRule
    min_count: int


class Scaffold(Counted, total=False):
    """Options of Scaffold-BPE."""

    atoms: Atoms
    end_mark: EndMark


class SuperBpe(Counted, total=False):
    """Options of SuperBPE."""

    transition: int
    second: Literal["none", "lines", "sentences"]
    max_words: int
    atoms: Atoms


class Multilingual(Sized, total=False):
    """Options of BPE over several texts."""

    atoms: Atoms
    smoothing: Literal["1.0", "0.7", "0.5", "0.3", "0.0"]


class Parity(Sized, total=False):
    """Options of parity-aware BPE."""

    atoms: Atoms
    measure: Literal["line", "byte", "development"]
    development: str
    global_merges: int
    min_count: int


class Adaptive(Counted, total=False):
    """Options of Adaptive BPE."""

    base: Literal["text", "gpt2", "cl100k_base", "o200k_base"] | Tokenizer
    base_text: str
    base_size: int


if TYPE_CHECKING:

    class BpeTraining(MergeTraining):
        """A `MergeTraining` whose tokenizers apply all merges, so that no boundary comes back."""

        def tokenizer(self, vocab_size: int | None = None) -> MergeTokenizer: ...

        def at_step(self, step: int) -> MergeTokenizer: ...

        def boundaries(self, text: str | Documents) -> MergeBoundaries: ...

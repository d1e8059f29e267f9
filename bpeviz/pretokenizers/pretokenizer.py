"""Pre-tokenizers: they split a text into pre-tokens, and each pre-token into atoms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from bpeviz.pretokenizers.counts import (
    Integers,
    PreTokenCounts,
    count,
    count_each,
    index_text,
    indexed,
)
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.text import Normalized, label

Atoms = Literal["bytes", "characters"]
"""The units of a text before the first step."""

EndMark = Literal["none", "attached", "symbol"]
"""The end-of-word mark: none, part of a word's last character, or a symbol of its own."""

END_OF_WORD = "</w>"
UNKNOWN = "<unk>"


@dataclass(frozen=True)
class PreTokenizer:
    """Splits a text into pre-tokens, and a pre-token into atoms, each named by a symbol.

    A trainer with another notation of atoms (`##` for the continuation of a word, ▁ for a space)
    has a subclass in its own module.
    """

    kind: ClassVar[str] = "pattern"
    """The name of the class in bpeviz's own files, which contain its fields."""

    marks_spaces: ClassVar[bool] = False
    """Whether the symbol of a space is ▁, as in SentencePiece."""

    atoms: Atoms = "bytes"
    pattern: str = "gpt2"
    expression: str = ""
    end_mark: EndMark = "none"

    def __post_init__(self) -> None:
        if self.end_mark != "none" and self.atoms != "characters":
            raise ValueError("An end-of-word mark needs characters as atoms, not bytes.")

    @property
    def unknown(self) -> str | None:
        """The name of the unknown token, or None if no atom can be unknown."""
        return None if self.atoms == "bytes" else UNKNOWN

    @property
    def adds_prefix(self) -> bool:
        """Whether a space, the dummy prefix, is put before a line."""
        return False

    def pre_tokens(self, text: str) -> list[str]:
        """Split a text into pre-tokens. Raises `SplitError`."""
        return pretokenize(text, self.pattern, self.expression)

    def indexed(self, text: str) -> tuple[list[str], Integers]:
        """Return the distinct pre-tokens of a text, and the index of each pre-token among them.

        Raises:
            SplitError: The pattern is unknown, not valid, or took too long.
        """
        if self._splits_by_pattern_alone():
            return index_text(text, self.pattern, self.expression)
        return indexed(self.pre_tokens(text))

    def normalized(self, text: str) -> Normalized:
        """Return a text with the characters that become atoms. Raises `SplitError`."""
        return Normalized.of(text)

    def counted(self, text: str) -> Mapping[str, int]:
        """Return the count of each distinct pre-token, in the order of first occurrence.

        Raises:
            SplitError: The pattern is unknown, not valid, or took too long.
        """
        if self._splits_by_pattern_alone():
            return count(text, self.pattern, self.expression)
        return Counter(self.pre_tokens(text))

    def counted_each(self, texts: Mapping[str, int]) -> Mapping[str, int]:
        """Return the counts of pre-tokens of texts that are split one by one.

        Args:
            texts: How often each text occurs. None is empty.

        Raises:
            SplitError: The pattern is unknown, not valid, or took too long.
        """
        if self._splits_by_pattern_alone():
            return count_each(texts, self.pattern, self.expression)
        counts: Counter[str] = Counter()
        for text, times in texts.items():
            for pre_token in self.pre_tokens(text):
                counts[pre_token] += times
        return counts

    def has_made(self, corpus: Mapping[str, int]) -> bool:
        """Return whether a corpus is the counted pre-tokens of this pre-tokenizer."""
        return (
            isinstance(corpus, PreTokenCounts)
            and self._splits_by_pattern_alone()
            and (corpus.pattern, corpus.expression) == (self.pattern, self.expression)
        )

    def _splits_by_pattern_alone(self) -> bool:
        return type(self).pre_tokens is PreTokenizer.pre_tokens

    def drops(self, pre_token: str) -> bool:
        """Return whether a pre-token is dropped, so that it becomes no token."""
        return False

    def symbols(self, pre_token: str) -> list[str]:
        """Return the symbols of a pre-token's atoms: for a byte, a character of U+0000–U+00FF.

        Only words have an end-of-word mark: a pre-token of white space has none.
        """
        if self.atoms == "bytes":
            return list(pre_token.encode().decode("latin-1"))
        symbols = list(pre_token)
        if self.end_mark != "none" and not pre_token.isspace():
            if self.end_mark == "symbol":
                symbols.append(END_OF_WORD)
            else:
                symbols[-1] += END_OF_WORD
        return symbols

    def sizes(self, pre_token: str) -> list[int]:
        """Return the bytes of the text that each atom of a pre-token covers, 0 for a mark."""
        if self.atoms == "bytes":
            return [1] * len(pre_token.encode())
        sizes = [len(character.encode()) for character in pre_token]
        return sizes + [0] * (len(self.symbols(pre_token)) - len(sizes))

    def symbol_bytes(self, symbol: str) -> bytes:
        """Return the bytes that an atom decodes to.

        The end-of-word mark is not text. (The text "</w>" is four symbols, not one.)
        """
        if self.atoms == "bytes":
            return symbol.encode("latin-1")
        return symbol.removesuffix(END_OF_WORD).encode()

    def label(self, symbols: Sequence[str]) -> str:
        """Return a readable label of joined atoms, with stand-ins for invisible characters."""
        return label("".join(symbols).encode("latin-1" if self.atoms == "bytes" else "utf-8"))

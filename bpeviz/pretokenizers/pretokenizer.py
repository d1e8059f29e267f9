"""How a trainer sees a text: its atoms, and the pre-tokens that no token crosses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bpeviz.pretokenizers.counts import PreTokenCounts, count
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.text import label

Atoms = Literal["bytes", "characters"]
"""What a text is made of before the first step."""

EndMark = Literal["none", "attached", "symbol"]
"""The end-of-word mark: none, part of a word's last character, or a symbol of its own."""

END_OF_WORD = "</w>"
UNKNOWN = "<unk>"


@dataclass(frozen=True)
class PreTokenizer:
    """Cuts a text into pre-tokens and a pre-token into atoms, each with a name: its symbol.

    A trainer that writes its atoms in another way (`##` before what continues a word, ▁ for a
    space) has a class of its own beside it, which says so in the methods below.
    """

    atoms: Atoms = "bytes"
    pattern: str = "gpt2"
    expression: str = ""
    end_mark: EndMark = "none"

    def __post_init__(self) -> None:
        if self.end_mark != "none" and self.atoms != "characters":
            raise ValueError("An end-of-word mark needs characters as atoms, not bytes.")

    @property
    def unknown(self) -> str | None:
        """The token for what is not in the vocabulary, or None where nothing can be unknown."""
        return None if self.atoms == "bytes" else UNKNOWN

    @property
    def adds_prefix(self) -> bool:
        """Whether a space, the dummy prefix, is put before a line."""
        return False

    def pre_tokens(self, text: str) -> list[str]:
        """Cut a text into pre-tokens. Raises `SplitError`."""
        return pretokenize(text, self.pattern, self.expression)

    def counted(self, text: str) -> Mapping[str, int]:
        """Return the distinct pre-tokens of a text, as first seen, with how often each comes.

        Raises `SplitError`.
        """
        if self._cuts_by_pattern_alone():
            return count(text, self.pattern, self.expression)
        return Counter(self.pre_tokens(text))

    def has_made(self, corpus: Mapping[str, int]) -> bool:
        """Tell whether a corpus is counted pre-tokens of a text that was split in the same way."""
        return (
            isinstance(corpus, PreTokenCounts)
            and self._cuts_by_pattern_alone()
            and (corpus.pattern, corpus.expression) == (self.pattern, self.expression)
        )

    def _cuts_by_pattern_alone(self) -> bool:
        return type(self).pre_tokens is PreTokenizer.pre_tokens

    def drops(self, pre_token: str) -> bool:
        """Tell whether a pre-token becomes no token at all."""
        return False

    def symbols(self, pre_token: str) -> list[str]:
        """Return the atoms of a pre-token, each as a name: for bytes one character of U+0000–U+00FF.

        The mark goes to words only: a pre-token of white space has none.
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
        """Return how many bytes of the text each atom of a pre-token stands for; a mark for none."""
        if self.atoms == "bytes":
            return [1] * len(pre_token.encode())
        sizes = [len(character.encode()) for character in pre_token]
        return sizes + [0] * (len(self.symbols(pre_token)) - len(sizes))

    def symbol_bytes(self, symbol: str) -> bytes:
        """Return the bytes that an atom decodes to.

        The end-of-word mark is no text. (Text that spells it out is four symbols, not one.)
        """
        if self.atoms == "bytes":
            return symbol.encode("latin-1")
        return symbol.removesuffix(END_OF_WORD).encode()

    def label(self, symbols: Sequence[str]) -> str:
        """Return a readable name for atoms joined: what cannot be seen gets a stand-in."""
        return label("".join(symbols).encode("latin-1" if self.atoms == "bytes" else "utf-8"))

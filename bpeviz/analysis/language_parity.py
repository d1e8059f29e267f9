"""The tokens of languages relative to each other, under tokenizers that are trained on them.

The texts are parallel: each line or row is a translation of those with the same number. Some texts,
or the second half of their lines, can be held out of the training.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents
from bpeviz.text import joined

SEPARATOR = "---"


@dataclass(frozen=True)
class Split:
    """Parallel texts, of which some lines are trained on and some are measured.

    Attributes:
        texts: The lines or rows of each text, by name.
        half: Whether training has the first half of the lines, and the others are measured.
        held_out: The names of the texts that are not trained on.
        unit: What the texts consist of, lines or rows.
    """

    texts: Mapping[str, Sequence[str]]
    half: bool = False
    held_out: frozenset[str] = frozenset()
    unit: str = "line"

    @property
    def first(self) -> int:
        """The index of the first line that is measured."""
        return len(next(iter(self.texts.values()))) // 2 if self.half else 0

    @property
    def trained(self) -> dict[str, list[str]]:
        """The lines that are trained on, by the names of the texts; none of a blank text."""
        lines = {
            name: [
                line
                for line in of_text[: self.first or None]
                if self.unit == "row" or line.rstrip() != SEPARATOR
            ]
            for name, of_text in self.texts.items()
            if name not in self.held_out
        }
        return {name: of_text for name, of_text in lines.items() if "".join(of_text).strip()}

    @property
    def corpus(self) -> str | Documents:
        """The texts to train on: rows with labels, or a text with lines of three dashes between."""
        if self.unit == "row":
            pairs = [(name, row) for name, rows in self.trained.items() for row in rows]
            return Documents(tuple(row for _, row in pairs), tuple(name for name, _ in pairs))
        return f"\n{SEPARATOR}\n".join("\n".join(lines) for lines in self.trained.values())

    def ratios(self, tokenizer: Tokenizer) -> dict[str, float]:
        """Return how many times as many tokens each text needs as the one that needs the fewest.

        The latter is one of those that are trained on.

        As in `bpeviz.compare`, each line is encoded alone.
        """
        tokens = {
            name: sum(tokenizer.count_batch(lines[self.first :]))
            for name, lines in self.texts.items()
        }
        fewest = min(filter(None, (tokens[name] for name in self.trained)), default=1)
        return {name: count / fewest for name, count in tokens.items()}

    def sentence(self, ratios: Mapping[str, Mapping[str, float]]) -> str:
        """Return the largest ratios of tokens between languages, in words.

        Args:
            ratios: The ratios of each way to train, by its name within a sentence.
        """

        def largest(names: Collection[str]) -> str:
            first, *others = [
                f"{max(by_name[name] for name in names):.2f}" for by_name in ratios.values()
            ]
            values = [f"{first} times as many tokens as another", *others]
            return joined([f"{ratio} {how}" for ratio, how in zip(values, ratios, strict=True)])

        where = f"On {self.unit}s that were not trained on, one" if self.half else "One"
        sentence = f"{where} language needs up to {largest(self.trained)}."
        if self.held_out:
            sentence += f" A language that was not trained on needs up to {largest(self.held_out)}."
        return sentence

"""The figures of a text under a tokenizer, and of a tokenizer over all texts, as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from bpeviz.analysis import figures


@dataclass(frozen=True)
class ComparedText:
    """A text under a tokenizer. Tables show the attributes that name a figure.

    Attributes:
        text: The name of the text.
        tokenizer: The name of the tokenizer.
        tokens: The number of tokens of the whole text, or of all its documents.
        bytes_per_token: UTF-8 bytes per token; None without tokens.
        characters_per_token: Characters per token; None without tokens.
        tokens_per_word: Mean number of pieces of a word; None where words are not known.
        whole_words: The share of words without an inner boundary; None where words are not known.
        unknown: The number of tokens that are not in the vocabulary.
        premium: The tokens of its documents, or of its lines, each encoded alone, relative to those
            with the same numbers in the chosen text; None if they are not parallel, or the
            tokenizer loses text.
        low: The lower end of the 95% interval of the premium; None below `FEWEST_LINES`.
        high: The upper end.
        lines: The number of parallel lines or documents, without empty ones.
        difference: The difference in tokens from the best other tokenizer, as a share of its
            tokens; None if there is no other one, or it loses text, or was trained on these texts.
        difference_low: The lower end of the 95% interval of the difference; None below
            `FEWEST_LINES`.
        difference_high: The upper end.
        best: Whether it has the fewest tokens, and the intervals of the differences from all
            others, if there are any, do not contain 0.
        cost: The price of the tokens; None without a price per million of them.
        notes: The reasons for values of None, and limits of the others.
    """

    text: str
    tokenizer: str
    tokens: int = field(metadata={"figure": figures.tokens})
    bytes_per_token: float | None = field(metadata={"figure": figures.bytes_per_token})
    characters_per_token: float | None = field(metadata={"figure": figures.characters_per_token})
    tokens_per_word: float | None = field(metadata={"figure": figures.tokens_per_word})
    whole_words: float | None
    unknown: int
    premium: float | None = field(metadata={"figure": figures.premium})
    low: float | None
    high: float | None
    lines: int
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    best: bool
    cost: float | None = field(metadata={"figure": figures.cost})
    notes: tuple[str, ...]

    @property
    def is_unranked(self) -> bool:
        """Whether it is not compared, as it loses text, or was trained on these texts."""
        return self.difference is None and not self.best

    def shown(self, figure: figures.Figure) -> str:
        """Return a figure for readers, a premium with its interval."""
        has_interval = figure is figures.premium and self.low is not None
        interval = f" ({self.low:.2f} to {self.high:.2f})" if has_interval else ""
        return figure.text(getattr(self, figure.key)) + interval


@dataclass(frozen=True)
class ComparedTokenizer:
    """A tokenizer over all texts. Its figures (`TOTALS`) are None where they are not known.

    Attributes:
        tokenizer: The name of the tokenizer.
        tokens: The number of tokens of all texts.
        worst_text: The name of the text that has the largest premium, or "".
        cost: The price of all tokens; None without a price per million of them.
    """

    tokenizer: str
    tokens: int
    gini: float | None = field(metadata={"figure": figures.gini})
    worst_premium: float | None = field(metadata={"figure": figures.worst_premium})
    worst_text: str
    renyi_efficiency: float | None = field(metadata={"figure": figures.renyi_efficiency})
    used_vocabulary: float | None = field(metadata={"figure": figures.used_vocabulary})
    whole_words: float | None = field(metadata={"figure": figures.whole_words_of_all})
    cost: float | None = None

    def shown(self, figure: figures.Figure) -> str:
        """Return a figure for readers, the worst premium with its text."""
        is_worst = figure is figures.worst_premium and self.worst_text
        text = f" ({self.worst_text})" if is_worst else ""
        return figure.text(getattr(self, figure.key)) + text


def _figures(record: type) -> dict[str, figures.Figure]:
    return {each.name: each.metadata["figure"] for each in fields(record) if each.metadata}


FIGURES: Mapping[str, figures.Figure] = _figures(ComparedText)
TOTALS: Mapping[str, figures.Figure] = _figures(ComparedTokenizer)
"""The figures of a text under a tokenizer, and those of a tokenizer over all texts."""

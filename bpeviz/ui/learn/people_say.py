"""False claims of tutorials on the last page, each with a link to a page that refutes it.

The words are notes of `prose/end.md`, the claim and the correction; their figures are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import bpeviz
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretrained import download
from bpeviz.text import label
from bpeviz.ui.learn import engine, prose
from bpeviz.ui.learn.base import DON_QUIJOTE, PageLink

HELLO, OVERLAP, COCHE = "hello hell help", "aaabdaaabac", "coche azul"
END = "<|endoftext|>"
MERGES, TOLD = 20, 79
"""The merges of a tutorial, and the tokens that it tells."""

COMPARED = ("gpt2", "cl100k_base")

Figures = Mapping[str, int | str]


@dataclass(frozen=True)
class Saying:
    """A claim that people make.

    Attributes:
        key: The name of its note.
        figures: Returns the figures of the note.
        link: The page that refutes it.
        needs: The published vocabularies that the figures need.
    """

    key: str
    figures: Callable[[], Figures]
    link: PageLink
    needs: tuple[str, ...] = ()


def words(saying: Saying) -> str:
    """Return a claim, struck out, and its correction, as Markdown."""
    claim, _, correction = prose.read("end").notes[saying.key].partition(" | ")
    if not all(map(download.available, saying.needs)):
        return f"~~{claim}~~ (wrong; the page shows it once its files are here)"
    figures = saying.figures()
    return f"~~{prose.fill(claim, figures)}~~ (wrong) {prose.fill(correction, figures)}"


def _first_merge(text: str) -> Figures:
    training = engine.merges_of(text, merges=1)
    (merge,) = training.merges
    pair = f"`{training.name(merge.left)}` + `{training.name(merge.right)}`"
    double = text.count("ll")
    figures: dict[str, int | str] = {"pair": pair, "count": merge.count}
    return figures | {"replaced": merge.applied, "double": double, "wrong": double + 1}


def _quijote() -> Figures:
    training = engine.merges_of(DON_QUIJOTE, merges=MERGES)
    tokens = int(training.boundaries(DON_QUIJOTE).token_counts[-1])
    return {"merges": MERGES, "told": TOLD, "tokens": tokens}


def _listed(parts: list[str]) -> str:
    return " ".join(f"`{label(part.encode())}`" for part in parts)


def _split(text: str) -> str:
    return _listed(pretokenize(text, "gpt2", ""))


def _digits() -> Figures:
    splits = (bpeviz.load(name).tokens("1000") for name in COMPARED)
    old, new = (" ".join(f"`{token.label}`" for token in tokens) for tokens in splits)
    return {"gpt2": old, "gpt4": new}


def _quotes() -> Figures:
    tokenizer = bpeviz.load(COMPARED[1])
    return {"back": tokenizer.decode(tokenizer.encode("“quoted”"))}


def _finer() -> Figures:
    training = engine.merges_of(DON_QUIJOTE, merges=MERGES)
    counts = training.boundaries(DON_QUIJOTE).token_counts.tolist()
    return {"merges": MERGES, "none": counts[0], "tokens": counts[-1]}


def _order() -> Figures:
    first, letter = (bpeviz.load(COMPARED[0]).encode(sign)[0] for sign in "!a")
    return {"first": first, "letter": letter, "byte": ord("a")}


def _pasted() -> Figures:
    return {"plain": len(bpeviz.load(COMPARED[0]).encode(END))}


def _train(text: str, words: str, merges: int) -> PageLink:
    return engine.train_page(text, words, largest=256 + merges, min_count=1)


def _page(path: str, words: str, text: str, **values: list[str]) -> PageLink:
    return PageLink(f"pages/{path}.py", words, engine.text_values(text) | values)


SAYINGS = (
    Saying("hello", lambda: _first_merge(HELLO), _train(HELLO, "See its first merges", 3)),
    Saying("quijote", _quijote, _train(DON_QUIJOTE, f"See its {MERGES} merges", MERGES)),
    Saying(
        "digits",
        _digits,
        _page("Compare", "See 1000 in both", "1000", compared=[*COMPARED]),
        COMPARED,
    ),
    Saying(
        "coche",
        lambda: {"parts": _split(COCHE)},
        _page("Pre-tokenize", "See it split", COCHE, splits=["gpt2"]),
    ),
    Saying(
        "case",
        lambda: {"large": _split("DON'T"), "small": _split("don't")},
        _page("Pre-tokenize", "See both split", "DON'T don't", splits=["gpt2"]),
    ),
    Saying(
        "quotes",
        _quotes,
        _page("Compare", "See its tokens", "“quoted”", compared=[*COMPARED]),
        COMPARED,
    ),
    Saying("finer", _finer, _train(DON_QUIJOTE, "See its tokens get longer", MERGES)),
    Saying(
        "order", _order, _page("Compare", "See the ids", "!a", compared=[*COMPARED]), COMPARED[:1]
    ),
    Saying(
        "pasted",
        _pasted,
        _page("Compare", "See its tokens", END, compared=[*COMPARED]),
        COMPARED[:1],
    ),
    Saying("overlap", lambda: _first_merge(OVERLAP), _train(OVERLAP, "See it merged", 3)),
)

"""False claims of tutorials on the last page, each with a link to a page that refutes it.

The words are notes of `prose/end.md`, the claim and the correction; their figures are computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import bpeviz
from bpeviz.core.training import MergeTraining
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretrained import download
from bpeviz.text import label
from bpeviz.ui.learn import engine, prose
from bpeviz.ui.learn.base import DON_QUIJOTE, PageLink
from bpeviz.ui.permalink.codec import Value

HELLO, OVERLAP, COCHE = "hello hell help", "aaabdaaabac", "coche azul"
END = "<|endoftext|>"
MERGES, TOLD = 20, 79
"""The merges of a tutorial, and the tokens that it tells."""

COMPARED = ("gpt2", "cl100k_base")

HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
"""The words of Hugging Face's course, and their counts."""

HUGS_SIZE = 7 + 3
"""The vocabulary after the third merge: their letters, at the start and inside, and the merges."""

LOW, MARKED = "low", {"atoms": "characters", "end_mark": "attached"}
LLAMA, INDENTED = "llama_3", f"a{' ' * 16}b"

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
    """Return the pairs that may be merged first: those with the largest count."""
    training = engine.merges_of(text, merges=1)
    (merge,) = training.merges
    listed = training.candidates(text, training.boundaries(text), 0, merge.ties + 1)
    pairs = (" + ".join(f"`{training.name(i)}`" for i in candidate.ids) for candidate in listed)
    pair = " or ".join(pairs)
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


def _course() -> Figures:
    training = bpeviz.train(Counter(HUGS), "wordpiece", merges=3, min_count=1, pattern="whitespace")
    assert isinstance(training, MergeTraining)  # noqa: S101 (for the type)
    names: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for word, times in HUGS.items():
        listed = [*map(training.name, training.at_step(2).encode(word))]
        names.update(dict.fromkeys(listed, times))  # no word has a piece twice
        pairs.update(dict.fromkeys(pairwise(listed), times))
    merge = training.merges[2]
    taken, told = (training.name(merge.left), training.name(merge.right)), ("hu", "##g")
    scores = (Fraction(pairs[pair], names[pair[0]] * names[pair[1]]) for pair in (taken, told))
    figures = dict(zip(("score", "other"), map(str, scores), strict=True))
    return figures | {"pair": " + ".join(f"`{name}`" for name in taken)}


def _mark() -> Figures:
    training = engine.merges_of(LOW, merges=0, pattern="whitespace", **MARKED)
    tokens = training.tokenizer().encode(LOW)
    return {"parts": " ".join(f"`{training.name(token_id)}`" for token_id in tokens)}


def _spaces() -> Figures:
    tokens = [token.raw for token in bpeviz.load(LLAMA).tokens(INDENTED)]
    return {"spaces": INDENTED.count(" "), "tokens": len(tokens), "run": max(map(len, tokens))}


def _algorithms(trainer: str, words: str, text: str, **values: Value) -> PageLink:
    state = engine.text_values(text) | {"algorithms": [trainer], "pattern": "whitespace"}
    return PageLink("pages/Algorithms.py", words, state | values)


def _train(text: str, words: str, merges: int) -> PageLink:
    return engine.train_page(text, words, largest=256 + merges, min_count=1)


def _page(path: str, words: str, text: str, **values: Value) -> PageLink:
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
        "order",
        _order,
        _page("Compare", "See the ids", "!a", compared=[*COMPARED], token_ids=True),
        COMPARED[:1],
    ),
    Saying(
        "pasted",
        _pasted,
        _page("Compare", "See its tokens", END, compared=[*COMPARED]),
        COMPARED[:1],
    ),
    Saying(
        "course",
        _course,
        _algorithms(
            "wordpiece",
            "See the third merge",
            "\n".join(f"{word} {times}" for word, times in HUGS.items()),
            counted=True,
            side_wordpiece_min_count=1,
            largest=HUGS_SIZE,
        ),
    ),
    Saying(
        "mark",
        _mark,
        _algorithms(
            "bpe", "See it split", LOW, side_bpe_atoms="characters", side_bpe_end_mark="attached"
        ),
    ),
    Saying(
        "spaces", _spaces, _page("Compare", "See the tokens", INDENTED, compared=[LLAMA]), (LLAMA,)
    ),
    Saying("overlap", lambda: _first_merge(OVERLAP), _train(OVERLAP, "See it merged", 3)),
)

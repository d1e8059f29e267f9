"""Chapter 4: fences, between which a text is merged."""

from __future__ import annotations

from functools import lru_cache, partial

from bpeviz.analysis.hues import OWN_HUES, Hues, hues
from bpeviz.core.training import MergeTraining
from bpeviz.text import counted, label
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import Chapter, Exercise, NoQuestionError
from bpeviz.ui.learn.figures import FENCED_TEXT, Fenced, fenced, fences_of, joins
from bpeviz.ui.runtime.cache import cached
from bpeviz.views.acts import BoundariesAct, Judgment, atoms_of, bits_of, token
from bpeviz.views.payloads import MessagePart, MessageRow, Player, TokenPart
from bpeviz.views.stage import of_training
from bpeviz.views.task import Mistake, Task

FENCED_MERGES = 6

WORD = "casa"
"""A word that stands before two marks."""

CONTRACTION = "don't"

MOST_FENCES = 52
"""The most places for fences: an answer is a whole number that a browser can store."""


@cached()
def _fenced(text: str, fences: tuple[int, ...]) -> Fenced:
    return fenced(text, fences, FENCED_MERGES)


def _rule(text: str) -> list[int]:
    """Return the fences of GPT-2, and those at marks inside of a pre-token, as in “don't”."""
    marks = [i for i in range(1, len(text)) if joins(text[i - 1 : i + 1])]
    return sorted({*fences_of(text), *marks})


def _places(text: str) -> list[int]:
    """Return the characters before which there may be a fence: of a long text, those of the rule.

    Raises:
        NoQuestionError: There are too many.
    """
    places = _rule(text) if len(text) > MOST_FENCES + 1 else [*range(1, len(text))]
    if len(places) > MOST_FENCES:
        raise NoQuestionError(
            f"This text has {len(places):,} places for fences, and up to {MOST_FENCES} fit. "
            "Type a shorter one."
        )
    return places


def _apart(text: str) -> Exercise[int]:
    """Return the exercise in which the user fences words."""
    places = _places(text)

    def payload(done: int, given: int | None) -> Player:
        result = _fenced(text, tuple(atoms_of(places, given or 0)))
        training = result.training
        stage = engine.stage_of(training, text, _hues(text, training))
        names = _names(text, result)
        free = _names(text, _fenced(text, ()))
        out: list[MessagePart] = [{**name, "mark": "out"} for name in free if name not in names]
        rows: list[MessageRow] = [
            {"title": title, "items": [[part] for part in listed], "numbered": listed is names}
            for title, listed in (("Merges", names), ("Left out", out or ["none"]))
        ]
        data = engine.on_stage(stage, "fences", text)
        data["task"] = {"rows": rows}
        return data

    return Exercise([partial(_question, text, places)], payload)


@lru_cache(64)  # each change of a fence needs it several times
def _hues(text: str, training: MergeTraining) -> Hues:
    """Return color indices under which a token of the unfenced text keeps its color."""
    given = OWN_HUES
    for each in (_fenced(text, ()).training, training):
        given = hues([of_training(each, text).coloring], given)
    return given


def _names(text: str, result: Fenced, joining: bool = False) -> list[TokenPart]:
    """Return the tokens of the merges, or only of those that join a word with something."""
    look = of_training(result.training, text).look(_hues(text, result.training))
    return [token(*look(merge.new_id)) for merge, joined in result.merges if joined or not joining]


def _question(text: str, places: list[int]) -> Task[int]:
    """Return the question for fences that keep words apart from marks and from each other.

    Raises:
        NoQuestionError: No merge joins them.
    """
    free = _fenced(text, ())
    if not _names(text, free, joining=True):
        raise NoQuestionError(
            f"None of the first {FENCED_MERGES} merges of this text joins a word with a "
            "punctuation mark or with the next word. Type a sentence with several marks."
        )
    right = bits_of(places, _rule(text))

    def judge(given: int | None) -> Judgment[int]:
        fences = atoms_of(places, right if given is None else given)
        result = _fenced(text, tuple(fences))
        compared = f", and {free.tokens:,} without fences" if fences else ""
        message: list[MessagePart] = [f"{counted(result.tokens, 'token')}{compared}. "]
        if joining := _names(text, result, joining=True):
            verb = "joins" if len(joining) == 1 else "join"
            words = f"{counted(len(joining), 'merge')} {verb} a word with a mark or the next word: "
            listed = [part for name in joining for part in (", ", name)][1:]
            return Judgment("wrong", [*message, words, *listed, "."], right)
        message.append("No merge joins a word with a mark or the next word.")
        if not result.apart:
            message.append(" Later ones would, where no fence is between them.")
        if given is None:
            message.append(" Other fences that do so are right as well: these are those of GPT-2.")
        return Judgment("right", message, right)

    ends = [*places, len(text)]
    pieces = [label(text[i:j].encode()) for i, j in zip([0, *places], ends, strict=True)]
    after = [len(text[:place].encode()) - 1 for place in places]
    return Task(BoundariesAct(pieces, after, is_live=True), judge)


def _endings(text: str) -> Exercise[int]:
    """Return the exercise in which the user places the fences of GPT-2's rule, all at once."""

    def payload(done: int, given: int | None) -> Player:
        merges = len(text) if done else 0
        training = engine.merges_of(text, merges=merges, pattern="gpt2", min_count=1)
        return engine.bare(engine.on_stage(engine.stage_of(training, text), "endings"))

    return Exercise([partial(_rule_question, text)], payload)


def _rule_question(text: str) -> Task[int]:
    after = [*range(len(text) - 1)]
    right = bits_of(after, [fence - 1 for fence in fences_of(text)])
    act = BoundariesAct([*text], after)
    parts: list[MessagePart] = ["Its pre-tokens are "]
    for part in act.parts(right):
        parts += [token(part), " "]

    def judge(given: int | None) -> Judgment[int]:
        return Judgment("right" if given in (None, right) else "wrong", parts, right)

    def mistakes() -> list[Mistake[int]]:
        mark = text.index("'")
        apart = bits_of(after, [mark - 1, mark])
        return [
            Mistake(apart, ["Most marks stand alone, but this one begins an ending."]),
            Mistake(0, ["Without a fence, the word and its ending would be one part."]),
        ]

    return Task(act, judge, mistakes)


def _cut(result: Fenced, part: str) -> str:
    """Return the tokens of the first place of a part of the text, in backquotes.

    The last token may go on behind it.
    """
    training, start = result.training, FENCED_TEXT.index(part)  # plain letters: bytes
    boundaries = training.boundaries(FENCED_TEXT)
    ends = boundaries.token_ends(training.steps).tolist()
    names = map(training.name, boundaries.ids(training.steps).tolist())
    listed = [
        name
        for name, first, end in zip(names, [0, *ends], ends, strict=False)
        if first < start + len(part) and end > start
    ]
    return " ".join(f"`{name}`" for name in listed)


def _figures() -> dict[str, int | str]:
    rule = fences_of(FENCED_TEXT)
    free, fenced = (_fenced(FENCED_TEXT, tuple(fences)) for fences in ((), rule))
    return {
        "word": WORD,
        "period": _cut(free, f"{WORD}."),
        "comma": _cut(free, f"{WORD},"),
        "free": free.tokens,
        "gpt2": fenced.tokens,
    }


CHAPTER = Chapter(
    key="fences",
    texts={"apart": FENCED_TEXT, "endings": CONTRACTION},
    tasks={"apart": _apart, "endings": _endings},
    own="apart",
    figures=_figures,
    target=partial(
        engine.train_page,
        label="Open this text in Train, with the fences of GPT-2",
        merges=FENCED_MERGES,
        pattern="gpt2",
    ),
)

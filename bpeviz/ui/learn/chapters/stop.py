"""Chapter 3: when to stop."""

from __future__ import annotations

from functools import partial

from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import DON_QUIJOTE, Chapter, Exercise
from bpeviz.ui.learn.figures import NEW_TEXT, StopLine, percent, stop_line
from bpeviz.ui.runtime.cache import cached
from bpeviz.views.acts import Judgment, StopAct, Verdict, token
from bpeviz.views.payloads import Curves, MessagePart, MessageRow, Player
from bpeviz.views.stage import Stage
from bpeviz.views.task import Mistake, Task

MERGES, BYTES = 40, 256

LATER_TEXT = "Una ama que pasaba de los cuarenta"
OFFERED = (6, 13, 20)
"""A part of a later sentence, and the merges of which one comes back in it. It has the letters of
the first one, too, but merge 5 has taken a space of them."""

WIDTH = 768
"""The numbers of GPT-2's embeddings, in its smallest model."""


@cached()
def _stop_line(new: str) -> StopLine:
    return stop_line(DON_QUIJOTE, new, MERGES)


def _stage() -> Stage:
    """Return the stage of the training text."""
    return engine.stage_of(engine.merges_of(DON_QUIJOTE, merges=MERGES), DON_QUIJOTE)


def _line(new: str) -> Exercise[int]:
    """Return the exercise in which the user sets the stop line of a training, for a new text."""

    def payload(done: int, given: int | None) -> Player:
        data = engine.on_stage(_stage(), "line", new)
        lines = [("training text", data["views"][0]["tokenCounts"])]
        marks: list[tuple[int, str]] = []
        goal = 0
        if done:
            line = _stop_line(new)
            goal = line.last
            lines.append(("new text", line.new))
            marks.append((goal, f"merge {goal}, the last that helps" if goal else "no merge helps"))
            marks += [(given, "yours")] if given not in (None, goal) else []
        curves: Curves = {
            "lines": [
                {"title": title, "values": [round(share, 1) for share in percent(counts)]}
                for title, counts in lines
            ],
            "marks": marks,
            "rows": BYTES if done else None,
        }
        data["initialStep"] = data["goal"] = goal
        data["curves"] = curves
        return data

    return Exercise([lambda: _question(new)], payload)


def _question(new: str) -> Task[int]:
    """Return the question for the last merge that makes a new text shorter."""

    def judge(given: int | None) -> Judgment[int]:
        line = _stop_line(new)
        message = _told(line)
        verdict: Verdict = "right" if given in (None, line.last) else "wrong"
        if given is not None and verdict == "wrong" and line.is_near(given):
            verdict = "near"
        return Judgment(verdict, message, line.last)

    def mistakes() -> list[Mistake[int]]:
        last = _stop_line(new).last
        return [Mistake(step, [_mistake(step, last)]) for step in reversed(range(MERGES + 1))]

    rows: list[MessageRow] = [{"title": "New text", "items": [[new]], "numbered": False}]
    return Task(StopAct(MERGES), judge, mistakes, rows=rows)


def _told(line: StopLine) -> list[MessagePart]:
    """Return the last merge that makes a new text shorter, in words."""
    before, after = line.new[0], line.new[-1]
    if not line.last:
        return ["No merge makes the new text shorter: it has none of the pairs that are merged."]
    stage = _stage()
    name, color = stage.rows[0].look(stage.hues)(line.training.merges[line.last - 1].new_id)
    last = f" is the last one that makes the new text shorter: {before:,} → {after:,} tokens."
    seen, end = line.seen[line.last], line.seen[-1]
    rest = f" From there to merge {MERGES}, the training text goes from {seen:,} to {end:,} tokens."
    return [f"Merge {line.last}, ", token(name, color), f",{last}{rest}"]


def _mistake(step: int, last: int) -> str:
    if not step:
        return "Without merges, each byte is a token. Some pairs are frequent in nearly any text."
    if step == MERGES:
        return "Here, tokens are long parts of the training text. Would a new text have them, too?"
    if step < last:
        return "Too early: a later merge still makes the new text shorter."
    return "Too late: the last merges before your line make only the training text shorter."


def _back(new: str) -> Exercise[int]:
    """Return the exercise in which the user picks the merge that a new text needs, too."""
    tokenizer = engine.merges_of(DON_QUIJOTE, merges=MERGES).tokenizer()

    def payload(done: int, given: int | None) -> Player:
        stage = engine.encoding(new, tokenizer, None if done else 0)
        return engine.bare(engine.on_stage(stage, "back"))

    return Exercise([partial(_comes_back, new)], payload)


def _comes_back(new: str) -> Task[int]:
    """Return the question which of some merges of the training a new text needs, too."""
    training = engine.merges_of(DON_QUIJOTE, merges=MERGES)
    names = {training.name(training.merges[number - 1].new_id): number for number in OFFERED}
    listed = sorted(names, key=str.casefold)
    taken = {part.label for part in training.tokenizer().tokens(new)}
    right = next(i for i, name in enumerate(listed) if name in taken)
    spaced = new.replace(" ", "·")
    lost = " stands there, but an earlier merge has taken a part of it."
    wrong = [
        Mistake(i, [token(name), lost if name in spaced else " is not there."])
        for i, name in enumerate(listed)
    ]
    number = names[listed[right]]
    message: list[MessagePart] = [
        token(listed[right]),
        f", merge {number}, is the only one that comes back.",
    ]
    return engine.picked(listed, right, message, wrong)


def _figures() -> dict[str, int | str]:
    entries = BYTES + _stop_line(NEW_TEXT).last
    return {
        "width": WIDTH,
        "entries": entries,
        "numbers": entries * WIDTH,
        "small": 4_096,
        "large": 8_192,
        "saved": "6.8%",  # a known answer, with a test
    }


CHAPTER = Chapter(
    key="stop",
    texts={"line": NEW_TEXT, "back": LATER_TEXT},
    tasks={"line": _line, "back": _back},
    own="line",
    figures=_figures,
    target=partial(
        engine.train_page,
        label="Open in Train, on both texts",
        merges=MERGES,
        train_on=DON_QUIJOTE,
    ),
)

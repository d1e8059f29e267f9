"""Payloads of texts on the stage in many states, by name, and the digests of their parts.

`python tests/helpers/payload_cases.py FILE` writes all payloads to a file, to compare two versions;
without FILE, it writes the digests with which `test_payloads.py` compares them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import bpeviz
from bpeviz.analysis import metrics, trace
from bpeviz.analysis.figures import measure
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.pretokenization import PreTokenizedColumn, pre_tokenize
from bpeviz.core.boundaries import Part
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.room.contents import RoomScore, RoomTimeline
from bpeviz.text import as_json
from bpeviz.ui.learn.base import NoQuestionError
from bpeviz.ui.learn.chapters import CHAPTERS
from bpeviz.ui.learn.engine import encoding
from bpeviz.views import encoded, inspection, merge_diagram, playable, race, score, tables
from bpeviz.views import pretokenization as pretokenization_views
from bpeviz.views.export import colored
from bpeviz.views.merge_diagram import Side
from bpeviz.views.parts import part_between, parts
from bpeviz.views.slides import DIAGRAM, TABLE, TEXT, Slides, of_score, of_stage
from bpeviz.views.stage import Row, Stage, TrainedOn, of_columns, of_training

Case = Callable[[], Any]

SEASHELLS = samples.by_key("seashells").text
SHORT = "low lower lowest, slow 👋 naïve 世界"
HINDI = "नमस्ते दुनिया, नमस्ते भाषा"
SPECIAL = "<s> low low <s> lower </s> low"
TEXTS = {
    "seashells": SEASHELLS,
    "short": SHORT,
    "hindi": HINDI,
    "a": "a",
    "empty": "",
    "spaces": "a   b\n\n\tc  ",
}

SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "bpe": ("bpe", {}),
    "bpe, characters": ("bpe", {"atoms": "characters", "pattern": "none"}),
    "bpe, end marks": (
        "bpe",
        {"end_mark": "symbol", "atoms": "characters", "pattern": "whitespace", "min_count": 2},
    ),
    "wordpiece": ("wordpiece", {"pattern": "whitespace"}),
    "wordpiece, dropped": ("wordpiece", {"unmatched": "drop", "case": "lower"}),
    "unigram": ("unigram", {}),
    "sentencepiece": ("sentencepiece", {"pattern": "none"}),
    "sentencepiece, unknown": ("sentencepiece", {"pattern": "none", "unknown": "unk"}),
    "scaffold": ("scaffold", {}),
    "superbpe": ("superbpe", {"transition": 270}),
    "multilingual": ("multilingual", {}),
    "parity": ("parity", {}),
    "adaptive": ("adaptive", {"base_size": 270}),
}
"""Trainers with options, by a name."""


def trained(name: str, text: str, **more: Any) -> Training:
    algorithm, options = SETTINGS[name]
    size = {"vocab_size": 40} if algorithm == "unigram" else {"merges": 40}
    return bpeviz.train(text, algorithm, **size | options | more)


def cases() -> Iterator[tuple[str, Case]]:
    """Yield each state with a function that returns its payloads."""
    for name in SETTINGS:
        for key, text in TEXTS.items():
            yield f"train, {name}, {key}", partial(page_of_text, name, text)
        yield f"train, {name}, special", partial(page_of_special, name)
        yield f"train, {name}, on another text", partial(page_of_other, name)
        yield f"train, {name}, parts", partial(page_of_parts, name)
        yield f"inspect, {name}", partial(page_of_inspection, name, with_training=True)
        if name != "unigram":  # its pruned pieces have names in the training history alone
            without = partial(page_of_inspection, name, with_training=False)
            yield f"inspect tokenizer, {name}", without
        yield f"score, {name}", partial(page_of_score, [name])
    for names in (
        ("bpe, characters", "wordpiece", "unigram"),
        ("bpe", "scaffold"),
        ("wordpiece, dropped", "sentencepiece", "superbpe", "parity"),
        ("unigram",),
    ):
        for key in ("seashells", "short", "hindi"):
            yield f"lock step, {', '.join(names)}, {key}", partial(page_of_lock_step, names, key)
        yield f"score, {', '.join(names)}", partial(page_of_score, names)
    for key in ("seashells", "short", "hindi", "empty", "spaces"):
        yield f"pre-tokenize, {key}", partial(page_of_pre_tokenization, TEXTS[key])
    for chapter in CHAPTERS:
        for task in sorted(chapter.tasks):
            own = ["casa de lanza", "unbelievable strawberry", "año 2026 你好"]
            for text in dict.fromkeys(
                (*chapter.texts.get(task, ()), *own[: 3 * (task == chapter.own)])
            ):
                yield f"learn, {chapter.key}, {task}, {text}", partial(task_of, chapter, task, text)


def state_of(training: Training, text: str, on: tuple[str, str] | None = None) -> list[Any]:
    """Return the payloads of a page, its slides, picture, file and room, for each part."""
    boundaries = training.boundaries(text)
    trained_on = on and TrainedOn(*on, training.boundaries(on[1]))
    return [
        payloads_of_training(
            of_training(training, text, boundaries, part, trained_on=trained_on, options={})
        )
        for part in parts(text, boundaries, 250)[:3]
    ]


def page_of_text(name: str, text: str) -> list[Any]:
    try:
        return state_of(trained(name, text), text)
    except ValueError as error:
        return [str(error)]


def page_of_special(name: str) -> list[Any]:
    names = {"special_tokens": ("<s>", "</s>"), "split_at_special": True}
    return state_of(trained(name, SPECIAL * 4, **names), SPECIAL * 4)


def page_of_other(name: str) -> list[Any]:
    other = samples.by_key("english-prose").text[:1500]
    try:
        training = trained(name, other)
        return state_of(training, SHORT, ("English prose", other))
    except ValueError as error:
        return [str(error)]


def page_of_parts(name: str) -> list[Any]:
    text = samples.by_key("english-prose").text[:1200]
    return state_of(trained(name, text), text)


def task_of(chapter: Any, task: str, text: str) -> list[Any]:
    try:
        stage = chapter.tasks[task](text)
        questions = [make() for make in stage.questions]
        given = [question.judge(None).right for question in questions]
        return [
            [stage.payload(done, answer) for answer in (None, *given[done : done + 1])]
            for done in range(len(questions) + 1)
        ]
    except NoQuestionError as error:
        return [str(error)]


# ---- the functions of the package that make the payloads


def payloads_of_training(row: Row) -> dict[str, Any]:
    stage, text, part = Stage([row]), row.text, row.part
    half = row.steps // 2
    races = race.payload(row, race.first_rows(row, 40), stage.hues, stage.payload["timelineId"])
    drawn = (part.first, min(part.first + 30, part.last))
    slides = of_stage("Title", stage, row.own_settings(), last=half, drawn=drawn)
    picture = colored("Title", Stage([row.at(half, "Title")], stage.hues))
    side = Side("Title", row.boundaries, half, half, row.look(stage.hues), row.words.unit)
    start = len(text[: part.first].encode())
    words = text[part.first : part.first + 20].encode()
    return {
        "player": stage.payload,
        "race": race.with_rest(races, row, row.steps, stage.hues),
        "slides": slides_of(slides, text),
        "picture": picture.payload(),
        "diagram": merge_diagram.payload(words, [side], start),
        "before and after": half and score.before_and_after(row, half, stage.hues),
        **file_and_room(playable.of_stage(stage)),
    }


def slides_of(slides: Slides, text: str) -> dict[str, Any]:
    return {name: slides.payload(name, "") for name in (TEXT, DIAGRAM, TABLE)[: 3 if text else 1]}


def file_and_room(page: playable.Interactive) -> dict[str, Any]:
    room = RoomTimeline(3, page)
    half = room.last // 2
    return {
        "file": [page.title, [*page.settings], page.data, page.names],
        "room": [room.full(), room.beginning(), room.more(0, half), room.more(half, room.last)],
    }


def page_of_inspection(name: str, *, with_training: bool) -> list[Any]:
    training = trained(name, SEASHELLS + SHORT)
    tokenizer = training.tokenizer()
    known = training if with_training else None
    states: list[Any] = []
    for text in (SEASHELLS, SHORT * 12, HINDI):
        inspected = trace.inspect(text, tokenizer)
        of_text = parts(text, inspected.cuts, 240)[:2]
        states += [payloads_of_inspection(inspected, part, known) for part in of_text]
    return states


def payloads_of_inspection(
    inspected: trace.Inspection, part: Part, training: Training | None
) -> dict[str, Any]:
    tokenizer, text = inspected.tokenizer, inspected.text
    colors = encoded.hues_of(inspected, training)
    if tokenizer.without_steps is not None:
        return {"grid": inspection.grid(inspected, part, colors=colors)}
    at = part_between(inspected.boundaries, part, text)
    stage = Stage([encoded.of_inspection(inspected, at, "Title", training, options={})], colors)
    slides = of_stage("Title", stage, drawn=(part.first, part.first + 20))
    whole = parts(text, inspected.boundaries)[0]
    in_file = encoded.of_inspection(inspected, whole, "Title", training, options={})
    is_merging = training is None and tokenizer.merged_id(0) is not None
    return {
        "player": stage.payload,
        "grid": inspection.grid(inspected, part, decimal=True, colors=colors),
        "slides": slides_of(slides, text),
        "encoding": is_merging
        and [encoding(text, tokenizer, upto).payload["views"][0] for upto in (None, 0, 3)],
        **file_and_room(playable.of_stage(Stage([in_file], colors))),
    }


def page_of_lock_step(names: Sequence[str], key: str) -> dict[str, Any]:
    text = TEXTS[key]
    trainings = [trained(name, text) for name in names]
    columns = [
        Column(name, each.at_step(each.steps), each.boundaries(text), each.steps)
        for name, each in zip(names, trainings, strict=True)
    ]
    part = parts(text, metrics.common_boundaries(columns, always=True), 3_000)[0]
    rows = []
    for name, training, column in zip(names, trainings, columns, strict=True):
        own = part_between(column.boundaries, part, text)
        rows.append(of_training(training, text, column.boundaries, own, title=name, options={}))
    stage = Stage(rows, by_size=True)
    return {
        "player": stage.payload,
        "slides": slides_of(of_stage("Title", stage), text),
        **file_and_room(playable.of_stage(stage)),
    }


def page_of_score(names: Sequence[str]) -> dict[str, Any]:
    text = SHORT + SEASHELLS
    columns = []
    for name in names:
        training = trained(name, SEASHELLS + SHORT)
        tokenizer = training.tokenizer()
        boundaries = tokenizer.boundaries(text)
        columns.append(Column(f"{name} (1)", tokenizer, boundaries, boundaries.steps, name))
    part = parts(text, metrics.common_boundaries(columns), 3_000)[0]
    stage = of_columns(columns, text)
    picture = colored("Title", stage, len(names) - 1)
    metrics_table = tables.metrics(measure(text, columns, 0))
    slides = of_score("Title", picture, metrics_table)
    page = playable.of_score(picture, metrics_table)
    return {
        "score": score.payload(stage.showing(part), ids=True),
        "picture": picture.payload(),
        "slides": {name: slides.payload(name, "") for name in (TEXT, TABLE)},
        "file": [page.title, [*page.settings], page.data],
        "room": RoomScore(2, page).full(),
    }


def page_of_pre_tokenization(text: str) -> dict[str, Any]:
    columns = [
        PreTokenizedColumn(pattern, "About.", pre_tokenize(text, pattern), pattern)
        for pattern in ("gpt2", "cl100k")
    ]
    return pretokenization_views.payload(columns, 0, len(text))


# ---- digests


def as_values(payload: Any) -> Any:
    """Return a payload as the browser reads it."""
    return json.loads(as_json(payload))


def digests(value: Any, depth: int = 2) -> dict[str, str]:
    """Return the digest of each part of a payload, by its path."""
    if depth and isinstance(value, (dict, list)) and value:
        items: Mapping[Any, Any] = value if isinstance(value, dict) else dict(enumerate(value))
        return {
            f"{key}{'/' * bool(path)}{path}": digest
            for key, part in items.items()
            for path, digest in digests(part, depth - 1).items()
        }
    return {"": hashlib.sha1(json.dumps(value, sort_keys=True).encode()).hexdigest()[:7]}


def written(payloads: Mapping[str, Any]) -> str:
    """Return the digests of payloads as JSON: the paths that occur, and those of each case."""
    parts = {name: digests(payload) for name, payload in payloads.items()}
    paths = sorted({path for part in parts.values() for path in part})
    number = {path: i for i, path in enumerate(paths)}
    lines = [
        f"{json.dumps(name)}: "
        + json.dumps(" ".join(f"{number[path]:x}={digest}" for path, digest in part.items()))
        for name, part in parts.items()
    ]
    return '{"paths": ' + json.dumps(paths) + ', "cases": {\n' + ",\n".join(lines) + "\n}}\n"


def read(stored: str) -> dict[str, dict[str, str]]:
    """Return the digests of each case, by path."""
    data = json.loads(stored)
    entries = {
        name: [pair.split("=") for pair in line.split()] for name, line in data["cases"].items()
    }
    return {
        name: {data["paths"][int(number, 16)]: digest for number, digest in pairs}
        for name, pairs in entries.items()
    }


DIGESTS = Path(__file__).parents[1] / "views/payloads.json"


if __name__ == "__main__":
    payloads = {name: as_values(make()) for name, make in cases()}
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(json.dumps(payloads), encoding="utf-8")
    else:
        DIGESTS.write_text(written(payloads), encoding="utf-8")
    print(f"{len(payloads)} states")

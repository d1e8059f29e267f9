"""The components' scripts, tested by Node on payloads and answers of the real engine.

`fixtures` writes them to a folder; the `*.test.mjs` files beside this one read them from there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import usual
from helpers.stages import aligned
from helpers.stages import timeline as timeline_of
from merge_tree import Node, merge_tree

import bpeviz
from bpeviz.analysis import trace
from bpeviz.analysis.metrics import Column
from bpeviz.components import FOLDER, read
from bpeviz.core.boundaries import Boundaries, MergeBoundaries
from bpeviz.core.training import Training
from bpeviz.trainers import TRAINERS
from bpeviz.views import inspection
from bpeviz.views.parts import parts as parts_of
from bpeviz.views.stage import of_columns

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SCRIPTS = sorted(HERE.glob("*.test.mjs"))
NAMES = sorted(one.parent.name for one in FOLDER.glob("*/*.js") if one.stem == one.parent.name)

TEXT = "the lowest lamp, the newest 世界 lamp\n\tnaïve 👩‍👩‍👧 e\u0301 صباح ‮ the lower 🇫🇷 lamps\n"
TRAININGS: dict[str, dict[str, Any]] = {
    "bytes": {"algorithm": "bpe", "vocab_size": 300},
    "characters": {"algorithm": "bpe", "vocab_size": 60, "atoms": "characters"},
    "end marks": {
        "algorithm": "bpe",
        "vocab_size": 70,
        "atoms": "characters",
        "end_mark": "attached",
    },
    "end symbols": {
        "algorithm": "bpe",
        "vocab_size": 60,
        "atoms": "characters",
        "end_mark": "symbol",
    },
}
SAMPLED_STEPS = 15


@pytest.fixture(scope="session")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        message = "No Node.js: apt-get install nodejs"
        if os.environ.get("CI"):
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    return found


def run(command: list[str], **environment: str) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | environment
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def write(folder: Path, name: str, content: Any) -> None:
    (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


@cache
def trained() -> dict[str, tuple[Training, Boundaries]]:
    """Return training histories with the boundaries of a text, by name."""
    trainings = {name: bpeviz.train(TEXT * 2, **how) for name, how in TRAININGS.items()}
    trainings |= {key: usual.train(key, TEXT * 2) for key in TRAINERS}
    return {
        name: (training, training.tokenizer().boundaries(TEXT))
        for name, training in trainings.items()
    }


def sampled(steps: int) -> list[int]:
    """Return some of the steps, the first and the last included."""
    return np.unique(np.linspace(0, steps, SAMPLED_STEPS).astype(int)).tolist()


def tokens_at(boundaries: Boundaries, step: int) -> list[list[int]]:
    """Return the tokens after a step: start and end in atoms, id."""
    ends = boundaries.token_ends(step).tolist()
    return [
        [start, end, token_id]
        for start, end, token_id in zip(
            [0, *ends], ends, boundaries.ids(step).tolist(), strict=False
        )
    ]


def byte_boundaries(boundaries: Boundaries, step: int) -> list[int]:
    """Return the bytes after which a token ends, without the end of a mark before the text."""
    return [end for end in np.unique(boundaries.cuts(step)).tolist() if end]


def timeline(training: Training, boundaries: Boundaries) -> dict[str, Any]:
    (part,) = parts_of(TEXT, boundaries)
    return timeline_of(TEXT, training, boundaries, part, boundaries.steps)


def timelines() -> list[dict[str, Any]]:
    """Return a payload for each training, with its tokens at some steps."""
    found = []
    for name, (training, boundaries) in trained().items():
        steps = []
        for step in sampled(boundaries.steps):
            kept = boundaries.boundary_mask(step)
            before = boundaries.boundary_mask(step - 1) if step else kept
            steps.append(
                {
                    "step": step,
                    "tokens": tokens_at(boundaries, step),
                    "before": tokens_at(boundaries, max(0, step - 1)),
                    "merged": np.flatnonzero(before & ~kept).tolist(),
                    "byteBoundaries": byte_boundaries(boundaries, step),
                }
            )
        payload = timeline(training, boundaries)
        found.append(
            {"name": name, "payload": payload, "ends": boundaries.ends.tolist(), "steps": steps}
        )
    return found


def unknown() -> dict[str, Any]:
    """Return a payload of a text most of which is not in the vocabulary."""
    training = usual.train("wordpiece", "the lowest lamp")
    return timeline(training, training.tokenizer().boundaries(TEXT))


def lock_step() -> dict[str, Any]:
    """Return a payload of several trainings, with the boundaries of each at some sizes."""
    parts = [
        (name, *trained_row, parts_of(TEXT, trained_row[1])[0])
        for name, trained_row in trained().items()
    ]
    payload: Any = aligned(parts, TEXT).payload
    cases = []
    for index in sampled(payload["last"]):
        cuts = []
        for (_, training, boundaries, _), view in zip(parts, payload["views"], strict=True):
            step = view["ownSteps"][index]
            assert training.sizes[step] <= payload["vocabSizes"][index] or step == 0
            cuts.append(byte_boundaries(boundaries, step))
        cases.append({"index": index, "boundaries": cuts})
    sizes = np.array(payload["vocabSizes"])
    typed = [-1, 0, 255, *(sizes[::7] + 1).tolist(), int(sizes[-1]) + 99]
    steps = [max(0, int(np.searchsorted(sizes, size, "right")) - 1) for size in typed]
    return {"payload": payload, "cases": cases, "typed": [*zip(typed, steps, strict=True)]}


def trees() -> dict[str, Any]:
    """Return the merge trees of all tokens at the last step, node by node."""
    training, boundaries = trained()["bytes"]
    assert isinstance(boundaries, MergeBoundaries)
    atom_ids = boundaries.atom_ids.tolist()

    def nodes(node: Node, first: int) -> list[dict[str, int]]:
        token_id = atom_ids[node.start] if node.step < 0 else boundaries.first_merge_id + node.step
        here = {"first": node.start - first, "last": node.end - first}
        here |= {"since": node.step + 1, "id": token_id}
        return [here, *(node for of in node.parents or () for node in nodes(of, first))]

    cases = [
        {"start": start, "end": end, "nodes": nodes(merge_tree(boundaries, start, end), start)}
        for start, end, _ in tokens_at(boundaries, boundaries.steps)
    ]
    return {"payload": timeline(training, boundaries), "cases": cases}


def score() -> dict[str, Any]:
    """Return the payload of a score, with tokens of bytes, overlaps and common boundaries."""
    shown = [
        Column(name, *pair(training, boundaries))
        for name, (training, boundaries) in trained().items()
    ]
    size = len(TEXT.encode())
    payload = of_columns(shown, TEXT).score()
    cases = []
    for column in shown:
        ends = column.cuts
        starts = np.concatenate(([0], ends[:-1]))
        at = [int(np.flatnonzero((starts <= byte) & (byte < ends))[0]) for byte in range(size)]
        overlaps = [
            int(np.count_nonzero((ends > start) & (starts < end)))
            for start, end in zip(
                shown[0].cuts[:-1].tolist(), shown[0].cuts[1:].tolist(), strict=True
            )
        ]
        cases.append({"tokenAt": at, "overlaps": overlaps})
    common = set.intersection(*({*column.cuts.tolist()} - {0} for column in shown))
    spans = shown[0].cuts.tolist()
    return {"payload": payload, "spans": spans, "cases": cases, "common": sorted(common)}


def pair(training: Training, boundaries: Boundaries) -> tuple[Any, Boundaries, int]:
    return training.tokenizer(), boundaries, boundaries.steps


def grid() -> dict[str, Any]:
    training, _ = trained()["bytes"]
    found = trace.inspect(TEXT, training.tokenizer())
    (part,) = parts_of(TEXT, found.cuts)
    return inspection.grid(found, part)


@pytest.fixture(scope="session")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("payloads")
    for make in (timelines, unknown, lock_step, trees, score, grid):
        write(folder, make.__name__, make())
    return folder


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_script(script: Path, node: str, fixtures: Path) -> None:
    run([node, str(script)], BPEVIZ_FIXTURES=str(fixtures))


PARSE = """
const { readFileSync } = require("node:fs");
for (const identifier of process.argv.slice(1))
  new (require("node:vm").SourceTextModule)(readFileSync(identifier, "utf8"), { identifier });
"""


def test_bundles_are_valid(node: str, tmp_path: Path) -> None:
    modules = [tmp_path / f"{name}.mjs" for name in NAMES]
    for name, module in zip(NAMES, modules, strict=True):
        script = read(name).script
        assert re.search(r"^(const|(async )?function) mount\b", script, re.MULTILINE)
        module.write_text(script, encoding="utf-8")
    run([node, "--experimental-vm-modules", "--eval", PARSE, *map(str, modules)])


def test_every_component_folder_has_an_entry_and_tests_exist() -> None:
    folders = {one.name for one in FOLDER.iterdir() if one.is_dir() and one.name[0] not in "._"}
    assert {*NAMES} == folders - {"shared"}
    assert SCRIPTS

"""Run sheets: their text, and the parts that a leader goes through."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
from helpers.refusals import refusal
from helpers.stages import played

import bpeviz
from bpeviz.corpus import samples
from bpeviz.pretrained import download
from bpeviz.room import sheet
from bpeviz.room.messages import Invitation, Message
from bpeviz.room.rooms import Room, Rooms
from bpeviz.room.run import Ready, Run
from bpeviz.views import playable
from bpeviz.views.acts import BeliefAct
from bpeviz.views.task import Task, judged

TEXT = """
# A note for editors of the file.
Seven minutes

2 min  show https://class.example/bpeviz/Compare?text_sample=banana
3 min  show /
       # Talk to your neighbor.
1 min  vote 2
       right: e + l
       mistake: s + h
       mistake: s + e
1 min  ask How many?
       - one
       * two, or more
"""


def page(sample: str = "seashells") -> playable.Interactive:
    text = samples.by_key(sample).text
    return played(bpeviz.train(text, merges=22, pattern="gpt2"), text)


@pytest.fixture
def room() -> Room:
    found = sheet.parse(TEXT)
    opened = Rooms().open("me", lambda _: Invitation())
    opened.use(Run("own", found))
    return opened


class Leader:
    def __init__(self, room: Room) -> None:
        self.room = room
        self.member = room.enter("", lambda: None, is_leader=True)

    def send(self, **message: Any) -> dict[str, Any]:
        self.room.receive(self.member, Message.of(message))
        return self.room.state(self.member)


def test_sheet_has_parts_with_minutes() -> None:
    found = sheet.parse(TEXT)
    assert (found.title, found.minutes) == ("Seven minutes", 7)
    shown, train, vote, ask = found.parts
    assert shown.link == "/Compare?text_sample=banana"
    assert (train.link, train.notes) == ("/", ["Talk to your neighbor."])
    assert (vote.kind, vote.step, vote.line) == ("vote", 2, 8)
    assert found.parts[2].claims == {"right": ["e + l"], "mistake": ["s + h", "s + e"]}
    assert (ask.words, ask.options, ask.right) == ("How many?", ["one", "two, or more"], 1)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no parts"),
        ("1 min show /Banana", "Line 2"),
        ("1 min show /\n1 min vote soon", "Line 3"),
        ("1 min sing", "Line 2"),
        ("1 min show /\n- one", "Line 3"),
        ("1 min show /\nsoon", "Line 3"),
        ("1 min learn merge 2", "Line 2"),
        ("1 min show /\nright: a", "Line 3"),
        ("1 min ask Why?\n- a\n- b", "The end"),
        ("1 min ask Why?\n* a\n* b", "Line 4"),
        ("1 min ask Why?" + "\n- a" * 9, "Line 11"),
        ("1 min show /\n" * 101, "Line 102"),
    ],
)
def test_message_names_the_line(lines: str, message: str) -> None:
    refusal(sheet.parse, f"Title\n{lines}", naming=message, error=sheet.SheetError)


def test_note_has_the_tokens_of_the_sentence_in_each_language() -> None:
    if not download.available("gpt2"):
        pytest.skip("It needs GPT-2's vocabulary.")
    compared = re.compile("/Compare.text=(.*)")
    for run_sheet in (sheet.ours()["45-minutes"], sheet.ours()["90-minutes"]):
        (at,) = (i for i, part in enumerate(run_sheet.parts) if compared.match(part.link))
        lines = unquote_plus(run_sheet.parts[at].link.partition("=")[2]).splitlines()
        counts = [len(bpeviz.load("gpt2").encode(line)) for line in lines]
        assert counts == [7, 12, 13]
        assert "7, 12 and 13 tokens" in run_sheet.parts[at + 1].notes[0]


def test_leader_goes_through_the_parts(room: Room) -> None:
    leader = Leader(room)
    follower = room.enter("phone", lambda: None)
    first = leader.send()
    assert [part["kind"] for part in first["sheet"]["parts"]] == ["show", "show", "vote", "ask"]
    assert "sheet" not in leader.send()
    assert room.run
    room.begin_part(room.run, 1, "No such page.")
    failed = leader.send()
    assert (failed["part"], failed["ready"], failed["problem"]) == (1, [], "No such page.")
    assert "content" not in failed
    assert room.lacks_page(1)
    room.begin_part(room.run, 1, Ready(page(), "/?s=x", 2))
    assert "content" in leader.send()
    assert (room.step, room.link, room.lacks_page(1)) == (2, "/?s=x", False)
    leader.send(do="part", part=2)
    assert leader.send(do="ask")["vote"]["task"]["isLed"]
    assert leader.send(do="part", part=3)["vote"]["task"]["prompt"] == ["How many?"]
    room.receive(follower, Message.of({"answer": 1, "vote": 2}))
    leader.send(step=9, content=1)
    seen = room.state(follower)
    assert (seen["vote"]["task"]["right"], seen["vote"]["task"]["given"]) == (None, 1)
    assert not {"sheet", "part", "ready"} & {*seen}
    leader.send(do="reveal")
    assert room.state(follower)["vote"]["task"]["right"] == [1]
    for part in (-1, 4, True, "1"):
        leader.send(do="part", part=part)
    assert leader.send()["part"] == 3


def test_going_to_a_part_brings_its_page(room: Room) -> None:
    lines = "show /Compare\n1 min ask Why?\n- a\n* b\n1 min show /\n1 min vote 2\n1 min step 5"
    steps = sheet.parse(f"T\n1 min ask Who?\n- a\n* b\n1 min {lines}\n1 min learn merge/pair")
    pages = [page() for _ in range(3)]
    room.show(pages[0], "/?s=first")
    room.use(Run("own", steps))
    leader, question = Leader(room), Task(BeliefAct(("a",)), judged(0), prompt=["?"])

    def seen() -> tuple[Any, ...]:
        assert room.content
        asked = room.vote and room.vote.task.prompt[0]
        return [*map(id, pages)].index(id(room.content.page)), room.step, room.furthest, asked

    assert room.run
    lacking = [part for part in (None, -1, 0, 1, 4, 99) if room.lacks_page(part)]
    assert lacking == [1, 4]
    room.begin_part(room.run, 4, Ready(pages[2], "", 1))
    assert seen() == (2, 2, 2, "Which pair merges next?")
    leader.send(do="part", part=5)
    leader.send(step=5, content=room.number)
    leader.send(step=9, content=room.number)
    leader.send(do="part", part=6)
    assert seen() == (2, 9, 9, None)  # the next part goes on where the leader is
    room.begin_part(room.run, 2, Ready(pages[1], "", 0))
    assert seen() == (1, 0, 0, "Why?")
    leader.send(do="part", part=6)
    room.ask(question)
    assert seen() == (2, 5, 5, "?")
    for part, stage in ((4, (2, 2, 2)), (3, (2, 1, 1)), (2, (1, 0, 0)), (0, (0, 0, 0))):
        leader.send(do="part", part=part)
        assert seen()[:3] == stage
    leader.send(do="part", part=2)
    room.show(pages[0])  # by hand
    leader.send(do="part", part=3)
    assert seen() == (2, 1, 1, None)


def test_sheet_of_the_documentation_is_valid() -> None:
    shown = (Path(bpeviz.__file__).parent / "DEPLOYMENT.md").read_text(encoding="utf-8")
    (example,) = re.findall("```\n(A workshop.*?)```", shown, re.DOTALL)
    assert sheet.parse(example).minutes == 10
    assert sheet.__doc__
    (example,) = re.findall("\n    (A workshop.*?)\n\nThe first", sheet.__doc__, re.DOTALL)
    assert sheet.parse(example).minutes == 7

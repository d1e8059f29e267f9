"""Questions of Learn for the votes of rooms."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from itertools import accumulate, chain
from typing import Any

import pytest
from helpers.asgi import HTML, ask, page
from helpers.stages import played

import bpeviz
from bpeviz.corpus import samples
from bpeviz.room import rooms, sheet
from bpeviz.room.contents import RoomTimeline
from bpeviz.room.messages import Invitation, Message
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.room.votes import Vote, sums
from bpeviz.text import as_json
from bpeviz.ui.learn import vote_questions
from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.ui.room.connections import RoomPages
from bpeviz.views.task import Task, judged


def vote_on(key: str) -> Task[int]:
    question = vote_questions.find(key)
    assert question is not None
    return question


OFFERED = {
    key: name for listed in vote_questions.offered() for key, name in listed["questions"].items()
}
KEYS = [*OFFERED]


def answers(question: Task[int]) -> list[int]:
    """Return two answers of which one is right, if one can be."""
    listed = [option["value"] for option in question.act.options]
    right = listed[0] if question.right is None else question.right
    return [right, next(value for value in listed if value != right)]


@pytest.fixture(autouse=True)
def letters_that_no_page_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give rooms letters that can be taken out of a page without its words, such as TEXT."""
    monkeypatch.setattr(rooms, "LETTERS", "QXZ")


def opened() -> Room:
    return ROOMS.open("tester", lambda _: Invitation())


def received(question: Task[int], answer: int) -> list[str]:
    """Return all messages of a follower until the counts are shown, and its page."""
    room = opened()
    got: list[str] = []
    leader = room.enter("", lambda: None, is_leader=True)
    follower = room.enter("same", lambda: got.append(as_json(room.state(follower)).decode()))
    room.ask(question)
    room.receive(follower, Message.of({"answer": answer, "vote": 1}))
    for do in ("show", "again", "show"):
        room.receive(leader, Message.of({"do": do}))
    body = ask(RoomPages(page, "/"), address=f"/room/{room.letters}", **HTML).body
    room.close()
    body = re.sub('nonce="[^"]*"', "", body)
    return [message.replace(room.letters, "") for message in (*got[:-1], body)]


@pytest.mark.parametrize("key", KEYS)
def test_follower_gets_nothing_that_depends_on_the_answer_before_it_is_revealed(key: str) -> None:
    question = vote_on(key)
    right, wrong = answers(question)
    other = replace(question, judge=judged(wrong, ["Something else."]))
    for answer in (right, wrong):
        messages = received(question, answer)
        assert messages == received(other, answer)
        *votes, _ = messages
        assert len(votes) > 3
        for message in votes:
            vote = json.loads(message)["vote"]
            assert (vote["task"]["right"], vote["task"]["result"]) == (None, None)
            assert vote["answered"] <= 1


@cache
def asked_by_key() -> dict[str, Task[Any]]:
    """Return the tasks of all chapters by their keys."""
    return dict(chain(*map(vote_questions.asked, BY_KEY.values())))


@pytest.mark.parametrize("key", KEYS)
def test_answers_are_those_of_the_act_and_the_right_one_is_among_them(key: str) -> None:
    question = vote_on(key)
    for answer in answers(question):
        assert question.act.accepts(answer)
        assert asked_by_key()[key].act.accepts(answer) or question.right is None
    for wrong in (-1, 1 << 60):
        assert not question.act.accepts(wrong)
    if question.act.kind in ("pair", "belief"):  # others are in their order
        words = [option["words"].casefold() for option in question.act.options]
        assert words == sorted({*words}), "their order depends on the answer"


def test_text_that_the_answer_changes_is_drawn_anew() -> None:
    for key, anew in (("back/alone/0", True), ("why/letters/0", False)):
        vote = Vote(1, vote_on(key))
        before = vote.stage("")
        vote.reveal()
        after = vote.stage("")
        assert before
        assert after
        assert (before["key"] != after["key"]) is anew


def test_unknown_keys_have_no_question() -> None:
    assert {vote_on(key).series for key in vote_questions.TRANSFERS} == {7}
    for unknown in ("", "merge", "merge/9", "no/0", "../why/0", "merge/pair/3", "real/next/0"):
        assert vote_questions.find(unknown) is None


def test_sums_of_a_series_are_told_once_all_of_it_is_answered() -> None:
    votes: list[Vote] = []
    for rights in (1, 2):
        for key in vote_questions.TRANSFERS:
            question = vote_on(key)
            right, wrong = answers(question)
            votes.append(vote := Vote(len(votes) + 1, question))
            vote.answer("a", right)
            vote.answer("b", right if rights == 2 else wrong)
            assert rights == 2 or sums(votes) == "", "a few tell an answer"
            vote.reveal()
    words = "Right answers: before the course 7 of 14, after the course 14 of 14."
    assert sums(votes) == words


def answer_named(question: Task[int], words: str) -> int:
    """Return the answer that a run sheet names, as it stands on the screen."""
    values = {option["words"].rstrip("."): option["value"] for option in question.act.options}
    if question.act.kind != "boundaries":
        return values[words]
    befores = [*accumulate(words.split(" | "))][:-1]
    return sum(1 << values[f"a boundary after “{before}”"] for before in befores)


@pytest.mark.parametrize("listed", sheet.ours().values(), ids=sheet.ours())
def test_notes_of_our_run_sheets_say_what_is_on_the_screen(listed: sheet.Sheet) -> None:
    text = samples.by_key("seashells").text
    shown = RoomTimeline(1, played(bpeviz.train(text, merges=22, pattern="gpt2"), text))
    for part in listed.parts:
        if part.kind == "learn":
            question = vote_questions.find(part.words)
        else:
            question = shown.question(part.step) if part.kind == "vote" else None
        if question is None:
            assert part.kind not in ("learn", "vote"), f"line {part.line} has no question"
            continue
        claims = [(kind, words) for kind in part.claims for words in part.claims[kind]]
        assert claims, f"line {part.line} names no answer"
        for kind, words in claims:
            answer = answer_named(question, words)
            assert question.act.accepts(answer), part.line
            assert question.in_words(answer) == words
            verdict = question.judge(answer).verdict
            assert verdict == {"right": "right", "mistake": "wrong"}[kind], (part.line, words)


def test_names_of_questions_tell_no_answer() -> None:
    assert len({*OFFERED.values()}) == len(OFFERED)
    for key, named in OFFERED.items():
        assert named.startswith(f"{key.removesuffix('/0')}: ")
        asked, name = vote_on(key), named.partition(" ")[2]
        rights = [option["words"] for option in asked.act.options] or [str(asked.right)]
        assert {*rights}.isdisjoint(name.split())
        state = Vote(1, asked).state("", can_vote=False)
        assert (state["task"]["right"], state["had"], state["task"]["result"]) == (None, None, None)
        assert state["name"] == named

"""Questions of Learn for the votes of rooms."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from helpers.asgi import HTML, ask, page

from bpeviz.pretokenizers import expressions
from bpeviz.room.messages import Invitation, Message
from bpeviz.room.rooms import ROOMS
from bpeviz.room.votes import VoteQuestion
from bpeviz.text import as_json
from bpeviz.ui.learn import vote_questions
from bpeviz.ui.learn.base import NoQuestionError
from bpeviz.ui.learn.registry import BY_KEY
from bpeviz.ui.learn.teachers_page import asked
from bpeviz.ui.room.connections import RoomPages
from bpeviz.workers.child import StartError

KEYS = [one["key"] for chapter in vote_questions.offered() for one in chapter["questions"]]


def found(key: str) -> VoteQuestion:
    question = vote_questions.find(key)
    assert question is not None
    return question


def received(question: VoteQuestion, answer: int) -> list[str]:
    """Return all messages of a follower until the counts are shown, and its page."""
    room = ROOMS.open("tester", lambda _: Invitation())
    got = []
    leader = room.enter("", room.leader, lambda: None)
    follower = room.enter("same", "", lambda: got.append(as_json(room.state(follower)).decode()))
    room.ask(question)
    room.receive(follower, Message.of({"answer": answer, "vote": 1}))
    for do in ("show", "again", "show"):
        room.receive(leader, Message.of({"do": do}))
    body = ask(RoomPages(page, "/"), address=f"/room/{room.letters}", **HTML).body
    room.close()
    return [one.replace(room.letters, "") for one in (*got[:-1], body)]


@pytest.mark.parametrize("key", KEYS)
def test_follower_gets_nothing_that_depends_on_the_answer_before_it_is_revealed(key: str) -> None:
    question = found(key)
    low = question.numbers.low if question.numbers else 0
    other = replace(question, right=low + (question.right == low), explanation=["Something else."])
    messages = received(question, low)
    assert messages == received(other, low)
    *votes, _ = messages
    assert len(votes) > 3
    for one in votes:
        vote = json.loads(one)["vote"]
        assert (vote["right"], vote["explanation"]) == (None, [])


def test_questions_have_the_right_answer_among_their_options() -> None:
    for key in KEYS:
        question = found(key)
        assert question.accepts(question.right)
        words = [one.words.casefold() for one in question.options]
        assert words == sorted({*words}), "their order depends on the answer"
        assert "Click" not in question.words
    first = found("first-merge/0")
    assert first.options[first.right].words == "o + ·"
    assert first.words == "Which two neighbors occur together most often?"
    assert (found("first-merge/1").right, found("first-merge/1").options) == (124, [])
    assert found("word-ends/0").options[found("word-ends/0").right].words == "e + s"


def test_names_and_previews_of_questions_tell_no_answer() -> None:
    chapters = vote_questions.offered()
    listed = [question for chapter in chapters for question in chapter["questions"]]
    names = [question["name"] for question in listed]
    assert "4.1 The most frequent pair" in names
    assert len({*names}) == len(names)
    for key, question in zip(KEYS, listed, strict=True):
        asked = found(key)
        right = asked.options[asked.right].words if asked.options else str(asked.right)
        assert right not in question["name"].partition(" ")[2]
        assert (question["vote"]["right"], question["vote"]["explanation"]) == (None, [])


def test_chapter_that_cannot_be_computed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def ends(*_: object) -> list[int]:
        calls.append("")
        raise StartError("its process did not start")

    complete = vote_questions.offered()
    monkeypatch.setattr(expressions, "ask", ends)
    assert vote_questions.offered() == complete, "it was computed again"
    assert not calls
    vote_questions._votes.cache_clear()
    titles = [one["title"] for one in vote_questions.offered()]
    left_out = [one["title"] for one in complete if one["title"] not in titles]
    assert len(left_out) == 2
    assert "rules" in " ".join(left_out)
    with pytest.raises(NoQuestionError, match="Try again"):
        vote_questions.find("splitting-rules/1")
    monkeypatch.undo()
    assert vote_questions.offered() == complete


def test_question_about_another_text_has_its_answer() -> None:
    pair, number, _ = map(
        vote_questions.for_vote, asked(BY_KEY["first-merge"], {"text": "abab ab"})
    )
    assert pair is not None
    assert number is not None
    assert pair.options[pair.right].words == "a + b"
    assert number.right == 4


@pytest.mark.parametrize("key", ["", "first-merge", "first-merge/9", "no/0", "training-loop/0"])
def test_unknown_questions_and_those_with_other_forms_are_not_found(key: str) -> None:
    assert vote_questions.find(key) is None

"""Questions of Learn for the votes of rooms."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from helpers.asgi import HTML, ask, page

from bpeviz.room import rooms, sheet
from bpeviz.room.messages import Invitation, Message
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.room.votes import VoteQuestion
from bpeviz.text import as_json
from bpeviz.ui.learn import vote_questions
from bpeviz.ui.learn.base import NoQuestionError
from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.ui.room.connections import RoomPages

OFFERED = [listed for chapter in vote_questions.offered() for listed in chapter["questions"]]
KEYS = [listed["key"] for listed in OFFERED]


def vote_on(key: str) -> VoteQuestion:
    question = vote_questions.find(key)
    assert question is not None
    return question


def answers(question: VoteQuestion) -> list[int]:
    """Return two answers of which one is right, if one can be."""
    every = question.values or range(max(2, len(question.options)))
    low = question.numbers.low if question.numbers else 0
    listed = [*every] if question.options else [low, low + 1]
    right = listed[0] if question.right is None else question.right
    return [right, next(value for value in listed if value != right)]


@pytest.fixture(autouse=True)
def letters_that_no_page_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give rooms letters that can be taken out of a page without its words, such as TEXT."""
    monkeypatch.setattr(rooms, "LETTERS", "QXZ")


def opened() -> Room:
    return ROOMS.open("tester", lambda _: Invitation())


def received(question: VoteQuestion, answer: int) -> list[str]:
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
    return [message.replace(room.letters, "") for message in (*got[:-1], body)]


@pytest.mark.parametrize("key", KEYS)
def test_follower_gets_nothing_that_depends_on_the_answer_before_it_is_revealed(key: str) -> None:
    question = vote_on(key)
    right, wrong = answers(question)
    other = replace(question, right=wrong, explanation=["Something else."])
    for answer in (right, wrong):
        messages = received(question, answer)
        assert messages == received(other, answer)
        *votes, _ = messages
        assert len(votes) > 3
        for message in votes:
            vote = json.loads(message)["vote"]
            assert (vote["right"], vote["explanation"], vote["mine"]) == (None, [], vote["mine"])
            assert vote["answered"] <= 1


@pytest.mark.parametrize("key", KEYS)
def test_answers_are_those_of_the_act_and_the_right_one_is_among_them(key: str) -> None:
    question = vote_on(key)
    asked = [
        one
        for chapter in BY_KEY.values()
        for one in vote_questions.asked(chapter)
        if one.key == key
    ]
    for answer in answers(question):
        assert question.accepts(answer)
        for one in asked:
            assert one.question.act.accepts(answer) or question.right is None
    for wrong in (-1, 1 << 60):
        assert not question.accepts(wrong)
    words = [option.words.casefold() for option in question.options]
    assert words == sorted({*words}), "their order depends on the answer"


def test_questions_are_numbered_in_the_order_of_tasks_and_rounds() -> None:
    assert KEYS[:2] == ["why/letters/0", "why/belief/0"]
    for place, chapter in enumerate(BY_KEY):
        named = [key for key in KEYS if key.startswith(f"{chapter}/")]
        assert named[-1] == f"{chapter}/belief/0"
        for number, key in enumerate(named):
            assert vote_questions.key_of(f"{chapter}/{number}") == key
            assert vote_on(key).name.startswith(f"{place}.{number + 1} ")
    place = [*BY_KEY].index("merge")
    assert vote_on("merge/pair/0").name == f"{place}.1 Merge 1"
    first = vote_on("merge/pair/0")
    right = first.options[[*first.values].index(first.right or 0)]
    assert right.words == "o + ·"
    assert vote_questions.key_of("merge/6") == "merge/belief/0"
    assert vote_questions.key_of("before_after/9") == "before_after/9"


def test_unknown_questions_have_no_key() -> None:
    for unknown in ("merge/7", "no/0", "end/0"):
        assert vote_questions.key_of(unknown) == ""
    for unknown in ("", "merge", "merge/9", "no/0", "../why/0"):
        assert vote_questions.find(unknown) is None


def test_questions_of_our_run_sheets_are_there() -> None:
    for listed in sheet.ours().values():
        for part in listed.parts:
            if part.kind == "learn" and part.words.partition("/")[0] in BY_KEY:
                assert vote_questions.key_of(part.words), f"{listed.title}: {part.words}"


def test_names_and_previews_of_questions_tell_no_answer() -> None:
    names = [listed["name"] for listed in OFFERED]
    assert len({*names}) == len(names)
    for listed in OFFERED:
        asked, name = vote_on(listed["key"]), listed["name"].partition(" ")[2]
        rights = [option.words for option in asked.options] or [str(asked.right)]
        assert not any(words in name for words in rights)
        assert (listed["vote"]["right"], listed["vote"]["explanation"]) == (None, [])
        assert listed["vote"]["name"] == listed["name"]


def test_chapter_that_cannot_be_computed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Any:
        raise NoQuestionError("The word list could not be used.")

    complete = vote_questions.offered()
    merge = BY_KEY["merge"]
    monkeypatch.setitem(BY_KEY, "merge", replace(merge, tasks={"pair": fails}))
    assert vote_questions.offered() == complete, "it was computed again"
    vote_questions.of.cache_clear()
    left_out = [chapter for chapter in complete if chapter not in vote_questions.offered()]
    assert [chapter["questions"][0]["key"] for chapter in left_out] == ["merge/pair/0"]
    with pytest.raises(NoQuestionError):
        vote_questions.find("merge/pair/0")
    monkeypatch.undo()
    assert vote_questions.offered() == complete


def test_boundaries_are_counted_at_each_place_and_marked_when_they_are_revealed() -> None:
    room, question = opened(), vote_on("why/letters/0")
    leader = room.enter("", lambda: None, is_leader=True)
    followers = [room.enter("", lambda: None) for _ in range(4)]
    room.ask(question)
    for follower, mask in zip(followers, (0b10010, 0b00010, 0, 1 << 9), strict=True):
        room.receive(follower, Message.of({"answer": mask, "vote": 1}))
    room.receive(leader, Message.of({"do": "show"}))
    vote = room.state(followers[0])["vote"]
    assert "".join(vote["pieces"]) == "strawberry"
    assert (vote["answered"], vote["mine"], vote["right"]) == (3, 0b10010, None)
    assert vote["counts"] == [0, 2, 0, 0, 1, 0, 0, 0, 0]
    assert vote["options"][4]["words"] == "a boundary after “straw”"
    room.receive(leader, Message.of({"do": "reveal"}))
    assert room.state(followers[0])["vote"]["right"] == [1, 4]
    rows = room.state(leader)["votes"].splitlines()
    assert [row.split(",")[-2:] for row in rows[1:4]] == [["0", ""], ["2", "yes"], ["0", ""]]
    room.close()


def test_sums_before_and_after_are_shown_and_saved() -> None:
    room = opened()
    leader = room.enter("", lambda: None, is_leader=True)
    followers = [room.enter("", lambda: None) for _ in range(2)]
    questions = [*vote_questions.of("before_after").values()]
    for time, rights in (("before", 1), ("after", 2)):
        for number, question in enumerate(questions):
            assert time == "after" or room.state(leader)["sums"] == "", "a few tell an answer"
            room.ask(question)
            for i, follower in enumerate(followers):
                right = question.right if i < rights else 1 - (question.right or 0)
                vote = len(room.votes)
                room.receive(follower, Message.of({"answer": right, "vote": vote}))
            room.receive(leader, Message.of({"do": "end vote"}))
            assert "sums" not in room.state(followers[0])
            assert number < 9 or f"{time} the course {rights}0 of 20" in room.state(leader)["sums"]
    table = room.state(leader)["votes"].splitlines()
    assert table[-4:] == [
        ",,All questions before the course,right,,10,",
        ",,All questions before the course,wrong,,10,",
        ",,All questions after the course,right,,20,",
        ",,All questions after the course,wrong,,0,",
    ]
    room.close()


def test_stop_lines_are_counted_in_bins_and_golf_is_not_checked() -> None:
    room = opened()
    leader = room.enter("", lambda: None, is_leader=True)
    followers = [room.enter("", lambda: None) for _ in range(4)]
    for vote, (key, answers_given) in enumerate(
        (("stop/line/0", (0, 13, 40, 41)), ("golf/merges/0", (18, 20, 20, 0))), 1
    ):
        room.ask(vote_on(key))
        for follower, answer in zip(followers, answers_given, strict=True):
            room.receive(follower, Message.of({"answer": answer, "vote": vote}))
        assert room.state(leader)["vote"]["options"] == []
        room.receive(leader, Message.of({"do": "reveal"}))
        state = room.state(leader)["vote"]
        assert state["answered"] == 3
        words = [option["words"] for option in state["options"]]
        counts = dict(zip(words, state["counts"], strict=True))
        if key.startswith("stop"):
            assert (len(words), words[0], words[-1]) == (20, "0–2", "39–40")
            assert [name for name, count in counts.items() if count] == ["0–2", "13–14", "39–40"]
            assert [state["options"][6]["value"]] == state["right"] == [13]
        else:
            assert (counts, state["right"]) == ({"18": 1, "20": 2}, [])
            assert state["explanation"][-1] == " In a room, nobody checks the number."
    room.close()

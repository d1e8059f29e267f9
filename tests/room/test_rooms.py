"""Rooms: what followers receive and when, votes, and how rooms end."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest
from helpers.clock import Clock
from helpers.refusals import refusal
from helpers.stages import played

import bpeviz
from bpeviz import limits
from bpeviz.core.boundaries import Part
from bpeviz.room.contents import OPTIONS, RoomTimeline
from bpeviz.room.messages import Display, Invitation, Message
from bpeviz.room.rooms import ABANDONED, Room, RoomError, Rooms
from bpeviz.views import playable
from bpeviz.views.acts import BeliefAct
from bpeviz.views.export import ColoredText
from bpeviz.views.task import Task, judged

TEXT = "the thin thing that they think thicker then"


def page(algorithm: str = "bpe", **options: Any) -> playable.Interactive:
    return played(bpeviz.train(TEXT, algorithm, **options), TEXT)


class Browser:
    """A member with all messages that it got, as a browser gets them."""

    def __init__(self, room: Room, token: str = "", *, is_leader: bool = False) -> None:
        self.room, self.got = room, []
        token = token or secrets.token_hex(4)
        self.member = room.enter(token, self.receive, is_leader=is_leader)
        self.receive()

    def receive(self) -> None:
        if hasattr(self, "member"):
            self.got.append(json.loads(json.dumps(self.room.state(self.member))))

    def send(self, **message: Any) -> None:
        self.room.receive(self.member, Message.of(message))

    @property
    def vote(self) -> dict[str, Any]:
        return self.got[-1]["vote"]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(clock: Clock) -> Room:
    opened = Rooms(clock).open("me", lambda room: Invitation(f"http://here/room/{room.letters}"))
    opened.show(page(merges=12))
    return opened


@pytest.fixture
def leader(room: Room) -> Browser:
    return Browser(room, is_leader=True)


@pytest.mark.parametrize("algorithm", ["bpe", "parity"])
def test_messages_of_a_vote_have_no_right_answer_before_it_is_revealed(
    algorithm: str, room: Room, leader: Browser
) -> None:
    room.show(page(algorithm, merges=12, min_count=1))
    follower = Browser(room)
    assert follower.got[-1]["content"]["player"]["last"] == 12, "it has the whole payload"
    for step in range(8):
        leader.send(step=step, content=2)
        begin = len(follower.got)
        leader.send(do="ask")
        follower.send(answer=0, vote=len(room.votes))
        leader.send(do="show")
        late = Browser(room)
        for message in (*follower.got[begin:], late.got[-1] | {"content": None}):
            task = (message["vote"] or {"task": {}})["task"]
            assert (task.get("right"), task.get("result"), message.get("content")) == (None,) * 3
            assert (message["step"], message["furthest"]) == (step, step)
            assert "answer" not in message
        room.leave(late.member)
        leader.send(do="end vote")
    assert len(room.votes) > 4


def test_vote_counts_one_answer_of_each_until_it_is_closed(room: Room, leader: Browser) -> None:
    one, two, three = (Browser(room) for _ in range(3))
    leader.send(do="ask")
    assert one.vote["task"]["prompt"] == ["Which pair merges next?"]
    assert len(one.vote["task"]["options"]) == OPTIONS
    assert (one.vote["task"]["isClosed"], leader.vote["task"]["isClosed"]) == (False, True)
    assert "stage" not in one.got[-1], "the stage is what the room shows"
    one.send(answer=0, vote=1)
    one.send(answer=1, vote=1)
    two.send(answer=1, vote=1)
    assert leader.vote["answered"] == 2
    assert leader.vote["task"]["counts"] is None
    leader.send(do="show")
    three.send(answer=0, vote=1)
    assert leader.vote["task"]["counts"][:2] == [0, 2]
    assert one.vote["task"]["given"] == 1
    leader.send(do="again")
    two.send(answer=0, vote=1)
    leader.send(do="show")
    assert (three.vote["task"]["earlier"][:2], three.vote["task"]["counts"][:2]) == ([0, 2], [1, 0])


def test_leader_reveals_the_answer_to_a_question_of_its_own(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    judge = judged(1, ["Because of this."])
    room.ask(Task(BeliefAct(("one", "two")), judge, prompt=["How many?"]))
    leader.send(step=3, content=1)
    leader.send(do="show")
    assert (follower.vote["task"]["right"], follower.vote["task"]["result"]) == (None, None)
    leader.send(do="reveal")
    assert follower.vote["task"]["right"] == [1]
    result = follower.vote["task"]["result"]
    assert (result["kind"], result["message"]) == ("shown", ["Because of this."])
    follower.send(answer=1, vote=1)
    leader.send(do="again")
    assert (follower.vote["task"]["given"], follower.vote["task"]["isClosed"]) == (None, True)


def test_playing_on_reveals_the_answer(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    leader.send(do="ask")
    assert follower.vote["task"]["right"] is None
    leader.send(step=1, content=1)
    vote = follower.vote
    assert vote["task"]["isClosed"]
    steps = room.content.player["views"][0]["steps"]  # type: ignore[union-attr]
    pair = [steps["left"][0], steps["right"][0]]
    styles = room.content.races[0]["styles"]  # type: ignore[union-attr,index]
    right = vote["task"]["options"][vote["task"]["right"][0]]
    assert (right["ids"], vote["task"]["right"]) == (pair, vote["task"]["right"])
    assert vote["task"]["result"]["note"] == ""
    assert right["words"] == " + ".join(styles[i][0] for i in pair)


def test_options_always_have_the_right_one_at_no_fixed_place() -> None:
    timelines = [RoomTimeline(1, page(key, merges=12)) for key in ("bpe", "scaffold", "superbpe")]
    places = [(shown, step) for shown in timelines for step in range(shown.last)]
    questions = [shown.question(step) for shown, step in places]
    asked = [question for question in questions if question]
    assert len({question.right for question in asked}) > 1
    for (shown, step), question in zip(places, questions, strict=True):
        if question is not None:
            steps = shown.player["views"][0]["steps"]
            styles = shown.races[0]["styles"]  # type: ignore[index]
            pair = [styles[steps[side][step]][0] for side in ("left", "right")]  # type: ignore[literal-required]
            assert question.right is not None
            assert question.act.words(question.right) == " + ".join(pair)
            assert len(question.act.options) == OPTIONS
            assert not any("none" in option["words"] for option in question.act.options)
    again = [shown.question(step) for shown, step in places]
    assert [each and each.act for each in questions] == [each and each.act for each in again]


def test_options_do_not_tie_with_the_right_one() -> None:
    text = "lower newest newest widest"
    shown = RoomTimeline(1, played(bpeviz.train(text, merges=3), text))
    assert shown.races is not None
    groups = shown.races[0]["first"][0]
    names = {" + ".join(map(chr, ids)): count for count, _, tied in groups for ids in tied}
    question = shown.question(0)
    assert question is not None
    assert (names["e + s"], names["s + t"]) == (3, 3)
    assert [names.get(one["words"]) for one in question.act.options].count(3) == 1
    assert question.right is not None
    assert names[question.act.words(question.right)] == 3


def test_vote_needs_the_furthest_step(room: Room, leader: Browser) -> None:
    leader.send(step=5, content=1)
    leader.send(step=2, content=1)
    assert not leader.got[-1]["canAsk"]
    leader.send(do="ask")
    assert room.vote is None


def test_followers_see_play_its_speed_and_the_lit_token(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    sent = {"playing": True, "speed": 0.5, "lit": [0, 7]}
    leader.send(step=2, content=1, **sent)
    assert sent.items() <= follower.got[-1].items()
    leader.send(step=3, content=1, playing="yes", speed="fast", lit=["<b>", 1])
    assert vars(Display()).items() <= follower.got[-1].items()
    leader.send(step=3, content=1, **sent)
    room.leave(leader.member)
    assert vars(Display()).items() <= follower.got[-1].items()


def test_score_is_shown_with_the_lit_token(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    leader.send(step=5, content=1)
    score = {"rows": [], "verdict": "GPT-2 needs the fewest tokens."}
    room.show(playable.of_score(ColoredText("Score", "a", Part(0, 1, 0, 1), score)))
    assert score.items() <= follower.got[-1]["content"]["score"].items()
    assert (follower.got[-1]["step"], leader.got[-1]["canAsk"]) == (0, False)
    leader.send(do="ask")
    leader.send(step=0, content=2, lit=[1, 4])
    assert (follower.got[-1]["vote"], follower.got[-1]["lit"]) == (None, [1, 4])


def test_only_the_leader_leads(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    follower.send(step=4, content=1)
    follower.send(do="close room")
    assert (room.step, room.has_ended) == (0, False)
    for wrong in ({"step": "4"}, {"step": True}, {"do": ["ask"]}, {"step": 4, "content": 9}, {}):
        leader.send(**wrong)
    assert (room.step, room.vote) == (0, None)


def test_rooms_end_and_are_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = Rooms(clock)
    room = rooms.open("me", lambda _: Invitation())
    assert rooms.find(room.letters.lower()) is rooms.of("me") is room
    follower = Browser(room)
    clock.now += limits.ROOM_HOURS * 3600 - 1
    room.show(page(merges=3))
    clock.now += limits.ROOM_HOURS * 3600 - 1
    assert not room.has_ended
    clock.now += 1
    assert rooms.find(room.letters) is None
    assert "ended" in room.state(follower.member)
    monkeypatch.setattr(limits, "ROOMS", 1)
    other = rooms.open("me", lambda _: Invitation())
    refusal(rooms.open, "you", lambda _: Invitation(), error=RoomError)
    Browser(other, is_leader=True).send(do="close room")
    assert rooms.of("me") is None
    rooms.open("you", lambda _: Invitation())


def test_abandoned_room_makes_place_for_another(clock: Clock) -> None:
    rooms = Rooms(clock)
    opened = [rooms.open("me", lambda _: Invitation()) for _ in range(limits.ROOMS)]
    followed = Browser(opened[0])
    left = Browser(opened[1])
    clock.now += ABANDONED - 1
    opened[1].leave(left.member)
    refusal(rooms.open, "you", lambda _: Invitation(), naming="10", error=RoomError)
    clock.now += 1
    new = rooms.open("you", lambda _: Invitation())
    assert opened[2].has_ended, "the oldest one without a member"
    assert not any(one.has_ended for one in (*opened[:2], *opened[3:], new))
    assert "ended" not in opened[0].state(followed.member)


def test_leader_of_an_earlier_room_does_not_lead_a_newer_one_with_its_letters(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "choice", lambda letters: letters[0])
    rooms = Rooms(clock)
    first = rooms.open("student", lambda _: Invitation())
    proof = rooms.key.proof(first.letters, first.nonce)
    assert rooms.leads(first.letters, proof)
    first.close()
    assert not rooms.leads(first.letters, proof)
    second = rooms.open("teacher", lambda _: Invitation())
    assert second.letters == first.letters
    assert not rooms.leads(first.letters, proof)
    assert {first.key, first.word}.isdisjoint({second.key, second.word})
    assert not Rooms(clock).leads(first.letters, proof)


def test_only_the_leader_gets_the_address_and_the_right_answer(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    room.show(page(merges=3), "/?s=x")
    leader.send(do="ask")
    assert (leader.got[-1]["link"], bool(leader.got[-1]["answer"])) == ("/?s=x", True)
    assert [each["join"] for each in leader.got if "join" in each] == [vars(room.join)]
    assert {"link", "answer", "join"}.isdisjoint(name for each in follower.got for name in each)


def test_room_begins_at_the_step_of_a_link(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    room.show(page(merges=5), "", 3)
    assert (leader.got[-1]["step"], follower.got[-1]["step"]) == (3, 3)
    assert follower.got[-1]["furthest"] == 3
    room.show(page(merges=5), "", 99)
    assert room.step == 5


def test_room_is_full(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ROOM_FOLLOWERS", 1)
    first = Browser(room)
    Browser(room, token=first.member.browser)
    refusal(Browser, room, error=RoomError)

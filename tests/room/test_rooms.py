"""Rooms: what followers receive and when, votes, and how rooms end."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest
from helpers.refusals import refusal
from helpers.stages import aligned, played

import bpeviz
from bpeviz import limits
from bpeviz.core.boundaries import Part
from bpeviz.room.contents import OPTIONS, RoomTimeline
from bpeviz.room.messages import Display, Invitation, Message
from bpeviz.room.rooms import ABANDONED, Room, RoomError, Rooms
from bpeviz.views import playable
from bpeviz.views.acts import BeliefAct
from bpeviz.views.export import ColoredText
from bpeviz.views.parts import parts as parts_of
from bpeviz.views.task import Task, judged

TEXT = "the thin thing that they think thicker then"


def page(algorithm: str = "bpe", **options: Any) -> playable.Interactive:
    return played(bpeviz.train(TEXT, algorithm, **options), TEXT)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


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


def assembled(got: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the view and the race that a follower has after its messages."""
    view: dict[str, Any] = {}
    race: dict[str, Any] = {}
    for message in got:
        if "content" in message:
            view = message["content"]["player"]["views"][0]
            race = message["content"]["races"][0]
        for more in [message["more"]["views"][0]] if "more" in message else []:
            for name, column in more["steps"].items():
                if isinstance(column, list):
                    view["steps"][name] += column
            view["steps"]["notes"] |= more["steps"]["notes"]
            view["changed"] += more["changed"]
            view["tokenStyles"] |= more["tokenStyles"]
            view["tokenCounts"] += more["tokenCounts"]
            if view["changingSteps"] is not None:
                view["changingSteps"] += more["changingSteps"]
            race["first"] += message["more"]["races"][0]["first"]
            race["styles"] |= message["more"]["races"][0]["styles"]
    return view, race


@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece", "unigram"])
def test_follower_has_every_decision_in_the_end(algorithm: str) -> None:
    room = Rooms().open("me", lambda _: Invitation())
    size = {"vocab_size": 20} if algorithm == "unigram" else {"merges": 12}
    room.show(page(algorithm, **size))
    leader, follower = Browser(room, is_leader=True), Browser(room)
    full = leader.got[0]["content"]
    last = full["player"]["last"]
    assert last > 2
    for step in (1, 2, last):
        leader.send(step=step, content=1)
    view, race = assembled(follower.got)
    expected = full["player"]["views"][0]
    assert view["steps"] == expected["steps"]
    assert view["tokenCounts"] == expected["tokenCounts"]
    assert view["changingSteps"] == expected["changingSteps"]
    assert view["tokenStyles"].items() <= expected["tokenStyles"].items()
    assert race["first"] == full["races"][0]["first"]
    if expected["changes"] is None:
        merged = {atom: step for atom, step in enumerate(expected["mergedAt"]) if step >= 0}
        assert dict(view["changed"]) == merged
    else:
        ids = sorted((step, token) for _, step, token in view["changed"])
        both = zip(expected["changes"]["steps"], expected["changes"]["ids"], strict=True)
        assert ids == sorted(both)


@pytest.mark.parametrize("algorithm", ["bpe", "parity"])
def test_no_message_to_a_follower_contains_a_later_decision(
    algorithm: str, room: Room, leader: Browser
) -> None:
    room.show(page(algorithm, merges=12, min_count=1))
    follower = Browser(room)
    steps = room.content.player["views"][0]["steps"]  # type: ignore[union-attr]
    styles = room.content.player["views"][0]["tokenStyles"]  # type: ignore[union-attr]
    seed = room.content.player["key"]  # type: ignore[union-attr]
    for step in range(8):
        leader.send(step=step, content=2)
        leader.send(do="ask")
        leader.send(step=step, content=2, lit=[0, 1])
        follower.send(answer=0, vote=len(room.votes))
        leader.send(do="show")
        late = Browser(room)
        for got in (follower.got, late.got):
            view, race = assembled(json.loads(json.dumps(got)))
            assert len(view["steps"]["id"]) == len(race["first"]) == step
            assert all(int(at) < step for at in view["steps"]["notes"])
            assert {*race["styles"]} == {
                str(i) for row in race["first"] for *_, tied in row for ids in tied for i in ids
            }
            assert {*view["mergedAt"]} == {-1}
            assert all(one[1] < step for one in view["changed"])
            assert len(view["tokenCounts"]) == step + 1
            assert str(steps["id"][step]) not in view["tokenStyles"]
            assert str(styles[steps["id"][step]][0]) not in [
                label for label, _ in view["tokenStyles"].values()
            ]
            assert ((got[-1]["vote"] or {"task": {}})["task"].get("right")) is None
            assert seed not in json.dumps(got), "it tells which candidates a question leaves out"
        room.leave(late.member)
        leader.send(do="end vote")
    assert len(room.votes) > 4


def test_tokenizers_aligned_by_size_have_no_later_decision() -> None:
    trainings = [bpeviz.train(TEXT, merges=9), bpeviz.train(TEXT, "wordpiece", vocab_size=30)]
    trained = [(training, training.tokenizer().boundaries(TEXT)) for training in trainings]
    part = parts_of(TEXT, trained[0][1])[0]
    rows = [(training.algorithm, training, boundaries, part) for training, boundaries in trained]
    shown = playable.of_stage(aligned(rows, TEXT))
    room = Rooms().open("me", lambda _: Invitation())
    room.show(shown)
    leader, follower = Browser(room, is_leader=True), Browser(room)
    for step in (1, shown.data["player"]["last"]):
        leader.send(step=step, content=1)
        for i, view in enumerate(shown.data["player"]["views"]):
            parts = [one["more"]["views"][i] for one in follower.got if "more" in one]
            ids = [token_id for one in parts for token_id in one["steps"]["id"]]
            assert len(ids) == view["ownSteps"][step]
        changing = [
            at for one in follower.got if "more" in one for at in one["more"]["changingSteps"]
        ]
        assert changing == [at for at in shown.data["player"]["changingSteps"] if at <= step]


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


def test_followers_who_drop_and_come_back_keep_their_answer(room: Room, leader: Browser) -> None:
    visitors = [Browser(room) for _ in range(10)]
    leader.send(do="ask")
    for visitor in visitors:
        visitor.send(answer=0, vote=1)
    for visitor in visitors[:5]:
        room.leave(visitor.member)
    assert leader.got[-1]["followers"] == 5
    back = [Browser(room, token=visitor.member.browser) for visitor in visitors[:5]]
    back[0].send(answer=1, vote=1)
    leader.send(do="show")
    assert leader.got[-1]["followers"] == 10
    assert leader.vote["task"]["counts"][:2] == [9, 1]


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
    content = follower.got[-1]["content"]
    named = {"number": 2, "title": score["verdict"], "settings": "1 character"}
    assert content == leader.got[-1]["content"] == named | {"score": content["score"]}
    assert score.items() <= content["score"].items()
    assert (follower.got[-1]["step"], leader.got[-1]["canAsk"]) == (0, False)
    leader.send(do="ask")
    leader.send(step=0, content=2, lit=[1, 4])
    assert (follower.got[-1]["vote"], follower.got[-1]["lit"]) == (None, [1, 4])
    room.show(page(merges=3))
    assert follower.got[-1]["content"]["player"]["last"] == 0


def test_address_is_sent_once_to_the_leader_alone(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    leader.send(step=1, content=1)
    assert [one["join"] for one in leader.got if "join" in one] == [vars(room.join)]
    assert "join" not in {name for one in follower.got for name in one}


def test_only_the_leader_leads(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    follower.send(step=4, content=1)
    follower.send(do="close room")
    assert (room.step, room.has_ended) == (0, False)
    for wrong in ({"step": "4"}, {"step": True}, {"do": ["ask"]}, {"step": 4, "content": 9}, {}):
        leader.send(**wrong)
    assert (room.step, room.vote) == (0, None)


def test_csv_has_counts_and_no_persons(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    leader.send(do="ask")
    follower.send(answer=0, vote=1)
    assert "yes" not in leader.got[-1]["votes"]
    leader.send(step=1, content=1)
    assert leader.got[-1]["votes"].count("yes") == 1
    rows = leader.got[-1]["votes"].splitlines()
    assert rows[0] == "vote,step,question,answer,first count,count,right"
    assert [row.split(",")[5] for row in rows[1:]] == ["1", "0", "0", "0"]
    assert follower.member.browser not in leader.got[-1]["votes"]
    assert "votes" not in follower.got[-1]
    room.ask(Task(BeliefAct(("@SUM(1)", "-5%")), judged(0), prompt=["=1+1"]))
    leader.send(do="end vote")
    assert leader.got[-1]["votes"].splitlines()[-2:] == [
        "2,,'=1+1,'@SUM(1),,0,",
        "2,,'=1+1,-5%,,0,",
    ]


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
    room.show(page(merges=3), "/?s=x")
    leader.send(do="ask")
    assert (leader.got[-1]["link"], bool(leader.got[-1]["answer"])) == ("/?s=x", True)
    assert not {"link", "answer"} & {*Browser(room).got[0]}


def test_room_begins_at_the_step_of_a_link(room: Room, leader: Browser) -> None:
    follower = Browser(room)
    room.show(page(merges=5), "", 3)
    assert (leader.got[-1]["step"], follower.got[-1]["step"]) == (3, 3)
    assert len(follower.got[-1]["more"]["views"][0]["steps"]["id"]) == 3
    room.show(page(merges=5), "", 99)
    assert room.step == 5


def test_room_is_full(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ROOM_FOLLOWERS", 1)
    first = Browser(room)
    Browser(room, token=first.member.browser)
    refusal(Browser, room, error=RoomError)

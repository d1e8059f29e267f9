"""The rooms of a server: members, the leader's step, and votes. They live in memory only."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from bpeviz import limits
from bpeviz.room import votes
from bpeviz.room.contents import RoomScore, RoomTimeline
from bpeviz.room.messages import Display, Invitation, Message
from bpeviz.room.payloads import RoomState
from bpeviz.room.run import Ready, Run
from bpeviz.room.server_key import LETTERS, ServerKey, is_equal
from bpeviz.room.votes import Vote
from bpeviz.text import counted
from bpeviz.views.playable import Interactive
from bpeviz.views.task import Task

SIZE = 4

NONCE = 16
"""The random bytes of a nonce."""

ABANDONED = 600
"""Seconds without a member after which a room makes place for another one."""

ENDED = "This room has ended."
FULL = (
    f"This room is full: it has {counted(limits.ROOM_FOLLOWERS, 'follower')}, the limit. When one "
    "of them leaves, this page joins."
)


class RoomError(ValueError):
    """A room cannot be opened or joined; the message is user-facing."""


@dataclass(eq=False)
class Member:
    """A connection of a follower or of the leader.

    Attributes:
        browser: Identifies the follower's browser by its cookie, or this connection without one.
        is_leader: Whether it is the leader.
        notify: Called when the room has changed, in any thread.
        can_vote: Whether it is a follower with a cookie: a browser has one vote.
        is_new: Whether nothing was sent yet.
        content: The number of the timeline or a score that were sent last.
        run: The run whose sheet was sent.
        stage: What the stage of a vote that was sent last depends on.
    """

    browser: str
    is_leader: bool
    notify: Callable[[], None]
    can_vote: bool = False
    is_new: bool = True
    content: int = 0
    run: Run | None = None
    stage: tuple[object, ...] | None = None


class Room:
    """The content that a leader shows, its step, and the members that see it.

    Only the latest state counts: a slow follower misses steps, and never builds up a queue.
    """

    def __init__(
        self,
        letters: str,
        nonce: str,
        owner: str,
        key: ServerKey,
        join: Callable[[Room], Invitation],
        clock: Callable[[], float],
    ) -> None:
        """Open a room.

        Args:
            letters: Its name.
            nonce: Distinguishes its leader from those of other rooms with these letters.
            owner: The user who opens it.
            key: The key of the server.
            join: Returns how followers join, as the leader's page shows it.
            clock: The time in seconds.
        """
        self.letters, self.nonce, self.owner = letters, nonce, owner
        self.key, self.word = key.invitation(letters, nonce), key.word(letters, nonce)
        self.join = join(self)
        self.link = ""
        self.number = 0
        self.content: RoomTimeline | RoomScore | None = None
        self.step = self.furthest = 0
        self.display = Display()
        self.vote: Vote | None = None
        self.votes: list[Vote] = []
        self.run: Run | None = None
        self._members: set[Member] = set()
        self._left = clock()
        self._lock = threading.RLock()
        self._clock = clock
        self._moved()

    @property
    def is_abandoned(self) -> bool:
        """Whether it had no member for ten minutes."""
        with self._lock:
            return not self._members and self._clock() - self._left >= ABANDONED

    @property
    def has_ended(self) -> bool:
        """Whether it was closed, or its leader has not moved for hours."""
        return self._clock() >= self.ends

    @property
    def followers(self) -> int:
        """The number of browsers that follow."""
        with self._lock:
            return len({member.browser for member in self._members if not member.is_leader})

    def admits(self, key: str) -> bool:
        """Return whether a key is that of its invitations."""
        return is_equal(key, self.key)

    def enter(self, browser: str, notify: Callable[[], None], *, is_leader: bool = False) -> Member:
        """Add a connection.

        Args:
            browser: The browser by its cookie, or "" where it refuses cookies.
            notify: Called when the room has changed.
            is_leader: Whether it is the leader's.

        Raises:
            RoomError: The room has ended or is full.
        """
        if self.has_ended:
            raise RoomError(ENDED)
        can_vote = bool(browser) and not is_leader
        member = Member(browser or secrets.token_urlsafe(12), is_leader, notify, can_vote)
        with self._lock:
            known = {member.browser for member in self._members}
            is_new = not is_leader and member.browser not in known
            if is_new and self.followers >= limits.ROOM_FOLLOWERS:
                raise RoomError(FULL)
            self._members.add(member)
        self._notify(leaders=True)
        return member

    def leave(self, member: Member) -> None:
        """Remove a connection. The follower's answer stays."""
        with self._lock:
            self._members.discard(member)
            self._left = self._clock()
            left = member.is_leader and not any(other.is_leader for other in self._members)
            if left:
                self.display = Display()
        self._notify(leaders=not left)

    def show(self, page: Interactive, link: str = "", step: int = 0) -> None:
        """Show another timeline, or a score.

        Args:
            page: The timeline or the score.
            link: The address that opens it again, relative to the app, or "".
            step: The step to begin at.
        """
        with self._lock:
            self._end_vote()
            self._show(Ready(page, link, step))
            self._keep_page()
        self._notify()

    def ask(self, question: Task[int]) -> None:
        """Begin a vote on a question."""
        with self._lock:
            if not self.has_ended:
                self._ask(question)
                self._moved()
        self._notify()

    def use(self, run: Run | None) -> None:
        """Use a run sheet."""
        with self._lock:
            self.run = run
            self._keep_page()
        self._notify(leaders=True)

    def lacks_page(self, part: int | None) -> bool:
        """Return whether the page of a part of the run sheet is not made yet."""
        run = self.run
        if run is None or part is None or not 0 <= part < len(run.sheet.parts):
            return False
        page = run.page_of(part)
        return page >= 0 and page not in run.ready

    def begin_part(self, run: Run, part: int, page: Ready | str) -> None:
        """Begin a part of the run sheet with its page, or the reason why that cannot be made."""
        with self._lock:
            if self.run is not run:
                return
            run.problem = page if isinstance(page, str) else ""
            if isinstance(page, Ready):
                run.ready[run.page_of(part)] = page
            self._moved()
            self._go_to(run, part)
            is_vote = isinstance(page, Ready) and run.sheet.parts[part].kind == "vote"
            if is_vote and (question := self._next_question()):
                self._ask(question)
        self._notify()

    def receive(self, member: Member, message: Message) -> None:
        """Handle a message of a member; those that are not valid have no effect."""
        with self._lock:
            if self.has_ended:
                return
            if member.is_leader:
                self._lead(message)
                self._notify()
            elif member.can_vote and self.vote is not None and message.answer is not None:
                if message.vote == self.vote.number:
                    self.vote.answer(member.browser, message.answer)
                self._notify(leaders=True, also=member)

    def state(self, member: Member) -> RoomState:
        """Return what a member lacks, and remember that it was sent."""
        with self._lock:
            if self.has_ended:
                return {"ended": ENDED}
            content, vote = self.content, self.vote
            state: RoomState = {
                "step": self.step,
                "furthest": self.furthest,
                "playing": self.display.playing,
                "speed": self.display.speed,
                "lit": self.display.lit,
                "followers": self.followers,
                "isBeforeVotes": not any(asked.is_revealed for asked in self.votes),
                "canVote": member.can_vote,
                "vote": None,
            }
            if vote is not None:
                state["vote"] = vote.state(member.browser, can_vote=member.can_vote)
                stage = vote.stage_key(member.browser)
                if stage != member.stage and (payload := vote.stage(member.browser)):
                    state["stage"] = payload
                member.stage = stage
            if member.is_new:
                if member.is_leader:
                    state["join"] = vars(self.join)
                member.is_new = False
            if content is not None and member.content != content.number:
                state["content"] = content.payload()
                member.content = content.number
            if member.is_leader:
                return self._course(member, state) | {
                    "answer": "" if vote is None else vote.task.right_in_words,
                    "canAsk": self._next_question() is not None,
                    "link": self.link,
                    "sums": votes.sums(self.votes),
                }
            return state

    def _course(self, member: Member, state: RoomState) -> RoomState:
        """Return a state with the part of the run sheet, and with the sheet if it is new."""
        if (run := self.run) is not None:
            elapsed = 0 if run.began is None else self._clock() - run.began
            state |= {"part": run.part, "ready": sorted(run.ready), "elapsed": elapsed}
            state["problem"] = run.problem
            if member.run is not run:
                state["sheet"] = run.payload()
        member.run = run
        return state

    def close(self) -> None:
        """End the room, for all members."""
        self.ends = 0.0
        self._notify()

    def _lead(self, message: Message) -> None:
        self._moved()
        content = self.content
        if content and message.step is not None and message.content == content.number:
            self.step = max(0, min(message.step, content.last))
            self.furthest = max(self.furthest, self.step)
            self.display = message.display
            about = self.vote.task.step if self.vote else None
            if self.vote is not None and about is not None and self.furthest > about:
                self.vote.reveal()
        match message.do, self.vote:
            case "ask", _:
                if question := self._next_question():
                    self._ask(question)
            case "part", _ if (run := self.run) and message.part is not None:
                if 0 <= message.part < len(run.sheet.parts):
                    self._go_to(run, message.part)
            case "close vote", Vote() as vote:
                vote.is_open = False
            case "show", Vote() as vote:
                vote.is_open, vote.is_shown = False, True
            case "again", Vote(is_revealed=False) as vote:
                vote.again()
            case "reveal", Vote() as vote:
                vote.reveal()
            case "end vote", Vote():
                self._end_vote()
            case "close room", _:
                self.close()

    def _next_question(self) -> Task[int] | None:
        """Return the question about the next decision, which followers have not seen."""
        if isinstance(self.content, RoomTimeline) and self.step == self.furthest:
            return self.content.question(self.step)
        return None

    def _go_to(self, run: Run, part: int) -> None:
        """Begin a part of the run sheet, and bring its page, at the step that the sheet leads to.

        The next part goes on with its page where the leader is: the leader's page moves the step
        and asks for votes.
        """
        self._end_vote()
        is_next, run.part = part == run.part + 1, part
        if run.began is None:
            run.began = self._clock()
        kind = run.sheet.parts[part].kind
        if kind == "ask":
            self._ask(run.question())
        page = run.ready.get(run.page_of(part))
        is_shown = page and self.content and self.content.page is page.page
        step = run.step_at(part)
        if page and not (is_next and is_shown and kind != "show"):
            self._show(page if step is None else replace(page, step=step))

    def _show(self, page: Ready) -> None:
        self.number += 1
        number, it = self.number, page.page
        content = (RoomTimeline if "player" in it.data else RoomScore)(number, it)
        self.content, self.link = content, page.link
        self.step = self.furthest = max(0, min(page.step, content.last))
        self.display = Display()
        self._moved()

    def _keep_page(self) -> None:
        """Remember the page that the leader shows before the first one of the run sheet."""
        run, content = self.run, self.content
        if run and content and run.page_of(run.part) < 0:
            run.ready[-1] = Ready(content.page, self.link, self.step)

    def _ask(self, question: Task[int]) -> None:
        self._end_vote()
        self.vote = Vote(len(self.votes) + 1, question)
        self.votes.append(self.vote)

    def _end_vote(self) -> None:
        if self.vote is not None:
            self.vote.is_open = False
        self.vote = None

    def _moved(self) -> None:
        self.ends = self._clock() + limits.ROOM_HOURS * 3600

    def _notify(self, *, leaders: bool = False, also: Member | None = None) -> None:
        """Notify the members, or only the leader's pages and one more."""
        with self._lock:
            members = [
                member
                for member in self._members
                if not leaders or member.is_leader or member is also
            ]
        for member in members:
            member.notify()


class Rooms:
    """The rooms of a server, by their letters."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without rooms."""
        self._clock = clock
        self.key = ServerKey()
        self._rooms: dict[str, Room] = {}
        self._lock = threading.Lock()

    def open(self, owner: str, join: Callable[[Room], Invitation]) -> Room:
        """Open a room.

        Args:
            owner: The user who opens it; other rooms of this user stay open.
            join: Returns how followers join.

        Raises:
            RoomError: There are too many rooms.
        """
        with self._lock:
            letters = ""
            while not letters or letters in self._rooms:
                letters = "".join(secrets.choice(LETTERS) for _ in range(SIZE))
            self._remove_ended()
            abandoned = [room for room in self._rooms.values() if room.is_abandoned]
            if len(self._rooms) >= limits.ROOMS and abandoned:
                self._rooms.pop(abandoned[0].letters).close()
            if len(self._rooms) >= limits.ROOMS:
                raise RoomError(
                    f"This server has {counted(limits.ROOMS, 'open room')}, the limit. Close one, "
                    "or wait: a room that nobody has open makes place after "
                    f"{ABANDONED // 60} minutes, and each ends {limits.ROOM_HOURS} hours after its "
                    "leader's last move."
                )
            nonce = secrets.token_urlsafe(NONCE)
            room = self._rooms[letters] = Room(letters, nonce, owner, self.key, join, self._clock)
            return room

    def leads(self, letters: str, proof: str) -> bool:
        """Return whether a cookie is that of the leader of an open room."""
        room = self.find(letters)
        return room is not None and self.key.nonce(room.letters, proof) == room.nonce

    def find(self, letters: str) -> Room | None:
        """Return the room with these letters, in any capitalization, unless it has ended."""
        with self._lock:
            self._remove_ended()
            return self._rooms.get(letters.upper())

    def of(self, owner: str) -> Room | None:
        """Return the newest room of a user."""
        with self._lock:
            self._remove_ended()
            own = [room for room in self._rooms.values() if room.owner == owner]
        return own[-1] if own else None

    def _remove_ended(self) -> None:
        self._rooms = {name: room for name, room in self._rooms.items() if not room.has_ended}


def are_valid(letters: str) -> bool:
    """Return whether letters may be those of a room."""
    return re.fullmatch(f"[{LETTERS}]{{{SIZE}}}", letters) is not None


ROOMS = Rooms()
"""The rooms of this server."""

"""The order of waiting jobs: fair by user, small jobs first, and no job waits without bound.

The job with the earliest priority starts first. A priority is the time since which the user has
waited, plus a handicap: the worker time that the user has used recently, and the expected time of
the job. The handicap is at most `MAX_HANDICAP`, so a user who has waited that long precedes all
newcomers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

MAX_HANDICAP = 300.0
"""Seconds by which a newcomer may precede a user who already waits."""

HALF_LIFE = 300.0
"""Seconds until used worker time counts half."""

SECONDS_PER_BYTE = 10e-6
"""The expected training time."""

SMALL = 1_000_000
"""Bytes of text below which a job is small."""


@dataclass(frozen=True)
class Request:
    """The facts about a job that determine its place in the queue.

    Attributes:
        users: The users who share the job, in order of arrival. The first is charged for it.
        arrived: The time of its arrival in seconds.
        size: Bytes of text.
    """

    users: tuple[str, ...]
    arrived: float
    size: int

    @property
    def user(self) -> str:
        """The user who is charged for the job."""
        return self.users[0] if self.users else ""

    @property
    def seconds(self) -> float:
        """The expected training time."""
        return self.size * SECONDS_PER_BYTE

    @property
    def small(self) -> bool:
        """Whether its text is small, so that it may run beside `at_once` large ones."""
        return self.size < SMALL


class Accounts:
    """The time that users have used recently: of workers, or of another resource."""

    def __init__(self, half_life: float = HALF_LIFE) -> None:
        """Start without users. half_life: the seconds until used time counts half."""
        self._half_life = half_life
        self._accounts: dict[str, tuple[float, float]] = {}

    def used(self, user: str, now: float) -> float:
        """Return the recent time of a user in seconds; older time counts less."""
        seconds, at = self._accounts.get(user, (0.0, now))
        return float(seconds * 0.5 ** ((now - at) / self._half_life))

    def served(self, user: str) -> float:
        """Return the time until which the user was served last, or minus infinity."""
        return self._accounts.get(user, (0.0, -inf))[1]

    def charge(self, user: str, seconds: float, now: float) -> None:
        """Charge a user for time that ends now; remove accounts with hardly any time."""
        self._accounts[user] = self.used(user, now) + seconds, now
        for other in [*self._accounts]:
            if self.used(other, now) < 0.01:
                del self._accounts[other]


def in_order(waiting: Sequence[Request], accounts: Accounts, now: float) -> list[int]:
    """Return the indexes of waiting jobs in the order in which they should start.

    Args:
        waiting: The jobs in order of arrival.
        accounts: The accounts of all users, charged for the running jobs until now.
        now: The time in seconds.
    """
    used: dict[str, float] = {}
    since: dict[str, float] = {}
    own: defaultdict[str, list[int]] = defaultdict(list)
    for index, job in enumerate(waiting):
        for user in job.users:
            own[user].append(index)
    for user, jobs in own.items():
        jobs.sort(key=lambda index: waiting[index].arrived + _capped(waiting[index].seconds))
        used[user] = accounts.used(user, now)
        oldest = min(waiting[index].arrived for index in jobs)
        since[user] = max(oldest, accounts.served(user))

    def priority(user: str) -> float:
        return since[user] + _capped(used[user] + waiting[own[user][0]].seconds)

    order: list[int] = []
    while own:
        index = own[min(own, key=priority)][0]
        order.append(index)
        job = waiting[index]
        used[job.user] += job.seconds
        for user in job.users:
            since[user] = max(since[user], now)
            own[user].remove(index)
            if not own[user]:
                del own[user]
    return order


def _capped(seconds: float) -> float:
    return min(MAX_HANDICAP, seconds)


def next_job(
    waiting: Sequence[Request], running: Sequence[Request], at_once: int, per_user: int
) -> int | None:
    """Return the index of the job to start now, or None.

    At most `at_once` + 1 jobs run, and at most `at_once` of them are large. Only a user without a
    running job may start the last one. So a small job hardly ever waits for large ones of others.

    Args:
        waiting: The waiting jobs, as `in_order` orders them.
        running: The running jobs.
        at_once: The most large jobs that run at once.
        per_user: The most running jobs of a user.
    """
    large = sum(not job.small for job in running)
    for index, job in enumerate(waiting):
        own = sum(other.user == job.user for other in running)
        if len(running) < at_once:
            if own < per_user:
                return index
        elif len(running) == at_once and not own and (job.small or large < at_once):
            return index
    return None

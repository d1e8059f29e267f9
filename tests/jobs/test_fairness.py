"""The order of waiting jobs: users take turns, small jobs go first, and none waits forever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.jobs.fairness import (
    HALF_LIFE,
    MAX_HANDICAP,
    SMALL,
    Accounts,
    Request,
    in_order,
    next_job,
)

LARGE = 10_000_000
NOW = 1_000.0


def small(*users: str, arrived: float = NOW) -> Request:
    return Request(users, arrived, 10_000)


def large(*users: str, arrived: float = NOW) -> Request:
    return Request(users, arrived, LARGE)


def users_in_order(
    waiting: list[Request], accounts: Accounts | None = None, now: float = NOW
) -> list[str]:
    return [waiting[index].user for index in in_order(waiting, accounts or Accounts(), now)]


def test_order_starts_with_the_user_who_used_less_worker_time() -> None:
    accounts = Accounts()
    accounts.charge("six tabs", 100, NOW)
    waiting = [*(small("six tabs", arrived=NOW - 90) for _ in range(3)), small("other")]
    assert users_in_order(waiting, accounts) == ["other", *["six tabs"] * 3]


def test_order_starts_with_small_jobs_among_users_alike() -> None:
    assert users_in_order([large("a"), small("b"), large("c"), small("d")]) == list("bdac")


def test_order_alternates_between_users() -> None:
    waiting = [*(small("a", arrived=NOW - 2) for _ in range(3)), *(small("b") for _ in range(3))]
    assert users_in_order(waiting)[:3] == ["a", "b", "a"]


def test_shared_job_takes_the_turn_of_its_best_user() -> None:
    accounts = Accounts()
    accounts.charge("a", 200, NOW)
    waiting = [small("c", arrived=NOW - 1), small("a", "b", arrived=NOW - 2)]
    assert users_in_order(waiting, accounts) == ["a", "c"]


def test_accounts_forget_old_worker_time() -> None:
    accounts = Accounts()
    accounts.charge("a", 100, NOW)
    assert accounts.used("a", NOW + HALF_LIFE) == pytest.approx(50)
    accounts.charge("b", 1, NOW + 30 * HALF_LIFE)
    assert accounts.served("a") == -float("inf")
    assert accounts.served("b") == NOW + 30 * HALF_LIFE


def started(waiting: list[Request], running: list[Request], at_once: int = 1) -> str | None:
    index = next_job(waiting, running, at_once, per_user=2)
    return None if index is None else waiting[index].user


def test_small_job_starts_beside_a_long_one_of_another_user() -> None:
    assert started([large("b"), small("c")], [large("a")]) == "c"
    assert started([large("b"), small("c")], [small("a")]) == "b"
    assert started([small("a"), large("b")], [large("a")]) is None
    assert started([small("c")], [large("a"), small("b")]) is None


def test_user_runs_no_more_jobs_than_allowed() -> None:
    running = [large("a"), large("a")]
    assert started([large("a"), large("b")], running, at_once=4) == "b"
    assert started([large("a")], running, at_once=4) is None


REQUESTS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from([100, SMALL - 1, SMALL, LARGE])),
    min_size=1,
    max_size=8,
)


@given(REQUESTS, st.integers(1, 3), st.sampled_from([1.0, 20.0, 100.0]), st.booleans())
def test_no_job_starves_while_newcomers_keep_arriving(
    given_jobs: list[tuple[str, int]], at_once: int, seconds: float, small_newcomers: bool
) -> None:
    """Each job runs for `seconds`, and as soon as one starts, a newcomer arrives."""
    accounts, now, number = Accounts(), 0.0, 0
    waiting = [Request((user,), 0.0, size) for user, size in given_jobs]
    running: list[tuple[float, Request]] = []
    first = [*waiting]
    while any(job in waiting for job in first):
        waiting = [waiting[index] for index in in_order(waiting, accounts, now)]
        index = next_job(waiting, [job for _, job in running], at_once, per_user=2)
        if index is None:
            end, job = running.pop(running.index(min(running, key=lambda one: one[0])))
            accounts.charge(job.user, seconds, end)
            now = end
        else:
            running.append((now + seconds, waiting.pop(index)))
            number += 1
            waiting.append(Request((f"newcomer {number}",), now, 100 if small_newcomers else LARGE))
        assert now <= (len(first) + 1) * (MAX_HANDICAP + len(waiting) * seconds)

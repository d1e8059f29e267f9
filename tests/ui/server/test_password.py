"""The password of the room."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest
from helpers.asgi import HTML, Answer, ask, page, run
from helpers.clock import Clock

from bpeviz import limits
from bpeviz.room.messages import Invitation
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.ui import private
from bpeviz.ui.registry import PAGES
from bpeviz.ui.room.connections import KEY, RoomPages
from bpeviz.ui.runtime.user import LASTS
from bpeviz.ui.server.password import COOKIE, ROOM_COOKIE, PasswordGate

PASSWORD = "öpen & sesame+="
FORM = {"content_type": "application/x-www-form-urlencoded"}


@pytest.fixture(autouse=True)
def fast_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute each key once: it is slow by design, and the tests use few passwords."""
    monkeypatch.setattr(hashlib, "scrypt", computed)


computed = functools.cache(hashlib.scrypt)


def gate(base: str = "/", password: str = PASSWORD, clock: Clock | None = None) -> PasswordGate:
    return PasswordGate(page, password, base, clock or Clock())


def give(app: PasswordGate, password: str, address: str = "/", **headers: str) -> Answer:
    body = urlencode({"password": password}).encode()
    return ask(app, "POST", address, body, **FORM | headers)


def logged_in(app: PasswordGate, **options: Any) -> str:
    """Return the Cookie header of a browser after the login."""
    return give(app, PASSWORD, **options).header("set-cookie").partition(";")[0]


@pytest.fixture
def room() -> Iterator[Room]:
    opened = ROOMS.open("tester", lambda _: Invitation())
    yield opened
    opened.close()


def invited(app: PasswordGate, room: Room) -> str:
    """Return the Cookie header of a browser that has opened an invitation."""
    answer = ask(app, address=f"/room/{room.letters}?{KEY}={room.key}", **HTML)
    assert (answer.status, answer.header("location")) == (303, f"/room/{room.letters}")
    return answer.header("set-cookie").partition(";")[0]


def test_browser_gets_a_form() -> None:
    answer = ask(gate(), **HTML)
    assert answer.status == 401
    assert 'type="password"' in answer.body
    drawn = answer.body.replace("http%3A//www.w3.org/2000/svg", "")  # the namespace of the sign
    assert "http" not in drawn  # nothing is fetched
    assert answer.header("cache-control") == "no-store"


def test_websocket_needs_the_password() -> None:
    app = gate()
    assert ask(app, "WEBSOCKET", "/_stcore/stream").status == 403
    cookie = logged_in(app)
    assert ask(app, "WEBSOCKET", "/_stcore/stream", cookie=cookie).status == 101


@pytest.mark.parametrize("base", ["/", "/room"])
def test_health_check_and_fonts_are_open(base: str) -> None:
    for path in (private.HEALTH, *private.FONTS.values()):
        address = f"{base.rstrip('/')}/{path}"
        assert ask(gate(base), "GET", address).body == "the page behind"
    assert len(private.FONTS) == 2


@pytest.mark.parametrize("address", ["/", "/room/Compare?s=a-b_c&step=3", "/Compare?s=%C3%A9"])
def test_login_leads_to_the_page_of_the_link(address: str) -> None:
    app = gate("/room")
    answer = give(app, PASSWORD, address)
    assert (answer.status, answer.header("location")) == (303, address)
    cookie, *attributes = answer.header("set-cookie").split("; ")
    assert {"Path=/room", "HttpOnly", "SameSite=Lax", f"Max-Age={LASTS}"} == {*attributes}
    assert ask(app, cookie=cookie, **HTML).body == "the page behind"


def test_login_does_not_lead_to_another_host() -> None:
    for address in ("//evil.example/", "///evil.example", "/\\evil.example"):
        scope_address = f"http://x{address}" if address.startswith("//") else address
        location = give(gate(), PASSWORD, scope_address).header("location")
        assert not location.startswith(("//", "/\\"))


@pytest.mark.parametrize("given", ["", "open", PASSWORD + " ", PASSWORD[:-1], "\udcff", "ö" * 999])
def test_wrong_password_is_refused(given: str) -> None:
    body = b"password=" + given.encode("utf-8", "surrogateescape")
    answer = ask(gate(), "POST", "/", body, **FORM)
    assert answer.status == 401
    assert answer.all("set-cookie") == []
    assert "wrong" in answer.body


def test_wrong_passwords_of_an_address_are_limited() -> None:
    clock = Clock()
    app = gate(clock=clock)
    cookie = logged_in(app)
    for _ in range(limits.PASSWORD_TRIES):
        assert give(app, "wrong", client="10.0.0.7").status == 401
    assert give(app, "wrong", client="10.0.0.7").status == 429
    assert give(app, PASSWORD, client="10.0.0.7").status == 429
    assert give(app, PASSWORD, client="::ffff:10.0.0.7").status == 429
    assert give(app, PASSWORD, client="10.0.0.8").status == 303
    assert ask(app, cookie=cookie, client="10.0.0.7", **HTML).body == "the page behind"
    clock.now += 61
    assert give(app, PASSWORD, client="10.0.0.7").status == 303


def test_addresses_of_an_ipv6_network_are_one() -> None:
    app = gate()
    for number in range(limits.PASSWORD_TRIES):
        assert give(app, "wrong", client=f"2001:db8:0:1::{number:x}").status == 401
    assert give(app, PASSWORD, client="2001:db8:0:1:ffff::1").status == 429
    assert give(app, PASSWORD, client="2001:db8:0:2::1").status == 303


def test_wrong_passwords_of_all_addresses_are_limited_together() -> None:
    clock = Clock()
    app = gate(clock=clock)
    for number in range(limits.ALL_PASSWORD_TRIES):
        assert give(app, "wrong", client=f"10.0.{number}.1").status == 401
    assert give(app, PASSWORD, client="10.1.1.1").status == 429
    clock.now += 61
    assert give(app, PASSWORD, client="10.1.1.1").status == 303


def test_login_expires() -> None:
    clock = Clock()
    app = gate(clock=clock)
    cookie = logged_in(app)
    clock.now += LASTS - 1
    assert ask(app, cookie=cookie, **HTML).status == 200
    clock.now += 1
    assert ask(app, cookie=cookie, **HTML).status == 401


def test_login_survives_a_restart_but_no_change_of_the_password() -> None:
    cookie = logged_in(gate())
    assert ask(gate(), cookie=cookie, **HTML).status == 200
    assert ask(gate(password="another"), cookie=cookie, **HTML).status == 401


@pytest.mark.parametrize("token", ["", ".", "9999999999.", "9999999999.00", "x.é", "²."])
def test_forged_cookie_is_refused(token: str) -> None:
    assert ask(gate(), cookie=f"{COOKIE}={token}", **HTML).status == 401
    ends, _, signature = logged_in(gate()).partition("=")[2].partition(".")
    forged = f"{COOKIE}={int(ends) + 1}.{signature}"
    assert ask(gate(), cookie=forged, **HTML).status == 401


@pytest.mark.parametrize("base", ["", "/class/7b"])
def test_invitation_is_exchanged_for_a_cookie_of_the_room(room: Room, base: str) -> None:
    assert len(room.key) == 22  # 128 bits
    app = PasswordGate(RoomPages(page, base), PASSWORD, base or "/")
    at = f"{base}/room/{room.letters}"
    answer = ask(app, address=f"{base}/room/{room.letters.lower()}?{KEY}={room.key}&utm=x", **HTML)
    assert (answer.status, answer.header("location")) == (303, at)
    cookie, *attributes = answer.header("set-cookie").split("; ")
    assert {*attributes} == {f"Path={at}", "HttpOnly", "SameSite=Lax", f"Max-Age={LASTS}"}
    shown = ask(app, address=at, cookie=cookie, **HTML)
    assert (shown.status, f"Room {room.letters}: Follower" in shown.body) == (200, True)
    assert room.key not in shown.body
    assert ask(gate(base), "WEBSOCKET", f"{at}/ws", cookie=cookie).status == 101
    secure = ask(app, address=f"{at}?{KEY}={room.key}", scheme="https", **HTML)
    assert "Secure" in secure.header("set-cookie").split("; ")


def test_invitation_opens_the_page_of_its_room_alone(room: Room) -> None:
    app, other = gate(), ROOMS.open("tester", lambda _: Invitation())
    cookie, at = invited(app, room), f"/room/{room.letters}"
    opened = {("GET", at), ("HEAD", at), ("GET", f"{at}/file"), ("WEBSOCKET", f"{at}/ws")}
    opened.add(("GET", f"{at}/code/a-b.js"))
    below = ("", "/", "/file", "/ws", "/lead", "/lead/", "/file/", "/ws/ws", "//", "/../lead", "?x")
    below = (*below, "/code/a-b.js", "/code/a/b.js", "/code/..", "/lead/ws", "/notes")
    below = (*below, "/_stcore/health", "/..", "/../../Compare")
    rooms = (at, f"/room/{other.letters}", "/room/", "/room", "/base/room", f"/base{at}", f"/{at}")
    paths = {a + b for a, b in product(rooms, below)} | {f"/{one.title}" for one in PAGES}
    streamlit = ("stream", "upload_file/a/b", "host-config", "metrics", "script-health-check")
    paths |= {f"/_stcore/{one}" for one in streamlit} | {f"{at}s", "/", "/app.py", "/favicon.ico"}
    paths |= {"/static/js/index.js", "/media/a.png", "/texts/a/b/1", "/component/x", "/~/+/_stcore"}
    for method, path in product(("GET", "HEAD", "POST", "PUT", "DELETE", "WEBSOCKET"), paths):
        status = ask(app, method, path, cookie=cookie, **HTML).status
        is_open = (method, path.removesuffix("?x")) in opened
        allowed, refused = ((101,), (403,)) if method == "WEBSOCKET" else ((200,), (401,))
        assert status in (allowed if is_open else refused), (method, path)
    for path in ("/", "/Compare", f"{at}/lead", f"{at}/file", f"/room/{other.letters}"):
        asked = ask(app, address=f"{path}?{KEY}={room.key}", **HTML)
        assert (asked.status, asked.all("set-cookie")) == (401, [])
    assert ask(app, "WEBSOCKET", f"{at}/ws?{KEY}={room.key}").status == 403
    other.close()


def test_invitation_ends_with_its_room(room: Room) -> None:
    app = gate()
    cookie, address = invited(app, room), f"/room/{room.letters}"
    room.close()
    for asked in (f"{address}?{KEY}={room.key}", address):
        answer = ask(app, address=asked, cookie=cookie, **HTML)
        assert (answer.status, "may have ended" in answer.body) == (401, True)
    assert ask(app, "WEBSOCKET", f"{address}/ws", cookie=cookie).status == 403


@pytest.mark.parametrize("key", ["", "x", "é", "%C3%A9%FF", "=", "A" * 22])
def test_wrong_key_is_refused_and_does_not_count_as_a_password(room: Room, key: str) -> None:
    app, address = gate(), f"/room/{room.letters}"
    for _ in range(limits.PASSWORD_TRIES):
        assert ask(app, address=f"{address}?{KEY}={key}", **HTML).status == 401
    assert ask(app, address=address, cookie=f"{ROOM_COOKIE}={key}", **HTML).status == 401
    answer = give(app, PASSWORD, f"{address}?{KEY}={key}")
    cookie = answer.header("set-cookie").partition(";")[0]
    answer = ask(app, address=f"{address}?{KEY}={key}", cookie=cookie, **HTML)
    assert answer.header("location") == (address if key else "")  # the key leaves the address
    assert len(answer.all("set-cookie")) == 0


@pytest.mark.parametrize("base", ["", "/class/7b"])
def test_room_word_opens_the_follower_page_of_its_room_alone(room: Room, base: str) -> None:
    app, at = gate(base or "/"), f"{base}/room/{room.letters}"
    label = "Letters and room word"
    assert all(label in ask(app, address=address, **HTML).body for address in (at, f"{base}/room"))
    assert label not in ask(app, address=f"{base}/rooms", **HTML).body
    both = f"{room.letters}{room.word}"
    spaced = f" room {room.letters.lower()} – {room.word[:3].lower()} {room.word[3:]} "
    for address, given in ((at, room.word.lower()), (f"{base}/", both), (f"{base}/room", spaced)):
        answer = give(app, given, address)
        assert (answer.status, answer.header("location")) == (303, at)
        cookie, *attributes = answer.header("set-cookie").split("; ")
        assert f"Path={at}" in attributes
        assert ask(app, address=at, cookie=cookie, **HTML).status == 200
        assert ask(app, address=f"{at}/lead", cookie=cookie, **HTML).status == 401
        assert ask(app, "WEBSOCKET", f"{at}/lead/ws", cookie=cookie).status == 403
        assert ask(app, address=f"{base}/", cookie=cookie, **HTML).status == 401


def test_wrong_room_words_count_as_wrong_passwords(room: Room) -> None:
    app, other = gate(), ROOMS.open("tester", lambda _: Invitation())
    wrong = ("ABCDEF" if room.word != "ABCDEF" else "ABCDEG", room.letters + other.word, room.key)
    for given in wrong:
        for address in (f"/room/{room.letters}", "/"):
            assert give(app, given, address).status == 401
    assert give(app, room.word, f"/room/{other.letters}").status == 401
    assert give(app, room.word).status == 401, "the word alone names no room"
    for _ in range(limits.PASSWORD_TRIES):
        give(app, room.letters + other.word)
    assert give(app, room.letters + room.word).status == 429
    assert give(app, room.letters + room.word, client="10.0.0.8").status == 303
    other.close()
    assert give(app, other.letters + other.word, client="10.0.0.8").status == 401, "it has ended"


def test_aborted_login_is_no_error() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/x-www-form-urlencoded")]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
    run(gate()(scope | {"scheme": "http"}, receive, send))
    assert sent[0]["status"] == 400

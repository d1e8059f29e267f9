"""Security headers of all responses."""

from __future__ import annotations

import pytest
from helpers.asgi import ask, page
from helpers.refusals import refusal

from bpeviz.ui.server.headers import SecurityHeaders, content_security_policy


def directives(frame_ancestors: str = "") -> dict[str, str]:
    return dict(part.split(" ", 1) for part in content_security_policy(frame_ancestors).split("; "))


def test_every_response_has_the_headers() -> None:
    answer = ask(SecurityHeaders(page, "default-src 'self'"))
    assert answer.header("content-security-policy") == "default-src 'self'"
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("referrer-policy") == "no-referrer"
    assert "camera=()" in answer.header("permissions-policy")
    assert answer.body == "the page behind"


def test_policy_allows_neither_other_hosts_nor_evaluated_scripts() -> None:
    found = directives()
    assert found["default-src"] == "'self'"
    assert "'unsafe" not in found["script-src"]
    for sources in found.values():
        assert all(one.startswith("'") or one in ("blob:", "data:") for one in sources.split())


def test_only_the_app_itself_may_frame_it_unless_set() -> None:
    assert directives()["frame-ancestors"] == "'self'"
    given = "'self' https://course.example"
    assert directives(given)["frame-ancestors"] == given


@pytest.mark.parametrize("given", ["a; script-src *", "a\r\nX: y", "https://a, https://b"])
def test_invalid_frame_ancestors_are_an_error(given: str) -> None:
    refusal(content_security_policy, given, naming="BPEVIZ_FRAME_ANCESTORS")

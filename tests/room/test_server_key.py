"""The key of a server, and what is derived from it."""

from __future__ import annotations

import re

from bpeviz.room.server_key import LETTERS, ServerKey


def test_keys_in_memory_differ() -> None:
    first, second = ServerKey(), ServerKey()
    assert first.secret == first.secret != second.secret
    assert first.word("KXQF", "a") != second.word("KXQF", "a")


def test_proof_belongs_to_one_room_and_one_leader() -> None:
    key = ServerKey()
    proof = key.proof("KXQF", "nonce")
    assert key.nonce("KXQF", proof) == "nonce"
    assert key.nonce("KXQG", proof) == ""
    mac = proof.partition(".")[2]
    for forged in ("", "nonce", "nonce.", f"other.{mac}", f"{proof}=", proof[:-1], f".{mac}", "é."):
        assert key.nonce("KXQF", forged) == ""
    assert ServerKey().nonce("KXQF", proof) == ""


def test_what_followers_get_does_not_prove_a_leader() -> None:
    key = ServerKey()
    public = {key.invitation("KXQF", "nonce"), key.word("KXQF", "nonce")}
    assert all(key.nonce("KXQF", f"nonce.{value}") == "" for value in public)
    words = {key.word("KXQF", str(number)) for number in range(500)}
    assert len(words) == 500
    assert all(re.fullmatch(f"[{LETTERS}]{{6}}", word) for word in words)
    assert {*"".join(words)} == {*LETTERS}

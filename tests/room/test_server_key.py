"""The key of a server, and what is derived from it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.refusals import refusal

from bpeviz.room.server_key import BYTES, LETTERS, ServerKey


def test_servers_that_start_at_once_share_one_file(tmp_path: Path) -> None:
    file = tmp_path / "links.key"
    with ThreadPoolExecutor(8) as threads:
        keys = [*threads.map(lambda _: ServerKey(str(file)).secret, range(40))]
    assert {*keys} == {file.read_bytes()}
    assert len(keys[0]) == BYTES
    assert file.stat().st_mode & 0o777 == 0o600
    assert [*tmp_path.iterdir()] == [file], "no other file is left"


def test_keys_in_memory_differ() -> None:
    first, second = ServerKey(), ServerKey()
    assert first.secret == first.secret != second.secret
    assert first.word("KXQF", "a") != second.word("KXQF", "a")


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "links.key"
    file.write_bytes(content)
    for path in (file, tmp_path / "no" / "links.key"):
        refusal(getattr, ServerKey(str(path)), "secret", naming=str(path))


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

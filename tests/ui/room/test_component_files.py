"""The route of the modules of components."""

from __future__ import annotations

import gzip
import hashlib
import re

import pytest
from helpers.asgi import ask
from starlette.applications import Starlette
from starlette.routing import Route

from bpeviz import components
from bpeviz.ui.room.component_files import PATH, component_file
from bpeviz.ui.room.connections import RoomPages
from bpeviz.ui.server.pages import routes
from bpeviz.ui.server.password import PasswordGate

PAGES = Starlette(routes=routes("/base"))
APP = Starlette(routes=[Route(f"/base{PATH}", component_file)])
MODULE = components.module("player")


def test_module_is_stored_for_a_year_under_the_hash_of_its_content() -> None:
    answer = ask(APP, address=f"/base/code/{MODULE.file}")
    assert answer.status == 200
    assert answer.header("content-type").startswith("text/javascript")
    assert answer.header("cache-control") == "public, max-age=31536000, immutable"
    assert answer.body.encode() == MODULE.source
    assert hashlib.sha256(answer.body.encode()).hexdigest()[:20] in MODULE.file


def test_module_is_compressed_for_browsers_that_accept_it() -> None:
    answer = ask(APP, address=f"/base/code/{MODULE.file}", accept_encoding="gzip, br")
    assert answer.header("content-encoding") == "gzip"
    assert answer.header("vary") == "Accept-Encoding"
    assert int(answer.header("content-length")) == len(MODULE.compressed)
    assert gzip.decompress(MODULE.compressed) == MODULE.source


@pytest.mark.parametrize("name", ["player.js", "player-0.js", "..%2Fmodules.py", "a/b"])
def test_unknown_name_is_404(name: str) -> None:
    assert ask(APP, address=f"/base/code/{name}").status == 404
    assert ask(RoomPages(APP, "/base"), address=f"/base/room/KXQF/code/{name}").status == 404


def test_modules_of_the_app_need_its_password() -> None:
    gate = PasswordGate(APP, password="secret", base="/base")
    assert ask(gate, address=f"/base/code/{MODULE.file}").status == 401


def test_every_component_is_a_module() -> None:
    folders = {path.parent.name for path in components.FOLDER.glob("*/*.js")} - {"shared"}
    assert {file.rpartition("-")[0] for file in components.modules()} == folders


@pytest.mark.parametrize("page", ["", "Compare", "Inspect", "Pre-tokenize", "Algorithms", "Learn"])
def test_page_asks_for_the_modules_of_its_components_early(page: str) -> None:
    body = ask(PAGES, address=f"/base/{page}").body
    files = re.findall(r'<link rel="modulepreload" href="\./code/([^"]+)">', body)
    assert {*files} <= {*components.modules()}
    names = [file.rpartition("-")[0] for file in files]
    assert {"frame", "text_box"} < set(names)
    assert len(names) == len(set(names))

"""The limits: their documentation, and the environment variables that set them."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from bpeviz import limits
from bpeviz.__main__ import main
from bpeviz.ui import server

ROOT = Path(__file__).resolve().parents[1]


DEPLOYMENT = (ROOT / "bpeviz" / "DEPLOYMENT.md").read_text()


def test_deployment_page_lists_all_limits_with_their_defaults() -> None:
    assert limits.table() in DEPLOYMENT
    assert len(limits.LIMITS) == len({one.about for one in limits.LIMITS})
    variables = [each.variable for each in limits.LIMITS if each.variable]
    assert len({*variables}) == len(variables)


def test_deployment_page_names_every_variable_of_the_app() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "bpeviz").glob("**/*.py"))
    variables = {*re.findall(r"BPEVIZ_[A-Z_]+", sources)}
    assert {"BPEVIZ_PASSWORD", "BPEVIZ_CACHE"} <= variables
    assert [one for one in variables if f"`{one}" not in DEPLOYMENT] == []


def test_environment_variable_sets_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = limits.Limit("time of a test", 600, "seconds", "BPEVIZ_TEST_SECONDS")
    assert limit.value == 600
    monkeypatch.setenv("BPEVIZ_TEST_SECONDS", "")
    assert limit.value == 600
    monkeypatch.setenv("BPEVIZ_TEST_SECONDS", "7")
    assert limit.value == 7


@pytest.mark.parametrize("given", ["0", "-1", "1.5", "many", "٣", " 7"])
def test_invalid_environment_variable_is_an_error(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPEVIZ_TEST_SECONDS", given)
    limit = limits.Limit("time of a test", 600, "seconds", "BPEVIZ_TEST_SECONDS")
    with pytest.raises(ValueError, match=r"BPEVIZ_TEST_SECONDS.*seconds"):
        _ = limit.value


def test_command_line_and_server_refuse_an_invalid_environment_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BPEVIZ_CACHE", "abc")
    assert main(["encode", "--tokenizer", "gpt2"]) == 1
    words = "variable BPEVIZ_CACHE must be a whole number of MB, at least 1. It is 'abc'."
    assert capsys.readouterr() == ("", f"The environment {words}\n")
    with pytest.raises(SystemExit, match="BPEVIZ_CACHE must be"):
        server.options()


def test_module_prints_the_table_also_with_an_invalid_environment_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BPEVIZ_CACHE", "abc")
    runpy.run_path(limits.__file__, run_name="__main__")
    assert capsys.readouterr().out.strip() == limits.table()

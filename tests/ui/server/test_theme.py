"""The theme's options are searched once, not in each page run."""

from __future__ import annotations

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from bpeviz.ui import server


def test_options_of_the_theme_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def theme() -> CustomThemeConfig:
        message = CustomThemeConfig()
        app_session._populate_theme_msg(message, "theme.dark")
        return message

    expected = theme()
    assert expected.ListFields()
    monkeypatch.setattr(config, "get_options_for_section", config.get_options_for_section)
    for _ in range(2):  # the second time, nothing is left to do
        server.cache_theme_options()
        assert theme() == expected
    monkeypatch.setattr(config, "get_config_options", None)
    assert theme() == expected

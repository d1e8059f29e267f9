"""The types of payloads in Python and in the scripts name the same keys."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bpeviz import components
from bpeviz.room.payloads import VoteState
from bpeviz.views import control_payloads, payloads

TYPES = {
    ("player/tokenized_text.js", "TextPayload"): payloads.Timeline,
    ("player/tokenized_text.js", "StepsPayload"): payloads.Steps,
    ("player/player.js", "PlayerPayload"): payloads.Player,
    ("player/remark.js", "RemarkPayload"): payloads.Remark,
    ("player/task.js", "TaskPayload"): payloads.StageTask,
    ("player/track.js", "CurvesPayload"): payloads.Curves,
    ("room/vote.js", "VotePayload"): VoteState,
    ("player/bars.js", "RacePayload"): payloads.Race,
    ("player/comparison.js", "ScorePayload"): payloads.Score,
    ("player/compared_row.js", "Row"): payloads.ScoreRow,
    ("texts_table/texts_table.js", "TextsTablePayload"): payloads.TextsTable,
    ("grid/layout.js", "GridPayload"): payloads.Grid,
    ("grid/layout.js", "GridToken"): payloads.GridToken,
    ("text_box/text_state.js", "TextBoxPayload"): control_payloads.TextBox,
    ("strip/strip.js", "TokenStrip"): payloads.TokenStrip,
    ("strip/strip.js", "StripPayload"): payloads.ConversationStrips,
    ("messages/messages.js", "MessagesPayload"): control_payloads.Messages,
    ("chapter_bar/chapter_bar.js", "ChapterBarPayload"): control_payloads.ChapterBar,
    ("copy_link/copy_link.js", "CopyLinkPayload"): control_payloads.CopyLink,
}


def documented(file: str, name: str) -> set[str]:
    """Return the keys of a type in a script."""
    script = (components.FOLDER / file).read_text(encoding="utf-8")
    comment = re.search(rf"@typedef {{object}} {name}\b(.*?)\*/", script, re.DOTALL)
    assert comment is not None
    return {*re.findall(r"@property {.*} \[?(\w+)\]?", comment[1])}


@pytest.mark.parametrize("place", TYPES, ids=lambda place: place[1])
def test_scripts_and_python_name_the_same_keys(place: tuple[str, str]) -> None:
    declared: Any = TYPES[place]
    keys = declared.__required_keys__ | declared.__optional_keys__
    assert documented(*place) == {*keys}

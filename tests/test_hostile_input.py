"""Hostile links, files, texts, messages and command lines are used, or refused by one sentence.

`helpers/hostile.py` generates them for all tests.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers import hostile
from helpers.hostile import ANY_JSON, RANDOM, SHORT, changed_bytes
from helpers.properties import examples, many
from helpers.refusals import assert_sentence
from helpers.stages import played
from hypothesis import given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.formats import FormatError
from bpeviz.libraries.pool import LibraryError
from bpeviz.pretrained.hub import ModelId, hub_folder
from bpeviz.room.messages import Invitation, Message
from bpeviz.room.rooms import Rooms
from bpeviz.text import clean
from bpeviz.ui.learn import page as learn
from bpeviz.ui.learn.base import Chapter, NoQuestionError
from bpeviz.ui.learn.chapters import CHAPTERS
from bpeviz.ui.permalink.links import LinkError, earlier
from bpeviz.views.task import MARK_WORDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent


# ---- links


@many()
@given(hostile.links())
def test_hostile_link_is_unpacked_or_refused(link: str) -> None:
    try:
        values = earlier(link)
    except LinkError as error:
        assert_sentence(str(error), "ignored")
        return
    assert all(isinstance(value, str | int | float | list) for value in values.values())
    json.dumps(values, ensure_ascii=False, allow_nan=False).encode()  # no lone surrogates


# ---- answers on Learn

ANSWERS = st.integers(-2, 5000) | st.text(max_size=70) | ANY_JSON


@settings(max_examples=examples(300))
@given(st.sampled_from(CHAPTERS), hostile.texts(60), ANSWERS)
def test_any_answer_about_any_text_is_judged_or_refused(
    chapter: Chapter, text: str, given: object
) -> None:
    about = [*chapter.texts.items()]
    about += [(chapter.own, clean(text))] if chapter.own and not chapter.own_needs else []
    for name, own in about:
        try:
            stage = chapter.tasks[name](own)
            question = stage.questions[0]() if stage.questions else None
        except NoQuestionError as error:
            assert_sentence(str(error))
            continue
        json.dumps(stage.payload(0, None), allow_nan=False)
        if question and question.act.accepts(given):
            for tries, is_told in (([given], False), ([given, given], False), ([given], True)):
                json.dumps(question.result(tries, is_told), allow_nan=False)
            json.dumps(stage.payload(0, given), allow_nan=False)


NAMES_OF_ANSWERS = [name for chapter in CHAPTERS for name in learn._names(chapter)]


@settings(max_examples=examples(300))
@given(st.dictionaries(st.sampled_from(NAMES_OF_ANSWERS), ANY_JSON, max_size=5), RANDOM)
def test_stored_answers_are_restored_or_dropped(answers: dict[str, object], draw: Random) -> None:
    entries = {
        name: {"of": "why", "tries": [given], "shown": False} for name, given in answers.items()
    }
    valid = {"answers": entries, "marks": answers}
    stored = json.dumps(draw.choice([valid, answers]))
    changed = draw.choice([stored, changed_bytes(stored.encode(), draw).decode("utf-8", "replace")])
    restored, marks = learn._read(changed)
    assert all(entry.keys() == {"of", "tries", "shown"} for entry in restored.values())
    assert {*marks.values()} <= {*MARK_WORDS}
    if changed == stored == json.dumps(valid):
        short = [name for name in entries if len(str(entries[name]["tries"])) <= learn.MAX_ANSWER]
        assert sorted(restored) == sorted(short) or len(stored) > learn.MAX_STORED


# ---- files


@settings(max_examples=examples(300))
@given(st.text(st.sampled_from("ahf:/@.-_%~é\0 \n\\\u202e"), max_size=12) | st.text(max_size=300))
def test_name_of_a_model_is_read_or_refused(name: str) -> None:
    try:
        model = ModelId.parse(name)
    except ValueError as error:
        assert_sentence(str(error), "@")
        return
    assert model.folder.parent == hub_folder()
    assert model.folder.name.isascii()
    assert len(model.folder.name) < 255


@many()
@given(hostile.files())
def test_hostile_file_is_usable_or_refused(files: dict[str, bytes]) -> None:
    """A tokenizer that is read supports every operation of the pages."""
    try:
        tokenizer = formats.parse(files)
    except FormatError as error:
        assert_sentence(str(error))
        return
    try:
        ids = tokenizer.encode(SHORT)
    except LibraryError:  # its library opens the file, and refuses a text; pages say so
        return
    places = tokenizer.boundaries(SHORT).ids(tokenizer.steps).tolist()
    assert len([token_id for token_id in places if token_id != -2]) == len(ids)
    assert isinstance(tokenizer.decode(ids), str)
    for token_id in tokenizer.known_ids():
        tokenizer.token_label(token_id)


# ---- rooms


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.integers(0, 2), hostile.messages()), max_size=12))
def test_room_outlives_any_messages(sent: list[tuple[int, dict[str, Any]]]) -> None:
    room = Rooms().open("me", lambda _: Invitation())
    text = "the thin thing that they think"
    room.show(played(bpeviz.train(text, merges=6), text))
    members = [room.enter("", lambda: None, is_leader=not i) for i in range(3)]
    for number, message in sent:
        room.receive(members[number], Message.of(json.loads(json.dumps(message))))
    states = [room.state(member) for member in members]
    json.dumps(states)
    assert [state.get("step") for state in states] == [states[0].get("step")] * 3

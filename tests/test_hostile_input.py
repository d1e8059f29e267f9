"""Changed links and files made before open, or are rejected by one message.

`tests/formats/test_hostile_files.py` tests single damaged files, and
`tests/ui/permalink/test_permalink.py` tests single damaged links.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers import app_pages
from helpers.gguf_files import gguf_file
from helpers.properties import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz import formats
from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.corpus.documents import Documents
from bpeviz.formats import FORMATS, FormatError
from bpeviz.libraries.pool import LibraryError
from bpeviz.pretrained.hub import ModelId, hub_folder
from bpeviz.text import clean
from bpeviz.ui.inputs.text import Rows, TableRows
from bpeviz.ui.learn import page as learn
from bpeviz.ui.learn.base import MARK_WORDS, Chapter, NoQuestionError
from bpeviz.ui.learn.chapters import CHAPTERS
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink.codec import LinkError, pack, unpack
from bpeviz.ui.permalink.session import MAX_SHORT
from bpeviz.ui.permalink.short_links import SHORT_LINKS
from bpeviz.ui.registry import PAGES
from bpeviz.ui.widgets import (
    LinkValues,
    NumberField,
    OneOf,
    Section,
    Share,
    SomeOf,
    Switch,
    TextField,
    Widget,
)

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
TEXT = "low lower lowest, don't été 12 ab 姚明 👋"

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8)
    | st.sampled_from(["own", "regex", "((){50000})", "![i](http://host/x.png)", "a" * 10_000]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
RANDOM = st.integers(0, 2**32).map(Random)


def changed_bytes(content: bytes, draw: Random) -> bytes:
    """Return bytes truncated, or with one to three parts replaced, removed, repeated or moved."""
    if draw.random() < 0.1:
        return content[: draw.randint(0, len(content))]
    for _ in range(draw.randint(1, 3)):
        at, start = draw.randint(0, len(content)), draw.randint(0, len(content))
        part = content[start : start + draw.randint(0, 40)]
        inserted = draw.choice([b"", draw.randbytes(draw.randint(1, 4)), part, part * 50])
        content = content[:at] + inserted + content[at + draw.choice([0, 0, 1, 2, len(part)]) :]
    return content


def changed_value(document: Any, value: object, draw: Random) -> Any:
    """Return a JSON document with a value put in place of one of its values, or as a new one."""
    if not isinstance(document, dict | list) or not document or draw.random() < 0.1:
        return value
    if isinstance(document, list):
        at = draw.randrange(len(document))
        return [*document[:at], changed_value(document[at], value, draw), *document[at + 1 :]]
    key = draw.choice([*document])
    return {**document, key: changed_value(document[key], value, draw)}


def check_message(error: ValueError, word: str = "") -> None:
    message = str(error)
    assert word in message
    assert message.endswith(".")
    assert message.isprintable()
    assert len(message) < 600


# ---- links


def contents() -> list[tuple[str, bytes]]:
    """Return the page and the JSON of each link of form 1."""
    links = json.loads((FIXTURES / "form_1.json").read_text("utf-8"))["links"]
    return [(link["page"], json.dumps(unpack(link["query"]["s"])).encode()) for link in links]


LINKS = contents()


def packed(raw: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(raw)).decode().rstrip("=")


def check_values_or_link_error(link: str) -> None:
    try:
        values = unpack(link)
    except LinkError as error:
        check_message(error, "ignored")
        return
    assert all(isinstance(value, str | int | float | list) for value in values.values())
    json.dumps(values, ensure_ascii=False, allow_nan=False).encode()  # no lone surrogates


@settings(max_examples=examples(700))
@given(st.sampled_from(LINKS), RANDOM)
def test_link_with_changed_characters_is_unpacked_or_rejected(
    link: tuple[str, bytes], draw: Random
) -> None:
    changed = changed_bytes(packed(link[1]).encode(), draw)
    check_values_or_link_error(changed.decode("utf-8", "replace"))


@settings(max_examples=examples(700))
@given(st.sampled_from(LINKS), RANDOM)
def test_link_with_changed_content_is_unpacked_or_rejected(
    link: tuple[str, bytes], draw: Random
) -> None:
    check_values_or_link_error(packed(changed_bytes(link[1], draw)))


@settings(max_examples=examples(600))
@given(st.sampled_from(LINKS), ANY_JSON, RANDOM)
def test_link_with_changed_values_is_unpacked_or_rejected(
    link: tuple[str, bytes], value: object, draw: Random
) -> None:
    changed = changed_value(json.loads(link[1]), value, draw)
    check_values_or_link_error(packed(json.dumps(changed).encode("utf-8", "replace")))


@pytest.mark.large
@settings(max_examples=examples(30))
@given(
    st.sampled_from([link for link in LINKS if b"k_base" not in link[1]]),
    st.lists(ANY_JSON, min_size=1, max_size=4),
    RANDOM,
)
def test_page_opens_a_link_with_changed_values(
    link: tuple[str, bytes], values: list[object], draw: Random
) -> None:
    document = json.loads(link[1])
    for value in values:
        key = draw.choice([*document])
        # A value of the right type gets past the codec.
        document[key] = value if isinstance(value, str | int) else str(value)
    query = {"s": packed(json.dumps(document).encode())}
    assert not app_pages.opened(link[0], query, may_fail=True).exception


NAMES = [
    f"{stem}3"
    for stem in (
        *("part_of_", "shown_of_", "inspected_part_of_", "drawn_part_of_"),
        *("lock_of_", "random_of_", "side by side of ", "levels of "),
    )
]
"""The names of one widget of each family."""

TEXTS = [
    "",
    TEXT,
    "((){50000})",
    "<|endoftext|> <|a|>",
    "a\u0300\u202e\0 \ufeff",
    "low 3\nlower 2\nb -1",
    "0 258 9999999999999999999999",
    "姚明" * 300,
    "![i](http://host/x.png) `</style><b>`",
]


def allowed_value(widget: Widget[Any], draw: Random) -> object:
    """Return a value that a link may contain for a widget, often an extreme one."""
    if isinstance(widget, OneOf):
        return draw.choice([*widget.titles] or [one for one in TEXTS if widget.allows(one)])
    if isinstance(widget, SomeOf):
        return draw.sample(
            [*widget.titles], draw.randint(0, min(3, widget.most, len(widget.titles)))
        )
    if isinstance(widget, NumberField):
        return draw.choice([widget.low, min(widget.low + 40, widget.high), widget.high])
    if isinstance(widget, Switch | Section):
        return draw.random() < 0.5
    if isinstance(widget, TextField):
        return draw.choice(TEXTS)[: widget.longest]
    if isinstance(widget, TableRows):
        rows = tuple(draw.choices(TEXTS, k=draw.randint(1, 4)))
        return Rows(draw.choice(TEXTS), draw.choice(TEXTS), Documents(rows)).packed()
    assert isinstance(widget, Share)
    return draw.choice([0.0, widget.most])


def allowed_link(page: Page, draw: Random) -> dict[str, Any]:
    """Return values that a link to a page may contain, without tokenizers to download."""
    found: dict[str, Any] = {}
    for _ in range(3):  # some widgets exist only for some values of others
        for widget in page.widgets(LinkValues(found, [*found, *NAMES])):
            value = found.get(widget.link, allowed_value(widget, draw))
            if draw.random() < 0.7 and not re.search(r"_base|gpt2|hf:|llama", str(value)):
                found[widget.link] = value
    return found


@pytest.mark.large
@settings(max_examples=examples(60))
@given(st.sampled_from(PAGES), RANDOM)
def test_page_opens_a_link_with_any_allowed_values(page: Page, draw: Random) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    values = allowed_link(page, draw)
    link = pack(values, MAX_SHORT)
    app.query_params["s"] = draw.choice([link, SHORT_LINKS.put(link, "someone")])
    app.query_params["step"] = str(draw.choice([0, 1, 10**8]))
    app.switch_page(page.path).run()
    assert not app.exception, values


# ---- answers on Learn

ANSWERS = st.integers(-2, 5000) | st.text(max_size=70) | ANY_JSON


@settings(max_examples=examples(300))
@given(st.sampled_from(CHAPTERS), st.text(max_size=40), ANSWERS)
def test_any_answer_about_any_text_is_judged_or_refused(
    chapter: Chapter, text: str, given: object
) -> None:
    about = [(name, first) for name, (first, *_) in chapter.texts.items()]
    about += [(chapter.own, clean(text))] if chapter.own and not chapter.own_needs else []
    for name, own in about:
        try:
            stage = chapter.tasks[name](own)
            question = stage.questions[0]() if stage.questions else None
        except NoQuestionError as error:
            check_message(error)
            continue
        json.dumps(stage.payload(0, None), allow_nan=False)
        if question and question.act.accepts(given):
            for tries, shown in (([given], False), ([given, given], False), ([given], True)):
                json.dumps(question.result(tries, shown), allow_nan=False)
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
    found, marks = learn._read(changed)
    assert all(entry.keys() == {"of", "tries", "shown"} for entry in found.values())
    assert {*marks.values()} <= {*MARK_WORDS}
    if changed == stored == json.dumps(valid):
        short = [name for name in entries if len(str(entries[name]["tries"])) <= learn.MAX_ANSWER]
        assert sorted(found) == sorted(short) or len(stored) > learn.MAX_STORED


@settings(max_examples=examples(300))
@given(st.text(st.sampled_from("ahf:/@.-_%~é\0 \n\\\u202e"), max_size=12) | st.text(max_size=300))
def test_name_of_a_model_is_read_or_rejected(name: str) -> None:
    try:
        model = ModelId.parse(name)
    except ValueError as error:
        check_message(error, "@")
        return
    assert model.folder.parent == hub_folder()
    assert model.folder.name.isascii()
    assert len(model.folder.name) < 255


# ---- files


def of_format(key: str) -> dict[str, bytes]:
    """Return a tokenizer in a format, with one that it supports."""
    for options in (
        {"vocab_size": 262, "special_tokens": ("<|e|>",)},
        {"merges": 6, "algorithm": "sentencepiece", "pattern": "none"},
    ):
        with contextlib.suppress(FormatError):
            return formats.dump(bpeviz.train(TEXT, **options).tokenizer(), key)
    raise AssertionError(key)


TEKKEN = {
    "config": {
        "pattern": r"\p{L}+|\s|.",
        "num_vocab_tokens": 262,
        "default_vocab_size": 262,
        "default_num_special_tokens": 2,
        "version": "v3",
    },
    "vocab": [
        {"rank": i, "token_bytes": base64.b64encode(one).decode(), "token_str": None}
        for i, one in enumerate([*(bytes([i]) for i in range(256)), b"lo", b"low", b"es", b"est"])
    ],
    "special_tokens": [
        {"rank": 0, "token_str": "<unk>", "is_control": True},
        {"rank": 1, "token_str": "<s>", "is_control": True},
    ],
}

FILES = {
    **{
        path.name: {path.name: path.read_bytes()}
        for path in sorted(FIXTURES.iterdir())
        if path.suffix in (".json", ".csv", ".model", ".tiktoken", ".parquet")
        and path.name not in ("form_1.json", "bpe.tiktoken.json")
    },
    "gpt2": {path.name: path.read_bytes() for path in sorted((FIXTURES / "gpt2").iterdir())},
}
FILES |= {f"written {key}": of_format(key) for key in FORMATS}
FILES["written words"] = {
    "words.bpeviz": formats.dump(
        bpeviz.train(TEXT, "wordpiece", vocab_size=40, pattern="words").tokenizer(), "bpeviz"
    ).popitem()[1]
}
FILES["vocab.txt"] = {"vocab.txt": b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nlow\n##er\n##est\nl\n##o\n##w\n"}
FILES["codes"] = {"codes.bpe": b"#version: 0.2\nl o\nlo w</w>\ne r</w>\nlo w\nlow er</w>\n"}
FILES["tekken"] = {"tekken.json": json.dumps(TEKKEN).encode()}
FILES["bpe.tiktoken"]["bpe.tiktoken.json"] = (FIXTURES / "bpe.tiktoken.json").read_bytes()
FILES["gguf"] = {
    "model.gguf": gguf_file(
        {
            "model": "gpt2",
            "pre": "gpt-2",
            "tokens": [*CHARACTER_OF.values(), "lo", "low", "<|e|>"],
            "merges": ["l o", "lo w"],
            "token_type": [1] * 258 + [3],
            "eos_token_id": 258,
        }
    )
}
FILES["gguf of pieces"] = {
    "model.gguf": gguf_file(
        {
            "model": "llama",
            "tokens": ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "lo", "▁lo", "w"],
            "scores": [0.0] * 257 + [-3.0, -1.0, -2.0, -4.0],
            "token_type": [2] + [6] * 256 + [1] * 4,
        }
    )
}
FILES["rwkv"] = {
    "rwkv_vocab.txt": "".join(
        f"{token_id} {token!r} {len(token)}\n"
        for token_id, token in enumerate([*(bytes([i]) for i in range(256)), b"low", b" lo"], 1)
    ).encode()
}
JSON_FILES = [
    (key, name) for key, files in FILES.items() for name in files if name.endswith(".json")
]


def check_usable_or_format_error(files: dict[str, bytes]) -> None:
    """Check that a parsed tokenizer supports every operation of the pages."""
    try:
        tokenizer = formats.parse(files)
    except FormatError as error:
        check_message(error)
        return
    try:
        ids = tokenizer.encode(TEXT)
    except LibraryError:  # its library opens the file, and refuses a text; pages say so
        return
    found = tokenizer.boundaries(TEXT).ids(tokenizer.steps).tolist()
    assert len([token_id for token_id in found if token_id != -2]) == len(ids)
    assert isinstance(tokenizer.decode(ids), str)
    for token_id in tokenizer.known_ids():
        tokenizer.token_label(token_id)


@settings(max_examples=examples(1_000))
@given(st.sampled_from([*FILES]), RANDOM)
def test_file_with_changed_bytes_is_read_or_rejected(key: str, draw: Random) -> None:
    files = dict(FILES[key])
    name = draw.choice([*files])
    check_usable_or_format_error({**files, name: changed_bytes(files[name], draw)})


@settings(max_examples=examples(1_000))
@given(st.sampled_from(JSON_FILES), ANY_JSON, RANDOM)
def test_file_with_changed_values_is_read_or_rejected(
    file: tuple[str, str], value: object, draw: Random
) -> None:
    key, name = file
    changed = changed_value(json.loads(FILES[key][name]), value, draw)
    check_usable_or_format_error({**FILES[key], name: json.dumps(changed).encode()})

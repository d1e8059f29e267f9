"""Hostile values for each entry: links, files, texts, messages of rooms, and command lines.

`MARKUP` and `HTML` are texts that render, run or are fetched where they are not escaped. The
functions return Hypothesis strategies; those of links and files change valid ones.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import re
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.formats import FORMATS, FormatError
from helpers.difficult import DIFFICULT
from helpers.gguf_files import gguf_file
from helpers.library_files import READ_ONLY, tekken

MARKUP = (
    "![evil](http://evil.example/evil.png)",
    "[evil](http://evil.example)",
    "[evil]: http://evil.example",
    "<script>evil()</script>",
    "<img src=//evil.example/evil.png onerror=evil()>",
    "<http://evil.example>",
    "http://evil.example HTTPS://EVIL.example",
    "www.evil.example WWW.EVIL.example",
    "evil@evil.example mailto:evil@evil.example xmpp:evil@evil.example",
    ":red[evil] :red-background[evil] :blue-badge[evil] :small[evil] :help[evil]",
    ":color[evil]{foreground=red} ::evil[evil] :::evil",
    ":material/home: :material_home: :streamlit: :smile: :evil:",
    "$evil$ $$evil$$ \\(evil\\)",
    "[^evil] [^evil]: evil",
    "**evil** __evil__ *evil* _evil_ ~~evil~~ ~evil~ `evil` ``evil``",
    "# evil",
    "> evil",
    "- evil",
    "+ evil",
    "1. evil",
    "1) evil",
    "evil -> evil <- evil <-> evil -- evil >= evil <= evil ~= evil --- evil",
    "| evil | evil |",
    "&lt;evil&gt; &#33; \\evil \\",
    "--- evil ===",
    "evil\n===\n\n# evil\n\n```\nevil\n```\n    evil",
)

"""Texts that render where they are not escaped for Markdown."""

EVIL = "<script>evil()</script>"
HTML = (
    f"</script>{EVIL}",
    f"</SCRIPT >{EVIL}",
    f"</script\n>{EVIL}",
    f"</script\t/>{EVIL}",
    f"</scr\0ipt>{EVIL}",
    f"<!--{EVIL}",
    f"-->{EVIL}",
    f"--!>{EVIL}",
    f"<!--><script>{EVIL}",
    f"<!-- <script> --> {EVIL}",
    f"<![CDATA[{EVIL}]]>",
    f"]]>{EVIL}",
    f"<?xml version='1.0'?>{EVIL}",
    f"<!doctype html>{EVIL}",
    f"</title>{EVIL}",
    f"</style>{EVIL}",
    f"</template>{EVIL}",
    f"</noscript>{EVIL}",
    f"</textarea></p></main></body></html>{EVIL}",
    f"</iframe>{EVIL}",
    f"</svg>{EVIL}",
    f'">{EVIL}',
    f"'>{EVIL}",
    f"`>{EVIL}",
    '" onmouseover="evil()" autofocus onfocus="evil()',
    "' onmouseover='evil()' autofocus onfocus='evil()",
    "<img src=x onerror=evil()>",
    '<img src="//evil.example/a.png">',
    "<svg onload=evil()>",
    "<svg><script href='data:,evil()'/>",
    "<math><mtext><style><img src=x onerror=evil()></style>",
    "<iframe srcdoc='<script>evil()</script>'></iframe>",
    "<object data='javascript:evil()'>",
    "<a href='javascript:evil()'>a</a>",
    "<base href='//evil.example/'>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<link rel=stylesheet href=//evil.example/a.css>",
    "<form action=//evil.example><button formaction='javascript:evil()'>",
    "<style>@import '//evil.example/a.css';</style>",
    "*{background:url(//evil.example/a.png)}",
    "&lt;/script&gt;&lt;script&gt;evil()&lt;/script&gt;",
    "&#60;script&#62;evil()&#60;/script&#62;",
    "\\u003c/script>\\u003cscript>evil()",
    "\u2028evil()\u2029",
    '\\"};evil();//',
    "${evil()} `${evil()}`",
    "{{evil()}} {%evil()%} <%evil()%>",
    "null",
    "__proto__ constructor toString hasOwnProperty",
    "\0\x01\x1b\x7f\ufeff\ufffe\uffff",
    "\u202e)(live\u202c \u2066<script>\u2069",
    "a\u0300\u0301\u0302\u200d\ufe0f\U000e0001" + "\u0301" * 60,
    "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
)
"""Texts that run where they are not escaped for HTML or JavaScript."""

FIXTURES = Path(__file__).parents[1] / "fixtures"
SHORT = "low lower lowest, don't été 12 ab 姚明 👋"

RANDOM = st.integers(0, 2**32).map(Random)
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
"""Any JSON value, with lone surrogates and infinite numbers."""


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


# ---- texts


def texts(longest: int = 10_000) -> st.SearchStrategy[str]:
    """Return a strategy for texts: markup, what is difficult for tokenizers, and any characters."""
    known = [text[:longest] for text in (*MARKUP, *HTML, *DIFFICULT, "((){50000})", "姚明" * 300)]
    return st.sampled_from(known) | st.text(max_size=min(40, longest))


# ---- links


def packed(raw: bytes) -> str:
    """Return the value of a link with these bytes."""
    return base64.urlsafe_b64encode(zlib.compress(raw)).decode().rstrip("=")


@cache
def form_1() -> tuple[dict[str, Any], ...]:
    """Return the links of form 1: their pages and queries."""
    stored = json.loads((FIXTURES / "form_1.json").read_text("utf-8"))
    return tuple(stored["links"])


@st.composite
def links(draw: st.DrawFn) -> str:
    """Generate values of links: valid ones with changed characters, contents or JSON values."""
    value = draw(st.sampled_from([link["query"]["s"] for link in form_1()]))
    raw = zlib.decompress(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    match draw(st.integers(0, 3)):
        case 0:
            changed = changed_bytes(value.encode(), draw(RANDOM))
            return changed.decode("utf-8", "replace")
        case 1:
            return packed(changed_bytes(raw, draw(RANDOM)))
        case _:
            changed = changed_value(json.loads(raw), draw(ANY_JSON), draw(RANDOM))
            return packed(json.dumps(changed).encode("utf-8", "replace"))


# ---- files


def _of_format(key: str) -> dict[str, bytes]:
    """Return a tokenizer in a format, with one that it supports."""
    for options in (
        {"vocab_size": 262, "special_tokens": ("<|e|>",)},
        {"merges": 6, "algorithm": "sentencepiece", "pattern": "none"},
    ):
        with contextlib.suppress(FormatError):
            return formats.dump(bpeviz.train(SHORT, **options).tokenizer(), key)
    raise AssertionError(key)


@cache
def valid_files() -> dict[str, dict[str, bytes]]:
    """Return tokenizers in all formats and fixtures, by a name: each file by its own name."""
    known = {
        path.name: {path.name: path.read_bytes()}
        for path in sorted(FIXTURES.iterdir())
        if path.suffix in (".json", ".csv", ".model", ".tiktoken", ".parquet")
        and path.name not in ("form_1.json", "bpe.tiktoken.json")
    }
    known["bpe.tiktoken"]["bpe.tiktoken.json"] = (FIXTURES / "bpe.tiktoken.json").read_bytes()
    known["gpt2"] = {path.name: path.read_bytes() for path in sorted((FIXTURES / "gpt2").iterdir())}
    known |= {f"written {key}": _of_format(key) for key in FORMATS}
    words = bpeviz.train(SHORT, "wordpiece", vocab_size=40, pattern="words").tokenizer()
    known["written words"] = formats.dump(words, "bpeviz")
    pieces = {
        "model": "llama",
        "tokens": ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "lo", "▁lo", "w"],
        "scores": [0.0] * 257 + [-3.0, -1.0, -2.0, -4.0],
        "token_type": [2] + [6] * 256 + [1] * 4,
    }
    ranks = tekken(bpeviz.train(SHORT, vocab_size=260).tokenizer(), special=2)
    names = [("<unk>", 0), ("<s>", 1)]
    ranks["special_tokens"] = [
        {"rank": rank, "token_str": name, "is_control": True} for name, rank in names
    ]
    return known | {
        **READ_ONLY,
        "tekken": {"tekken.json": json.dumps(ranks).encode()},
        "gguf of pieces": {"model.gguf": gguf_file(pieces)},
    }


@st.composite
def files(draw: st.DrawFn) -> dict[str, bytes]:
    """Generate tokenizers with one changed file: its bytes, or a value of its JSON."""
    known = dict(valid_files()[draw(st.sampled_from([*valid_files()]))])
    name = draw(st.sampled_from([*known]))
    if name.endswith(".json") and draw(st.booleans()):
        changed = changed_value(json.loads(known[name]), draw(ANY_JSON), draw(RANDOM))
        return {**known, name: json.dumps(changed).encode()}
    return {**known, name: changed_bytes(known[name], draw(RANDOM))}


# ---- messages of rooms

DO = ("ask", "show", "again", "reveal", "end vote", "part", "end", "__init__")
FIELDS = (
    *("step", "content", "part", "vote", "answer", "token", "key", "link"),
    *("playing", "speed", "lit", "do", "__class__"),
)


def messages() -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for messages to a room: fields with valid numbers, and with any value."""
    value = st.integers(-2, 30) | ANY_JSON | st.lists(st.integers(-2, 9), max_size=3)
    anything = st.dictionaries(st.sampled_from(FIELDS), value, max_size=5)
    return st.builds(lambda do, more: {"do": do} | more, st.sampled_from(DO), anything)


# ---- command lines

WORDS = (
    *("-", "--", "", " ", "text.txt", "t.json", "gpt2", "gtp2", ".", "..", "/dev/null", "no/such"),
    *(
        "a\0b",
        "\udcff",
        "=1+1",
        "a=b",
        "=",
        "-1",
        "0",
        "1",
        "3",
        "300",
        "1e9",
        "9" * 30,
        "٣",
        "(((",
    ),
    *("hf:a/b", "javascript:evil()", "https://host.example", "\x1b[31m", "{}", "[1, 2]", "[["),
)


@cache
def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [name for action in parser._actions for name in action.option_strings[-1:]]


@st.composite
def arguments(draw: st.DrawFn, commands: Sequence[str]) -> list[str]:
    """Generate command lines: options of a command, most with values, often wrong ones."""
    from bpeviz.cli.main import _parser

    (subparsers,) = (action for action in _parser()._actions if action.dest == "command")
    command = draw(st.sampled_from(commands))
    names = _options(subparsers.choices[command])  # type: ignore[index]
    word = st.sampled_from(WORDS) | texts(60)
    line = [command]
    for _ in range(draw(st.integers(0, 5))):
        name = draw(st.sampled_from([*names, *names, "--unknown", "-x"]))
        values = draw(st.lists(word, max_size=2))
        line += [name, *values]
    return [re.sub("\0", "", part) if part.startswith("-") else part for part in line]

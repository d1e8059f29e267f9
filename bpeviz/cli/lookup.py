"""Find tokens of a vocabulary, with their merge trees.

Look up tokens by id or by text. Each is printed with its id, its bytes, and its kind, such as the
number of the merge that creates it, or the flags of an added token. Its merge tree, below, contains
the tokens that are merged into it. A line says if the text of the token alone is encoded as other
tokens. A text that is not one token is encoded, and its tokens are printed. Without a QUERY, the
command prints the size of the vocabulary.

Options:
  QUERY: an id, or the text or the label of a token
  --containing: list the tokens whose text contains the QUERY
  --most N: with --containing, list at most N tokens (default: 50)
  --neighbors N: also list the N tokens before and after each in the order of ids
  --json: print a JSON object for each QUERY, or one with the size in its note

Examples:
  python -m bpeviz lookup 995 --tokenizer gpt2
  python -m bpeviz lookup ·lowest lowest --tokenizer gpt2
  python -m bpeviz lookup low --containing --most 10 --tokenizer cl100k_base

In a QUERY, · is a space, as in the printed labels.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bpeviz.analysis import token_lookup
from bpeviz.analysis.token_lookup import Found
from bpeviz.cli import arguments, files
from bpeviz.cli.arguments import Command, argument, flags, integer
from bpeviz.cli.errors import UsageError, print_error
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import hexadecimal, shorten, visible

_LARGEST_TREE = 200
"""The most tokens of a merge tree that are printed."""


def run(options: argparse.Namespace) -> int:
    """Print the tokens of every query; return the exit code."""
    progress = files.begin(options, [])
    if options.containing and not options.queries:
        raise UsageError("--containing needs a QUERY.")
    tokenizer = files.load_tokenizer(options.tokenizer, options, progress)
    lines = []
    if not options.queries:
        size = f"The vocabulary has {token_lookup.describe_size(tokenizer)}."
        plain = _plain(_Answer("", [], size), tokenizer, options)
        lines.append(files.as_json(plain) if options.json else size)
    for query in options.queries:
        answer = _answer(query, tokenizer, options)
        if options.json:
            lines.append(files.as_json(_plain(answer, tokenizer, options)))
            continue
        if answer.note:
            print_error(answer.note)
        for token in answer.tokens:
            lines.append(_line(token))
            if instead := "" if answer.note else token_lookup.instead(token.id, tokenizer):
                lines.append(f"  {visible(instead)}")
            if not options.containing:
                lines += _tree(token.id, tokenizer)
            if near := _neighbors(token, tokenizer, options):
                lines += ["  neighbors:", *(f"    {_line(other)}" for other in near)]
    files.write_output(options.output, "".join(f"{line}\n" for line in lines))
    return 0


@dataclass(frozen=True)
class _Answer:
    """The tokens of a query. note: why they are not all or not one token, or ""."""

    query: str
    tokens: Sequence[Found]
    note: str = ""


def _answer(query: str, tokenizer: Tokenizer, options: argparse.Namespace) -> _Answer:
    """Return the tokens that a query names, contains, or is encoded as."""
    quoted = visible(shorten(query))
    if options.containing:
        ids = token_lookup.containing(query, tokenizer)
        tokens = [token_lookup.about(token_id, tokenizer) for token_id in ids[: options.most]]
        note = f"{len(ids):,} tokens contain “{quoted}”; the first {len(tokens):,} are listed."
        return _Answer(query, tokens, note if len(tokens) < len(ids) else "")
    if tokens := token_lookup.look_up(query, tokenizer):
        return _Answer(query, tokens)
    ids = tokenizer.encode(token_lookup.query_text(query))
    note = f"No token has the id or text “{quoted}”. As text, it has {len(ids):,} tokens."
    return _Answer(query, [token_lookup.about(token_id, tokenizer) for token_id in ids], note)


def _neighbors(token: Found, tokenizer: Tokenizer, options: argparse.Namespace) -> list[Found]:
    if not options.neighbors:
        return []
    near = token_lookup.neighbors(token.id, tokenizer, options.neighbors)
    return [other for other in near if other.id != token.id]


def _line(token: Found) -> str:
    return f"{token.id}  {visible(token.label)}  {hexadecimal(token.raw)}  {token.place}"


def _tree(token_id: int, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the lines of a merge tree below its root, each token above its two parents."""
    waiting = [(parent, 1) for parent in reversed(tokenizer.parents(token_id) or ())]
    printed = 0
    while waiting:
        at, level = waiting.pop()
        if printed == _LARGEST_TREE:
            yield "  …"
            return
        printed += 1
        token = token_lookup.about(at, tokenizer)
        yield f"{'  ' * level}{visible(token.label)}  {token.id}  {token.place}"
        waiting += ((parent, level + 1) for parent in reversed(tokenizer.parents(at) or ()))


def _plain(answer: _Answer, tokenizer: Tokenizer, options: argparse.Namespace) -> dict[str, Any]:
    """Return an answer for JSON."""
    tokens = []
    for token in answer.tokens:
        plain = _plain_token(token)
        if ids := [] if answer.note else token_lookup.encoded_instead(token.id, tokenizer):
            plain["encoded_as"] = ids
        if not options.containing:
            plain["tree"] = [
                {
                    **_plain_token(ancestor.token),
                    "merged": [parent.id for parent in ancestor.parents or ()],
                }
                for ancestor in token_lookup.ancestry(token.id, tokenizer, _LARGEST_TREE)
            ]
        if near := _neighbors(token, tokenizer, options):
            plain["neighbors"] = [*map(_plain_token, near)]
        tokens.append(plain)
    assumptions = files.note_on(options.tokenizer, options).values()
    note = " ".join(filter(None, (answer.note, *assumptions)))
    return {"query": answer.query, "note": note, "tokens": tokens}


def _plain_token(token: Found) -> dict[str, Any]:
    plain = {"id": token.id, "label": token.label, "bytes": token.raw.hex(), "kind": token.place}
    return plain | ({"flags": token.flags} if token.flags else {})


COMMAND = Command(
    __doc__,
    run,
    argument("QUERY", name="queries", nargs="*", type=arguments.text_argument),
    *arguments.tokenizer(),
    *flags("--containing"),
    integer("--most N", 1, 50),
    integer("--neighbors N", 0, 0),
    *flags("--json"),
    arguments.OUTPUT,
    arguments.PROGRESS,
)

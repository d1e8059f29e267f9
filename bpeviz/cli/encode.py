"""``encode``: text to ids."""

from __future__ import annotations

import argparse
import json

from bpeviz.cli import common
from bpeviz.cli.common import Commands, Progress
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.files import STANDARD, named
from bpeviz.text import visible

_HELP = """\
Encode texts: each file is one text, and becomes one line, a JSON list of its ids. Text is text:
what looks like a special token is encoded as its characters, unless --allow-special names it.
"""
_EXAMPLES = """\
examples:
  echo -n "hello world" | python -m bpeviz encode --tokenizer gpt2
  python -m bpeviz encode page.txt --tokenizer tokenizer.json --tokens
  python -m bpeviz encode *.txt --tokenizer o200k_base --count
  python -m bpeviz encode page.txt --tokenizer gpt2 | python -m bpeviz decode --tokenizer gpt2

With --lines, each line of a text is encoded by itself, without its end; `decode --lines` puts the
ends back. In the names that --tokens prints, · is a space, → a tab, ↵ the end of a line, and ⟨C3⟩
a byte that is no character by itself.
"""


def add(commands: Commands) -> argparse.ArgumentParser:
    """Say what may be asked of this command."""
    command = commands.add_parser(
        "encode",
        help="turn text into ids",
        description=_HELP,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    common.add_files(command)
    common.add_tokenizer(command)
    command.add_argument(
        "--lines", action="store_true", help="encode each line by itself, one list a line"
    )
    what = command.add_mutually_exclusive_group()
    what.add_argument(
        "--tokens", action="store_true", help="print the tokens' names, not their ids"
    )
    what.add_argument("--count", action="store_true", help="print how many tokens there are")
    command.add_argument(
        "--allow-special",
        action="append",
        default=[],
        type=common.text_argument,
        metavar="NAME",
        help="encode this special token as such where the text spells it out; `all` allows every "
        "one; may be given several times",
    )
    common.add_output(command)
    common.add_progress(command)
    return command


def run(options: argparse.Namespace) -> int:
    """Encode every file; return the exit code."""
    files = options.files or [STANDARD]
    common.once([*files, options.tokenizer])
    common.check_expression(options)
    progress = Progress(options.progress)
    tokenizer = common.load(options.tokenizer, options, progress)
    allowed = set(options.allow_special)
    if "all" in allowed and "all" not in tokenizer.special_tokens:
        allowed = (allowed - {"all"}) | {*tokenizer.special_tokens}
    printed: list[str] = []
    for path in files:
        text = common.read_text(path)
        with progress.during(f"Encoding {named(path)}, {len(text):,} characters"):
            for part in _lines(text) if options.lines else [text]:
                ids = tokenizer.encode(part, allowed_special=allowed)
                printed.append(_line(tokenizer, ids, options) + "\n")
    common.write_out(options.output, "".join(printed).encode())
    return 0


def _lines(text: str) -> list[str]:
    """Return the lines of a text: one less where it ends with the end of a line, as it should."""
    return text.removesuffix("\n").split("\n") if text else []


def _line(tokenizer: Tokenizer, ids: list[int], options: argparse.Namespace) -> str:
    if options.count:
        return str(len(ids))
    if options.tokens:
        names = {i: visible(tokenizer.token_label(i)) for i in set(ids)}
        # A special token may have a space in its name; the others never show one.
        names = {i: name.replace(" ", "·") for i, name in names.items()}
        return " ".join(names[i] for i in ids)
    return json.dumps(ids)

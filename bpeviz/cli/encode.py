"""The command ``encode``: turn text into ids."""

from __future__ import annotations

import argparse
import json
from itertools import pairwise

from bpeviz.cli import arguments, files
from bpeviz.cli.arguments import Commands
from bpeviz.cli.errors import CommandError, UsageError
from bpeviz.cli.progress import Progress
from bpeviz.core.boundaries import UNKNOWN_ID
from bpeviz.core.lattice import score
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.files import STANDARD, named
from bpeviz.text import clean, visible

_HELP = """\
Encode texts. Each file is one text and gives one line: a JSON list of ids. The names of special
tokens are encoded as plain text, unless --allow-special names them.
"""
_EXAMPLES = """\
examples:
  echo -n "hello world" | python -m bpeviz encode --tokenizer gpt2
  python -m bpeviz encode page.txt --tokenizer tokenizer.json --tokens
  python -m bpeviz encode *.txt --tokenizer o200k_base --count
  python -m bpeviz encode page.txt --tokenizer gpt2 | python -m bpeviz decode --tokenizer gpt2

With --lines, each line of a text is encoded alone, without its line end; `decode --lines` restores
the line ends. In the labels of --tokens, · is a space, → a tab, ↵ a line end, and ⟨C3⟩ a byte that
is not a character.
"""


def add(commands: Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    command = arguments.add_command(commands, "encode", "turn text into ids", _HELP, _EXAMPLES)
    arguments.add_files(command)
    arguments.add_tokenizer(command)
    command.add_argument(
        "--lines", action="store_true", help="encode each line alone, one list a line"
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument("--tokens", action="store_true", help="print token labels instead of ids")
    form.add_argument(
        "--normalized",
        action="store_true",
        help="print the normalized text, which is then split, as a JSON string",
    )
    form.add_argument(
        "--pre-tokens",
        action="store_true",
        help="print the pre-tokens, which no token crosses, as a JSON list",
    )
    form.add_argument(
        "--segmentations",
        type=arguments.whole_number(1),
        metavar="N",
        help="print the N best segmentations of each word with their log probabilities, as JSON, "
        "one word a line, for Unigram",
    )
    form.add_argument("--count", action="store_true", help="print the number of tokens")
    command.add_argument(
        "--allow-special",
        action="append",
        default=[],
        type=arguments.text_argument,
        metavar="NAME",
        help="encode this name in a text as the special token; `all` allows every name; repeat the "
        "option for several",
    )
    around = command.add_mutually_exclusive_group()
    around.add_argument(
        "--chat",
        action="store_true",
        help="encode each text as a user's message in the chat template of the model, which is in "
        "tokenizer_config.json or chat_template.jinja beside the tokenizer, or in a GGUF file; all "
        "names of special tokens are then special",
    )
    around.add_argument(
        "--template",
        action="store_true",
        help="add the tokens that the model expects around a text, such as BOS and EOS, if the "
        "tokenizer's file names them",
    )
    command.add_argument(
        "--system",
        default="",
        type=arguments.text_argument,
        metavar="TEXT",
        help="with --chat, a system prompt before the message",
    )
    command.add_argument(
        "--merges",
        type=arguments.whole_number(0),
        metavar="N",
        help="apply only the first N merges of the tokenizer",
    )
    arguments.add_output(command)
    arguments.add_progress(command)
    return command


def run(options: argparse.Namespace) -> int:
    """Encode every file; return the exit code."""
    paths = options.files or [STANDARD]
    arguments.check_one_standard_input([*paths, options.tokenizer])
    arguments.check_expression(options)
    if options.system and not options.chat:
        raise UsageError("--system needs --chat.")
    progress = Progress(options.progress)
    tokenizer = files.load_tokenizer(options.tokenizer, options, progress)
    if options.merges is not None:
        tokenizer = _first_merges(tokenizer, options.merges)
    allowed = set(options.allow_special)
    if "all" in allowed and "all" not in tokenizer.special_tokens:
        allowed = (allowed - {"all"}) | {*tokenizer.special_tokens}
    before, after = tokenizer.template if options.template else ((), ())
    chat = files.load_chat_template(options.tokenizer) if options.chat else None
    if chat is not None:
        allowed = {*tokenizer.special_tokens}
    printed: list[str] = []
    for path in paths:
        text = files.read_text(path)
        with progress.during(f"Encoding {named(path)}, {len(text):,} characters"):
            for part in _lines(text) if options.lines else [text]:
                whole = part if chat is None else chat.apply(part, options.system).text
                if options.normalized:
                    printed.append(
                        json.dumps(tokenizer.normalized(whole).text, ensure_ascii=False) + "\n"
                    )
                    continue
                if options.pre_tokens:
                    printed.append(_pre_tokens(tokenizer, whole) + "\n")
                    continue
                if options.segmentations is not None:
                    printed += _segmentations(tokenizer, whole, options.segmentations)
                    continue
                ids = tokenizer.encode(whole, allowed_special=allowed)
                printed.append(_line(tokenizer, [*before, *ids, *after], options) + "\n")
    files.write_output(options.output, "".join(printed).encode())
    return 0


def _first_merges(tokenizer: Tokenizer, count: int) -> Tokenizer:
    """Return the tokenizer with its first merges only. Raises `CommandError`."""
    if (why := tokenizer.without_steps) is not None:
        raise CommandError(f"{tokenizer.name} has no merges to choose from: {why}.")
    if count > tokenizer.steps:
        raise CommandError(f"{tokenizer.name} has {tokenizer.steps:,} merges, not {count:,}.")
    return tokenizer.at_step(count)


def _pre_tokens(tokenizer: Tokenizer, text: str) -> str:
    """Return the pre-tokens of a text as JSON. Raises `CommandError`."""
    ends = tokenizer.pre_token_ends(text)
    if ends is None:
        raise CommandError(f"The pre-tokens of {tokenizer.name} are not known.")
    raw = clean(text).encode()
    parts = [raw[start:end].decode() for start, end in pairwise([0, *ends.tolist()])]
    return json.dumps(parts, ensure_ascii=False)


def _segmentations(tokenizer: Tokenizer, text: str, most: int) -> list[str]:
    """Return the best segmentations of each word as JSON. Raises `CommandError`."""
    words = tokenizer.scored_words(text)
    if text and not words:
        raise CommandError(f"{tokenizer.name} does not score segmentations; Unigram does.")
    printed = []
    for word in words:
        best = [
            {
                "ids": [tokenizer.unknown_id if e.id == UNKNOWN_ID else e.id for e in path],
                "log_probability": score(path),
            }
            for path in tokenizer.word_lattice(word.text).nbest(most)
        ]
        found = {"word": word.text, "segmentations": best}
        printed.append(json.dumps(found, ensure_ascii=False) + "\n")
    return printed


def _lines(text: str) -> list[str]:
    """Return the lines of a text without line ends; the last one may lack its own."""
    return text.removesuffix("\n").split("\n") if text else []


def _line(tokenizer: Tokenizer, ids: list[int], options: argparse.Namespace) -> str:
    if options.count:
        return str(len(ids))
    if options.tokens:
        # The name of a special token may contain a space; other labels do not.
        labels = {i: visible(tokenizer.token_label(i)).replace(" ", "·") for i in set(ids)}
        return " ".join(labels[i] for i in ids)
    return json.dumps(ids)

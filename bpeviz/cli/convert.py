"""Write a tokenizer in another file format.

Write a tokenizer of another program, or a published one, in another file format. A file is written
only if it keeps every id: it is read back and encodes difficult texts, and all ids must be those
of the tokenizer. Otherwise the error gives the reason. A note says if the format has no template,
which adds special tokens around each text.

Examples:
  python -m bpeviz convert --tokenizer tokenizer.json --output ranks.tiktoken
  python -m bpeviz convert --tokenizer tokenizer.model --output tokenizer.json
  python -m bpeviz convert --tokenizer model.gguf --output tokenizer.json
  python -m bpeviz convert --tokenizer llama_3 --output folder --format huggingface
"""

from __future__ import annotations

import argparse

from bpeviz import formats
from bpeviz.cli import arguments, files
from bpeviz.cli.arguments import Command
from bpeviz.cli.errors import print_error


def run(options: argparse.Namespace) -> int:
    """Write the tokenizer; return the exit code."""
    target = files.target(options, "")
    progress = files.begin(options, [], target.outputs)
    tokenizer = files.load_tokenizer(options.tokenizer, options, progress)
    with progress.during("Converting"):
        contents = formats.dump(tokenizer, target.format, suggests=True)
        note = formats.losses(tokenizer, contents, target.format)
        target.write(contents)
    if note:
        print_error(note)
    files.report(progress, target.output, formats.FORMATS[target.format].title)
    return 0


COMMAND = Command(__doc__, run, *arguments.tokenizer(), *arguments.SAVED, arguments.PROGRESS)

"""Write one HTML file that plays a training.

Write one HTML file that plays step by step how a tokenizer is trained on a text, or how the merges
of another tokenizer change it. The file loads nothing, and works without a network and a server.

Options:
  --output FILE: write to this file; - or none: standard output, unless it is a terminal
  --pattern: the pre-tokenization of the training (default: gpt2), or of tokenizer files that do
    not contain it

Examples:
  python -m bpeviz play page.txt --vocab-size 400 --output play.html
  python -m bpeviz play page.txt --tokenizer gpt2 --output play.html
  python -m bpeviz play page.txt --vocab-size 300 --algorithm unigram > play.html

Open play.html#step=120 to begin at a step. Of a long text, the file plays the beginning.
"""

from __future__ import annotations

import argparse

from bpeviz.cli import arguments, files, training
from bpeviz.cli.arguments import Command, exclusive, option
from bpeviz.cli.errors import UsageError
from bpeviz.cli.progress import Progress
from bpeviz.views import playable
from bpeviz.views.credit import check_link
from bpeviz.views.playable import Interactive
from bpeviz.views.stage import Stage, of_training


def run(options: argparse.Namespace) -> int:
    """Train or load a tokenizer, and write the file; return the exit code."""
    values = training.chosen(options)
    inputs = [options.file, *training.text_paths(values)]
    is_trained = values or options.special_token or options.algorithm != "bpe"
    if options.tokenizer is not None and is_trained:
        raise UsageError("--tokenizer is not trained: it takes no options of training.")
    output = files.name_output(options)
    check_link(options.link)
    progress = files.begin(options, inputs)
    if options.tokenizer is None:
        timeline = _trained(options, training.with_texts(values), progress)
    else:
        timeline = _applied(options, progress)
    files.write_output(output, playable.html(timeline, options.link))
    return 0


def _trained(
    options: argparse.Namespace, values: dict[str, str | int], progress: Progress
) -> Interactive:
    text = files.read_text(options.file)
    with progress.during(f"Training on {len(text):,} characters"):
        history = training.train(text, options, values)
    training.report_early_end(history, options.vocab_size)
    with progress.during("Writing"):
        return playable.of_stage(Stage([of_training(history, text, options=values)]))


def _applied(options: argparse.Namespace, progress: Progress) -> Interactive:
    name = options.tokenizer
    tokenizer = files.load_tokenizer(name, options, progress)
    text = files.read_text(options.file)
    with progress.during(f"Encoding {len(text):,} characters with {files.title(name)}"):
        return playable.of_tokenizer(tokenizer, files.title(name), text)


_TOKENIZER, *_ = arguments.tokenizer(required=False)

COMMAND = Command(
    __doc__,
    run,
    arguments.FILE,
    exclusive(*training.SIZE, _TOKENIZER, required=True),
    option("--output FILE"),
    arguments.LINK,
    *arguments.pattern(""),
    *training.ARGUMENTS,
    usage="%(prog)s [FILE] (--vocab-size N | --merges N | --tokenizer TOKENIZER) …",
)

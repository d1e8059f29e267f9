"""``train``: learn a tokenizer from texts."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bpeviz import api, formats
from bpeviz.cli import common
from bpeviz.cli.common import Commands, Failure, Progress, WrongCommand
from bpeviz.core.training import Training
from bpeviz.corpus import parquet
from bpeviz.corpus.files import STANDARD, named
from bpeviz.formats import FormatError
from bpeviz.pretokenizers.counts import CountsError, PreTokenCounts
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.trainers import TRAINERS, Corpus, Option, Trainer, texts_of

_HELP = """\
Learn a tokenizer from texts, and write it to a file that other libraries read, too.

Several files are several texts: no token reaches from one into the next. With --algorithm
multilingual, each file is a text of its own to be weighed (so is what stands between lines of
---).

With --counts, it learns from the pre-tokens that `count` counted, and so what it would learn from the
text: bpe, scaffold, wordpiece, unigram and adaptive can.

What a format cannot hold is refused with the reason; of a long text, before it is learnt from.
"""
_EXAMPLES = """\
examples:
  python -m bpeviz train corpus.txt --vocab-size 8000 --output tokenizer.json
  python -m bpeviz train a.txt b.txt --merges 500 --pattern cl100k --output ranks.tiktoken
  cat *.txt | python -m bpeviz train - --vocab-size 1000 --special-token "<|end|>" > tokenizer.json
  python -m bpeviz train corpus.txt --vocab-size 300 --pattern regex --expression "[a-z]+|." \\
      --output tokenizer.json
  python -m bpeviz train corpus.txt --vocab-size 500 --algorithm bpe --atoms characters \\
      --ties largest --min-count 2 --output merges.csv
"""
_FROM_PRE_TOKENS = ("bpe", "scaffold", "wordpiece", "unigram", "adaptive")
"""The algorithms that learn the same from pre-tokens with counts as from the text itself."""

_AS_THEY_ARE = ("bpe", "scaffold")
"""Those of them that take counted pre-tokens as they are."""

_PART = 2_000
"""Characters that are learnt from first, to see whether the format can hold what is asked for."""


def add(commands: Commands) -> argparse.ArgumentParser:
    """Say what may be asked of this command."""
    command = commands.add_parser(
        "train",
        help="learn a tokenizer from texts",
        usage="python -m bpeviz train [FILE ...] (--vocab-size N | --merges N) [--output FILE] …",
        description=_HELP,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    common.add_files(command)
    command.add_argument(
        "--counts",
        metavar="FILE",
        help="learn from this Parquet file, which `count` wrote, or another program with the "
        "columns chunk, count and first; - is standard input",
    )
    size = command.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--vocab-size",
        type=_whole(1),
        metavar="N",
        help="how many ids there are to be, special tokens not counted",
    )
    size.add_argument(
        "--merges", type=_whole(0), metavar="N", help="or how many merges are to be learnt"
    )
    command.add_argument(
        "--output",
        metavar="FILE",
        help="write there; - or nothing: to standard output, unless that is a terminal. Of the "
        "format gpt2 this is a folder; of tiktoken, a second file is written beside it, with .json "
        "behind its name",
    )
    command.add_argument(
        "--format",
        choices=[*formats.FORMATS],
        help="what to write (default: what the ending of --output says, else huggingface)",
    )
    common.add_split(
        command,
        None,
        "how the text is split first, so that no token crosses (default: gpt2, or as the file of "
        "--counts says)",
    )
    command.add_argument(
        "--special-token",
        action="append",
        default=[],
        type=common.text_argument,
        metavar="NAME",
        help="a name that gets an id after all others; may be given several times",
    )
    common.add_progress(command)
    command.add_argument(
        "--algorithm",
        choices=[*TRAINERS],
        default="bpe",
        help="; ".join(f"{key}: {trainer.title}" for key, trainer in TRAINERS.items())
        + " (default: bpe)",
    )
    group = command.add_argument_group(
        "options of the algorithms", "In brackets stand the algorithms that have it."
    )
    for name, owners in _owners().items():
        group.add_argument(_flag(name), dest=_place(name), **_argument(name, owners))
    return command


def run(options: argparse.Namespace) -> int:
    """Learn, and write what was learnt; return the exit code."""
    files = _files(options)
    trainer = TRAINERS[options.algorithm]
    common.check_expression(options)
    chosen = _chosen(options, trainer)
    common.once([*files, *(str(value) for name, value in chosen.items() if _is_text(name))])
    output = common.target(options)
    form, paths = _target(output, options.format)
    folder = Path(output) if paths and paths[0] != Path(output) else None
    for path in [folder] if folder is not None and not folder.exists() else paths:
        common.check_writable(path)

    chosen = {
        name: common.read_text(str(value)) if _is_text(name) else value
        for name, value in chosen.items()
    }
    corpus = _corpus(files, trainer) if options.counts is None else _counts(options)
    if isinstance(corpus, PreTokenCounts):
        options.pattern, options.expression = corpus.pattern, corpus.expression
        called = f"{len(corpus):,} distinct chunks"
    else:
        called = f"{_characters(corpus):,} characters"

    def learn(corpus: Corpus) -> Training:
        return api.train(
            corpus,
            trainer.key,
            vocab_size=options.vocab_size,
            merges=options.merges,
            pattern=options.pattern or "gpt2",
            expression=options.expression,
            special_tokens=tuple(options.special_token),
            **chosen,
        )

    progress = Progress(options.progress)
    if (part := _beginning(corpus)) is not None:
        _rehearse(learn, part, form)
    with progress.during(f"Learning from {called}"):
        training = learn(corpus)
    with progress.during("Writing"):
        written = formats.dump(training.tokenizer(), form)
        if output == STANDARD:
            common.write_out(output, *written.values())
        else:
            if folder is not None:
                _make_folder(folder)
            common.write_files(dict(zip(paths, written.values(), strict=True)))
    _report(training, options, output)
    return 0


# --- What is learnt from -------------------------------------------------------------------------


def _files(options: argparse.Namespace) -> list[str]:
    """Return what is read to learn from. Raises `WrongCommand`."""
    if options.counts is None:
        return options.files or [STANDARD]
    if options.files:
        raise WrongCommand("Learn from files or from --counts, not from both.")
    if options.algorithm not in _FROM_PRE_TOKENS:
        raise WrongCommand(
            f"--algorithm {options.algorithm} needs the text itself, not --counts. "
            f"From counts learn {', '.join(_FROM_PRE_TOKENS)}."
        )
    return [options.counts]


def _corpus(files: Sequence[str], trainer: Trainer) -> Corpus:
    texts = [common.read_text(path) for path in files]
    if len(texts) == 1:
        return texts[0]
    if trainer.key == "multilingual":  # weighs texts, and wants them parted by lines of dashes
        return "---\n".join(text if text.endswith("\n") else text + "\n" for text in texts)
    return Counter(texts)


def _counts(options: argparse.Namespace) -> PreTokenCounts:
    """Read the file of ``--counts``. Raises `Failure`."""
    content = common.read(options.counts)
    try:
        counts = parquet.parse(content, options.pattern or "", options.expression)
        counts.keys()  # the pre-tokens as text
    except CountsError as error:
        raise Failure(f"{named(options.counts)}: {error}") from error
    if counts.pattern == CUSTOM and options.algorithm not in _AS_THEY_ARE:
        raise Failure(
            f"--algorithm {options.algorithm} splits chunks again, and an expression of one's own "
            f"may cut them otherwise. From such counts learn {' and '.join(_AS_THEY_ARE)}."
        )
    return counts


def _characters(corpus: Corpus) -> int:
    if isinstance(corpus, str):
        return len(corpus)
    return sum(len(text) * times for text, times in corpus.items())


def _beginning(corpus: Corpus) -> Corpus | None:
    """Return what a corpus begins with; None where it is not much more itself."""
    if isinstance(corpus, PreTokenCounts):
        few = dict(islice(corpus.items(), _PART // 10))
        return few if len(corpus) > 10 * len(few) else None
    if _characters(corpus) <= 10 * _PART:
        return None
    return next(text for text in ([corpus] if isinstance(corpus, str) else corpus) if text)[:_PART]


def _rehearse(learn: Callable[[Corpus], Training], part: Corpus, form: str) -> None:
    """Raise `FormatError` ahead of long work where the format cannot hold what is asked for."""
    try:
        training = learn(part)
    except ValueError:
        return  # is said of the whole corpus, or does not hold of it
    formats.dump(training.tokenizer(), form)


def _report(training: Training, options: argparse.Namespace, output: str) -> None:
    """Say what was learnt where progress is told; and always, where it is less than asked."""
    size = int(training.sizes[-1])
    if training.stopped in ("no pair", "rare"):
        why = "no pair is left" if training.stopped == "no pair" else "all other pairs are rarer"
        what = texts_of(training).unit + ("" if training.steps == 1 else "s")
        common.tell(
            f"Only {training.steps:,} {what} could be learnt ({why}): the vocabulary has "
            f"{size:,} ids."
        )
    elif options.vocab_size is not None and size < options.vocab_size:
        common.tell(f"The vocabulary has only {size:,} ids: this text gives no more.")
    where = "standard output" if output == STANDARD else named(output)
    Progress(options.progress).say(
        f"Written to {where}: {texts_of(training).vocabulary(training, training.steps)}."
    )


# --- Where it goes -------------------------------------------------------------------------------


def _target(output: str, form: str | None) -> tuple[str, list[Path]]:
    """Return the format, and where its files go, if not to standard output.

    Raises `WrongCommand`.
    """
    if output != STANDARD:
        try:
            found, paths = formats.paths_to_save(Path(output), form)
        except FormatError as error:
            raise WrongCommand(f"{error} Or name a format with --format.") from None
        return found.key, paths
    form = form or "huggingface"
    if len(formats.FORMATS[form].files) > 1:
        raise WrongCommand(f"The format {form} has two files: name a path with --output.")
    return form, []


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        where = named(str(folder))
        raise Failure(f"The folder {where} could not be made: {error.strerror}.") from error


# --- The options of the algorithms ---------------------------------------------------------------


def _owners() -> dict[str, dict[str, Option]]:
    """Return, by the name of an option, what it is to each algorithm that has it."""
    found: dict[str, dict[str, Option]] = {}
    for trainer in TRAINERS.values():
        for option in trainer.options:
            found.setdefault(option.name, {})[trainer.key] = option
    return found


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _place(name: str) -> str:
    return f"of_algorithm_{name}"


def _is_text(name: str) -> bool:
    """Tell whether an option is a text, which the command line takes from a file."""
    return any(option.sample is not None for option in _owners()[name].values())


def _argument(name: str, owners: Mapping[str, Option]) -> dict[str, Any]:
    """Return what argparse is told of an option."""
    first = next(iter(owners.values()))
    told: dict[str, Any] = {}
    defaults: dict[str, list[str]] = {}
    for key, option in owners.items():
        defaults.setdefault(str(option.default), []).append(key)
    default = "; ".join(
        value if len(defaults) == 1 else f"{value} with {', '.join(keys)}"
        for value, keys in defaults.items()
    )
    if _is_text(name):
        told["metavar"] = "FILE"
    elif first.choices is not None:
        choices = (option.choices or {} for option in owners.values())
        told["choices"] = [*dict.fromkeys(value for of_one in choices for value in of_one)]
    else:
        told["metavar"] = "N"
        told["type"] = _whole(min(option.minimum for option in owners.values()))
    help_text = f"{first.label} ({', '.join(owners)}). {first.help}"
    if default:
        help_text += f" (default: {default})"
    return {**told, "help": help_text.replace("%", "%%")}


def _chosen(options: argparse.Namespace, trainer: Trainer) -> dict[str, str | int]:
    """Return the options that were given, by name. Raises `WrongCommand`."""
    chosen: dict[str, str | int] = {}
    for name, owners in _owners().items():
        value = getattr(options, _place(name))
        if value is None:
            continue
        option = owners.get(trainer.key)
        if option is None:
            raise WrongCommand(
                f"{_flag(name)} is no option of --algorithm {trainer.key}, but of "
                f"{', '.join(owners)}."
            )
        try:
            option.check(value, _flag(name))
        except ValueError as error:
            raise WrongCommand(f"--algorithm {trainer.key}: {error}") from error
        chosen[name] = value
    return chosen


def _whole(least: int) -> Callable[[str], int]:
    """Return what reads a whole number from `least` on."""

    def whole(argument: str) -> int:
        digits = argument.replace("_", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 12):
            raise argparse.ArgumentTypeError("it takes a whole number, such as 8000")
        if int(digits) < least:
            raise argparse.ArgumentTypeError(f"it must be {least} or more")
        return int(digits)

    return whole

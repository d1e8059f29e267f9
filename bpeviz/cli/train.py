"""The command ``train``: train a tokenizer on texts."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from bpeviz import api, formats
from bpeviz.cli import arguments, files
from bpeviz.cli.arguments import Argument, Choice, Command, Section
from bpeviz.cli.errors import CommandError, UsageError, print_error
from bpeviz.cli.progress import Progress
from bpeviz.core.training import Training
from bpeviz.corpus import parquet
from bpeviz.corpus.files import STANDARD, named
from bpeviz.pretokenizers.counts import CountsError, PreTokenCounts
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.trainers import TRAINERS, Corpus, Option, Trainer, texts_of

_HELP = """\
Train a tokenizer on texts, and write it to a file that other libraries read.

Several files are several texts: no token crosses from one into the next. With --algorithm
multilingual, each file is weighted as a text, and so are parts between lines of ---.

With --counts, training uses the pre-tokens that `count` counted, with the same result as on the
text itself: with bpe, scaffold, wordpiece, unigram and adaptive.

If a format cannot represent the tokenizer, the error gives the reason, for long texts before
training.
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
_FROM_COUNTS = ("bpe", "scaffold", "wordpiece", "unigram", "adaptive")
"""The algorithms that give the same result on counted pre-tokens as on the text."""

_WITHOUT_SPLITTING = ("bpe", "scaffold")
"""The algorithms of `_FROM_COUNTS` that do not split the pre-tokens again."""

_SAMPLE = 2_000
"""Number of characters of the sample that checks the format before long training."""


def run(options: argparse.Namespace) -> int:
    """Train, and write the tokenizer; return the exit code."""
    paths = _inputs(options)
    trainer = TRAINERS[options.algorithm]
    arguments.check_expression(options)
    chosen = _chosen(options, trainer)
    text_paths = [str(value) for name, value in chosen.items() if _is_text(name)]
    target = files.target(options, options.algorithm)
    arguments.check_files([*paths, *text_paths], map(str, target.paths))
    target.check_writable()

    chosen = {
        name: files.read_text(str(value)) if _is_text(name) else value
        for name, value in chosen.items()
    }
    corpus = _corpus(paths, trainer) if options.counts is None else _counts(options)
    if isinstance(corpus, PreTokenCounts):
        options.pattern, options.expression = corpus.pattern, corpus.expression
        size = f"{len(corpus):,} distinct pre-tokens"
    else:
        size = f"{_characters(corpus):,} characters"

    def train(corpus: Corpus) -> Training:
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
    if (sample := _sample(corpus)) is not None:
        _try_format(train, sample, target.format)
    with progress.during(f"Training on {size}"):
        training = train(corpus)
    with progress.during("Writing"):
        target.write(formats.dump(training.tokenizer(), target.format))
    _report(training, options, target.output)
    return 0


# ---- The corpus


def _inputs(options: argparse.Namespace) -> list[str]:
    """Return the paths of the texts or the counts. Raises `UsageError`."""
    if options.counts is None:
        return options.files or [STANDARD]
    if options.files:
        raise UsageError("Name text files or --counts, not both.")
    if options.algorithm not in _FROM_COUNTS:
        raise UsageError(
            f"--algorithm {options.algorithm} needs the text itself, not --counts, unlike "
            f"{', '.join(_FROM_COUNTS)}."
        )
    return [options.counts]


def _corpus(paths: Sequence[str], trainer: Trainer) -> Corpus:
    texts = [files.read_text(path) for path in paths]
    if len(texts) == 1:
        return texts[0]
    if trainer.key == "multilingual":  # its texts are separated by lines of dashes
        return "---\n".join(text if text.endswith("\n") else text + "\n" for text in texts)
    return Counter(filter(None, texts))


def _counts(options: argparse.Namespace) -> PreTokenCounts:
    """Return the counts in the file of ``--counts``. Raises `CommandError`."""
    content = files.read_bytes(options.counts, files.MAX_COUNTS)
    try:
        counts = parquet.parse(content, options.pattern or "", options.expression)
        counts.keys()  # decodes the pre-tokens
    except CountsError as error:
        raise CommandError(f"{named(options.counts)}: {error}") from error
    if counts.pattern == CUSTOM and options.algorithm not in _WITHOUT_SPLITTING:
        raise CommandError(
            f"--algorithm {options.algorithm} splits pre-tokens again, and a regular expression "
            f"may split them differently. Use {' or '.join(_WITHOUT_SPLITTING)}."
        )
    return counts


def _characters(corpus: Corpus) -> int:
    if isinstance(corpus, str):
        return len(corpus)
    return sum(len(text) * times for text, times in corpus.items())


def _sample(corpus: Corpus) -> Corpus | None:
    """Return the beginning of a corpus, or None for a short corpus."""
    if isinstance(corpus, PreTokenCounts):
        few = dict(islice(corpus.items(), _SAMPLE // 10))
        return few if len(corpus) > 10 * len(few) else None
    if _characters(corpus) <= 10 * _SAMPLE:
        return None
    texts = [corpus] if isinstance(corpus, str) else corpus
    return next(text for text in texts if text)[:_SAMPLE]


def _try_format(train: Callable[[Corpus], Training], sample: Corpus, format: str) -> None:
    """Raise `FormatError` if a format cannot represent a tokenizer trained on a sample."""
    try:
        training = train(sample)
    except ValueError:
        return  # the whole corpus may be valid; if not, training raises the error
    formats.dump(training.tokenizer(), format)


# ---- The output


def _report(training: Training, options: argparse.Namespace, output: str) -> None:
    """Print the result if progress is shown; always report a vocabulary smaller than requested."""
    size = int(training.sizes[-1])
    if training.stopped in ("no pair", "rare"):
        reason = (
            "no pair is left" if training.stopped == "no pair" else "all other pairs are too rare"
        )
        steps = texts_of(training).unit + ("" if training.steps == 1 else "s")
        print_error(f"Only {training.steps:,} {steps} ({reason}): the vocabulary has {size:,} ids.")
    elif options.vocab_size is not None and size < options.vocab_size:
        print_error(f"The vocabulary has only {size:,} ids: this text allows no more.")
    where = "standard output" if output == STANDARD else named(output)
    result = texts_of(training).vocabulary(training, training.steps)
    Progress(options.progress).print(f"Written to {where}: {result}.")


# ---- The options of the algorithms


def _owners() -> dict[str, dict[str, Option]]:
    """Return the options by name, then by the key of the algorithm."""
    found: dict[str, dict[str, Option]] = {}
    for trainer in TRAINERS.values():
        for option in trainer.options:
            found.setdefault(option.name, {})[trainer.key] = option
    return found


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _destination(name: str) -> str:
    return f"of_algorithm_{name}"


def _is_text(name: str) -> bool:
    """Return whether an option is a text, which the command line reads from a file."""
    return any(option.sample is not None for option in _owners()[name].values())


def _argument(name: str, owners: Mapping[str, Option]) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for an option."""
    first = next(iter(owners.values()))
    keywords: dict[str, Any] = {}
    defaults: dict[str, list[str]] = {}
    for key, option in owners.items():
        defaults.setdefault(str(option.default), []).append(key)
    default = "; ".join(
        value if len(defaults) == 1 else f"{value} with {', '.join(keys)}"
        for value, keys in defaults.items()
    )
    if _is_text(name):
        keywords["metavar"] = "FILE"
    elif first.choices is not None:
        choices = (option.choices or {} for option in owners.values())
        keywords["choices"] = [*dict.fromkeys(value for of_one in choices for value in of_one)]
    else:
        keywords["metavar"] = "N"
        keywords["type"] = arguments.whole_number(min(option.minimum for option in owners.values()))
    help_text = f"{first.label} ({', '.join(owners)}). {first.help}"
    if default:
        help_text += f" (default: {default})"
    return {**keywords, "help": help_text.replace("%", "%%")}


def _chosen(options: argparse.Namespace, trainer: Trainer) -> dict[str, str | int]:
    """Return the options of the algorithm that the user gave, by name. Raises `UsageError`."""
    chosen: dict[str, str | int] = {}
    for name, owners in _owners().items():
        value = getattr(options, _destination(name))
        if value is None:
            continue
        option = owners.get(trainer.key)
        if option is None:
            raise UsageError(
                f"{_flag(name)} is not an option of --algorithm {trainer.key}, but of "
                f"{', '.join(owners)}."
            )
        try:
            option.check(value, _flag(name))
        except ValueError as error:
            raise UsageError(f"--algorithm {trainer.key}: {error}") from error
        chosen[name] = value
    return chosen


COMMAND = Command(
    "train",
    "train a tokenizer on texts",
    _HELP,
    _EXAMPLES,
    run,
    (
        arguments.FILES,
        arguments.option(
            "--counts",
            "FILE",
            "train on this Parquet file of `count`, or of another program with the columns chunk, "
            "count and first; - is standard input",
        ),
        Choice(
            (
                arguments.option(
                    "--vocab-size",
                    "N",
                    "size of the vocabulary, without special tokens",
                    type=arguments.whole_number(1),
                ),
                arguments.option(
                    "--merges", "N", "or the number of merges", type=arguments.whole_number(0)
                ),
            ),
            required=True,
        ),
        *arguments.SAVED,
        *arguments.pattern(
            None,
            "the pre-tokenization, which no token crosses (default: gpt2, or that of --counts)",
        ),
        arguments.texts(
            "--special-token",
            "NAME",
            "a name that gets an id after all others; repeat the option for several",
        ),
        arguments.PROGRESS,
        arguments.choice(
            "--algorithm",
            TRAINERS,
            "bpe",
            "; ".join(f"{key}: {trainer.title}" for key, trainer in TRAINERS.items())
            + " (default: bpe)",
        ),
        Section(
            "options of the algorithms",
            "Each names in parentheses the algorithms that have it.",
            [
                Argument((_flag(name),), {"dest": _destination(name), **_argument(name, owners)})
                for name, owners in _owners().items()
            ],
        ),
    ),
    "python -m bpeviz train [FILE ...] (--vocab-size N | --merges N) [--output PATH] …",
)

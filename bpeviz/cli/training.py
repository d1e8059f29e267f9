"""The arguments of commands that train a tokenizer, and training with them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from bpeviz import api
from bpeviz.cli import arguments, files
from bpeviz.cli.arguments import Argument
from bpeviz.cli.errors import UsageError, print_error
from bpeviz.core.training import Training
from bpeviz.trainers import TRAINERS, Corpus, Option, texts_of


def chosen(options: argparse.Namespace) -> dict[str, str | int]:
    """Return the options of the algorithm that the user gave, by name. Raises `UsageError`."""
    given: dict[str, str | int] = {}
    algorithm = options.algorithm
    for name, owners in _owners().items():
        value = getattr(options, _destination(name))
        if value is None:
            continue
        option = owners.get(algorithm)
        if option is None:
            raise UsageError(
                f"{_flag(name)} is not an option of --algorithm {algorithm}, but of "
                f"{', '.join(owners)}."
            )
        try:
            option.check(value, _flag(name))
        except ValueError as error:
            raise UsageError(f"--algorithm {algorithm}: {error}") from error
        given[name] = value
    return given


def text_paths(values: Mapping[str, str | int]) -> list[str]:
    """Return the paths of the texts among the options of an algorithm."""
    return [str(value) for name, value in values.items() if _is_text(name)]


def with_texts(values: Mapping[str, str | int]) -> dict[str, str | int]:
    """Return the options of an algorithm, with texts in place of their paths."""
    return {
        name: files.read_text(str(value)) if _is_text(name) else value
        for name, value in values.items()
    }


def train(corpus: Corpus, options: argparse.Namespace, values: Mapping[str, str | int]) -> Training:
    """Train with the arguments of a command, and the options of its algorithm."""
    given: dict[str, Any] = {
        "vocab_size": options.vocab_size,
        "merges": options.merges,
        "pattern": options.pattern or "gpt2",
        "expression": options.expression,
        "special_tokens": tuple(options.special_token),
        "split_at_special": not options.special_as_text,
        **values,
    }
    return api.train(corpus, str(options.algorithm), **given)


def report_early_end(training: Training, vocab_size: int | None) -> None:
    """Print to standard error that the vocabulary is smaller than requested, if it is."""
    size = int(training.sizes[-1])
    if training.stopped in ("no pair", "rare"):
        reason = (
            "no pair is left" if training.stopped == "no pair" else "all other pairs are too rare"
        )
        steps = texts_of(training).unit + ("" if training.steps == 1 else "s")
        print_error(f"Only {training.steps:,} {steps} ({reason}): the vocabulary has {size:,} ids.")
    elif vocab_size is not None and size < vocab_size:
        print_error(f"The vocabulary has only {size:,} ids: this text allows no more.")


def _owners() -> dict[str, dict[str, Option]]:
    """Return the options by name, then by the key of the algorithm."""
    owners: dict[str, dict[str, Option]] = {}
    for trainer in TRAINERS.values():
        for option in trainer.options:
            owners.setdefault(option.name, {})[trainer.key] = option
    return owners


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _destination(name: str) -> str:
    return f"of_algorithm_{name}"


def _is_text(name: str) -> bool:
    """Return whether an option is a text, which the command line reads from a file."""
    return any(option.sample is not None for option in _owners()[name].values())


def _argument(name: str, owners: Mapping[str, Option]) -> Argument:
    """Return the argument of an option."""
    first = next(iter(owners.values()))
    keywords: dict[str, Any] = {"dest": _destination(name)}
    defaults: dict[str, list[str]] = {}
    for key, option in owners.items():
        defaults.setdefault(str(option.default), []).append(key)
    default = "; ".join(
        value if len(defaults) == 1 else f"{value} with {', '.join(keys)}"
        for value, keys in defaults.items()
    )
    placeholder = ""
    if _is_text(name):
        placeholder = " FILE"
    elif first.choices is not None:
        choices = (option.choices or () for option in owners.values())
        keywords["choices"] = [*dict.fromkeys(value for values in choices for value in values)]
    else:
        placeholder = " N"
        keywords["type"] = arguments.whole_number(min(option.minimum for option in owners.values()))
    words = f"{first.label} ({', '.join(owners)}). {first.help}"
    if default:
        words += f" (default: {default})"
    return arguments.argument(_flag(name) + placeholder, help=words.replace("%", "%%"), **keywords)


SIZE = arguments.integer("--vocab-size N", 1), arguments.integer("--merges N")
"""The size of the vocabulary: one of these."""

ARGUMENTS = (
    arguments.texts("--special-token NAME"),
    *arguments.flags("--special-as-text"),
    arguments.PROGRESS,
    arguments.option("--algorithm", choices=TRAINERS, default="bpe"),
    arguments.group(
        "options of the algorithms",
        "Each names in parentheses the algorithms that have it.",
        *(_argument(name, owners) for name, owners in _owners().items()),
    ),
)
"""The algorithm and its options."""

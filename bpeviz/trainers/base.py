"""Declaration of a trainer: its options, their allowed values, and its on-screen texts."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from numbers import Integral
from reprlib import repr as short_repr
from typing import Any, Literal

from bpeviz.cached_property import cached_property
from bpeviz.core.special_names import without_names
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents
from bpeviz.pretokenizers.counts import PreTokenCounts
from bpeviz.pretokenizers.pretokenizer import UNKNOWN
from bpeviz.text import clean_each
from bpeviz.trainers.screen_texts import ScreenTexts

Corpus = str | Documents | Mapping[str, int]
"""The input of training: a text, documents, or pre-tokens or texts with their counts."""

_MOST_CHARACTERS = 2**60
"""The limit of the characters of a counted text, so that sums over its bytes fit into 64 bits."""


def texts_of_corpus(corpus: Corpus) -> Mapping[str, int]:
    """Return the texts of a corpus with their counts.

    Raises:
        ValueError: A pre-token or a count is not valid.
    """
    if isinstance(corpus, str):
        return {corpus: 1}
    if isinstance(corpus, Documents):
        return Counter(filter(None, clean_each(corpus.texts)))
    size = 0
    for text, count in corpus.items():
        if not (isinstance(text, str) and text):
            raise ValueError(
                f"A pre-token must be a text that is not empty, not {short_repr(text)}."
            )
        if not is_whole(count, 1):
            raise ValueError(
                f"The count of {short_repr(text)} must be a whole number of 1 or more, not "
                f"{short_repr(count)}."
            )
        size += len(text) * int(count)
    if size >= _MOST_CHARACTERS:
        raise ValueError("These counts are too large: together they must be below 2^60.")
    return corpus


def split_corpus(corpus: Corpus, names: tuple[str, ...]) -> Corpus:
    """Return a corpus that is split at names; counted pre-tokens are already split."""
    if not names:
        return corpus
    if isinstance(corpus, Documents):
        labels = corpus.labels or [""] * len(corpus)
        parts = [
            (part, label)
            for text, label in zip(corpus.texts, labels, strict=True)
            for part in without_names(text, names)
        ]
        texts = tuple(part for part, _ in parts)
        return Documents(texts, tuple(label for _, label in parts) if corpus.labels else ())
    if isinstance(corpus, PreTokenCounts):
        return corpus
    return _without_names(texts_of_corpus(corpus), names)


def _without_names(texts: Mapping[str, int], names: tuple[str, ...]) -> Mapping[str, int]:
    """Return the parts of texts between names, with their counts."""
    counts: Counter[str] = Counter()
    for text, count in texts.items():
        for part in without_names(text, names):
            counts[part] += count
    return counts


@contextmanager
def collector_off() -> Iterator[None]:
    """Disable garbage collection: a trainer makes many small objects and no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True)
class Option:
    """Declaration of an option of a trainer: a choice, a text or a whole number.

    A field of the trainer's `Options` contains it. The command line, the links and the pages read
    it there, and `check` is the only check of a value.

    Attributes:
        label: Label on the pages.
        help: Explanation on the pages and in the command line's help.
        default: Value if the option is not given.
        choices: Labels of the allowed values by value; None unless the option is a choice.
        minimum: Smallest number.
        maximum: Largest number, if there is one.
        needs: Another option and the value it must have; otherwise this option has no effect, and
            only its default is allowed.
        initial: Value at first on the pages, if it differs from `default`.
        sample: Key of the sample text at first on the pages; None unless the option is a text.
        objects: Type of the objects that are allowed besides, in Python only.
        name: Name of the field, which `Trainer.options` sets.
    """

    label: str
    help: str
    default: str | int
    choices: Mapping[str, str] | None = None
    minimum: int = 1
    maximum: int | None = None
    needs: tuple[str, str] | None = None
    initial: str | int | None = None
    sample: str | None = None
    objects: type | None = None
    name: str = ""

    def field(self, *, unset: Any = MISSING, **replaced: Any) -> Any:
        """Return a field of a dataclass that contains this declaration, with changes.

        Args:
            unset: Value of the field that no user can give, in place of the option's default.
            **replaced: Attributes of the declaration to replace.
        """
        option = replace(self, **replaced)
        default = option.default if unset is MISSING else unset
        return field(default=default, metadata={"option": option})

    @property
    def kind(self) -> Literal["choice", "text", "number"]:
        """The kind of the option's values."""
        if self.choices is not None:
            return "choice"
        return "number" if self.sample is None else "text"

    @property
    def at_first(self) -> str | int:
        """Value at first on the pages."""
        return self.default if self.initial is None else self.initial

    def applies(self, values: Mapping[str, object]) -> bool:
        """Return whether the option has an effect beside these values of the other options."""
        return self.needs is None or values.get(self.needs[0]) == self.needs[1]

    def check(self, value: object, name: str | None = None) -> None:
        """Check a value.

        Args:
            value: The value of the option.
            name: Name of the option in the error message.

        Raises:
            ValueError: The value is not allowed. The message names the allowed values.
        """
        if self.choices is not None:
            is_allowed = isinstance(value, str) and value in self.choices
            allowed = f"one of {', '.join(self.choices)}"
        elif self.sample is not None:
            is_allowed, allowed = isinstance(value, str), "a text"
        else:
            most = self.maximum
            is_allowed = is_whole(value, self.minimum, most)
            limits = (
                f"of {self.minimum} or more" if most is None else f"from {self.minimum} to {most}"
            )
            allowed = f"a whole number {limits}"
        if not is_allowed and not (self.objects and isinstance(value, self.objects)):
            raise ValueError(
                f"The option {name or self.name} must be {allowed}, not {short_repr(value)}."
            )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of every trainer. A trainer's own options are fields of a subclass.

    Attributes:
        vocab_size: Largest vocabulary, without special tokens.
        merges: Number of merges, instead of `vocab_size`.
        pattern: Pre-tokenization.
        expression: Regular expression or word list, if the pattern takes one.
        special_tokens: Names that get the ids after all others.
        split_at: Names at which texts are split; set by the trainer's call.
    """

    vocab_size: int | None = None
    merges: int | None = None
    pattern: str = "gpt2"
    expression: str = ""
    special_tokens: tuple[str, ...] = ()
    split_at: tuple[str, ...] = ()


_COMMON = {common.name for common in fields(Options)} - {"split_at"}


@dataclass(frozen=True)
class Trainer:
    """Declaration of a trainer, an entry of the registry.

    Attributes:
        key: Name in Python, on the command line and in links.
        title: Full name on the pages.
        short: Name where space is short.
        rule: What training does, as half a sentence that follows the title.
        gist: The same in some words, for lists.
        about: One or two sentences about the algorithm.
        source: The publication that the trainer follows.
        train: Trains on a corpus with options that `__call__` has checked.
        declares: The class of these options, whose own fields are in the order of the pages.
        largest: Name of the argument with the largest size that a training passes through.
        largest_title: Label of this argument on the pages.
        prunes: Whether training starts with many pieces and prunes them. Then `vocab_size` may be
            left out, and there is no `merges`.
        splits_itself: Whether it looks for texts in a text, and then splits each with
            `split_corpus` at the names in `split_at`.
        reserved: Its own special tokens, if it works over characters. No other has their names.
        names_of: Returns its special tokens that depend on its options.
        texts: On-screen texts about its trainings.
        saved: The classes of its own that bpeviz's files contain, each with a kind: tokenizers, and
            parts of them such as pre-tokenizers.
    """

    key: str
    title: str
    short: str
    rule: str
    gist: str
    about: str
    source: str
    train: Callable[[Corpus, Any], Training]
    declares: type[Options] = Options
    largest: str = "vocab_size"
    largest_title: str = "Largest vocabulary"
    prunes: bool = False
    splits_itself: bool = False
    reserved: tuple[str, ...] = (UNKNOWN,)
    names_of: Callable[[Mapping[str, object]], tuple[str, ...]] = lambda _: ()
    texts: ScreenTexts = field(default_factory=ScreenTexts)
    saved: tuple[type[Any], ...] = ()

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The declared options, in the order of the pages."""
        declared = [own for own in fields(self.declares) if "option" in own.metadata]
        return tuple(replace(own.metadata["option"], name=own.name) for own in declared)

    def __call__(
        self, corpus: Corpus, *, split_at_special: bool = True, **arguments: Any
    ) -> Training:
        """Check the arguments, then train (see `bpeviz.train`).

        Raises:
            ValueError: An argument makes no sense. The message is a sentence for the user.
        """
        if not isinstance(corpus, str | Documents | Mapping):
            raise ValueError(f"Give a text or a mapping of counts, not {short_repr(corpus)}.")
        common = {name: arguments.pop(name) for name in _COMMON & {*arguments}}
        self.validate(arguments)
        options = self.declares(**common, **arguments)
        self._check_size(options.vocab_size, options.merges)
        names = self._checked_names(options.special_tokens)
        split_at = (*self.own_names(vars(options)), *names) if split_at_special else ()
        options = replace(options, special_tokens=names, split_at=split_at)
        with collector_off():
            is_whole = isinstance(corpus, str) and self.splits_itself
            training = self.train(corpus if is_whole else split_corpus(corpus, split_at), options)
        return replace(training, split_at=split_at) if split_at else training

    def own_names(self, options: Mapping[str, object]) -> tuple[str, ...]:
        """Return the trainer's own special tokens, at which it splits texts as at given ones."""
        over_bytes = "bytes" in (options.get("atoms"), options.get("unknown"))
        return (*(() if over_bytes else self.reserved), *self.names_of(options))

    def validate(self, options: Mapping[str, object]) -> None:
        """Check options, given by name.

        Raises:
            ValueError: An option does not exist, has a value that is not allowed, or has no effect
                beside the others.
        """
        declared = {option.name: option for option in self.options}
        if unknown := sorted({*options} - {*declared}):
            known = f"It has: {', '.join(sorted(declared))}." if declared else "It has none."
            raise ValueError(f"{self.title} has no option {', '.join(unknown)}. {known}")
        for name, value in options.items():
            declared[name].check(value)
        values = {name: option.default for name, option in declared.items()} | dict(options)
        for option in self.options:
            if not option.applies(values) and values[option.name] != option.default:
                needed, value = option.needs or ("", "")
                raise ValueError(f"The option {option.name} needs {needed}={value}.")

    def _check_size(self, vocab_size: object, merges: object) -> None:
        """Raise `ValueError` unless one size is given (or none, if this trainer prunes)."""
        if self.prunes and merges is not None:
            raise ValueError(f"{self.title} does not merge: give vocab_size instead of merges.")
        if not self.prunes and (vocab_size is None) == (merges is None):
            raise ValueError("Give either vocab_size or merges.")
        for name, value in (("vocab_size", vocab_size), ("merges", merges)):
            if value is not None and not is_whole(value, 0):
                raise ValueError(
                    f"The argument {name} must be a whole number of 0 or more, not "
                    f"{short_repr(value)}."
                )

    def _checked_names(self, special_tokens: Any) -> tuple[str, ...]:
        """Return the names of special tokens. Raises `ValueError` unless they differ."""
        is_single = isinstance(special_tokens, str) or not isinstance(special_tokens, Iterable)
        names: tuple[str, ...] = () if is_single else tuple(special_tokens)
        if is_single or not all(isinstance(name, str) for name in names):
            raise ValueError(
                "Give special tokens as a tuple of names, such as ('<s>',), not "
                f"{short_repr(special_tokens)}."
            )
        if len({*names}) < len(names) or {"", *self.reserved} & {*names}:
            others = f", and differ from {', '.join(self.reserved)}" if self.reserved else ""
            raise ValueError(f"Special tokens must differ, not be empty{others}.")
        return names


def is_whole(value: object, minimum: int, maximum: int | None = None) -> bool:
    """Return whether a value is a whole number, and not below or above the limits."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return minimum <= int(value) and (maximum is None or int(value) <= maximum)

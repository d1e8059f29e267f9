"""Settings by name in an address, such as `/?text=banana&size=260`, which anybody can type.

Names are those of packed links, or short ones. Values are texts, which widgets take as values of
their types (`meanings`). A size has the meaning of `vocab_size` in `bpeviz.train`: options that are
not named have the defaults of the library, so that it is reached where it can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from bpeviz.text import clean
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs.text import OWN_TEXT, TEXT, THIS_TEXT, TRAIN_ON
from bpeviz.ui.inputs.training import ALGORITHM, LARGEST_SIZE, MORE
from bpeviz.ui.inputs.vocabulary_size import LARGEST, SIZE
from bpeviz.ui.permalink import codec
from bpeviz.ui.permalink.codec import LinkError, Value
from bpeviz.ui.tokenizers import OWN

PACKED, STEP = "s", "step"
"""The parameters of an address with all values, packed, and with the step."""

NOT_SETTINGS = frozenset((PACKED, STEP, "tour", "chapter", "teacher", "large", "ticket", "reload"))
"""The parameters of an address that have other effects than a setting."""

TYPED = "typed"
"""The name of a value that marks packed settings as typed."""

WITH, COMPARED = "with", "compared"
"""The short name of the tokenizers of Compare beside the user's own, and the name of all."""

SHORT = {
    "text": TEXT.box.link,
    "sample": TEXT.sample.link,
    "train_on": TRAIN_ON.sample.link,
    WITH: COMPARED,
}
"""The short names that differ from those in links. A page may have others (`Page.short`)."""

UNCHANGED: Mapping[str, Value] = {
    TRAIN_ON.sample.link: THIS_TEXT,
    "search": "",
    "token_ids": False,
    "decimal": False,
    "how_many_texts": "one",
    "closer": "grid",
}
"""Values at first that packed links contain, and written settings leave out."""

TYPED_CHARACTERS = 2_000
"""The most characters of a typed value."""

MAX_WRITTEN = 300
"""The most characters of settings that are written by name; longer ones are packed."""

_BOX, _SAMPLE = "_box", "_sample"


def settings(query: Iterable[tuple[str, str]]) -> dict[str, Value]:
    """Return the settings in an address; the value of a name that is given twice is a list.

    Raises:
        LinkError: There are too many.
    """
    given: dict[str, list[str]] = {}
    for name, value in query:
        if name not in NOT_SETTINGS:
            given.setdefault(clean(name), []).append(clean(value))
    if len(given) > codec.MAX_LINK_VALUES:
        raise LinkError(
            f"This address has {len(given):,} names, so it was ignored; the limit is "
            f"{codec.MAX_LINK_VALUES:,}. Remove some."
        )
    return {name: values if len(values) > 1 else values[0] for name, values in given.items()}


def with_settings(link: str) -> str:
    """Return an address whose settings, such as `sample=banana`, are packed as in a link."""
    parts = urlsplit(link)
    query = parse_qsl(parts.query, keep_blank_values=True)
    others = {name: value for name, value in query if name in NOT_SETTINGS}
    if PACKED not in others and (values := settings(query)):
        others[PACKED] = codec.pack(values | {TYPED: True})
    return f"{parts.path}?{urlencode(others)}"


def expand(
    typed: Mapping[str, Value], short: Mapping[str, str]
) -> tuple[dict[str, Value], dict[str, str], list[str]]:
    """Return typed settings under their names in links.

    Args:
        typed: The settings.
        short: The short names of the page, beside those of all pages.

    Returns:
        The values; how messages name them; and the names of those that are too long.
    """
    values: dict[str, Value] = {}
    names: dict[str, str] = {}
    too_long: list[str] = []
    for name, value in typed.items():
        link = {**SHORT, **short}.get(name, name)
        if not isinstance(value, str):
            values[f"{name} (given twice)"] = value  # no widget has this name
        elif len(value) > TYPED_CHARACTERS:
            too_long.append(name)
        elif link in values or (link == SIZE.link and not _is_size(value)):
            values[f"{name}={value}"] = value
        else:
            values[link] = f"{OWN},{value}" if name == WITH else value
            names[link] = f"{name}={value}"
    for link in [*values]:
        if link.endswith(_BOX):
            sample = f"{link.removesuffix(_BOX)}{_SAMPLE}"
            values.setdefault(sample, OWN_TEXT)
            names.setdefault(sample, names[link])
    if isinstance(size := values.get(SIZE.link), str):
        trainer = _trainer(values)
        reach = _first_options(values, "default") | {ALGORITHM.link: trainer, MORE.link: False}
        if int(size) > LARGEST:
            reach[LARGEST_SIZE.link] = size
        names = dict.fromkeys(reach, names[SIZE.link]) | names
        values = reach | values
    return values, names, too_long


def meanings(value: Value) -> Iterator[Value]:
    """Yield a value, and for a text the values of other types that it may stand for."""
    yield value
    if not isinstance(value, str):
        return
    if re.fullmatch("-?[0-9]{1,16}", value, re.ASCII):
        yield int(value)
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value, re.ASCII):
        yield float(value)
    if value in ("true", "false"):
        yield value == "true"
    yield [*dict.fromkeys(key for part in value.split(",") if (key := part.strip()))]


def written(values: Mapping[str, Value], short: Mapping[str, str]) -> str:
    """Return the values of a link by name, as a query, or "" where they are too long for that.

    Args:
        values: The values, by their names in links.
        short: The short names of the page, beside those of all pages.
    """
    shorter = {link: name for name, link in {**SHORT, **short}.items()}
    first = _first_options(values, "at_first") if SIZE.link in values else {}
    unchanged = {**UNCHANGED, **_first_options(values, "default")} if first else UNCHANGED
    query: dict[str, str] = {}
    for link, value in (first | dict(values)).items():
        is_implied = link.endswith(_SAMPLE) and f"{link.removesuffix(_SAMPLE)}{_BOX}" in values
        if is_implied or unchanged.get(link) == value:
            continue
        name = shorter.get(link, link)
        if name == WITH and isinstance(value, list):
            name, value = (name, value[1:]) if value[:1] == [OWN] else (link, value)
        text = ",".join(value) if isinstance(value, list) else str(value)
        query[name] = text.lower() if isinstance(value, bool) else text
    order = ("text", "sample", "train_on", ALGORITHM.link, SIZE.link)
    named = sorted(query.items(), key=lambda pair: [pair[0] != name for name in order])
    written = urlencode(named, quote_via=quote)
    if len(written) > MAX_WRITTEN or len(query) > codec.MAX_LINK_VALUES:
        return ""
    restored, _, _ = expand(settings(named), short)
    is_same = all(
        value in meanings(restored.get(link, UNCHANGED.get(link, "")))
        for link, value in values.items()
    )
    return written if is_same else ""


def _is_size(text: str) -> bool:
    return any(map(LARGEST_SIZE.allows, meanings(text)))


def _first_options(values: Mapping[str, Value], which: str) -> dict[str, Value]:
    """Return the options of the algorithm that pages at first give other values than the library.

    Args:
        values: The values of a link.
        which: The value: "default", that of the library, or "at_first", that of the pages.
    """
    trainer = TRAINERS[_trainer(values)]
    options = [option for option in trainer.options if option.at_first != option.default]
    return {f"{trainer.key}_{option.name}": getattr(option, which) for option in options}


def _trainer(values: Mapping[str, Value]) -> str:
    """Return the key of the algorithm that a link names, or of the first one."""
    key = values.get(ALGORITHM.link)
    return key if isinstance(key, str) and key in TRAINERS else next(iter(TRAINERS))

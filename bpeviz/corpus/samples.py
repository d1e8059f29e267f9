"""The sample texts, each with its title.

The texts are files in the folder `sample_texts` of the app. Only a key in `SAMPLES` is used as a
file name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from bpeviz.installation import app_file

SAMPLES_FOLDER: Final = app_file("sample_texts")


@dataclass(frozen=True)
class Sample:
    """A sample text.

    Attributes:
        key: The name of its file; links contain it.
        title: Its title on the pages.
        shows: The property of the text that makes it worth a look, in a few words.
    """

    key: str
    title: str
    shows: str

    @property
    def text(self) -> str:
        """The whole text of the file."""
        return _read(self.key)


GROUPS: Final[Mapping[str, tuple[Sample, ...]]] = {
    "First steps": (
        Sample("seashells", "She sells seashells", "words that return"),
        Sample("old-cat", "Old cat, cold cat", "whole words soon"),
        Sample("banana", "banana bandana banana", "pieces in pieces"),
        Sample("low-lower-newest-widest", "low lower newest widest", "endings"),
        Sample("hug-pug-pun-bun-hugs", "hug pug pun bun hugs", "rhymes"),
        Sample("quick-brown-fox", "The quick brown fox", "one pair repeats"),
    ),
    "Languages": (
        Sample("english-prose", "English prose", "everyday words"),
        Sample("spanish", "Spanish", "accents"),
        Sample("don-quijote", "Don Quijote", "one Spanish sentence"),
        Sample("russian", "Russian", "two bytes a letter"),
        Sample("chinese-japanese", "Chinese and Japanese", "no spaces"),
        Sample("yao-ming", "姚明进入总决赛", "where do words end?"),
        Sample("several-languages", "One day", "three languages"),
        Sample("arabic-hindi", "Arabic and Hindi", "both directions"),
    ),
    "Code, signs and numbers": (
        Sample("source-code", "Source code", "indentation"),
        Sample("emoji-and-unicode", "Emoji and odd Unicode", "many bytes each"),
        Sample("numbers-and-tables", "Numbers and tables", "digits"),
    ),
    "Puzzles": (
        Sample("strawberry", "How many r’s in strawberry?", "letters"),
        Sample("which-is-larger", "9.11 or 9.9?", "decimal numbers"),
        Sample("date", "One date, three ways", "years"),
        Sample("long-number", "A long number", "groups of digits"),
        Sample("capitals", "TOKENIZATION", "words in capitals"),
        Sample("trailing-spaces", "Trailing spaces", "spaces as tokens"),
    ),
}
"""The samples, in the groups of the list on the pages."""

SAMPLES: Final = tuple(sample for group in GROUPS.values() for sample in group)


def by_key(key: str) -> Sample:
    """Return the sample with this key. Raises `KeyError` for others."""
    return {sample.key: sample for sample in SAMPLES}[key]


# fmt: off
LANGUAGES: Final = (
    "english", "spanish", "portuguese", "french", "german", "italian", "dutch", "polish", "czech",
    "russian", "ukrainian", "greek", "turkish", "finnish", "hungarian", "swahili", "yoruba",
    "amharic", "arabic", "hebrew", "persian", "hindi", "bengali", "tamil", "telugu", "thai",
    "burmese", "georgian", "armenian", "vietnamese", "indonesian", "korean", "japanese",
    "chinese",
)
# fmt: on
"""The languages of the passage in `sample_texts/languages`, as its files are named."""


def languages() -> str:
    """Return a passage in many languages, in parallel lines, each after a line `# Language`."""
    return "\n".join(f"# {key.capitalize()}\n{_read(f'languages/{key}')}" for key in LANGUAGES)


@lru_cache
def passages() -> str:
    """Return the passage in all languages, without their names: a text to train on."""
    return "\n".join(_read(f"languages/{key}") for key in LANGUAGES)


@lru_cache
def _read(key: str) -> str:
    """Return the contents of a file, without the ending of its name."""
    return (SAMPLES_FOLDER / f"{key}.txt").read_text(encoding="utf-8")


def written_out(listed: str, most: int) -> str:
    """Repeat each word as often as its count, one line for each word.

    Args:
        listed: A word and its count on each line ("low 5"); empty lines are skipped.
        most: The largest number of characters of the result.

    Raises:
        ValueError: A line is not a word and its count, or the result is too long.

    >>> print(written_out("low 2" + chr(10) + "new 1", 100), end="")
    low low
    new
    """
    lines: list[str] = []
    size = 0
    for number, line in enumerate(listed.splitlines(), 1):
        if not line.strip():
            continue
        word, count = line.split() if len(line.split()) == 2 else ("", "")
        if not word or not (count.isascii() and count.isdigit()):
            raise ValueError(
                f"Line {number} is not a word and its count, such as “low 5”. Change it, or switch "
                "off “The text is a list of words with counts”."
            )
        if len(count) > 9 or not int(count):
            raise ValueError(f"The count on line {number} must be between 1 and 999,999,999.")
        size += int(count) * (len(word) + 1)
        if size > most:
            raise ValueError(
                f"Repeated by their counts, these words have more than {most:,} characters up to "
                f"line {number}. Divide all counts by the same number."
            )
        lines.append(" ".join([word] * int(count)) + "\n")
    return "".join(lines)

"""The sample texts, each with a short description.

The texts are files in the top-level `sample_texts` folder. Only a key in `SAMPLES` is used as a
file name.
"""

import reprlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

SAMPLES_FOLDER: Final = Path(__file__).resolve().parents[2] / "sample_texts"


@dataclass(frozen=True)
class Sample:
    """A sample text.

    Attributes:
        key: The name of its file.
        title: Its title on the pages.
        about: A note on its interesting parts.
        repeats: Whether pairs repeat in it. One without is only for pre-tokenization.
    """

    key: str
    title: str
    about: str
    repeats: bool = True

    @property
    def text(self) -> str:
        """The whole text of the file."""
        return _read(by_key(self.key).key)


SAMPLES: Final[tuple[Sample, ...]] = (
    Sample(
        key="old-cat",
        title="Old cat, cold cat",
        about=(
            "Small enough to follow every merge by eye. Look for old, which becomes a token before "
            "cold does."
        ),
    ),
    Sample(
        key="banana",
        title="banana bandana banana",
        about="Four merges. The count of a pair includes overlapping ones, as in anana.",
    ),
    Sample(
        key="low-lower-newest-widest",
        title="low lower newest widest",
        about=(
            "The example of Sennrich, Haddow and Birch (2016): low 5 times, lower 2, newest 6 and "
            "widest 3. The first merges are es and est."
        ),
    ),
    Sample(
        key="english-prose",
        title="English prose",
        about=(
            "The same stems recur with new endings: low, lower, lowest; bakes, baked, baking, "
            "baker, bakery. Look for the pieces they share."
        ),
    ),
    Sample(
        key="spanish",
        title="Spanish",
        about=(
            "Accented letters, ñ, ¿ and ¡ take two bytes each in UTF-8. Look for the endings "
            "-ando and -iendo."
        ),
    ),
    Sample(
        key="don-quijote",
        title="Don Quijote, first sentence",
        about="Cervantes (1605). Few words repeat, so merges find short pieces: ·de, ·no, ·qu.",
    ),
    Sample(
        key="russian",
        title="Russian",
        about=(
            "Every Cyrillic letter takes two bytes in UTF-8. Look for снег, яблок and садовник, "
            "which recur with different endings."
        ),
    ),
    Sample(
        key="chinese-japanese",
        title="Chinese and Japanese",
        about=(
            "There are no spaces between words, and every character takes three bytes in UTF-8. "
            "Look for 茶馆, 喝茶 and 図書館."
        ),
    ),
    Sample(
        key="several-languages",
        title="One day in three languages",
        about=(
            "The same market in English, Spanish and Swahili, separated by lines of three dashes. "
            "As in most corpora, English is longest and Swahili shortest."
        ),
    ),
    Sample(
        key="source-code",
        title="Source code",
        about=(
            "Some Python and a little SQL. Look for the indentation, the triple quotation marks "
            "and repeated names such as order and price."
        ),
    ),
    Sample(
        key="emoji-and-unicode",
        title="Emoji and odd Unicode",
        about=(
            "One visible character can be several code points, and one code point up to four "
            "bytes. Look at the families, the flags and the two spellings of é."
        ),
    ),
    Sample(
        key="arabic-hindi",
        title="Arabic and Hindi",
        about=(
            "Arabic letters take two bytes each in UTF-8, Devanagari signs three. Look for the "
            "Arabic words built on كتب and the Hindi ending ते हैं."
        ),
    ),
    Sample(
        key="numbers-and-tables",
        title="Numbers and tables",
        about=(
            "Prices, dates, hexadecimal and a table. Compare how each pattern splits a run of "
            "digits or a run of spaces."
        ),
    ),
    Sample(
        key="quick-brown-fox",
        title="The quick brown fox",
        about="Every letter of English. Look at the spaces: most patterns attach them to a word.",
        repeats=False,
    ),
    Sample(
        key="yao-ming",
        title="姚明进入总决赛",
        about="A sentence without spaces: patterns for white space leave it whole.",
        repeats=False,
    ),
)


def by_key(key: str) -> Sample:
    """Return the sample with this key, or raise a KeyError with the known keys."""
    for sample in SAMPLES:
        if sample.key == key:
            return sample
    known = ", ".join(sample.key for sample in SAMPLES)
    raise KeyError(
        f"There is no sample text called {reprlib.repr(key)}. Available sample texts: {known}."
    )


@lru_cache
def _read(key: str) -> str:
    """Return the contents of the file of a key of `SAMPLES`."""
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

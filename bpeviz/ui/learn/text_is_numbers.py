"""Chapter: characters, code points and bytes."""

from __future__ import annotations

import regex

from bpeviz.text import character_stand_in, counted
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import (
    AnswerOption,
    Chapter,
    Judgment,
    Mistake,
    NoQuestionError,
    PageLink,
    Picture,
    PictureRow,
    Question,
    Setup,
    Why,
    compared,
)
from bpeviz.ui.learn.forms import MessagePart, NumberForm, token

MOST_BYTES = 40
"""The most bytes of a symbol that the question allows: families of emoji have 25."""

ROWS = 40

RANGES = PictureRow(
    "Bytes in UTF-8",
    [["up to 127: 1"], ["up to 2,047: 2"], ["up to 65,535: 3"], ["above: 4"]],
)

KEY = "text-is-numbers"


def last_symbol(setup: Setup) -> str:
    """Return the last symbol (grapheme cluster) of a text. Raises `NoQuestionError`."""
    symbols = regex.findall(r"\X", setup["text"])
    if not symbols:
        raise NoQuestionError("There is no text. Type at least one symbol.")
    if len(symbols[-1].encode()) > MOST_BYTES:
        raise NoQuestionError("The last symbol of this text is very long. Type another one.")
    return str(symbols[-1])


def _symbol(setup: Setup) -> Question:
    symbol = last_symbol(setup)
    stand_in = token("".join(map(character_stand_in, symbol)))

    def judge(given: int | None) -> Judgment:
        raw = symbol.encode()
        points = ", ".join(f"{ord(point):,} (U+{ord(point):04X})" for point in symbol)
        number = counted(len(symbol), "code point")
        message: list[MessagePart] = [
            stand_in,
            f" is {number}: {points}. In UTF-8 that is ",
            f"{counted(len(raw), 'byte')}: {' '.join(map(str, raw))}.",
        ]
        return Judgment(compared(given, len(raw)), message, {"right": len(raw)})

    def mistakes() -> list[Mistake]:
        number, text = counted(len(symbol), "code point"), setup["text"]
        digits = sum(len(str(ord(point))) for point in symbol)
        pairs = len(symbol.encode("utf-16-le")) // 2
        return [
            Mistake(len(symbol), [f"It is {number}, but a code point can take several bytes."]),
            Mistake(pairs, [f"{pairs:,} is how many units UTF-16 needs, another encoding."]),
            Mistake(digits, [f"{digits:,} is how many digits you see in the code point."]),
            Mistake(len(text), [f"{len(text):,} is how many characters the whole text has."]),
        ]

    points = [[f"{ord(point):,}"] for point in symbol]
    see = [
        engine.text_row(setup["text"]),
        PictureRow("Code points of the last symbol", points),
        RANGES,
    ]
    prompt: list[MessagePart] = ["How many bytes is the last symbol, ", stand_in, ", in UTF-8?"]
    hint = "Find the range of each code point, and its number of bytes."
    return Question(prompt, NumberForm(1, MOST_BYTES, "bytes"), judge, mistakes, hint, see)


def _whole(setup: Setup) -> Question:
    text = setup["text"]
    last_symbol(setup)

    def judge(given: int | None) -> Judgment:
        size = len(text.encode())
        more = sum(len(character.encode()) > 1 for character in text)
        some = f"{more:,}" if more else "none"
        message = (
            f"{counted(len(text), 'code point')} in {counted(size, 'byte')}. Of the code points, "
            f"{some} {'take' if more > 1 else 'takes'} more than one byte."
        )
        return Judgment(compared(given, size), [message], {"right": size})

    def mistakes() -> list[Mistake]:
        letters = "".join(text.split())
        return [
            Mistake(len(text), ["You counted characters: some of them are several bytes."]),
            Mistake(len(letters.encode()), ["You left out the spaces: each of them is a byte."]),
            Mistake(len(letters), ["You counted characters, and left out the spaces."]),
            Mistake(4 * len(text), ["You gave each character four bytes: most need fewer."]),
            Mistake(2 * len(text), ["You gave each character two bytes. They differ."]),
        ]

    prompt = f"The whole text has {counted(len(text), 'code point')}. How many bytes does it have?"
    hint = "Count each plain letter and each space as one byte. Then add the others."
    see = [engine.text_row(text)]
    return Question([prompt], NumberForm(0, 4 * len(text), "bytes"), judge, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    in_hex = setup["digits"] == "hexadecimal"
    rows = [
        [
            character_stand_in(character),
            f"U+{ord(character):04X}" if in_hex else str(ord(character)),
            character.encode().hex(" ").upper()
            if in_hex
            else " ".join(map(str, character.encode())),
        ]
        for character in setup["text"][:ROWS]
    ]
    tokenizer = engine.train("", merges=0).tokenizer()
    header = ["Character", "Code point", "Bytes in UTF-8"]
    about = f"The first {ROWS} characters." if len(setup["text"]) > ROWS else ""
    return [
        Picture("table", (header, rows), about),
        engine.grid(
            setup["text"],
            tokenizer,
            "Before any merge, every byte is a token. Code points are in hexadecimal here.",
            decimal=not in_hex,
        ),
    ]


def _target(setup: Setup) -> PageLink:
    return engine.inspect_page(setup["text"])


CHAPTER = Chapter(
    key=KEY,
    place=10,
    title="Text is numbers",
    core=True,
    lead="A model works with numbers, so text becomes numbers first. Each character has a number "
    "in Unicode, its code point. UTF-8 writes a code point as one to four bytes: a plain Latin "
    "letter or a space as one, others as more. A byte is a number from 0 to 255.",
    myth="One character is one byte.",
    fact="Only the 128 characters of ASCII, such as plain Latin letters, take one byte. Others "
    "take two to four, and one symbol on the screen can be several characters.",
    settings="UTF-8; nothing is trained here.",
    source="The Unicode Standard, chapter 3.9; RFC 3629.",
    inputs=(
        engine.text_input(KEY, "Hello World 😃", longest=200),
        engine.choice_input(
            KEY,
            "digits",
            "Numbers",
            {"decimal": "Decimal", "hexadecimal": "Hexadecimal"},
            asked=False,
        ),
    ),
    questions=(_symbol, _whole),
    names=("Bytes of a symbol", "Bytes of the whole text"),
    pictures=_pictures,
    why=Why(
        "Why do many tokenizers start from bytes instead of characters?",
        (
            AnswerOption(
                "known",
                "With 256 bytes, no text is ever unknown.",
                "Unicode has more than 150,000 characters, and more are added. With bytes, 256 "
                "entries are enough to write any of them.",
                right=True,
            ),
            AnswerOption(
                "shorter",
                "A text has fewer bytes than characters.",
                "The opposite is true: a text never has fewer bytes than characters.",
            ),
            AnswerOption(
                "meaning",
                "A byte has more meaning than a character.",
                "A single byte often means nothing: an accented letter needs two together.",
            ),
            AnswerOption(
                "english",
                "Computers can only store English letters.",
                "Computers store any character: UTF-8 writes each one as bytes.",
            ),
        ),
    ),
    target=_target,
    samples={
        "Accents": "señor, café",
        "Chinese": "姚明",
        "A flag": "Viva 🇪🇸",
        "A family": "👩‍👩‍👧",
    },
)

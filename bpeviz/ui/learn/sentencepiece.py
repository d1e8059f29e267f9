"""Chapter: SentencePiece, its mark for a space, and byte fallback."""

from __future__ import annotations

from bpeviz.core.training import MergeTraining
from bpeviz.text import counted
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import (
    AnswerOption,
    Chapter,
    Input,
    Judgment,
    Mistake,
    NoQuestionError,
    PageLink,
    Picture,
    PictureRow,
    Question,
    Setup,
    Why,
    chosen,
    compared,
)
from bpeviz.ui.learn.forms import MessagePart, NumberForm, token
from bpeviz.ui.learn.tours import LLAMA

KEY = "sentencepiece"
CORPUS = "El perro come 12 manzanas. La casa es grande."

UNKNOWN = {"bytes": "Byte fallback", "unk": "<unk>"}
DIGITS = {"no": "Together", "yes": "Split"}


def trained(setup: Setup, unknown: str, digits: str | None = None) -> MergeTraining:
    """Return the training history with byte fallback ("bytes") or without ("unk")."""
    if not setup["corpus"].strip():
        raise NoQuestionError("There is no training text. Type one.")
    return engine.merges_of(
        setup["corpus"],
        "sentencepiece",
        merges=setup["merges"],
        unknown=unknown,
        digits=setup["digits"] if digits is None else digits,
    )


def labels(setup: Setup, unknown: str) -> list[str]:
    """Return the labels of the tokens of the text."""
    return [part.label for part in trained(setup, unknown).tokenizer().tokens(setup["text"])]


def _marks(setup: Setup) -> Question:
    text = setup["spaced"]
    words = text.split()
    if len(words) < 2:
        raise NoQuestionError("Type at least two words with a space between them.")
    written = {
        "before": "▁" + "▁".join(words),
        "between": "▁".join(words),
        "all": "▁" + text.replace(" ", "▁"),
        "after": "▁".join(words) + "▁",
    }
    options = {
        key: marked
        for key, marked in written.items()
        if key == "before" or marked != written["before"]
    }

    def answer() -> tuple[str, list[MessagePart]]:
        lost = len(text) - len(" ".join(words))
        back = (
            "Every space comes back." if not lost else f"Of the spaces, {lost:,} do not come back."
        )
        if lost == 1:
            back = "One of the spaces does not come back."
        return "before", ["Decoding gives ", engine.quoted(" ".join(words)), f". {back}"]

    def mistakes() -> list[Mistake]:
        return [
            Mistake("between", ["The first word gets a mark, too: so it looks as it does later."]),
            Mistake("all", ["By default, several spaces become one before."]),
            Mistake("after", ["The mark stands before a word, not after it."]),
        ]

    prompt = (
        "By default, several spaces become one, and a space is put before the text. Then each "
        "space is written as ▁. Which of these is the result?"
    )
    hint = "Do one step after the other: fewer spaces, a space in front, then the marks."
    return chosen([prompt], options, answer, mistakes, hint, [engine.text_row(text)])


def _fallback(setup: Setup) -> Question:
    text = setup["text"]
    if not text:
        raise NoQuestionError("There is no text. Type a word.")
    training = trained(setup, "bytes")

    def judge(given: int | None) -> Judgment:
        texts = labels(setup, "bytes")
        message: list[MessagePart] = [f"{counted(len(texts), 'token')}: "]
        for text_of_token in texts:
            message += [token(text_of_token), " "]
        if bytes_found := [label for label in texts if label.startswith("<0x")]:
            message.append(f"{bytes_found[0]} is a byte, in hexadecimal.")
        return Judgment(compared(given, len(texts)), message, {"right": len(texts)})

    def mistakes() -> list[Mistake]:
        whole = len(trained({**setup, "merges": 0}, "bytes").tokenizer().encode(text))
        lost = sum(label.startswith("<0x") for label in labels(setup, "bytes"))
        return [
            Mistake(len(text), ["You counted characters. An unknown one becomes its bytes."]),
            Mistake(len(labels(setup, "unk")), ["That is without byte fallback."]),
            Mistake(whole, ["You left out the merges. One of them fits here."]),
            Mistake(
                lost, [f"{lost:,} is how many bytes are unknown. Count the known tokens, too."]
            ),
            Mistake(1, ["A word that training has not seen is rarely one token."]),
            Mistake(len(text.encode()), ["You counted bytes. Known characters stay whole."]),
        ]

    prompt: list[MessagePart] = [
        "A character that was not in the training text becomes its bytes, one token each. This is "
        "byte fallback. Put ▁ at the start of the word. How many tokens does ",
        engine.quoted(text),
        " become?",
    ]
    hint = "Which letter does not occur in the training text? How many bytes does it have?"
    see = [engine.text_row(setup["corpus"], "Training text")]
    if training.steps:
        colors = engine.hues((training, setup["corpus"]))
        names = [[engine.named(training, merge.new_id, colors)] for merge in training.merges[:30]]
        see.append(PictureRow("Tokens", names, numbered=True))
    form = NumberForm(1, 4 * len(text) + 1, "tokens")
    return Question(prompt, form, judge, mistakes, hint, see)


def _unknown(setup: Setup) -> Question:
    trained(setup, "unk")

    def decoded() -> tuple[bool, str]:
        tokenizer = trained(setup, "unk").tokenizer()
        ids = tokenizer.encode(setup["text"])
        return tokenizer.unknown_id in ids, tokenizer.decode(ids)

    def answer() -> tuple[str, list[MessagePart]]:
        lost, text = decoded()
        message: list[MessagePart] = []
        for label in labels(setup, "unk"):
            message += [token(label), " "]
        message[-1:] = [". Decoding gives ", engine.quoted(text), "."]
        return "lost" if lost else "kept", message

    def mistakes() -> list[Mistake]:
        return [
            Mistake("lost", ["Compare again: all characters are in the training text."]),
            Mistake("similar", ["A tokenizer never guesses: it has a character, or not."]),
            Mistake("kept", ["Compare each character with the training text: one is missing."]),
            Mistake("bytes", ["That would be byte fallback, which is off now."]),
        ]

    prompt: list[MessagePart] = [
        "Without byte fallback, what happens to ",
        engine.quoted(setup["text"]),
        "?",
    ]
    options = {
        "lost": "Its unknown characters are lost: they become <unk>.",
        "similar": "A character is replaced by the most similar one.",
        "kept": "Nothing is lost: the training text has all of them.",
        "bytes": "Its unknown characters are written as bytes.",
    }
    hint = "Look for each of its characters in the training text."
    see = [engine.text_row(setup["corpus"], "Training text")]
    return chosen(prompt, options, answer, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    rows = []
    for digits, how in DIGITS.items():
        tokenizer = trained(setup, setup["fallback"], digits).tokenizer()
        for text in dict.fromkeys((setup["text"], "12")):
            tokens = "  ".join(part.label for part in tokenizer.tokens(text))
            rows.append([how, text, tokens, tokenizer.decode(tokenizer.encode(text))])
    training = trained(setup, "bytes")
    about = (
        "In the text, · is a space; in a token it is ▁. When no pair of the text is left, bpeviz "
        "stops. The library goes on with pairs that no longer occur in the text until its "
        "vocabulary is full."
    )
    return [
        Picture("table", (["Digits", "Text", "Tokens", "Decoded"], rows)),
        engine.played(training, setup["corpus"], about),
    ]


def _target(setup: Setup) -> PageLink:
    training = trained(setup, setup["fallback"])
    return engine.train_page(
        setup,
        "Open this training in Train",
        int(training.sizes[-1]),
        "sentencepiece",
        text=setup["corpus"],
        unknown=setup["fallback"],
        digits=setup["digits"],
    )


def _claims() -> str:
    return (
        "LLaMA does not forbid tokens of spaces only. Llama 2 has one for each run of 2 to "
        f"{LLAMA['longest']} spaces."
    )


CHAPTER = Chapter(
    key=KEY,
    place=110,
    title="SentencePiece",
    core=False,
    lead="SentencePiece is a library. It writes a space as the visible mark ▁ and treats it like a "
    "letter, so it needs no rules about words. By default, ▁ is only at the start of a piece. It "
    "starts from characters, not bytes.",
    myth="A character is at most one token.",
    fact="With byte fallback, a rare character is several tokens, one for each byte. Without it, "
    "the character is lost. By default the library also changes the text: several spaces "
    "become one.",
    settings="SentencePiece's BPE over characters, without its normalization.",
    source="Kudo and Richardson, “SentencePiece: A simple and language independent subword "
    "tokenizer and detokenizer for Neural Text Processing”, 2018. github.com/google/sentencepiece.",
    inputs=(
        engine.text_input(KEY, "más", "Text to encode", 60),
        Input("corpus", engine.text_field(KEY, "corpus", "Training text"), CORPUS, lines=True),
        Input("spaced", engine.text_field(KEY, "spaced", "Text with spaces", 40), "la  casa"),
        engine.number_input(KEY, "merges", "Merges", 0, 60, 20),
        engine.choice_input(KEY, "digits", "Digits", DIGITS),
        engine.choice_input(KEY, "fallback", "Unknown characters", UNKNOWN, asked=False),
    ),
    questions=(_marks, _fallback, _unknown),
    names=("How spaces are written", "Byte fallback", "Without byte fallback"),
    pictures=_pictures,
    why=Why(
        "Why does SentencePiece write ▁ instead of leaving the spaces out?",
        (
            AnswerOption(
                "back",
                "Decoding can then put the spaces back.",
                "The tokens contain the spaces as ▁. Joining them and replacing ▁ gives the text "
                "with its spaces.",
                right=True,
            ),
            AnswerOption(
                "shorter",
                "The mark ▁ takes less room than a space.",
                "In UTF-8, ▁ takes three bytes, and a space one. Length is not the reason.",
            ),
            AnswerOption(
                "allowed",
                "Spaces are never allowed inside tokens.",
                "GPT-2 has tokens with spaces in them. Any character can be part of a token.",
            ),
            AnswerOption(
                "visible",
                "Models can only read signs they can see.",
                "A model sees ids only. For it, a space would do as well as ▁.",
            ),
        ),
    ),
    target=_target,
    samples={"perros": "perros", "Chinese": "姚明", "Two spaces": "la  casa"},
    claims=_claims,
)

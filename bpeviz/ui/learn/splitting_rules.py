"""Chapter: splitting a text by rules."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from bpeviz.analysis import pretokenization
from bpeviz.pretokenizers.patterns import (
    PATTERNS,
    WORD_LIST,
    SplitError,
    Unmatched,
    mark_unmatched,
    pretokenize,
)
from bpeviz.text import counted, label
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
    Verdict,
    Why,
    chosen,
)
from bpeviz.ui.learn.forms import BoundariesForm, MessagePart, token
from bpeviz.ui.pages import pretokenize as page
from bpeviz.views.pretokenization import score_payload

KEY = "splitting-rules"
WAYS = {
    "whitespace": "The spaces alone",
    "words": "Spaces and punctuation",
    "characters": "Single characters",
}
RULES = tuple(WAYS)
PEKING = "姚 明 进入 总 决赛"

SENTENCES = (
    ("3 + 5 * (10 - 2)", "arithmetic"),
    ("The quick brown fox jumps over the lazy dog", "whitespace"),
    ("That U.S.A. poster-print costs $12.40...", "nltk"),
)
"""Sentences, each with the rule made for it."""


def words_of(text: str, rule: str, words: str = "", *, spaces: bool = False) -> list[str]:
    """Return the pre-tokens of a text, white space only on request. Raises `NoQuestionError`."""
    try:
        return [part for part in pretokenize(text, rule, words) if spaces or not part.isspace()]
    except SplitError as error:
        raise NoQuestionError(str(error)) from error


def cuts(pieces: Iterable[str], text: str) -> list[int]:
    """Return the boundaries between pieces of a text that are not beside white space."""
    ends = [*accumulate(map(len, pieces))]
    return [end for end in ends if 0 < end < len(text) and end not in beside_spaces(text)]


def beside_spaces(text: str) -> list[int]:
    """Return the places of a text before and after its white space."""
    places = range(1, len(text))
    return [i for i in places if text[i - 1].isspace() or text[i].isspace()]


def _sentence(setup: Setup) -> Question:
    sentence = setup["sentence"]
    if len(sentence.strip()) < 2:
        raise NoQuestionError("There is no sentence. Type one.")

    def judge(given: list[int] | None) -> Judgment:
        parts = mark_unmatched(sentence, "nltk")
        right = cuts(parts, sentence)
        words = [part for part in parts if not isinstance(part, Unmatched)]
        message: list[MessagePart] = [f"{counted(len(words), 'token')}: "]
        for word in words:
            message += [token(label(word.encode())), " "]
        if len("".join("".join(words).split())) < len("".join(sentence.split())):
            message.append("The rule drops all other symbols.")
        verdict: Verdict = "shown" if given is None else "right" if given == right else "wrong"
        return Judgment(verdict, message, {"right": right, "colors": [-1] * (len(right) + 1)})

    def mistakes() -> list[Mistake]:
        def by(rule: str) -> list[int]:
            return cuts(words_of(sentence, rule, spaces=True), sentence)

        return [
            Mistake([], ["You cut at the spaces alone. The rule also cuts inside a part."]),
            Mistake(by("words"), ["That cuts at every punctuation mark. Read the rule again."]),
            Mistake(by("characters"), ["That cuts after every character: words stay whole."]),
            Mistake(by("gpt2"), ["That is GPT-2's rule: it cuts abbreviations and amounts."]),
        ]

    prompt = (
        "A rule keeps words with hyphens, abbreviations, amounts of money and the ellipsis whole. "
        "Any other punctuation mark stands alone. The spaces are cut already. Where else does the "
        "rule cut?"
    )
    hint = "Read each word between two spaces: is it one of the kinds that stay whole?"
    form = BoundariesForm(sentence, beside_spaces(sentence))
    return Question([prompt], form, judge, mistakes, hint)


def _rule(setup: Setup) -> Question:
    text = setup["text"]
    listed = words_of(text, WORD_LIST, setup["words"])
    if not listed:
        raise NoQuestionError("There is no text. Type one.")
    words = {*setup["words"].split()}
    if words.isdisjoint(listed):
        raise NoQuestionError("The list has no word of this text. Type one into “List of words”.")

    def found(rule: str) -> list[MessagePart]:
        pieces = words_of(text, rule)
        message: list[MessagePart] = [f"{counted(len(pieces), 'piece')}: "]
        for piece in pieces[:8]:
            message += [token(label(piece.encode())), " "]
        return message

    def answer() -> tuple[str, list[MessagePart]]:
        for rule in RULES:
            if words_of(text, rule) == listed:
                return rule, ["Here a rule agrees with the list: ", *found(rule)]
        message = ["No rule finds these words. “Spaces and punctuation”, for example, gives "]
        return "none", [*message, *found("words")]

    def mistakes() -> list[Mistake]:
        by_rule = [Mistake(rule, [f"{WAYS[rule]} give ", *found(rule)]) for rule in RULES]
        return [*by_rule, Mistake("none", ["Try each rule on this text: one gives these words."])]

    options = {
        "whitespace": "Cut at the spaces.",
        "words": "Cut at spaces and punctuation.",
        "characters": "Cut after every character.",
        "none": "None of them: it takes a list of words.",
    }
    hint = "Where are the spaces and the punctuation marks in this text?"
    see = [
        engine.text_row(text),
        PictureRow("Words of the list", [[token(label(word.encode()))] for word in listed[:12]]),
    ]
    alone = "" if words >= {*listed} else " Where no word fits, a character is alone."
    prompt = f"A list of words finds these words.{alone} Which rule finds them, too?"
    return chosen([prompt], options, answer, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    text = setup["text"]
    rules = [("White space", "whitespace", ""), ("Words and punctuation", "words", "")]
    rules.append(("Word list", WORD_LIST, setup["words"]))
    about = ""
    if any(word in text for word in PEKING.split()):
        rules.append(("Peking University", WORD_LIST, PEKING))
        about = "Two lists of words can disagree, and both can be right."
        if words_of(text, WORD_LIST, setup["words"]) == words_of(text, WORD_LIST, PEKING):
            about = "Here both lists agree."
    columns = [
        pretokenization.PreTokenizedColumn(
            title, "", pretokenization.pre_tokenize(text, rule, words)
        )
        for title, rule, words in rules
    ]
    sentence = setup["sentence"]
    ways = [
        pretokenization.PreTokenizedColumn(title, "", pretokenization.pre_tokenize(sentence, rule))
        for title, rule in (("White space", "whitespace"), ("Words and punctuation", "words"))
    ]
    cut = score_payload(ways, 0, len(sentence)) | {"unit": "piece"}
    rows = [
        [sentence, PATTERNS[rule].title, str(len(words_of(sentence, rule)))]
        for sentence, rule in SENTENCES
    ]
    data = score_payload(columns, 0, len(text)) | {"unit": "piece"}
    return [
        Picture("score", cut, "Two other rules cut your sentence otherwise."),
        Picture("score", data, about),
        Picture("table", (["Sentence", "Rule made for it", "Tokens by this rule"], rows)),
    ]


def _target(setup: Setup) -> PageLink:
    values = engine.text_values(setup["text"])
    values |= {page.SPLITS.link: ["whitespace", "words", page.LIST_A, page.LIST_B]}
    values |= {page.PUBLISHED[page.LIST_A].widget.link: setup["words"]}
    return PageLink(page.PAGE.path, "Open this text in Pre-tokenize", values)


CHAPTER = Chapter(
    key=KEY,
    place=20,
    title="Splitting by rules",
    core=False,
    lead="The oldest way to get tokens is a rule: split at white space, or at punctuation. A rule "
    "can be a regular expression, made for one kind of text.",
    myth="Tokens are the words between the spaces.",
    fact="Some languages, such as Chinese, write no spaces between words, so rules about spaces do "
    "not find their words. A list of words can, but lists disagree. A trained tokenizer needs no "
    "list.",
    settings="Rules alone; nothing is trained here.",
    source="Jurafsky and Martin, Speech and Language Processing, chapter 2; the lists follow the "
    "Chinese Treebank and Peking University. The rule of the first question is from NLTK's book.",
    inputs=(
        engine.text_input(KEY, "姚明进入总决赛", "Text without spaces", 200),
        Input("words", engine.text_field(KEY, "words", "List of words", 300), "姚明 进入 总决赛"),
        Input(
            "sentence",
            engine.text_field(KEY, "sentence", "Sentence", 200),
            "That U.S.A. poster-print costs $12.40...",
        ),
    ),
    questions=(_sentence, _rule),
    names=("A rule with exceptions", "A list of words"),
    pictures=_pictures,
    why=Why(
        "Why do language models not simply use a long list of words?",
        (
            AnswerOption(
                "complete",
                "No list has all words of all languages.",
                "A list must be made for each language, and new words are missing. Training gets "
                "its pieces from the text itself.",
                right=True,
            ),
            AnswerOption(
                "slow",
                "Searching a long list takes far too long.",
                "Searching a list is fast. But nobody can make a complete one.",
            ),
            AnswerOption(
                "exact",
                "Only a rule cuts a text without mistakes.",
                "Rules are exact, but they cannot find words that have no spaces between them.",
            ),
            AnswerOption(
                "memory",
                "A list of words needs too much memory.",
                "A million words take some ten megabytes: much less than a model.",
            ),
        ),
    ),
    target=_target,
    samples={
        "With spaces": {
            "text": "Yao Ming reaches the finals",
            "words": "Yao Ming reaches the finals",
        },
        "Japanese": {"text": "図書館でお茶を飲む", "words": "図書館 で お茶 を 飲む"},
    },
)

"""Chapter: splitting a text by rules."""

from __future__ import annotations

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
    NoQuestionError,
    Picture,
    Question,
    Result,
    Setup,
    Target,
    Verdict,
    Why,
    compared,
)
from bpeviz.ui.learn.forms import ChoiceForm, MessagePart, NumberForm, token
from bpeviz.ui.pages import pretokenize as page
from bpeviz.views.pretokenization import side_by_side

KEY = "splitting-rules"
RULES = ("whitespace", "words", "nltk", "gpt2", "characters")
PEKING = "姚 明 进入 总 决赛"

SENTENCES = (
    ("3 + 5 * (10 - 2)", "arithmetic"),
    ("The quick brown fox jumps over the lazy dog", "whitespace"),
    ("That U.S.A. poster-print costs $12.40...", "nltk"),
)
"""Sentences, each with the rule made for it."""


def words_of(text: str, rule: str, words: str = "") -> list[str]:
    """Return the pre-tokens of a text without white space. Raises `NoQuestionError`."""
    try:
        return [one for one in pretokenize(text, rule, words) if not one.isspace()]
    except SplitError as error:
        raise NoQuestionError(str(error)) from error


def _sentence(setup: Setup) -> Question:
    sentence = setup["sentence"]
    if not sentence.strip():
        raise NoQuestionError("There is no sentence. Type one.")

    def judge(given: int | None) -> Result:
        parts = mark_unmatched(sentence, "nltk")
        found = [one for one in parts if not isinstance(one, Unmatched)]
        message: list[MessagePart] = [f"{counted(len(found), 'token')}: "]
        for one in found:
            message += [token(label(one.encode())), " "]
        if len("".join("".join(found).split())) < len("".join(sentence.split())):
            message.append("The rule drops all other symbols.")
        return Result(compared(given, len(found)), message, {"right": len(found)})

    prompt: list[MessagePart] = [
        "A rule keeps words with hyphens, abbreviations, amounts of money and the ellipsis whole. "
        "Any other punctuation mark is a token of its own. How many tokens does ",
        engine.quoted(sentence),
        " become? White space does not count.",
    ]
    return Question(prompt, NumberForm(0, max(20, len(sentence)), "tokens"), judge)


def _rule(setup: Setup) -> Question:
    text = setup["text"]
    listed = words_of(text, WORD_LIST, setup["words"])
    if not listed:
        raise NoQuestionError("There is no text. Type one.")
    words = {*setup["words"].split()}
    if words.isdisjoint(listed):
        raise NoQuestionError("The list has no word of this text. Type one into “List of words”.")

    def judge(given: int | None) -> Result:
        right = [i for i, rule in enumerate(RULES) if words_of(text, rule) == listed]
        message: list[MessagePart] = []
        if right:
            message = ["Here a rule agrees with the list."]
        else:
            found = words_of(text, "words")
            message = [
                "No rule finds these words. The rule “Words and punctuation”, for example, gives "
                f"{counted(len(found), 'piece')}: "
            ]
            for one in found[:8]:
                message += [token(label(one.encode())), " "]
        right = right or [len(RULES)]
        verdict: Verdict = "shown" if given is None else "right" if given in right else "wrong"
        return Result(verdict, message, {"right": right})

    prompt: list[MessagePart] = [
        "In ",
        engine.quoted(text),
        ", a list of words finds these words: ",
    ]
    for one in listed[:12]:
        prompt += [token(label(one.encode())), " "]
    prompt[-1] = ". " if words >= {*listed} else ". Where no word fits, a character is alone. "
    options = [PATTERNS[rule].title for rule in RULES] + ["None of them: only a list of words does"]
    return Question([*prompt, "Which rule finds them?"], ChoiceForm(options), judge)


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
    rows = [
        [sentence, PATTERNS[rule].title, str(len(words_of(sentence, rule)))]
        for sentence, rule in SENTENCES
    ]
    data = side_by_side(columns, 0, len(text)) | {"unit": "piece", "isLarge": True}
    return [
        Picture("columns", data, about),
        Picture("table", (["Sentence", "Rule made for it", "Tokens by this rule"], rows)),
    ]


def _target(setup: Setup) -> Target:
    values = engine.text_values(setup["text"])
    values |= {page.SPLITS.link: ["whitespace", "words", page.LIST_A, page.LIST_B]}
    values |= {page.PUBLISHED[page.LIST_A].widget.link: setup["words"]}
    return Target(page.PAGE.path, "Open this text in Pre-tokenize", values)


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
    pictures=_pictures,
    why=Why(
        "Why do language models not simply use a long list of words?",
        (
            AnswerOption(
                "Lists differ, and none has all words of all languages.",
                "A list must be made for each language, and new words are missing. Training gets "
                "its pieces from the text itself.",
                right=True,
            ),
            AnswerOption(
                "A list is too slow to search.",
                "Searching a list is fast. But nobody can make a complete one.",
            ),
            AnswerOption(
                "Only rules are exact.",
                "Rules are exact, but they cannot find words that have no spaces between them.",
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

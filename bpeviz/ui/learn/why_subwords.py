"""Chapter: why vocabularies have pieces between words and characters."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

from bpeviz.analysis import pretokenization
from bpeviz.core.tokenizer import Token
from bpeviz.pretokenizers.patterns import WORD_LIST, SplitError, pretokenize
from bpeviz.text import counted, label
from bpeviz.ui.inputs.training import WORDS
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
    Question,
    Setup,
    Why,
    chosen,
)
from bpeviz.ui.learn.forms import BoundariesForm, MessagePart, token
from bpeviz.ui.pages import pretokenize as page
from bpeviz.views.pretokenization import score_payload

KEY = "why-subwords"
LONGEST_WORD = 40


def pieces_of(setup: Setup) -> list[str]:
    """Split the text into pieces, by longest match from the left. Raises `NoQuestionError`."""
    if len(setup["text"].strip()) < 2:
        raise NoQuestionError("Type a word of at least two letters.")
    try:
        return pretokenize(setup["text"], WORD_LIST, setup["pieces"])
    except SplitError as error:
        raise NoQuestionError(str(error)) from error


def _split(setup: Setup) -> Question:
    pieces_of(setup)

    def judge(given: list[int] | None) -> Judgment:
        ends = [0, *accumulate(map(len, pieces := pieces_of(setup)))]
        tokens = [
            Token(-1, piece.encode(), label(piece.encode()), start, end)
            for piece, (start, end) in zip(pieces, pairwise(ends), strict=True)
        ]
        result = engine.boundaries_result(given, tokens, setup["text"])
        if {*pieces} <= {*setup["pieces"].split()}:
            return result
        note = "Where no piece fits, one letter is a token."
        return replace(result, message=[*result.message, note])

    def mistakes() -> list[Mistake]:
        return engine.cut_mistakes(judge(None).marks["right"], setup["text"])

    prompt = (
        "From the left, the longest piece that fits becomes a token. Where does the word split? "
        "Where no piece fits, one letter is a token."
    )
    hint = "Cover what you have cut, and look for the piece that comes next."
    see = [engine.tokens_row("Pieces", setup["pieces"].split()[:30])]
    return Question([prompt], BoundariesForm(setup["text"]), judge, mistakes, hint, see)


def _whole_words(setup: Setup) -> Question:
    words = {*setup["words"].split()}
    if not words:
        raise NoQuestionError("The list of whole words is empty. Type one.")

    def missing() -> list[str]:
        return [word for word in setup["text"].split() if word not in words]

    def answer() -> tuple[str, list[MessagePart]]:
        if absent := missing():
            lost = " is not in the list. It becomes <unk>: its letters are lost."
            return "unknown", [token(absent[0]), lost]
        return "words", ["Every word of the text is in the list, so each is one token."]

    def mistakes() -> list[Mistake]:
        return [
            Mistake("words", ["Compare each letter: is the same word really in the list?"]),
            Mistake("unknown", ["Look again: every word is in the list."]),
            Mistake("similar", ["A tokenizer never guesses: a word is in the list, or not."]),
            Mistake("letters", ["This list has words only, so letters are no way out."]),
        ]

    options = {
        "words": "Whole words: all of them are in the list.",
        "unknown": "One unknown token, <unk>, for a word that is not in the list.",
        "similar": "The most similar word in the list.",
        "letters": "Its letters, one token each.",
    }
    prompt: list[MessagePart] = ["Another vocabulary has whole words only. Which tokens does "]
    prompt += [engine.quoted(setup["text"]), " become?"]
    hint = "Ask for each word of the text: is it in the list?"
    see = [engine.tokens_row("Whole words", setup["words"].split()[:30])]
    return chosen(prompt, options, answer, mistakes, hint, see)


def _pictures(setup: Setup) -> list[Picture]:
    text = setup["text"]
    columns = [
        pretokenization.PreTokenizedColumn(
            title, about, pretokenization.pre_tokenize(text, pattern, words)
        )
        for title, about, pattern, words in (
            ("Characters", "Nothing is unknown, but the text is long.", "characters", ""),
            (
                "The vocabulary",
                "Short, and single letters fill the gaps.",
                WORD_LIST,
                setup["pieces"],
            ),
        )
    ]
    data = score_payload(columns, 0, len(text)) | {"unit": "piece"}
    pieces, characters = len(columns[1].cut), len(columns[0].cut)
    about = f"{counted(pieces, 'piece')} instead of {counted(characters, 'character')}"
    if pieces == characters:
        about = "Here no piece of several letters fits, so each letter is a token"
    return [Picture("score", data, f"{about}. Nothing is lost.")]


def _target(setup: Setup) -> PageLink:
    values = engine.text_values(setup["text"])
    values |= {page.SPLITS.link: ["characters", page.LIST_A], WORDS.link: setup["pieces"]}
    return PageLink(page.PAGE.path, "Open this text in Pre-tokenize", values)


def _list(name: str, title: str, initial: str) -> Input:
    return Input(name, engine.text_field(KEY, name, title, 300), initial)


CHAPTER = Chapter(
    key=KEY,
    place=30,
    title="Why subwords",
    core=True,
    lead="The tokens of a tokenizer come from a fixed list, its vocabulary. The list could "
    "hold whole words, or single characters. Most tokenizers use pieces between the two: subwords.",
    myth="Tokens are words or syllables.",
    fact="Tokens are whatever pieces the vocabulary has. They need not be words, syllables, or "
    "parts with a meaning. With pieces and single letters, a new word is not lost.",
    settings="A list of pieces; from the left, the longest piece that fits.",
    source="Jurafsky and Martin, Speech and Language Processing, chapter 2.",
    inputs=(
        engine.text_input(KEY, "caterpillar", "Word", LONGEST_WORD),
        _list("pieces", "Pieces", "cat er p ill ar"),
        _list("words", "Whole words", "cat tree pillow"),
    ),
    questions=(_split, _whole_words),
    names=("The longest piece that fits", "A vocabulary of whole words"),
    pictures=_pictures,
    why=Why(
        "Why not simply put every word into the vocabulary?",
        (
            AnswerOption(
                "new",
                "People make new words and typing errors.",
                "No list of words is ever complete. Pieces can spell a word that nobody has seen.",
                right=True,
            ),
            AnswerOption(
                "long",
                "Words are too long for computers to hold.",
                "Length is no problem: tokens of 100 bytes exist in real vocabularies.",
            ),
            AnswerOption(
                "letters",
                "A model can only understand single letters.",
                "Many models have whole words as tokens. Rare words are the problem.",
            ),
            AnswerOption(
                "meaning",
                "Only pieces of words have a real meaning.",
                "Pieces often mean nothing: “ill” in “caterpillar” has nothing to do with illness.",
            ),
        ),
    ),
    target=_target,
    samples={"caterpillars": "caterpillars", "pillar": "pillar", "repair": "repair"},
)

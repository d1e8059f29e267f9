"""Known answers from outside the project, each with its source."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.trainers import BpeTrainer

import bpeviz
from bpeviz import Training
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.trainers import bpe

DON_QUIJOTE = (
    "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía "
    "un hidalgo de los de lanza en astillero"
)
HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
NEWEST = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def labels(training: Training) -> list[str]:
    tokenizer = training.tokenizer()
    return [tokenizer.token_label(merge.new_id) for merge in training.merges]


# BPE


def test_bpe_equals_minbpe_on_aaabdaaabac() -> None:
    """minbpe's test, tests/test_tokenizer.py: the example of Wikipedia's article on BPE."""
    training = bpeviz.train("aaabdaaabac", merges=3, pattern="none")
    tokenizer = training.tokenizer()
    assert labels(training) == ["aa", "aaa", "aaab"]
    assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tokenizer.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"


def test_bpe_counts_overlapping_pairs_without_replacing_them() -> None:
    """`aa` occurs four times in `aaabdaaabac`, overlaps included, and is replaced twice."""
    merge = bpeviz.train("aaabdaaabac", merges=1, pattern="none").merges[0]
    assert (merge.count, merge.applied) == (4, 2)


NAMED = "low<|endoftext|>low<|endoftext|>newer<|endoftext|>"


@pytest.mark.parametrize(
    ("ties", "split", "merges"),
    [
        ("first", False, ["<|", "en", "end", "endo", "endof"]),
        ("first", True, ["lo", "low", "ne", "new", "newe"]),
        ("largest", True, ["ow", "low", "we", "wer", "ne"]),  # by hand, as Stanford's CS336 asks
    ],
)
def test_bpe_with_special_tokens_in_the_training_text(
    ties: str, split: bool, merges: list[str]
) -> None:
    """Stanford's CS336, assignment 1, splits them off; Hugging Face's trainer does not."""
    special = {"special_tokens": ("<|endoftext|>",), "split_at_special": split}
    assert labels(bpeviz.train(NAMED, merges=5, ties=ties, **special)) == merges


def test_hugging_face_trains_on_letters_of_special_tokens() -> None:
    trainer = BpeTrainer(vocab_size=262, special_tokens=["<|endoftext|>"], show_progress=False)
    trainer.initial_alphabet = pre_tokenizers.ByteLevel.alphabet()
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.train_from_iterator([NAMED], trainer)
    special = {"special_tokens": ("<|endoftext|>",), "split_at_special": False}
    ours = bpeviz.train(NAMED, merges=5, ties="huggingface", **special)
    found = json.loads(theirs.to_str())["model"]["merges"]
    assert [a + b for a, b in found] == labels(ours)


def test_bpe_on_don_quijote() -> None:
    """The opening of Don Quijote, as counted in the notebook that this project grew from."""
    assert (len(DON_QUIJOTE), len(DON_QUIJOTE.encode())) == (130, 131)
    training = bpeviz.train(DON_QUIJOTE, merges=1, pattern="none")
    merge = training.merges[0]
    assert (merge.left, merge.right, merge.new_id, merge.count) == (111, 32, 256, 7)
    assert len(training.tokenizer().encode(DON_QUIJOTE)) == 124


def test_bpe_on_tiny_shakespeare(tiny_shakespeare: str) -> None:
    """Karpathy's Tiny Shakespeare, over bytes, without pre-tokenization, ties as in minbpe."""
    assert len(tiny_shakespeare.encode()) == 1_115_394
    tokenizer = bpeviz.train(tiny_shakespeare, merges=45, pattern="none").tokenizer()
    boundaries = tokenizer.boundaries(tiny_shakespeare)
    assert boundaries.token_counts[45] == len(boundaries.token_ends(45)) == 785_969


def test_bpe_equals_the_hugging_face_course() -> None:
    """Hugging Face's course, chapter 6.5."""
    training = bpeviz.train(HUGS, merges=4, pattern="none", atoms="characters")
    assert labels(training) == ["ug", "un", "hug", "pun"]
    assert [merge.count for merge in training.merges] == [20, 16, 15, 12]


@pytest.mark.parametrize(
    ("end_mark", "merges"),
    [
        (
            "attached",
            "es est</w> lo ne new newest</w> low</w> wi wid widest</w>",
        ),
        (
            "symbol",
            "es est est</w> lo low ne new newest</w> low</w> wi",
        ),
    ],
)
def test_bpe_equals_sennrich_et_al(end_mark: str, merges: str) -> None:
    """The words of Sennrich, Haddow and Birch 2016, Algorithm 1.

    The mark as a symbol of its own is the paper's; subword-nmt attaches it from 0.2 on.
    """
    training = bpeviz.train(
        NEWEST, merges=10, pattern="none", atoms="characters", end_mark=end_mark
    )
    assert labels(training) == merges.split()


def test_bpe_equals_four_merges_by_hand() -> None:
    """`low lowest new wider lowering`, over characters, without a mark, four merges.

    By hand, with separate words (without white space) and the first seen pair on a tie:

        l o w   l o w e s t   n e w   w i d e r   l o w e r i n g

    1. lo 3, ow 3, we 2, er 2, all others 1. Of lo and ow, lo was seen first: lo.

        lo w   lo w e s t   n e w   w i d e r   lo w e r i n g

    2. lo+w 3: low.

        low   low e s t   n e w   w i d e r   low e r i n g

    3. low+e 2 (lowest, lowering), e+r 2 (wider, lowering): low+e was seen first: lowe.

        low   lowe s t   n e w   w i d e r   lowe r i n g

    4. Every pair comes once now, also e+r, which is left in wider alone. The first: lowe+s.

    So `lower` is l o w e r, lo w e r, low e r, lowe r; the fourth merge, lowes, does not touch it.
    """
    text = "low lowest new wider lowering"
    training = bpeviz.train(text, merges=4, pattern="whitespace", atoms="characters")
    tokenizer = training.tokenizer()
    assert labels(training) == ["lo", "low", "lowe", "lowes"]
    assert [merge.count for merge in training.merges] == [3, 3, 2, 1]
    # With lowe+s tie st; ne, ew; wi, id, de, er; lowe+r, ri, in, ng.
    assert [merge.ties for merge in training.merges] == [1, 0, 1, 11]
    assert [token.label for token in tokenizer.tokens("lower")] == ["lowe", "r"]


# Pre-tokenization


def without_spaces(pre_tokens: list[str]) -> list[str]:
    """Return the pre-tokens that are not only white space, which other projects omit."""
    return [pre_token for pre_token in pre_tokens if pre_token.strip()]


def test_gpt2_pattern_pre_tokenizes_a_question() -> None:
    """GPT-2's pattern, openai/gpt-2, src/encoder.py."""
    assert pretokenize("Do you know where my 1st dog is?", "gpt2") == [
        "Do", " you", " know", " where", " my", " 1", "st", " dog", " is", "?",
    ]  # fmt: skip


def test_nltk_pattern_equals_the_nltk_book() -> None:
    """Bird, Klein and Loper, Natural Language Processing with Python (NLTK's book), 3.7."""
    text = "That U.S.A. poster-print costs $12.40..."
    assert without_spaces(pretokenize(text, "nltk")) == [
        "That", "U.S.A.", "poster-print", "costs", "$12.40", "...",
    ]  # fmt: skip


def test_arithmetic_pattern_pre_tokenizes_a_formula() -> None:
    """`3 + 5 * (10 - 2)` by numbers, operators and brackets."""
    pre_tokens = pretokenize("3 + 5 * (10 - 2)", "arithmetic")
    assert without_spaces(pre_tokens) == ["3", "+", "5", "*", "(", "10", "-", "2", ")"]


def test_word_list_pre_tokenizes_chinese() -> None:
    """Jurafsky and Martin, Speech and Language Processing, chapter 2: two published segmentations.

    A word list that contains its words reproduces each. No other pattern splits Chinese into
    words.
    """
    text = "姚明进入总决赛"
    treebank = ["姚明", "进入", "总决赛"]
    peking = ["姚", "明", "进入", "总", "决赛"]
    assert pretokenize(text, "list", " ".join(treebank)) == treebank
    assert pretokenize(text, "list", " ".join(peking)) == peking
    assert pretokenize(text, "characters") == [*text]
    assert len(text) == 7
    for key in ("gpt2", "cl100k", "o200k", "words", "whitespace", "nltk"):
        assert pretokenize(text, key) == [text]


# GPT-2 and cl100k


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        # tiktoken's tests/test_encoding.py; after four spaces, computed with tiktoken
        ("gpt2", "hello world", [31373, 995]),
        ("gpt2", "    Hello World", [220, 220, 220, 18435, 2159]),
        ("gpt2", "0" * 17, [8269, 10535, 830]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("cl100k_base", "    Hello World", [262, 22691, 4435]),
        ("cl100k_base", "'rer", [2351, 81]),
        ("cl100k_base", "today\n \n", [31213, 27907]),
        ("cl100k_base", "👍", [9468, 239, 235]),
    ],
)
def test_published_vocabularies_encode_known_ids(name: str, text: str, ids: list[int]) -> None:
    tokenizer = bpeviz.load(name)
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode(ids) == text


def test_cl100k_tokens_of_an_emoji_are_not_utf8() -> None:
    """cl100k encodes 👍 as three tokens; none is valid UTF-8 by itself."""
    tokens = bpeviz.load("cl100k_base").tokens("👍")
    assert [(token.start, token.end) for token in tokens] == [(0, 1)] * 3
    for token in tokens:
        with pytest.raises(UnicodeDecodeError):
            token.raw.decode()
    assert b"".join(token.raw for token in tokens) == "👍".encode()


# WordPiece

COURSE = """This is the Hugging Face Course.
This chapter is about tokenization.
This section shows several tokenizer algorithms.
Hopefully, you will be able to understand how they are trained and generate tokens."""


def test_wordpiece_on_prueba_de_tokens() -> None:
    """The notebook that this project grew from: five special tokens, all merges."""
    training = bpeviz.train("prueba de tokens", "wordpiece", merges=100, pattern="whitespace")
    assert training.stopped == "no pair"
    assert (training.merges[0].score, training.name(training.merges[0].new_id)) == (1.0, "pr")
    tokenizer = training.tokenizer()
    assert len(tokenizer.special_tokens) == 5
    tokens = tokenizer.tokens("pruebas de otro ejemplo")
    assert [token.label for token in tokens] == ["prueba", "##s", "de", "[UNK]", "[UNK]"]
    text = "prueba de tokens"
    first = training.candidates(text, tokenizer.boundaries(text), 0, 100)
    scores = {tuple(map(training.name, pair.ids)): pair.score for pair in first}
    assert (scores["p", "##r"], scores["##u", "##e"]) == (1.0, 1 / 3)


def test_wordpiece_equals_the_hugging_face_course() -> None:
    """Hugging Face's course, chapter 6.6: a vocabulary of 70, five special tokens among them."""
    training = bpeviz.train(COURSE, "wordpiece", vocab_size=65, pattern="words")
    first = training.merges[0]
    assert (training.name(first.left), training.name(first.right)) == ("a", "##b")
    assert (first.score, training.name(first.new_id)) == (0.2, "ab")
    tokenizer = training.tokenizer()
    assert tokenizer.vocab_size == 70
    assert [token.label for token in tokenizer.tokens("Hugging")] == ["Hugg", "##i", "##n", "##g"]
    assert [token.label for token in tokenizer.tokens("HOgging")] == ["[UNK]"]
    expected = "Th ##i ##s is th ##e Hugg ##i ##n ##g Fac ##e c ##o ##u ##r ##s ##e [UNK]"
    tokens = tokenizer.tokens("This is the Hugging Face course!")
    assert [token.label for token in tokens] == expected.split()


def test_wordpiece_scores_hugs_and_puns() -> None:
    """The same chapter's counted words. It says that (hu, ##g) ties with others and is merged
    third; recomputed, that is 2/45, and (hu, ##gs) with 1/15 is the highest alone."""
    training = bpeviz.train(HUGS, "wordpiece", merges=3, pattern="none")
    made = [(training.name(m.new_id), m.score, m.ties) for m in training.merges]
    assert made == [("##gs", 1 / 20, 0), ("hu", 1 / 36, 5), ("hugs", 1 / 15, 0)]
    boundaries = training.tokenizer().boundaries("hug")
    text = " ".join(word for word, times in HUGS.items() for _ in range(times))
    third = training.candidates(text, boundaries, 2, 100)
    scores = {tuple(map(training.name, pair.ids)): pair.score for pair in third}
    assert scores["hu", "##gs"] == 1 / 15
    assert scores["hu", "##g"] == 2 / 45


# Figures of the lessons on the Learn page that no test above has


def test_don_quijote_under_gpt2s_pattern() -> None:
    """A tutorial's figures for other settings: 91 tokens after 16 merges, 87 after 20."""
    training = bpeviz.train(DON_QUIJOTE, merges=20)
    counts = training.tokenizer().boundaries(DON_QUIJOTE).token_counts
    assert (counts[16], counts[20]) == (91, 87)


@pytest.mark.parametrize(("pattern", "tokens", "steps"), [("none", 26, 5), ("gpt2", 33, 4)])
def test_words_before_periods_with_and_without_a_pattern(
    pattern: str, tokens: int, steps: int
) -> None:
    """Without a pattern the token `a.` forms; with a minimum count of 2, training stops earlier."""
    text = "problema. casa. idea. Hola, cosa. prosa. rosa."
    training = bpeviz.train(text, merges=6, pattern=pattern)
    assert len(training.tokenizer().encode(text)) == tokens
    assert ("a." in labels(training)) == (pattern == "none")
    assert bpeviz.train(text, merges=6, pattern=pattern, min_count=2).steps == steps


def test_gpt2s_pattern_changes_lower_and_abc() -> None:
    """With the space before each word, the first merges differ from those of bare words."""

    def of(corpus: str, word: str, merges: int, **how: str) -> list[str]:
        training = bpeviz.train(corpus, merges=merges, atoms="characters", **how)
        return [token.label for token in training.tokenizer().tokens(word)]

    text = "low lowest new wider lowering"
    assert of(text, "lower", 4, pattern="gpt2") == ["low", "e", "r"]
    for encode in ("merges", "longest"):
        assert of("bc bc bc ab ab", "abc", 2, pattern="gpt2", encode=encode) == ["a", "bc"]


def test_sentencepiece_on_spanish_with_byte_fallback() -> None:
    """`más` is ▁m, the bytes of á, and s; ▁m is a piece once 20 merges are made."""
    text = "El perro come 12 manzanas. La casa es grande."
    for merges, expected in ((0, "▁ m"), (20, "▁m"), (30, "▁m")):
        training = bpeviz.train(text, "sentencepiece", merges=merges, pattern="none")
        found = [token.label for token in training.tokenizer().tokens("más")]
        assert found == [*expected.split(), "<0xC3>", "<0xA1>", "s"]


def test_quick_brown_fox_has_nine_words() -> None:
    text = "The quick brown fox jumps over the lazy dog"
    assert len(without_spaces(pretokenize(text, "whitespace"))) == 9


@pytest.mark.slow
def test_gpt2s_pattern_and_vocabulary_on_tiny_shakespeare(tiny_shakespeare: str) -> None:
    """45 merges within pre-tokens; and the tokens that 8,192 entries save, instead of 4,096.

    With GPT-2's entries that is 6.8%, and 7.8% with those trained on this text.
    """
    tokenizer = bpeviz.train(tiny_shakespeare, merges=45).tokenizer()
    assert tokenizer.boundaries(tiny_shakespeare).token_counts[45] == 799_107
    costs = bpeviz.load("gpt2").boundaries(tiny_shakespeare).token_counts
    assert f"{1 - costs[8_192 - 256] / costs[4_096 - 256]:.1%}" == "6.8%"
    training = bpeviz.train(tiny_shakespeare, vocab_size=8_192)
    own = training.tokenizer().boundaries(tiny_shakespeare).token_counts
    assert f"{1 - own[8_192 - 256] / own[4_096 - 256]:.1%}" == "7.8%"


@pytest.mark.parametrize(("second_id", "tokens"), [(256, 79), (257, 80)])
def test_tutorial_prints_79_tokens_since_it_uses_an_id_twice(second_id: int, tokens: int) -> None:
    """A notebook makes one merge with the id 256, then 20 more whose ids start at 256 again."""
    ids = list(DON_QUIJOTE.encode())
    for new_id in (256, *range(second_id, second_id + 20)):
        counts = Counter(pairwise(ids))
        ids = bpe.merge(ids, max(counts, key=counts.__getitem__), new_id)
    assert len(ids) == tokens

"""Every format keeps the ids of a tokenizer, or refuses it and names a format that keeps them.

Files of every format are read by their content, and refused in a sentence where they are cut,
changed or of another format.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from helpers.difficult import DIFFICULT
from helpers.libraries import LIBRARIES
from helpers.library_files import READ_ONLY, tekken
from helpers.library_tokenizers import KINDS, SENTENCEPIECE, files_of
from helpers.properties import many
from helpers.refusals import assert_sentence, refusal
from helpers.texts import SMALL_TEXTS
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer

import bpeviz
from bpeviz import formats
from bpeviz.cli.main import main
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FORMATS, READERS, FormatError, archive
from bpeviz.formats.base import Source, UnsupportedError, has_suffix
from bpeviz.formats.regex_dialects import DialectError
from bpeviz.pretokenizers.patterns import CUSTOM, PATTERNS, WORD_LIST
from bpeviz.trainers import TRAINERS

pytestmark = pytest.mark.slow

TEXT = "low lower lowest, don't stop: été 12 ab ab\nthe theory of the newest, <s> 123 été\n" * 3
BYTES = "huggingface tiktoken minbpe csv bpeviz"
CHARACTERS = {"atoms": "characters"}
SPECIAL = {"special_tokens": ("<|end|>", "<s>", "[CLS]", "🤖")}
LIST = {"pattern": WORD_LIST, "expression": "the low lower est don't 漢字 👍🏿 é"}
UNIGRAM = {"algorithm": "unigram", "vocab_size": 60}
PIECES = {"algorithm": "sentencepiece", "pattern": "none"}
WORDPIECE = {"algorithm": "wordpiece"}
TRAINED: dict[str, tuple[dict[str, Any], str]] = {
    **{key: ({"algorithm": key}, "bpeviz") for key in TRAINERS},
    "bpe": (SPECIAL, f"{BYTES} gpt2"),
    "adaptive": (
        {"algorithm": "adaptive", "base_text": TEXT[:80], "base_size": 262},
        "huggingface tiktoken minbpe csv? bpeviz gpt2?",
    ),
    "superbpe": ({"algorithm": "superbpe", "transition": 270, "merges": 60}, "bpeviz"),
    "scaffold": ({"algorithm": "scaffold", "merges": 60}, "bpeviz"),
    "wordpiece": (WORDPIECE | {"pattern": "gpt2", "unmatched": "drop"}, "huggingface bpeviz"),
    "sentencepiece": (PIECES, "huggingface sentencepiece bpeviz"),
    "unigram": (UNIGRAM | {"pattern": "words"}, "huggingface sentencepiece bpeviz"),
    "no merges": ({"merges": 0}, f"{BYTES} gpt2"),
    "only the first phase": ({"algorithm": "superbpe", "transition": 9_999}, f"{BYTES} gpt2"),
    "another pattern": ({"pattern": "cl100k"}, BYTES),
    "treebank": ({"pattern": "treebank"}, BYTES),
    "word list": (LIST, "huggingface tiktoken? minbpe csv bpeviz"),
    "longest match": ({"encode": "longest"}, "bpeviz"),
    "threshold": ({"threshold": 2}, "bpeviz"),
    "characters": (CHARACTERS, "huggingface csv bpeviz"),
    "mark at the end": (CHARACTERS | {"end_mark": "symbol"}, "csv bpeviz"),
    "mark on a letter": (CHARACTERS | {"end_mark": "attached"}, "csv bpeviz"),
    "a name of letters": ({"special_tokens": ("a",)}, "minbpe csv bpeviz"),
    "a name with a space": ({"special_tokens": ("a b",)}, "huggingface tiktoken csv bpeviz gpt2"),
    "half a character": ({"special_tokens": ("<\ud800>",)}, ""),
    "unknown characters": (
        PIECES | {"unknown": "unk", "coverage": "0.98", "prefix": "no", "digits": "yes"},
        "huggingface sentencepiece bpeviz",
    ),
    "▁ after words": (PIECES | {"pattern": "words"}, "bpeviz"),
    "Unigram over bytes": (UNIGRAM | {"atoms": "bytes", "vocab_size": 300}, "huggingface bpeviz"),
    "Unigram of GPT-2": (UNIGRAM | {"pattern": "gpt2"}, "huggingface bpeviz"),
    "WordPiece in lower case": (
        WORDPIECE | {"pattern": "words", "case": "lower"},
        "huggingface bpeviz",
    ),
    "capital letters": (WORDPIECE | {"pattern": "cl100k", "case": "lower"}, "bpeviz"),
    "a name inside words": (WORDPIECE | {"pattern": "whitespace"}, "bpeviz"),
    "a name that is a word": (
        WORDPIECE | {"pattern": "words", "special_tokens": ("été",)},
        "bpeviz",
    ),
    "dropped text": (WORDPIECE | {"pattern": "nltk", "unmatched": "drop"}, "bpeviz"),
}
"""Arguments of `bpeviz.train`, and the formats that hold the tokenizer."""


HELD = (TEXT, "lowest x👋")


@cache
def trained(kind: str) -> Tokenizer:
    arguments = {"merges": 30, **TRAINED[kind][0]}
    if "vocab_size" in arguments or TRAINERS[arguments.get("algorithm", "bpe")].prunes:
        del arguments["merges"]
    return bpeviz.train(TEXT, **arguments).tokenizer()


def check_held(
    tokenizer: Tokenizer, key: str, files: dict[str, bytes], texts: Sequence[str] = HELD
) -> None:
    """Check that files give the ids of a tokenizer, here and in the library of their format."""
    back = formats.parse(files)
    encode = LIBRARIES[key](files) if key in LIBRARIES else back.encode
    assert tuple(files) == FORMATS[key].files
    more = DIFFICULT[len(key) % 8 :: 8] if texts is HELD else ()
    for number, text in enumerate((*texts, *more)):
        for part in text.replace("▁", "").split("\n") if FORMATS[key].by_line else [text]:
            check_text(tokenizer, back, encode, part)
        if number % 4 == 0 and not FORMATS[key].by_line:
            check_boundaries(tokenizer, back, text)
    if key == "bpeviz":
        assert (type(back), back.steps) == (type(tokenizer), tokenizer.steps)
    names = [*tokenizer.special_tokens]
    if not FORMATS[key].by_line:
        assert dict(back.special_tokens) == dict(tokenizer.special_tokens)
        ids = tokenizer.encode("".join(["low", *names, " low"]), allowed_special=names)
        assert back.encode("".join(["low", *names, " low"]), allowed_special=names) == ids


def check_text(tokenizer: Tokenizer, back: Tokenizer, encode: Any, text: str) -> None:
    unknown = tokenizer.unknown_id
    ids = tokenizer.encode(text)
    if encode is not back.encode or back.encode(text) != ids:  # SentencePiece joins unknown ones
        joined = [i for i, run in groupby(ids) for _ in (range(1) if i == unknown else run)]
        assert encode(text) in (ids, joined), text
    if unknown not in ids:  # a library writes its name
        assert back.encode(text) == ids, text
        assert back.decode(ids) == tokenizer.decode(ids)


def check_boundaries(tokenizer: Tokenizer, back: Tokenizer, text: str) -> None:
    spans, read = (
        [(token.id, token.start, token.end) for token in each.tokens(text)]
        for each in (tokenizer, back)
    )
    assert read == spans
    here, there = tokenizer.boundaries(text), back.boundaries(text)
    if DROPPED_ID in here.ids(tokenizer.steps):
        return  # a library drops white space as a whole
    is_same = back.steps == tokenizer.steps and tokenizer.unknown_id is None
    for step in {0, tokenizer.steps // 3, tokenizer.steps} if is_same else ():
        assert there.ids(step).tolist() == here.ids(step).tolist()
        assert back.at_step(step).encode(text) == tokenizer.at_step(step).encode(text)
    assert there.ids(back.steps).tolist() == here.ids(tokenizer.steps).tolist()
    assert there.cuts(back.steps).tolist() == here.cuts(tokenizer.steps).tolist()


def check_formats(tokenizer: Tokenizer, expected: str, check: Callable[..., None]) -> None:
    """Check each format: it holds the tokenizer, or refuses it by its title."""
    held = {*expected.split()}
    for key, form in FORMATS.items():
        if f"{key}?" in held:  # it takes long
            continue
        if key in held:
            check(tokenizer, key, formats.dump(tokenizer, key))
        else:
            refusal(formats.dump, tokenizer, key, naming=form.title, error=FormatError)


@pytest.mark.parametrize("kind", TRAINED)
def test_each_format_keeps_a_trained_tokenizer_or_refuses_it(kind: str, tmp_path: Path) -> None:
    tokenizer, held = trained(kind), TRAINED[kind][1]
    check_formats(tokenizer, held, check_held)
    if "minbpe" in held.split():  # writing several formats again takes long
        return
    refused = [key for key in FORMATS if key not in held.split()]
    message = refusal(bpeviz.save, tokenizer, tmp_path / "x", refused[0], error=FormatError)
    assert [key for key in FORMATS if f"(--format {key})" in message][:1] == [
        key for key in ("huggingface", "bpeviz", *FORMATS) if key in held.split()
    ][:1]
    for key in held.split()[-1:]:
        bpeviz.save(tokenizer, tmp_path / key, key)
        assert bpeviz.read(tmp_path / key).encode("low the") == tokenizer.encode("low the")


CORPORA = SMALL_TEXTS | st.lists(st.sampled_from(DIFFICULT[:-20]), max_size=6).map(" ".join)
PARTS = ["ab", "ba", " ", "[UNK]", "été", "<|b|>", "<unk>", "low", "🤖", "\n\n", "x", "##a", "▁"]
TEXTS = st.one_of(
    SMALL_TEXTS,
    st.sampled_from(DIFFICULT),
    st.lists(st.sampled_from(PARTS), max_size=12).map("".join),
)
SPLITS = st.sampled_from(
    [
        *((key, "") for key in PATTERNS),
        (CUSTOM, r"\p{L}+|\p{N}"),  # the parts between matches are pre-tokens
        (CUSTOM, r" ?\w+|[^\w\s]"),
        (CUSTOM, r"(?:[ab]{1,2}+|\s)|[^ab\s]++"),
        (CUSTOM, r" ?[^ ]+$|\w+(?!b)|(?s:.)"),
        (WORD_LIST, "a ab abc low lower ba été 👍"),
    ]
)
SPECIALS = st.sampled_from(
    [(), ("<|end|>",), ("<|b|>", "<|ab|>", "ab<|"), ("with space", "été", "\n\n"), ("a", "🤖")]
)
NUMBERS = {
    "threshold": st.integers(0, 4),
    "min_count": st.integers(1, 2),
    "transition": st.integers(256, 270),
    "max_words": st.integers(1, 4),
    "base_size": st.integers(256, 264),
    "seed_size": st.integers(300, 400),
    "max_piece": st.integers(2, 16),
}


@st.composite
def any_arguments(draw: st.DrawFn) -> dict[str, Any]:
    """Draw arguments of `bpeviz.train` from the declared options of every trainer."""
    trainer = TRAINERS[draw(st.sampled_from([*TRAINERS]))]
    pattern, expression = draw(SPLITS)
    chosen: dict[str, Any] = {}
    for option in trainer.options:
        if option.objects is not None or not option.applies(chosen):
            continue
        if option.choices is not None:
            chosen[option.name] = draw(st.sampled_from([*option.choices]))
        elif option.name in NUMBERS:
            chosen[option.name] = draw(NUMBERS[option.name])
        elif option.kind == "text":
            chosen[option.name] = draw(SMALL_TEXTS)
    size = {"vocab_size": 290} if trainer.prunes else {"merges": draw(st.integers(0, 40))}
    return {
        "text": draw(CORPORA),
        "algorithm": trainer.key,
        "pattern": pattern,
        "expression": expression,
        "special_tokens": draw(SPECIALS),
        **size,
        **chosen,
    }


@many(100, least=20)
@given(
    any_arguments(),
    st.sampled_from([0.4, 1.0]),
    st.lists(TEXTS, min_size=1, max_size=3),
    st.sampled_from([key for key in FORMATS if key != "sentencepiece"]),
)
@example(
    {
        "text": "andan anand an",
        "algorithm": "superbpe",
        "transition": 257,
        "vocab_size": 258,
        "pattern": WORD_LIST,
        "expression": "the\nand\n of a ab low",
    },
    1.0,
    ["an and an"],
    "bpeviz",
)
@example(
    {"text": "", "algorithm": "sentencepiece", "unknown": "bytes", "merges": 0},
    1.0,
    [" "],
    "huggingface",
)
def test_formats_round_trip_any_tokenizer_or_name_the_reason(
    arguments: dict[str, Any], part: float, texts: list[str], key: str
) -> None:
    """SentencePiece has a test of its own, in `formats/test_sentencepiece.py`."""
    try:
        training = bpeviz.train(**arguments)
        tokenizer = training.at_step(int(part * training.steps))
    except ValueError:
        assume(False)
    files, refused = {}, None
    try:
        files = formats.dump(tokenizer, key)
    except FormatError as error:
        refused = error
    if refused:
        assert str(refused).startswith(f"{FORMATS[key].title} cannot represent this tokenizer: ")
        reason = refused.__cause__
        assert isinstance(reason, UnsupportedError)
        assert isinstance(reason.__cause__, DialectError | None), "a reason of the format"
        return
    check_held(tokenizer, key, files, texts)
    again = formats.dump(formats.parse(files), key)
    assert formats.parse(again).encode(texts[0]) == tokenizer.encode(texts[0])


def check_converted(tokenizer: Tokenizer, key: str, files: dict[str, bytes]) -> None:
    """Check that a file of another program keeps its ids in another format."""
    back = formats.parse(files)
    encode = LIBRARIES[key](files) if key in LIBRARIES else back.encode
    for text in DIFFICULT[len(key) % 8 :: 8]:
        ids = tokenizer.encode(text)
        assert encode(text) == ids
        assert back.encode(text) == ids
    assert dict(back.special_tokens).items() >= dict(tokenizer.special_tokens).items()
    around = [*chain(*tokenizer.template)]
    if [*chain(*back.template)] != around:
        names = [tokenizer.token_label(i) for i in around]
        assert_sentence(formats.losses(tokenizer, files, key), tuple(names))


@pytest.mark.parametrize("kind", [*KINDS, *SENTENCEPIECE])
def test_file_of_another_program_is_converted_with_its_ids_or_refused(kind: str) -> None:
    held = SENTENCEPIECE[kind][1] if kind in SENTENCEPIECE else KINDS[kind].formats
    check_formats(formats.parse(files_of(kind)), held, check_converted)


# ---- Reading


BERT = ["[UNK]", "[CLS]", "[SEP]", *"lowthe", *(f"##{letter}" for letter in "lowthe"), "low"]


@cache
def sample(key: str) -> dict[str, bytes]:
    """Return files of a format."""
    if key in READ_ONLY:
        return READ_ONLY[key]
    if key == "tekken":
        return {"tekken.json": json.dumps(tekken(trained("another pattern"), special=20)).encode()}
    return formats.dump(trained("sentencepiece" if key == "sentencepiece" else "bpe"), key)


@pytest.mark.parametrize("key", READERS)
def test_files_are_read_by_content_compressed_and_in_a_folder(key: str, tmp_path: Path) -> None:
    files = sample(key)
    expected = formats.parse(files, key).encode("low the low")
    assert formats.parse(files).encode("low the low") == expected
    beside = {"params.json": b"{}", "README.md": b"# Model\n", "config.json": b"{}"}
    for name, content in (files | beside).items():
        (tmp_path / name).write_bytes(content)
    assert bpeviz.read(tmp_path).encode("low the low") == expected
    (tmp_path / "a.zip").write_bytes(archive.packed(files))
    assert bpeviz.read(tmp_path / "a.zip").encode("low the low") == expected
    content = next(iter(files.values()))
    for name in ("x", "tokenizer.model.v3", "a.txt") if len(files) == 1 else ():
        assert formats.parse({name: content}).encode("low the low") == expected
        assert formats.parse({f"{name}.gz": gzip.compress(content)}).encode("low") == (
            formats.parse(files).encode("low")
        )


def read_or_refused(files: dict[str, bytes], key: str | None = None) -> bool:
    """Return whether files are read, and encode a text or refuse that; a message is a sentence."""
    tokenizer, message = None, ""
    try:
        tokenizer = formats.parse(files, key)
    except FormatError as error:
        message = str(error)
    if tokenizer is None:
        assert_sentence(message, tuple(name for name in files if name in message))
        assert message.isprintable()
        assert len(message) < 600
        return False
    with suppress(ValueError):
        tokenizer.decode(tokenizer.encode("low the low"))
    return True


@pytest.mark.parametrize("key", READERS)
def test_cut_files_are_refused(key: str) -> None:
    """`test_hostile_input.py` changes them otherwise."""
    files, draw = sample(key), random.Random(16)
    name, content = next(iter(files.items()))
    by_line = key in ("minbpe", "csv", "wordpiece", "clip", "gpt2")
    for part in range(8):
        size = len(content) * part // 8 + draw.randrange(9) * (part > 0)
        assert not read_or_refused(files | {name: content[:size]}) or by_line, size


@pytest.mark.parametrize("key", READERS)
def test_files_of_other_formats_are_refused(key: str) -> None:
    for other in READERS:
        if other != key:
            assert not read_or_refused(sample(other), key), other


def test_unknown_and_read_only_formats_are_refused(tmp_path: Path) -> None:
    tokenizer = trained("bpe")
    refusal(formats.dump, tokenizer, "pickle", naming="pickle", error=FormatError)
    refusal(formats.parse, {"a.json": b"{}"}, "pickle", naming="pickle", error=FormatError)
    for key in READERS.keys() - FORMATS.keys():
        refusal(formats.dump, tokenizer, key, naming=READERS[key].title, error=FormatError)
    refusal(bpeviz.save, tokenizer, tmp_path / "a.gguf", naming="a.gguf", error=FormatError)


def test_new_format_is_known_by_its_registry_entry_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv, tokenizer = FORMATS["csv"], trained("bpe")

    def write(tokenizer: Tokenizer) -> dict[str, bytes]:
        return {"merges.toy": formats.dump(tokenizer, "csv")["merges.csv"][2:]}

    def read(source: Source) -> Tokenizer:
        return csv.read(Source(source.name, {"a.csv": b"# " + source.single()[1]}))

    toy = replace(csv, key="toy", title="Toy", files=("merges.toy",), suffixes=(".toy",))
    toy = replace(toy, write=write, read=read, detect=lambda files: has_suffix(files, ".toy"))
    for registry in (FORMATS, READERS):
        monkeypatch.setitem(registry, "toy", toy)  # type: ignore[arg-type]
    monkeypatch.chdir(tmp_path)
    bpeviz.save(tokenizer, "own.TOY")
    bpeviz.save(tokenizer, "folder", "toy")
    assert main(["convert", "--tokenizer", "own.TOY", "--output", "x", "--format", "toy"]) == 0
    for path in ("own.TOY", "folder", "x"):
        assert bpeviz.read(path).encode("low the") == tokenizer.encode("low the")


# ---- Known bugs


@pytest.mark.parametrize("version", ["", "#version: 0.2\n"])
def test_first_merge_of_number_signs_is_kept(version: str) -> None:
    names = [*CHARACTER_OF.values(), "##", "lo"]
    vocabulary = json.dumps({name: i for i, name in enumerate(names)}).encode()
    files = {"vocab.json": vocabulary, "merges.txt": f"{version}# #\nl o\n".encode()}
    tokenizer = formats.parse(files)
    assert tokenizer.encode("###lo") == LIBRARIES["gpt2"](files)("###lo") == [256, 2, 257]


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "sentencepiece", "unigram"])
def test_model_is_a_file_of_sentencepiece_for_its_trainers_alone(kind: str, tmp_path: Path) -> None:
    tokenizer = trained(kind)
    key = "sentencepiece" if kind in ("sentencepiece", "unigram") else "minbpe"
    if key not in TRAINED[kind][1].split():
        refusal(bpeviz.save, tokenizer, tmp_path / "x.model", naming=FORMATS[key].title)
        return
    (path,) = bpeviz.save(tokenizer, tmp_path / "x.model")
    assert path.read_bytes().startswith(b"minbpe v1") == (key == "minbpe")
    if key == "sentencepiece":
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
        assert theirs.encode("low the") == tokenizer.encode("low the")


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_are_found_by_their_labels(kind: str) -> None:
    ours = formats.parse(files_of(kind))
    special = {*ours.special_tokens.values(), ours.unknown_id}
    for token_id in [*ours.known_ids()][:: max(1, ours.vocab_size // 30)]:
        label = ours.token_label(token_id)
        letters = label.removeprefix("##").replace("▁", "·")
        is_plain = len(letters) > 1 and letters.replace("·", "a").isascii()
        if token_id not in special and is_plain:
            assert token_id in ours.find(letters), label
    if (byte := next(iter(ours.find("<0xC3>")), None)) is not None:
        assert ours.token_label(byte) == "⟨C3⟩"


def test_continuing_pieces_are_found_without_their_mark() -> None:
    pieces = {piece: i for i, piece in enumerate(BERT)}
    made = BertWordPieceTokenizer(pieces)
    ours = formats.parse({"tokenizer.json": made.to_str().encode()})
    assert [*ours.find("l")] == [pieces["l"], pieces["##l"]]

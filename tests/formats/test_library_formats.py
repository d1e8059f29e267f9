"""Files of other programs give the ids and boundaries of their libraries."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tiktoken
import tokenizers
from helpers.difficult import DIFFICULT
from helpers.library_files import LINES, sentencepiece_model, tekken
from helpers.library_tokenizers import of_kind
from helpers.refusals import refusal
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

import bpeviz
from bpeviz import formats
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.normalization import describe
from bpeviz.analysis.trace import ids_between, inspect, scored_words
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.core.lattice import score
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FormatError, archive
from bpeviz.views.inspection import grid
from bpeviz.views.parts import parts as parts_of

pytestmark = pytest.mark.slow


MARKS = [("[CLS]", 1), ("[SEP]", 2), ("[B]", 3)]


def with_template(template: Any) -> tokenizers.Tokenizer:
    """Return a small tokenizer of the library with a post-processor."""
    names = ["[UNK]", "[CLS]", "[SEP]", "[B]"]
    vocabulary = {name: i for i, name in enumerate([*names, "a", "b", "ab"])}
    made = tokenizers.Tokenizer(models.BPE(vocabulary, [("a", "b")], unk_token="[UNK]"))
    made.add_special_tokens(names)
    if template is not None:
        made.post_processor = template
    return made


def covered(tokenizer: Tokenizer, text: str) -> list[tuple[int, int, int]]:
    """Return start and end in bytes, and id, of the tokens of a text."""
    bounds = tokenizer.boundaries(text)
    ends = bounds.cuts(tokenizer.steps).tolist()
    found = zip([0, *ends], ends, bounds.ids(tokenizer.steps).tolist(), strict=False)
    unknown = tokenizer.unknown_id
    assert ends[-1:] in ([len(text.encode())], [])
    return [
        (start, end, token_id if token_id != UNKNOWN_ID or unknown is None else unknown)
        for start, end, token_id in found
        if token_id != DROPPED_ID
    ]


@pytest.mark.parametrize(
    "template",
    [
        processors.TemplateProcessing("$A [SEP] $A", None, MARKS),
        processors.TemplateProcessing("$A [SEP]", None, [("[SEP]", 99)]),
        processors.TemplateProcessing(" ".join(["[CLS]"] * 101) + " $A", None, MARKS),
    ],
    ids=["repeats the text", "has an unknown id", "is very long"],
)
def test_template_that_cannot_be_shown_is_left_out(template: Any) -> None:
    ours = formats.parse({"tokenizer.json": with_template(template).to_str().encode()})
    assert [*map(list, ours.template)] == [[], []]


def segmentations(ours: Tokenizer, word: str, n: int) -> list[tuple[list[int], float]]:
    paths = ours.word_lattice(word).nbest(n)
    return [([edge.id for edge in path], score(path)) for path in paths]


def test_lattice_of_a_word_has_the_segmentations_of_sentencepiece() -> None:
    content = sentencepiece_model(model_type="unigram")
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    ours = formats.parse({"a.model": content})
    text = "The keeper  lighthouse"
    words = ours.scored_words(text)
    assert "".join(text for text, _, _ in words) == theirs.normalize(text)
    assert words[0].start == 0
    assert words[-1].end == len(text)
    for word in words:
        surface = word.text.removeprefix("▁")
        expected = theirs.nbest_encode(surface, nbest_size=5, return_type="proto").nbests
        found = segmentations(ours, word.text, 5)
        assert [value for _, value in found] == pytest.approx([e.score for e in expected], abs=1e-4)
        assert found[0][0] == [piece.id for piece in expected[0].pieces]
        part = inspect(text, ours)
        assert ids_between(part, word.start, word.end) == found[0][0]
    assert ours.scored_words("") == []
    (unknown,) = ours.scored_words("世")
    assert segmentations(ours, unknown.text, 1)[0][0] == theirs.encode("世")


def test_lattice_of_a_word_has_the_segmentations_of_a_tokenizer_json() -> None:
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("a", -3.0), ("b", -2.0), ("ab", -4.5), ("▁a", -4.0)]
    theirs = tokenizers.Tokenizer(models.Unigram(pieces, 0, byte_fallback=False))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    ours = formats.parse({"tokenizer.json": theirs.to_str().encode()})
    assert ours.scored_words("ab b") == [("▁ab", 0, 2), ("▁b", 2, 4)]
    assert segmentations(ours, "▁ab", 2) == [([5, 3], -6.0), ([1, 4], -6.5)]
    assert theirs.encode("ab", add_special_tokens=False).ids == [5, 3]
    assert [ids for ids, _ in segmentations(ours, "▁xb", 2)] == [[1, 0, 3]]
    assert theirs.encode("xb", add_special_tokens=False).ids == [1, 0, 3]
    theirs.add_special_tokens(["<s>"])
    ours = formats.parse({"tokenizer.json": theirs.to_str().encode()})
    found = inspect("ab<s>b a", ours, ["<s>"])
    assert scored_words(found) == [("▁ab", 0, 2), ("▁b", 5, 6), ("▁a", 6, 8)]
    assert [ids_between(found, start, end) for _, start, end in scored_words(found)] == [
        [5, 3],
        [1, 3],
        [5],
    ]
    without_scores = formats.parse({"m.model": sentencepiece_model(model_type="bpe")})
    assert without_scores.scored_words("ab") == []


KMERS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "AAA", "AAC", "ACG", "CGT"]


@pytest.mark.parametrize("lower", [True, False])
def test_vocabulary_of_bert_opens_as_lines_and_as_json(lower: bool) -> None:
    vocabulary = {entry: i for i, entry in enumerate(KMERS)}
    if lower:
        vocabulary = of_kind("BERT").get_vocab()
    entries = sorted(vocabulary, key=vocabulary.__getitem__)
    theirs = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=lower)
    theirs._tokenizer.encode_special_tokens = True
    for name, content in (
        ("vocab.txt", "".join(f"{entry}\n" for entry in entries)),
        ("vocab.json", json.dumps(vocabulary)),
        ("a.json", json.dumps(vocabulary, indent=2)),
    ):
        files = {name: content.encode()}
        ours = formats.parse(files)
        assert ours.unknown_id == vocabulary["[UNK]"]
        for text in ("AAA AAC ACG CGT", "the abc AB abs x", "aAA", *DIFFICULT[::3]):
            assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids
        assert "Those of BERT are assumed" in formats.assumption(files)


@pytest.mark.parametrize("key", ["_bpe_model", "_model"])
def test_tokenizer_inside_a_file_of_miditok_opens(key: str) -> None:
    theirs = tokenizers.Tokenizer(models.BPE({"Ā": 0, "ā": 1, "Āā": 2}, [("Ā", "ā")]))
    document = {
        "config": {"use_chords": False},
        "_vocab_base": {"PAD_None": 0},
        key: theirs.to_str(),
    }
    ours = formats.parse(
        {"tokenizer.json": json.dumps(document | {"tokenization": "REMI"}).encode()}
    )
    assert ours.encode("ĀāĀ") == theirs.encode("ĀāĀ").ids == [2, 0]


def test_tekken_json_gives_the_ids_of_tiktoken_after_its_special_tokens() -> None:
    trained = bpeviz.train("\n".join(LINES), merges=300, pattern="o200k").tokenizer()
    document = tekken(trained, special=30, unused=50)
    ours = formats.parse({"a.json": json.dumps(document).encode()})
    theirs = tiktoken.Encoding(
        "tekken",
        pat_str=document["config"]["pattern"],
        mergeable_ranks={
            base64.b64decode(one["token_bytes"]): one["rank"] for one in document["vocab"][:506]
        },
        special_tokens={},
    )
    for text in DIFFICULT:
        ids = [rank + 30 for rank in theirs.encode_ordinary(text)]
        assert ours.encode(text) == ids
        assert ours.boundaries(text).ids(ours.steps).tolist() == ids
        assert ours.decode(ids) == text
    assert ours.special_tokens["[INST]"] == 3
    assert ours.special_tokens["<SPECIAL_29>"] == 29
    assert ours.encode("a[INST]", allowed_special={"[INST]"})[-1] == 3
    assert ours.steps == 250
    assert [*ours.find(ours.token_label(400))] == [400]


def tar_of(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()


SETTINGS = ("settings", "missing", "tokenizer.json")
WEIGHTS = ("weights", "missing")
ARCHIVE = ("archive", "Unpack")
UNKNOWN = ("unknown format", "tokenizer.json")
MESSAGES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "tokenizer_config.json": (
        b'{"model_max_length": 1000000000000000019884624838656, "bos_token": "<s>"}',
        SETTINGS,
    ),
    "generation_config.json": (b'{"bos_token_id": 1, "eos_token_id": 2}', SETTINGS),
    "preprocessor_config.json": (b'{"feature_extractor_type": "x"}', SETTINGS),
    "a.tiktoken.json": (b'{"pat_str": "a", "special_tokens": {}}', SETTINGS),
    "index.json": (b'{"weight_map": {"a": "b"}}', WEIGHTS),
    "vocab.json": (b'{"model": 0, "a": 1}', ("vocabulary", "merges.txt")),
    "merges": (b"a b\nab c\n", ("merges", "vocab.json")),
    "codes.txt": (b"#version: 0.2\nt h\nth e</w>\n", ("merges", "vocab.json")),
    "cut.json": (b'{"version": "1.0", "model": {"type": "BP', ("ends too early",)),
    "nan.json": (b'{"model": {"type": "BPE", "dropout": NaN', ("NaN is not a number in JSON.",)),
    "utf16.json": ('{"model": 1}'.encode("utf-16-le"), ("UTF-16", "UTF-8")),
    "tokenizer.json": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", ("Git LFS",)),
    "tokenizer.model": (b"<!DOCTYPE html><html>", ("web page",)),
    "model.safetensors": (b'\x40\0\0\0\0\0\0\0{"a":{}}', WEIGHTS),
    "model.bin": (archive.packed({"data.pkl": b"", "version": b"3"}), WEIGHTS),
    "a.npz": (archive.packed({"a.npy": b""}), WEIGHTS),
    "a.pkl": (b"\x80\x04K\x01.", ("pickle", "never loaded")),
    "a.gz": (b"\x1f\x8bxx", ("damaged .gz",)),
    "a.tar.gz": (gzip.compress(tar_of("tokenizer.json", b"{}")), ARCHIVE),
    "a.7z": (b"7z\xbc\xaf\x27\x1c", ARCHIVE),
    "a.py": (b"import os, sys\n", ("import os, sys", *UNKNOWN)),
    "random": (bytes(range(256)), ("binary", *UNKNOWN)),
    "dict.txt": (b"the 1061529\nof 700000\nand 700000\nto 1\n", UNKNOWN),
    "words.model": (b"the model\nis a text, not a model\n", ("the model", *UNKNOWN)),
    "head.tiktoken": (b"token rank\nIQ== 0\nIg== 1\n", ("line 1", "base64", "rank")),
}


def test_folder_of_a_marian_model_names_its_models(tmp_path: Path) -> None:
    content = sentencepiece_model(model_type="char")
    files = {"source.spm": content, "target.spm": content, "vocab.json": b'{"<unk>": 0, "a": 1}'}
    for name, one in files.items():
        (tmp_path / name).write_bytes(one)
    for made in (lambda: bpeviz.read(tmp_path), lambda: formats.parse(files)):
        refusal(made, naming=("source.spm", "target.spm"), error=FormatError)
    expected = formats.parse({"a.model": content}).encode("low")
    assert bpeviz.read(tmp_path / "source.spm").encode("low") == expected


@pytest.mark.parametrize("name", MESSAGES)
def test_message_names_the_kind_of_file_and_what_is_missing(name: str, tmp_path: Path) -> None:
    content, facts = MESSAGES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError) as refused:
        bpeviz.read(tmp_path / name)
    message = str(refused.value)
    assert message.startswith(name)
    assert [fact for fact in facts if fact not in message] == []


def test_file_with_a_byte_order_mark_opens() -> None:
    content = with_template(None).to_str().encode()
    plain, marked = (
        formats.parse({"tokenizer.json": mark + content}) for mark in (b"", b"\xef\xbb\xbf")
    )
    assert marked.encode("abba") == plain.encode("abba")


def test_sentencepiece_model_of_another_numbering_is_noted(tmp_path: Path) -> None:
    (tmp_path / "sentencepiece.bpe.model").write_bytes(sentencepiece_model(model_type="char"))
    settings = tmp_path / "tokenizer_config.json"
    settings.write_text('{"tokenizer_class": "XLMRobertaTokenizer"}')
    for path in (tmp_path, tmp_path / "sentencepiece.bpe.model"):
        assert "XLMRobertaTokenizer" in formats.assumption(bpeviz.api.files_at(path))
    settings.write_text('{"tokenizer_class": "T5Tokenizer"}')
    noted = formats.assumption(bpeviz.api.files_at(tmp_path))
    assert "T5Tokenizer decodes them to their names" in noted  # and has the same ids


def test_mark_covers_the_space_that_was_removed_before_it() -> None:
    """T5's tokenizer.json removes white space, and then adds ▁ before each word."""
    pieces = [("<unk>", 0.0), ("▁", -4.0), ("▁the", -3.0), ("n", -5.0), ("a", -5.0), ("ve", -5.0)]
    made = tokenizers.Tokenizer(models.Unigram(pieces, 0, byte_fallback=False))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    ours = formats.parse({"tokenizer.json": made.to_str().encode()})
    text = "the naïve 世a  the\na"
    found = inspect(text, ours, ())
    assert found.normalized.text == "▁the▁naïve▁世a▁the▁a"
    assert describe(found.units) == [
        "two spaces became one",
        "a line break was removed",
        "spaces are written as ▁",
        "a ▁ that is not in the text was added",
    ]
    spaced = [text.encode()[start:end].decode() for start, end, _ in covered(ours, text)]
    assert spaced == ["the", " ", "n", "a", "ï", "ve", " ", "世", "a", " the", "", "a"]
    assert found.pre_token_ends is not None
    ends = [*found.pre_token_ends]
    parts = [text.encode()[a:b].decode() for a, b in pairwise([0, *ends])]
    assert parts == ["the", " naïve", " 世a", " ", " the", "\n", "a"]


SPACES = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "seen"),
    [
        (SPACES, None, "▁a▁B<X>▁b▁A▁<X><X>▁▁a"),
        (None, pre_tokenizers.Metaspace(), "▁a▁B<X>▁b▁A▁<X><X>▁a"),
        (None, pre_tokenizers.Metaspace("_"), "_a_B<X>_b_A_<X><X>_a"),
        (None, pre_tokenizers.Metaspace(prepend_scheme="first"), "▁a▁B<X>b▁A▁<X><X>▁a"),
        (normalizers.Lowercase(), pre_tokenizers.Whitespace(), "a b<X>b a <X><X> a"),
    ],
)
def test_text_between_added_tokens_is_normalized_piece_by_piece(
    normalizer: Any, pre_tokenizer: Any, seen: str
) -> None:
    entries = {character: i for i, character in enumerate("▁_abAB")}
    made = tokenizers.Tokenizer(models.BPE(entries, []))
    made.normalizer, made.pre_tokenizer = normalizer, pre_tokenizer
    made.add_tokens([tokenizers.AddedToken("<X>", normalized=False)])
    ours = formats.parse({"tokenizer.json": made.to_str().encode()})
    text = "a B<X>b A <X><X> a"
    found = inspect(text, ours, ())
    assert found.normalized.text == seen
    added = [i for i, character in enumerate(seen) if character == "X"]
    assert [text[found.normalized.starts[i]] for i in added] == ["X", "X", "X"]
    assert found.pre_token_ends is not None
    assert {3, 6, 10, 13, 16} <= {*found.pre_token_ends}
    joined = "".join(ours.token_label(i) for i in ours.encode(text))
    assert joined == (seen if "▁" in seen else seen.replace(" ", ""))
    raw = b"".join(map(ours.token_bytes, ours.encode(text)))
    assert raw.decode() == joined.replace("▁", " ").replace("_", " ")


def test_too_many_compressed_files_are_refused_before_they_are_unzipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unzipped: list[str] = []
    monkeypatch.setattr(formats, "unzipped", lambda name, content: unzipped.append(name))
    files = {f"{name}.gz": gzip.compress(b"x") for name in "abc"}
    refusal(formats.parse, files, naming="3 files", error=FormatError)
    assert unzipped == []


def ids_at(tokenizer: Tokenizer, text: str, step: int) -> list[int | None]:
    found = tokenizer.boundaries(text).ids(step).tolist()
    return [tokenizer.unknown_id if i == UNKNOWN_ID else i for i in found if i != DROPPED_ID]


def test_sentencepiece_bpe_replays_by_scores() -> None:
    content = sentencepiece_model(model_type="bpe", byte_fallback=True, vocab_size=900)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=content)
    ours = formats.parse({"a.model": content})
    merged = [i for i in range(theirs.vocab_size()) if len(theirs.id_to_piece(i)) > 1]
    normal = [i for i in merged if not (theirs.is_byte(i) or theirs.is_control(i) or i == 0)]
    ranked = sorted(normal, key=lambda i: -theirs.get_score(i))
    assert [ours.merged_id(step) for step in range(ours.steps)] == ranked
    for text in DIFFICULT:
        assert ids_at(ours, text, ours.steps) == theirs.encode(text)
    step = ours.steps // 2
    known = {theirs.id_to_piece(i) for i in ranked[:step]}
    text = "the lower and the lowest"
    pieces = [*theirs.normalize(text)]
    while True:
        pairs = [
            (theirs.get_score(theirs.piece_to_id(pair)), -i, i)
            for i, pair in enumerate(map("".join, pairwise(pieces)))
            if pair in known
        ]
        if not pairs:
            break
        _, _, at = max(pairs)
        pieces[at : at + 2] = ["".join(pieces[at : at + 2])]
    assert ids_at(ours, text, step) == [theirs.piece_to_id(piece) for piece in pieces]


def test_added_tokens_are_marked_in_the_grid() -> None:
    theirs = tokenizers.Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    theirs.add_tokens(["ab"])
    theirs.add_special_tokens(["<s>"])
    ours = formats.parse({"tokenizer.json": theirs.to_str().encode()})
    found = inspect("aabb<s>", ours, ["<s>"])
    (part,) = parts_of(found.text, found.cuts, 100)
    tokens = [(token["id"], token["kind"]) for token in grid(found, part)["tokens"]]
    assert tokens == [(0, ""), (2, "special"), (1, ""), (3, "special")]
    notes = [token["note"] for token in grid(found, part)["tokens"]]
    assert "an added token" in notes[1]
    assert notes[3] == "a special token"


def test_marks_that_byte_fallback_spells_cover_nothing() -> None:
    entries = {f"<0x{byte:02X}>": byte for byte in range(256)}
    entries |= {"a": 256, "b</w>": 257}
    model = models.BPE(entries, [], end_of_word_suffix="</w>", byte_fallback=True)
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ours = formats.parse({"tokenizer.json": made.to_str().encode()})
    tokens = [(token.raw, token.start, token.end) for token in ours.tokens("xé ab")]
    marks = [(raw, 2, 2) for raw in (b"<", b"/", b"w", b">")]
    expected = [(b"x", 0, 1), (b"\xc3", 1, 2), (b"\xa9", 1, 2), *marks, (b"a", 3, 4), (b"b", 4, 5)]
    assert tokens == expected


def test_dropped_characters_inside_a_token_belong_to_it() -> None:
    names = ["n", "a", "v", "e", "na", "ve", "nave"]
    merges = [("n", "a"), ("v", "e"), ("na", "ve")]
    made = tokenizers.Tokenizer(models.BPE({name: i for i, name in enumerate(names)}, merges))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ours = formats.parse({"tokenizer.json": made.to_str().encode()})
    text = "naïve xx ave"
    tokens = [(token.raw, token.start, token.end) for token in ours.tokens(text)]
    assert tokens == [(b"nave", 0, 5), (b"a", 9, 10), (b"ve", 10, 12)]
    found = ours.boundaries(text)
    assert found.cuts(0).tolist()[:4] == [1, 4, 5, 6]
    assert Column("", ours, found, 3).dropped_from(text) == " xx "


def test_fuse_keeps_marks_as_the_library_does() -> None:
    entries = {piece: i for i, piece in enumerate(("▁", "##a", "Ġ", "b</w>"))}
    marks = {"continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"}
    made = tokenizers.Tokenizer(models.BPE(entries, [], **marks))
    made.decoder = decoders.Fuse()
    ours = formats.parse({"tokenizer.json": made.to_str().encode()})
    assert ours.decode([0, 1, 2, 3]) == made.decode([0, 1, 2, 3]) == "▁##aĠb</w>"

"""The model BPE of a tokenizer.json: merges over bytes, over characters, or of SentencePiece."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from bpeviz.core.byte_alphabet import BYTE_OF, CHARACTER_OF
from bpeviz.core.merges import MergeTokenizer, apply_merges
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.byte_alphabet import byte_symbols
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    ComponentJSON,
    added_tokens,
    bpe_model,
    check_added,
    document_of,
    replaced,
    require,
    split_at,
    splits,
    with_special,
)
from bpeviz.formats.merges import (
    MISSING_BYTES,
    MergeParser,
    Merges,
    pattern_of_ranks,
    tokenizer_of,
)
from bpeviz.formats.parsing import Node, quoted
from bpeviz.formats.rank_table import LoadedRanks
from bpeviz.formats.regex_dialects import DialectError, pattern_of
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.pretokenizers.pretokenizer import END_OF_WORD, PreTokenizer
from bpeviz.pretrained.rank_tokenizer import RankTokenizer
from bpeviz.trainers.sentencepiece_bpe import SPACE


def to_document(merges: Merges) -> dict[str, Any]:
    """Return the document of merges. Raises `UnsupportedError`."""
    pre_tokenizer = merges.pre_tokenizer
    settings: dict[str, Any] = {"unk_token": pre_tokenizer.unknown}
    normalizers: list[ComponentJSON] = []
    symbols = dict(merges.symbols)
    if pre_tokenizer.marks_spaces:
        symbols = {i: symbol.replace(SPACE, " ") for i, symbol in symbols.items()}
        fallback = pre_tokenizer.unknown is None
        settings |= {"byte_fallback": fallback, "fuse_unk": not fallback}
        normalizers, pre_tokenizers, decoder = _sentencepiece_parts(
            pre_tokenizer, merges.special.keys() - {pre_tokenizer.unknown}
        )
    elif pre_tokenizer.atoms == "bytes":
        if len(symbols) < 256:
            raise UnsupportedError(MISSING_BYTES)
        symbols = {i: CHARACTER_OF[ord(symbol)] for i, symbol in symbols.items()}
        pre_tokenizers = [*splits(pre_tokenizer.pattern, pre_tokenizer.expression), BYTE_LEVEL]
        decoder = BYTE_LEVEL
    else:
        if pre_tokenizer.end_mark == "symbol":
            raise UnsupportedError(
                "its end-of-word mark is a symbol, and in this format it is part of the last "
                "character"
            )
        decoder = {"type": "Fuse"}
        if pre_tokenizer.end_mark == "attached":
            _check_no_white_space(symbols.values())
            settings["end_of_word_suffix"] = END_OF_WORD
            decoder = {"type": "BPEDecoder", "suffix": END_OF_WORD}
        pre_tokenizers = splits(pre_tokenizer.pattern, pre_tokenizer.expression)
    spellings = merges.spellings(symbols)
    entries = {name: token_id for token_id, name in spellings.items()}
    if pre_tokenizer.unknown is not None:
        entries[pre_tokenizer.unknown] = merges.special[pre_tokenizer.unknown]
    entries = with_special(entries, merges.special)
    if pre_tokenizer.atoms == "characters":
        for name in merges.special:
            if name in entries and len(name.removesuffix(END_OF_WORD)) == 1:
                raise UnsupportedError(
                    f"the library would encode the character {quoted(name)} of a text as its "
                    "special token"
                )
    pairs = ((spellings[left], spellings[right]) for left, right, _ in merges.merges)
    return document_of(
        bpe_model(entries, pairs, **settings),
        merges.special,
        normalizers=normalizers,
        pre_tokenizers=pre_tokenizers,
        decoder=decoder,
    )


def _check_no_white_space(symbols: Collection[str]) -> None:
    if any(symbol.removesuffix(END_OF_WORD).isspace() for symbol in symbols):
        raise UnsupportedError(
            "it contains white space without an end-of-word mark, and the library marks every "
            "pre-token (train on words with counts to have none)"
        )


def _sentencepiece_parts(
    pre_tokenizer: PreTokenizer, special: Collection[str]
) -> tuple[list[ComponentJSON], list[ComponentJSON], ComponentJSON]:
    """Return normalizers, pre-tokenizers and the decoder.

    A space stays a space, since a ▁ in a text is another character. The dummy prefix is a space
    before each line that is not empty, also after a special token.
    """
    if pre_tokenizer.pattern != "none":
        raise UnsupportedError(
            f"its pre-tokenization {pre_tokenizer.pattern} precedes the ▁ at the start of a line, "
            "and in this format it would follow (train it with --pattern none instead)"
        )
    normalizers: list[ComponentJSON] = []
    marks: list[ComponentJSON] = []
    strip: list[ComponentJSON] = []
    if pre_tokenizer.adds_prefix:
        normalizers = [
            replaced({"Regex": r"\n(?=[^\n])"}, "\n "),
            {"type": "Prepend", "prepend": " "},
            replaced({"Regex": r"\A (?=\n)"}, ""),
        ]
        # Of the tokens, only special ones are whole names. Joined, they look like other text.
        marks = [
            replaced({"Regex": rf"\A{re.escape(name)}\z"}, name + _AFTER_SPECIAL)
            for name in sorted(special)
        ]
        strip = [replaced({"Regex": rf"(?<![^\n]) |{_AFTER_SPECIAL} ?"}, "")]
    decoders = [{"type": "ByteFallback"}, *marks, {"type": "Fuse"}, *strip]
    return normalizers, [_WORDS], {"type": "Sequence", "decoders": decoders}


_AFTER_SPECIAL = "\U0010fffe\U0010ffff"
"""Two noncharacters, which Unicode reserves for the inside of a program."""


_WORDS = split_at(r"\n| [^ \n]*|[^ \n]+")
"""The words of lines, each with the space before it, as `SentencePiecePreTokenizer` splits."""


def merges_of_document(document: Node) -> Merges:
    """Return the merges of a tokenizer.json over bytes, which encode every text as its library.

    That is true if its expression splits a text here as there; see `pattern_of`.

    Raises:
        FormatError: the file is not valid.
        UnsupportedError: merges with one expression cannot represent it.
    """
    vocabulary, special, pattern = _vocabulary_and_pattern(document)
    entries = vocabulary.vocabulary()
    symbols = byte_symbols(vocabulary, entries)
    parser = MergeParser(document.file, symbols, entries=entries)
    for number, pair in enumerate(_pairs(document["model"]["merges"])):
        parser.add_spelled(f"model.merges[{number}]", *pair)
    for name, token_id in entries.items():
        if token_id not in parser.known and special.get(name) != token_id:
            raise UnsupportedError(f"no merges make its token {quoted(name)}")
    merges = Merges(PreTokenizer("bytes", *pattern), symbols, parser.merges, special)
    if document["model"]["ignore_merges"].value:
        _check_ignore_merges(tokenizer_of("", merges), entries, special)
    return merges


def ranks_of_document(document: Node) -> LoadedRanks:
    """Return the ranks of a tokenizer.json whose ids are in the order of its merges.

    As Llama 3's, it may list several merges for a token, and tokens that no merges make.

    Raises:
        FormatError: the file is not valid.
        UnsupportedError: ranks cannot represent it.
    """
    vocabulary, special, pattern = _vocabulary_and_pattern(document)
    entries = vocabulary.vocabulary()
    require(
        {*byte_symbols(vocabulary, entries)} == {*range(256)},
        "its bytes have other ids than 0 to 255",
    )
    ids = [entries.get(left + right, -1) for left, right in _pairs(document["model"]["merges"])]
    require(ids == sorted(ids), "its ids are not in the order of its merges")
    ranks = {
        bytes(map(BYTE_OF.__getitem__, name)): token_id
        for name, token_id in entries.items()
        if name not in special and all(character in BYTE_OF for character in name)
    }
    require(len(ranks) == len(entries.keys() - special.keys()), "its tokens are not bytes alone")
    return LoadedRanks("ranks", *pattern, ranks, special)


def document_of_ranks(tokenizer: RankTokenizer) -> dict[str, Any]:
    """Return the document of ranks of which merges of lower ranks do not make every token.

    As in Llama 3's file, each two tokens that make a third one are a merge, and `ignore_merges`
    takes a pre-token whole if it is a token. Raises `UnsupportedError`.
    """
    ranks = sorted(tokenizer._ranks.items(), key=lambda item: item[1])
    spelled = {raw: "".join(map(CHARACTER_OF.__getitem__, raw)) for raw, _ in ranks}
    merges = [
        [spelled[raw[:i]], spelled[raw[i:]]]
        for raw, _ in ranks
        for i in range(1, len(raw))
        if raw[:i] in spelled and raw[i:] in spelled
    ]
    entries = with_special({spelled[raw]: rank for raw, rank in ranks}, tokenizer.special_tokens)
    return document_of(
        bpe_model(entries, merges, ignore_merges=True),
        tokenizer.special_tokens,
        pre_tokenizers=[*splits(*pattern_of_ranks(tokenizer)), BYTE_LEVEL],
        decoder=BYTE_LEVEL,
    )


def _vocabulary_and_pattern(document: Node) -> tuple[Node, dict[str, int], tuple[str, str]]:
    """Return the vocabulary, the special tokens and the pattern of a tokenizer over bytes.

    Raises:
        FormatError: the file is not valid.
        UnsupportedError: its settings need a tokenizer.json.
    """
    model = document["model"]
    # Older files do not name the model BPE.
    kind = model["type"].value or ("BPE" if "merges" in model else None)
    require(kind == "BPE", f"its model is {kind}, which does not merge")
    normalizer = document["normalizer"].value
    if isinstance(normalizer, dict) and normalizer.get("type") == "Sequence":
        normalizer = normalizer.get("normalizers")
    require(
        not normalizer,
        "it normalizes a text before it splits it, which only a tokenizer.json can contain",
    )
    pattern = _pattern(document["pre_tokenizer"])
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        require(not model[key].value, "its tokens contain marks of the start or the end of a word")
    special = added_tokens(document["added_tokens"])
    check_added(model["vocab"].vocabulary(), special)
    return model["vocab"], special, pattern


def _pairs(merges: Node) -> list[tuple[str, str]]:
    """Return merges: lists of two, or in older files texts with a space between two."""
    pairs = []
    for entry in merges.list():
        pair = entry.split(" ") if isinstance(entry, str) else entry
        require(isinstance(pair, list) and len(pair) == 2, "its merges are not pairs")
        require(all(isinstance(half, str) and half for half in pair), "its merges are not pairs")
        pairs.append((pair[0], pair[1]))
    return pairs


_CHARACTERS = "its atoms are characters, and only files over bytes are converted"


def _pattern(pre_tokenizer: Node) -> tuple[str, str]:
    """Return the pattern of a pre-tokenizer that ends in a ByteLevel."""
    before: list[Node] = []
    last = pre_tokenizer
    if last.value is not None and last["type"].value == "Sequence":
        before = [*pre_tokenizer["pretokenizers"].nodes()]
        require(bool(before), _CHARACTERS)
        last = before.pop()
    require(last.value is not None and last["type"].value == "ByteLevel", _CHARACTERS)
    require(
        not last["add_prefix_space"].value,
        "it adds a space before a text, which only a tokenizer.json can contain",
    )
    own_pattern = last["use_regex"].value is not False
    require(
        own_pattern + len(before) < 2,
        "it splits a text by several rules, and this format has one expression",
    )
    if before:
        return _split(before[0])
    return ("gpt2", "") if own_pattern else ("none", "")


def _split(part: Node) -> tuple[str, str]:
    """Return the pattern and the expression of a `Split`."""
    kind = part["type"].value
    require(kind == "Split", f"it splits a text by “{kind}”, and this format has an expression")
    expression = part["pattern"]["Regex"].value
    invert = bool(part["invert"].value)
    # The matches are the pre-tokens.
    is_split = isinstance(expression, str) and part["behavior"].value == (
        "Removed" if invert else "Isolated"
    )
    require(is_split, "it removes or joins the parts that its expression matches")
    try:
        pattern = pattern_of(expression, "oniguruma")
    except DialectError as error:
        raise UnsupportedError(f"its expression cannot be used elsewhere: {error}") from error
    require(
        not invert or pattern[0] != CUSTOM,
        "it drops the text that its expression does not match",
    )
    return pattern


def _check_ignore_merges(
    tokenizer: Tokenizer, entries: Mapping[str, int], special: Mapping[str, int]
) -> None:
    """Raise `UnsupportedError` if merging a known pre-token does not give its own id."""
    dense = cast("MergeTokenizer", tokenizer.with_dense_ids)
    for merge in dense.merges:
        merged = apply_merges(dense.atoms_of(merge.new_id), dense._rank)
        require(merged == (merge.new_id,), "some of its tokens are used only as a whole")
    for name in special:
        require(
            name not in entries or not all(character in BYTE_OF for character in name),
            f"a text that spells out its special token {quoted(name)} is that token",
        )

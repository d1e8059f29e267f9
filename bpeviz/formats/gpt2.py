"""GPT-2's two files: vocab.json, an id for each token, and merges.txt, one merge a line.

OpenAI's own are called encoder.json and vocab.bpe. They say nothing about the split, which is
GPT-2's, nor which entries are special tokens: those that are no byte and that no merge makes.
"""

from __future__ import annotations

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.byte_alphabet import BYTE_OF, CHARACTER_OF, check_bytes
from bpeviz.formats.merges import CannotError, Merges, built, merges_of, split_of_ranks
from bpeviz.formats.parsing import (
    Format,
    FormatError,
    as_json,
    json_of,
    lines_of,
    shown,
    shown_name,
    vocabulary,
    wrong,
)
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.pretrained.rank_tokenizer import RankTokenizer

FORMAT = Format(
    "gpt2",
    "GPT-2’s vocab.json and merges.txt",
    "Two files, an id for each token and one merge a line, for merges over bytes with GPT-2’s "
    "split; what is neither a byte nor merged is a special token.",
    ("vocab.json", "merges.txt"),
)

_OTHER_SPLIT = "its split is not GPT-2’s, and whoever reads these files takes that"


def write(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the two files. Raises `CannotError`."""
    if isinstance(tokenizer, RankTokenizer) and split_of_ranks(tokenizer)[0] != "gpt2":
        raise CannotError(_OTHER_SPLIT)
    merges = merges_of(tokenizer)
    if merges.pre_tokenizer.atoms != "bytes":
        raise CannotError("its atoms are characters, and there they are bytes")
    if merges.pre_tokenizer.pattern != "gpt2":
        raise CannotError(_OTHER_SPLIT)
    if len(merges.symbols) < 256:
        raise CannotError("it does not know all 256 bytes")
    written = {i: CHARACTER_OF[ord(symbol)] for i, symbol in merges.symbols.items()}
    spelt = merges.spelt(written)
    entries = {name: token_id for token_id, name in spelt.items()} | dict(merges.special)
    by_id = dict(sorted(entries.items(), key=lambda entry: entry[1]))
    lines = ["#version: 0.2", *(f"{spelt[a]} {spelt[b]}" for a, b, _ in merges.merges)]
    return {
        "vocab.json": as_json(by_id, FORMAT.title),
        "merges.txt": "".join(f"{line}\n" for line in lines).encode(),
    }


def read(name: str, files: dict[str, bytes]) -> Tokenizer:
    """Return the tokenizer of the two files. Raises `FormatError` and `CannotError`."""
    of_ids = [one for one in files if one.lower().endswith(".json")]
    of_merges = [one for one in files if one not in of_ids]
    if len(of_ids) != 1 or len(of_merges) != 1:
        given = ", ".join(map(shown_name, files)) or "nothing"
        raise FormatError(
            f"Two files are needed, vocab.json and merges.txt, and these were given: {given}."
        )
    entries = vocabulary(of_ids[0], "", json_of(of_ids[0], files[of_ids[0]]))
    check_bytes(of_ids[0], "", entries)
    merges, known = read_merges(of_merges[0], files[of_merges[0]], entries)
    special = {entry: token_id for entry, token_id in entries.items() if token_id not in known}
    if "" in special:
        raise wrong(of_ids[0], "the key ''", "a token has one character or more")
    symbols = {entries[character]: chr(byte) for character, byte in BYTE_OF.items()}
    return built(name, Merges(PreTokenizer("bytes", "gpt2"), symbols, merges, special))


def read_merges(
    name: str, content: bytes, entries: dict[str, int]
) -> tuple[list[tuple[int, int, int]], set[int]]:
    """Read merges, one a line; return them, and the ids of the bytes and of what they make."""
    lines = lines_of(name, content)
    first = 1
    if lines and lines[0].startswith("#version"):
        del lines[0]
        first = 2
    reader = PairReader(name, entries, {entries[character] for character in BYTE_OF})
    for number, line in enumerate(lines, first):
        if not line and number == first + len(lines) - 1:
            break
        pair = line.split(" ", 2)
        if len(pair) != 2 or not all(pair):
            raise wrong(
                name,
                f"line {number:,}",
                f"expected two tokens with one space between them, not {shown(line)}",
            )
        reader.add(f"line {number:,}", *pair)
    return reader.merges, reader.known


class PairReader:
    """Turns pairs of tokens, as they are spelt, into merges, and checks each.

    atoms: the ids of what no merge makes.
    """

    def __init__(self, name: str, entries: dict[str, int], atoms: set[int]) -> None:
        self.name, self.entries = name, entries
        self.known = {*atoms}  # the ids of what is there by now
        self.merges: list[tuple[int, int, int]] = []

    def add(self, where: str, left: str, right: str) -> None:
        ids = []
        for half in (left, right):
            token_id = self.entries.get(half)
            if token_id is None:
                raise wrong(self.name, where, f"{shown(half)} is not in the vocabulary")
            if token_id not in self.known:
                raise wrong(self.name, where, f"{shown(half)} is used before a merge makes it")
            ids.append(token_id)
        new = self.entries.get(left + right)
        if new is None:
            made = shown(left + right)
            raise wrong(self.name, where, f"what it makes, {made}, is not in the vocabulary")
        if new in self.known:
            raise wrong(
                self.name,
                where,
                f"{shown(left + right)} is there already, and two merges that make one token are "
                "not taken here",
            )
        self.known.add(new)
        self.merges.append((ids[0], ids[1], new))

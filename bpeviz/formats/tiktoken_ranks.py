"""tiktoken's ranks: a line for each token, its bytes in base64 and its rank, which is its id.

Such a file says neither how a text is split nor which special tokens there are: tiktoken is told so
in code. So a second file goes with it, with these arguments of `tiktoken.Encoding` in JSON:

    ranks = tiktoken.load.load_tiktoken_bpe("tokenizer.tiktoken")
    arguments = json.load(open("tokenizer.tiktoken.json"))
    encoding = tiktoken.Encoding(mergeable_ranks=ranks, **arguments)
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.merges import CannotError, by_ranks, merges_of, split_of_ranks
from bpeviz.formats.parsing import (
    MAX_TOKEN,
    Format,
    FormatError,
    Keys,
    as_json,
    json_of,
    lines_of,
    number,
    shown,
    shown_name,
    vocabulary,
    wrong,
)
from bpeviz.formats.rank_table import LoadedRanks
from bpeviz.formats.regex_dialects import ForeignExpressionError, matching_all, splitting_of
from bpeviz.pretrained import catalog
from bpeviz.pretrained.rank_tokenizer import RankTokenizer

FORMAT = Format(
    "tiktoken",
    "tiktoken’s ranks",
    "A line for each token, its bytes in base64 and its rank; a second file says the split and the "
    "special tokens, which tiktoken is told in code.",
    ("tokenizer.tiktoken", "tokenizer.tiktoken.json"),
)

_PUBLISHED = {
    "cl100k_base": (
        "cl100k",
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": ("o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
}
"""The split and the special tokens of the files that tiktoken publishes
(`tiktoken_ext/openai_public.py`)."""


def write(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the two files. Raises `CannotError`."""
    special = dict(tokenizer.special_tokens)
    if isinstance(tokenizer, RankTokenizer):
        ranks = dict(tokenizer._ranks)
        pattern, expression = split_of_ranks(tokenizer)
    else:
        merges = merges_of(tokenizer)
        ranks = by_ranks(merges)
        pattern, expression = merges.pre_tokenizer.pattern, merges.pre_tokenizer.expression
    try:
        written = matching_all(pattern, expression, "rust")
    except ForeignExpressionError as error:
        raise CannotError(f"its split cannot be written for tiktoken: {error}") from error
    lines = sorted(ranks.items(), key=lambda item: item[1])
    arguments = {"name": tokenizer.name, "pat_str": written, "special_tokens": special}
    return {
        "tokenizer.tiktoken": b"".join(
            base64.b64encode(raw) + f" {rank}\n".encode() for raw, rank in lines
        ),
        "tokenizer.tiktoken.json": as_json(arguments, FORMAT.title),
    }


def read(name: str, files: dict[str, bytes], pattern: str, expression: str) -> Tokenizer:
    """Return the tokenizer of ranks. Raises `FormatError`.

    pattern, expression: the split, where no second file says it; pattern may be "".
    """
    of_arguments = [one for one in files if one.lower().endswith(".json")]
    of_ranks = [one for one in files if one not in of_arguments]
    if len(of_ranks) != 1 or len(of_arguments) > 1:
        raise FormatError(
            "One file of ranks is needed, a .tiktoken, and perhaps the .json that goes with it."
        )
    ranks = _ranks(of_ranks[0], files[of_ranks[0]])
    special: dict[str, int] = {}
    if of_arguments:
        file = of_arguments[0]
        keys = Keys.of(file, "", json_of(file, files[file]))
        keys.get("name")
        try:
            pattern, expression = splitting_of(keys.text("pat_str"), "rust", drops=True)
        except ForeignExpressionError as error:
            raise keys.wrong(
                "pat_str", f"this split is not read here as by tiktoken: {error}"
            ) from None
        special = vocabulary(file, "special_tokens", keys.get("special_tokens", {}))
        keys.done()
        taken = {*ranks.values()}
        for entry, token_id in special.items():
            if token_id in taken:
                raise wrong(
                    file,
                    f"special_tokens[{shown(entry)}]",
                    f"{token_id} is the rank of a token already",
                )
        if "" in special:
            raise keys.wrong("special_tokens", "a special token has one character or more")
    else:
        digest = hashlib.sha256(files[of_ranks[0]]).hexdigest()
        for published, (split, special_tokens) in _PUBLISHED.items():
            if any(file.sha256 == digest for file in catalog.files(published)):
                pattern, expression, special = split, "", special_tokens
    if not pattern:
        raise FormatError(
            f"{shown_name(of_ranks[0])} does not say how a text is split, and no such file does; "
            f"choose a split for it, or give its {FORMAT.files[1]} as well."
        )
    return LoadedRanks(name, pattern, expression, ranks, special)


def _ranks(file: str, content: bytes) -> dict[bytes, int]:
    lines = lines_of(file, content)
    ranks: dict[bytes, int] = {}
    line_of: dict[int, int] = {}
    for place, line in enumerate(lines, 1):
        if not line:
            continue
        where = f"line {place:,}"
        parts = line.split(" ", 2)
        if len(parts) != 2:
            raise wrong(file, where, f"expected base64, a space and a rank, not {shown(line)}")
        try:
            raw = base64.b64decode(parts[0], validate=True)
        except (binascii.Error, ValueError):
            raise wrong(file, where, f"{shown(parts[0])} is not base64") from None
        if not raw:
            raise wrong(file, where, "a token has one byte or more")
        if len(raw) > MAX_TOKEN:
            raise wrong(file, where, f"a token may have {MAX_TOKEN:,} bytes, not {len(raw):,}")
        rank = number(file, where, parts[1])
        if raw in ranks:
            raise wrong(file, where, f"the token {shown(raw)} is there already")
        if rank in line_of:
            raise wrong(file, where, f"the rank {rank} is that of line {line_of[rank]:,} already")
        ranks[raw] = rank
        line_of[rank] = place
    for byte in range(256):
        rank_of_byte = ranks.get(bytes([byte]))
        if rank_of_byte is None:
            raise FormatError(
                f"{shown_name(file)} has no line for the byte 0x{byte:02X}, so a text that holds "
                "it could not be encoded."
            )
        if rank_of_byte > 255:
            raise wrong(
                file,
                f"line {line_of[rank_of_byte]:,}",
                f"the byte 0x{byte:02X} has the rank {rank_of_byte}, and here single bytes must "
                "have the ranks 0 to 255",
            )
    return ranks

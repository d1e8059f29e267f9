"""Mistral's tekken.json: tiktoken's ranks with their pattern, after a block of special tokens.

Source: `Tekkenizer` in mistralai/mistral-common. The ids of special tokens come first, so the id of
a token is its rank plus their number. Ranks above the size of the vocabulary are not used.
"""

from __future__ import annotations

from collections.abc import Mapping

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import Format, Source
from bpeviz.formats.parsing import MAX_ID, Node, checked_text, parse_base64, parse_json
from bpeviz.formats.rank_table import LoadedRanks
from bpeviz.formats.regex_dialects import pattern_in
from bpeviz.formats.remapped_ids import RemappedTokenizer
from bpeviz.formats.tiktoken_ranks import ranks_encoder
from bpeviz.formats.verification import check
from bpeviz.pretokenizers.patterns import CUSTOM

_FIRST_SPECIAL = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)
"""The special tokens of files that do not list them."""


def _read(source: Source) -> Tokenizer:
    document = parse_json(*source.single())
    config = document["config"]
    size = config["default_vocab_size"].id()
    count = config["default_num_special_tokens"].id()
    if size - count < 256:
        raise config.error(f"{size:,} ids are too few for {count:,} special tokens and 256 bytes")
    written = config["pattern"]
    pattern = pattern_in(written, "rust")
    ranks: dict[bytes, int] = {}
    for entry in document["vocab"].nodes():
        rank = entry["rank"].id()
        if rank < size - count:
            written_token = entry["token_bytes"]
            raw = parse_base64(document.file, written_token.path, written_token.text())
            ranks[raw] = rank
    if len(ranks) < size - count or len({*ranks.values()}) < len(ranks):
        raise document["vocab"].error(f"expected {size - count:,} tokens with different ranks")
    special = _special(document, count)
    try:
        # Its own ids of special tokens follow the ranks.
        own = {name: i for i, name in enumerate(special, size - count)}
        dense = LoadedRanks(source.name, *pattern, ranks, own)
    except ValueError as error:
        raise document["vocab"].error(str(error).rstrip(".")) from None
    if pattern[0] == CUSTOM:
        check(dense, ranks_encoder(ranks, written.text()))
    return RemappedTokenizer(dense, range(count, size), special)


def _special(document: Node, count: int) -> dict[str, int]:
    """Return the ids of the special tokens by name. Raises `FormatError`."""
    names = dict(enumerate(_FIRST_SPECIAL))
    if document["special_tokens"].value:
        nodes = document["special_tokens"].nodes()
        names = {node["rank"].id(): node["token_str"].text() for node in nodes}
    if count > MAX_ID // 2:
        raise document.error(f"{count:,} special tokens are too many")
    ids: dict[str, int] = {}
    for token_id in range(count):
        name = checked_text(document.file, "", names.get(token_id, f"<SPECIAL_{token_id}>"))
        ids.setdefault(name, token_id)
    return ids


def _detect(files: Mapping[str, bytes]) -> bool:
    content = next(iter(files.values()))
    return (
        len(files) == 1
        and content[:40].lstrip().startswith(b"{")
        and b'"default_num_special_tokens"' in content[:100_000]
    )


FORMAT = Format(
    key="tekken",
    title="Mistral’s tekken.json",
    about="One file with ranks, their pattern and the special tokens.",
    files=("tekken.json",),
    read=_read,
    detect=_detect,
)

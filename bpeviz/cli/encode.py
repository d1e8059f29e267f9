"""Turn text into ids.

Encode texts. Each file, also in a folder, is one text and gives a line: a JSON list of ids. So
does each row of the column of text of a table (CSV, TSV, JSONL, NDJSON, Parquet, or a list in
JSON); a line on standard error names the column. Files of gzip and Zstandard are unpacked. The
names of special tokens are encoded as plain text, unless --allow-special names them.

With --chat, each text is a user's message, or a conversation in JSON: a list of messages, such as
[{"role": "user", "content": "Hi"}], or an object with "messages" and "tools". Its other keys, also
those in "chat_template_kwargs", are variables of the template, such as "enable_thinking". After a
message of the assistant, the template does not begin another one. Qwen, Llama 3 and Mistral have
templates of bpeviz; standard error says where they differ from the model's own. It also warns of
control tokens in a message, with which a user can forge a turn; --safe makes them text.

Options:
  --lines: encode each line alone, one list a line
  --limit N: with --text, also count the rows of more than N tokens
  --tokens: print token labels instead of ids
  --normalized: print the normalized text, which is then split, as a JSON string
  --pre-tokens: print the pre-tokens, which no token crosses, as a JSON list
  --segmentations N: print the N best segmentations of each word with their log probabilities, as
    JSON, one word a line, for Unigram
  --steps: print the merges that change the text as JSON, one a line
  --round-trip: print as JSON whether decoding restores the text, and otherwise the differences
  --count: print the number of tokens, and the name of the file if there are several
  --json: print a JSON object: ids, tokens, and the start and end of each in characters (offsets)
    and in UTF-8 bytes (byte_offsets); with --chat also the role whose words each contains (roles),
    and whether a model is trained to write it (learned)
  --csv: with --text, print the row and its number of tokens as CSV
  --rendered: with --chat, print the text that the template makes, as a JSON string
  --color: with --tokens, color the tokens (default: auto, on a terminal)
  --allow-special NAME: encode this name in a text as the special token; `all` allows every name;
    repeat the option for several
  --chat: encode each text as a message or conversation in the chat template of the model, which is
    in tokenizer_config.json or chat_template.jinja beside the tokenizer, or in a GGUF file; all
    names of special tokens are then special
  --safe: with --chat, encode names of special tokens in messages as text, so that no message forges
    a turn
  --template: add the tokens that the model expects around a text, such as BOS and EOS, if the
    tokenizer's file names them; a chat template usually writes BOS itself
  --system TEXT: with --chat, a system prompt before the messages
  --merges N: apply only the first N merges of the tokenizer

Examples:
  echo -n "hello world" | python -m bpeviz encode --tokenizer gpt2
  python -m bpeviz encode page.txt --tokenizer tokenizer.json --tokens
  python -m bpeviz encode *.txt --tokenizer o200k_base --count
  python -m bpeviz encode rows.csv --text message --tokenizer gpt2 --count --limit 512
  python -m bpeviz encode page.txt --tokenizer gpt2 --json --output tokens.json
  python -m bpeviz encode page.txt --tokenizer gpt2 | python -m bpeviz decode --tokenizer gpt2

With --text, --count, --json and --csv give the tokens of each row or conversation of a table, and
a line on standard error their sum, median and 95% quantile.

With --lines, each line of a text is encoded alone, without its line end; `decode --lines` restores
the line ends. In the labels of --tokens, · is a space, → a tab, ↵ a line end, and ⟨C3⟩ a byte that
is not a character. On a terminal, tokens have the colors of the pages. `compare --html` writes the
colored text as a web page.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate, pairwise, zip_longest
from typing import Any

import numpy as np

from bpeviz import installation
from bpeviz.analysis import trace
from bpeviz.analysis.conversation import (
    ConversationToken,
    EncodedConversation,
    encode_conversation,
)
from bpeviz.analysis.round_trip import round_trip
from bpeviz.analysis.token_lookup import color_index_of
from bpeviz.analysis.trace import Inspection
from bpeviz.cli import arguments, files, named_texts
from bpeviz.cli.arguments import Command, exclusive, flags, integer, option
from bpeviz.cli.errors import CommandError, UsageError, print_error
from bpeviz.cli.progress import Progress
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.core.lattice import score
from bpeviz.core.special_names import split_at_names
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.files import STANDARD, named
from bpeviz.corpus.tables import TextTable
from bpeviz.libraries.chat_template import ChatTemplate, conversation
from bpeviz.text import clean, split_lines, visible
from bpeviz.views.table import Table


def run(options: argparse.Namespace) -> int:
    """Encode every file; return the exit code."""
    given = options.files or [STANDARD]
    if absent := [path for path in given if path != STANDARD and not os.path.exists(path)]:
        how = f"echo -n {shlex.quote(visible(absent[0]))} | python -m bpeviz encode --tokenizer …"
        raise CommandError(f"There is no file {named(absent[0])}. “{how}” encodes a text.")
    options.label = None
    if options.lines or (options.chat and not options.text):
        setattr(options, "as", "text")
    sources = named_texts.files_of(given, options)
    paths = [source.path for source in sources]
    progress = files.begin(options, paths)
    form = next((name for name in (*_FORMS, *_TABLE_FORMS) if vars(options).get(name)), "ids")
    _check(form, paths, options)
    encoder = _encoder(options, progress)
    lines: list[str] = []
    if options.text:
        with progress.during(f"Encoding {named(paths[0])}"):
            lines.append(_TABLE_FORMS[form](*encoder.rows(paths[0])))
        sources = []
    for source, content in named_texts.readable(sources, options, print_error):
        path = source.path
        if isinstance(content, TextTable):
            print_error(content.about(grouped=False))
            texts: Sequence[str] = content.documents.texts
        else:
            texts = split_lines(content) if options.lines else [content]
        name = f" {named(path)}" if form == "count" and len(paths) > 1 else ""
        with progress.during(f"Encoding {named(path)}, {sum(map(len, texts)):,} characters"):
            for text in texts:
                values = _FORMS[form](encoder, *encoder.read(text))
                printed = values if form == "tokens" else map(files.as_json, values)
                lines += (f"{line}{name}\n" for line in printed)
    files.write_output(options.output, "".join(lines))
    for warning in encoder.warnings:
        print_error(warning)
    return 0


def _check(form: str, paths: Sequence[str], options: argparse.Namespace) -> None:
    """Raise `UsageError` if options do not fit to each other."""
    if (options.system or options.rendered or options.safe) and not options.chat:
        raise UsageError("--system, --rendered and --safe need --chat.")
    if options.safe and form not in ("ids", "tokens", "count", "json", "csv"):
        raise UsageError("--safe is for ids, --tokens, --count and --json.")
    if not options.text and (options.csv or options.limit is not None):
        raise UsageError("--csv and --limit are for the rows of a table: name --text COLUMN.")
    if options.text and form not in _TABLE_FORMS:
        raise UsageError("--text counts the tokens of rows: add --count, --json or --csv.")
    if options.chat and len(options.text) > 1:
        raise UsageError("--chat takes one column of messages or conversations.")
    if options.text and (options.lines or len(paths) > 1):
        raise UsageError("--text is for one table, without --lines.")


def _check_merges(tokenizer: Tokenizer) -> None:
    """Raise `CommandError` if a tokenizer has no merges."""
    if (why := tokenizer.without_steps) is not None:
        raise CommandError(f"{tokenizer.name} has no merges: {why}.")


@dataclass(frozen=True)
class _Encoder:
    """Encodes texts with the options of the command.

    Attributes:
        tokenizer: The tokenizer.
        allowed: The names of special tokens that are special in a text.
        around: The ids of the template before and after each text.
        chat: The chat template, or None.
        options: The arguments.
        warnings: What begins the texts twice, and forged turns, in order.
    """

    tokenizer: Tokenizer
    allowed: Collection[str]
    around: tuple[Sequence[int], Sequence[int]]
    chat: ChatTemplate | None
    options: argparse.Namespace
    warnings: dict[str, None] = field(default_factory=dict)

    def read(self, text: str) -> tuple[str, EncodedConversation | None]:
        """Return a text; or with a chat template what it makes of it, and that encoded."""
        if self.chat is None:
            return text, None
        encoded = self.conversation(text, self.chat)
        return encoded.text, encoded

    def ids(self, text: str, encoded: EncodedConversation | None) -> list[int]:
        """Return the ids of a text with those around it, and note what is there twice."""
        ids = encoded.ids if encoded else self.tokenizer.encode(text, allowed_special=self.allowed)
        before, after = self.around
        if warning := trace.begins_twice(self.tokenizer, before, ids):
            self.warnings[warning] = None
        return [*before, *ids, *after]

    def inspect(self, text: str, *, template: bool = False) -> Inspection:
        """Return a text with the decisions of the tokenizer."""
        return trace.inspect(text, self.tokenizer, self.allowed, template=template)

    def conversation(self, text: str, chat: ChatTemplate) -> EncodedConversation:
        """Return a message or conversation as the model reads it, and note what forges a turn."""
        given, safe = conversation(text, self.options.system), self.options.safe
        encoded = encode_conversation(self.tokenizer, chat, given, safe=safe)
        notes = [encoded.safe_note] if safe else encoded.forged_notes
        notes += encoded.notes if self.options.json else []
        self.warnings.update(dict.fromkeys(filter(None, notes)))
        return encoded

    def conversation_ids(self, texts: Sequence[str], chat: ChatTemplate) -> list[list[int]]:
        """Return the ids of conversations. Those that cannot forge a turn are only rendered."""
        ids: dict[int, list[int]] = {}
        rendered: dict[int, str] = {}
        names: Collection[str] = ()
        for i, text in enumerate(texts):
            given = conversation(text, self.options.system)
            contents = [message.get("content") for message in given.messages]
            typed = "\0".join(content for content in contents if isinstance(content, str))
            is_plain = names and not (self.options.safe or self.options.json)
            if is_plain and not any(is_name for _, is_name in split_at_names(typed, names)):
                rendered[i] = chat.render(given)
                continue
            encoded = self.conversation(text, chat)
            ids[i] = encoded.ids
            names = {*self.allowed, *encoded.rendering.markers}
        batch = self.tokenizer.encode_batch([*rendered.values()], allowed_special=self.allowed)
        ids |= zip(rendered, batch, strict=True)
        return [ids[i] for i in range(len(texts))]

    def rows(self, path: str) -> tuple[dict[int, int], dict[str, float]]:
        """Return the tokens of each row or conversation by its number, and print their summary.

        With a chat template, these are the tokens of the text that it makes of each.

        Raises:
            ValueError: The file is not a valid table; the message is user-facing.
        """
        table = named_texts.read_table(path, self.options)
        print_error(table.about(grouped=False))
        tokens: dict[int, int] = {}
        for i, name in enumerate(table.text):
            chat = self.chat if i == 0 else None
            column = zip(table.numbers, table.columns[name], strict=True)
            cells = [cell for cell in (table.conversations if chat else column) if cell[1].strip()]
            texts = [text for _, text in cells]
            if chat is not None:
                encoded = self.conversation_ids(texts, chat)
            else:
                encoded = self.tokenizer.encode_batch(texts, allowed_special=self.allowed)
            for (number, _), ids in zip(cells, encoded, strict=True):
                tokens[number] = tokens.get(number, 0) + len(ids) + sum(map(len, self.around))
        counts = np.array([*tokens.values()], np.int64)
        summary: dict[str, float] = {"rows": len(counts), "tokens": int(counts.sum())}
        if len(counts):
            summary["median"] = float(np.median(counts))
            summary["95%"] = float(np.quantile(counts, 0.95, method="inverted_cdf"))
        if (limit := self.options.limit) is not None:
            summary[f"more than {limit:,}"] = int((counts > limit).sum())
        print_error(f"{', '.join(f'{name}: {n:,.12g}' for name, n in summary.items())}.")
        return tokens, summary


def _encoder(options: argparse.Namespace, progress: Progress) -> _Encoder:
    """Return the encoder of the options. Raises `ValueError`; the message is user-facing."""
    tokenizer = files.load_tokenizer(options.tokenizer, options, progress)
    if (count := options.merges) is not None:
        _check_merges(tokenizer)
        if count > tokenizer.steps:
            raise CommandError(f"{tokenizer.name} has {tokenizer.steps:,} merges, not {count:,}.")
        tokenizer = tokenizer.at_step(count)
    chat = files.load_chat_template(options.tokenizer) if options.chat else None
    known, allowed = {*tokenizer.special_tokens}, {*options.allow_special}
    if chat is not None:
        allowed = known
        if chat.about:
            print_error(chat.about)
    elif "all" in allowed - known:
        allowed = (allowed - {"all"}) | known
    around = tokenizer.template if options.template else ((), ())
    return _Encoder(tokenizer, allowed, around, chat, options)


# ---- Forms of a text: functions from it, and its conversation, to values


_Values = Iterable[object]


def _offsets(encoder: _Encoder, text: str, encoded: EncodedConversation | None) -> _Values:
    """Yield the tokens of a text with their offsets."""
    options = encoder.options
    encoder.ids(text, encoded)  # warns
    if encoded is not None:
        values = _conversation_offsets(encoded, *encoder.around)
    else:
        inspection = encoder.inspect(text, template=options.template)
        tokens = [token for token in inspection.pieces_with_template if token.id != DROPPED_ID]
        values = {
            "ids": [token.id for token in tokens],
            "tokens": [encoder.tokenizer.token_label(token.id) for token in tokens],
            "offsets": [(token.first, token.last) for token in tokens],
            "byte_offsets": [(token.start, token.end) for token in tokens],
        }
    yield values | files.note_on(options.tokenizer, options)


def _conversation_offsets(
    encoded: EncodedConversation, before: Sequence[int], after: Sequence[int]
) -> dict[str, object]:
    """Return the tokens of a conversation with their offsets, roles, and which are learned."""
    tokenizer, text = encoded.tokenizer, encoded.text
    ends = [0, *accumulate(len(character.encode()) for character in text)]
    roles = [message.role for message in encoded.messages]
    around = [
        [ConversationToken(i, "", at, at) for i in ids]
        for ids, at in ((before, 0), (after, len(text)))
    ]
    tokens = [*around[0], *encoded.tokens, *around[1]]
    places: list[tuple[int, int]] = []
    for token, following in zip_longest(tokens, tokens[1:]):
        # Tokens that share a character have its bytes one after the other.
        start = max(ends[token.start], places[-1][1] if places else 0)
        is_part = following is not None and following.start < token.end
        size = len(tokenizer.token_bytes(token.id))
        places.append((start, start + size if is_part else ends[token.end]))
    return {
        "ids": [token.id for token in tokens],
        "tokens": [tokenizer.token_label(token.id) for token in tokens],
        "offsets": [(token.start, token.end) for token in tokens],
        "byte_offsets": places,
        "roles": [None if token.message is None else roles[token.message] for token in tokens],
        "learned": [token.is_learned for token in tokens],
        "learned_from": encoded.learned_from,
    }


def _steps(encoder: _Encoder, text: str, _: object) -> _Values:
    """Yield the merges that change a text. Raises `CommandError`."""
    tokenizer = encoder.tokenizer
    _check_merges(tokenizer)
    for event in encoder.inspect(text).events:
        parents = None if event.id is None else tokenizer.parents(event.id)
        pair = [tokenizer.token_label(token_id) for token_id in parents or ()]
        yield {"step": event.step + 1, "id": event.id, "merged": pair}


def _round_trip(encoder: _Encoder, text: str, _: object) -> _Values:
    """Yield whether decoding restores a text, and its differences."""
    trip = round_trip(encoder.inspect(text))
    yield {"lossless": trip.lossless, "losses": [asdict(loss) for loss in trip.losses]}


def _pre_tokens(encoder: _Encoder, text: str, _: object) -> _Values:
    """Yield the pre-tokens of a text, as a list. Raises `CommandError`."""
    ends = encoder.tokenizer.pre_token_ends(text)
    if ends is None:
        raise CommandError(f"The pre-tokens of {encoder.tokenizer.name} are not known.")
    raw = clean(text).encode()
    yield [raw[start:end].decode() for start, end in pairwise([0, *ends.tolist()])]


def _segmentations(encoder: _Encoder, text: str, _: object) -> _Values:
    """Yield the best segmentations of each word. Raises `CommandError`."""
    tokenizer = encoder.tokenizer
    words = tokenizer.scored_words(text)
    if text and not words:
        raise CommandError(f"{tokenizer.name} does not score segmentations; Unigram does.")
    for word in words:
        best = [
            {
                "ids": [tokenizer.unknown_id if e.id == UNKNOWN_ID else e.id for e in path],
                "log_probability": score(path),
            }
            for path in tokenizer.word_lattice(word.text).nbest(encoder.options.segmentations)
        ]
        yield {"word": word.text, "segmentations": best}


def _labels(encoder: _Encoder, text: str, encoded: EncodedConversation | None) -> _Values:
    """Return the labels of tokens, with a space between them, in color if it is wanted."""
    tokenizer, options, ids = encoder.tokenizer, encoder.options, encoder.ids(text, encoded)
    # The name of a special token may contain a space; other labels do not.
    labels = {i: visible(tokenizer.token_label(i)).replace(" ", "·") for i in set(ids)}
    is_terminal = options.output == STANDARD and sys.stdout is not None and sys.stdout.isatty()
    wanted = is_terminal and not os.environ.get("NO_COLOR") and installation.has("rich")
    if options.color == "never" or (options.color == "auto" and not wanted):
        return [" ".join(labels[i] for i in ids)]
    from rich.console import Console  # only needed here, as is the palette of exports
    from rich.text import Text

    from bpeviz.palette import LIGHT

    looks = [f"{LIGHT.text} on {fill}" for fill in LIGHT.fills]
    colors = {i: color_index_of(tokenizer, i) for i in labels}
    styles = {i: looks[color] if color >= 0 else "" for i, color in colors.items()}
    colored = Text(" ").join(Text(labels[i], styles[i]) for i in ids)
    console = Console(
        force_terminal=True,
        color_system="auto" if is_terminal else "truecolor",
        no_color=False,
        legacy_windows=False,
    )
    with console.capture() as drawn:
        console.print(colored, end="", soft_wrap=True)
    return [drawn.get()]


_FORMS: dict[str, Callable[[_Encoder, str, EncodedConversation | None], Iterable[Any]]] = {
    "ids": lambda encoder, text, encoded: [encoder.ids(text, encoded)],
    "tokens": _labels,
    "count": lambda encoder, text, encoded: [len(encoder.ids(text, encoded))],
    "json": _offsets,
    "rendered": lambda _, text, encoded: [text],
    "normalized": lambda encoder, text, _: [encoder.tokenizer.normalized(text).text],
    "pre_tokens": _pre_tokens,
    "segmentations": _segmentations,
    "steps": _steps,
    "round_trip": _round_trip,
}
"""What is printed for a text: lines of labels, or values that are lines of JSON."""

_TABLE_FORMS: dict[str, Callable[[dict[int, int], dict[str, float]], str]] = {
    "json": lambda tokens, summary: (
        files.as_json(
            {"rows": [{"row": row, "tokens": tokens[row]} for row in tokens], "summary": summary}, 2
        )
        + "\n"
    ),
    "csv": lambda tokens, _: Table(["row", "tokens"], [[*tokens], [*tokens.values()]]).csv(),
    "count": lambda tokens, _: "".join(f"{count}\n" for count in tokens.values()),
}
"""What is printed for the rows of a table."""

COMMAND = Command(
    __doc__,
    run,
    arguments.FILES,
    *arguments.tokenizer(),
    *flags("--lines"),
    arguments.AS,
    arguments.TEXT_COLUMN,
    arguments.ENCODING,
    integer("--limit N"),
    exclusive(
        *flags("--tokens", "--normalized", "--pre-tokens"),
        integer("--segmentations N", 1),
        *flags("--steps", "--round-trip", "--count", "--json", "--csv", "--rendered"),
    ),
    option("--color", choices=("auto", "always", "never"), default="auto"),
    arguments.texts("--allow-special NAME"),
    *flags("--chat", "--safe", "--template"),
    arguments.text("--system TEXT"),
    integer("--merges N"),
    arguments.OUTPUT,
    arguments.PROGRESS,
)

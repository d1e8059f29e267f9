"""Conversations as a chat model reads them: whose words a token contains, and forged turns.

Positions are characters of the rendered text. A *control token* is a special token, or another
added token that the template writes. A *word* is a token with characters of a message, and
all others are the template's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import regex

from bpeviz.cached_property import cached_property
from bpeviz.core.special_names import shared, split_at_names, without_names
from bpeviz.core.tokenizer import Token, Tokenizer
from bpeviz.libraries.chat_template import ChatTemplate, Conversation
from bpeviz.text import clean, counted, joined

Span = tuple[int, int]
"""The first character and the one after the last."""

BLOCKS, RULE = "generation blocks", "assistant’s words and the control token after them"
"""Where the rule of the learned tokens comes from: the template, or an assumption."""

_PROBES = ("user", "assistant", "user"), ("system", "user", "assistant", "user")
"""The roles of conversations that show how the template begins a message."""

_HIDDEN = regex.compile(
    r"\U0001F3F4[\U000E0020-\U000E007E]+\U000E007F(*SKIP)(*FAIL)"  # the flag of Scotland
    r"|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}\p{Arabic}])[\u200c\u200d](*SKIP)(*FAIL)"
    r"|[\U000E0000-\U000E007F\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
"""Tag characters, zero-width characters and bidirectional controls, but for those of emoji and the
joiners of scripts that need them."""


@dataclass(frozen=True)
class ChatMessage:
    """A message of a conversation, and its place in the rendered text.

    Attributes:
        role: The role.
        content: Its content, or "" if that is not a text.
        spans: Its words in the rendered text, usually one span; none if they are not known.
        change: What the template did to it: "" for nothing, "stripped" of white space, "beginning
            dropped", "changed", "left out", or "unmarked", since its content is not a text.
    """

    role: str
    content: str
    spans: tuple[Span, ...] = ()
    change: str = ""

    @property
    def hidden(self) -> list[str]:
        """The hidden characters: tag and zero-width characters, and bidirectional controls."""
        return [match[0] for match in _HIDDEN.finditer(self.content)]

    @property
    def spelled(self) -> str:
        """The text that its tag characters spell."""
        codes = (ord(character) - 0xE0000 for character in self.hidden)
        return "".join(chr(code) for code in codes if 0x20 <= code < 0x7F)


class ConversationToken(NamedTuple):
    """A token of the rendered text.

    Attributes:
        id: The id.
        label: Its readable label.
        start: The first character that it contains at least a part of.
        end: The character after the last one.
        message: The number of the message, from 0, of which it contains characters, or None if it
            is the template's.
        is_control: Whether it is a special token.
        is_learned: Whether a model is trained to write it.
    """

    id: int
    label: str
    start: int
    end: int
    message: int | None = None
    is_control: bool = False
    is_learned: bool = False


@dataclass(frozen=True)
class ForgedTurn:
    """A part of a message's words that the model reads as another turn.

    Attributes:
        message: The number of the message, from 0.
        start: Its first character in the rendered text, that of a control token.
        end: The character after the last one.
        names: The control tokens, or markers in plain text, that it contains.
        role: The role that the model reads, or "" if there is only the end of a turn.
    """

    message: int
    start: int
    end: int
    names: tuple[str, ...]
    role: str


@dataclass(frozen=True)
class TurnChange:
    """The ids before and after a message is added, without the beginning of an answer.

    Attributes:
        message: The number of the added message, from 0.
        first: The index of the first id that changed, or None if none did.
        before: The ids of the messages before it, if some changed.
        after: The ids with it, if some changed.
    """

    message: int
    first: int | None = None
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """What adding the message changed."""
        if self.first is None:
            return f"Adding message {self.message + 1} changed no earlier id."
        return f"Adding message {self.message + 1} changed the ids from {self.first + 1} on."


@dataclass(frozen=True, eq=False)
class _Rendering:
    """The text that the template makes of a conversation.

    Attributes:
        text: The text.
        messages: The messages with their places.
        blocks: The parts inside {% generation %}, or None if the template does not have it.
        headers: How messages begin, as text with control tokens, with the role of each.
        openings: The control tokens with which they begin.
        markers: The parts of headers that are not special tokens, but other added tokens, or plain
            text if a header has no control token.
        bos: The name of the token with which the template's settings begin a text, or "".
    """

    text: str
    messages: tuple[ChatMessage, ...]
    blocks: tuple[Span, ...] | None
    headers: Mapping[str, str]
    openings: frozenset[str]
    markers: tuple[str, ...]
    bos: str

    @cached_property
    def word_spans(self) -> list[tuple[int, int, int]]:
        """The words of all messages in order: the first character, the end, the message."""
        return sorted(
            (start, end, i)
            for i, message in enumerate(self.messages)
            for start, end in message.spans
            if start < end
        )

    def roles(self, start: int, end: int) -> dict[int, str]:
        """Return where messages begin in a part of the text, as it seems, with their roles."""
        headers = sorted(map(regex.escape, self.headers), key=len, reverse=True)
        opening = regex.compile(r"\L<names> ?(\w[\w-]{0,29})(?=[\n<\[|]|\Z)", names=self.openings)
        known = regex.compile("|".join(headers) or "(?!)")
        roles = {m.start(): m[1] for m in opening.finditer(self.text, start, end)}
        return roles | {
            m.start(): self.headers[m[0]] for m in known.finditer(self.text, start, end)
        }


@dataclass(frozen=True, eq=False)
class EncodedConversation:
    """A conversation as a model reads it.

    Attributes:
        rendering: The text of the template, with the places of the messages.
        tokenizer: The tokenizer.
        tokens: The tokens of the text.
        forged: The turns that words of messages forge, in order; none in the safe encoding.
        learned_from: Where the rule of the learned tokens comes from: `BLOCKS` or `RULE`.
    """

    rendering: _Rendering
    tokenizer: Tokenizer
    tokens: tuple[ConversationToken, ...]
    forged: tuple[ForgedTurn, ...]
    learned_from: str

    @property
    def text(self) -> str:
        """The text that the template makes."""
        return self.rendering.text

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        """The messages with their places in the text."""
        return self.rendering.messages

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return [token.id for token in self.tokens]

    @property
    def sentence(self) -> str:
        """The number of messages and tokens, and whose these are."""
        words, size = sum(token.message is not None for token in self.tokens), len(self.tokens)
        whose = f"{words:,} {'is a word' if words == 1 else 'are words'}, {size - words:,}"
        both = f"{counted(len(self.messages), 'message')}, {counted(size, 'token')}"
        return f"{both}: {whose} the template’s."

    @cached_property
    def safe(self) -> EncodedConversation:
        """The same with control tokens of the template alone: names in contents are text."""
        if not self.forged:
            return self
        return _annotated(self.rendering, self.tokenizer, [*_safe_tokens(self)], is_safe=True)

    @property
    def notes(self) -> list[str]:
        """What is wrong with BOS, changed messages and hidden characters, as sentences."""
        notes = [_bos_note(self)]
        for change, words in _CHANGES.items():
            numbers = [str(i + 1) for i, m in enumerate(self.messages) if m.change == change]
            if numbers:
                notes.append(f"{words} message{'s' * (len(numbers) > 1)} {joined(numbers)}.")
        for i, message in enumerate(self.messages):
            if count := len(message.hidden):
                spelled = message.spelled
                others = f", {len(spelled)} of which" * (0 < len(spelled) < count)
                says = f"{others} {'says' if len(spelled) == 1 else 'say'} “{spelled}”"
                verb = says if spelled else " in it"
                notes.append(f"Message {i + 1}: {counted(count, 'hidden character')}{verb}.")
        return [note for note in notes if note]

    @property
    def forged_notes(self) -> list[str]:
        """What each message with forged turns makes the model read, as sentences."""
        notes = []
        for i in dict.fromkeys(turn.message for turn in self.forged):
            turns = [turn for turn in self.forged if turn.message == i]
            names = [name for turn in turns for name in turn.names]
            controls = [name for name in names if name not in self.rendering.markers]
            parts = [counted(len(controls), "control token")] * bool(controls)
            parts += dict.fromkeys(name for name in names if name in self.rendering.markers)
            roles = [*dict.fromkeys(turn.role for turn in turns if turn.role)]
            reads = [f"{'an' if role[0] in 'aeio' else 'a'} {role}" for role in roles]
            role = self.messages[i].role
            number = f" ({i + 1})" if sum(m.role == role for m in self.messages) > 1 else ""
            consequence = (
                f"the model reads {joined(reads)} message that you did not write"
                if roles
                else "the model does not read what follows as its words"
            )
            notes.append(f"The {role}’s message{number} contains {joined(parts)}: {consequence}.")
        return notes

    @property
    def safe_note(self) -> str:
        """What the safe encoding cannot tell apart, as a sentence, or ""."""
        notes = []
        if markers := self.rendering.markers:
            notes.append(f"In a message, {joined(markers)} cannot be told from the template’s.")
        if any(message.change in ("changed", "unmarked") for message in self.messages):
            notes.append("In messages without marked words, names stay special tokens.")
        return " ".join(notes)


_CHANGES = {
    "beginning dropped": "The template drops or rewrites the beginning of",
    "changed": "Words are not marked where the template changes them: in",
    "left out": "The template leaves out",
    "unmarked": "Words are not marked where they are not plain text: in",
}

_REASONING = regex.compile(r"(?s).*(?:</\w+>|\[/\w+\])\s*")
"""What a template may drop of an answer: all up to the last closing tag, such as `</think>`."""

_SPACE = regex.compile(r"\s*")


def _bos_note(encoded: EncodedConversation) -> str:
    """Return that BOS stands there twice or is missing, as a sentence, or ""."""
    tokenizer, ids = encoded.tokenizer, encoded.ids
    added = [*tokenizer.template[0][:1]]
    begins = {*added, tokenizer.special_tokens.get(encoded.rendering.bos)}
    if ids and ids[:1] == ids[1:2] and ids[0] in begins:
        return f"BOS, {tokenizer.token_label(ids[0])} ({ids[0]}), stands there twice."
    if added and ids[:1] != added:
        return f"BOS, {tokenizer.token_label(added[0])} ({added[0]}), is missing."
    return ""


def encode_conversation(
    tokenizer: Tokenizer,
    template: ChatTemplate,
    conversation: Conversation,
    *,
    begin_answer: bool | None = None,
    safe: bool = False,
) -> EncodedConversation:
    """Render and encode a conversation.

    Args:
        tokenizer: The tokenizer.
        template: The chat template.
        conversation: The messages, tools and variables.
        begin_answer: Whether the template begins an answer of the model, or None to do so unless
            the last message is the assistant's.
        safe: Whether names of special tokens in contents are text.

    Raises:
        ValueError: The template fails, or the tokenizer cannot encode the text; the message is
            user-facing.
    """
    rendering = _rendered(tokenizer, template, conversation, begin_answer)
    tokens = tokenizer.tokens(rendering.text, allowed_special=[*tokenizer.special_tokens])
    encoded = _annotated(rendering, tokenizer, tokens)
    return encoded.safe if safe else encoded


# ---- The places of the messages in the rendered text


def _rendered(
    tokenizer: Tokenizer,
    template: ChatTemplate,
    conversation: Conversation,
    begin_answer: bool | None,
) -> _Rendering:
    """Return the rendered text, with the words of each message; one request of the worker."""
    begin = {} if begin_answer is None else {"add_generation_prompt": begin_answer}
    given = {"variables": {**conversation.variables, **begin}}
    contents = [message.get("content") for message in conversation.messages]
    texts = {i: clean(content) for i, content in enumerate(contents) if isinstance(content, str)}
    spaced = [i for i, content in texts.items() if content != content.strip()]
    starts = {i: match.end() for i, text in texts.items() if (match := _REASONING.match(text))}
    marked: list[dict[str, Any]] = [{"marked": [*texts]}, {"marked": [*texts], "stripped": True}]
    marked += [{"marked": [i]} for i in texts]
    marked += [{"marked": [i], "stripped": True} for i in spaced]
    marked += [{"marked": [i], "from": start} for i, start in starts.items()]
    probes = [
        {"messages": [{"role": r, "content": ""} for r in roles], "marked": [*range(len(roles))]}
        for roles in _PROBES
    ]
    variants = [{}, {"marked": [], "block": True}, *marked, *probes]
    answers = template.render_variants(conversation, [given | variant for variant in variants])
    text, blocks = answers[0]["text"], answers[1].get("places") or []
    messages = []
    for i, message in enumerate(conversation.messages):
        places = (
            answer.get("places")
            for variant, answer in zip(marked, answers[2:], strict=False)
            if i in variant["marked"]
        )
        spans, change = _place(places, i, text, texts[i]) if i in texts else ((), "unmarked")
        messages.append(ChatMessage(clean(message["role"]), texts.get(i, ""), spans, change))
    ends = [place for _, place in blocks]
    return _Rendering(
        text,
        tuple(messages),
        tuple(zip(ends[::2], ends[1::2], strict=False)) if template.has_blocks else None,
        *_headers(zip(_PROBES, answers[-len(probes) :], strict=True), tokenizer, template.bos),
        template.bos,
    )


def _place(
    variants: Iterable[Sequence[Sequence[int]] | None], i: int, text: str, content: str
) -> tuple[tuple[Span, ...], str]:
    """Return where a message is in the rendered text, and what the template did to it.

    Args:
        variants: The places of the marks in each variant in which the message is marked, or None
            if marks change the text.
        i: The number of the message, of which the marks are 2 i and 2 i + 1.
        text: The rendered text.
        content: The content of the message.
    """
    change = "changed"
    for places in variants:
        if places is None:
            continue
        numbers = [number - 2 * i for number, _ in places if number // 2 == i]
        ends = [at for number, at in places if number // 2 == i]
        if not numbers and change == "changed":
            change = "left out"
        elif numbers and numbers == [0, 1] * (len(numbers) // 2):
            between = tuple(zip(ends[::2], ends[1::2], strict=True))
            words = {text[start:end] for start, end in between}
            if words == {content} or words == {content.strip()}:
                return between, "" if words == {content} else "stripped"
            if len(words) == 1 and content.endswith(tuple(words)):
                return between, "beginning dropped"
        elif numbers == [1]:
            if text[: ends[0]].endswith(content):  # it is written anew
                return ((ends[0] - len(content), ends[0]),), ""
            change = "beginning dropped"
    return (), change


def _headers(
    probes: Iterable[tuple[Sequence[str], Mapping[str, Any]]], tokenizer: Tokenizer, bos: str
) -> tuple[dict[str, str], frozenset[str], tuple[str, ...]]:
    """Return how messages begin: `headers`, `openings` and `markers` of a `_Rendering`.

    A header is the shortest end of the text before a message that begins with a control token and
    that no message of another role has, with the control tokens before it, but BOS and the ends of
    turns. The system prompt may be a part of a user's message.

    Args:
        probes: The roles of conversations, and their texts with the places of the messages.
        tokenizer: The tokenizer.
        bos: The token that begins a text, or "".
    """
    before: dict[tuple[str, str], None] = {}
    added = {*_added_names(tokenizer)}
    names = added | {*tokenizer.special_tokens}
    ends = set()
    for roles, answer in probes:
        at = 0
        for number, place in answer.get("places") or ():
            if number % 2 == 0:
                before[roles[number // 2], gap := answer["text"][at:place]] = None
                ends |= {name for name, _ in split_at_names(gap.strip(), names)[: number and 1]}
            at = place
    ends &= names
    headers: dict[str, str] = {}
    plain: dict[str, str] = {}
    openings, markers, is_plain = set(), ends & added, False
    for role, text in sorted(before, key=lambda begin: begin[0] != "system"):
        parts = split_at_names(text, names)
        if parts and not parts[-1][1] and (words := parts[-1][0].strip()):
            plain[words] = role
            is_plain |= not any(is_name for _, is_name in parts)
        others = [
            other.rstrip()
            for speaker, other in before
            if speaker != role and (speaker != "system" or role == "system")
        ]
        for k in range(len(parts) - 1, -1, -1):
            header = "".join(part for part, _ in parts[k:]).strip()
            if header == bos or not parts[k][1] or any(o.endswith(header) for o in others):
                continue
            while k and (part := parts[k - 1][0]) not in ends | {bos}:
                if not (parts[k - 1][1] or part.isalpha()):
                    break
                k, header = k - 1, part + header
            if not parts[k][1]:
                k, header = k + 1, header.removeprefix(parts[k][0])
            line = header.partition("\n")[0]
            headers[header if any(line in other for other in others) else line] = role
            openings.add(parts[k][0])
            markers |= {part for part, _ in parts[k:]} & added
            break
    if is_plain:
        headers, markers = plain | headers, markers | plain.keys()
    return headers, frozenset(openings), tuple(sorted(markers))


def _added_names(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of added tokens that are not special, such as "<think>", by their names."""
    ids = {*tokenizer.added_ids} - {*tokenizer.special_tokens.values()}
    names = {tokenizer.token_bytes(i).decode(errors="replace").strip(): i for i in ids}
    return {name: token_id for name, token_id in names.items() if name}


# ---- Whose the tokens are

_Name = tuple[int, int, str]
"""The characters of the name of a control token, or of a marker in plain text, and the name."""


def _annotated(
    rendering: _Rendering, tokenizer: Tokenizer, tokens: Sequence[Token], *, is_safe: bool = False
) -> EncodedConversation:
    """Return the conversation with these tokens."""
    text, blocks = rendering.text, rendering.blocks
    owners = [0] * len(text)
    for start, end, i in rendering.word_spans:
        owners[start:end] = [i + 1] * (end - start)
    controls = _controls(rendering, tokenizer, tokens, owners)
    learned = bytearray(len(text))
    for start, end in _answers(rendering, controls) if blocks is None else blocks:
        learned[start:end] = b"\1" * (end - start)
    annotated = []
    for k, token in enumerate(tokens):
        start, end, _ = controls.get(k, (token.start, max(token.end, token.start + 1), ""))
        owner = next(filter(None, owners[start:end]), 0)
        message = owner - 1 if owner else None
        place = token.start, token.end, message, k in controls, 1 in learned[start:end]
        annotated.append(ConversationToken(token.id, token.label, *place))
    forged = () if is_safe else tuple(_forged(rendering, [*controls.values()]))
    rule = RULE if blocks is None else BLOCKS
    return EncodedConversation(rendering, tokenizer, tuple(annotated), forged, rule)


def _controls(
    rendering: _Rendering, tokenizer: Tokenizer, tokens: Sequence[Token], owners: Sequence[int]
) -> dict[int, _Name]:
    """Return the names of the control tokens, by the index of the token.

    A token may contain white space around its name, and an unknown token has no name. owners: the
    number of the message of each character, from 1, or 0.
    """
    names = {token_id: name for name, token_id in tokenizer.special_tokens.items()}
    added = {token_id: name for name, token_id in _added_names(tokenizer).items()}
    controls = {}
    for k, token in enumerate(tokens):
        name = names.get(token.id) or added.get(token.id, "")
        at = rendering.text.find(name, token.start, token.end) if name else -1
        if at < 0:
            continue
        if token.id in names or name in rendering.markers or not owners[at]:
            controls[k] = at, at + len(name), name
    return controls


def _answers(rendering: _Rendering, controls: Mapping[int, _Name]) -> Iterator[Span]:
    """Yield the words of the assistant, each with the control token after them."""
    ends = {start: end for start, end, _ in controls.values()}
    for message in rendering.messages:
        for start, end in message.spans if message.role == "assistant" else ():
            space = _SPACE.match(rendering.text, end)
            yield start, ends.get(space.end() if space else end, end)


def _forged(rendering: _Rendering, controls: Sequence[_Name]) -> Iterator[ForgedTurn]:
    """Yield the turns that words of messages forge."""
    text = rendering.text
    for start, end, i in rendering.word_spans:
        markers = (
            (*match.span(), marker)
            for marker in rendering.markers
            for match in regex.finditer(regex.escape(marker), text, pos=start, endpos=end)
        )
        typed = (name for name in controls if name[0] < end and name[1] > start)
        names = sorted({*typed, *markers})
        if not names:
            continue
        first, last = names[0][0], max(end, names[-1][1])
        roles = rendering.roles(first, last)
        begins = sorted({first, *roles})
        if len(begins) > 1 and first not in roles:
            ended = without_names(text[first : begins[1]], {name for _, _, name in names})
            if not "".join(ended).strip():  # it only ends the turn before
                roles[first] = roles.pop(begins.pop(1))
        for begin, after in pairwise([*begins, last]):
            inside = tuple(name for at, _, name in names if begin <= at < after)
            yield ForgedTurn(i, begin, after, inside, roles.get(begin, ""))


def _safe_tokens(encoded: EncodedConversation) -> Iterator[Token]:
    """Yield the tokens with names of special tokens outside of contents alone.

    The text between two such names is encoded as a whole.
    """
    text, tokenizer = encoded.text, encoded.tokenizer
    names = tokenizer.special_tokens
    cuts: list[_Name] = [(0, 0, "")]
    at = 0
    for start, end, _ in (*encoded.rendering.word_spans, (len(text), len(text), 0)):
        for part, is_name in split_at_names(text[at:start], names):
            cuts += [(at, at + len(part), part)] * is_name
            at += len(part)
        at = max(at, end)
    starts, pieces = [], []
    for (_, start, before), (end, _, after) in pairwise([*cuts, (len(text), len(text), "")]):
        piece = text[start:end]
        if before and "rstrip" in tokenizer.added_flags(names[before]):
            piece = piece.lstrip()
        starts.append(end - len(piece))
        if after and "lstrip" in tokenizer.added_flags(names[after]):
            piece = piece.rstrip()
        pieces.append(piece)
    for k, at, token in _tokens_between_special(tokenizer, pieces):
        start, end, name = cuts[k]
        if token is not None:
            shift = starts[k] - at
            yield Token(token.id, token.raw, token.label, token.start + shift, token.end + shift)
        elif name:
            yield Token(names[name], b"", tokenizer.token_label(names[name]), start, end)


def _tokens_between_special(
    tokenizer: Tokenizer, texts: Sequence[str]
) -> Iterator[tuple[int, int, Token | None]]:
    """Yield the tokens of texts between special tokens, in which names of such tokens are text.

    Some libraries tokenize a text by what is before it. So the texts are joined with a special
    token that occurs in none of them.

    Yields:
        The number of the text, the character from which positions count, and a token, or None
        before the first one.
    """
    separator = next(
        (
            name
            for name, token_id in tokenizer.special_tokens.items()
            if token_id != tokenizer.unknown_id
            and not {"lstrip", "rstrip", "single_word"} & {*tokenizer.added_flags(token_id)}
            and not any(name in text for text in texts)
        ),
        "",
    )
    if not separator:
        for k, text in enumerate(texts):
            yield from ((k, 0, token) for token in (None, *tokenizer.tokens(text)))
        return
    k = at = 0
    yield 0, 0, None
    for token in tokenizer.tokens(separator.join(texts), allowed_special=[separator]):
        if is_end := token.id == tokenizer.special_tokens[separator]:
            at += len(texts[k]) + len(separator)
            k += 1
        yield k, at, None if is_end else token


# ---- Earlier ids


def turn_changes(
    tokenizer: Tokenizer, template: ChatTemplate, conversation: Conversation
) -> list[TurnChange]:
    """Return what each message from the second on changed of the ids before it.

    Messages with which the template fails are left out.

    Args:
        tokenizer: The tokenizer.
        template: The chat template.
        conversation: The messages, tools and variables.

    Raises:
        ValueError: The template fails, or the tokenizer cannot encode the text; the message is
            user-facing.
    """
    variables = {**conversation.variables, "add_generation_prompt": False}
    counts = range(1, len(conversation.messages) + 1)
    variants = [{"count": count, "variables": variables} for count in counts]
    answers = template.render_variants(conversation, [{}, *variants])[1:]
    texts = [(i, answer["text"]) for i, answer in enumerate(answers) if "text" in answer]
    names = {
        name: not {"lstrip", "single_word"} & {*tokenizer.added_flags(token_id)}
        for name, token_id in tokenizer.special_tokens.items()
    }
    each: list[list[str]] = [[]]
    for _, text in texts:  # most texts begin with the one before
        known = each[-1][:-1] if text.startswith("".join(each[-1])) else []
        each.append([*known, *_segments(text[sum(map(len, known)) :], names)])
    distinct = [*dict.fromkeys(chain.from_iterable(each))]
    encoded = tokenizer.encode_batch(distinct, allowed_special=names)
    ids_of = dict(zip(distinct, encoded, strict=True))
    ids = [tuple(chain.from_iterable(map(ids_of.__getitem__, segments))) for segments in each[1:]]
    changes = []
    for (before, after), (i, _) in zip(pairwise(ids), texts[1:], strict=True):
        same = shared(before, after)
        changes.append(TurnChange(i, same, before, after) if same < len(before) else TurnChange(i))
    return changes


def _segments(text: str, names: Mapping[str, bool]) -> list[str]:
    """Split a text before special tokens. names: whether those are so after any text."""
    segments = [""]
    for part, is_name in split_at_names(text, names):
        if is_name and names[part]:
            segments.append("")
        segments[-1] += part
    return segments

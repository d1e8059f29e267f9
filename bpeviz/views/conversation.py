"""The payload of a conversation as a model reads it: its tokens, and who speaks where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import itemgetter

from bpeviz.analysis import hues
from bpeviz.analysis.conversation import ChatMessage, EncodedConversation, TurnChange
from bpeviz.analysis.hues import Coloring
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import counted, digest_of
from bpeviz.views.payloads import ConversationStrips, TokenStrip, TurnRows

_WORDS, _CONTROL, _LEARNED = 1, 2, 4
"""Bits of the kind of a token, as in `strip.js`."""

_BEFORE, _AFTER = 3, 9
"""The tokens of a row before a change, and from it on."""

_MOST_CHANGES = 3
"""The most changes whose tokens are shown."""

Speaker = tuple[int, str, str, bool]
"""Where a part begins, the role, who wrote it where that is another one, and whether forged."""


def payload(encoded: EncodedConversation, changes: Sequence[TurnChange] = ()) -> ConversationStrips:
    """Return the payload of the component `strip`; callers must not change it.

    Args:
        encoded: The conversation.
        changes: The ids before and after messages that changed earlier ones.
    """
    tokenizer, changes = encoded.tokenizer, changes[:_MOST_CHANGES]
    ids = [*encoded.ids, *encoded.safe.ids, *(i for change in changes for i in change.before)]
    after = (i for change in changes for i in change.after)
    keys = {i: hues.key_of(tokenizer, i) for i in {*ids, *after}}
    indices = hues.hues([Coloring(hues.contacts_at(ids), keys.__getitem__)])
    colors = {token_id: indices.index(key) for token_id, key in keys.items()}
    strips = [_strip(encoded, colors)]
    if encoded.forged:
        title = f"The safe encoding: {counted(len(encoded.safe.ids), 'token')}"
        note = f"Names in messages are plain text. {encoded.safe_note}".rstrip()
        strips.append(_strip(encoded.safe, colors, title, note))
    data: ConversationStrips = {
        "key": "",
        "strips": strips,
        "turns": [_turn(change, tokenizer, colors) for change in changes],
    }
    data["key"] = digest_of(data)
    return data


def _turn(change: TurnChange, tokenizer: Tokenizer, colors: Mapping[int, int]) -> TurnRows:
    """Return the tokens around the first changed one, before and after a message was added."""
    first = change.first or 0
    rows = []
    for title, ids in (
        (f"Messages 1 to {change.message}", change.before),
        ("With the next", change.after),
    ):
        part = ids[max(0, first - _BEFORE) : first + _AFTER]
        rows.append((title, [(i, tokenizer.token_label(i), colors[i]) for i in part]))
    return change.sentence, rows


def _strip(
    encoded: EncodedConversation, colors: Mapping[int, int], title: str = "", note: str = ""
) -> TokenStrip:
    return {
        "title": title,
        "note": note,
        "text": encoded.text,
        "tokens": [
            (
                token.end,
                token.id,
                token.label,
                colors[token.id],
                _WORDS * (token.message is not None)
                + _CONTROL * token.is_control
                + _LEARNED * token.is_learned,
            )
            for token in encoded.tokens
        ],
        "speakers": speakers(encoded),
    }


def speakers(encoded: EncodedConversation) -> list[Speaker]:
    """Return where each message begins with its markers, and each part that another one forges."""
    text, at = encoded.text, 0
    parts: list[Speaker] = []
    for message in _in_places(encoded.messages):
        end = message.spans[0][0] if message.spans else len(text)
        start = at + _header(encoded, text[at:end], message.role, is_first=not message.spans)
        if not parts and start:
            role = next((role for name, role in _headers(encoded) if name in text[:start]), "")
            parts.append((0, role, "added by the template", False))
            start = start if role else 0
            parts = parts if role else []
        parts.append((start, message.role, "", False))
        at = message.spans[-1][1] if message.spans else start + 1
    tail = text[at:].rstrip()
    begun = [pair for pair in _headers(encoded) if tail.endswith(pair[0])]
    parts += [(at + len(tail) - len(name), role, "begins", False) for name, role in begun[:1]]
    for turn in encoded.forged:
        writer = f"written by the {encoded.messages[turn.message].role}"
        parts.append((turn.start, turn.role or "end of turn", writer, True))
    return sorted(parts)


def _in_places(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return messages in the order of the text; one whose words are not known stays behind."""
    places = accumulate((m.spans[0][0] if m.spans else -1 for m in messages), _known)
    return [message for _, message in sorted(zip(places, messages, strict=True), key=itemgetter(0))]


def _known(before: int, place: int) -> int:
    return before if place < 0 else place


def _headers(encoded: EncodedConversation) -> list[tuple[str, str]]:
    """Return how messages begin, with the role of each, the longest ones first."""
    return sorted(encoded.rendering.headers.items(), key=lambda pair: -len(pair[0]))


def _header(encoded: EncodedConversation, gap: str, role: str, *, is_first: bool) -> int:
    """Return where a message begins in the text between two contents, or before the second one.

    Args:
        encoded: The conversation.
        gap: The text after the words before it, up to its own if these are known.
        role: Its role.
        is_first: Whether its own words are not known, so that the gap has later messages.
    """
    own = [name for name, of in _headers(encoded) if of == role and name in gap]
    names = own or [name for name, _ in _headers(encoded) if name in gap]
    if is_first:
        return min(map(gap.find, names), default=0)
    return max(map(gap.rfind, names), default=len(gap))

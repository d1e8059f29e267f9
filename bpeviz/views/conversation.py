"""The payload of a conversation as a model reads it: its tokens, and who speaks where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from bpeviz.analysis import hues
from bpeviz.analysis.conversation import EncodedConversation, TurnChange
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
        note = f"Names of special tokens in messages are text. {encoded.safe_note}".rstrip()
        strips.append(_strip(encoded.safe, colors, title, note))
        if encoded.safe.ids == encoded.ids:
            note = encoded.safe_note
            strips[1] |= {"title": "No encoding is safe", "note": note, "text": "", "tokens": []}
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
    text, roles, at = encoded.text, encoded.rendering.roles, 0
    parts: list[Speaker] = []
    place, places = -1, []
    for message in encoded.messages:  # one whose words are not known stays behind the one before
        place = message.spans[0][0] if message.spans else place
        places.append(place)
    in_places = sorted(zip(places, encoded.messages, strict=True), key=itemgetter(0))
    for _, message in in_places:
        end = message.spans[0][0] if message.spans else len(text)
        begins = roles(at, end)
        own = [place for place, role in begins.items() if role == message.role] or [*begins]
        start = max(own, default=end) if message.spans else min(own, default=at)
        if not parts:
            before = [(place, role) for place, role in sorted(begins.items()) if place < start]
            parts = [(place, role, "added by the template", False) for place, role in before]
            start = start if parts else 0
        parts.append((start, message.role, "", False))
        at = message.spans[-1][1] if message.spans else start + 1
    if begun := sorted(roles(at, len(text)).items()):
        parts.append((*begun[-1], "begins", False))
    for turn in encoded.forged:
        writer = f"written by the {encoded.messages[turn.message].role}"
        parts.append((turn.start, turn.role or "end of turn", writer, True))
    return sorted(parts)

"""What stands on the Inspect page: a text from characters to ids, and closer looks at it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from bpeviz.analysis import token_lookup, trace
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.round_trip import RoundTrip, round_trip
from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Training
from bpeviz.pretrained import catalog, rank_tokenizer
from bpeviz.pretrained.catalog import TITLES
from bpeviz.text import clean
from bpeviz.trainers import texts_of
from bpeviz.ui import components, export
from bpeviz.ui.downloads import ready
from bpeviz.ui.inputs import Choice, one_of
from bpeviz.ui.runtime.cache import shared
from bpeviz.views import merge_diagram, player, tables

YOURS = "yours"

FIRST_TEXT = "The naïve 世界 isn’t 3.14159 👍🏽"
"""Stands in the box at first: accents, two scripts, digits, and a sign of several code points."""

MOST = 30_000
"""Characters of a text that are looked at; of a longer one, the first so many."""

SHOWN = 240
"""Bytes that stand in the grid at once, and in the player below it."""

LISTED = 12
"""How many names of special tokens are told."""

CLOSER = {
    "film": "Step by step",
    "picture": "The whole film in one picture",
    "token": "A token",
    "ids": "From ids to text",
}


@dataclass(frozen=True)
class Offer:
    """A tokenizer that can be looked at. To offer another one is to put it into the list.

    key: tells it from all others, for caches and widgets. title: with its size, where that may
    change. make: returns it; it may raise `ValueError` with a sentence. training: what it was
    learnt by, if here. needs: the vocabulary whose files it needs.
    """

    key: str
    title: str
    make: Callable[[], Tokenizer]
    training: Training | None = None
    identity: tuple[object, ...] = ()
    needs: str | None = None

    @property
    def name(self) -> str:
        """What it is chosen by. Without the size: the browser keeps the words of a choice."""
        return "Yours" if self.key == YOURS else self.title


def offers(training_text: str, choice: Choice, training: Training | str, step: int) -> list[Offer]:
    """Return the tokenizers that can be looked at, the user's own first."""

    def learnt() -> Tokenizer:
        if isinstance(training, str):
            raise ValueError(training)
        return training.at_step(step)

    def published(name: str) -> Offer:
        return Offer(name, TITLES[name], lambda: rank_tokenizer.load(name), needs=name)

    title = "Yours"
    if not isinstance(training, str):
        title = f"Yours ({int(training.sizes[step]):,})"
    own = None if isinstance(training, str) else training
    yours = Offer(YOURS, title, learnt, own, (training_text, choice, step))
    files = [
        Offer(one.key, one.title, partial(_opened, one), identity=(one.key,))
        for one in export.opened()
    ]
    return [yours, *map(published, catalog.NAMES), *files]


def _opened(one: export.Opened) -> Tokenizer:
    return one.tokenizer


@shared()
def _inspected(
    key: str, identity: tuple[object, ...], text: str, special: tuple[str, ...], _offer: Offer
) -> Inspection | str:
    """Return a text under a tokenizer, or the sentence that says why it cannot be cut."""
    try:
        return trace.inspect(text, _offer.make(), special)
    except ValueError as error:
        return str(error)


@shared()
def _round_trip(
    key: str, identity: tuple[object, ...], text: str, special: tuple[str, ...], _of: Inspection
) -> RoundTrip:
    return round_trip(_of)


def show(training_text: str, offered: Sequence[Offer]) -> None:
    """Draw the page beside its inputs."""
    left, right = st.columns((3, 2), gap="medium")
    with left:
        text = _text(training_text)
    with right:
        offer = _tokenizer(offered)
        special = _special_tokens(offer)
    if offer is None:
        return
    with st.spinner(f"Cutting by {offer.title} …"):
        found = _inspected(offer.key, offer.identity, text, special, offer)
    if isinstance(found, str):
        st.error(found)
        return
    _light(offer, found)
    part = _part(found)
    picked = components.grid(trace.grid(found, part), "grid")
    if picked and st.session_state.get("picked_token") != picked["number"]:
        st.session_state["picked_token"] = picked["number"]
        st.session_state["look_up"] = str(picked["id"])
        st.session_state["closer"] = "token"
    st.session_state.setdefault("closer", "film")
    closer = st.segmented_control(
        "Look closer",
        list(CLOSER),
        required=True,
        format_func=CLOSER.__getitem__,
        key="closer",
        persist_state="session",
        label_visibility="collapsed",
    )
    if closer == "film":
        _timeline(offer, found, part)
    elif closer == "picture":
        _picture(offer, found, offered)
    elif closer == "token":
        _token(offer, found.tokenizer)
    else:
        _ids(offer, found)
    export.along("inspect", partial(_colored, offer, found))


def _colored(offer: Offer, found: Inspection) -> export.Picture:
    boundaries = found.boundaries
    column = Column(offer.title, found.tokenizer, boundaries, boundaries.steps)
    return export.Picture(found.text, [column], "One text, cut into tokens")


def _text(training_text: str) -> str:
    """Let the user type a text, or take the one at the left."""
    titles = {"own": "A text typed here", "learnt": "The text learnt from"}
    chosen = one_of("Text to inspect", titles, "inspected")
    if chosen == "learnt":
        text = training_text
        st.caption("The text at the left, from which “Yours” is learnt.")
    else:
        text = clean(
            st.text_area(
                "Type a text",
                FIRST_TEXT,
                key="inspect_box",
                height=100,
                persist_state="session",
                label_visibility="collapsed",
                placeholder="Type or paste a text, then press Ctrl+Enter.",
            )
            or ""
        )
    if len(text) > MOST:
        st.caption(f"Of its {len(text):,} characters, the first {MOST:,} are looked at.")
        text = text[:MOST]
    return text


def _tokenizer(offered: Sequence[Offer]) -> Offer | None:
    """Let the user choose a tokenizer; None while its files are on their way."""
    by_key = {offer.key: offer for offer in offered}
    if st.session_state.get("inspected_by") not in by_key:
        st.session_state.pop("inspected_by", None)

    def choose(key: str) -> None:
        st.session_state["inspected_by"] = key

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Tokenizer",
            list(by_key),
            format_func=lambda key: by_key[key].name,
            key="inspected_by",
            persist_state="session",
            help="“Yours” is learnt from the text at the left, with the choices there.",
        )
        export.open_here(choose)
    offer = by_key[chosen]
    return _if_there(offer)


def _if_there(offer: Offer) -> Offer | None:
    if offer.needs is not None and not ready([offer.needs]):
        return None
    return offer


def _special_tokens(offer: Offer | None) -> tuple[str, ...]:
    """Let the user choose whether what looks like a special token is one."""
    try:
        names = () if offer is None else tuple(offer.make().special_tokens)
    except ValueError:
        names = ()
    chosen = one_of(
        "Special tokens",
        {"text": "Are text", "special": "Are special tokens"},
        "special_tokens",
        "A pasted text is text. Only a program that means them lets names such as `<|endoftext|>` "
        "become special tokens.",
    )
    some = ", ".join(f"`{name}`" for name in names[:LISTED] if "`" not in name)
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    if offer is not None:
        title = offer.title
        st.caption(f"{title} has {some}{more}." if names else f"{title} has no special tokens.")
    return names if chosen == "special" else ()


def _light(offer: Offer, found: Inspection) -> None:
    """Say whether decoding returns the text, and else what it does not return."""
    special = found.special_tokens
    trip = _round_trip(offer.key, offer.identity, found.text, special, found)
    tokens, size = len(found.ids), len(found.raw)
    figures = (
        f"{offer.title}: {tokens:,} token{'' if tokens == 1 else 's'} from {size:,} "
        f"byte{'' if size == 1 else 's'}"
    )
    if trip.lossless:
        st.markdown(
            f":green[:material/check_circle:] **Nothing is lost.** Decoding the ids returns the "
            f"text, byte for byte. {figures}."
        )
        return
    times = sum(loss.times for loss in trip.losses)
    places = "in one place" if times == 1 else f"in {times:,} places"
    st.markdown(
        f":orange[:material/warning:] **Something is lost.** Decoding the ids returns another "
        f"text, {places}. {figures}."
    )
    st.dataframe(
        tables.losses(trip.losses),
        hide_index=True,
        height="content",
        key="losses",
        row_height=56,
        column_config={
            "times": st.column_config.Column(width=60),
            "lost": st.column_config.Column(width=110),
            "first places": st.column_config.Column(width="medium"),
            "why": st.column_config.Column(width="large"),
        },
    )


def _part(found: Inspection) -> player.Part:
    """Let the user choose which part of a long text stands in the grid."""
    parts = player.parts(found.text, found.cuts, SHOWN)
    if len(parts) < 2:
        return parts[0]
    number = st.number_input(
        f"Part shown, 1 to {len(parts):,}",
        1,
        len(parts),
        key=f"inspected_part_of_{len(parts)}",
        width=200,
    )
    part = parts[number - 1]
    st.caption(
        f"Characters {part.first + 1:,} to {part.last:,} of {len(found.text):,} are shown; what is "
        "said above is about the whole text."
    )
    return part


def _timeline(offer: Offer, found: Inspection, part: player.Part) -> None:
    """Draw the player: the steps that change this text, in their order."""
    shown = player.part_between(found.boundaries, part, found.text)
    data = trace.timeline(found, shown, _plain_title(offer), offer.training)
    components.player(player.payload(data), "inspect_player")
    st.caption(
        "Only the steps that change what is shown are here, in their order; beside each stands its "
        "number in the whole vocabulary. Counts are those of the text shown."
    )


def _plain_title(offer: Offer) -> str:
    return "your tokenizer" if offer.key == YOURS else offer.title


def _side(offer: Offer, found: Inspection) -> merge_diagram.Side:
    """Return a side of the picture."""
    numbers = [event.step for event in found.events]
    return _side_of(offer, found.tokenizer, found.boundaries, numbers, found.special_ids)


def _side_of(
    offer: Offer,
    tokenizer: Tokenizer,
    boundaries: Boundaries,
    numbers: Sequence[int],
    special: Collection[int] = (),
) -> merge_diagram.Side:
    unit = "merge" if offer.training is None else texts_of(offer.training).unit
    look = token_lookup.look_of(tokenizer, offer.training, special)
    return merge_diagram.Side(
        offer.title, boundaries, len(numbers), tokenizer.steps, look, unit, numbers
    )


def _picture(offer: Offer, found: Inspection, offered: Sequence[Offer]) -> None:
    """Draw the whole timeline in one picture, and another tokenizer mirrored below."""
    others = {other.key: other for other in offered if other.key != offer.key}
    names = {"none": "Nothing"} | {key: other.name for key, other in others.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if st.session_state.get("mirrored") not in names:
            st.session_state.pop("mirrored", None)
        chosen = st.selectbox(
            "Mirrored below",
            list(names),
            format_func=names.__getitem__,
            key="mirrored",
            persist_state="session",
            width=260,
        )
        parts = player.parts(found.text, found.cuts, merge_diagram.MOST)
        part = parts[0]
        if len(parts) > 1:
            number = st.number_input(
                f"Stretch drawn, 1 to {len(parts):,}",
                1,
                len(parts),
                key=f"drawn_part_of_{len(parts)}",
                width=220,
            )
            part = parts[number - 1]
    sides = [_side(offer, found)]
    other = others.get(chosen)
    if other is not None and _if_there(other) is not None:
        special = _known(found.special_tokens, other)
        beside = _inspected(other.key, other.identity, found.text, special, other)
        if isinstance(beside, str):
            st.error(beside)
        else:
            sides.append(_side(other, beside))
    components.merge_diagram(
        merge_diagram.merge_diagram_payload(found.raw, sides, part.start, part.end), "picture"
    )
    st.caption(
        "Atoms lie along the bottom. Every boundary is as high as the step at which it goes, on a "
        "logarithmic scale; between two lines, at any height, stands the token of that step."
    )


def _known(names: Collection[str], offer: Offer) -> tuple[str, ...]:
    """Return all special tokens of a tokenizer where another's are special, too."""
    try:
        return tuple(offer.make().special_tokens) if names else ()
    except ValueError:
        return ()


def _token(offer: Offer, tokenizer: Tokenizer) -> None:
    """Look a token up by its id or its text."""
    query = st.text_input(
        "An id, or a token’s text",
        key="look_up",
        max_chars=200,
        persist_state="session",
        placeholder="Press a token above, or type an id or a text",
        width=420,
        help="A dot · may be typed for a space, as names are shown.",
    )
    if not query:
        st.caption("A token above can be pressed to look it up.")
        return
    found = token_lookup.look_up(query, tokenizer)
    if not found:
        _no_token(query, tokenizer)
        return
    one = found[0]
    if len(found) > 1:
        number = st.radio(
            "Several tokens are called so",
            range(len(found)),
            format_func=lambda i: f"id {found[i].id}",
            key=f"which of {query} in {offer.key}",
            horizontal=True,
        )
        one = found[number]
    st.dataframe(tables.tokens([one]), hide_index=True, height="content", key="looked_up")
    spelt = trace.merge_steps(one.id, tokenizer)
    ancestry = token_lookup.ancestry(one.id, tokenizer)
    if spelt is not None:
        raw, boundaries, events = spelt
        side = _side_of(offer, tokenizer, boundaries, [event.step for event in events])
        components.merge_diagram(
            merge_diagram.merge_diagram_payload(raw, [side]), "picture_of_token"
        )
    left, right = st.columns((3, 2), gap="medium")
    with left:
        st.subheader("What it is merged from", anchor=False)
        if ancestry[0].parents is None:
            st.caption("No merge made it.")
        else:
            st.dataframe(tables.ancestry(ancestry), hide_index=True, height=316, key="ancestry")
    with right:
        st.subheader("Beside it in the vocabulary", anchor=False)
        near = token_lookup.neighbors(one.id, tokenizer)
        st.dataframe(tables.tokens(near), hide_index=True, height=316, key="neighbors")


def _no_token(query: str, tokenizer: Tokenizer) -> None:
    """Say that there is no such token, and how its text is cut instead."""
    st.caption(f"There is no token of this id or text among the {tokenizer.vocab_size:,}.")
    try:
        ids = tokenizer.encode(query)
    except ValueError:
        return
    if ids:
        st.caption("As a text it is cut into:")
        table = tables.decoded(token_lookup.decoded(ids, tokenizer))
        st.dataframe(table, hide_index=True, height="content", key="cut_instead")


def _ids(offer: Offer, found: Inspection) -> None:
    """Decode ids that are typed or pasted."""
    st.session_state.setdefault("ids_box", f"[{', '.join(map(str, found.ids[:8]))}]")
    typed = st.text_area(
        "Ids",
        key="ids_box",
        height=90,
        persist_state="session",
        placeholder="[15339, 1917], or with spaces, or as JSON; then press Ctrl+Enter.",
        help=f"Up to {token_lookup.MOST_IDS:,} ids: with spaces, commas, brackets, or in a JSON "
        "object under “ids” or “input_ids”.",
    )
    try:
        ids = token_lookup.read_ids(typed or "")
    except token_lookup.IdsError as error:
        st.error(str(error))
        return
    if not ids:
        st.caption("There are no ids yet. Type some, or paste a list.")
        return
    each = token_lookup.decoded(ids, found.tokenizer)
    missing = list(dict.fromkeys(one.id for one in each if one.raw is None))
    warning = st.container()  # there without one, too: what follows keeps its place on the page
    if missing:
        some = ", ".join(map(str, missing[:LISTED]))
        more = f" and {len(missing) - LISTED:,} more" if len(missing) > LISTED else ""
        warning.warning(f"{offer.title} has no id {some}{more}. The others are decoded.")
    st.text("Text")
    st.code(token_lookup.text_of(ids, found.tokenizer), language=None, wrap_lines=True)
    table = tables.decoded(each)
    height: Any = "content" if len(each) < 12 else 400
    st.dataframe(table, hide_index=True, height=height, key="decoded")

"""The Inspect page: one text from characters to ids, with closer looks at it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz import limits
from bpeviz.analysis import normalization, token_lookup, trace
from bpeviz.analysis.hues import OWN as OWN_HUES
from bpeviz.analysis.hues import Hues
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.round_trip import RoundTrip, round_trip
from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import UNKNOWN_ID, Boundaries, Part
from bpeviz.core.lattice import Lattice
from bpeviz.core.tokenizer import Tokenizer, Word
from bpeviz.libraries.chat_template import Chat, ChatTemplate
from bpeviz.pretokenizers.patterns import MAX_EXPRESSION
from bpeviz.text import clean, counted, label, listed, shorten
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.ui import components, markdown, tokenizers
from bpeviz.ui.downloads import ready
from bpeviz.ui.export_dialog import EXPORT, Export, Exported
from bpeviz.ui.import_dialog import import_button
from bpeviz.ui.inputs.parts import choose_part
from bpeviz.ui.inputs.text import TEXT, choose_text
from bpeviz.ui.inputs.training import choose_training, training_widgets
from bpeviz.ui.opened_tokenizers import YOURS, opened
from bpeviz.ui.pages.base import ABOUT_MERGE_DIAGRAM, Page
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.table import draw_table
from bpeviz.ui.tokenizers import LINKED, OWN, Offer
from bpeviz.ui.widgets import (
    Number,
    OneOf,
    SessionValue,
    Switch,
    TextField,
    Values,
    Widget,
    numbers,
)
from bpeviz.views import inspection, merge_diagram, playable, player, race, tables
from bpeviz.views.export import ColoredText
from bpeviz.views.lattice import lattice_html
from bpeviz.views.playable import Playable
from bpeviz.views.slides import Slides, StepSlides

FIRST_TEXT = "The naïve 世界 isn’t 3.14159 👍🏽"
"""The other text at first: accents, two scripts, digits, and an emoji of several code points."""

TRAINED_ON_MUCH = "gpt2"
"""A tokenizer with merges for nearly every text."""

MAX_INSPECTED = limits.INSPECTED
"""The most characters of a text that are inspected."""

SHOWN = 240
"""The most bytes in the grid and in the player below it at once."""

SEGMENTATIONS = 8
"""The most segmentations of a word that are shown."""

LONGEST_WORD = 24
"""The most characters of a word whose lattice is drawn."""

MOST_WORDS = 100
"""The most words from which to choose."""

LISTED = 12
"""The most special tokens that are named."""

MAX_NAMESAKES = 1_000
"""The most tokens of one name among which a link can choose."""


class _TokenizerChoice(OneOf):
    """A choice of a tokenizer. A link contains the user's own or a published one, not files."""

    def described(self) -> str:
        titles = {one.key: one.title for one in opened()}
        return f"{self.label}: {titles.get(self.get() or '', '')}"


SOURCE = OneOf(
    "inspected", "Text to inspect", titles={"learnt": "Training text", "own": "Another text"}
)
TYPED = TextField("inspect_box", "Type a text", longest=limits.PAGE_TEXT)
TOKENIZER = _TokenizerChoice("inspected_by", "Tokenizer", titles=LINKED)
SPECIAL_NAME = "<|endoftext|>"
SPECIAL = OneOf(
    "special_tokens",
    f"Treat `{SPECIAL_NAME}` as",
    titles={"text": "Plain text", "special": "Special token"},
)
TEMPLATE = Switch("template", "Add the model’s template")
CHAT = Switch("chat", "Apply the chat template")
SYSTEM = TextField("system", "System prompt", longest=MAX_EXPRESSION)
DECIMAL = Switch("decimal", "Bytes in decimal")
PART = numbers("inspected_part_of_", "Part shown")
CLOSER = OneOf(
    "closer",
    "Details",
    titles={
        "film": "Step by step",
        "picture": "Merge diagram",
        "token": "Look up a token",
        "ids": "Decode ids",
    },
)
WORD = numbers("lattice_word_of_", "Word", first=0)
MIRRORED = _TokenizerChoice("mirrored", "Mirrored below", titles={"none": "None"} | LINKED)
DRAWN_PART = numbers("drawn_part_of_", "Part drawn")
LOOK_UP = TextField("look_up", "Token id or text", longest=MAX_EXPRESSION)
IDS = TextField("ids_box", "Ids", longest=limits.PAGE_TEXT)

_PRESSED: SessionValue[int] = SessionValue("picked_token")
"""The number of the last press on a token of the grid that was handled."""


def _namesake(query: str | None, tokenizer: str | None) -> Number:
    """Return the choice among several tokens of one name."""
    name = f"which of {query} in {tokenizer}"
    label = "Several tokens have this text"
    return Number(name, label, low=0, high=MAX_NAMESAKES)


def _widgets(values: Values) -> Iterator[Widget[Any]]:
    yield from training_widgets(values)
    yield SOURCE
    if values.get(SOURCE) == "own":
        yield TYPED
    yield TOKENIZER
    yield SPECIAL
    yield TEMPLATE
    yield CHAT
    if values.get(CHAT):
        yield SYSTEM
    yield DECIMAL
    yield from values.members(PART)
    yield CLOSER
    yield from values.members(WORD)
    if values.get(CLOSER) == "picture":
        yield MIRRORED
        yield from values.members(DRAWN_PART)
    if values.get(CLOSER) == "token":
        yield LOOK_UP
        query, tokenizer = values.get(LOOK_UP), values.get(TOKENIZER)
        yield _namesake(query, tokenizer)
    if values.get(CLOSER) == "ids":
        yield IDS


PAGE = Page(
    "pages/Inspect.py", "Inspect", "How does a text become token ids, and text again?", _widgets
)


def _inspected(
    text: str,
    special: tuple[str, ...],
    offer: Offer,
    *,
    template: bool = False,
    chat: bool = False,
    system: str = "",
) -> Inspection | str:
    """Return the trace of a text through a tokenizer, or the message that says why it fails.

    Args:
        text: The text.
        special: The names that are special tokens.
        offer: The tokenizer.
        template: Whether to add the tokens of the tokenizer's template.
        chat: Whether the text is a message in the model's chat template, where the names of all
            special tokens are special, as in `transformers`.
        system: The system prompt before this message, or "".
    """
    message = None
    try:
        if chat and offer.chat is not None:
            applied = _chat(offer, text, system, offer.chat)
            text, message = applied.text, applied.message
            special = offer.special_tokens
        return _trace(offer, text, special, template, message)
    except ValueError as error:
        return str(error)


@cached("Tokenizing …")
def _trace(
    offer: Offer,
    text: str,
    special: tuple[str, ...],
    template: bool,
    message: tuple[int, int] | None,
) -> Inspection:
    return trace.inspect(text, offer.make(), special, template=template, message=message)


@cached()
def _chat(offer: Offer, text: str, system: str, _template: ChatTemplate) -> Chat:
    return _template.apply(text, system)


@cached()
def _scored_words(offer: Offer, found: Inspection) -> list[Word]:
    return trace.scored_words(found)


@cached()
def _word_lattice(offer: Offer, word: str) -> Lattice:
    return offer.make().word_lattice(word)


@cached()
def _round_trip(offer: Offer, found: Inspection) -> RoundTrip:
    return round_trip(found)


@cached()
def _colors(offer: Offer, found: Inspection) -> Hues:
    return inspection.hues_of(found, offer.training)


@cached()
def _grid(offer: Offer, found: Inspection, part: Part, decimal: bool) -> dict[str, Any]:
    """Return the payload of the grid; do not change it, it is cached."""
    return inspection.grid(found, part, decimal=decimal, colors=_colors(offer, found))


@cached()
def _steps(offer: Offer, found: Inspection, part: Part) -> dict[str, Any]:
    """Return the timeline of a part of the boundaries; do not change it, it is cached."""
    name = "your tokenizer" if offer.key == OWN else offer.title
    return inspection.timeline(found, part, name, offer.training, _colors(offer, found))


def _shows_own() -> bool:
    """Return whether the page shows the user's own tokenizer, also because a file was closed."""
    chosen = TOKENIZER.get()
    return (
        chosen == OWN
        or chosen not in tokenizers.names()
        or (CLOSER.get() == "picture" and MIRRORED.get() == OWN)
    )


def show(side: DeltaGenerator) -> None:
    """Draw the inputs and the text through the pipeline.

    One text box is visible: that of the training text only if it is the text to inspect. The
    settings of training are visible, and the user's own tokenizer is trained, only if the page
    shows it.
    """
    with side:
        is_training = SOURCE.segments() == "learnt"
        if not is_training:
            TYPED.area(
                value=FIRST_TEXT,
                height=130,
                label_visibility="collapsed",
                placeholder="Type or paste text.",
            )
        with st.container(key="training_text" if is_training else "training_text_unused"):
            training_text = choose_text(TEXT)
        chosen = st.container()
        with st.container(key="settings" if _shows_own() else "settings_unused"):
            training_text, choice, sizes = choose_training(training_text)
    if _shows_own():
        offered = tokenizers.offers_with_own(training_text, choice, sizes)
    else:
        offered = tokenizers.offers("", 0)
    text = _text(training_text)
    with chosen:
        offer = _tokenizer(offered)
        chat = offer is not None and offer.chat is not None and _chat_switch()
        system = _system_prompt() if chat else ""
        special = () if chat else _special_tokens(offer)
        template = _template(offer)
    if offer is None:
        return
    found = _inspected(text, special, offer, template=template, chat=chat, system=system)
    if isinstance(found, str):
        st.error(markdown.escape(found))
        return
    _normalization(found)
    if chat:
        st.caption(
            "Characters on a gray background, in italics, come from the chat template."
            if found.message
            else "The chat template changes the text, so its own characters are not marked."
        )
    if twice := trace.begins_twice(found.tokenizer, found.template[0], found.text_ids):
        st.warning(markdown.escape(twice))
    _verdict(offer, found)
    parts = player.parts(found.text, found.cuts, SHOWN)
    part = choose_part(PART, parts, "The figures above are for")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_sizes(found))
        decimal = DECIMAL.toggle()
    colors = _colors(offer, found)
    pressed = components.grid(_grid(offer, found, part, decimal), "grid")
    if pressed and _PRESSED.get() != pressed["number"]:
        _PRESSED.put(pressed["number"])
        LOOK_UP.put(str(pressed["id"]))
        CLOSER.put("token")
    closer = CLOSER.segments(label_visibility="collapsed")
    timeline = drawn = None
    if closer == "film":
        timeline = _timeline(offer, found, part, colors, trained_on=found.text == training_text)
    elif closer == "picture":
        drawn = _merge_diagram(offer, found, offered, colors)
    elif closer == "token":
        _token(offer, found.tokenizer)
    else:
        _ids(offer, found)
    own = Exported(offer.title, offer.cache_key, offer.make, is_large=offer.training is None)
    picture = partial(_colored, offer, found, colors)
    animation = partial(_animation, offer, found, colors, found.text == training_text)
    has_steps = found.tokenizer.without_steps is None and bool(found.events)
    slides = partial(_slides, offer, found, part, colors, drawn)
    EXPORT.put(Export("inspect", picture, own, animation if has_steps else None, slides=slides))
    if timeline is not None:
        _follow(timeline)


@fragment
def _follow(timeline: str) -> None:
    """Offer the slide of the player's step; run again if it changes."""
    report = components.player_events(None, "inspect_follower")["step"]
    offer = EXPORT.get()
    if offer is not None and report and report["timelineId"] == timeline:
        EXPORT.put(replace(offer, step=report["step"]))


def _colored(offer: Offer, found: Inspection, colors: Hues) -> ColoredText:
    boundaries = found.boundaries
    column = Column(offer.title, found.tokenizer, boundaries, boundaries.steps)
    return ColoredText(
        found.text, [column], "One text as tokens", hues=colors, settings=offer.settings
    )


def _slides(
    offer: Offer, found: Inspection, part: Part, colors: Hues, drawn: Part | None
) -> Slides:
    shown = player.part_between(found.boundaries, part, found.text)
    name = "Your tokenizer" if offer.key == OWN else offer.title
    payload = player.payload(inspection.timeline(found, shown, name, offer.training, colors))
    return StepSlides(
        name,
        payload,
        [inspection.part_of(found, shown)[0]],
        "step",
        settings=offer.settings,
        drawn=None if drawn is None else (drawn.first, drawn.last),
    )


def _animation(
    offer: Offer, found: Inspection, colors: Hues, trained_on: bool
) -> Callable[[], Playable]:
    training = offer.training
    title = offer.title if training is None else TRAINERS[training.algorithm].title
    options = dict(offer.options)
    how = (title, training, colors, options)
    return partial(playable.of_inspection, found, *how, trained_on=trained_on)


def _text(training_text: str) -> str:
    typed = clean(TYPED.get() or "")[: limits.BOX]
    text = training_text if SOURCE.get() == "learnt" else typed
    if len(text) > MAX_INSPECTED:
        st.caption(f"This page inspects the first {MAX_INSPECTED:,} of {len(text):,} characters.")
        text = text[:MAX_INSPECTED]
    return text


def _tokenizer(offered: Sequence[Offer]) -> Offer | None:
    """Draw the choice of the tokenizer; return None while its files are being downloaded."""
    by_key = {offer.key: offer for offer in offered}
    if TOKENIZER.get() not in by_key:
        TOKENIZER.clear()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = TOKENIZER.select(
            {key: offer.name for key, offer in by_key.items()},
            help=f"“{YOURS}” is trained on the training text, with the settings below.",
        )
        import_button(TOKENIZER.put)
    if assumed := by_key[chosen].assumed:
        st.caption(markdown.escape(assumed))
    return _if_ready(by_key[chosen])


def _if_ready(offer: Offer) -> Offer | None:
    if offer.needs is not None and not ready([offer.needs]):
        return None
    return offer


def _special_tokens(offer: Offer | None) -> tuple[str, ...]:
    """Draw the choice whether names of special tokens in the text are special; return these."""
    if offer is None:
        return ()
    title = markdown.escape(offer.title)
    names = offer.special_tokens
    if not names:
        st.caption(f"{title} has no special tokens.")
        return ()
    known = SPECIAL_NAME in names
    quoted = f"`{SPECIAL_NAME}`" if known else markdown.escape(shorten(names[0]))
    chosen = replace(SPECIAL, label=f"Treat {quoted} as").segments(
        help="Names of special tokens in pasted text are plain text. Only a program that intends "
        "it turns them into special tokens."
    )
    st.caption(f"Special tokens of {title}: {listed([*map(markdown.escape, names)], LISTED)}.")
    return names if chosen == "special" else ()


def _template(offer: Offer | None) -> bool:
    """Draw the switch for the tokens of the template, if there is one; return its value."""
    try:
        before, after = ((), ()) if offer is None else offer.make().template
    except ValueError:
        before = after = ()
    if offer is None or not (before or after):
        return False
    labels = [map(offer.make().token_label, ids) for ids in (before, after)]
    shown = " ".join((*labels[0], "…", *labels[1]))
    return TEMPLATE.toggle(
        help="Special tokens that a model expects around a text, such as one for its beginning "
        f"(BOS) or its end (EOS): {markdown.escape(shorten(shown, 60))}. They are not part of the "
        "text. A chat template usually writes them itself."
    )


def _chat_switch() -> bool:
    """Draw the switch of the chat template; return its value."""
    return CHAT.toggle(
        help="A chat model gets more than your text: markers show who speaks and where a message "
        "ends. This makes the text a user's message with these markers. Names of special tokens "
        "become special tokens, also in the message."
    )


def _system_prompt() -> str:
    """Draw the box for the system prompt; return it."""
    return SYSTEM.line(
        placeholder="None",
        help="An instruction to the model before the message. Some templates have a prompt of "
        "their own, or accept none.",
    )


def _normalization(found: Inspection) -> None:
    """Draw in words how the tokenizer changes the text before it splits it."""
    if clauses := normalization.describe(found.units):
        st.markdown(
            ":material/filter_alt: **Normalized** before it is split: "
            f"{markdown.escape('; '.join(clauses))}."
        )


def _verdict(offer: Offer, found: Inspection) -> None:
    """Draw whether decoding returns the text, and otherwise the differences."""
    trip = _round_trip(offer, found)
    added = found.added_count
    figures = (
        f"{markdown.escape(offer.title)}: {counted(len(found.ids), 'token')} for "
        f"{counted(len(found.raw), 'byte')}"
        f"{f', {added:,} of them from the template' if added else ''}"
    )
    if trip.lossless:
        st.markdown(
            f":green[:material/check_circle:] **Lossless.** Decoding the ids returns exactly the "
            f"same text. {figures}."
        )
        return
    places = counted(sum(loss.times for loss in trip.losses), "place")
    st.markdown(
        f":orange[:material/warning:] **Lossy.** Decoding the ids returns a text that differs in "
        f"{places}. {figures}."
    )
    draw_table(tables.losses(trip.losses), "losses", label="Text that decoding does not restore")


def _sizes(found: Inspection) -> str:
    """Return the size of the text in characters, code points and bytes."""
    return " · ".join(
        (
            counted(len(found.grapheme_ends), "character"),
            counted(len(found.text), "code point"),
            f"{counted(len(found.raw), 'byte')} in UTF-8",
        )
    )


def _timeline(
    offer: Offer, found: Inspection, part: Part, colors: Hues, *, trained_on: bool
) -> str | None:
    """Draw the player with the steps that change this text; return the id of its timeline, if any.

    Args:
        offer: The tokenizer.
        found: The encoded text.
        part: The part shown in the grid.
        colors: The color indices.
        trained_on: Whether the tokenizer, if it was trained here, was trained on this text.
    """
    if _without_steps(offer, found):
        _lattice(offer, found, part)
        return None
    data = _steps(offer, found, player.part_between(found.boundaries, part, found.text))
    if data["last"]:
        training = offer.training if trained_on and data["part"] is None else None
        payload = player.payload(data) | {"hasRace": training is not None}
        components.player(payload, "inspect_player")
        if training is not None:
            first = _candidates(offer, found.text, [event.step for event in found.events])
            components.race([race.payload(training, first, colors, data["timelineId"])])
        if len(found.events) < found.tokenizer.steps:
            st.caption(
                f"{data['unit'].capitalize()}s that do not touch this text are skipped. "
                "Counts are for this text."
            )
    elif found.text:
        _nothing_to_play(offer, data["unit"])
    _lattice(offer, found, part)
    return str(data["timelineId"]) if data["last"] else None


@cached()
def _candidates(offer: Offer, text: str, _steps: list[int]) -> list[race.Rows]:
    training = offer.training
    if training is None:
        return []
    boundaries = training.boundaries(text)
    return race.first_rows(training, text, boundaries, race.STEPS, _steps)


def _nothing_to_play(offer: Offer, unit: str) -> None:
    """Draw that no step of a tokenizer changes the text, and a way to one that does."""
    name = "your tokenizer" if offer.key == OWN else markdown.escape(offer.title)
    st.info(f"No {unit} of {name} changes this text, so there is nothing to play.")
    with st.container(horizontal=True):
        if offer.key != TRAINED_ON_MUCH:
            st.button(
                f"Try {LINKED[TRAINED_ON_MUCH]}",
                on_click=TOKENIZER.put,
                args=(TRAINED_ON_MUCH,),
                key="try_another_tokenizer",
            )
        if SOURCE.get() == "own":
            st.button(
                "Try the training text",
                on_click=SOURCE.put,
                args=("learnt",),
                key="try_the_training_text",
            )


def _without_steps(offer: Offer, found: Inspection) -> bool:
    """Return whether a tokenizer has no steps to show; draw the reason."""
    why = found.tokenizer.without_steps
    if why is not None:
        title = markdown.escape(offer.title)
        st.caption(f"{title} has no merges to replay: {why}. Its tokens and ids are above.")
    return why is not None


def _lattice(offer: Offer, found: Inspection, part: Part) -> None:
    """Draw the lattice of a word, and its best segmentations, if the model scores them."""
    tokenizer = found.tokenizer
    words: dict[str, Word] = {}
    for word in _scored_words(offer, found):
        if (
            part.first <= word.start
            and word.end <= part.last
            and 0 < len(word.text) <= LONGEST_WORD
        ):
            words.setdefault(word.text, word)
    if not words:
        return
    st.header("Lattice of a word", anchor=False)
    chosen = [*words.values()][:MOST_WORDS]
    number = WORD.member(len(chosen)).select(
        [label(found.text[word.start : word.end].encode()) for word in chosen],
        width=260,
        help=f"The different words above, of at most {LONGEST_WORD} characters.",
    )
    word = chosen[number]
    lattice = _word_lattice(offer, word.text)

    unknown = tokenizer.unknown_id

    def name(token_id: int) -> str:
        known = unknown if token_id == UNKNOWN_ID else token_id
        return "unknown" if known is None else tokenizer.token_label(known)

    st.caption(
        "The lattice shows every piece of the vocabulary that fits into the word, with its log "
        "probability. A segmentation is a path from left to right. Its log probability is the sum "
        "over its pieces. The first row, in bold, is the best path."
    )
    st.html(lattice_html(lattice, tokenizer.word_atoms(word.text), name))
    path = [unknown if edge.id == UNKNOWN_ID else edge.id for edge in lattice.best()]
    if trace.ids_between(found, word.start, word.end) != path:
        st.caption(
            "In this text, the tokens of this word differ from the best path. It has an unknown "
            "character or an added token, or it is part of a longer token."
        )
    best = tables.segmentations(lattice.nbest(SEGMENTATIONS), name)
    draw_table(best, "segmentations", label="Best segmentations")
    with st.expander("All pieces as a table"):
        pieces = tables.pieces(lattice, name)
        draw_table(pieces, "pieces", label="Pieces of the word")


def _side(offer: Offer, found: Inspection, colors: Hues) -> merge_diagram.Side:
    """Return one side of the merge diagram."""
    numbers = [event.step for event in found.events]
    return _side_of(offer, found.tokenizer, found.boundaries, numbers, found.special_ids, colors)


def _side_of(
    offer: Offer,
    tokenizer: Tokenizer,
    boundaries: Boundaries,
    numbers: Sequence[int],
    special: Collection[int] = (),
    colors: Hues = OWN_HUES,
) -> merge_diagram.Side:
    unit = "merge" if offer.training is None else texts_of(offer.training).unit
    look = token_lookup.look_of(tokenizer, offer.training, special, colors)
    return merge_diagram.Side(
        offer.title, boundaries, len(numbers), tokenizer.steps, look, unit, numbers
    )


def _merge_diagram(
    offer: Offer, found: Inspection, offered: Sequence[Offer], colors: Hues
) -> Part | None:
    """Draw the merge diagram, with another tokenizer mirrored below; return the part it shows."""
    if _without_steps(offer, found):
        return None
    others = {other.key: other for other in offered if other.key != offer.key}
    names = {"none": MIRRORED.titles["none"]} | {key: one.name for key, one in others.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if MIRRORED.get() not in names:
            MIRRORED.clear()
        chosen = MIRRORED.select(names, width=260)
        parts = player.parts(found.text, found.cuts, merge_diagram.MAX_DRAWN)
        part = choose_part(DRAWN_PART, parts, width=220)
    sides = [_side(offer, found, colors)]
    other = others.get(chosen)
    if other is not None and _if_ready(other) is not None:
        # All special tokens of the other tokenizer, if those of this one are treated as special.
        special = other.special_tokens if found.special_tokens else ()
        beside = _inspected(found.text, special, other)
        if isinstance(beside, str):
            st.error(markdown.escape(beside))
        elif not _without_steps(other, beside):
            both = inspection.hues_of(beside, other.training, colors)
            sides.append(_side(other, beside, both))
    raw = found.raw[part.start : part.end]
    settings = [*offer.settings, *(other.settings if len(sides) > 1 and other else ())]
    components.merge_diagram(
        merge_diagram.merge_diagram_payload(raw, sides, part.start, settings), "picture"
    )
    st.caption(ABOUT_MERGE_DIAGRAM)
    return part


def _token(offer: Offer, tokenizer: Tokenizer) -> None:
    """Draw a token that is looked up by its id or its text."""
    query = LOOK_UP.line(
        placeholder="Click a token above, or type an id or text",
        width=420,
        help="You can type · for a space, as tokens show it.",
    )
    if not query:
        size = token_lookup.describe_size(tokenizer)
        st.caption(f"Click a token above to look it up. The vocabulary has {size}.")
        return
    found = token_lookup.look_up(query, tokenizer)
    if not found:
        _no_token(query, tokenizer)
        return
    one = found[0]
    if len(found) > 1:
        titles = [f"id {one.id}" for one in found]
        one = found[_namesake(query, offer.key).radio(titles, horizontal=True)]
    draw_table(tables.tokens([one]), "looked_up", label="Token")
    note = token_lookup.instead(one.id, tokenizer)
    if note:
        st.caption(markdown.escape(note))
    steps = trace.merge_steps(one.id, tokenizer)
    ancestry = token_lookup.ancestry(one.id, tokenizer)
    if steps is not None:
        raw, boundaries, events = steps
        side = _side_of(offer, tokenizer, boundaries, [event.step for event in events])
        if ids := token_lookup.encoded_instead(one.id, tokenizer):
            side = replace(side, note=f", but its text is encoded as {' '.join(map(str, ids))}")
        components.merge_diagram(
            merge_diagram.merge_diagram_payload(raw, [side]), "picture_of_token"
        )
    left, right = st.columns((3, 2), gap="medium")
    with left:
        st.header("Merge tree", anchor=False)
        if ancestry[0].parents is None:
            st.caption("No merge created this token.")
        else:
            draw_table(
                tables.ancestry(ancestry),
                "ancestry",
                label="Merge tree",
                scrolls=True,
                download=True,
            )
    with right:
        st.header("Neighbors in the vocabulary", anchor=False)
        near = token_lookup.neighbors(one.id, tokenizer)
        draw_table(
            tables.tokens(near), "neighbors", label="Neighbors in the vocabulary", scrolls=True
        )


def _no_token(query: str, tokenizer: Tokenizer) -> None:
    """Draw a note that the token does not exist, and the tokens of its text instead."""
    size = token_lookup.describe_size(tokenizer)
    st.caption(f"No token has this id or text. The vocabulary has {size}.")
    try:
        ids = tokenizer.encode(token_lookup.query_text(query))
    except ValueError:
        return
    if ids:
        st.caption("As text, it becomes these tokens:")
        table = tables.decoded(token_lookup.decoded(ids, tokenizer))
        draw_table(table, "cut_instead", label="Tokens of this text")


def _ids(offer: Offer, found: Inspection) -> None:
    """Decode ids that are typed or pasted."""
    if not IDS.present:
        IDS.put(f"[{', '.join(map(str, found.ids[:8]))}]")
    typed = IDS.area(
        height=90,
        placeholder="For example [15339, 1917]",
        help=f"Up to {token_lookup.MOST_IDS:,} ids, separated by spaces or commas, as a list, or "
        "in a JSON object under “ids” or “input_ids”.",
    )
    try:
        ids = token_lookup.read_ids(typed)
    except token_lookup.IdsError as error:
        st.error(markdown.escape(str(error)))
        return
    if not ids:
        st.caption("There are no ids yet. Type or paste some.")
        return
    each = token_lookup.decoded(ids, found.tokenizer)
    missing = list(dict.fromkeys(one.id for one in each if one.raw is None))
    warning = st.container()  # always drawn, so that the elements after it keep their identity
    if missing:
        title = markdown.escape(offer.title)
        warning.warning(
            f"{title} has no id {listed([*map(str, missing)], LISTED)}. The other ids are decoded."
        )
    st.text("Text")
    st.code(token_lookup.text_of(ids, found.tokenizer), language=None, wrap_lines=True)
    table = tables.decoded(each)
    draw_table(table, "decoded", label="Decoded ids", scrolls=True, download=True)

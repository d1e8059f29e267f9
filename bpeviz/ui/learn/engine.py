"""The parts of the engine that chapters share: trainings, stages, and links."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import numpy as np

import bpeviz
from bpeviz.analysis import trace
from bpeviz.analysis.hues import OWN_HUES, Hues, hues
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.token_lookup import color_index_of, look_of
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import MergeTraining, Training
from bpeviz.text import counted, digest_of, times
from bpeviz.text import label as label_of
from bpeviz.ui.learn import stored
from bpeviz.ui.learn.base import MOST_PLACES, Exercise, NoQuestionError
from bpeviz.ui.runtime.cache import cached
from bpeviz.views import encoded
from bpeviz.views.acts import (
    BeliefAct,
    BoundariesAct,
    Judgment,
    PairAct,
    Verdict,
    bits_of,
    token,
    token_with_id,
)
from bpeviz.views.payloads import MessagePart, MessageRow, Player, TokenPart
from bpeviz.views.stage import Row, Stage, names_in, of_columns, of_pieces, of_training
from bpeviz.views.task import Mistake, Task, judged

MAX_TIED = 5
"""The most tied pairs that a result lists."""

EMPTY: Mapping[Any, Any] = {}

FIRST_SEEN = "Among pairs with the same count, the one seen first in the text is merged."


@cached()
def _trained(text: str, algorithm: str, options: tuple[tuple[str, Any], ...]) -> Training:
    return bpeviz.train(text, algorithm, **dict(options))


def train(text: str, algorithm: str = "bpe", **options: Any) -> Training:
    """Return the training history of a text, without pre-tokenization unless `options` say so."""
    options = {"pattern": "none"} | options
    return _trained(text, algorithm, tuple(sorted(options.items())))


def merges_of(text: str, algorithm: str = "bpe", **options: Any) -> MergeTraining:
    """Return the training history of a trainer that merges."""
    training = train(text, algorithm, **options)
    assert isinstance(training, MergeTraining)  # noqa: S101 (for the type)
    return training


# ---- the stage


def on_stage(stage: Stage, *identity: object) -> Player:
    """Return the payload of the player for a row to which steps may be appended.

    Args:
        stage: The stage, without steps that the user may not see yet.
        *identity: What stays the same when steps are appended: the text and the settings.
    """
    payload, view = stage.payload.copy(), stage.payload["views"][0]
    payload["key"] = digest_of(*identity, view["text"])
    payload["isLive"], payload["initialStep"] = True, payload["last"]
    if stage.rows[0].events is not None:  # the same text, whatever the number of its steps
        view["key"] = digest_of(view["text"], view["atomIds"])
    return payload


def still(rows: Sequence[Row], *identity: object) -> Player:
    """Return the payload of the player for rows without steps; see `on_stage`."""
    titles = [each.title for each in rows]
    payload = on_stage(Stage(rows, OWN_HUES), *identity, titles)
    payload["views"] = [each.timeline(OWN_HUES) for each in rows]
    for view, title in zip(payload["views"], titles, strict=True):
        view["title"], view["vocabSizes"], view["noText"] = title, [0], "Type below."
    payload["isStill"] = True
    return payload


def row(
    text: str,
    title: str,
    pieces: Sequence[tuple[int, int]],
    styles: Mapping[int, tuple[str, int]],
) -> Row:
    """Return the row of a text in pieces, without steps; see `bpeviz.views.stage.of_pieces`."""
    return of_pieces(text, title, pieces, names_in(styles))


def decoded_row(parts: Sequence[tuple[TokenPart, bytes]]) -> Row:
    """Return the row of a text that bytes decode to, in the pieces that end a character.

    Args:
        parts: The name of each token, and its bytes.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoded = [(part["color"], decoder.decode(raw)) for part, raw in parts]
    decoded.append((-1, decoder.decode(b"", final=True)))
    pieces = [(color, piece) for color, piece in decoded if piece]
    sizes = [(i, len(piece.encode())) for i, (_, piece) in enumerate(pieces)]
    styles = {i: (label_of(piece.encode()), color) for i, (color, piece) in enumerate(pieces)}
    return row("".join(piece for _, piece in pieces), "", sizes, styles)


def encoded_rows(text: str, tokenizers: Mapping[str, Tokenizer]) -> list[Row]:
    """Return a text in the tokens of tokenizers, a row each, by the names of the rows."""
    columns = [Column(key, way, way.boundaries(text), way.steps) for key, way in tokenizers.items()]
    colors = of_columns(columns, text).hues_at_end
    rows = []
    for column in columns:
        look = look_of(column.tokenizer, colors)
        ids, sizes = column.ids.tolist(), np.diff(column.cuts, prepend=0).tolist()
        pieces = [*zip(ids, sizes, strict=True)]
        rows.append(row(text, column.title, pieces, {i: look(i) for i in ids}))
    return rows


def encoding(
    text: str, tokenizer: Tokenizer, upto: int | None = None, special: Sequence[str] = ()
) -> Stage:
    """Return the stage of a text that a tokenizer encodes, up to a merge, or with all of them.

    Its colors do not depend on `upto`, so that a player with fewer merges extends.
    """
    colors = encoded.hues_of(trace.inspect(text, tokenizer, special))
    return Stage([encoded.of_encoding(text, tokenizer, upto, special)], colors)


def played(text: str, tokenizer: Tokenizer, name: str) -> Player:
    """Return the payload of the player for a text that is encoded as soon as it is seen."""
    payload = bare(on_stage(encoding(text, tokenizer), name))
    payload["plays"], payload["name"] = True, name
    return payload


def stage_of(training: Training, text: str, colors: Hues | None = None) -> Stage:
    """Return the stage of a text after all steps of a training.

    Args:
        training: The training.
        text: The text, which has one part.
        colors: The color indices that are known.
    """
    boundaries = training.at_step(training.steps).boundaries(text)
    return Stage([of_training(training, text, boundaries)], colors)


def hues_after(trainings: Callable[[int], Training], text: str, step: int) -> Hues:
    """Return color indices after a step, which are those of earlier steps for their tokens.

    Args:
        trainings: Returns the training with a number of steps.
        text: The text.
        step: The number of steps.
    """
    given = hues_after(trainings, text, step - 1) if step else OWN_HUES
    return hues([stage_of(trainings(step), text).rows[0].coloring], given)


def rounds_of(text: str, rounds: int, start: int = 0, last: int = 0) -> Exercise[int]:
    """Return the exercise in which the user chooses the pairs of some merges.

    Args:
        text: The text.
        rounds: The largest number of merges to choose.
        start: The merges that the text has at first.
        last: The merges that it has at the end, if these are more.

    Raises:
        NoQuestionError: No pair is left.
    """

    def training(step: int) -> MergeTraining:
        return merges_of(text, merges=step)

    pairs = len(training(start + rounds).merges) - start  # a short text has no more
    if pairs < 1:
        raise NoQuestionError("This text has no two neighbors to merge. Type a longer one.")

    def payload(done: int, given: int | None) -> Player:
        step = start + done if done < pairs else max(start + done, last)
        stage = stage_of(training(step), text, hues_after(training, text, step))
        return on_stage(stage, "rounds")

    questions = [partial(next_pair, training, text, start + i) for i in range(pairs)]
    return Exercise(questions, payload, {"first": _first_pair(training, start)})


def _first_pair(trainings: Callable[[int], MergeTraining], step: int) -> str:
    """Return the pair of a merge in words, "" where the text has none yet."""
    before = trainings(step)
    merge = before.merges[-1] if step else None
    return f"`{before.name(merge.left)}` + `{before.name(merge.right)}`" if merge else ""


def picked(
    options: Sequence[str],
    right: int,
    message: Sequence[MessagePart],
    wrong: Sequence[Mistake[int]],
    rows: Sequence[MessageRow] = (),
) -> Task[int]:
    """Return the question for one of some options.

    Args:
        options: The options, in the order of their words.
        right: The index of the right one.
        message: The answer in words.
        wrong: What is wrong with each of the others; that about the right one is left out.
        rows: What is listed below it.
    """
    return Task(BeliefAct(tuple(options)), judged(right, message), lambda: wrong, rows)


def next_pair(trainings: Callable[[int], MergeTraining], text: str, step: int) -> Task[int]:
    """Return the question for the pair that is merged after `step` merges.

    Args:
        trainings: Returns the training with a number of merges.
        text: The text.
        step: The number of merges so far.
    """
    before = trainings(step)
    boundaries = before.at_step(step).boundaries(text)
    barriers = before.barriers(text, step)
    ends = boundaries.token_ends(step)
    ids = boundaries.ids(step).tolist()
    inside = np.flatnonzero(~np.isin(ends[:-1], barriers)).tolist()
    places = {int(ends[i]) - 1: (ids[i], ids[i + 1]) for i in inside}
    colors = hues_after(trainings, text, step)

    def part(token_id: int) -> TokenPart:
        return token(before.name(token_id), colors.index(before.color_key(token_id)))

    def words(pair: Sequence[int]) -> list[MessagePart]:
        return [part(pair[0]), " + ", part(pair[1])]

    def counts() -> dict[tuple[int, ...], int]:
        table = before.pairs(text, boundaries, step)
        return {pair.ids: pair.count for pair in table.best(table.counts, (), len(table.keys))}

    def judge(given: int | None) -> Judgment[int]:
        count = counts()
        taken = trainings(step + 1).merges[step]
        pair = (taken.left, taken.right)
        message = _decided(pair, count, words)
        right = next(place for place, other in places.items() if other == pair)
        if given is None:
            return Judgment("right", message, right)
        verdict: Verdict = "right" if count[places[given]] == count[pair] else "wrong"
        return Judgment(verdict, message, right)

    def mistakes() -> list[Mistake[int]]:
        count = counts()
        most = max(count.values())
        first = {pair: place for place, pair in reversed(places.items())}
        return [
            Mistake(
                first[pair],
                [*words(pair), f" occurs {times(count[pair])}; another pair occurs more often."],
            )
            for pair in sorted(first, key=lambda pair: -count[pair])
            if count[pair] < most
        ]

    named = {place: (part(left), part(right)) for place, (left, right) in places.items()}
    return Task(PairAct(named), judge, mistakes)


def _decided(
    pair: tuple[int, ...],
    counts: Mapping[tuple[int, ...], int],
    words: Callable[[tuple[int, ...]], list[MessagePart]],
) -> list[MessagePart]:
    """Return why a pair is merged.

    Args:
        pair: The pair.
        counts: The counts of all pairs, the highest first.
        words: Returns the name of a pair.
    """
    count = counts[pair]
    others = [other for other in counts if counts[other] == count and other != pair]
    if not others:
        alone = len(counts) == 1
        more = ". There is no other pair." if alone else ", more often than any other pair."
        return [*words(pair), f" occurs {times(count)}{more}"]
    message: list[MessagePart] = [
        f"{len(others) + 1:,} pairs occur {times(count)}, and each is right. "
    ]
    message += [f"{FIRST_SEEN} Here that is ", *words(pair), "."]
    if len(others) < MAX_TIED:
        for number, other in enumerate(others):
            first = " The others: " if len(others) > 1 else " The other one: "
            message += [", " if number else first, *words(other)]
        message.append(".")
    return message


class MergeNumbers(NamedTuple):
    """The order in which a tokenizer merges, and its words.

    Attributes:
        of: Returns the number of a pair of ids, or None if it is never merged.
        words: A merge with its number, such as "is merge {}".
        earlier: A merge with a smaller number.
    """

    of: Callable[[tuple[int, int]], int | None]
    words: str
    earlier: str


def merges_in_order(
    text: str, tokenizer: Tokenizer, rounds: int, numbers: MergeNumbers, rows: Sequence[MessageRow]
) -> Exercise[int]:
    """Return the exercise in which the user chooses the first merges that encode a text.

    Args:
        text: The text.
        tokenizer: The tokenizer.
        rounds: The largest number of questions; all other merges follow the last one.
        numbers: The order of its merges.
        rows: What is listed above.

    Raises:
        NoQuestionError: No merge fits the text.
    """
    whole = trace.inspect(text, tokenizer)
    count = min(rounds, len(whole.events))
    if not count:
        raise NoQuestionError(
            "No merge of the list fits this text, so each of its bytes stays a token. Type a "
            "sentence in Latin letters."
        )

    def payload(done: int, given: int | None) -> Player:
        return on_stage(encoding(text, tokenizer, done if done < count else None), "encode")

    return Exercise(
        [partial(_merge_in_order, whole, i, numbers, rows) for i in range(count)], payload
    )


def _merge_in_order(
    whole: trace.Inspection, step: int, numbers: MergeNumbers, rows: Sequence[MessageRow]
) -> Task[int]:
    """Return the question for the merge after `step` merges of a text."""
    tokenizer, cut = whole.tokenizer, whole.boundaries
    ids, ends = cut.ids(step).tolist(), cut.token_ends(step).tolist()
    places = dict(zip((end - 1 for end in ends), pairwise(ids), strict=False))
    counts = Counter(places.values())
    colors = encoded.hues_of(whole)

    def part(token_id: int) -> TokenPart:
        color = color_index_of(tokenizer, token_id, colors)
        return token(tokenizer.token_label(token_id), color)

    def words(pair: Sequence[int]) -> list[MessagePart]:
        return [part(pair[0]), " + ", part(pair[1])]

    def right() -> int:
        return int(min({*ends} - {*cut.token_ends(step + 1).tolist()})) - 1

    def judge(given: int | None) -> Judgment[int]:
        pair = places[right()]
        name = numbers.words.format(f"{numbers.of(pair):,}")
        is_right = given is None or places[given] == pair
        message = [*words(pair), f" {name}, the first that fits."]
        return Judgment("right" if is_right else "wrong", message, right())

    def mistakes() -> list[Mistake[int]]:
        listed = sorted(places.items(), key=lambda item: numbers.of(item[1]) is None)
        return [
            Mistake(place, [*words(pair), _wrong(numbers.of(pair), counts[pair])])
            for place, pair in listed
            if pair != places[right()]
        ]

    def _wrong(number: int | None, count: int) -> str:
        is_frequent = count == max(counts.values()) > 1
        if number is None and is_frequent:
            return " is the most frequent pair here, but it is not in the list."
        if number is None:
            return " is not in the list, so it is never merged."
        often = " is frequent here, but encoding counts nothing: it" if is_frequent else ""
        return f"{often} {numbers.words.format(f'{number:,}')}, and {numbers.earlier} fits, too."

    named = {place: (part(left), part(right)) for place, (left, right) in places.items()}
    return Task(PairAct(named), judge, mistakes, rows)


def plain(payload: Player) -> Player:
    """Return a payload without ratios, and without numbers of merges: here, these have ranks."""
    (view,) = payload["views"]
    steps = {**view["steps"], "notes": {}}
    return {**payload, "isPlain": True, "views": [{**view, "steps": steps}]}  # type: ignore[typeddict-item]


def bare(payload: Player) -> Player:
    """Return a payload whose steps are played without words."""
    return {**plain(payload), "isBare": True}


def cut_exercise(
    text: str,
    tokenizer: Tokenizer,
    name: str,
    likely: Mapping[tuple[str, ...], str] = EMPTY,
    special: Sequence[str] = (),
) -> Exercise[int]:
    """Return the exercise in which the user places the boundaries of a tokenizer.

    Args:
        text: The text.
        tokenizer: The tokenizer. It may have only the tokens of this text.
        name: The name of the question.
        likely: What is wrong with a division that people expect, by its parts.
        special: The special tokens that the text may contain.

    A text with more than `MOST_PLACES` places is only played.

    Raises:
        NoQuestionError: There is no text.
    """
    places, _ = cut_places(text, tokenizer, special)
    if len(places) > MOST_PLACES:  # too many to guess
        return Exercise((), lambda done, given: played(text, tokenizer, name))

    def payload(done: int, given: int | None) -> Player:
        stage = encoding(text, tokenizer, special=special) if done else encoding(text, tokenizer, 0)
        return bare(on_stage(stage, "cuts", name))

    return Exercise([partial(cuts, text, tokenizer, likely, special)], payload)


def gpt4o_cuts(text: str, likely: Mapping[tuple[str, ...], str] = EMPTY) -> Exercise[int]:
    """Return the exercise in which the user places GPT-4o's boundaries; see `cut_exercise`.

    Raises:
        NoQuestionError: As above, or the file of GPT-4o's vocabulary is missing.
    """
    tokenizer = stored.gpt4o(text)
    if tokenizer is None:
        raise NoQuestionError("GPT-4o's list of tokens is not on this machine yet.")
    return cut_exercise(text, tokenizer, "GPT-4o's tokens", likely)


def cuts(
    text: str,
    tokenizer: Tokenizer,
    likely: Mapping[tuple[str, ...], str] = EMPTY,
    special: Sequence[str] = (),
) -> Task[int]:
    """Return the question where a tokenizer cuts a text: between letters, or inside of one."""
    tokens, raw = tokenizer.tokens(text, allowed_special=special), text.encode()
    places, ends = cut_places(text, tokenizer, special)
    pieces = [raw[i:j] for i, j in zip([0, *places], [*places, len(raw)], strict=True)]
    after = [place - 1 for place in places]
    right = bits_of(after, [end - 1 for end in ends])
    act = BoundariesAct([label_of(piece) for piece in pieces], after)

    def judge(given: int | None) -> Judgment[int]:
        ids = "its id" if len(tokens) == 1 else "their ids"
        message: list[MessagePart] = [f"{counted(len(tokens), 'token')} and {ids}: "]
        for part in tokens:
            message += [token_with_id(part.label, part.id), " "]
        return judged(right, message)(given)

    def mistakes() -> list[Mistake[int]]:
        every = (1 << len(after)) - 1
        expected = [
            Mistake(bits_of(after, [len(part.encode()) - 1 for part in accumulate(parts)]), [words])
            for parts, words in likely.items()
            if "".join(parts) == text
        ]
        return [
            *expected,
            Mistake(every, ["You placed every boundary, but a longer token is in the list."]),
            Mistake(0, ["You placed no boundary, but it is more than one token."]),
        ]

    return Task(act, judge, mistakes)


def cut_places(
    text: str, tokenizer: Tokenizer, special: Sequence[str] = ()
) -> tuple[list[int], list[int]]:
    """Return the bytes before which a boundary may be placed, and those after each token.

    Raises:
        NoQuestionError: There is no text.
    """
    if not text:
        raise NoQuestionError("There is no text yet. Type a word.")
    raw = text.encode()
    ends = [*accumulate(len(part.raw) for part in tokenizer.tokens(text, allowed_special=special))]
    letters = [len(text[:i].encode()) for i in range(1, len(text))]
    # Where a token has a part of a character, all bytes of that character are places.
    split = {end for end in ends if end not in letters and end < len(raw)}
    inside = {at for at in range(1, len(raw)) for end in split if _same_letter(raw, at, end)}
    return sorted({*letters, *inside}), ends


def _same_letter(raw: bytes, place: int, other: int) -> bool:
    """Return whether two places are in the same character, both after its first byte."""
    low, high = sorted((place, other))
    return all(raw[at] & 0xC0 == 0x80 for at in range(low, high + 1))


# ---- links


def train_page(
    text: str, label: str, merges: int, pattern: str = "none", train_on: str = ""
) -> str:
    """Return a link to the Train page with a training of a text, as Markdown."""
    query = {"text": text, "trained_on_box": train_on} if train_on else {"text": text}
    query |= {"algorithm": "bpe", "pattern": pattern, "bpe_min_count": "1"}
    query["largest"] = str(256 + merges)
    return f"[{label}](./?{urlencode(query, quote_via=quote)})"

"""The result of a comparison in words: the fewest tokens, differences, and notes on figures.

All sentences about one text compare the same `pair` of tokenizers. The verdict names those that tie
with one of the two, too. A tokenizer that was trained on the text is not compared: the verdict
states its number of tokens last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bpeviz.analysis.compared_text import ComparedText
from bpeviz.analysis.figures import cost_in
from bpeviz.analysis.intervals import FEWEST_LINES, ROUGH_LINES
from bpeviz.analysis.metrics import Column, boundaries_inside, differences, word_spans
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.text import counted, joined, label, listed, number_word, shorten


@dataclass(frozen=True)
class Standing:
    """A tokenizer in a comparison.

    Attributes:
        name: Its name on screen.
        tokens: The number of tokens of the whole text.
        lossy: Whether some tokens are not in its vocabulary, or some text is in no token. This
            content is lost, so its count is not comparable.
        vocab_size: The size of its vocabulary, or 0 where it is not known.
        in_sample: Whether it was trained on this very text, so its count is not comparable.
        without: The text that is in no token, in words, or "".
    """

    name: str
    tokens: int
    lossy: bool = False
    vocab_size: int = 0
    in_sample: bool = False
    without: str = ""

    @property
    def loss(self) -> str:
        """What its tokens lack, after their number, as in ", without the spaces"."""
        without = f", without {self.without}" if self.without else ", with unknown tokens"
        return without if self.lossy or self.without else ""


def standing(text: str, column: Column) -> Standing:
    """Return the standing of a column of a text."""
    without = ""
    if column.dropped:
        dropped = column.dropped_from(text)
        is_space = "a part of the text", "white space", "the spaces"
        without = is_space[(not dropped.strip()) + (not dropped.strip(" "))]
    how = column.lossy, column.vocab_size, column.in_sample, without
    return Standing(column.name or column.title, column.tokens, *how)


def percent(part: int, whole: int) -> str:
    """Return a share in percent with one decimal, rounded half up, as in "66.7%".

    A share between 0 and 1 is never shown as 0.0% or 100.0%.
    """
    tenths = (2_000 * part + whole) // (2 * whole)
    if tenths == 0 < part:
        return "less than 0.1%"
    if tenths == 1_000 and part < whole:
        return "more than 99.9%"
    return f"{tenths // 10:,}.{tenths % 10}%"


def difference(tokens: int, baseline: int) -> str:
    """Return the difference from a baseline, as in "66.7% fewer" or "5.5 times as many"."""
    if tokens == baseline:
        return "as many"
    if not baseline:
        return f"{tokens:,} more"
    if tokens >= 2 * baseline:
        return f"{f'{tokens / baseline:,.1f}'.removesuffix('.0')} times as many"
    word = "fewer" if tokens < baseline else "more"
    return f"{percent(abs(tokens - baseline), baseline)} {word}"


def compared_with(tokens: int, baseline: Standing) -> str:
    """Return the difference from a baseline with its name, as in "66.7% fewer than GPT-2"."""
    words = difference(tokens, baseline.tokens)
    return f"{words} {'as' if words.endswith('as many') else 'than'} {baseline.name}"


def losses(text: str, columns: Sequence[Column]) -> list[str]:
    """Return sentences about the parts of a text that columns drop, or that are unknown to them."""
    sentences = []
    for column in columns:
        if not column.dropped:
            continue
        signs = "".join(dict.fromkeys("".join(column.dropped_from(text).split())))
        kind = f"text, with {shorten(label(signs.encode()), 24)}" if signs else "white space"
        sentences.append(
            f"{column.title} drops {counted(column.dropped, 'byte')} of {kind}: they get no "
            "tokens, so its number of tokens is too low; its bytes per token include them."
        )
    return sentences + [
        f"{column.title} turns {counted(column.unknown, 'piece')} of this text into unknown "
        "tokens, so its count is too low."
        for column in columns
        if column.unknown
    ]


def compared(standings: Sequence[Standing]) -> list[int]:
    """Return the indices of those that were not trained on the text, or all without such."""
    indices = range(len(standings))
    return [i for i in indices if not standings[i].in_sample] or [*indices]


def best(standings: Sequence[Standing]) -> list[int]:
    """Return the indices of those with the fewest tokens, of those that lose nothing if any."""
    others = [standings[i] for i in compared(standings)]
    ranked = [standing for standing in others if not standing.lossy] or others
    fewest = min((standing.tokens for standing in ranked), default=0)
    return [
        i
        for i, standing in enumerate(standings)
        if standing in ranked and standing.tokens == fewest
    ]


class Pair(NamedTuple):
    """The indices of the two tokenizers that sentences compare, both the same for a single one."""

    leader: int
    other: int


def pair(standings: Sequence[Standing]) -> Pair:
    """Return a tokenizer with the fewest tokens, and the next one.

    Of several leaders, it is the one with the shortest vocabulary. Without a next one, the other
    one is one with as many tokens, or one that loses text.
    """
    leaders = best(standings)
    leader = min(leaders, key=lambda i: standings[i].vocab_size)
    fewest = standings[leader].tokens

    def rank(i: int) -> tuple[bool, bool, int]:
        standing = standings[i]
        return standing.tokens <= fewest, standing.lossy, standing.tokens

    others = (i for i in compared(standings) if i != leader)
    return Pair(leader, min(others, key=rank, default=leader))


def sentence(standings: Sequence[Standing]) -> str:
    """Return the verdict: the tokenizers with the fewest tokens, and the difference to others.

    Args:
        standings: At least one.

    >>> sentence([Standing("mine", 4, in_sample=True, without="the spaces"), Standing("a", 7)])
    'a needs 7 tokens. mine, trained on this text: 4, without the spaces.'
    """
    ranked = compared(standings)
    others = [standings[i] for i in ranked]
    verdict = _sentence(others)
    trained = (standings[i] for i in range(len(standings)) if i not in ranked)
    words = [f" {of.name}, trained on this text: {of.tokens:,}{of.loss}." for of in trained]
    return verdict + "".join(words)


MOST_COUNTS, MANY_TOKENS = 3, 100
"""A title has so many counts at most; from so many tokens on, it has the difference of two."""


def title(standings: Sequence[Standing]) -> str:
    """Return the verdict as a title: the counts if they are few, or by how much two differ.

    >>> title([Standing("GPT-2", 13), Standing("GPT-4 (cl100k)", 14), Standing("a", 13)])
    'GPT-2 and a: 13 tokens. GPT-4: 14.'
    >>> title([Standing("GPT-2", 245), Standing("b", 160)])
    'b needs 35% fewer tokens than GPT-2.'
    """
    others = [standings[i] for i in compared(standings)]
    short = [replace(of, name=of.name.partition(" (")[0]) for of in others]
    if len({of.name for of in short}) == len(short):
        others = short
    names: dict[int, list[str]] = {}
    for of in sorted(others, key=lambda of: of.tokens):
        names.setdefault(of.tokens, []).append(of.name)
    if any(of.lossy for of in others) or len(names) > MOST_COUNTS:
        return _sentence(others)
    fewest, most = min(names), max(names)
    share = (200 * (most - fewest) + most) // (2 * most) if most else 0
    if len(others) == 2 and most >= MANY_TOKENS and share:
        return f"{names[fewest][0]} needs {share}% fewer tokens than {names[most][0]}."
    first, *more = [f"{joined(who)}: {count:,}" for count, who in names.items()]
    return ". ".join([f"{first} token{'s' * (fewest != 1)}", *more]) + "."


def _sentence(standings: Sequence[Standing]) -> str:
    """Return the verdict on those that are compared."""
    leaders = best(standings)
    fewest = standings[leaders[0]].tokens
    tokens = counted(fewest, "token")
    if len(standings) == 1:
        return f"{standings[0].name} needs {tokens}{standings[0].loss}."
    names = joined([standings[i].name for i in leaders])
    all_of_them = "Both" if len(standings) == 2 else "All of them"
    lost = f" {all_of_them} lose a part of the text." if standings[leaders[0]].lossy else ""
    if len(leaders) == len(standings):
        return f"{names} need the same number: {tokens} each.{lost}"
    verdict = f"{names} need{'s' * (len(leaders) == 1)} the fewest tokens: {fewest:,}"
    verdict += " each" * (len(leaders) > 1)
    other = standings[pair(standings).other]
    if other.tokens <= fewest:
        verdict += "."
    elif len(standings) == 2:
        verdict += f", {compared_with(fewest, other)}."
    else:
        equal = (other.tokens, other.lossy)
        seconds = [of.name for of in standings if (of.tokens, of.lossy) == equal]
        need = f"need{'s' * (len(seconds) == 1)} {difference(other.tokens, fewest)}"
        verdict += f". {joined(seconds)} {need}{' each' * (len(seconds) > 1)}."
    lossy = [
        standing
        for i, standing in enumerate(standings)
        if standing.lossy and i not in leaders and standing.tokens <= fewest
    ]
    if lossy:
        lose, they = ("loses", "it is") if len(lossy) == 1 else ("lose", "they are")
        what = joined([*dict.fromkeys(of.without or "a part of the text" for of in lossy)])
        names = joined([standing.name for standing in lossy])
        verdict += f" {names} {lose} {what}, so {they} not ranked."
    return verdict + lost


def alike(columns: Sequence[Column]) -> list[list[Column]]:
    """Return the columns in groups that split a text alike, the largest group first."""
    groups: dict[tuple[bytes, ...], list[Column]] = {}
    for column in columns:
        places = column.inner_boundaries, column.cuts[column.ids == DROPPED_ID]
        groups.setdefault(tuple(ends.astype(int).tobytes() for ends in places), []).append(column)
    return sorted(groups.values(), key=len, reverse=True)


_DESCRIBED = 2
"""How many groups of algorithms are compared with the first one in words."""


def at_size(text: str, columns: Sequence[Column], size: int) -> str:
    """Return which algorithms split a text alike at a size, and how the others differ."""
    sizes: dict[int, list[str]] = {}
    for column in columns:
        if column.vocab_size != size:
            sizes.setdefault(column.vocab_size, []).append(column.title)
    own = "; ".join(f"{joined(titles)}: {number:,}" for number, titles in sizes.items())
    where = f"With {size:,} {'entry' if size == 1 else 'entries'}{f' ({own})' if own else ''}, "
    first, *others = alike(columns)
    if len(columns) == 1:
        tokens = counted(first[0].tokens, "token")
        return f"{where}{first[0].title} splits this text into {tokens}."
    # “than BPE” is written once, in the first clause that compares.
    than = f" than {first[0].title}" if len(first) == 1 else ""
    names = joined([column.title for column in first])
    clauses = [] if than else [f"{names} split this text alike"]
    for group in others[:_DESCRIBED]:
        verb = "" if len(group) > 1 else "s"
        how = joined([words.format(s=verb) for words in _against(text, group[0], first[0], than)])
        than = "" if than in how else than
        clauses.append(f"{joined([column.title for column in group])} {how}")
    if more := [column.title for group in others[_DESCRIBED:] for column in group]:
        clauses.append(f"{joined(more)} differ{'s' * (len(more) == 1)}, too")
    return f"{where}{'; '.join(clauses)}."


def _against(text: str, column: Column, other: Column, than: str) -> list[str]:
    """Return how a column's boundaries differ from another one's, in verbs with an ending {s}.

    Args:
        text: The text.
        column: The column.
        other: The other one.
        than: The other one in words, which follow the first comparison.
    """
    parts = []
    if drops := column.dropped - other.dropped:
        verb, more = ("drop", column) if drops > 0 else ("keep", other)
        signs = more.dropped_from(text)
        what = f"{counted(abs(drops), 'byte')} of text" if signs.strip() else "white space"
        parts.append(f"{verb}{{s}} {'the spaces' if {*signs} == {' '} else what}")
    starts, ends = word_spans(text)
    inside, others = (boundaries_inside(of, starts, ends) > 0 for of in (column, other))
    raw = text.encode()
    for verb, differs, end in ("split", inside & ~others, ""), ("keep", others & ~inside, " whole"):
        words = len({raw[a:b] for a, b in zip(starts[differs], ends[differs], strict=True)})
        if words:
            number = number_word(words)
            parts.append(f"{verb}{{s}} {number} more word{'s' * (words > 1)}{end}{than}")
            than = ""
    places = counted(sum(map(len, differences(column, other))), "other place")
    return parts or [f"split{{s}} at {places}{than}"]


def caution(standings: Sequence[Standing], *, is_priced: bool = False) -> str:
    """Return why the fewest tokens are not the best result, or "" if all have as many.

    Args:
        standings: At least one.
        is_priced: Whether the costs are known.

    >>> caution([Standing("a", 9, vocab_size=500), Standing("b", 7, vocab_size=1_000)])
    'Fewer tokens are cheaper, not better: its vocabulary is twice as large.'
    """
    leader, other = (standings[i] for i in pair(standings))
    if other.tokens <= leader.tokens:
        return ""
    ratio = round(leader.vocab_size / max(1, other.vocab_size), 1)
    reason = ""
    if ratio > 1 and other.vocab_size and len(compared(standings)) == 2:
        number = f"{ratio:,.1f}"
        if ratio >= 10 or ratio.is_integer():
            number = number_word(round(ratio))
        times = "twice" if number == "two" else f"{number} times"
        reason = f": its vocabulary is {times} as large"
    return f"Fewer tokens are {'' if is_priced else 'cheaper, '}not better{reason}."


def costs(known: Mapping[str, float]) -> str:
    """Return the costs of a text in words, the least first. known: by the name of the tokenizer."""
    figure, least = cost_in(known.values()), min(known.values(), default=0.0)
    first = joined([name for name, cost in known.items() if cost == least])
    ranked = sorted((cost, name) for name, cost in known.items() if cost > least)
    others = "".join(f"; {name} {figure.text(cost)}" for cost, name in ranked)
    costs = "costs least" if others else "costs the same" if len(known) > 1 else "costs"
    return f"This text {costs} with {first}: {figure.text(least)}{others}."


# ---- several texts


def of_texts(
    rows: Sequence[ComparedText], relative_to: str | None, in_sample: Collection[str]
) -> tuple[str, str]:
    """Return who needs the fewest tokens in all, how it fares in texts and premiums; its name."""
    trained = Counter[str]()
    for row in rows:
        trained[row.tokenizer] += row.tokens * (row.tokenizer in in_sample)
    rows = [row for row in rows if row.tokenizer not in in_sample] or rows
    best: dict[str, list[str]] = {row.text: [] for row in rows}
    totals: Counter[str] = Counter()
    for row in rows:
        totals[row.tokenizer] += row.tokens
        best[row.text] += [row.tokenizer] * row.best
    by_best: dict[tuple[str, ...], list[str]] = {}
    for text, names in best.items():
        by_best.setdefault((*names,), []).append(text)

    def rank(title: str) -> tuple[int, int, int]:
        ties = sum(title in names for names in best.values())
        return len(by_best.get((title,), ())), ties, -totals[title]

    lossy = {row.tokenizer for row in rows if row.is_unranked}
    ranked = [title for title in totals if title not in lossy] or [*totals]
    fewest = min(totals[title] for title in ranked)
    leaders = [title for title in ranked if totals[title] == fewest]
    first = max(leaders, key=rank)
    if len(best) == 1:
        first = max(totals, key=rank)
        sentence = _verdict_of_one(rows, lossy)
    elif len(totals) == 1:
        sentence = f"{first} needs {counted(totals[first], 'token')} for {len(best):,} texts."
    elif [*by_best] == [()]:
        parts = [f"{title} {totals[title]:,}" for title in sorted(ranked, key=totals.__getitem__)]
        of_all = "both texts" if len(best) == 2 else f"all {len(best):,} texts"
        sentence = f"Undecided for {of_all}: in all, {listed(parts, 4)} tokens; {_CHANCE}."
    elif [*by_best] == [(*totals,)]:
        sentence = f"{joined([*totals])} need the same number of tokens for each text, "
        sentence += f"{fewest:,} in all."
    else:
        each, need = (" each", "need") if len(leaders) > 1 else ("", "needs")
        of_those = " of those that lose no text" * (0 < len(lossy) < len(totals))
        sentence = f"{joined(leaders)} {need} the fewest tokens{of_those}, {fewest:,}{each} in all"
        sentence += f"{_standing(first, leaders, by_best)}."
    sentence += _largest_premium(rows, first, relative_to)
    for name in trained.keys() - totals.keys():
        sentence += f" {name}, trained on these texts: {trained[name]:,}."
    return sentence, first


def _standing(
    first: str, leaders: Sequence[str], by_best: Mapping[tuple[str, ...], Sequence[str]]
) -> str:
    """Return how the tokenizers with the fewest tokens in all fare in single texts.

    Args:
        first: The one that the verdict is about.
        leaders: All of them.
        by_best: The names of texts by the best tokenizers of each, none where it is undecided.
    """
    number = sum(map(len, by_best.values()))
    undecided = f"; undecided for {_named(by_best[()])}" if () in by_best else ""
    if all(name in best for name in leaders for best in by_best if best):
        return f", and {'is' if len(leaders) == 1 else 'are'} never beaten{undecided}"
    won = len(by_best.get((first,), ()))
    clauses = [f"alone has the fewest for {won:,} of {number:,} texts"] * bool(won)
    for best, texts in sorted(by_best.items(), key=lambda group: first not in group[0]):
        if others := [name for name in best if name != first]:
            does = "ties with" if first in best else "loses to"
            clauses.append(f"{does} {joined(others)} for {_named(texts)}")
    subject = "it" if len(leaders) == 1 else first
    return "".join(f"; {subject} {clause}" for clause in clauses) + undecided


def _largest_premium(rows: Sequence[ComparedText], first: str, relative_to: str | None) -> str:
    """Return a sentence about the largest premium under a tokenizer, or "" without one."""
    others = (row for row in rows if row.tokenizer == first and row.text != relative_to)
    if not (known := [row for row in others if row.premium is not None]):
        return ""
    premium = max(row.premium or 0.0 for row in known)
    worst = [row for row in known if row.premium == premium]
    words = f"{premium:.2f} times as many"
    interval = ""
    if worst[0].low is not None and worst[0].high is not None:
        interval = f" ({worst[0].low:.2f} to {worst[0].high:.2f})"
        interval += ", which is undecided" * (worst[0].low <= 1 <= worst[0].high != worst[0].low)
    if len(known) == 1:
        return f" Under {first}, {worst[0].text} needs {words} tokens as {relative_to}{interval}."
    parallel = len(known) + 1
    is_all = parallel == len({row.text for row in rows})
    these = "the translations" if is_all else f"{parallel:,} parallel texts"
    if premium <= 1:
        close = [row.text for row in known if (row.high or 0) >= 1 != row.low]
        but = f"; undecided for {_named(close)}" if close else ""
        return f" Among {these}, none needs more tokens under {first} than {relative_to}{but}."
    need = "needs" if len(worst) == 1 else "need"
    return (
        f" Among {these}, {_names([row.text for row in worst])} {need} the most tokens under "
        f"{first}: {words} as {relative_to}{interval}."
    )


def _names(texts: Sequence[str]) -> str:
    # A label such as 5 would read as a number of texts.
    names = [f"“{text}”" if text.isnumeric() else text for text in texts]
    return joined(names) if len(names) <= 4 else listed(names, 4)


def _named(texts: Sequence[str]) -> str:
    """Return the name of a text, or the number and names of several."""
    return _names(texts) if len(texts) == 1 else f"{len(texts):,} texts ({_names(texts)})"


_CHANCE = "with other text of this kind, the order may change"


def _verdict_of_one(rows: Sequence[ComparedText], lossy: Collection[str]) -> str:
    """Return the verdict for the rows of one text."""
    standings = [Standing(row.tokenizer, row.tokens, row.tokenizer in lossy) for row in rows]
    if any(row.best for row in rows):
        return sentence(standings)
    first, *others = sorted((row.tokens, row.name) for row in standings if not row.lossy)
    rest = listed([f"{name} {tokens:,}" for tokens, name in others], 3)
    return f"Undecided: {first[1]} needs {first[0]:,} tokens, {rest}; {_CHANCE}."


# ---- notes on several texts

UNKNOWN = "{} loses text, as unknown tokens"
NO_PREMIUM = "{} loses text of {}, so no premium"
NO_SPACES = "no spaces between words, so no tokens per word"
NO_RATIO = "the premium is that of lines encoded alone, so it is not the ratio of the tokens"


def notes_of_text(
    unit: str, relative_to: str | None, own: int, parallel: int, one_sided: int | None
) -> list[str]:
    """Return why figures of a text are missing or rough.

    Args:
        unit: Of what it consists: "line" or "row".
        relative_to: The text to which premiums are relative, or None.
        own: The number of its lines or documents that are not blank; `ROUGH_LINES` with a single
            tokenizer, which has no intervals of differences.
        parallel: The number of its lines that are parallel, and not blank.
        one_sided: The number of those that are blank in one of both texts only; None if the texts
            are not parallel.
    """
    notes = []
    if relative_to is not None and one_sided is None:
        notes.append(f"not as many {unit}s as {relative_to}, so no premium")
    if one_sided:
        empty = f"{counted(one_sided, unit)} empty only here or only in {relative_to}"
        notes.append(f"{empty}, left out of the premium")
    if own < FEWEST_LINES:
        notes.append(f"fewer than {FEWEST_LINES} {unit}s, so no intervals, only plain counts")
    elif own < ROUGH_LINES:
        notes.append(f"fewer than {ROUGH_LINES} {unit}s, so intervals are rough")
    if one_sided is not None:
        if not parallel:
            notes.append(f"no parallel {unit}s, so no premium")
        elif parallel < FEWEST_LINES <= own:
            few = f"fewer than {FEWEST_LINES} parallel {unit}s"
            notes.append(f"{few}, so the premium has no interval")
        elif parallel < ROUGH_LINES <= own:
            few = f"fewer than {ROUGH_LINES} parallel {unit}s"
            notes.append(f"{few}, so the interval of the premium is rough")
    return notes


def notes_of_texts(
    rows: Sequence[ComparedText], special_tokens: Mapping[str, int] | None
) -> list[str]:
    """Return each note of the rows once, with the names of its texts, and that on special tokens.

    Args:
        rows: The rows.
        special_tokens: How many are around each text by tokenizer; None if they are not counted.
    """
    texts: dict[str, dict[str, None]] = {}
    for row in rows:
        for note in row.notes:
            texts.setdefault(note, {})[row.text] = None
    number = len({row.text for row in rows})
    notes = [
        f"{'All texts' if len(names) == number > 3 else listed([*names], 8)}: {note}."
        for note, names in texts.items()
    ]
    return notes if special_tokens is None else [*notes, _special_note(special_tokens)]


def _special_note(special_tokens: Mapping[str, int]) -> str:
    """Return how many special tokens each tokenizer has around each text."""
    known = [f"{name} {number:,}" for name, number in special_tokens.items() if number]
    others = [name for name, number in special_tokens.items() if not number]
    notes = []
    if known:
        notes.append(f"Counts include the special tokens around each text: {listed(known, 8)}.")
    if others:
        notes.append(f"No special tokens around a text are known for {listed(others, 8)}.")
    return " ".join(notes)

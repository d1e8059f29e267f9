"""Measure how fast bpeviz is beside other libraries, and whether it comes to the same.

    python tests/benchmarks/speed.py [TINY_SHAKESPEARE] [--quick] [--only GROUP] [--rounds N]

Contenders take turns (A, B, C, A, B, C …), each in a process of its own, so that whatever else the
machine does falls on all of them. A time is the median over the rounds; a ratio is the median of
the ratios to bpeviz's time in the same round. Both stand with the smallest and the largest. Who
takes longer than `ONCE` is run once, and who takes longer than the limit is stopped.

Results are compared, in every round. One that is not what it must be is called WRONG, and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from statistics import median
from threading import Event, Timer
from typing import Any

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from benchmarks import corpora, machine
from benchmarks.contenders import Job

from bpeviz.pretokenizers.patterns import PATTERNS, blocks, slices

ROOT = Path(__file__).resolve().parents[2]
SHAKESPEARE = ROOT.parent / "shared" / "data" / "tinyshakespeare.txt"
PACKAGES = (
    *("numpy", "pyarrow", "regex"),
    *("tiktoken", "tokenizers", "rustbpe", "sentencepiece"),
)
ONCE = 10.0
"""Seconds from which on a contender is run only once."""

PIECE = 1 << 16
"""Characters in each of the pieces that a peer is given which takes many texts at once."""

BPEVIZ = "bpeviz"
"""The name of what all others are held against."""


# ---- what is measured


@dataclass(frozen=True)
class Entry:
    """A contender in a row.

    like: whose result it must come to; None: nobody's. why: what is said where it must not be
    anybody's. hidden: whether it is there for its result alone.
    """

    name: str
    like: str | None = None
    why: str = ""
    hidden: bool = False


@dataclass(frozen=True)
class Row:
    """A job, and who does it. text: how the text is called; short: the job's name in a summary."""

    text: str
    what: str
    short: str
    job: Job
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Group:
    """Rows of one kind. about: what the job is on every side. memory: whether not time counts."""

    key: str
    title: str
    about: str
    rows: tuple[Row, ...]
    limit: float
    memory: bool = False


SMALLEST = "bpeviz, ties: smallest"
THEIR_ORDER = "bpeviz, bytes in their order"

TRAINERS = (
    Entry(BPEVIZ),
    Entry(SMALLEST),
    Entry(THEIR_ORDER, hidden=True),
    Entry("bpeviz, plain trainer", BPEVIZ),
    Entry("rustbpe", SMALLEST),
    Entry("tokenizers", THEIR_ORDER),
    Entry("sentencepiece", why="another job"),
    Entry("minbpe's loop", BPEVIZ),
    Entry("tiktoken._educational", BPEVIZ),
)
"""Of equally frequent pairs minbpe and tiktoken take the one first seen, rustbpe the one with the
smallest ids, and `tokenizers` that as well, with the ids of bytes in another order."""


def trainers(*but: str) -> tuple[Entry, ...]:
    return tuple(entry for entry in TRAINERS if entry.name not in but)


# For the memory: who is not slow. Of 100 MB, who does not take a Python object for each chunk.
MEASURED = tuple(
    replace(entry, hidden=entry.hidden or entry.name == SMALLEST)
    for entry in trainers("minbpe's loop", "tiktoken._educational")
)
MEASURED_LARGE = tuple(
    entry for entry in MEASURED if entry.name not in (THEIR_ORDER, "bpeviz, plain trainer")
)


ENCODERS = (
    Entry(BPEVIZ),
    Entry("bpeviz, plain merges", BPEVIZ),
    Entry("tiktoken", BPEVIZ),
    Entry("tokenizers", BPEVIZ),
)
COUNTERS = (
    Entry(BPEVIZ),
    Entry("bpeviz, as a dictionary", BPEVIZ),
    Entry("regex.findall, Counter", BPEVIZ),
)


@dataclass(frozen=True)
class Settings:
    """How large everything is."""

    sizes: tuple[int, ...] = (512, 8_192, 32_768)
    unsplit: tuple[int, ...] = (1_024, 8_192)
    size: int = 32_768
    worst_size: int = 512
    library: int = 10_000_000
    most: int | None = None  # bytes of Tiny Shakespeare
    worst: int = 1_000_000
    repeated: int = 100_000
    large: tuple[int, int] | None = None  # bytes, and vocabulary size
    patience: float = 120.0
    less_patience: float = 30.0


QUICK = Settings(
    sizes=(280, 300),
    unsplit=(280,),
    size=300,
    worst_size=270,
    library=10_000,
    most=10_000,
    worst=3_000,
    repeated=1_000,
)


def in_short(number: int) -> str:
    """Return a vocabulary's size in few characters: 512, 8k, 32k."""
    return f"{number // 1024}k" if number % 1024 == 0 else f"{number:,}"


def megabytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB" if size >= 100_000 else f"{size / 1e3:.3g} kB"


class Texts:
    """The texts, each written to a file once it is wanted."""

    def __init__(self, folder: Path, shakespeare: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self._library: str | None = None
        self.main: dict[str, tuple[str, str]] = {}  # short name: name, path
        try:
            raw = shakespeare.read_bytes()[: settings.most]
        except OSError:
            self.missing: Path | None = shakespeare
        else:
            self.missing = None
            text = raw.decode(errors="ignore" if settings.most else "strict")
            name = "Tiny Shakespeare" if "shakespeare" in shakespeare.name else shakespeare.name
            self.main["ts"] = (f"{name}, {megabytes(len(raw))}", self._written("given", text))
        size = len(self.library.encode())
        self.main["std"] = (
            f"standard library, {megabytes(size)}",
            self._written("library", self.library),
        )

    @property
    def library(self) -> str:
        if self._library is None:
            self._library = corpora.standard_library(self.settings.library)
        return self._library

    def _written(self, name: str, text: str) -> str:
        path = self.folder / f"{name}.txt"
        path.write_bytes(text.encode())
        pieces = blocks(slices(text, PIECE), "gpt2", PIECE)
        path.with_suffix(".ends").write_text(json.dumps([*accumulate(map(len, pieces))]))
        return str(path)

    def first(self) -> tuple[str, str, str]:
        """Return the short name, the name and the path of the first text that is there."""
        short, (name, path) = next(iter(self.main.items()))
        return short, name, path

    def worst(self) -> Iterator[tuple[str, str, str]]:
        """Yield texts that are hard: short name, name, path."""
        size, few = self.settings.worst, self.settings.repeated
        made: list[tuple[str, str, Callable[[], str]]] = [
            ("aaa…", f"a × {few:,}", lambda: "a" * few),
            (
                "no blanks",
                f"{megabytes(size)} of letters",
                lambda: corpora.letters(self.library, size),
            ),
            ("spaces", f"{megabytes(size)} of spaces", lambda: " " * size),
            ("abcd", f"{megabytes(size)} of random a, b, c, d", lambda: corpora.four_letters(size)),
            ("Fibonacci", f"Fibonacci word, {megabytes(size)}", lambda: corpora.fibonacci(size)),
        ]
        for number, (short, name, make) in enumerate(made):
            path = self.folder / f"worst{number}.txt"
            yield short, name, str(path) if path.exists() else self._written(path.stem, make())

    def large(self, size: int) -> tuple[str, str]:
        text = corpora.rotated(self.library, size)
        return f"standard library, letters rotated, {megabytes(size)}", self._written("large", text)

    def digests(self) -> Iterator[str]:
        for name, path in self.main.values():
            digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]
            yield f"{name} (SHA-256 {digest}…)"


def job(kind: str, path: str, pattern: str = "gpt2", **rest: Any) -> Job:
    expression = PATTERNS[pattern].expression or r"[\s\S]+"
    ends = str(Path(path).with_suffix(".ends"))
    return Job(kind, path, ends, pattern, expression, **rest)


def groups(texts: Texts, settings: Settings, limit: float | None) -> Iterator[Group]:
    """Yield what is measured, one group at a time."""
    patience = limit or settings.patience
    less = limit or settings.less_patience

    yield Group(
        "training",
        "Training, split as GPT-2 does",
        "From a text in memory to its merges, splitting included on all sides. rustbpe, tokenizers "
        "and sentencepiece work on several cores, the others on one; rustbpe and tokenizers get "
        "the text in pieces of 64 kB, so that they can. sentencepiece does another job: as many "
        "merges, but over characters, within words between blanks, of at most 16 characters.",
        tuple(
            Row(
                name,
                f"vocabulary {size:,}",
                f"{short} {in_short(size)}",
                job("train", path, size=size),
                TRAINERS,
            )
            for short, (name, path) in texts.main.items()
            for size in settings.sizes
        ),
        patience,
    )

    short, name, path = texts.first()
    yield Group(
        "unsplit",
        "Training without splitting",
        "From a text in memory to its merges; nobody splits it. (sentencepiece cannot: to it a "
        "line is the most, and a token has at most 16 characters.)",
        tuple(
            Row(
                name,
                f"vocabulary {size:,}",
                f"{short} {in_short(size)}",
                job("train", path, "none", size=size),
                trainers("sentencepiece"),
            )
            for size in settings.unsplit
        ),
        patience,
    )

    yield Group(
        "worst",
        f"Training on the worst texts, to a vocabulary of {settings.worst_size}",
        "From a text in memory to its merges, with GPT-2's splitting on all sides, to which each "
        "of these texts is one chunk.",
        tuple(
            Row(
                name,
                "training",
                short,
                job("train", path, size=settings.worst_size),
                trainers("sentencepiece", "tiktoken._educational"),
            )
            for short, name, path in texts.worst()
        ),
        less,
    )

    yield Group(
        "counting",
        "Splitting and counting alone",
        "From a text in memory to its distinct chunks, in first-seen order, with how often each "
        "comes. bpeviz has them in arrays, which is what it learns from; the second line makes "
        "the dictionary of them that the third one makes.",
        tuple(
            Row(
                name,
                f"{pattern}'s pattern",
                f"{short} {pattern}",
                job("count", path, pattern),
                COUNTERS,
            )
            for short, (name, path) in texts.main.items()
            for pattern in ("gpt2", "cl100k", "o200k")
        ),
        less,
    )

    base_name, base = name, path
    yield Group(
        "encoding",
        f"Encoding, with {settings.size:,} tokens learnt from {base_name}",
        "From a text in memory to a list of ids, with GPT-2's splitting on all sides. Nothing is "
        "remembered from earlier texts. tokenizers gets pieces of 64 kB and works on several "
        "cores, the others on one.",
        tuple(
            Row(
                name,
                "encoding",
                short,
                job("encode", path, size=settings.size, base=base),
                ENCODERS,
            )
            for short, name, path in (
                *((short, *rest) for short, rest in texts.main.items()),
                *texts.worst(),
            )
        ),
        less,
    )

    measured = [(*texts.main["std"], settings.size, "gpt2", MEASURED)]
    if settings.large is not None:
        large = texts.large(settings.large[0])
        measured.append((*large, settings.large[1], "gpt2", MEASURED_LARGE))
        measured.append((*large, settings.large[1], "none", MEASURED_LARGE[:1]))
    yield Group(
        "memory",
        "Memory for training, split as GPT-2 does, or whole",
        "The most that a fresh process holds while it learns, without the text: the interpreter "
        "and the libraries, which alone take what the last column says, and all that is made.",
        tuple(
            Row(
                name,
                f"vocabulary {size:,}" + ", whole" * (pattern == "none"),
                f"{name.rsplit(', ', 1)[1]} {in_short(size)}" + " whole" * (pattern == "none"),
                job("train", path, pattern, size=size, memory=True),
                entries,
            )
            for name, path, size, pattern, entries in measured
        ),
        max(patience, 300.0),
        memory=True,
    )


GROUPS = ("training", "unsplit", "worst", "counting", "encoding", "memory")


# ---- how it is measured


class Worker:
    """A contender's process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.contenders"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def do(self, job: Job, limit: float) -> dict[str, Any]:
        """Have a job done and return what is said of it: {"over": True} if it takes too long."""
        assert self.process.stdin
        print(
            json.dumps({"who": self.name, "job": asdict(job)}),
            file=self.process.stdin,
            flush=True,
        )
        said = self._hear(10 * limit + 60)  # it loads its libraries and makes everything ready
        return self._hear(limit) if said.get("begun") else said

    def _hear(self, limit: float) -> dict[str, Any]:
        assert self.process.stdout
        stopped = Event()

        def stop() -> None:
            stopped.set()
            self.process.kill()

        timer = Timer(limit, stop)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if line:
            said: dict[str, Any] = json.loads(line)
            return said
        code = self.process.wait()
        return {"over": True} if stopped.is_set() else {"failed": f"ended with {code}"}

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()


def end(workers: dict[str, Worker]) -> None:
    while workers:
        workers.popitem()[1].end()


@dataclass
class Outcome:
    """What came of a contender in a row: a list has an entry for each round."""

    figures: list[float] = field(default_factory=list)
    digests: set[str] = field(default_factory=set)
    libraries: int = 0
    problem: str = ""
    over: bool = False


def measure(
    row: Row,
    group: Group,
    rounds: int,
    workers: dict[str, Worker],
    before: Iterable[tuple[Row, dict[str, Outcome]]],
    tell: Callable[[str], None],
) -> dict[str, Outcome]:
    """Have a row's contenders take turns. before: rows of this group that are done."""
    outcomes = {entry.name: Outcome() for entry in row.entries}
    for name, outcome in outcomes.items():
        # A larger vocabulary of the same text takes longer still.
        outcome.over = any(
            replace(done.job, size=0) == replace(row.job, size=0)
            and done.job.size <= row.job.size
            and name in found
            and found[name].over
            for done, found in before
        )
    for turn in range(1 if group.memory else rounds):
        for entry in row.entries:
            outcome = outcomes[entry.name]
            long = bool(outcome.figures) and outcome.figures[0] > ONCE and entry.name != BPEVIZ
            if outcome.over or outcome.problem or (turn and (entry.hidden or long)):
                continue
            tell(f"{group.key}: {row.text}, {row.what}: {entry.name}, round {turn + 1}")
            worker = workers.get(entry.name)
            if worker is None or not worker.alive or group.memory:
                if worker is not None:
                    worker.end()
                worker = workers[entry.name] = Worker(entry.name)
            said = worker.do(row.job, group.limit)
            if group.memory:  # it is in nobody's way any more
                worker.end()
            if "seconds" in said:
                outcome.figures.append(said["above"] if group.memory else said["seconds"])
                outcome.digests.add(said["digest"])
                outcome.libraries = said["libraries"]
            else:
                outcome.over = "over" in said
                outcome.problem = said.get("missing") or said.get("failed") or ""
    return outcomes


def verdict(entry: Entry, outcomes: dict[str, Outcome]) -> str:
    """Say of a contender's result whether it is what it must be."""
    outcome = outcomes[entry.name]
    if outcome.problem:
        return f"WRONG: {outcome.problem}" if entry.name == BPEVIZ else outcome.problem
    if not outcome.digests:
        return ""
    if len(outcome.digests) > 1:
        return "WRONG: not the same each time"
    if entry.like is None:
        return entry.why
    expected = outcomes[entry.like].digests if entry.like in outcomes else set()
    if not expected:
        return "not checked"
    return "same" if outcome.digests == expected else f"WRONG: not what {entry.like} comes to"


def wrong(entry: Entry, outcomes: dict[str, Outcome]) -> bool:
    return verdict(entry, outcomes).startswith("WRONG")


# ---- how it is told


def number(value: float) -> str:
    """Return a number with two or three digits that matter."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def figure(value: float, memory: bool) -> str:
    return (
        f"{value / 1e6:,.0f} MB"
        if memory
        else f"{value:.3g} s"
        if value < 100
        else f"{value:.0f} s"
    )


def ratios(outcome: Outcome, to: Outcome) -> list[float]:
    return [mine / its for mine, its in zip(outcome.figures, to.figures, strict=False) if its]


def between(values: Sequence[float], how: Callable[[float], str]) -> str:
    return f"{how(min(values))} – {how(max(values))}" if len(values) > 1 else ""


def table(lines: Sequence[Sequence[str]], left: int) -> str:
    """Lay out lines, the first being the head, as Markdown that can be read in a terminal.

    left: how many columns stand at the left; those behind them stand at the right.
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    sides = [
        ("-" * width if i < left else "-" * (width - 1) + ":") for i, width in enumerate(widths)
    ]
    laid = [
        " | ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in (lines[0], sides, *lines[1:])
    ]
    return "\n".join(f"| {line} |" for line in laid)


Done = Sequence[tuple[Row, dict[str, Outcome]]]


def in_full(group: Group, done: Done) -> str:
    """Return the table of a group: a line for each contender and job."""
    head = ["text", "job", "who", "result"]
    head += ["memory", "ratio", "libraries"] if group.memory else []
    head += [] if group.memory else ["median", "from – to", "ratio", "from – to", "runs"]
    lines = [head]
    for row, outcomes in done:
        first = (row.text, row.what)
        for entry in row.entries:
            outcome = outcomes[entry.name]
            if entry.hidden:
                continue
            cells = [*first, entry.name, verdict(entry, outcomes)]
            first = ("", "")
            if outcome.figures:
                found = ratios(outcome, outcomes[BPEVIZ])
                shown = figure(median(outcome.figures), group.memory)
                ratio = number(median(found)) if found else ""
                if group.memory:
                    cells += [shown, ratio, figure(outcome.libraries, True)]
                else:
                    cells += [shown, between(outcome.figures, lambda v: f"{v:.3g}")]
                    cells += [ratio, between(found, number), str(len(outcome.figures))]
            elif outcome.over:
                cells += [f"over {group.limit:.0f} s", "", *_over(group, outcomes, ""), ""]
                cells = cells[: len(head)]
            lines.append(cells + [""] * (len(head) - len(cells)))
    return table(lines, left=4)


def _over(group: Group, outcomes: dict[str, Outcome], otherwise: str) -> Iterator[str]:
    its = outcomes[BPEVIZ].figures
    yield f"over {number(group.limit / median(its))}" if its and not group.memory else otherwise
    yield ""


def in_brief(group: Group, done: Done) -> str:
    """Return the ratios of a group: a line for each contender, a column for each job."""
    names = [entry.name for entry in done[0][0].entries if not entry.hidden]
    lines = [["", *(row.short for row, _ in done)]]
    for name in names:
        cells = [name]
        for row, outcomes in done:
            entry = next((entry for entry in row.entries if entry.name == name), None)
            if entry is None:
                cells.append("")
                continue
            outcome = outcomes[name]
            if wrong(entry, outcomes):
                cells.append("WRONG")
            elif outcome.figures and name == BPEVIZ:
                cells.append(figure(median(outcome.figures), group.memory))
            elif outcome.figures:
                found = ratios(outcome, outcomes[BPEVIZ])
                cells.append(number(median(found)) if found else "?")
            elif outcome.over:
                cells.append(next(_over(group, outcomes, f"over {group.limit:.0f} s")))
            else:
                cells.append("fails" if outcome.problem else "")
        lines.append(cells)
    return f"**{group.title}**\n\n" + table(lines, left=1)


BEGIN = "<!-- written by speed.py --readme: begin -->"
END = "<!-- written by speed.py --readme: end -->"


def into_readme(text: str, path: Path = ROOT / "tests/benchmarks/README.md") -> None:
    """Put a text between the two marks in the README."""
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    _, behind = rest.split(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{behind}", encoding="utf-8")


def run(arguments: argparse.Namespace, folder: Path) -> bool:
    """Measure and print everything that is asked for; return whether all results are right."""
    settings = QUICK if arguments.quick else Settings()
    if arguments.large:
        settings = replace(
            settings, large=(300_000, 1_000) if arguments.quick else (10**8, 200_000)
        )
    texts = Texts(folder, arguments.text, settings)
    rounds = arguments.rounds
    head = [
        *machine.head(PACKAGES),
        f"Texts: {'; '.join(texts.digests())}.",
        f"Figures are medians of {rounds} rounds; what took {ONCE:.0f} seconds or more ran once."
        if rounds > 1
        else "Figures are from single runs.",
    ]
    if texts.missing is not None:
        head.append(
            f"Tiny Shakespeare is skipped: {texts.missing} is not there; give a path to the file."
        )
    print("\n".join(head), flush=True)

    def tell(what: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)

    right = True
    brief = []
    workers: dict[str, Worker] = {}
    for group in groups(texts, settings, arguments.limit):
        if arguments.only and group.key not in arguments.only:
            continue
        done: list[tuple[Row, dict[str, Outcome]]] = []
        try:
            for row in group.rows:
                done.append((row, measure(row, group, arguments.rounds, workers, done, tell)))
        except BaseException:
            end(workers)
            raise
        if not arguments.quick:  # no group finds what another has left
            end(workers)
        tell("")
        print(f"\n## {group.title}\n\n{group.about}\n\n{in_full(group, done)}", flush=True)
        brief.append(in_brief(group, done))
        right &= not any(wrong(entry, outcomes) for row, outcomes in done for entry in row.entries)
    end(workers)
    print("\n# In brief: bpeviz's own figures, and the ratios of the others to them\n")
    print("\n\n".join(brief))
    if not right:
        print("\nA result is WRONG: bpeviz failed, or two that must agree do not.")
    if arguments.readme and right:
        into_readme("\n\n".join(("  \n".join(head), *brief)))
    return right


def main(given: Sequence[str] | None = None) -> int:
    """Read the command line and measure. Returns the exit code."""
    parser = argparse.ArgumentParser(
        description="Measure bpeviz beside other libraries, and compare the results.",
        epilog="The exit code is 1 where a result is WRONG.",
    )
    parser.add_argument(
        "text",
        nargs="?",
        type=Path,
        default=SHAKESPEARE,
        help="the file of Tiny Shakespeare, or another text",
    )
    parser.add_argument("--quick", action="store_true", help="tiny texts, to see whether it runs")
    parser.add_argument(
        "--only", action="append", choices=GROUPS, help="this group; may be given again"
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often (5)")
    parser.add_argument(
        "--limit",
        type=float,
        metavar="SECONDS",
        help="stop who takes longer (120, or 30 on the worst texts, counting and encoding)",
    )
    parser.add_argument(
        "--large", action="store_true", help="the memory for 100 MB and 200,000 tokens, too"
    )
    parser.add_argument(
        "--readme",
        action="store_true",
        help="put the ratios into tests/benchmarks/README.md; takes the whole run",
    )
    arguments = parser.parse_args(given)
    if arguments.readme and (arguments.quick or arguments.only):
        parser.error("--readme takes the whole run: not with --quick or --only")
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no process is left
    with tempfile.TemporaryDirectory() as folder:
        return 0 if run(arguments, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())

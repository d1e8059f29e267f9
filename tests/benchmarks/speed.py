"""Measure the speed and memory of bpeviz beside other libraries, and compare the results.

    python tests/benchmarks/speed.py [TINY_SHAKESPEARE] [--quick] [--only GROUP] [--rounds N]

Contenders alternate (A, B, C, A, B, C …), each in its own process, so that other load on the
machine affects all of them alike. A time is the median over the rounds. A ratio is the median of
the ratios to bpeviz's time in the same round. Both are printed with their smallest and largest
values. A contender that takes longer than `ONCE` runs once; one that exceeds the limit is stopped.

Results are compared in every round. An unexpected result is marked WRONG, and the exit code is 1.
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
"""Contenders that take more than this many seconds run only once."""

PIECE = 1 << 16
"""Characters in each piece of the text, for libraries that process many texts at once."""

BPEVIZ = "bpeviz"
"""The contender to which all others are compared."""


# ---- benchmarks


@dataclass(frozen=True)
class Entry:
    """A contender in a row.

    like: the contender whose result it must equal, if any. why: the note in the table if there is
    none. hidden: whether it runs only for its result and is not printed.
    """

    name: str
    like: str | None = None
    why: str = ""
    hidden: bool = False


@dataclass(frozen=True)
class Row:
    """A job and its contenders. text: title of the text. short: title in the summary."""

    text: str
    what: str
    short: str
    job: Job
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Group:
    """Rows of one kind. about: description of the job. memory: measure memory instead of time."""

    key: str
    title: str
    about: str
    rows: tuple[Row, ...]
    limit: float
    memory: bool = False


SMALLEST = "bpeviz, ties: smallest"
THEIR_ORDER = "bpeviz, reordered bytes"

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
"""Among equally frequent pairs, minbpe and tiktoken choose the first seen. rustbpe chooses the
smallest ids, and so does `tokenizers`, whose ids of bytes have another order."""


def trainers(*but: str) -> tuple[Entry, ...]:
    return tuple(entry for entry in TRAINERS if entry.name not in but)


# Memory: without the slow contenders. 100 MB: without those that keep an object per pre-token.
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
    """Sizes of texts and vocabularies, and time limits in seconds."""

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
    """Return the short form of a vocabulary size, such as 512, 8k or 32k."""
    return f"{number // 1024}k" if number % 1024 == 0 else f"{number:,}"


def megabytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB" if size >= 100_000 else f"{size / 1e3:.3g} kB"


class Texts:
    """The texts, each written to a file when it is first needed."""

    def __init__(self, folder: Path, shakespeare: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self._library: str | None = None
        self.main: dict[str, tuple[str, str]] = {}  # title and path by short title
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
        """Return the short title, the title and the path of the first available text."""
        short, (name, path) = next(iter(self.main.items()))
        return short, name, path

    def worst(self) -> Iterator[tuple[str, str, str]]:
        """Yield the short title, the title and the path of each worst-case text."""
        size, few = self.settings.worst, self.settings.repeated
        made: list[tuple[str, str, Callable[[], str]]] = [
            ("aaa…", f"a × {few:,}", lambda: "a" * few),
            (
                "no spaces",
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
    """Yield the groups of benchmarks."""
    patience = limit or settings.patience
    less = limit or settings.less_patience

    yield Group(
        "training",
        "Training, with GPT-2's pre-tokenization",
        "From a text in memory to its merges, including pre-tokenization. rustbpe, tokenizers and "
        "sentencepiece use several cores, the others one; rustbpe and tokenizers get the text in "
        "pieces of 64 kB for that reason. sentencepiece does another job: the same number of "
        "merges, but over characters, within words between spaces, of at most 16 characters.",
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
        "Training without pre-tokenization",
        "From a text in memory to its merges, without pre-tokenization. sentencepiece does not "
        "support this: its tokens stay within lines and have at most 16 characters.",
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
        "From a text in memory to its merges, with GPT-2's pre-tokenization, under which each of "
        "these texts is a single pre-token.",
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
        "Pre-tokenization and counting alone",
        "From a text in memory to its distinct pre-tokens, in first-seen order, with their counts. "
        "bpeviz trains on arrays of them; the second row makes a dictionary, as the third does.",
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
        f"Encoding, with {settings.size:,} tokens trained on {base_name}",
        "From a text in memory to a list of ids, with GPT-2's pre-tokenization and empty caches. "
        "tokenizers gets pieces of 64 kB and uses several cores, the others one.",
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
        "Memory for training, with GPT-2's pre-tokenization or without (whole)",
        "Peak memory of a new process during training, without the text. It includes the "
        "interpreter and the libraries, whose own memory is in the last column.",
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


# ---- measuring


class Worker:
    """The process of a contender."""

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
        """Run a job and return the reply: {"over": True} if it exceeds the limit in seconds."""
        assert self.process.stdin
        print(
            json.dumps({"contender": self.name, "job": asdict(job)}),
            file=self.process.stdin,
            flush=True,
        )
        reply = self._receive(10 * limit + 60)  # it loads libraries and prepares the job
        return self._receive(limit) if reply.get("begun") else reply

    def _receive(self, limit: float) -> dict[str, Any]:
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
            reply: dict[str, Any] = json.loads(line)
            return reply
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
    """The outcome of a contender in a row. figures: one per round, in seconds or bytes."""

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
    report: Callable[[str], None],
) -> dict[str, Outcome]:
    """Run the contenders of a row in turns. before: the finished rows of the group."""
    outcomes = {entry.name: Outcome() for entry in row.entries}
    for name, outcome in outcomes.items():
        # A larger vocabulary of the same text takes even longer.
        outcome.over = any(
            replace(done.job, size=0) == replace(row.job, size=0)
            and done.job.size <= row.job.size
            and name in found
            and found[name].over
            for done, found in before
        )
    for number in range(1 if group.memory else rounds):
        for entry in row.entries:
            outcome = outcomes[entry.name]
            long = bool(outcome.figures) and outcome.figures[0] > ONCE and entry.name != BPEVIZ
            if outcome.over or outcome.problem or (number and (entry.hidden or long)):
                continue
            report(f"{group.key}: {row.text}, {row.what}: {entry.name}, round {number + 1}")
            worker = workers.get(entry.name)
            if worker is None or not worker.alive or group.memory:
                if worker is not None:
                    worker.end()
                worker = workers[entry.name] = Worker(entry.name)
            reply = worker.do(row.job, group.limit)
            if group.memory:  # it must not affect the next contender
                worker.end()
            if "seconds" in reply:
                outcome.figures.append(reply["above"] if group.memory else reply["seconds"])
                outcome.digests.add(reply["digest"])
                outcome.libraries = reply["libraries"]
            else:
                outcome.over = "over" in reply
                outcome.problem = reply.get("missing") or reply.get("failed") or ""
    return outcomes


def verdict(entry: Entry, outcomes: dict[str, Outcome]) -> str:
    """Return the verdict on the result of a contender."""
    outcome = outcomes[entry.name]
    if outcome.problem:
        return f"WRONG: {outcome.problem}" if entry.name == BPEVIZ else outcome.problem
    if not outcome.digests:
        return ""
    if len(outcome.digests) > 1:
        return "WRONG: results differ between rounds"
    if entry.like is None:
        return entry.why
    expected = outcomes[entry.like].digests if entry.like in outcomes else set()
    if not expected:
        return "not checked"
    return "same" if outcome.digests == expected else f"WRONG: differs from {entry.like}"


def wrong(entry: Entry, outcomes: dict[str, Outcome]) -> bool:
    return verdict(entry, outcomes).startswith("WRONG")


# ---- tables


def number(value: float) -> str:
    """Return a number with two or three significant digits."""
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


def value_range(values: Sequence[float], form: Callable[[float], str]) -> str:
    return f"{form(min(values))} – {form(max(values))}" if len(values) > 1 else ""


def table(lines: Sequence[Sequence[str]], left: int) -> str:
    """Return an aligned Markdown table. The first line is the header.

    left: number of left-aligned columns; the others are right-aligned.
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
    """Return the full table of a group: one row per job and contender."""
    head = ["text", "job", "contender", "result"]
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
                    cells += [shown, value_range(outcome.figures, lambda v: f"{v:.3g}")]
                    cells += [ratio, value_range(found, number), str(len(outcome.figures))]
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
    """Return the summary of a group: one row per contender, one column per job."""
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
    """Replace the text between the two marks in the README."""
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    _, behind = rest.split(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{behind}", encoding="utf-8")


def run(arguments: argparse.Namespace, folder: Path) -> bool:
    """Run the chosen groups and print the tables; return whether all results are right."""
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
            f"Tiny Shakespeare is skipped: {texts.missing} does not exist. Pass the path of a file."
        )
    print("\n".join(head), flush=True)

    def report(message: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{message}", end="", file=sys.stderr, flush=True)

    right = True
    brief = []
    workers: dict[str, Worker] = {}
    for group in groups(texts, settings, arguments.limit):
        if arguments.only and group.key not in arguments.only:
            continue
        done: list[tuple[Row, dict[str, Outcome]]] = []
        try:
            for row in group.rows:
                done.append((row, measure(row, group, arguments.rounds, workers, done, report)))
        except BaseException:
            end(workers)
            raise
        if not arguments.quick:  # each group starts with new processes
            end(workers)
        report("")
        print(f"\n## {group.title}\n\n{group.about}\n\n{in_full(group, done)}", flush=True)
        brief.append(in_brief(group, done))
        right &= not any(wrong(entry, outcomes) for row, outcomes in done for entry in row.entries)
    end(workers)
    print("\n# In brief: the figures of bpeviz, and multiples of them\n")
    print("\n\n".join(brief))
    if not right:
        print("\nA result is WRONG: bpeviz failed, or results that must agree do not.")
    if arguments.readme and right:
        into_readme("\n\n".join(("  \n".join(head), *brief)))
    return right


def main(given: Sequence[str] | None = None) -> int:
    """Parse the command line and run the benchmarks. Return the exit code."""
    parser = argparse.ArgumentParser(
        description="Measure bpeviz beside other libraries, and compare the results.",
        epilog="The exit code is 1 if a result is WRONG.",
    )
    parser.add_argument(
        "text",
        nargs="?",
        type=Path,
        default=SHAKESPEARE,
        help="a text file (default: Tiny Shakespeare)",
    )
    parser.add_argument("--quick", action="store_true", help="tiny texts, as a smoke test")
    parser.add_argument(
        "--only", action="append", choices=GROUPS, help="run only this group; repeatable"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="number of rounds (default 5)"
    )
    parser.add_argument(
        "--limit",
        type=float,
        metavar="SECONDS",
        help="stop slower contenders (default 120; 30 for worst, counting and encoding)",
    )
    parser.add_argument(
        "--large", action="store_true", help="also measure memory for 100 MB and 200,000 tokens"
    )
    parser.add_argument(
        "--readme",
        action="store_true",
        help="write the tables into tests/benchmarks/README.md; needs a whole run",
    )
    arguments = parser.parse_args(given)
    if arguments.readme and (arguments.quick or arguments.only):
        parser.error("--readme needs a whole run, without --quick and --only")
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the workers too
    with tempfile.TemporaryDirectory() as folder:
        return 0 if run(arguments, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())

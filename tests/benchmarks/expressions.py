"""Measure regular expressions in child processes: their cost, and the memory that they save.

Prints the cost of the first and of later calls, a long text beside the same work in this process,
and the memory of this process after 100 large expressions. `--readme` writes the table into
README.md beside this file.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

import regex
from benchmarks.machine import head

import bpeviz
from bpeviz.pretokenizers import regex_worker
from bpeviz.pretokenizers.expressions import _pool

EXPRESSION = r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+"
SHORT = "The quick brown fox jumps over the lazy dog."
LONG = f"{SHORT}\n" * 25_000
README = Path(__file__).with_name("README.md")
BEGIN, END = (
    "<!-- written by expressions.py: begin -->\n",
    "<!-- written by expressions.py: end -->",
)


def seconds(
    work: Callable[[], object], rounds: int, before: Callable[[], object] = lambda: None
) -> float:
    """Return the median time of some work, without that of `before`."""
    times = []
    for _ in range(rounds):
        before()
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return median(times)


def in_this_process(expression: str, text: str) -> list[str]:
    """Split a text without a child process."""
    compiled = regex.compile(expression, cache_pattern=False)
    return [text[a:b] for a, b in pairwise((0, *regex_worker.ends(compiled, text)))]


def split(expression: str, text: str) -> list[str]:
    """Split a text in a child process, without a time limit that matters."""
    return bpeviz.pretokenize(text, "regex", expression, 60.0)


def memory() -> float:
    """Return the resident memory of this process in MB, 0 if the system does not show it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return int(status.split("VmRSS:")[1].split()[0]) / 1000


def measure(rounds: int, expressions: int) -> list[tuple[str, str]]:
    """Return the rows of the table."""

    tokenizer = bpeviz.train(SHORT, pattern="regex", expression=EXPRESSION, merges=20).tokenizer()
    names = {True: "a child", False: "this process"}
    cold = {
        True: seconds(lambda: split(EXPRESSION, SHORT), rounds, _pool.close),
        False: seconds(lambda: in_this_process(EXPRESSION, SHORT), rounds),
    }
    compiled = regex.compile(EXPRESSION)
    warm = {
        True: seconds(lambda: split(EXPRESSION, SHORT), 100 * rounds),
        False: seconds(lambda: [*regex_worker.ends(compiled, SHORT)], 100 * rounds),
    }
    encode = seconds(lambda: tokenizer.encode(SHORT), 100 * rounds)
    long = {
        True: seconds(lambda: split(EXPRESSION, LONG), rounds),
        False: seconds(lambda: in_this_process(EXPRESSION, LONG), rounds),
    }
    begin = time.perf_counter()
    try:
        bpeviz.pretokenize("", "regex", "((){50000})")
    except bpeviz.SplitError:
        stopped = time.perf_counter() - begin
    split("(a){98000}", "a")
    before = memory()
    for i in range(expressions):
        split(f"(a){{{98_999 - i}}}", "a")
    after = memory()
    return [
        *((f"first call, in {names[key]}", f"{1_000 * cold[key]:.1f} ms") for key in cold),
        *((f"later call, in {names[key]}", f"{1_000 * warm[key]:.3f} ms") for key in warm),
        ("`encode` of a short text, in a child", f"{1_000 * encode:.3f} ms"),
        *(
            (f"{len(LONG) / 1e6:.1f} MB, in {names[key]}", f"{1_000 * long[key]:.0f} ms")
            for key in long
        ),
        (f"{len(LONG) / 1e6:.1f} MB, ratio", f"{long[True] / long[False]:.2f}"),
        ("`((){50000})` is stopped after", f"{stopped:.2f} s"),
        (
            f"memory of this process, before and after {expressions} expressions `(a){{98999}}` …",
            f"{before:.0f} MB, {after:.0f} MB",
        ),
    ]


def main() -> None:
    """Measure, print and perhaps write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--expressions", type=int, default=100)
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    options = parser.parse_args()
    lines = ["  \n".join(head(["regex"])), "", "| | figure |", "| --- | ---: |"]
    lines += [
        f"| {what} | {figure} |" for what, figure in measure(options.rounds, options.expressions)
    ]
    table = "\n".join(lines) + "\n"
    print(table)
    if options.readme:
        before, _, rest = README.read_text().partition(BEGIN)
        README.write_text(before + BEGIN + table + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()

"""Count the bugs that the tests notice: apply each mutant of `mutants.toml` and run its tests.

    python tests/mutate.py [--package trainers …] [--only TEXT …] [--tests FILE …]

A mutant replaces a line, or a part of one that occurs once in its file. It is applied in a copy of
the project, so nothing here changes. Its tests run until the first failure, with the same examples
of Hypothesis each time, and must pass without a mutant.

Each process of the tests has 20 seconds of processor time, imports and collection included, and all
of them six times as long by the clock: so a busy machine does not decide. Tests that take longer
are reported apart, since nobody waited for their answer.

The exit code is 1 if a mutant does not fit its file or tests fail without one. Survivors are no
error; the last lines count them by package.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import os
import py_compile
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0")
BY_THE_CLOCK = 6
"""How many times longer tests may take by the clock than in processor time."""

RESULTS = ("killed", "survived", "timed out", "not judged")


@dataclass(frozen=True)
class Mutant:
    """A small bug.

    Attributes:
        file: The path of the file that it changes.
        line: The text that it replaces, which occurs once.
        replacement: The text in its place.
        tests: The paths or node ids of the tests that should notice it.
    """

    file: str
    line: str
    replacement: str
    tests: Sequence[str]

    @property
    def package(self) -> str:
        return self.file.split("/")[1].removesuffix(".py")

    def __str__(self) -> str:
        return f"{self.file}: {self.line.strip()}  →  {self.replacement.strip()}"

    def problem(self, folder: Path) -> str | None:
        """Return why the mutant cannot be applied, or None."""
        path = folder / self.file
        if not path.is_file():
            return "there is no such file"
        source = path.read_text("utf-8")
        if (times := source.count(self.line)) != 1:
            return f"its line occurs {times} times"
        if "\n" in self.line.strip() or self.line == self.replacement:
            return "it does not change one line"
        if path.suffix == ".py":
            try:
                compile(source.replace(self.line, self.replacement), self.file, "exec")
            except SyntaxError as error:
                return f"it is not valid Python: {error}"
        return None


def copy_project(folder: Path) -> Path:
    """Copy the files that Git knows or does not ignore into a folder, and return it."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    # Bytecode by content: a mutant may have the size and the second of the source that it replaces.
    by_content = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "bpeviz", quiet=2, invalidation_mode=by_content)
    return folder


def run_tests(folder: Path, tests: Sequence[str], limit: int) -> tuple[str, str]:
    """Return the result of tests in a copy of the project, and their output."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(
            [sys.executable, *PYTEST, *tests],
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit + 5))
        try:
            code = process.wait(BY_THE_CLOCK * limit)
        except subprocess.TimeoutExpired:
            code = -signal.SIGXCPU
        finally:  # servers and workers of the tests, too
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        result = {0: "survived", -signal.SIGXCPU: "timed out", -signal.SIGKILL: "timed out"}
        return result.get(code, "killed"), output.read()


def judge(
    folders: SimpleQueue[Path], tests: Sequence[str], mutants: Sequence[Mutant], limit: int
) -> list[tuple[Mutant, str]]:
    """Return the result of each mutant of some tests, none if these fail without a mutant."""
    folder = folders.get()
    try:
        result, output = run_tests(folder, tests, limit)
        if result == "killed":
            print(f"These fail without a mutant: {' '.join(tests)}\n{output}", flush=True)
            return [(mutant, "not judged") for mutant in mutants]
        results = []
        for mutant in mutants:
            path, start = folder / mutant.file, time.monotonic()
            source = path.read_text("utf-8")
            path.write_text(source.replace(mutant.line, mutant.replacement), "utf-8")
            result, _ = run_tests(folder, tests, limit)
            path.write_text(source, "utf-8")
            print(f"{result:9} {time.monotonic() - start:5.1f} s  {mutant}", flush=True)
            results.append((mutant, result))
        return results
    finally:
        folders.put(folder)


def table(results: Sequence[tuple[Mutant, str]]) -> str:
    """Return the number of mutants with each result, by package and in all."""
    lines = [f"{'':16}" + "".join(f"{result:>11}" for result in RESULTS)]
    packages = sorted({mutant.package for mutant, _ in results})
    for package in (*packages, "all"):
        counts = Counter(r for mutant, r in results if package in ("all", mutant.package))
        lines.append(f"{package:16}" + "".join(f"{counts[result]:11}" for result in RESULTS))
    return "\n".join(lines)


def main() -> None:
    """Run the tests of the chosen mutants, and print the results."""
    parser = argparse.ArgumentParser(description="Count the bugs that the tests notice.")
    parser.add_argument("--package", nargs="+", default=[], help="only those of these packages")
    parser.add_argument("--only", nargs="+", default=[], help="only those with one of these texts")
    parser.add_argument("--tests", nargs="+", help="run these tests")
    parser.add_argument("--marks", help="only tests with these marks, as `-m` of pytest")
    parser.add_argument("--jobs", type=int, default=1, help="the number of copies")
    parser.add_argument("--limit", type=int, default=20, help="seconds of processor time")
    options = parser.parse_args()

    entries = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text("utf-8"))["mutant"]
    mutants = [Mutant(**entry) for entry in entries]
    if problems := [f"{m}: {why}" for m in mutants if (why := m.problem(ROOT))]:
        raise SystemExit("\n".join(problems))
    marks = ("-m", options.marks) if options.marks else ()
    by_tests: defaultdict[tuple[str, ...], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        is_meant = not options.only or any(text in str(mutant) for text in options.only)
        if is_meant and (not options.package or mutant.package in options.package):
            by_tests[(*marks, *(options.tests or mutant.tests))].append(mutant)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as executor:
        folders: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            folders.put(copy_project(Path(scratch, str(number))))
        jobs = [executor.submit(judge, folders, *job, options.limit) for job in by_tests.items()]
        results = [result for job in jobs for result in job.result()]
    print(table(results))
    raise SystemExit(any(result == "not judged" for _, result in results))


if __name__ == "__main__":
    main()

"""Loading tokenizer files and encoding 1 MB, beside the library that defines the file.

    python tests/benchmarks/files.py tokenizer.json tokenizer.model …

All times are processor time, with that of child processes. “Load” is from a new process to the
loaded file: bpeviz starts a child process, and the library alone a Python that imports it. “Ids” is
the median time to encode the text again. “All” finds all its boundaries. Ids must be equal. The
ratio for ids must be at most 1.3, and so must that of loading and encoding together.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import clock_gettime, process_time

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

import sentencepiece
import tokenizers
from benchmarks.corpora import standard_library

from bpeviz.libraries import pool as library_pool
from bpeviz.libraries import worker as library_worker
from bpeviz.libraries.pool import File
from bpeviz.libraries.tokenizer import LibraryTokenizer

SIZE = 1_000_000
ROUNDS = 5
ROUNDS_OF_FAST = 25
"""For a text that takes less than `FAST` seconds."""
FAST = 0.3
LIMIT = 1.3

IMPORT = {
    library_worker.HUGGING_FACE: "import tokenizers; load = tokenizers.Tokenizer.from_file",
    library_worker.SENTENCEPIECE: "import sentencepiece; load = sentencepiece."
    "SentencePieceProcessor",
}


def in_this_process(file: File) -> Callable[[str], Sequence[int]]:
    """Load a file with its library; return its function from text to ids."""
    if file.library == library_worker.SENTENCEPIECE:
        encode: Callable[[str], Sequence[int]] = sentencepiece.SentencePieceProcessor(
            model_proto=file.content
        ).encode
        return encode
    theirs = tokenizers.Tokenizer.from_buffer(file.content)
    theirs.encode_special_tokens = True
    theirs.no_truncation()
    return lambda text: theirs.encode(text, add_special_tokens=False).ids


def clock(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time of a process, by Linux's clock of it."""
    return clock_gettime((~process.pid << 3) | 2)


def load_alone(file: File) -> float:
    """Return the time of a new Python that imports the library and loads a file."""
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(file.content)
        copy.flush()
        script = f"{IMPORT[file.library]}; load({copy.name!r}); print(flush=True); input()"
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        found = clock(process)
        process.communicate(b"\n")
    return found


def load_here(file: File) -> float:
    """Return the time to start a child process and load a file in it."""
    library_pool._pool.close()
    started = process_time()
    library_pool.ask(file, library_worker.LOAD)
    return process_time() - started + clock(library_pool._pool._idle[-1][1].process)


def seconds(work: Callable[[], object]) -> float:
    """Return the time of work, with that of the child process."""

    def used() -> float:
        return process_time() + sum(clock(one.process) for _, one in library_pool._pool._idle[-1:])

    started = used()
    work()
    return used() - started


def main() -> int:
    """Print a table; return 1 if ids differ or take too long."""
    text = standard_library(SIZE)
    failed = False
    print("| file | load | library | ids | library | ratio | load and ids, ratio | all |")
    print("| --- |" + " ---: |" * 7)
    for path in map(Path, sys.argv[1:]):
        content = path.read_bytes()
        is_json = content[:1] == b"{"
        library = library_worker.HUGGING_FACE if is_json else library_worker.SENTENCEPIECE
        file = File(library, content)
        loads = [(load_here(file), load_alone(file)) for _ in range(ROUNDS)]
        ours, theirs = LibraryTokenizer("file", file), in_this_process(file)
        same = ours.encode(text) == [*theirs(text)]
        is_fast = seconds(lambda: theirs(text)) < FAST  # noqa: B023
        times = [
            (seconds(lambda: ours.encode(text)), seconds(lambda: theirs(text)))  # noqa: B023
            for _ in range(ROUNDS_OF_FAST if is_fast else ROUNDS)
        ]
        load, their_load = (median(column) for column in zip(*loads, strict=True))
        ids, their_ids = (median(column) for column in zip(*times, strict=True))
        every = seconds(lambda: ours.boundaries(text))  # noqa: B023
        ratio, whole = ids / their_ids, (load + ids) / (their_load + their_ids)
        failed |= not same or max(ratio, whole) > LIMIT
        row = f"{load:.3f} s | {their_load:.3f} s | {ids:.3f} s | {their_ids:.3f} s"
        shown = "/".join(path.parts[-2:])
        print(f"| {shown} | {row} | {ratio:.2f} | {whole:.2f} | {every:.1f} s |", end="")
        print("" if same else " WRONG", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

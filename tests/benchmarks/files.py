"""Loading tokenizer files and encoding 1 MB, beside the library in this process.

    python tests/benchmarks/files.py tokenizer.json tokenizer.model …

The columns are the processor time, with that of child processes, to load a file, to encode the
text, and to find all its boundaries. Ids must be equal. The ratio of the times for ids must be at
most 1.3, and so must that of loading and encoding together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import process_time

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

import psutil
import sentencepiece
import tokenizers
from benchmarks.corpora import standard_library

from bpeviz.core import library_pool, library_worker
from bpeviz.core.library_pool import File
from bpeviz.core.library_tokenizer import LibraryTokenizer

SIZE = 1_000_000
ROUNDS = 5
LIMIT = 1.3


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


def used() -> float:
    """Return the processor time of this process and of its children, which must not end."""
    found = process_time()
    for child in psutil.Process().children(recursive=True):
        times = child.cpu_times()
        found += times.user + times.system
    return found


def seconds(work: Callable[[], object]) -> float:
    started = used()
    work()
    return used() - started


def main() -> int:
    """Print a table; return 1 if ids differ or take too long."""
    text = standard_library(SIZE)
    failed = False
    print(
        f"{'file':40} {'load':>7} {'library':>8} {'ids':>7} {'library':>8} {'ratio':>6} "
        f"{'whole':>6} {'all':>7}"
    )
    for path in map(Path, sys.argv[1:]):
        content = path.read_bytes()
        is_json = content[:1] == b"{"
        library = library_worker.HUGGING_FACE if is_json else library_worker.SENTENCEPIECE
        file = File(library, content)
        library_pool._pool.close()  # its processor time would be lost with the child
        found: list[Callable[[str], Sequence[int]]] = []
        theirs_load = seconds(lambda f=file, to=found: to.append(in_this_process(f)))  # type: ignore[misc]
        load = seconds(lambda f=file: library_pool.ask(f, library_worker.LOAD))  # type: ignore[misc]
        ours, theirs = LibraryTokenizer("file", file), found[0]
        same = ours.encode(text) == [*theirs(text)]
        times = [
            (seconds(lambda: ours.encode(text)), seconds(lambda: theirs(text)))  # noqa: B023
            for _ in range(ROUNDS)
        ]
        mine, their_time = median(one for one, _ in times), median(one for _, one in times)
        every = seconds(lambda: ours.boundaries(text))  # noqa: B023
        ratio, whole = mine / their_time, (load + mine) / (theirs_load + their_time)
        failed |= not same or max(ratio, whole) > LIMIT
        print(
            f"{str(path)[-40:]:40} {load:6.2f}s {theirs_load:7.2f}s "
            f"{mine:6.2f}s {their_time:7.2f}s {ratio:6.2f} {whole:6.2f} "
            f"{every:6.2f}s{'' if same else ' WRONG'}"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

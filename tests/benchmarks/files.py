"""Loading tokenizer files and encoding 1 MB, beside the library in this process.

    python tests/benchmarks/files.py tokenizer.json tokenizer.model …

The columns are the time to load a file, to encode the text, and to find all its boundaries. Ids
must be equal. The ratio of the times for ids must be at most 1.3.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

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


def seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def main() -> int:
    """Print a table; return 1 if ids differ or take too long."""
    text = standard_library(SIZE)
    failed = False
    print(
        f"{'file':40} {'load':>7} {'library':>8} {'ids':>7} {'library':>8} {'ratio':>6} {'all':>7}"
    )
    for path in map(Path, sys.argv[1:]):
        content = path.read_bytes()
        is_json = content[:1] == b"{"
        library = library_worker.HUGGING_FACE if is_json else library_worker.SENTENCEPIECE
        file = File(library, content)
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
        ratio = mine / their_time
        failed |= not same or ratio > LIMIT
        print(
            f"{str(path)[-40:]:40} {load:6.2f}s {theirs_load:7.2f}s "
            f"{mine:6.2f}s {their_time:7.2f}s {ratio:6.2f} {every:6.2f}s{'' if same else ' WRONG'}"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""Measure the speed of bpeviz beside other libraries, and compare the results.

    python tests/benchmarks/speed.py [TEXT] [--quick] [--rounds N] [--limit SECONDS]

Each measurement has a process of its own, and contenders alternate (A, B, C, A, B, C …), so that
other load on the machine affects all of them alike. Tables show the median over the rounds for
bpeviz, and for the others the median of their ratios to bpeviz in the same round. An unexpected
result is marked WRONG, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from benchmarks import corpora, machine

import bpeviz
from bpeviz.pretokenizers.counts import count
from bpeviz.pretokenizers.patterns import PATTERNS, blocks, slices

SHAKESPEARE = Path(__file__).resolve().parents[3] / "shared" / "data" / "tinyshakespeare.txt"
PACKAGES = ("numpy", "pyarrow", "regex", "tiktoken", "tokenizers", "rustbpe", "sentencepiece")
PIECE = 1 << 16
"""Characters in each piece of the text, for libraries that process many texts at once."""
WARM_UP = "All contenders train on these words first, ſ and 11 Ωμέγα’s 👍.\n" * 99


@dataclass(frozen=True)
class Job:
    """A measurement of time.

    kind: a key of `CONTENDERS`. text, base: paths; base is for "encode".
    """

    kind: str
    text: str
    pattern: str = "gpt2"
    size: int = 0
    base: str = ""

    def read(self) -> str:
        return Path(self.text).read_bytes().decode()

    @property
    def expression(self) -> str:
        return PATTERNS[self.pattern].expression or r"[\s\S]+"

    def pieces(self) -> Iterable[str]:
        """Divide the text where its pattern always has a boundary, for parallel processing."""
        text = self.read()
        return [text] if self.pattern == "none" else blocks(slices(text, PIECE), "gpt2", PIECE)


Prepared = tuple[Callable[[], Any], Callable[[Any], Iterable[bytes]]]
"""A function that does the job, and one that converts its result to comparable byte strings."""


# ---- training


def _raw(training: bpeviz.Training) -> list[bytes]:
    tokenizer = training.tokenizer()
    return [*map(tokenizer.token_bytes, range(tokenizer.vocab_size))]


def _train(job: Job, **options: Any) -> Prepared:
    text = job.read()
    return (
        lambda: bpeviz.train(text, vocab_size=job.size, pattern=job.pattern, **options),
        lambda training: _raw(training)[256:],
    )


def _smallest(job: Job) -> Prepared:
    return _train(job, ties="smallest")


def _rustbpe(job: Job) -> Prepared:
    import rustbpe

    pieces = [*job.pieces()]
    tokenizer = rustbpe.Tokenizer()

    def read(_: Any) -> list[bytes]:
        ranks = sorted(tokenizer.get_mergeable_ranks(), key=lambda pair: pair[1])
        return [bytes(raw) for raw, rank in ranks if rank > 255]

    return (
        lambda: tokenizer.train_from_iterator(iter(pieces), job.size, pattern=job.expression),
        read,
    )


def _byte_level(pattern: str) -> Any:
    from tokenizers import pre_tokenizers

    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern == "gpt2")


def _tokenizers(job: Job) -> Prepared:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    pieces = [*job.pieces()]
    model = Tokenizer(models.BPE())
    model.pre_tokenizer = _byte_level(job.pattern)
    trainer = trainers.BpeTrainer(
        vocab_size=job.size,
        min_frequency=1,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    return lambda: model.train_from_iterator(pieces, trainer), lambda _: [model.to_str().encode()]


def _sentencepiece(job: Job) -> Prepared:
    import sentencepiece

    text = job.read()
    lines = text.split("\n")
    # Its vocabulary size includes characters and three special tokens.
    size = job.size - 256 + 3 + len({*text.replace(" ", "▁")} - {"\n"})

    def train() -> bytes:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type="bpe",
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=max(len(line.encode()) for line in lines) + 1,
            num_threads=os.cpu_count() or 1,
            minloglevel=3,
        )
        return model.getvalue()

    return train, lambda model: [model]


# ---- pre-tokenization and counting


def _counted(counts: Any) -> Iterator[bytes]:
    return (f"{times} {pre_token}".encode() for pre_token, times in counts.items())


def _count(job: Job) -> Prepared:
    text = job.read()
    return lambda: count(text, job.pattern), _counted


def _findall(job: Job) -> Prepared:
    import regex

    text, expression = job.read(), regex.compile(job.expression)
    return lambda: Counter(expression.findall(text)), _counted


# ---- encoding


def _numbers(ids: Sequence[int]) -> list[bytes]:
    return [json.dumps([*ids]).encode()]


def _base(job: Job) -> bpeviz.Training:
    text = Path(job.base).read_bytes().decode()
    return bpeviz.train(text, vocab_size=job.size, pattern=job.pattern)


def _encode(job: Job) -> Prepared:
    text, tokenizer = job.read(), _base(job).tokenizer()
    tokenizer.encode("Ω" * 5_000)  # its tables are prepared
    return lambda: tokenizer.encode(text), _numbers


def _tiktoken(job: Job) -> Prepared:
    import tiktoken

    text = job.read()
    encoding = tiktoken.Encoding(
        "measured",
        pat_str=job.expression,
        mergeable_ranks={raw: i for i, raw in enumerate(_raw(_base(job)))},
        special_tokens={},
    )
    return lambda: encoding.encode_ordinary(text), _numbers


def _tokenizers_encodes(job: Job) -> Prepared:
    from tokenizers import Tokenizer

    pieces = [*job.pieces()]
    with tempfile.TemporaryDirectory() as folder:
        (path,) = bpeviz.save(_base(job).tokenizer(), Path(folder, "tokenizer.json"))
        model = Tokenizer.from_file(str(path))

    def encode() -> list[int]:
        encodings = model.encode_batch_fast(pieces, add_special_tokens=False)
        return [*chain.from_iterable(encoding.ids for encoding in encodings)]

    return encode, _numbers


BPEVIZ, SMALLEST = "bpeviz", "bpeviz, ties: smallest"
CONTENDERS: dict[str, dict[str, Callable[[Job], Prepared]]] = {
    "train": {
        BPEVIZ: _train,
        SMALLEST: _smallest,
        "rustbpe": _rustbpe,
        "tokenizers": _tokenizers,
        "sentencepiece": _sentencepiece,
    },
    "count": {BPEVIZ: _count, "regex.findall, Counter": _findall},
    "encode": {BPEVIZ: _encode, "tiktoken": _tiktoken, "tokenizers": _tokenizers_encodes},
}
"""The contenders, by kind of job and name."""

EQUAL = {
    "rustbpe": SMALLEST,
    "regex.findall, Counter": BPEVIZ,
    "tiktoken": BPEVIZ,
}
"""The contender whose result each one must equal. Others choose other ties or do another job."""


# ---- measuring


def measure_here(contender: str, job: Job) -> dict[str, Any]:
    """Do a job in this process; return its seconds, and a digest of its result."""
    prepare = CONTENDERS[job.kind][contender]
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "small")
        small.write_text(WARM_UP, encoding="utf-8")
        prepare(replace(job, text=str(small), base=str(small), size=min(job.size, 300)))[0]()
    do_job, read = prepare(job)
    gc.collect()
    start = time.perf_counter()
    result = do_job()
    seconds = time.perf_counter() - start
    digest = hashlib.sha256()
    for raw in read(result):
        digest.update(len(raw).to_bytes(8, "little") + raw)
    return {"figure": seconds, "digest": digest.hexdigest()}


def measure(contender: str, job: Job, limit: float) -> dict[str, Any]:
    """Do a job in a new process; return {"problem": …} if it fails or exceeds the limit."""
    command = [sys.executable, __file__, "--measure", contender, json.dumps(asdict(job))]
    single = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=single)
    except subprocess.TimeoutExpired:
        return {"problem": f"over {limit:.0f} s"}
    if done.returncode:
        return {"problem": (done.stderr.strip().splitlines() or ["failed"])[-1][:40]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def column(job: Job, rounds: int, limit: float) -> dict[str, str]:
    """Return the cell of each contender. A contender that fails or takes too long runs once."""
    results = {name: [] for name in CONTENDERS[job.kind]}
    for _ in range(rounds):
        for name, found in results.items():
            if not any("problem" in result for result in found):
                found.append(measure(name, job, limit))
    return {name: cell(name, results) for name in results}


def cell(name: str, results: dict[str, list[dict[str, Any]]]) -> str:
    """Return a contender's median, if it is bpeviz, or else the median of its ratios to it."""
    for result in results[name]:
        if "problem" in result:
            return f"WRONG: {result['problem']}" if name == BPEVIZ else str(result["problem"])
    digests = {result["digest"] for result in results[name]}
    expected = {result.get("digest") for result in results[EQUAL.get(name, name)]}
    if digests != expected or (name in (BPEVIZ, SMALLEST) and len(digests) > 1):
        return "WRONG"
    figures = [result["figure"] for result in results[name]]
    if name == BPEVIZ:
        return f"{median(figures):.3g} s"
    pairs = zip(figures, results[BPEVIZ], strict=False)
    return f"{median(figure / its.get('figure', figure) for figure, its in pairs):.2f}"


def tables(given: Path, folder: Path, quick: bool) -> Iterator[tuple[str, dict[str, Job]]]:
    """Yield the title of each table, and its jobs by their short names."""

    def written(name: str, text: str) -> str:
        path = folder / name
        path.write_bytes(text.encode())
        return str(path)

    library = corpora.standard_library(10_000 if quick else 10_000_000)
    texts = {"std": written("std", library)}
    if given.exists():
        texts = {"ts": written("ts", given.read_text("utf-8")[: 10_000 if quick else None])} | texts
    base, size = next(iter(texts.values())), 3_000 if quick else 1_000_000
    worst = {
        "aaa…": written("a", "a" * (size // 10)),
        "no spaces": written("letters", corpora.letters(library, size)),
        "spaces": written("spaces", " " * size),
        "abcd": written("abcd", corpora.four_letters(size)),
        "Fibonacci": written("fibonacci", corpora.fibonacci(size)),
    }
    sizes, largest = ((280, 300), 300) if quick else ((512, 8_192, 32_768), 32_768)
    yield (
        "Training, with GPT-2's pre-tokenization",
        {f"{t} {n:,}": Job("train", path, size=n) for t, path in texts.items() for n in sizes},
    )
    yield (
        "Training without pre-tokenization",
        {f"ts {n:,}": Job("train", base, "none", n) for n in sizes[:2]},
    )
    yield (
        "Training on the worst texts",
        {name: Job("train", path, size=sizes[0]) for name, path in worst.items()},
    )
    yield (
        "Pre-tokenization and counting alone",
        {
            f"{t} {pattern}": Job("count", path, pattern)
            for t, path in texts.items()
            for pattern in ("gpt2", "cl100k", "o200k")
        },
    )
    yield (
        "Encoding",
        {
            name: Job("encode", path, size=largest, base=base)
            for name, path in (texts | worst).items()
        },
    )


def main(given: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if a result is WRONG."""
    parser = argparse.ArgumentParser(description="Measure bpeviz beside other libraries.")
    parser.add_argument("text", nargs="?", type=Path, default=SHAKESPEARE, help="a text file")
    parser.add_argument("--quick", action="store_true", help="one tiny text, as a smoke test")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument("--limit", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args(given)
    if arguments.measure:
        contender, job = arguments.measure
        print(json.dumps(measure_here(contender, Job(**json.loads(job)))))
        return 0
    print("\n".join(machine.head(PACKAGES)), flush=True)
    right = True
    with tempfile.TemporaryDirectory() as folder:
        for title, jobs in tables(arguments.text, Path(folder), arguments.quick):
            if arguments.quick:
                jobs = dict([*jobs.items()][:1])
            columns = [column(job, arguments.rounds, arguments.limit) for job in jobs.values()]
            print(f"\n**{title}**\n\n| | {' | '.join(jobs)} |\n| --- |" + " ---: |" * len(jobs))
            for name in columns[0]:
                cells = [cells[name] for cells in columns]
                right &= not any("WRONG" in text for text in cells)
                print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measure the comparison of many texts, beside the encoding of the same texts alone.

    python tests/benchmarks/many_texts.py [--texts 200] [--rounds 3]

The texts have 50 kB each, from Python's standard library. Two of the six tokenizers are those of
files, which their library applies in a worker. “Encoding” calls `encode` of each tokenizer for each
text. The script prints processor seconds, with those of the workers, and the ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

import psutil
from benchmarks.corpora import standard_library

import bpeviz
from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer

SIZE = 50_000


def tokenizers(text: str) -> dict[str, Tokenizer]:
    """Return three published tokenizers, a trained one, and those of two files."""
    found = {name: bpeviz.load(name) for name in ("gpt2", "cl100k_base", "o200k_base")}
    found["trained"] = bpeviz.train(text, vocab_size=8_192).tokenizer()
    file = json.loads(formats.dump(found["trained"], "huggingface")["tokenizer.json"])
    with tempfile.TemporaryDirectory() as folder:
        for name in ("Lowercase", "NFKC"):
            path = Path(folder) / f"{name}.json"
            path.write_text(json.dumps(file | {"normalizer": {"type": name}}), encoding="utf-8")
            found[name] = bpeviz.read(path)
            found[name].encode("a")  # loads the file
    return found


def processor_time() -> float:
    """Return the processor seconds of this process and its workers so far."""
    this = psutil.Process()
    times = [one.cpu_times() for one in (this, *this.children())]
    return float(sum(one.user + one.system for one in times))


def seconds(call: Callable[[], object]) -> float:
    began = processor_time()
    call()
    return processor_time() - began


def encode(texts: Mapping[str, str], known: Sequence[Tokenizer]) -> None:
    for tokenizer in known:
        for text in texts.values():
            tokenizer.encode(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=200, help="number of texts (default 200)")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds (default 3)")
    arguments = parser.parse_args()
    whole = standard_library(arguments.texts * SIZE)
    texts = {f"text {i}": whole[i * SIZE : (i + 1) * SIZE] for i in range(arguments.texts)}
    known = tokenizers(whole[:1_000_000])
    print("| encoding | comparison | ratio |\n| ---: | ---: | ---: |")
    ratios = []
    for _ in range(arguments.rounds):
        alone = seconds(lambda: encode(texts, [*known.values()]))
        compared = seconds(lambda: bpeviz.compare(texts, known))
        ratios.append(compared / alone)
        print(f"| {alone:.2f} s | {compared:.2f} s | {ratios[-1]:.2f} |", flush=True)
    print(f"\nMedian of the ratio: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()

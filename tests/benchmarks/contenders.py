"""The contenders of `speed.py` and the process that runs them: `python -m benchmarks.contenders`.

Each contender is a function that prepares a job and returns two others. The first does the job and
is measured. The second converts the result to a comparable form. Each contender has its own
process, so that it can be stopped and its memory measured.

Each line of JSON on standard input requests a job. The process replies with one line when the job
begins, and one with its time and a digest of its result, or with one line that gives the error.
"""

from __future__ import annotations

import gc
import hashlib
import io
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

WARM_UP = "Before the measurement, all of them train on these words, ſ and 11 Ωμέγα’s 👍.\n" * 99

Prepared = tuple[Callable[[], Any], Callable[[Any], Iterable[bytes]]]
"""A function that does the job, and one that converts its result to byte strings."""


@dataclass(frozen=True)
class Job:
    """A job. It holds all settings, so that the other contenders need not import bpeviz.

    kind: "train", "count" or "encode".
    text: path of the text.
    ends: path of a list of positions where the text may be divided; the last is its end.
    pattern: a key of `bpeviz.pretokenizers.patterns.PATTERNS`.
    expression: that pattern as a regular expression.
    size: size of the vocabulary.
    base: path of the training text, for "encode".
    memory: whether memory is measured, so that nothing unnecessary is kept.
    """

    kind: str
    text: str
    ends: str
    pattern: str
    expression: str
    size: int = 0
    base: str = ""
    memory: bool = False


@lru_cache(1)
def _text(path: str) -> str:
    return Path(path).read_bytes().decode()


def _pieces(text: str, job: Job) -> Iterable[str]:
    """Divide a text where its pattern always has a boundary, for processing in parallel."""
    ends = (
        json.loads(Path(job.ends).read_text(encoding="utf-8"))
        if job.pattern != "none"
        else [len(text)]
    )
    pieces = (text[start:end] for start, end in pairwise((0, *ends)))
    return pieces if job.memory else [*pieces]


def _spelt(merges: Iterable[tuple[int, int]], atoms: Sequence[bytes] = ()) -> Iterator[bytes]:
    """Yield the bytes of the token that each merge makes."""
    raw = [*atoms] or [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        raw.append(raw[left] + raw[right])
        yield raw[-1]


# ---- training


def _bpeviz(job: Job, **options: Any) -> Prepared:
    import bpeviz

    text = _text(job.text)
    return (
        lambda: bpeviz.train(text, vocab_size=job.size, pattern=job.pattern, **options),
        lambda training: _spelt((merge.left, merge.right) for merge in training.merges),
    )


def _bpeviz_smallest(job: Job) -> Prepared:
    return _bpeviz(job, ties="smallest")


def _bpeviz_plain(job: Job) -> Prepared:
    from bpeviz.pretokenizers.pretokenizer import PreTokenizer
    from bpeviz.trainers import bpe
    from bpeviz.trainers.preparation import count_pre_tokens, to_rows

    text = _text(job.text)

    def train() -> Any:
        pre_tokenizer = PreTokenizer("bytes", job.pattern)
        alphabet, rows = to_rows(count_pre_tokens(text, pre_tokenizer), pre_tokenizer)
        return bpe.train_merges(rows, alphabet, job.size - len(alphabet))[0]

    return train, lambda merges: _spelt((merge.left, merge.right) for merge in merges)


def _byte_letters() -> dict[str, int]:
    """Return the byte of each letter of `tokenizers`' byte alphabet, in its order."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in visible]
    found = {chr(byte): byte for byte in visible}
    found |= {chr(256 + i): byte for i, byte in enumerate(hidden)}
    return dict(sorted(found.items()))


def _bpeviz_reordered(job: Job) -> Prepared:
    """Train with the ids of bytes in the order of `tokenizers`.

    Among equally frequent pairs, `tokenizers` chooses the smallest ids.
    """
    from bpeviz.pretokenizers.pretokenizer import PreTokenizer
    from bpeviz.trainers import bpe

    text = _text(job.text)
    order = [*_byte_letters().values()]
    place = {byte: i for i, byte in enumerate(order)}

    def train() -> Any:
        pre_tokens = Counter(PreTokenizer("bytes", job.pattern).pre_tokens(text))
        rows = [
            ([place[byte] for byte in pre_token.encode()], n) for pre_token, n in pre_tokens.items()
        ]
        return bpe.train_merges_fast(rows, [""] * 256, job.size - 256, ties="smallest")[0]

    atoms = [bytes([byte]) for byte in order]
    return train, lambda merges: _spelt(((m.left, m.right) for m in merges), atoms)


def _minbpe(job: Job) -> Prepared:
    """Train with the loop of minbpe: count all pairs, replace the most frequent."""
    import regex

    text = _text(job.text)
    expression = regex.compile(job.expression)

    def train() -> list[tuple[int, int]]:
        pre_tokens = [[*pre_token.encode()] for pre_token in expression.findall(text)]
        merges: list[tuple[int, int]] = []
        for new in range(256, job.size):
            counts: dict[tuple[int, int], int] = {}
            for ids in pre_tokens:
                for pair in pairwise(ids):
                    counts[pair] = counts.get(pair, 0) + 1
            if not counts:
                break
            best = max(counts, key=counts.__getitem__)
            pre_tokens = [_replaced(ids, best, new) for ids in pre_tokens]
            merges.append(best)
        return merges

    return train, _spelt


def _replaced(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    out = []
    i = 0
    while i < len(ids):
        if ids[i] == pair[0] and i < len(ids) - 1 and ids[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def _by_rank(ranks: Iterable[tuple[bytes, int]]) -> list[bytes]:
    """Return the bytes of all tokens but the single bytes, by rank."""
    return [raw for raw, rank in sorted(ranks, key=lambda one: one[1]) if rank > 255]


def _educational(job: Job) -> Prepared:
    from tiktoken._educational import bpe_train

    text, expression = _text(job.text), job.expression
    return (
        lambda: bpe_train(text, job.size, expression, visualise=None),
        lambda ranks: _by_rank(ranks.items()),
    )


def _rustbpe(job: Job) -> Prepared:
    import rustbpe

    expression = job.expression
    pieces = _pieces(_text(job.text), job)

    def train() -> Any:
        tokenizer = rustbpe.Tokenizer()
        tokenizer.train_from_iterator(iter(pieces), job.size, pattern=expression)
        return tokenizer

    def read(tokenizer: Any) -> list[bytes]:
        return _by_rank((bytes(raw), rank) for raw, rank in tokenizer.get_mergeable_ranks())

    return train, read


def _byte_level(pattern: str) -> Any:
    """Return the byte-level pre-tokenizer of `tokenizers`."""
    from tokenizers import pre_tokenizers

    if pattern not in ("gpt2", "none"):
        raise ValueError("ByteLevel supports GPT-2's pattern only.")
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern == "gpt2")


def _tokenizers(job: Job) -> Prepared:
    from tokenizers import Tokenizer, models, trainers

    pieces = _pieces(_text(job.text), job)
    letters = _byte_letters()

    def train() -> Any:
        model = Tokenizer(models.BPE())
        model.pre_tokenizer = _byte_level(job.pattern)
        trainer = trainers.BpeTrainer(
            vocab_size=job.size,
            min_frequency=1,
            initial_alphabet=[*letters],
            show_progress=False,
        )
        model.train_from_iterator(pieces, trainer)
        return model

    def read(model: Any) -> Iterator[bytes]:
        for pair in json.loads(model.to_str())["model"]["merges"]:
            yield bytes(letters[letter] for letter in "".join(pair))

    return train, read


def _sentencepiece(job: Job) -> Prepared:
    """Train as many merges over characters, line by line, without normalization.

    Tokens have at most 16 characters and stay within words.
    """
    import sentencepiece

    text = _text(job.text)
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


def _counted(counts: dict[str, int]) -> Iterator[bytes]:
    return (f"{times} {pre_token}".encode() for pre_token, times in counts.items())


def _bpeviz_counts(job: Job) -> Prepared:
    from bpeviz.pretokenizers.counts import count

    text = _text(job.text)
    return lambda: count(text, job.pattern), lambda counts: _counted(dict(counts.items()))


def _bpeviz_dictionary(job: Job) -> Prepared:
    from bpeviz.pretokenizers.counts import count

    text = _text(job.text)
    return lambda: dict(count(text, job.pattern).items()), _counted


def _findall(job: Job) -> Prepared:
    import regex

    text = _text(job.text)
    expression = regex.compile(job.expression)
    return lambda: Counter(expression.findall(text)), _counted


# ---- encoding


@lru_cache(1)
def _trained(path: str, size: int, pattern: str) -> Any:
    import bpeviz

    return bpeviz.train(_text.__wrapped__(path), vocab_size=size, pattern=pattern)


def _numbers(ids: Sequence[int]) -> list[bytes]:
    import numpy as np

    return [np.asarray(ids, np.int64).tobytes()]


def _bpeviz_encodes(job: Job) -> Prepared:
    text = _text(job.text)
    # Its cache of pre-tokens is empty, but its tables are prepared.
    tokenizer = replace(_trained(job.base, job.size, job.pattern).tokenizer(), _segmented={})
    tokenizer.encode("Ω" * 5_000)
    return lambda: tokenizer.encode(text), _numbers


def _plain_encodes(job: Job) -> Prepared:
    from bpeviz.core.merges import apply_merges

    text = _text(job.text)
    training = _trained(job.base, job.size, job.pattern)
    rank = {(merge.left, merge.right): merge.new_id for merge in training.merges}
    pre_tokenizer = training.pre_tokenizer

    def encode() -> list[int]:
        pre_tokens = pre_tokenizer.pre_tokens(text)
        encoded = {
            pre_token: apply_merges([*pre_token.encode()], rank)
            for pre_token in dict.fromkeys(pre_tokens)
        }
        return [*chain.from_iterable(map(encoded.__getitem__, pre_tokens))]

    return encode, _numbers


def _tiktoken(job: Job) -> Prepared:
    import tiktoken

    text = _text(job.text)
    training = _trained(job.base, job.size, job.pattern)
    made = _spelt((merge.left, merge.right) for merge in training.merges)
    atoms = (bytes([byte]) for byte in range(256))
    encoding = tiktoken.Encoding(
        "measured",
        pat_str=job.expression,
        mergeable_ranks={raw: rank for rank, raw in enumerate(chain(atoms, made))},
        special_tokens={},
    )
    return lambda: encoding.encode_ordinary(text), _numbers


def _tokenizers_encodes(job: Job) -> Prepared:
    from tokenizers import Tokenizer, models

    training = _trained(job.base, job.size, job.pattern)
    pieces = [*_pieces(_text(job.text), job)]
    letter = {byte: letter for letter, byte in _byte_letters().items()}
    names = [letter[byte] for byte in range(256)]
    merges = []
    for merge in training.merges:
        merges.append((names[merge.left], names[merge.right]))
        names.append("".join(merges[-1]))
    model = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=merges))
    model.pre_tokenizer = _byte_level(job.pattern)

    def encode() -> list[int]:
        found = model.encode_batch_fast(pieces, add_special_tokens=False)
        return [*chain.from_iterable(one.ids for one in found)]

    return encode, _numbers


CONTENDERS: dict[str, dict[str, Callable[[Job], Prepared]]] = {
    "train": {
        "bpeviz": _bpeviz,
        "bpeviz, ties: smallest": _bpeviz_smallest,
        "bpeviz, plain trainer": _bpeviz_plain,
        "bpeviz, reordered bytes": _bpeviz_reordered,
        "rustbpe": _rustbpe,
        "tokenizers": _tokenizers,
        "sentencepiece": _sentencepiece,
        "minbpe's loop": _minbpe,
        "tiktoken._educational": _educational,
    },
    "count": {
        "bpeviz": _bpeviz_counts,
        "bpeviz, as a dictionary": _bpeviz_dictionary,
        "regex.findall, Counter": _findall,
    },
    "encode": {
        "bpeviz": _bpeviz_encodes,
        "bpeviz, plain merges": _plain_encodes,
        "tiktoken": _tiktoken,
        "tokenizers": _tokenizers_encodes,
    },
}
"""The contenders, by kind of job and name."""


# ---- the process


def _resident(what: str) -> int:
    """Return the current ("VmRSS") or peak ("VmHWM") memory of this process in bytes."""
    try:
        found = re.search(
            rf"^{what}:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"), re.M
        )
    except OSError:  # not Linux: the peak since the process began
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return int(found[1]) * 1024 if found else 0


def _reset_peak() -> None:
    with suppress(OSError):  # not Linux
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def _warm_up(make: Callable[[Job], Prepared], job: Job) -> None:
    """Do a small job of this kind, so that libraries are loaded and tables are built."""
    with tempfile.TemporaryDirectory() as folder:
        text, ends = Path(folder, "text"), Path(folder, "ends")
        text.write_text(WARM_UP, encoding="utf-8")
        ends.write_text(f"[{len(WARM_UP)}]", encoding="utf-8")
        base = str(text) if job.base else ""
        size = min(job.size, 300)
        make(replace(job, text=str(text), ends=str(ends), size=size, base=base, memory=False))[0]()
    _text.cache_clear()
    _trained.cache_clear()


def _run(
    contender: str, job: Job, warm: bool, send: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    make = CONTENDERS[job.kind][contender]
    if not warm:
        _warm_up(make, job)
    before = _resident("VmRSS")
    do_job, read = make(job)
    gc.collect()
    _reset_peak()
    send({"begun": True})
    start = time.perf_counter()
    result = do_job()
    seconds = time.perf_counter() - start
    peak = _resident("VmHWM")
    digest = hashlib.sha256()
    rows = 0
    for raw in read(result):
        rows += 1
        digest.update(len(raw).to_bytes(8, "little") + raw)
    return {
        "seconds": seconds,
        "digest": f"{rows} {digest.hexdigest()}",
        "libraries": before,
        "above": peak - sys.getsizeof(_text(job.text)),
    }


def main() -> None:
    """Run the jobs that standard input requests."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries must not mix with the replies

    def send(reply: dict[str, Any]) -> None:
        out.write(json.dumps(reply) + "\n")
        out.flush()

    warm: set[tuple[str, str]] = set()
    for line in sys.stdin:
        request = json.loads(line)
        contender, job = request["contender"], Job(**request["job"])
        kind = (job.kind, job.pattern)
        try:
            reply = _run(contender, job, kind in warm, send)
            warm.add(kind)
        except ModuleNotFoundError as error:
            reply = {"missing": f"{error.name} is not installed"}
        except KeyboardInterrupt:
            return
        except BaseException as error:  # a panic in Rust is not an Exception
            reply = {"failed": f"{type(error).__name__}: {str(error).strip()[:70]}".split("\n")[0]}
        send(reply)
        gc.collect()


if __name__ == "__main__":
    main()

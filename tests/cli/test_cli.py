"""The commands `train`, `play`, `encode`, `decode` and `compare`.

Most tests call `main` in this process; those of pipes, signals and terminals start processes.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow.parquet
import pytest
import tokenizers
from helpers.payloads import data_of
from helpers.refusals import assert_sentence
from helpers.shell import ROOT, TEXT, Shell, contents, run_as_shown, started
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

import bpeviz
from bpeviz import formats, limits
from bpeviz.cli import files
from bpeviz.cli.progress import Progress
from bpeviz.corpus import files as corpus_files
from bpeviz.pretokenizers import patterns
from bpeviz.pretrained import download
from bpeviz.progress import report
from bpeviz.trainers import TRAINERS

# --- convert -------------------------------------------------------------------------------------


def test_convert_writes_another_format_or_names_the_reason(trained: Shell) -> None:
    assert trained("convert", "--tokenizer", "t.json", "--output", "t.tiktoken").code == 0
    for name in ("t.json", "t.tiktoken"):
        assert trained("encode", "text.txt", "--tokenizer", name).code == 0
        assert bpeviz.read(name).encode(TEXT) == json.loads(trained.out)
    convert = ("convert", "--progress", "--tokenizer", "t.tiktoken")
    assert "Written to u.json: " in trained(*convert, "--output", "u.json").err
    assert "Written to standard output: " in trained(*convert, "--format", "huggingface").err
    assert formats.parse({"a.json": trained.out}).encode(TEXT) == bpeviz.read("t.json").encode(TEXT)


def test_convert_says_that_a_format_has_no_template(shell: Shell) -> None:
    tokenizer = bpeviz.train("low lower", merges=3, special_tokens=("<s>",)).tokenizer()
    made = tokenizers.Tokenizer.from_buffer(*formats.dump(tokenizer, "huggingface").values())
    names = [*tokenizer.special_tokens.items()]
    made.post_processor = tokenizers.processors.TemplateProcessing("<s> $A", special_tokens=names)
    made.save("around.json")
    for target, is_lost in (("t.csv", True), ("again.json", False)):
        assert shell("convert", "--tokenizer", "around.json", "--output", target).code == 0
        assert ("does not contain the template, which adds <s>" in shell.err) == is_lost


# --- train ---------------------------------------------------------------------------------------


def test_train_writes_the_tokenizer_of_the_library(trained: Shell) -> None:
    assert trained.err == ""
    assert trained.out == b""
    trained = bpeviz.train(TEXT, merges=12).tokenizer()
    (written,) = formats.dump(trained, "huggingface").values()
    assert Path("t.json").read_bytes() == written


def test_two_file_format_is_written_to_and_read_from_a_folder(shell: Shell) -> None:
    shell("train", "text.txt", "--merges", "5", "--format", "gpt2", "--output", "mine")
    assert (shell.code, shell.err) == (0, "")
    assert {path.name for path in Path("mine").iterdir()} == {"vocab.json", "merges.txt"}
    shell("train", "text.txt", "--merges", "6", "--output", "mine")  # a folder: the same format
    shell("encode", "text.txt", "--tokenizer", "mine")
    assert json.loads(shell.out) == bpeviz.train(TEXT, merges=6).tokenizer().encode(TEXT)
    for one in ("vocab.json", "merges.txt"):  # the path of one file is enough for both
        assert shell("encode", "text.txt", "--tokenizer", f"mine/{one}").code == 0
    Path("mine/merges.txt").unlink()
    assert "does not contain" in shell("encode", "text.txt", "--tokenizer", "mine").sentence


def test_ranks_without_their_second_file_need_a_pattern(shell: Shell) -> None:
    train = ("train", "text.txt", "--merges", "9", "--pattern", "words")
    assert shell(*train, "--output", "mine.tiktoken").code == 0
    ids = bpeviz.train(TEXT, merges=9, pattern="words").tokenizer().encode(TEXT)
    encode = ("encode", "text.txt", "--tokenizer", "mine.tiktoken")
    assert json.loads(shell(*encode).out) == ids
    Path("mine.tiktoken.json").unlink()
    assert "does not contain the pre-tokenization" in shell(*encode).sentence
    assert json.loads(shell(*encode, "--pattern", "words").out) == ids
    expression = r"\w+|[^\w\s]+|\s+"
    own = ("--pattern", "regex", "--expression", expression)
    assert json.loads(shell(*encode, *own).out) == ids


def test_tokens_do_not_cross_input_files(shell: Shell) -> None:
    Path("a.txt").write_text("aaab", encoding="utf-8")
    Path("b.txt").write_text("baaa", encoding="utf-8")
    shell("train", "a.txt", "b.txt", "--merges", "99", "--pattern", "none", "--output", "t.json")
    assert shell.err.startswith("Only 4 merges (no pair is left)")
    shell("encode", "--tokenizer", "t.json", "--tokens", text="aaabbaaa")
    assert shell.out == b"aaab baaa\n"


def test_train_passes_every_trainer_option_as_a_flag(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, dict[str, object]]] = []

    def note(corpus: object, algorithm: str, **arguments: object) -> None:
        asked.append((algorithm, arguments))
        raise ValueError("Noted.")

    monkeypatch.setattr("bpeviz.api.train", note)
    for key, trainer in TRAINERS.items():
        flags, expected = [], {}
        for option in trainer.options:
            if option.sample is not None:
                Path("base.txt").write_text("some text", encoding="utf-8")
                given, value = "base.txt", "some text"
            elif option.choices is not None:
                given = value = [*option.choices][-1]
            else:
                given, value = str(option.minimum + 7), option.minimum + 7
            flags += [f"--{option.name.replace('_', '-')}", given]
            expected[option.name] = value
        shell("train", "text.txt", "--merges", "3", "--algorithm", key, *flags)
        assert shell.sentence == "Noted."
        algorithm, arguments = asked.pop()
        assert algorithm == key
        assert arguments.items() >= expected.items()
        # Only given options are passed, so that the trainer's defaults apply.
        shell("train", "text.txt", "--merges", "3", "--algorithm", key)
        assert not asked.pop()[1].keys() & expected.keys()


def test_train_tries_the_format_before_training_on_a_long_text(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    train = bpeviz.train

    def count(text: str, *arguments: object, **more: object) -> bpeviz.Training:
        sizes.append(len(text))
        return train(text, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("bpeviz.api.train", count)
    Path("long.txt").write_text(TEXT * 99, encoding="utf-8")
    arguments = ("--vocab-size", "60", "--algorithm", "wordpiece", "--output", "t.tiktoken")
    shell("train", "long.txt", *arguments)
    assert shell.sentence
    assert sizes == [2_000]
    assert not Path("t.tiktoken").exists()


def test_train_reports_a_vocabulary_smaller_than_requested(shell: Shell) -> None:
    shell("train", "text.txt", "--vocab-size", "9999")
    assert re.fullmatch(
        r"Only \d+ merges \(no pair is left\): the vocabulary has \d+ ids.\n",
        shell.err,
    )
    shell("train", "text.txt", "--vocab-size", "9999", "--min-count", "20")
    assert "(all other pairs are too rare)" in shell.err
    shell("train", "text.txt", "--vocab-size", "9999", "--algorithm", "unigram")
    assert re.fullmatch(r"The vocabulary has only \d+ ids: this text allows no more.\n", shell.err)


def test_train_accepts_an_empty_text(shell: Shell) -> None:
    shell("train", "--vocab-size", "300", "--output", "t.json")
    assert (shell.code, shell.out) == (0, b"")
    assert shell.err.startswith("Only 0 merges")
    shell("encode", "--tokenizer", "t.json", text="é")
    assert json.loads(shell.out) == [195, 169]
    Path("empty").touch()
    arguments = ("train", "--vocab-size", "260", "text.txt")
    assert shell(*arguments, "empty", "empty").out == shell(*arguments).out


# --- encode and decode ---------------------------------------------------------------------------


def test_encode_prints_one_list_per_text(trained: Shell) -> None:
    tokenizer = bpeviz.train(TEXT, merges=12).tokenizer()
    trained("encode", "--tokenizer", "t.json", "text.txt", "-", text="lower\r\n")
    first, second = trained.out.splitlines()
    assert json.loads(first) == tokenizer.encode(TEXT)
    assert json.loads(second) == tokenizer.encode("lower\r\n")


def test_decode_returns_the_bytes_that_were_encoded(trained: Shell) -> None:
    for text in (TEXT, "", "\n", "no end", "\r\n\r", "a\n\n", "\u2028 \0 \ufffd"):
        ids = trained("encode", "--tokenizer", "t.json", text=text).out
        assert trained("decode", "--tokenizer", "t.json", text=ids).out == text.encode()
        ids = trained("encode", "--tokenizer", "t.json", "--lines", text=text).out
        assert len(ids.splitlines()) == text.removesuffix("\n").count("\n") + bool(text)
        decoded = trained("decode", "--tokenizer", "t.json", "--lines", text=ids).out
        assert decoded == (text if text.endswith("\n") or not text else text + "\n").encode()


def test_encode_prints_token_names_and_counts(trained: Shell) -> None:
    trained("encode", "--tokenizer", "t.json", "--tokens", text="slow \x1b[1m")
    assert trained.out.decode() == "s low · ⟨001B⟩ [ 1 m\n"
    trained("encode", "--tokenizer", "t.json", "--count", "text.txt", "-", text="low low")
    whole = len(bpeviz.read("t.json").encode(TEXT))
    assert trained.out.decode() == f"{whole} text.txt\n3 standard input\n"
    trained("encode", "--tokenizer", "t.json", "--count", "--lines", text="low\n\nlow low\n")
    assert trained.out == b"1\n0\n3\n"
    Path("a\x1b.txt").write_bytes(b"low\nlow")
    trained("encode", "--tokenizer", "t.json", "--count", "--lines", "a\x1b.txt", "-", text="x")
    assert trained.out.decode() == "1 a⟨001B⟩.txt\n1 a⟨001B⟩.txt\n1 standard input\n"


def test_encode_prints_offsets_in_characters_and_bytes_as_json(trained: Shell) -> None:
    encode = ("encode", "--tokenizer", "t.json", "--json")
    tokenizer = bpeviz.read("t.json")
    text = "é low 👋🏽\r\n"
    found = json.loads(trained(*encode, text=text).out)
    tokens = tokenizer.tokens(text)
    assert found == {
        "ids": tokenizer.encode(text),
        "tokens": [token.label for token in tokens],
        "offsets": [[token.start, token.end] for token in tokens],
        "byte_offsets": found["byte_offsets"],
    }
    raw = text.encode()
    parts = [raw[start:end] for start, end in found["byte_offsets"]]
    assert parts == [token.raw for token in tokens]
    rows = trained(*encode, "--lines", text="low\n\n").out.decode().splitlines()
    assert json.loads(rows[0])["offsets"] == [[0, 3]]
    assert [*json.loads(rows[1]).values()] == [[], [], [], []]


def test_json_of_encode_leaves_out_dropped_text_and_places_the_template(shell: Shell) -> None:
    made = Tokenizer(models.WordLevel({"[CLS]": 0, "é": 1, "b": 2, "[SEP]": 3}, unk_token="b"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 0))
    Path("tokenizer.json").write_text(made.to_str(), encoding="utf-8")
    encode = ("encode", "--tokenizer", "tokenizer.json", "--json", "--template")
    assert json.loads(shell(*encode, text="é  b").out) == {
        "ids": [0, 1, 2, 3],
        "tokens": ["[CLS]", "é", "b", "[SEP]"],
        "offsets": [[0, 0], [0, 1], [3, 4], [4, 4]],
        "byte_offsets": [[0, 0], [0, 2], [4, 5], [5, 5]],
    }
    encode = ("encode", "--tokenizer", "tokenizer.json", "--template")
    assert json.loads(shell(*encode, text="é  b").out) == [0, 1, 2, 3]
    assert shell(*encode, "--count", text="é  b").out == b"4\n"


def test_train_splits_the_text_at_special_tokens(shell: Shell) -> None:
    text = "<|end|>low<|end|>low"
    command = ("train", "-", "--merges", "2", "--special-token", "<|end|>", "--output", "m.csv")
    for more, first in (((), b"lo"), (("--special-as-text",), b"<|")):
        assert shell(*command, *more, text=text).code == 0
        assert bpeviz.read("m.csv").token_bytes(256) == first
    text, merges = "[SEP] low [SEP]", ("--merges", "9")
    for more in ((), ("--special-as-text",)):
        command = ("train", "-", "--algorithm", "wordpiece", *merges, *more, "--output", "w.bpeviz")
        assert shell(*command, text=text).code == 0
        split = bpeviz.train(text, "wordpiece", merges=9, split_at_special=not more).tokenizer()
        names = [*map(split.token_label, split.known_ids())]
        read = bpeviz.read("w.bpeviz")
        assert [*map(read.token_label, read.known_ids())] == names
        assert ("SEP" in names) == bool(more)
    Path("a.txt").write_text("low<|end|>", "utf-8")
    several = ("--merges", "2", "--special-token", "<|end|>", "--output", "m.csv")
    assert shell("train", "a.txt", "a.txt", *several).code == 0
    assert bpeviz.read("m.csv").token_bytes(257) == b"low"


def test_encode_treats_special_tokens_as_text_unless_allowed(shell: Shell) -> None:
    special = ("--special-token", "<|end|>", "--special-token", "<a b>")
    shell("train", "text.txt", "--merges", "2", *special, "--output", "t.json")
    encode = ("encode", "--tokenizer", "t.json")
    text = "x<|end|><a b>"
    assert json.loads(shell(*encode, text=text).out) == [*text.encode()]
    shell(*encode, "--allow-special", "<|end|>", text=text)
    assert json.loads(shell.out) == [120, 258, *b"<a b>"]
    shell(*encode, "--allow-special", "all", "--tokens", text=text)
    assert shell.out == "x <|end|> <a·b>\n".encode()
    decode = ("decode", "--tokenizer", "t.json", "120", "258", "121", "259")
    assert shell(*decode).out == b"x<|end|>y<a b>"
    assert shell(*decode, "--skip-special").out == b"xy"


@pytest.mark.slow
def test_encode_applies_the_chat_template_of_a_folder_on_request(shell: Shell) -> None:
    Path("m").mkdir()
    bpeviz.save(
        bpeviz.train(TEXT, merges=3, special_tokens=("<s>", "</s>")).tokenizer(), "m/tokenizer.json"
    )
    encode = ("encode", "--tokenizer", "m/tokenizer.json")
    template = {"bos_token": "<s>", "chat_template": "{{ bos_token + messages[0].content }}</s>"}
    Path("m/tokenizer_config.json").write_bytes(json.dumps(template).encode())
    begin, end = (bpeviz.read("m/tokenizer.json").special_tokens[name] for name in ("<s>", "</s>"))
    assert json.loads(shell(*encode, "--chat", text="a").out) == [begin, 97, end]
    assert json.loads(shell("encode", "--tokenizer", "m", "--chat", text="a").out)[0] == begin
    assert json.loads(shell(*encode, text="a").out) == [97]
    prompted = (*encode, "--chat", "--system", "b")
    assert json.loads(shell(*prompted, text="a").out) == [begin, 98, end]
    Path("tokenizer_config.json").write_bytes(json.dumps(template).encode())
    assert "no chat template" in shell("encode", "--tokenizer", "gpt2", "--chat").sentence
    Path("m/chat_template.jinja").write_bytes(b"{{ raise_exception('only *tools*\x1b[31m') }}")
    assert "only *tools*\\x1b[31m" in shell(*encode, "--chat", text="a").sentence
    Path("m/chat_template.jinja").write_bytes(b"a")
    Path("m/additional_chat_templates").mkdir()
    Path("m/additional_chat_templates/tool_use.jinja").write_bytes(b"{{ eos_token }}{{ tools }}")
    Path("m/special_tokens_map.json").write_bytes(b'{"eos_token": "</s>"}')
    Path("m/chat_template.jinja").write_bytes(
        b"{% for m in messages %}{{ m.content }}</s>{% endfor %}"
    )
    answer = {"role": "assistant", "content": "c"}
    chats = [[{"role": "user", "content": text}, answer] for text in ("a b", "a<s>", "b")]
    lines = "".join(json.dumps({"messages": chat}) + "\n" for chat in chats)
    Path("t.jsonl").write_text(lines, "utf-8")
    per_row = shell(*encode, "t.jsonl", "--chat", "--text", "messages", "--count").out
    assert "contains 1 control token" in shell.err
    assert per_row == shell(*encode, "t.jsonl", "--chat", "--lines", "--count").out
    assert len(per_row.split()) == 3
    given = '{"messages": [{"role": "user"}], "tools": [1]}'
    assert json.loads(shell(*encode, "--chat", "--rendered", text=given).out) == "</s>[1]"


@pytest.mark.slow
def test_encode_names_roles_and_learned_tokens_and_warns_of_forged_turns(shell: Shell) -> None:
    chat_model(
        "{{ bos_token }}{% for m in messages %}{{ m.content }}{% generation %}b{% endgeneration %}"
        "{% endfor %}"
    )
    encode = ("encode", "--tokenizer", "m", "--chat")
    answer = json.loads(shell(*encode, "--json", text="aé<s>").out)
    assert (answer["ids"], answer["roles"]) == ([0, 1, 0, 2], [None, "user", "user", None])
    assert answer["byte_offsets"] == [[0, 3], [3, 4], [6, 9], [9, 10]]
    assert answer["learned"] == [False, False, False, True]
    assert answer["learned_from"] == "generation blocks"
    assert "contains 1 control token" in shell.err
    assert json.loads(shell(*encode, "--safe", text="a<s>").out) == [0, 1, 2]
    assert "control token" not in shell.err
    assert "--safe" in shell("encode", "--tokenizer", "m", "--safe", text="a").err


@pytest.mark.slow
def test_encode_says_where_a_template_of_ours_differs(shell: Shell) -> None:
    if not download.available("qwen"):
        pytest.skip("not available: qwen")
    assert shell("encode", "--tokenizer", "qwen", "--chat", "--count", text="Hi").out == b"9\n"
    assert "In the shape of ChatML" in shell.err
    answer = json.loads(shell("encode", "--tokenizer", "qwen", "--chat", "--json", text="🦜").out)
    assert answer["byte_offsets"][3:5] == [[17, 20], [20, 21]]


def chat_model(template: str) -> Tokenizer:
    """Write a tokenizer that adds <s>, with a chat template, to the folder `m`."""
    made = Tokenizer(models.BPE({"<s>": 0, "a": 1, "b": 2}, []))
    made.post_processor = processors.TemplateProcessing("<s> $A", None, [("<s>", 0)])
    made.add_special_tokens(["<s>"])
    Path("m").mkdir()
    made.save("m/tokenizer.json")
    settings = {"bos_token": "<s>", "chat_template": template}
    Path("m/tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return made


def test_encode_renders_conversations_in_json(shell: Shell) -> None:
    chat_model(
        "{{ bos_token }}{% if tools %}{{ tools | length }}{% endif %}"
        "{% for one in messages %}{{ one.role[0] }}:{{ one.content }};{% endfor %}"
        "{% if add_generation_prompt %}a:{% endif %}"
    )
    rendered = ("encode", "--tokenizer", "m", "--chat", "--rendered")
    turns = [("user", "x\n"), ("assistant", "é"), ("user", "z")]
    messages = [{"role": role, "content": content} for role, content in turns]
    text = json.dumps({"messages": messages, "tools": [{}, {}]})
    assert json.loads(shell(*rendered, text=text).out) == "<s>2u:x\n;a:é;u:z;a:"
    shell(*rendered, "--system", "be", text=json.dumps(messages[:1]))
    assert json.loads(shell.out) == "<s>s:be;u:x\n;a:"
    lines = "".join(json.dumps(one) + "\n" for one in (messages[:1], messages[1:2]))
    shell(*rendered, "--lines", text=lines)
    assert [json.loads(one) for one in shell.out.splitlines()] == ["<s>u:x\n;a:", "<s>a:é;"]


def test_encode_warns_if_text_and_template_begin_with_the_same_token(shell: Shell) -> None:
    made = chat_model("{{ bos_token + messages[0].content }}")
    warning = "The text begins with <s>, and the template adds <s> too: the model gets it twice.\n"
    encode = ("encode", "--tokenizer", "m/tokenizer.json")
    special = ("--allow-special", "all")
    for flags, text, ids in (
        (["--chat", "--template"], "ab", [0, 0, 1, 2]),
        (["--template", *special], "<s>a", [0, 0, 1]),
    ):
        assert json.loads(shell(*encode, *flags, text=text).out) == ids
        assert shell.err == warning
        assert json.loads(shell(*encode, *flags, "--json", text=text).out)["ids"] == ids
        assert shell.err == warning
        shell(*encode, *flags, "--lines", "--count", text=f"{text}\n{text}\n")
        assert (shell.out.decode(), shell.err) == (f"{len(ids)}\n" * 2, warning)
    assert made.encode("<s>ab").ids == [0, 0, 1, 2]  # as in the library
    for flags, text in (
        (["--chat"], "ab"),
        (["--template"], "ab"),
        (["--template", *special], "a<s>"),
        (special, "<s>a"),
    ):
        assert shell(*encode, *flags, text=text).err == ""


def test_encode_prints_pre_tokens_and_applies_the_first_merges(shell: Shell) -> None:
    encode = ("encode", "--tokenizer", "gpt2")
    assert json.loads(shell(*encode, "--pre-tokens", text="It's  ö").out) == ["It", "'s", " ", " ö"]
    shell("train", "text.txt", "--merges", "5", "--output", "t.json")
    encode = ("encode", "--tokenizer", "t.json")
    for merges in (0, 3, 5):
        expected = bpeviz.read("t.json").at_step(merges).encode(TEXT)
        assert json.loads(shell(*encode, "--merges", str(merges), text=TEXT).out) == expected


def test_encode_prints_the_merges_of_a_text_and_its_round_trip(trained: Shell) -> None:
    encode = ("encode", "--tokenizer", "t.json")
    trained(*encode, "--steps", text="low")
    steps = [json.loads(line) for line in trained.out.splitlines()]
    assert [step["step"] for step in steps] == [1, 2]
    assert steps[-1]["merged"] == ["lo", "w"]
    assert [steps[-1]["id"]] == bpeviz.read("t.json").encode("low")
    assert json.loads(trained(*encode, "--round-trip", text=TEXT).out)["lossless"] is True
    wordpiece = ("train", "text.txt", "--algorithm", "wordpiece", "--vocab-size", "40")
    trained(*wordpiece, "--output", "w.json")
    found = json.loads(trained("encode", "--tokenizer", "w.json", "--round-trip", text="low 9").out)
    assert [(loss["title"], loss["times"]) for loss in found["losses"]] == [("unknown", 1)]


def test_encode_colors_tokens_on_request(trained: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    encode = ("encode", "--tokenizer", "t.json", "--tokens")
    plain = trained(*encode, text="low lowlo").out.decode()
    monkeypatch.setenv("NO_COLOR", "1")
    colored = trained(*encode, "--color", "always", text="low lowlo").out.decode()
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    first, second = re.findall(r"\x1b\[([0-9;]*)mlow\x1b", colored)
    (other,) = re.findall(r"\x1b\[([0-9;]*)mlo\x1b", colored)
    assert first == second != other


def test_lookup_finds_tokens_by_id_text_and_part(trained: Shell) -> None:
    lookup = ("lookup", "--tokenizer", "t.json")
    tokenizer = bpeviz.read("t.json")
    (low,) = tokenizer.encode("low")
    trained(*lookup, "low", "--neighbors", "1")
    first, left, *rest = trained.out.decode().splitlines()
    assert first == f"{low}  low  6C 6F 77  merge 2 of 12"
    assert left.split()[:2] == ["lo", str(tokenizer.encode("lo")[0])]
    assert [line.split()[0] for line in rest] == [
        *("l", "o", "w", "neighbors:"),
        *(str(low - 1), str(low + 1)),
    ]
    assert trained(*lookup, str(low)).out.decode().startswith(first)
    assert [len(line) - len(line.lstrip()) for line in [left, *rest[:3]]] == [2, 4, 4, 2]
    assert "merges" not in trained(*lookup).out.decode()
    assert "268 tokens" in trained.out.decode()
    size = "The vocabulary has 268 tokens."
    assert json.loads(trained(*lookup, "--json").out) == {"query": "", "note": size, "tokens": []}
    (other,) = [json.loads(line) for line in trained(*lookup, "slow 1", "--json").out.splitlines()]
    assert [token["id"] for token in other["tokens"]] == tokenizer.encode("slow 1")
    assert "slow 1" in other["note"]
    spaced = next(i for i in range(256, 268) if tokenizer.token_label(i).startswith("·"))
    trained(*lookup, tokenizer.token_label(spaced), "--json")
    (found,) = json.loads(trained.out)["tokens"]
    assert found["id"] == found["tree"][0]["id"] == spaced
    assert found["tree"][0]["merged"] == [one["id"] for one in found["tree"][1:3]]
    trained(*lookup, "lo", "--containing", "--most", "2")
    assert "the first 2" in trained.err
    listed = [line.split()[1] for line in trained.out.decode().splitlines()]
    assert len(listed) == 2
    assert all("lo" in label for label in listed)


def test_lookup_says_what_the_text_of_a_token_is_encoded_as(shell: Shell) -> None:
    training = bpeviz.train("low low ow", algorithm="wordpiece", merges=2, special_tokens=("<s>",))
    tokenizer = training.tokenizer()
    bpeviz.save(tokenizer, "t.json")
    rest = next(i for i in tokenizer.known_ids() if tokenizer.token_label(i) == "##w")
    lookup = ("lookup", "--tokenizer", "t.json")
    ids = tokenizer.encode("w")
    assert f"Alone, its text is encoded otherwise: as {ids[0]} (" in (
        shell(*lookup, str(rest)).out.decode()
    )
    (found,) = json.loads(shell(*lookup, str(rest), "--json").out)["tokens"]
    assert found["encoded_as"] == ids
    assert "As plain text, its name is encoded as" in shell(*lookup, "<s>").out.decode()
    assert "encoded" not in shell(*lookup, str(tokenizer.encode("low")[0])).out.decode()
    tokenizer = bpeviz.train("é", merges=0).tokenizer()
    bpeviz.save(tokenizer, "bytes.json")
    shell("lookup", "--tokenizer", "bytes.json", "195")
    assert "they are only a part of a character" in shell.out.decode()


def test_lookup_prints_the_flags_of_an_added_token(shell: Shell) -> None:
    made = Tokenizer(models.BPE({"a": 0}, []))
    made.add_special_tokens([AddedToken("<|x|>", rstrip=True, normalized=True), "<|y|>"])
    made.add_tokens([AddedToken("word", single_word=True, lstrip=True, normalized=False), "b"])
    made.save("tokenizer.json")
    lookup = ("lookup", "--tokenizer", "tokenizer.json")
    kinds = {
        "<|x|>": "a special token (rstrip, normalized)",
        "<|y|>": "a special token",
        "word": "an added token (single_word, lstrip)",
        "b": "an added token (normalized)",
        "a": "a single character",
    }
    lines = shell(*lookup, *kinds).out.decode().splitlines()
    assert [line.split("  ")[-1] for line in lines] == [*kinds.values()]
    rows = [json.loads(line) for line in shell(*lookup, *kinds, "--json").out.splitlines()]
    (special,), *_, (plain,) = (row["tokens"] for row in rows)
    assert special["flags"] == ["rstrip", "normalized"]
    assert "flags" not in plain


def test_encode_prints_the_best_segmentations_of_unigram(shell: Shell) -> None:
    options = ("--algorithm", "unigram", "--vocab-size", "40", "--output", "u.model")
    shell("train", "text.txt", "--pattern", "whitespace", *options)
    encode = ("encode", "--tokenizer", "u.model")
    shell(*encode, "--segmentations", "2", text="low")
    (row,) = [json.loads(line) for line in shell.out.splitlines()]
    first, second = row["segmentations"]
    assert first["log_probability"] >= second["log_probability"]
    assert first["ids"] == json.loads(shell(*encode, text="low").out)


@pytest.mark.parametrize("form", ["--lines", "--json"])
def test_decode_reads_the_output_of_encode(trained: Shell, form: str) -> None:
    options = ("--tokenizer", "t.json", "--lines", *[form] * (form != "--lines"))
    encoded = trained("encode", "text.txt", *options).out.decode()
    decode = ("decode", "--tokenizer", "t.json")
    assert trained(*decode, "--lines", text=encoded).out.decode() == TEXT
    assert trained(*decode, text=encoded).out.decode() == TEXT.replace("\n", "")
    assert f"{len(TEXT.splitlines())} lists are decoded as one text." in trained.err
    assert trained(*decode, text=encoded.splitlines()[0]).err == ""
    assert trained(*decode, "{'input_ids':", "tensor([[104, 101]])}").out == b"he"


def test_decode_returns_the_bytes_of_a_partial_character_on_request(trained: Shell) -> None:
    decode = ("decode", "--tokenizer", "t.json", "195")
    assert trained(*decode).out.decode() == "\ufffd"
    assert trained(*decode, "--bytes").out == b"\xc3"


def test_decode_prints_the_text_of_the_library(shell: Shell) -> None:
    """T5's tokenizer begins a text with a space that is not part of it."""
    made = Tokenizer(
        models.Unigram([("<unk>", 0.0), ("</s>", 0.0), ("▁The", -1.0), ("▁dog", -1.0)], 0)
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.add_special_tokens(["<unk>", "</s>"])
    Path("tokenizer.json").write_text(made.to_str(), encoding="utf-8")
    decode = ("decode", "--tokenizer", "tokenizer.json", "2", "3", "1")
    assert shell(*decode).out == b"The dog</s>"
    assert shell(*decode).out.decode() == made.decode([2, 3, 1], skip_special_tokens=False)
    assert shell(*decode, "--skip-special").out.decode() == made.decode([2, 3, 1]) == "The dog"
    assert shell(*decode, "--bytes").out == b" The dog</s>"
    assert shell(*decode, "--bytes", "--skip-special").out == b" The dog"
    assert shell(*decode, "--lines").out == b"The dog</s>\n"
    assert "no id 9" in shell(*decode, "9", "--skip-special").sentence


# --- compare -------------------------------------------------------------------------------------


def test_compare_prints_a_table_or_json(trained: Shell) -> None:
    compare = ("compare", "text.txt", "--tokenizer", "t.json", "--tokenizer", "gpt2")
    head, _, titles, *rows = trained(*compare).out.decode().splitlines()
    assert f"{len(TEXT.encode()):,} bytes; the reference is t.json." in head
    assert titles.split() == ["t.json", "GPT-2"]
    (tokens,) = (row.split()[1:3] for row in rows if row.startswith("tokens  "))
    mine, other = json.loads(trained(*compare, "--json", "--reference", "gpt2").out)
    assert [mine["tokenizer"], other["tokenizer"]] == ["t.json", "gpt2"]
    assert [f"{one['tokens']:,}" for one in (mine, other)] == tokens
    assert mine["tokens"] == len(bpeviz.read("t.json").encode(TEXT))
    assert other["agreement"] == {"precision": 1, "recall": 1, "f1": 1}, "GPT-2 is the reference"
    (empty,) = json.loads(trained("compare", "--tokenizer", "t.json", "--json").out)
    assert empty["bytes_per_token"] is None


def test_compare_exports_colored_tokens_and_curves(trained: Shell) -> None:
    compare = ("compare", "text.txt", "--tokenizer", "t.json", "--tokenizer", "gpt2")
    page = trained(*compare, "--html").out.decode()
    assert page.startswith("<!doctype html>")
    assert [row["title"] for row in data_of(page)["score"]["rows"]] == ["t.json", "GPT-2"]
    head, *rows = trained(*compare, "--curves").out.decode().splitlines()
    assert head == "tokenizer,vocabulary size,bytes per token"
    mine = [row.split(",")[1:] for row in rows if row.startswith("t.json,")]
    assert [int(size) for size, _ in mine] == [*range(256, 269)]
    tokens = len(bpeviz.read("t.json").encode(TEXT))
    assert float(mine[-1][1]) == pytest.approx(len(TEXT.encode()) / tokens, rel=1e-5)
    assert rows[-1].startswith("gpt2,50256,")
    assert trained(*compare, "--html", "--json").code == 2
    linked = trained(*compare, "--html", "--link", "https://host.example/?a=1&b=2").out.decode()
    assert 'href="https://host.example/?a=1&amp;b=2"' in linked
    assert trained(*compare, "--html", "--link", "javascript:evil()").code != 0


MANY = ("compare", "en=en.txt", "es=es.txt", "code", "--tokenizer", "gpt2", "--tokenizer", "t.json")


@pytest.fixture
def texts(trained: Shell) -> dict[str, str]:
    """Write texts in two languages and a folder with code, and return them by name."""
    written = {
        "en": "Where is the river?\n" * 12,
        "es": "¿Dónde está el río?\n" * 12,
        "code/a.py": "x = 1\n",
        "code/sub/b.py": "def double(x):\n    return 2 * x\n",
    }
    Path("code/sub").mkdir(parents=True)
    Path("code/.hidden").write_bytes(b"hidden")
    for name, text in written.items():
        Path(name if "/" in name else f"{name}.txt").write_bytes(text.encode())
    return {name.removeprefix("code/"): text for name, text in written.items()}


def test_compare_of_many_texts_prints_the_rows_of_the_library(
    trained: Shell, texts: dict[str, str]
) -> None:
    tokenizers = {"gpt2": bpeviz.load("gpt2"), "t.json": bpeviz.read("t.json")}
    expected = bpeviz.compare(texts, tokenizers, "en")
    found = json.loads(trained(*MANY, "--relative-to", "en", "--json").out)
    assert found["verdict"] == expected.verdict
    assert found["notes"] == expected.notes
    assert found["rows"] == [json.loads(json.dumps(vars(row))) for row in expected.rows]
    assert found["tokenizers"] == [vars(one) for one in expected.tokenizers]
    assert trained(*MANY, "--relative-to", "en", "--csv", "--output", "table.csv").out == b""
    with open("table.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["text"], row["tokenizer"]) for row in rows] == [
        (row.text, row.tokenizer) for row in expected.rows
    ]
    for row, exact in zip(rows, expected.rows, strict=True):
        assert int(row["tokens"]) == exact.tokens
        assert row["premium"] == ("" if exact.premium is None else str(exact.premium))
        assert row["notes"] == "; ".join(exact.notes)
    assert [row["all_texts_gini"] for row in rows[:2]] == [
        str(one.gini) for one in expected.tokenizers
    ]


def test_compare_of_many_texts_prints_a_table_and_its_notes(
    trained: Shell, texts: dict[str, str]
) -> None:
    verdict, _, head, *lines = trained(*MANY, "--relative-to", "en").out.decode().splitlines()
    assert "needs the fewest tokens, " in verdict
    assert re.split("  +", head)[-2:] == ["tokens per word", "premium"]
    assert re.match(r"es +GPT-2 .* 2\.60 \(2\.60 to 2\.60\)$", lines[2])
    found = bpeviz.compare(texts, {"gpt2": bpeviz.load("gpt2")}, "en").tokenizers[0]
    gpt2 = ["GPT-2", str(found.tokens), f"{found.gini:.3f}", "2.60 (es)"]
    assert gpt2 in [re.split("  +", line)[:4] for line in lines]
    assert lines[-1] == "Counts are without special tokens."
    assert "premium" not in trained(*MANY).out.decode()
    wide = trained("compare", "日本語=en.txt", "es=es.txt", "--tokenizer", "gpt2").out.decode()
    assert "\n日本語  GPT-2 " in wide, "its characters have two columns each"
    assert "\nes      GPT-2 " in wide
    priced = trained(*MANY, "--price", "gpt2=1000", "--special-tokens").out.decode().splitlines()
    assert re.match(r"text .*  cost$", priced[2])
    assert re.match(r"en +GPT-2 +72 .* 0\.072000$", priced[3])
    assert re.match(r"en +t\.json .* –$", priced[4])
    assert "No special tokens around a text are known for GPT-2, t.json." in priced
    Path("a|b.txt").write_bytes(b"low")
    table = trained("compare", "a|b.txt", "--tokenizer", "t.json", "--markdown").out.decode()
    assert table.splitlines()[2].startswith("| text | tokenizer | tokens |")
    assert table.splitlines()[4].startswith("| a\\|b.txt | t.json | ")


def test_compare_numbers_tokenizers_of_one_name(trained: Shell, texts: dict[str, str]) -> None:
    long = "a" * 30
    for folder in "xy":
        Path(long, folder, long).mkdir(parents=True)
        Path(long, folder, long, "t.json").write_bytes(Path("t.json").read_bytes())
    names = ["t.json", "t.json", *(f"{long}/{folder}/{long}/t.json" for folder in "xy")]
    given = [word for name in names for word in ("--tokenizer", name)]
    expected = ["t.json", "t.json 2", *names[2:]]
    one = json.loads(trained("compare", "en.txt", *given, "--json").out)
    assert [row["tokenizer"] for row in one] == expected
    curves = trained("compare", "en.txt", *given, "--curves").out.decode().splitlines()[1:]
    assert {*(line.split(",")[0] for line in curves)} == {*expected}
    many = json.loads(trained(*MANY[:4], *given, "--price", "t.json=1", "--json").out)
    assert [row["tokenizer"] for row in many["tokenizers"]] == expected
    assert [row["cost"] is None for row in many["tokenizers"]] == [False, False, True, True]
    assert len(many["rows"]) == 4 * 4


def test_compare_of_many_texts_writes_a_page(trained: Shell, texts: dict[str, str]) -> None:
    relative = (*MANY, "--relative-to", "en")
    page = trained(*relative, "--html", "--link", "https://host.example/?a=1").out.decode()
    assert page.startswith("<!doctype html>")
    assert 'href="https://host.example/?a=1"' in page
    assert "Fairness and vocabulary" in page
    assert "2.60 (es)" in page


def test_compare_groups_the_lines_of_a_table_by_label(trained: Shell) -> None:
    rows = [("en", "a river"), ("es", "un río"), ("en", "the sea"), ("es", "el mar")]
    lines = ["lang,text", *map(",".join, rows)]
    Path("t.csv").write_text("\n".join(lines), encoding="utf-8")
    expected = bpeviz.compare(rows, {"t.json": bpeviz.read("t.json")}).rows
    trained("compare", "t.csv", "--tokenizer", "t.json", "--json", "--label", "lang")
    assert "4 rows of “text”, each encoded alone, grouped by the 2 labels" in trained.err
    assert [(row["text"], row["tokens"]) for row in json.loads(trained.out)["rows"]] == [
        (row.text, row.tokens) for row in expected
    ]
    trained("compare", "t.csv", "--tokenizer", "t.json", "--json", "--label", "")
    assert [row["text"] for row in json.loads(trained.out)["rows"]] == ["text"]
    several = ("--text", "text", "--text", "lang", "--relative-to", "text")
    trained("compare", "t.csv", "--tokenizer", "t.json", "--json", *several)
    assert [row["text"] for row in json.loads(trained.out)["rows"]] == ["text", "lang"]
    assert "4 rows, each encoded alone" in trained.err
    trained("compare", "t.csv", "--tokenizer", "t.json", "--label", "topic")
    assert_sentence(trained.sentence, ("t.csv", "topic", "lang, text", "--as text"))


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.csv", "t.tsv", "t.parquet", "t.log"])
def test_a_table_is_never_read_as_text_in_silence(trained: Shell, name: str) -> None:
    columns = {
        "id": [str(i) for i in range(8)],
        "lang": ["hi", "en"] * 4,
        "message": [f"नमस्ते दुनिया {'त' * i}" for i in range(8)],
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if name == "t.parquet":
        pyarrow.parquet.write_table(pyarrow.table(columns), name)
    elif name in ("t.csv", "t.tsv"):
        with open(name, "w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, columns, delimiter="\t" if name == "t.tsv" else ",")
            table.writeheader()
            table.writerows(rows)
    else:
        Path(name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    lines = "".join(f"{line}\n" for line in columns["message"])
    Path("lines.txt").write_text(lines, encoding="utf-8", newline="")
    as_table = [name, *(["--as", "table"] if name == "t.log" else [])]
    understood = f"{name}: 8 rows of “message”, each encoded alone. Not used: id, lang.\n"
    size = ("--vocab-size", "280", "--output")
    expected = trained("train", "lines.txt", *size, "-").out
    assert trained("train", *as_table, *size, "-").out == expected
    assert trained.err == understood
    assert trained("count", *as_table, "--output", "c.parquet").err == understood
    assert trained("train", "--counts", "c.parquet", *size, "-").out == expected
    trained("compare", *as_table, "--tokenizer", "t.json", "--json")
    assert "grouped by the 2 labels of “lang”. Not used: id." in trained.err
    compared = bpeviz.compare(
        {"hi": columns["message"][::2], "en": columns["message"][1::2]},
        {"t.json": bpeviz.read("t.json")},
    )
    tokens = [row["tokens"] for row in json.loads(trained.out)["rows"]]
    assert tokens == [row.tokens for row in compared.rows]
    assert trained("count", *as_table, "--scheduler", "tcp://a:1", "--output", "d").code == 2
    assert "--counts" in trained("train", "c.parquet", *size, "-").sentence


def test_training_on_several_texts_takes_those_of_labels_or_columns(trained: Shell) -> None:
    languages = {"en": ["the river", "the sea"], "es": ["el río", "el mar"]}
    rows = [{"lang": name, "text": line} for name in languages for line in languages[name]]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    Path("p.csv").write_text("en,es\nthe river,el río\nthe sea,el mar\n", encoding="utf-8")
    for name, lines in languages.items():
        Path(f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    how = ("--algorithm", "parity", "--vocab-size", "262", "--format", "bpeviz", "--output", "-")
    expected = trained("train", "en.txt", "es.txt", *how).out
    assert trained("train", "t.jsonl", *how).out == expected
    assert "grouped by the 2 labels" in trained.err
    assert trained("train", "p.csv", *how).out == expected
    assert trained.err.startswith("p.csv: 2 parallel texts, one per column: en, es; 2 rows")
    assert trained("train", "en.txt", "--text", "en", *how).code == 2


def test_compare_of_one_file_without_a_name_prints_its_metrics(trained: Shell) -> None:
    for name in ("a=b.txt", "table.csv"):
        Path(name).write_bytes(TEXT.encode())
    expected = trained("compare", "text.txt", "--tokenizer", "t.json").out
    assert trained("compare", "./a=b.txt", "--tokenizer", "t.json").out == expected
    as_text = ("table.csv", "--as", "text")
    assert trained("compare", *as_text, "--tokenizer", "t.json").out == expected
    train = ("--vocab-size", "260", "--output", "-")
    assert trained("train", *as_text, *train).out == trained("train", "text.txt", *train).out
    assert (
        trained("encode", *as_text, "--tokenizer", "t.json").out
        == trained("encode", "text.txt", "--tokenizer", "t.json").out
    )
    named_one = trained("compare", "a=text.txt", "--tokenizer", "t.json").out.decode()
    assert re.search(r"^a +t\.json +", named_one, re.MULTILINE)


def test_compare_leaves_out_files_of_folders_that_are_not_text(
    trained: Shell, texts: dict[str, str]
) -> None:
    Path("code/a.png").write_bytes(b"\xff\xd8")
    Path("code/bad.csv").write_bytes(b"en,es\na\n")
    for name in ("a", "b"):
        Path(f"code/sub/{name}.csv").write_bytes(b"en,es\na,b\n")
    assert trained(*MANY).code == 0
    for name in ("Left out: code/bad.csv, line 2", "code/sub/a.csv: 2 texts", "UTF-8: code/a.png"):
        assert name in trained.err
    names = [line.split("  ")[0] for line in trained.out.decode().splitlines()]
    assert "code/sub/a.csv: en" in names
    assert "code/sub/b.csv: en" in names
    assert b"code/a.png" not in trained.out
    trained("compare", "code=code", "--tokenizer", "gpt2")
    assert "code/bad.csv" in trained.out.decode(), "with a name, files are texts"
    only = Path("only")
    only.mkdir()
    (only / "a.png").write_bytes(b"\xff\xd8")
    trained("compare", "only", "--tokenizer", "gpt2")
    assert trained.sentence.startswith("No file is a text to compare. Left out, since they")


def test_compare_refuses_too_many_or_wrong_texts(
    trained: Shell, texts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"{number}=en.txt" for number in range(201)]
    assert trained("compare", *many[1:], "--tokenizer", "t.json").code == 0
    trained("compare", *many, "--tokenizer", "t.json")
    assert_sentence(trained.sentence, ("201", "200"))
    monkeypatch.setattr(limits, "COMPARED_SIZE", 0)  # of pages only
    assert trained("compare", "es.txt", "en.txt", "--tokenizer", "t.json").code == 0
    assert trained("compare", *MANY[1:4], "--curves", "--tokenizer", "t.json").code == 2


# --- Invalid files -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["train", "--merges", "3"],
        ["encode", "--tokenizer", "t.json"],
        ["compare", "--tokenizer", "t.json"],
        ["decode", "--tokenizer", "t.json", "--file"],
    ],
    ids=lambda command: command[0],
)
def test_unreadable_files_are_reported(trained: Shell, command: list[str]) -> None:
    Path("folder").mkdir()
    Path("latin").write_bytes("été".encode("latin-1"))
    for name, naming in {
        "folder": ("folder",),
        "latin": ("latin", "UTF-8", "byte 1 is E9"),
        "a\nb\udcff": ("a↵b⟨DCFF⟩",),
        "n\0l": ("n⟨0000⟩l",),
    }.items():
        assert_sentence(trained(*command, name).sentence, naming)
    if os.geteuid():  # root may read everything
        Path("text.txt").chmod(0)
        assert "Permission denied" in trained(*command, "text.txt").sentence


def test_version_is_that_of_the_library(shell: Shell) -> None:
    assert shell("--version").out.decode() == f"bpeviz {bpeviz.__version__}\n"


# --- Output --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "overwritten"),
    [
        ("train m/merges.txt --merges 1 --output m", "m/merges.txt"),
        ("train a.tiktoken.json --merges 1 --output a.tiktoken", "a.tiktoken.json"),
        ("encode text.txt --tokenizer m --output m/merges.txt", "m/merges.txt"),
        ("lookup --tokenizer m/vocab.json --output m/merges.txt", "m/merges.txt"),
        ("decode 1 --tokenizer a.tiktoken --output a.tiktoken.json", "a.tiktoken.json"),
        (
            "encode text.txt --chat --tokenizer m --output m/chat_template.jinja",
            "m/chat_template.jinja",
        ),
    ],
)
def test_no_command_overwrites_other_files_that_it_reads(
    shell: Shell, command: str, overwritten: str
) -> None:
    assert shell("train", "text.txt", "--merges", "1", "--output", "m").code == 0
    assert shell("train", "text.txt", "--merges", "1", "--output", "a.tiktoken").code == 0
    Path("m/chat_template.jinja").write_bytes(b"x")
    before = contents()
    assert shell(*command.split()).code == 2
    assert f"would overwrite an input, {overwritten}" in shell.err
    assert contents() == before


@pytest.mark.slow
def test_no_command_overwrites_the_file_of_standard_input(trained: Shell) -> None:
    with Path("text.txt").open("rb") as text:
        process = started("encode", "--tokenizer", "t.json", "--output", "text.txt", stdin=text)
        _, message = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "would overwrite an input, text.txt" in message.decode()
    assert Path("text.txt").read_bytes() == TEXT.encode()


def test_output_beside_an_input_replaces_an_old_file(trained: Shell) -> None:
    Path("gpt2").write_bytes(b"old")  # the published tokenizer is meant
    assert trained("encode", "text.txt", "--tokenizer", "gpt2", "--output", "gpt2").code == 0
    Path("-").write_bytes(b"old")
    assert trained("encode", "text.txt", "-", "--tokenizer", "t.json").code == 0
    assert Path("-").read_bytes() == b"old"


def test_new_output_has_the_default_mode(shell: Shell) -> None:
    Path("usual").touch()
    shell("train", "text.txt", "--merges", "1", "--output", "t.json")
    assert Path("t.json").stat().st_mode == Path("usual").stat().st_mode


def test_output_to_a_device_writes_to_it(trained: Shell) -> None:
    trained("encode", "text.txt", "--tokenizer", "t.json", "--output", "/dev/null")
    assert trained.code == 0
    assert Path("/dev/null").is_char_device()


# --- Processes: terminals, pipes, signals --------------------------------------------------------


def test_progress_prints_lines_if_standard_error_is_a_file(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Progress, "LINE_SECONDS", 0)
    with Progress(True).during("Training"):
        report("merges", 1_200, 8_000)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "Training …"
    assert lines[1] == "Training … 0 s, merges: 1,200 of 8,000"
    assert lines[2].startswith("Training: done after ")
    assert len(lines) == 3


def test_progress_is_shown_on_request(trained: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    trained("train", "text.txt", "--merges", "3", "--progress")
    lines = trained.err.splitlines()
    assert lines[0] == f"Training on {len(TEXT)} characters …"
    assert lines[1].startswith(lines[0].removesuffix(" …") + ": done after")
    assert lines[-1] == "Written to standard output: 256 bytes + 3 merges."
    assert trained("encode", "text.txt", "--tokenizer", "t.json").err == ""


def test_progress_updates_a_line_of_a_terminal_and_erases_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stderr", terminal := io.StringIO())
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with Progress(None).during("Training on [b]"):
        report("merges", 1_200, 8_000)
        while "Training on [b], merges: 1,200 of 8,000" not in terminal.getvalue():
            pass
    assert terminal.getvalue().endswith("\x1b[2K")  # erases the line
    assert not Progress(False).shown


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits.")
def test_output_is_whole_or_an_error(trained: Shell) -> None:
    """Python writes only a part, without a word, where it does not buffer."""
    import resource  # not on Windows

    Path("long.txt").write_text(TEXT * 60, encoding="utf-8")
    command = ["encode", "long.txt", "--json", "--tokenizer", "t.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    whole = trained(*command).out
    limit = len(whole) - 1
    limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
    with open("out", "wb") as out:
        process = started(*command, stdout=out, env=environment, preexec_fn=limited)
        _, message = process.communicate(timeout=120)
    assert (process.returncode, message) == (
        1,
        b"The output could not be written: File too large.\n",
    )
    assert Path("out").read_bytes() == whole[:limit]


@pytest.mark.parametrize(
    ("command", "source"),
    [
        ("encode FILE --tokenizer t.json", "large.txt"),
        ("compare FILE --tokenizer t.json", "-"),
        ("decode --file FILE --tokenizer t.json", "/dev/zero"),
        ("train FILE --merges 1 --output new.json", "/dev/zero"),
        ("train --counts FILE --merges 1 --output new.json", "-"),
    ],
)
def test_too_large_input_is_refused(
    trained: Shell, command: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/dev/zero").exists() and source == "/dev/zero":
        pytest.skip("This system has no /dev/zero.")
    monkeypatch.setattr(corpus_files, "MAX_TEXT", 3_000_000)
    monkeypatch.setattr(files, "MAX_COUNTS", 3_000_000)
    text = ("é" * 1_500_000 + "x").encode()
    Path("large.txt").write_bytes(text)
    trained(*command.replace("FILE", source).split(), text=text)
    assert "more than 3,000,000 bytes" in trained.sentence


def test_count_refuses_a_text_that_cannot_be_divided(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "MAX_BLOCK", 1_000_000)
    for options in (["--pattern", "gpt2"], ["--pattern", "none"]):
        shell("count", "-", "--output", "c.parquet", *options, text="a" * 4_000_000)
        assert "1,000,000 characters" in shell.sentence
    assert shell("count", "-", "--output", "c.parquet", text="a b" * 1_000_000).code == 0


@pytest.mark.slow
def test_closed_standard_streams_are_reported(trained: Shell) -> None:
    for command, end, says in (
        ("encode --tokenizer t.json", "<&-", "There is no standard input"),
        ("encode text.txt --tokenizer t.json", ">&-", "There is no standard output"),
    ):
        done = subprocess.run(
            ["sh", "-c", f'"$0" -m bpeviz {command} {end}', sys.executable],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 1
        assert done.stderr.startswith(says)
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_output_is_utf8_in_every_locale() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bpeviz", "count", "--help"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=120,
    )
    assert "…" in done.stdout.decode()


@pytest.mark.slow
def test_ctrl_c_stops_training_with_130(shell: Shell) -> None:
    process = started(
        "train", "--merges", "3", "--output", "t.json", "--progress", stdin=subprocess.PIPE
    )
    assert process.stdin
    assert process.stderr
    process.stdin.write(("word " * 9).encode() + os.urandom(300_000).hex().encode())
    process.stdin.close()
    process.stderr.readline()  # training has begun
    process.send_signal(signal.SIGINT)
    message = process.stderr.read().decode()
    assert process.wait(timeout=120) == 130
    assert message == "Stopped.\n"
    assert {path.name for path in Path().iterdir()} == {"text.txt"}


@pytest.mark.slow
@pytest.mark.parametrize("module", ["bpeviz.interrupts", "bpeviz.cli.arguments"])
def test_ctrl_c_stops_the_command_line_while_it_is_imported(module: str) -> None:
    process = started("encode", before=("-X", "importtime"), stdin=subprocess.PIPE)
    assert process.stderr
    while not process.stderr.readline().decode().rstrip().endswith(f" {module}"):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read().decode().splitlines()
    assert [line for line in rest if not line.startswith("import time:")] == ["Stopped."]
    assert process.wait(timeout=120) == 130


# --- Help ----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_readme_commands_print_the_documented_output(shell: Shell) -> None:
    Path("sample_texts").symlink_to(ROOT / "sample_texts")
    for readme in ("README.md", "bpeviz/corpus/README.md"):
        blocks = re.findall(r"```console\n(.*?)```", (ROOT / readme).read_text(), re.DOTALL)
        assert blocks
        for shown in (part for block in blocks for part in re.split(r"(?m)^\$ ", block)[1:]):
            line, _, printed = shown.replace("\\\n", "").partition("\n")
            assert run_as_shown(shell, line).rstrip() == printed.rstrip(), line


def test_encode_counts_the_tokens_of_each_row(trained: Shell) -> None:
    tokenizer = bpeviz.read("t.json")
    cells = ["low.", "", "lower\r\nlow ", " ", "new"]
    rows = [{"id": i, "text": cell} for i, cell in enumerate(cells)]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    counts = {i + 1: len(tokenizer.encode(cells[i])) for i in (0, 2, 4)}
    how = ("encode", "t.jsonl", "--text", "text", "--tokenizer", "t.json")
    assert trained(*how, "--count").out.decode().split() == [*map(str, counts.values())]
    median, largest = sorted(counts.values())[1:]
    more = sum(count > median for count in counts.values())
    trained(*how, "--json", "--limit", str(median))
    printed = json.loads(trained.out)
    assert {row["row"]: row["tokens"] for row in printed["rows"]} == counts
    assert printed["summary"] == {
        "rows": 3,
        "tokens": sum(counts.values()),
        "median": median,
        "95%": largest,
        f"more than {median}": more,
    }
    assert trained.err.endswith(f"95%: {largest}, more than {median}: {more}.\n")
    lines = "".join(f"{row},{count}\n" for row, count in counts.items())
    assert trained(*how, "--csv").out.decode().replace("\r", "") == f"row,tokens\n{lines}"
    chats = [["low.", "new"], ["lower"]]
    messages = [
        json.dumps({"messages": [{"role": "user", "content": text} for text in chat]})
        for chat in chats
    ]
    Path("t.jsonl").write_text("\n".join(messages), encoding="utf-8")
    trained("encode", "t.jsonl", "--text", "messages", "--tokenizer", "t.json", "--count")
    assert [*map(int, trained.out.split())] == [
        sum(len(tokenizer.encode(text)) for text in chat) for chat in chats
    ]
    assert trained(*how[:2], *how[4:], "--csv").code == 2
    assert trained(*how).code == 2
    assert trained(*how, "--count", "--lines").code == 2
    assert trained(*how, "--count", "--chat", "--text", "messages").code == 2
    assert "one column" in trained.err

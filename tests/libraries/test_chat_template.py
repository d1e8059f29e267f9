"""Chat templates of models, rendered in a sandbox."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers.gguf_files import Value, gguf_file
from helpers.refusals import refusal

from bpeviz.formats.chat_templates import chat_template
from bpeviz.libraries.chat_template import ChatTemplate, Conversation, conversation

TURNS = """{%- if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif -%}
{{ bos_token }}
{%- for message in messages %}
    {%- if tools %}{% continue %}{% endif %}
<|{{ message.role }}|>{{ message.content | trim }}<|end|>{{ {"é": 1} | tojson }}
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""


def applied(template: ChatTemplate, message: str, system: str = "") -> str:
    """Return the text for a message, or a conversation in JSON, after a system prompt."""
    return template.render(conversation(message, system))


def test_template_is_applied_to_one_message_of_a_user() -> None:
    template = ChatTemplate(TURNS, {"bos_token": "<s>"})
    for message in ("low", "", " 世界 <|user|> ", "two\nlines"):
        text = f'<s><|user|>{message.strip()}<|end|>{{"é": 1}}<|assistant|>'
        assert applied(template, message) == text


def test_system_prompt_precedes_the_message() -> None:
    source = (
        "{% for one in messages %}[{{ one.role }}]"
        "{% generation %}{{ one.content }}{% endgeneration %}{% endfor %}"
    )
    assert applied(ChatTemplate(source, {}), "low", "low") == "[system]low[user]low"
    refusal(applied, ChatTemplate(TURNS, {}), "low", "be short", naming="system")


def test_conversation_has_several_turns_and_ends_before_the_next_answer() -> None:
    template = ChatTemplate(TURNS, {"bos_token": "<s>"})
    turns = [("user", " a "), ("assistant", "b"), ("user", "\N{GRINNING FACE}")]
    messages = [{"role": role, "content": content} for role, content in turns]
    end = '<|end|>{"é": 1}'
    rest = f"<|user|>a{end}<|assistant|>b{end}"
    whole = template.render(conversation(json.dumps(messages)))
    assert whole == f"<s>{rest}<|user|>\N{GRINNING FACE}{end}<|assistant|>"
    assert template.render(conversation(json.dumps(messages[:2]))) == f"<s>{rest}"
    lone = template.render(conversation(r'[{"role": "user", "content": "\ud800"}]'))
    assert lone == f"<s><|user|>\ufffd{end}<|assistant|>"


@pytest.mark.parametrize(
    "text",
    [
        *("", "low", "7", "null", "[]", "[7]", "{}", '{"messages": []}', '{"messages": "a"}'),
        *('[{"content": "a"}]', '[{"role": 7}]', "[" * 100_000, "1" * 5_000),
    ],
)
def test_text_that_is_not_a_conversation_is_a_message(text: str) -> None:
    assert conversation(text) == Conversation([{"role": "user", "content": text}])


@pytest.mark.slow
def test_tools_are_rendered_where_the_template_takes_them() -> None:
    messages = [{"role": "user", "content": "a"}]
    given = conversation(json.dumps({"messages": messages, "tools": [{"name": "é"}]}))
    source = "{% if tools %}{{ tools | tojson }}{% endif %}{{ messages[0].content }}"
    assert ChatTemplate(source, {}).render(given) == '[{"name": "é"}]a'
    refusal(ChatTemplate("{{ messages[0].content }}", {}).render, given, naming="tools")
    template = ChatTemplate("plain", {}, "{{ tools[0].name }}")
    assert template.render(given) == "é"
    assert template.render(Conversation(messages)) == "plain"
    named = [{"name": "tool_use", "template": "with"}, {"name": "default", "template": "without"}]
    metadata: dict[str, Value] = {
        "tokenizer.chat_template": "without",
        "tokenizer.chat_template.tool_use": "with",
        "tokens": ["a"],
    }
    beside = {"chat_template.jinja": b"without", "tool_use.jinja": b"with"}
    for files in (settings(chat_template=named), {"model.gguf": gguf_file(metadata)}, beside):
        found = chat_template(files)
        assert found is not None
        assert (found.render(given), found.render(Conversation(messages))) == ("with", "without")


THINKING = (
    "{% set effort = effort or 'low' %}{{ effort }}"
    "{% for one in messages %}<{{ one.role }}>{{ one.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n"
    "{% endif %}{% endif %}{% if documents %}{{ documents[0].title }}{% endif %}"
)
TURN = [{"role": "user", "content": "a"}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({}, "low<user>a<assistant>"),
        ({"enable_thinking": True}, "low<user>a<assistant>"),
        ({"enable_thinking": False}, "low<user>a<assistant><think>\n\n</think>\n\n"),
        ({"effort": "high", "documents": [{"title": "d"}]}, "high<user>a<assistant>d"),
        ({"add_generation_prompt": False}, "low<user>a"),
    ],
)
def test_variables_reach_the_template_as_in_transformers(
    variables: dict[str, Any], text: str
) -> None:
    template = ChatTemplate(THINKING, {})
    for given in (variables, {"chat_template_kwargs": variables}):
        message = json.dumps({"messages": TURN, **given})
        assert template.render(conversation(message)) == text
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    standard = {"add_generation_prompt": True, "conversations": [TURN], "chat_template": THINKING}
    theirs, _ = utils.render_jinja_template(**standard | variables)
    assert theirs == [text]


@pytest.mark.parametrize(
    "given", [{"temperature": 0, "n": 1}, {"chat_template_kwargs": {"temperature": 0, "n": 1}}]
)
def test_variables_that_the_template_does_not_have_are_named(given: dict[str, Any]) -> None:
    template = ChatTemplate(THINKING, {})
    refusal(
        template.render,
        conversation(json.dumps({"messages": TURN, **given})),
        naming=("n", "temperature"),
    )
    refusal(
        applied,
        template,
        json.dumps({"messages": TURN, "chat_template_kwargs": 7}),
        naming="chat_template_kwargs",
    )


def test_message_is_a_conversation_if_it_is_json_with_roles() -> None:
    template = ChatTemplate(THINKING, {})
    given = json.dumps([*TURN, {"role": "assistant", "content": "b"}])
    assert applied(template, given, "s") == "low<system>s<user>a<assistant>b"
    assert applied(template, "[7]") == "low<user>[7]<assistant>"


def test_filter_for_json_has_the_arguments_of_transformers() -> None:
    source = "{{ {'b': 1, 'a': 'é'} | tojson(separators=(',', ':'), sort_keys=true) }}"
    assert applied(ChatTemplate(source, {}), "") == '{"a":"é","b":1}'
    assert applied(ChatTemplate("{{ ['é'] | tojson(true, 0) }}", {}), "") == '[\n"\\u00e9"\n]'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ bos_token", "end of template"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ cycler.__init__.__globals__.os.system('ls') }}", "unsafe"),
        ("{{ messages.append(1) }}", "unsafe"),
        ("{% include '/etc/passwd' %}", "loader"),
        ("{{ raise_exception('only tools') }}", "only tools"),
        ("{{ missing.name }}", "missing"),
        ("{% for i in range(10 ** 9) %}{% endfor %}", "Range too big"),
        ("{{ 'a' * 60_000 }}", "50,000"),
        ("{{ 'a' * 10 ** 11 }}", "memory"),
    ],
)
def test_failing_template_raises_a_message(source: str, reason: str) -> None:
    with pytest.raises(ValueError, match="chat template") as error:
        applied(ChatTemplate(source, {}), "low")
    assert reason in str(error.value)


@pytest.mark.thorough
def test_endless_template_is_stopped() -> None:
    loop = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"
    refusal(applied, ChatTemplate(loop, {}), "low", naming="seconds")


def settings(**values: object) -> dict[str, bytes]:
    return {"model/tokenizer_config.json": json.dumps(values).encode(), "tokenizer.json": b"{}"}


END = "<|endoftext|>"


def mapped(**values: object) -> dict[str, bytes]:
    """Return settings beside special_tokens_map.json, which lists of added tokens replace."""
    tokens = {"bos_token": "<s>", "eos_token": {"content": "</s>"}}
    given = settings(chat_template="{{ bos_token }}{{ eos_token }}", **values)
    return given | {"special_tokens_map.json": json.dumps(tokens).encode()}


def further(*names: str) -> dict[str, bytes]:
    return {f"additional_chat_templates/{name}.jinja": name.encode() for name in names}


@pytest.mark.slow
def test_template_is_found_beside_a_tokenizer() -> None:
    token = {"content": "<s>", "lstrip": False}
    named = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "first"}]
    for files, text in (
        (settings(chat_template="{{ bos_token }}", bos_token=token, pad_token=None), "<s>"),
        (settings(chat_template=named), "first"),
        (settings(chat_template=named[:1]), "tools"),
        (settings(chat_template="old") | {"chat_template.jinja": b"new"}, "new"),
        ({"chat_template.jinja": b"alone"}, "alone"),
        (settings(chat_template={"default": "of two", "rag": "x"}), "of two"),
        (settings(chat_template=[*named, {"name": "default", "template": "last"}]), "last"),
        (settings(chat_template="{{ boi }}", extra_special_tokens={"boi": "<s>"}), "<s>"),
        (settings(chat_template="{{ eos_token }}", tokenizer_class="GPT2Tokenizer"), END),
        (mapped(), "<s></s>"),
        (mapped(added_tokens_decoder={}, eos_token="<e>"), "<e>"),
        (settings(chat_template=named) | further("default"), "default"),
    ):
        template = chat_template(files)
        assert template is not None
        assert applied(template, "low") == text


def test_template_is_found_in_a_gguf_file() -> None:
    metadata: dict[str, Value] = {
        "tokenizer.chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}",
        "tokens": ["<s>", "</s>"],
        "bos_token_id": 0,
    }
    content = gguf_file(metadata)
    template = chat_template({"model.gguf": content})
    assert template is not None
    assert applied(template, "low") == "<s>low"
    assert chat_template({"model.gguf": gguf_file({"tokens": ["a"]})}) is None
    for size in range(4, len(content), 7):
        assert chat_template({"model.gguf": content[:size]}) is None


@pytest.mark.parametrize(
    "files",
    [
        {},
        settings(),
        settings(chat_template=7),
        settings(chat_template=[]),
        settings(chat_template=[7, {"name": [], "template": "x"}, {"name": "default"}]),
        {"tokenizer_config.json": b"[" * 100_000},
        {"tokenizer_config.json": b"[1]"},
        {"tokenizer_config.json": b"no JSON"},
        {"chat_template.jinja": b"\xff"},
        {"chat_template.jinja": b"x" * 3_000_000},
    ],
)
def test_files_without_a_valid_template_have_none(files: dict[str, bytes]) -> None:
    assert chat_template(files) is None

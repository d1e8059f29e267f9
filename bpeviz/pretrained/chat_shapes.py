"""Chat templates of published tokenizers whose files contain none, in words of this project.

They write the tokens that the publishers' own programs write: `llama-models` 0.3.0 and
`mistral-common` 1.13.1, without tools and without contents of several parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from bpeviz.libraries.chat_template import ChatTemplate


@dataclass(frozen=True)
class ChatShape:
    """A chat template for a published tokenizer.

    Attributes:
        template: The source in Jinja.
        about: Where it differs from the model's own files, in sentences.
        bos: The token that begins a text, or "".
    """

    template: str
    about: str
    bos: str = ""

    @property
    def chat_template(self) -> ChatTemplate:
        """The template with its variables."""
        source = f"{_TEXT_ALONE}{self.template}"
        return ChatTemplate(source, {"bos_token": self.bos}, about=self.about)


_TEXT_ALONE = """
{%- for message in messages if message.content is not string or message.tool_calls %}
{{ raise_exception("only the model's own file takes tools and contents of several parts") }}
{%- endfor %}
"""

QWEN = ChatShape(
    """
{%- for message in messages %}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}
{% if add_generation_prompt %}
<|im_start|>assistant
{% endif %}
""",
    "In the shape of ChatML as Qwen uses it. Qwen’s own file adds a system message where you give "
    "none: open it to see.",
)

LLAMA_3 = ChatShape(
    """
{{- bos_token }}
{%- for message in messages + [{"role": "assistant"}] * add_generation_prompt %}
{{ "<|start_header_id|>" ~ message.role ~ "<|end_header_id|>\\n\\n" }}
{%- if message.content is defined %}{{ message.content | trim }}<|eot_id|>{% endif %}
{%- endfor %}
""",
    "In the shape of Llama 3 (3.0). The own files of Llama 3.1 and later add a system message with "
    "dates: open one to see.",
    "<|begin_of_text|>",
)

_MISTRAL = """
{{- bos_token }}
{%- set turns = messages | rejectattr("role", "equalto", "system") | list %}
{%- set system = messages | selectattr("role", "equalto", "system") | list %}
{%- set system = system | map(attribute="content") | join("\\n\\n") %}
{%- for message in turns %}
    {%- if message.role != ("user", "assistant")[loop.index0 % 2] %}
        {{- raise_exception("after a system prompt, user and assistant take turns") }}
    {%- elif message.role == "user" %}
        {{- BEGIN }}{{ system ~ "\\n\\n" if system and loop.index0 == PLACE }}
        {{- message.content }}{{ END }}
    {%- else %}
        {{- ANSWER }}</s>
    {%- endif %}
{%- endfor %}
"""


def _mistral(about: str, begin: str, end: str, answer: str, place: str) -> ChatShape:
    """Return a template of Mistral.

    Args:
        about: Where it differs from the model's own files.
        begin: The marker before a user's message.
        end: The marker after it.
        answer: The expression of an answer.
        place: The expression of the user's message that contains the system prompt.
    """
    parts = {"BEGIN": f'"{begin}"', "END": f'"{end}"', "ANSWER": answer, "PLACE": place}
    template = _MISTRAL
    for name, part in parts.items():
        template = template.replace(name, part)
    return ChatShape(template, about, "<s>")


MISTRAL_7B = _mistral(
    "In the shape of Mistral 7B, whose markers [INST] and [/INST] are plain text, with the system "
    "prompt in the first user’s message. Some of its own files take no system prompt: open one to "
    "see.",
    "[INST] ",
    " [/INST]",
    '" " ~ message.content',
    "0",
)


def _version_3(model: str) -> ChatShape:
    about = (
        f"In the shape of {model} as mistral-common writes it, with the system prompt in the last "
        "user’s message. The model’s own file also writes tools: open it to see."
    )
    last_user = "turns | length - 1 - (turns | length + 1) % 2"
    return _mistral(about, "[INST]", "[/INST]", 'message.content.rstrip(" ")', last_user)


MISTRAL_7B_V3, MISTRAL_NEMO = _version_3("Mistral 7B v0.3"), _version_3("Mistral Nemo")

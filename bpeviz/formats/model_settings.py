"""The settings of a model beside its vocabulary, as `transformers` 5.24 reads them.

Source: `tokenization_utils_base.py`, `tokenization_utils_tokenizers.py` and the classes of
`models/*/tokenization_*.py` in huggingface/transformers.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import regex

from bpeviz.text import clean

SETTINGS_FILES = (
    "tokenizer_config.json",
    "config.json",
    "added_tokens.json",
    "special_tokens_map.json",
)
"""The files with settings of `transformers` beside a vocabulary."""

_LARGEST_SETTINGS = 2_000_000

_ROLES = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
"""The names of special tokens that every class knows. Others end in _token as well."""

ADDED_FLAGS = ("lstrip", "normalized", "rstrip", "single_word", "special")


@dataclass(frozen=True)
class Family:
    """Classes of tokenizers with the same settings.

    Attributes:
        title: The model.
        names: An expression for their names, without “Tokenizer”, and one for types of models.
        tokens: The special tokens by role, unless the settings name others.
        before: The roles of the tokens that a template adds before a text. Where a family has
            none, the settings add_bos_token and add_eos_token decide.
        after: Those after a text.
    """

    title: str
    names: tuple[str, str]
    tokens: Mapping[str, str]
    before: Sequence[str] = ()
    after: Sequence[str] = ()

    def names_it(self, name: str) -> bool:
        """Return whether this is the name of one of the classes or types."""
        names = rf"(?:{self.names[0]})Tokenizer(?:Fast)?|(?:{self.names[1]})"
        return regex.fullmatch(names, name) is not None


BERT_TOKENS = ("[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]")

# fmt: off
GPT2 = Family(
    "GPT-2",
    ("GPT2|CodeGen",
     "gpt2|gpt_neo|gptj|opt|codegen|phi|starcoder2|dbrx|emu3|jais2|blip-2|instructblip(?:video)?|"
     "hyperclovax_vision_v2"),
    dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>"),
)
BERT = Family(
    "BERT",
    ("(?:Distil|Mobile|Squeeze|Conv|Retri)?Bert|Electra|LayoutLM|Lxmert|Realm",
     "(?:distil|mobile|squeeze|conv|retri|megatron-|nomic_|visual_)?bert|electra|layoutlm|lxmert|"
     "align|bark|blip|bros|chinese_clip|ernie|flava|git|(?:mm-)?grounding-dino|tvp|vilt"),
    dict(zip(_ROLES[2:], BERT_TOKENS, strict=True)), ("cls_token",), ("sep_token",),
)
# fmt: on

GENERIC = regex.compile(r"|(?:PreTrained)?Tokenizer(?:s?Backend|Fast)?|PythonBackend")
"""Names of classes that do not say of which model they are."""

BACKEND = regex.compile(
    "EvollaModel|arctic|aria|beam|bigbird_pegasus|camembertv2-base|canary|chatlm|cohere_asr|"
    "ernie4_5|ernie4_5_moe|flex_olmo|fuyu|glm|glm4|glm4_moe|glm4_moe_lite|glm4v|glm4v_moe|"
    "glm_image|glmasr|got_ocr2|gpt_bigcode|gradium_phonon_tts|granite|granitemoe|"
    "granitemoehybrid|granitemoeshared|h2ovl_chat|hyperclovax|hyperclovax_vlm|internlm2|"
    "internlm3|iquestcoder|jamba|kimi_k25|kimi_linear|kosmos-2|llava|llava_next|"
    "mimo_v2_flash|minicpm3|minicpm_ocr|minicpmv|minicpmv4_6|minicpmv4_7|minimax_m2|"
    "ministral|ministral3|mistral|mistral3|mistral_large4|mixtral|modernbert|"
    "modernbert-decoder|molmo|molmo2|nemo_speechlm|nemotron|nvfp4|nystromformer|olmo2|olmo3|"
    "olmo_hybrid|omniasr|opencua|openvla|paddleocr_vl|pegasus_x|persimmon|phi3|phi3_v|phimoe|"
    "pix2struct|pixtral|pocket_tts|smolvlm|stablelm|step3_vl|umt5|vipllava|voxtral|"
    "voxtral_realtime|xlm-roberta-xl"
)
"""Types of models whose tokenizer.json is applied as it is, whatever class the settings name."""

_FORCED = regex.compile(r"qwen2|qwen3_5(?:_moe(?:_text)?)?|qwen4_exp|hyperclovax_vision_v2")
"""Types of models whose own class is taken, whatever class the settings name."""


@dataclass(frozen=True)
class ModelSettings:
    """The settings of a tokenizer beside its vocabulary.

    Attributes:
        named_in: The file that names the class of the tokenizer or the type of the model, or "".
        name: This class or type, or "".
        family: The family of this class, or the one that was assumed, or None.
        is_known: Whether the settings name the family.
        values: The settings by name.
        tokens: The special tokens by role, such as "bos_token".
        added: The added tokens as in a tokenizer.json, without ids.
    """

    named_in: str = ""
    name: str = ""
    family: Family | None = None
    is_known: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    added: Sequence[Mapping[str, Any]] = ()

    @property
    def adds_space(self) -> bool:
        """Whether encoding puts a space before a text."""
        return self.flag("add_prefix_space", False) is True

    def flag(self, name: str, default: bool | None) -> bool | None:
        """Return a setting that is true, false or missing."""
        value = self.values.get(name)
        return value if isinstance(value, bool) else default

    def around(self, ids: Collection[str]) -> tuple[list[str], list[str]]:
        """Return the special tokens that a model expects before and after a text.

        Args:
            ids: The tokens that have an id. If another one is expected, there is no template.
        """
        if self.family is None:
            return [], []
        before, after = self.family.before, self.family.after
        if not after:
            before, after = (
                [role] * (self.values.get(f"add_{role}") is True and role in self.tokens)
                for role in _ROLES[:2]
            )
        first, last = ([self.tokens.get(role, role) for role in side] for side in (before, after))
        return (first, last) if {*first, *last} <= {*ids} else ([], [])


def model_settings(
    files: Mapping[str, bytes], default: Family | None = None, entries: Collection[str] = ()
) -> ModelSettings:
    """Return the settings in the files beside a vocabulary; invalid values count as missing.

    Args:
        files: The files.
        default: The family if the settings do not name one.
        entries: The vocabulary. Of the default family, only special tokens in it count.
    """
    ours, model = (settings_in(files, name) for name in SETTINGS_FILES[:2])
    classes = ours.get("tokenizer_class"), model.get("tokenizer_class") or model.get("model_type")
    named_in, name = next(
        (
            (file, value)
            for file, value in zip(SETTINGS_FILES[:2], classes, strict=True)
            if isinstance(value, str) and value.isprintable()
        ),
        ("", ""),
    )
    kind = model.get("model_type")
    if isinstance(kind, str) and (BACKEND.fullmatch(kind) or _FORCED.fullmatch(kind)):
        named_in, name = SETTINGS_FILES[1], kind
    families = (GPT2, BERT) if default is None else (default,)
    family = next((family for family in families if family.names_it(name)), None)
    is_known = family is not None
    family = family or default
    values, extra, others = _merged(ours, settings_in(files, "special_tokens_map.json"))
    listed = _listed(values, extra, settings_in(files, "added_tokens.json"))
    defaults = {} if family is None else family.tokens
    values = {k: v for k, v in defaults.items() if is_known or v in entries} | values
    more = {role: token for role, token in values.items() if role.endswith("_token")}
    named = {role: values.get(role) for role in _ROLES} | more | others
    contents = {role: _content(token) for role, token in named.items()}
    tokens = {role: content for role, content in contents.items() if content is not None}
    return ModelSettings(
        named_in, name, family, is_known, values, tokens, [*_added(listed, named, extra)]
    )


def _merged(
    values: Mapping[str, Any], legacy: Mapping[str, Any]
) -> tuple[dict[str, Any], Sequence[Any], dict[str, Any]]:
    """Return the settings, and further special tokens without and with a role.

    Args:
        values: The settings.
        legacy: Those of special_tokens_map.json, which count if the settings list no added tokens.
    """
    merged = dict(values)
    extra = merged.pop("extra_special_tokens", None) or merged.get("additional_special_tokens")
    others = extra if isinstance(extra, dict) else {}
    extra = None if others else extra
    if "added_tokens_decoder" not in values:
        more = legacy.get("extra_special_tokens") or []
        if isinstance(more, dict):
            others = others | more
        elif isinstance(more, list):
            extra = [*(extra if isinstance(extra, list) else ()), *more]
        extra = extra or legacy.get("additional_special_tokens")
        for key, value in legacy.items():
            if key in _ROLES or not isinstance(values.get(key), str):
                merged[key] = value | {"special": True} if isinstance(value, dict) else value
    return merged, extra if isinstance(extra, list) else (), others


def _listed(
    values: Mapping[str, Any], extra: Sequence[Any], old: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the added tokens by content: those of the settings, or of added_tokens.json."""
    listed = values.get("added_tokens_decoder")
    if "added_tokens_decoder" in values:
        given = listed.items() if isinstance(listed, dict) else ()
        by_id = {int(n): token for n, token in given if regex.fullmatch("[0-9]{1,7}", n)}
    else:
        named = [values.get(role) for role in _ROLES] + [*extra]
        # Objects of tokenizer_config.json are not compared with these names.
        special = {
            _content(token)
            for token in named
            if not (isinstance(token, dict) and "__type" in token)
        }
        by_id = {
            number: {"content": name, "special": name in special, "normalized": name not in special}
            for name, number in old.items()
            if type(number) is int
        }
    tokens = [_token(token) for _, token in sorted(by_id.items()) if isinstance(token, dict)]
    return {token["content"]: token for token in tokens if token is not None}


def _added(
    listed: Mapping[str, dict[str, Any]], named: Mapping[str, Any], extra: Sequence[Any]
) -> Iterator[dict[str, Any]]:
    """Yield the added tokens in the order in which they get their ids.

    Args:
        listed: Those with ids in the settings.
        named: The special tokens by role.
        extra: Special tokens without a role.
    """
    contents = {_content(token) for token in named.values()}
    added = dict(listed)
    seen: set[tuple[Any, ...]] = set()
    for value in (*named.values(), *extra):
        token = _token(value)
        if token is None or token["content"] in listed:
            continue
        key = isinstance(value, str), *token.values()
        if key not in seen:
            seen.add(key)
            added[token["content"]] = token
    for name, token in added.items():
        special = token["special"] or name in contents
        normalized = not special if token["normalized"] is None else token["normalized"]
        yield token | {"special": special, "normalized": normalized}


def _token(value: Any) -> dict[str, Any] | None:
    """Return an added token, as in a tokenizer.json but without an id, or None."""
    content = _content(value)
    if content is None:
        return None
    given = value if isinstance(value, dict) else {"special": True}
    flags: dict[str, Any] = {flag: given.get(flag) is True for flag in ADDED_FLAGS}
    flags["normalized"] = None if given.get("normalized") is None else flags["normalized"]
    return flags | {"content": content}


def _content(value: Any) -> str | None:
    """Return the text of a special token, which may be an object, or None."""
    content = value.get("content") if isinstance(value, dict) else value
    is_valid = isinstance(content, str) and bool(content) and content == clean(content)
    return content if is_valid else None


def settings_in(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Return the JSON object of a file of settings, or {}."""
    content = files.get(name, b"{}")
    try:
        settings = json.loads(content) if len(content) <= _LARGEST_SETTINGS else {}
    except (ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}

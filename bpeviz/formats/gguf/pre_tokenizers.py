r"""The pre-tokenizers that `tokenizer.ggml.pre` names, with the expressions of llama.cpp.

Source: `llm_tokenizer_bpe` and `llama_vocab::impl::load` in `src/llama-vocab.cpp` of
ggml-org/llama.cpp. A text is split by each expression in turn; the matches and the text between two
matches are pieces for the next one.

The definitions follow llama.cpp where it simplifies those of the models, as in `[^a-z]` for capital
letters. It treats all white space alike, and \p{L}, \p{M}, \p{N}, \p{P}, \p{S} as Unicode does.
"""

from __future__ import annotations

from dataclasses import dataclass

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_CONTRACTIONS = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_SYMBOLS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"


def _llama3(digits: str = r"\p{N}{1,3}", spaces: str = _SPACES) -> str:
    return rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}|{_SYMBOLS}|{spaces}"


_LLAMA3, _QWEN2 = _llama3(), _llama3(r"\p{N}")


def _cased(letter: str, contractions: str, digits: str) -> str:
    """Return an expression that splits before a capital letter after small ones."""
    upper, lower = f"((?={letter})([^a-z]))", f"((?={letter})([^A-Z]))"
    first = r"[^\r\n\p{L}\p{N}]?"
    return (
        rf"{first}{upper}*{lower}+{contractions}|{first}{upper}+{lower}*{contractions}|{digits}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
    )


_OPTIONAL = _CONTRACTIONS + "?"


def _uncased(digits: str) -> str:
    letters = rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+{_OPTIONAL}"
    return rf"{letters}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"


_GPT4O = _cased(r"[\p{L}]", _OPTIONAL, r"\p{N}{1,3}")
_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""


def _deepseek_words(symbols: str, spaces: str = _SPACES) -> str:
    words = r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    return rf"{_PUNCTUATION}[A-Za-z]+|{words}|{symbols}|{spaces}"


_DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    _deepseek_words(r" ?[\p{P}\p{S}]+[\r\n]*"),
)
_CJK = r"[一-龥ࠀ-一가-\uD7FF&&[^\s]]+"
_EUROPEAN_LETTERS = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽ"
    "ᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-"
    "Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-"
    "ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)
_DIGITS_FROM_RIGHT = r"\P{N}*\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
"""Threes from the right; the first of them also contains the text before."""

_SENTENCES = r" ?[^(\s|.,!?…。，、।۔،)]+"
_DIGITS_FIRST = (r"\p{N}", _GPT2)
LINES = r"[^\n]+|[\n]+"


@dataclass(frozen=True)
class GgufPreTokenizer:
    """A pre-tokenizer of llama.cpp.

    Attributes:
        expressions: The expressions that split a text, in turn.
        ignore_merges: Whether a piece that is a token is not merged.
        adds_bos: Whether models expect the first special token before a text.
        adds_sep: Whether they expect the separator after it.
    """

    expressions: tuple[str, ...]
    ignore_merges: bool = False
    adds_bos: bool = False
    adds_sep: bool = False


def _named(names: str, *expressions: str, **flags: bool) -> dict[str, GgufPreTokenizer]:
    """Return a pre-tokenizer under each of its names."""
    return dict.fromkeys(names.split(), GgufPreTokenizer(expressions, **flags))


PRE_TOKENIZERS: dict[str, GgufPreTokenizer] = {
    **_named("default", r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]"),
    **_named(
        "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
        _LLAMA3,
        ignore_merges=True,
        adds_bos=True,
    ),
    **_named("dbrx smaug-bpe glm4 chatglm-bpe", _LLAMA3),
    **_named(
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert mpt "
        "olmo jais trillion exaone4 granite-docling",
        _GPT2,
    ),
    **_named("jina-v1-en jina-v2-code roberta-bpe", _GPT2, adds_sep=True),
    **_named(
        "qwen2 deepseek-r1-qwen stablelm2 megrez hunyuan kormo f2llmv2 solar-open grok-2", _QWEN2
    ),
    **_named(
        "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", *_DIGITS_FIRST
    ),
    **_named("deepseek-v3 hunyuan-dense joyai-llm hy_v4", *_DEEPSEEK),
    **_named(
        "deepseek-llm",
        r"[\r\n]",
        rf"\s?[{_EUROPEAN_LETTERS}]+",
        r"\s?[!-/:-~！-／：-～‘-‟、。]+",
        r"\s+$",
        _CJK,
        r"\p{N}+",
    ),
    **_named("deepseek-coder", r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK, r"\p{N}"),
    **_named("falcon", r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"),
    **_named("poro-chat bloom gpt3-finnish", _SENTENCES),
    **_named("viking", _SENTENCES, r"\p{N}"),
    **_named("tekken", _cased(r"[\p{L}]", "", r"\p{N}"), ignore_merges=True, adds_bos=True),
    **_named("gpt-4o llama4 kanana2 talkie minimax-m2", _GPT4O),
    **_named(
        "granite-embed-multi-97m",
        _cased(r"[\p{L}\p{M}]", _OPTIONAL, r"\p{N}{1,3}"),
        ignore_merges=True,
    ),
    **_named("tiny_aya cohere2moe", _DIGITS_FROM_RIGHT, _uncased(r"\p{N}{1,3}")),
    **_named(
        "youtu",
        "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+",
        _uncased(r"\p{N}"),
        ignore_merges=True,
    ),
    **_named(
        "chameleon",
        "<sentinel:[0-9]+>",
        "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
        r"([\t\n]|    |  )",
        r"\p{N}",
        r"[\p{P}!-/:-@\[-`{-~]",
        _GPT2,
        adds_bos=True,
    ),
    **_named("superbpe", r"\p{N}+", "(?=([0-9]{3})+(?![0-9]))"),
    **_named(
        "bailingmoe bailingmoe2 llada-moe",
        r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        rf"|{_SYMBOLS}|\s*[\r\n]|\s+(?!\S)|\s+",
    ),
    **_named("seed-coder", _QWEN2.replace(_SYMBOLS, r" ?[^\s\p{L}\p{N}\r\n]+")),
    **_named(
        "qwen35",
        _QWEN2.replace(r"]?\p{L}+", r"]?[\p{L}\p{M}]+").replace(
            r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]"
        ),
    ),
    **_named("ufakzeka", _QWEN2.removeprefix(f"{_CONTRACTIONS}|")),
    **_named("laguna", LINES, _QWEN2),
    **_named("minicpm5", r"\p{N}{1,3}", _llama3(r"\p{N}+"), ignore_merges=True),
    **_named(
        "jais-2",
        _llama3(
            spaces=r"\s*[\r\n]+|"
            + "".join(rf"\s{{{2**power}}}(?!\S)|" for power in range(9, 1, -1))
            + r"\s{1,2}(?!\S)|\s{1}"
        ),
    ),
    **_named(
        "spark2_5",
        *_DEEPSEEK[:2],
        _deepseek_words(r" ?[\p{P}\p{S}]+", r"[\r\n]|\s+(?!\S)|\s+"),
        r"\p{N}",
    ),
    **_named(
        "exaone-moe",
        rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+"
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+",
    ),
    **_named(
        "kimi-k2",
        r"\p{Han}+|[^\r\n\p{L}\p{N}]?[\p{L}&&[^\p{Han}]]+"
        rf"{_OPTIONAL}|\p{{N}}{{1,3}}|{_SYMBOLS}|{_SPACES}",
    ),
    **_named(
        "afmoe",
        _DIGITS_FROM_RIGHT,
        "[一-鿿㐀-䶿豈-\ufaff\u3040-ゟ゠-ヿ･-ﾟ⼀-⿟เ-\u0e7f\u0e80-\u0effក-\u17ffက-႟ꩠ-ꩿꧠ-꧿"
        "가-\ud7afᄀ-ᇿ]+",
        _DEEPSEEK[2],
    ),
}
"""The pre-tokenizers by the name in a file."""

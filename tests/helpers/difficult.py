"""A hundred texts that are difficult for tokenizers.

They contain only characters from old versions of Unicode. Each library has its own table of
letters, and these tables differ for newer characters.
"""

from __future__ import annotations

DIFFICULT = (
    # Empty and very short texts
    "",
    " ",
    "\n",
    "a",
    "é",
    "👍",
    "\0",
    # Runs of white space, of all kinds
    "  ",
    "    four before",
    "four behind    ",
    "a  b   c    d",
    "\t\ttabs\tand \t spaces",
    "one\ntwo\n\nfour\n\n\n",
    "\n\n\nthree before",
    "Windows\r\nline\r\n\r\nends\r\n",
    "old\rMacintosh\r\rends\r",
    " \n \r\n  \n\t\n x",
    "no-break\u00a0space\u202fand narrow\u2009thin\u3000ideographic",
    "line\u2028separator\u2029paragraph\x85next",
    "vertical\x0btab form\x0cfeed \x1c\x1d\x1e\x1f",
    "zero\u200bwidth\u2060joined\ufeffmark",
    " " * 300,
    "\n" * 70 + "x",
    "x" + " " * 129 + "y",
    # Control characters
    "NUL\0in\0between",
    "\x01\x02\x03\x07\x08\x1b[31mred\x1b[0m\x7f",
    "\x80\x81\x9f\xa0\xad",
    # Words, contractions, hyphens
    "don't can't we've I'll you're she'd it's I'm",
    "DON'T CAN'T WE'VE I'LL YOU'RE SHE'D IT'S I'M",
    "’s ’t ‘quoted’ “quoted” 'quoted' ''s '' ' 'x",
    "'s't're've'm'll'd",
    "'ſ 'K 's",  # a long s and the kelvin sign, whose case variants include S and K
    "state-of-the-art co-operation snake_case CamelCase HTTPServer2Go iPhone15s",
    "U.S.A. e.g. 3.50 ... …so Mr. Smith? Yes! No?! “Well.” Then",
    "the low lower lowest slow slower slowest newest widest",
    "lowlowlowlowlow",
    # Digits and formulas
    "0 12 345 6789 01234567890123456789",
    "1,234,567.89 $12.40 100% 3×4=12 −5 +49 (30) 1e-9 0x1F",
    "٠١٢٣٤٥٦٧٨٩ ०१२३ 〇一二三 Ⅷ ½ ² ³ ₄ ①",
    "１２３ＡＢＣ　ａｂｃ",
    "2026-11-21T08:10:00Z 192.168.0.1 ::1",
    # Signs
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "###hello ##a #b",
    "a##b ## ##",
    "@@ </w> a</w> low</w> ▁ ▁the Ġ Ġt Ċ",
    "\\n \\u0041 \\ \\\\ %s {0} $1 ${x}",
    "<b>bold</b> & &amp; <script>alert(1)</script>",
    "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β → ∑∫√∞≈≠≤",
    "── │ ┌─┐ ░▒▓█ ← ↑ → ↓ ★☆♠♥",
    "€£¥₹₽¢§¶©®™°µ¿¡«»‹›„“”‚‘’–—",
    # Names of special tokens and of bytes
    "<|endoftext|>",
    "a<|endoftext|>b <|end|> <|endofprompt|>",
    "<unk> [UNK] [CLS] [SEP] [PAD] [MASK] <s> </s> <pad>",
    "<0x41> <0xC3><0xA9> <0x0A>",
    "<|fim_prefix|><|im_start|>user\nhi<|im_end|>",
    "<|endoftext|",
    # Accents: composed, decomposed, stacked, alone
    "café naïve Ångström coöperate",
    "cafe\u0301 nai\u0308ve A\u030angstro\u0308m",
    "e\u0301\u0323 \u1ec7 e\u0323\u0302",
    "Z\u0351\u036b\u0343a\u0323\u0301\u0308l\u0334g\u0337\u0321o\u0338\u0322",
    "\u0301",
    " \u0301a",
    "a \u0301\u0302 b",
    "\u20dd\u20e3 1\ufe0f\u20e3 *\ufe0f\u20e3",
    "İstanbul ISPARTA ılık İİ i̇",
    "Straße STRASSE ẞ ﬁ ﬂ ﬀ ﬆ ǆ ǅ Ǆ",
    "ΟΔΥΣΣΕΥΣ Ὀδυσσεύς σς Σ",
    # Emoji
    "👋 👋🏽 👍🏿👍",
    "👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🏴‍☠️ ❤️‍🔥",
    "🇩🇪🇫🇷🇺🇦 🇩 🇪",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "😀😃😄😁😆😅😂🤣" * 4,
    "\u200d \u200da ‍👩 ☃ ☃️ ☎︎",
    # Scripts
    "Съешь ещё этих мягких французских булок, да выпей чаю. И\u0306",
    "Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί",
    "Հայերեն გამარჯობა ᚠᛇᚻ᛫ᛒᛦᚦ Ⲁⲗⲏ",
    "敏捷的棕色狐狸跳过了懒狗。他说：“你好！”「はい」",
    "いろはにほへと ちりぬるを カタカナ ﾊﾝｶｸ がぎぐ か\u3099き\u3099",
    "다람쥐 헌 쳇바퀴에 타고파 \u1112\u1161\u11ab\u1100\u116e\u11a8",
    "ธรรมชาติของภาษาไทยไม่มีวรรค ກຂຄ ខ្មែរ",
    "क्षत्रिय हिन्दी में लिखा हुआ। தமிழ் నమస్తే ಕನ್ನಡ বাংলা ક્ષ",
    "བོད་སྐད་ မြန်မာ ไทย ລາວ ᠮᠣᠩᠭᠣᠯ",
    "ሰላም ꯃꯤꯇꯩ ᓄᓇᕗᑦ ᏣᎳᎩ ⵜⴰⵎⴰⵣⵉⵖⵜ",
    "Tiếng Việt có dấu: ăâđêôơư ẳẵặểễệ",
    "𐍈𐌲𐌿𐍄 𝕳𝖊𝖑𝖑𝖔 𝟘𝟙𝟚 𠀀𠀁 𒀀",
    # From right to left
    "שלום עולם שָׁלוֹם",
    "مرحبا بالعالم مُحَمَّد ۱۲۳ لا ﷺ",
    "left \u202bright\u202c \u200fמימין\u200e left \u2067שלום\u2069 123",
    # Noncharacters, private use and other unusual code points
    "\ufffd \ufffe\uffff \U0010ffff \ue000",
    "\ud7ff\ue000 \U00010000",
    "\ufe0e\ufe0f\u034f\u061c\u180e",
    # Long runs
    "a" * 1_000,
    "ab" * 400,
    "é" * 300,
    "👍" * 150,
    "aB1 é\n" * 60,
    "x" * 128 + "y" + "x" * 129,
    "漢字" * 100,
    "." * 257 + "!?" * 50,
    # Excerpts as in files
    "def f(x):\n    return {\n        'a': [1, 2.5, None],\n\t}  # done\n",
    '{"key": "va\\"lue", "n": [1, -2e3, null], "u": "\\u00e9"}\n',
    "https://example.org/a?b=c&d=%20#e me@example.org /usr/bin/x -rf *.py C:\\dir",
)

if len({*DIFFICULT}) != len(DIFFICULT) or len(DIFFICULT) < 100:
    raise ValueError("There should be a hundred different texts.")

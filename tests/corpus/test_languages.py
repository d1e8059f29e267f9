"""The passage in many languages: it is parallel, and its premiums are near published ones."""

from __future__ import annotations

import unicodedata

import pandas as pd
import pytest

import bpeviz
from bpeviz.corpus import named_texts, samples
from bpeviz.corpus.named_texts import Texts

FLORES = {
    "English": (52567, 52835),
    "Spanish": (104549, 81735),
    "Portuguese": (101774, 78313),
    "French": (104971, 84407),
    "German": (112600, 83450),
    "Italian": (105594, 86628),
    "Dutch": (103566, 84254),
    "Polish": (141182, 101102),
    "Czech": (137859, 111264),
    "Russian": (301727, 131496),
    "Ukrainian": (302058, 158296),
    "Greek": (343953, 271846),
    "Turkish": (127797, 101176),
    "Finnish": (119621, 105276),
    "Hungarian": (139602, 113411),
    "Swahili": (112044, 103109),
    "Yoruba": (204447, 156430),
    "Amharic": (409343, 405644),
    "Arabic": (231316, 160485),
    "Hebrew": (231019, 193616),
    "Persian": (279481, 173333),
    "Hindi": (392092, 253270),
    "Bengali": (507509, 308325),
    "Tamil": (819110, 404265),
    "Telugu": (688151, 440831),
    "Thai": (475633, 231995),
    "Burmese": (887930, 618268),
    "Georgian": (727866, 520316),
    "Armenian": (526451, 527113),
    "Vietnamese": (238544, 129258),
    "Indonesian": (104006, 82006),
    "Korean": (266663, 125737),
    "Japanese": (157858, 121627),
    "Chinese": (168850, 101138),
}
"""Tokens of FLORES-200 under GPT-2 and cl100k: Petrov et al. (2023), arXiv 2305.15425, from the
table `assets/tokenization_lengths.csv` of AleksandarPetrov/tokenization-fairness."""


def passage() -> Texts:
    texts, translations = named_texts.collect(named_texts.pasted(samples.languages()), "")
    assert translations == [*texts]
    return texts


def test_passage_has_the_same_lines_in_every_language() -> None:
    texts = passage()
    assert list(texts) == list(FLORES)
    names = {key.capitalize() for key in samples.LANGUAGES}
    assert names == set(texts)
    files = {path.stem for path in (samples.SAMPLES_FOLDER / "languages").iterdir()}
    assert files == set(samples.LANGUAGES)
    for name, text in texts.items():
        lines = text.splitlines() if isinstance(text, str) else text
        assert len(lines) == 32, name
        assert all(line == line.strip() != "" for line in lines), name
        assert all(unicodedata.is_normalized("NFC", line) for line in lines), name
        year = "".join(str(unicodedata.decimal(one, "")) for one in lines[6])
        assert year == "1856", name


@pytest.mark.parametrize(
    ("tokenizer", "number", "rank"), [("gpt2", 0, 0.98), ("cl100k_base", 1, 0.97)]
)
def test_premiums_of_the_passage_are_near_published_ones(
    tokenizer: str, number: int, rank: float
) -> None:
    found = bpeviz.compare(passage(), [tokenizer], relative_to="English")
    rows = [(row.premium, FLORES[row.text][number]) for row in found.rows]
    table = pd.DataFrame(rows, columns=["ours", "theirs"], dtype=float)
    table["theirs"] /= FLORES["English"][number]
    assert table.rank().corr().iloc[0, 1] >= rank
    errors = (table["ours"] / table["theirs"] - 1).abs()
    assert errors.max() <= 0.16  # as the page says
    assert errors.median() <= 0.05

"""The HTML file that plays a training."""

from __future__ import annotations

import pickle
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from helpers.payloads import data_of
from helpers.refusals import refusal
from helpers.stages import aligned, played

import bpeviz
from bpeviz import formats
from bpeviz.analysis import trace
from bpeviz.core.boundaries import Part
from bpeviz.core.training import Training
from bpeviz.corpus import samples
from bpeviz.corpus.documents import Documents
from bpeviz.trainers import TRAINERS
from bpeviz.ui.inputs.text import TEXT
from bpeviz.ui.inputs.vocabulary_size import SIZE
from bpeviz.ui.permalink.links import written
from bpeviz.views import credit, encoded, export, playable
from bpeviz.views.parts import parts as parts_of
from bpeviz.views.stage import Stage, TrainedOn, of_training

SHORT = "low lower lowest newest widest " * 4


class Frame(HTMLParser):
    """A cell of a notebook: the names of its elements, and the attributes of its frame."""

    def __init__(self, cell: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.feed(cell)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        if tag == "iframe":
            self.attributes = dict(attrs)


def trained(text: str, algorithm: str = "bpe", size: int = 700) -> Training:
    return bpeviz.train(text, algorithm, **{TRAINERS[algorithm].largest: size})


def test_file_opens_at_the_last_step_with_one_title() -> None:
    file = bpeviz.to_html(trained(SHORT), SHORT)
    player = data_of(file)["player"]
    assert player["initialStep"] == player["last"] > 0
    assert player["views"][0]["rule"]
    assert "h1 { position: absolute" in file
    training = trained(SHORT)
    boundaries = training.boundaries(SHORT)
    part = Part(0, len(boundaries), 0, len(SHORT))
    rows = aligned([(title, training, boundaries, part) for title in ("a", "b")], SHORT)
    assert "h1 { position: absolute" not in playable.html(playable.of_stage(rows))


def test_lone_surrogate_in_a_title_is_replaced() -> None:
    shown = playable.of_tokenizer(bpeviz.load("gpt2"), "a\ud800.json", SHORT)
    assert "<title>a\ufffd.json, step by step" in playable.html(shown).encode().decode()


def test_tie_rule_is_named_if_the_options_are_known() -> None:
    training = bpeviz.train(SHORT, merges=9, ties="largest")
    for options, rule in (
        ({"ties": "largest"}, "largest wins"),
        ({}, "first in the text"),
        (None, ""),
    ):
        shown = played(training, SHORT, options=options)
        assert rule in (shown.data["player"]["views"][0]["tieRule"] or "")


def test_training_on_another_text_is_named_and_its_candidates_are_those_of_that_text() -> None:
    training = bpeviz.train(SHORT, merges=3)
    counted_in = TrainedOn("a corpus", SHORT, training.boundaries(SHORT))
    shown = played(training, "the", trained_on=counted_in, options={})
    (view,) = shown.data["player"]["views"]
    assert (view["text"], view["trainedOn"]) == ("the", "a corpus")
    assert "Trained on a corpus" in shown.settings
    (expected,) = played(training, SHORT, options={}).data["races"] or ()
    (race,) = shown.data["races"] or ()
    assert race["first"] == expected["first"]


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,a", "host"])
def test_link_that_is_not_an_address_is_refused(link: str) -> None:
    refusal(bpeviz.to_html, trained(SHORT), SHORT, link=link, naming="https://")


def test_page_names_settings_version_and_link() -> None:
    training = bpeviz.train(SHORT, merges=9, min_count=3, special_tokens=("<|end|>",))
    page = bpeviz.to_html(training, SHORT, link="https://host.example/?s=1&t=2")
    assert f"bpeviz {bpeviz.__version__}" in page
    assert 'href="https://host.example/?s=1&amp;t=2"' in page
    for words in ("256 bytes + ", "Pre-tokenization: GPT-2", "Minimum pair count: 3"):
        assert words in page
    assert "Special tokens: &lt;|end|&gt;" in page
    usual = credit.settings_of(bpeviz.train(SHORT, merges=9), 9, {})
    assert len(usual) == 2, "no option is listed that nobody changed"


@pytest.mark.parametrize(
    ("algorithm", "characters", "merges", "most"),
    [
        ("bpe", 1_700, 170, 116),
        pytest.param("wordpiece", 20_000, 2_000, 295, marks=pytest.mark.thorough),
    ],
)
def test_page_is_small(algorithm: str, characters: int, merges: int, most: int) -> None:
    text = ("".join(one.text for one in samples.SAMPLES) * 4)[:characters]
    training = bpeviz.train(text, algorithm, merges=merges)
    assert training.steps > merges / 2
    page = bpeviz.to_html(training, text)
    assert len(page.encode()) < most * 1_000
    (race,) = data_of(page)["races"]
    assert len(race["first"]) == min(training.steps, 1_000)
    assert race.get("note") == (
        "Shown for the first 1,000 merges." if training.steps > 1_000 else None
    )


def test_notebook_shows_the_animation_in_an_isolated_frame() -> None:
    training = trained(SHORT)
    cell = training._repr_html_()
    assert cell is not None
    frame = Frame(cell)
    assert frame.attributes["srcdoc"] == bpeviz.to_html(training, SHORT)
    assert frame.attributes["sandbox"] == "allow-scripts"
    assert frame.names == ["iframe"]
    # A notebook that is not trusted shows this sentence.
    assert "To play the training here, run this cell again (Shift+Enter)." in cell


def test_notebook_shows_tokens_and_a_comparison() -> None:
    text = "".join(one.text for one in samples.SAMPLES)[:2_000]
    tokens = bpeviz.load("gpt2").tokens(text)
    compared = bpeviz.compare({"<b>one": [text] * 10, "two": [SHORT] * 10}, ["gpt2"], "two")
    assert len(repr(compared)) < 300
    assert repr(tokens).endswith(f", … {len(tokens) - 8} more]")
    assert repr(bpeviz.load("gpt2").tokens("low")).count("Token(") == 1
    for shown, words in ((tokens, "id"), (compared, "&lt;b&gt;one")):
        cell = str(shown._repr_html_())
        assert len(cell.encode()) < 250_000
        frame = Frame(cell)
        assert frame.names == ["iframe"]
        assert words in str(frame.attributes["srcdoc"])
    assert tokens == [*tokens]
    special = bpeviz.load("gpt2").tokens("a<|endoftext|>", allowed_special=["<|endoftext|>"])
    assert "2 tokens of" in str(special._repr_html_())


def test_training_without_its_text_has_no_animation() -> None:
    training = bpeviz.train({"low": 3, "lower": 2}, merges=3)
    assert training._repr_html_() is None
    copied = pickle.loads(pickle.dumps(trained(SHORT)))
    assert (copied.training_text, copied.training_options) == (None, None)


def test_tokenizer_without_merges_is_refused() -> None:
    tokenizer = bpeviz.train(SHORT, "unigram", vocab_size=20).tokenizer()
    (written,) = formats.dump(tokenizer, "huggingface").values()
    refusal(bpeviz.to_html, formats.parse({"tokenizer.json": written}), SHORT, naming="tokenizer")


def test_breaks_between_rows_are_no_characters() -> None:
    rows = Documents(("Yes.", "No\nway", "दीYes"))
    row = of_training(bpeviz.train(rows, merges=1), rows)
    assert "14 characters" in playable.of_stage(Stage([row])).settings
    picture = export.colored("Rows", Stage([row]))
    assert "14 characters" in playable.of_score(picture).settings


def test_lock_step_has_a_race_of_each_training() -> None:
    trainings = [bpeviz.train(SHORT, merges=9, min_count=2), trained(SHORT, "wordpiece")]
    rows = [(training, training.tokenizer().boundaries(SHORT)) for training in trainings]
    (part,) = parts_of(SHORT, rows[0][1])
    stage = aligned(
        [(training.algorithm, training, boundaries, part) for training, boundaries in rows], SHORT
    )
    shown = playable.of_stage(stage)
    races = data_of(playable.html(shown))["races"]
    assert [len(one["first"]) for one in races] == [one.steps for one in trainings]


def test_inspection_of_the_training_text_has_its_race() -> None:
    training = bpeviz.train(SHORT, merges=12, min_count=2)
    found = trace.inspect(SHORT, training.at_step(9))
    part, colors = parts_of(SHORT, found.boundaries)[0], encoded.hues_of(found, training)
    trained_on = TrainedOn(None, SHORT, training.boundaries(SHORT))
    options = {"min_count": 2}
    row = encoded.of_inspection(
        found, part, "A name", training, trained_on=trained_on, options=options
    )
    shown = playable.of_stage(Stage([row], colors))
    assert shown.data["races"] is not None
    assert len(shown.data["races"][0]["first"]) == shown.data["player"]["last"] == len(found.events)
    assert "Minimum pair count: 2" in shown.settings
    row = encoded.of_inspection(found, part, "A name", training, options=options)
    assert playable.of_stage(Stage([row], colors)).data["races"] is None


def test_documents_have_the_code_of_a_frame() -> None:
    documents = Path(bpeviz.__file__).with_name("DEPLOYMENT.md").read_text(encoding="utf-8")
    values = {TEXT.box.link: "banana bandana", SIZE.link: 260, "bpe_min_count": 1}
    address = f"https://app.example/?{written(values, {})}&embed=true"
    words = " ".join(documents.split())  # these have shorter lines
    assert f'src="{escape(address)}"' in words
    assert playable.FIT_FRAMES in words

"""The chapter Golf: merges of one's own, and texts with many tokens in real vocabularies."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from helpers import app_pages
from helpers.payloads import payloads
from helpers.properties import many
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.pretrained import download
from bpeviz.trainers import bpe
from bpeviz.ui.learn import figures, prose
from bpeviz.ui.learn.base import DON_QUIJOTE, NoQuestionError, Question, Task
from bpeviz.ui.learn.chapters import golf
from bpeviz.ui.learn.page import MAX_ANSWER

STAGE = golf.CHAPTER.tasks["merges"](DON_QUIJOTE)
BEST: list[int] = STAGE.questions[0]().judge(None).right
UG = DON_QUIJOTE.index("ug")


def question(task: str = "merges", text: str = DON_QUIJOTE) -> Question:
    return (golf.CHAPTER.tasks | golf.EXTRAS.tasks)[task](text).questions[0]()


def words(asked: Question, given: Any) -> str:
    parts = asked.judge(given).message
    return "".join(part if isinstance(part, str) else part["label"] for part in parts)


def places_of(text: str, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the first place of each pair when its turn comes, found by its bytes."""
    raw = [bytes([byte]) for byte in range(256)]
    tokens, ids, places = [bytes([byte]) for byte in text.encode()], [*text.encode()], []
    for pair in pairs:
        at = [*pairwise(ids)].index(pair)
        places.append(len(b"".join(tokens[: at + 1])) - 1)
        raw.append(raw[pair[0]] + raw[pair[1]])
        ids = bpe.merge(ids, pair, len(raw) - 1)
        tokens = [raw[token_id] for token_id in ids]
    return places


def algorithm(text: str, merges: int) -> list[int]:
    names = [*map(chr, range(256))]
    trained, _ = bpe.train_by_definition([([*text.encode()], 1)], names, merges)
    return places_of(text, [(merge.left, merge.right) for merge in trained])


# ---- merges of one's own


def test_best_known_merges_reach_each_goal_in_the_stored_numbers() -> None:
    assert places_of(DON_QUIJOTE, [*figures.BEST_KNOWN]) == BEST
    counts = golf.token_counts(DON_QUIJOTE, BEST)
    for tokens, (_, best) in figures.GOLF.items():
        assert next(i for i, count in enumerate(counts) if count <= tokens) == best


def test_judge_compares_merges_with_byte_pair_encoding() -> None:
    asked = question()
    bpe20 = algorithm(DON_QUIJOTE, 20)
    assert words(asked, []) == "131 tokens after 0 merges: 50 to go."
    assert words(asked, BEST[:9]) == "96 tokens after 9 merges: 15 to go."
    assert words(asked, BEST) == "81 tokens after 18 merges, 2 fewer than byte-pair encoding."
    assert words(asked, bpe20).endswith("20 merges, as many as byte-pair encoding needs.")
    slow = [*range(131 - golf.GOAL)]  # the first token grows
    assert words(asked, slow).endswith("50 merges, 30 more than byte-pair encoding.")
    assert [asked.solved(given) for given in ([], BEST[:-1], BEST, bpe20)] == [0, 0, 1, 1]
    assert "best known" not in words(asked, BEST)


@pytest.mark.parametrize(
    "given", [[131], [130], [-1], [0, 0], [*BEST, UG], [True], [1.0], "0", 0, None, {"0": 1}]
)
def test_only_possible_merges_up_to_the_goal_are_an_answer(given: Any) -> None:
    assert not question().act.accepts(given)


def test_longest_answer_fits_into_what_the_page_takes() -> None:
    assert len(str([129] * (131 - golf.GOAL))) <= MAX_ANSWER


def test_stored_answers_keep_the_best_one_and_the_last_one() -> None:
    asked = question()
    bpe20 = algorithm(DON_QUIJOTE, 20)
    tries: list[Any] = []
    for given_, best in ([1], ""), (bpe20, "20"), ([1], "20"), (BEST, "18"), (bpe20, "18"):
        tries = asked.kept(tries, given_)
        assert tries[-1] == given_
        assert len(tries) <= 2
        result = asked.result(tries, gave_up=False)
        assert result is not None
        message = "".join(map(str, result["message"]))
        assert message.endswith(f" Your best: {best} merges." if best else "to go.")


def test_each_merge_appends_a_step_and_the_best_known_ones_play() -> None:
    earlier = STAGE.payload(0, None)
    assert (earlier["last"], earlier["task"]["actions"]) == (0, {})
    for count in range(1, len(BEST) + 1):
        data = STAGE.payload(0, BEST[:count])
        assert (data["key"], data["last"]) == (earlier["key"], count)
        before, now = (each["views"][0] for each in (earlier, data))
        assert now["mergedAt"] != before["mergedAt"]
        assert now["steps"]["id"][:-1] == before["steps"]["id"]
        assert now["tokenStyles"].items() >= before["tokenStyles"].items()
        assert data["task"]["actions"] == {"Undo": BEST[: count - 1], "Start over": []}
        assert data["task"]["canShow"]
        assert "most frequent" not in now["rule"]
        earlier = data
    assert earlier["task"]["places"] == []  # the goal is reached
    shown = STAGE.payload(1, None)
    assert shown["plays"]
    assert shown["key"] != earlier["key"]
    assert shown["last"] == len(BEST)
    assert shown["task"]["actions"] == {"Start over": []}
    assert not shown["task"]["canShow"]


def test_places_are_between_the_tokens_that_are_left() -> None:
    assert STAGE.payload(0, [0])["task"]["places"] == [*range(1, 130)]
    assert STAGE.payload(0, None)["task"]["places"] == [*range(130)]


def test_goals_say_in_how_many_merges_each_was_reached() -> None:
    (row,) = STAGE.payload(0, BEST[:10])["task"]["rows"]
    assert [item for (item,) in row["items"]] == [
        "96 tokens: 9 merges (par 10, best known 9)",
        "88 tokens: par 14, best known 13",
        "81 tokens: par 20, best known 18",
    ]


@pytest.mark.parametrize(
    ("text", "goal", "par"), [("abab", 2, 1), ("aaaa", 2, 1), ("हह", 2, 2), ("abc abc", 3, 2)]
)
def test_own_text_has_the_merges_of_the_algorithm_as_par(text: str, goal: int, par: int) -> None:
    assert golf.holes(text) == [golf.Hole(goal, par)]
    task = golf.CHAPTER.tasks["merges"](text)
    assert task.figures == {"goal": goal, "par": par}
    asked = task.questions[0]()
    right = asked.judge(None).right
    assert right == algorithm(text, par)
    assert asked.solved(right)


@pytest.mark.parametrize("text", ["", "a", "abc"])
def test_text_in_which_no_pair_repeats_is_refused(text: str) -> None:
    with pytest.raises(NoQuestionError, match="No two neighbors repeat"):
        golf.holes(text)


@many()
@given(st.text("ab¿ ", min_size=2, max_size=12), st.lists(st.integers(0, 30), max_size=6))
def test_any_accepted_merges_have_a_payload(text: str, places: list[int]) -> None:
    try:
        stage = golf.CHAPTER.tasks["merges"](text)
    except NoQuestionError:
        return
    asked = stage.questions[0]()
    if asked.act.accepts(places):
        data = stage.payload(0, places)
        assert data["views"][0]["tokenCounts"] == golf.token_counts(text, places)
        for place in data["task"]["places"]:
            assert asked.act.accepts([*places, place])


# ---- real vocabularies


@pytest.mark.parametrize(
    ("text", "message", "more"),
    [
        ("", "Type a text.", 0),
        ("hello", "hello has 1 token in GPT-4o, 1 in GPT-2: +0.", 0),
        ("1000", "1000 has 2 tokens in GPT-4o, 1 in GPT-2: +1.", 1),
        ("1000 2000", "1000·2000 has 5 tokens in GPT-4o, 2 in GPT-2: +3.", 3),
        ("नमस्ते", "नमस्ते has 4 tokens in GPT-4o, 12 in GPT-2: -8.", -8),
    ],
)
def test_more_tokens_in_gpt4o_than_in_gpt2(text: str, message: str, more: int) -> None:
    counts = [len(bpeviz.load(name).encode(text)) for name in golf.TWO]
    assert counts[1] - counts[0] == more
    asked = question("more")
    assert words(asked, text) == message
    assert asked.solved(text) == (more > 0)
    tries = asked.kept(["1000 2000"], text)
    assert tries == ["1000 2000", text]
    result = asked.result(tries, gave_up=False)
    assert result is not None
    assert result["message"][-1] == " Your best: +3."


@pytest.mark.parametrize(
    ("word", "ratio"),
    [("ᏣᎳᎩ", 3), ("𐌲𐌿𐌸", 4), ("xqzj", 1), ("ab", 0), ("ab1", 0), ("a b c", 0), ("", 0)],
)
def test_tokens_per_letter_of_a_word(word: str, ratio: float) -> None:
    assert golf.per_letter(word) == ratio
    asked = question("dense")
    assert asked.solved(word) == (ratio > 1)
    if not ratio:
        assert words(asked, word) == "Type at least 3 letters, and no other signs."


def test_examples_of_typed_texts_are_right_and_fit() -> None:
    for task in ("more", "dense"):
        asked = question(task)
        right = asked.judge(None).right
        assert asked.act.accepts(right)
        assert asked.solved(right)
        assert not asked.act.accepts("a" * (golf.LONGEST + 1))


def test_typed_text_is_in_a_row_for_each_vocabulary_in_its_tokens() -> None:
    stage: Task = golf.EXTRAS.tasks["more"]("")
    views = stage.payload(0, "1000 €")["views"]
    assert [view["title"] for view in views] == ["GPT-2", "GPT-4o (o200k)"]
    for view, name in zip(views, golf.TWO, strict=True):
        tokens = bpeviz.load(name).tokens("1000 €")
        assert view["tokenCounts"] == [len(tokens)]
        starts = [i for i in view["changes"]["ids"] if i >= 0]
        assert starts == [token.id for token in tokens]
        assert [view["tokenStyles"][i][0] for i in starts] == [token.label for token in tokens]
    assert [view["tokenCounts"] for view in stage.payload(0, None)["views"]] == [[0], [0]]


# ---- the page


def opened(**state: Any) -> AppTest:
    return app_pages.opened("Learn", {"chapter": "golf"}, **state)


def give(app: AppTest, name: str, value: Any, chapter: str = "golf", task: Any = None) -> AppTest:
    data = task or [data["task"] for data in payloads(app) if "task" in data][-1]
    entry = {"of": data["of"].rpartition("/")[0], "tries": [value], "shown": False}
    app.session_state["learn_answers"] = {f"{chapter}/{name}/0": entry}
    return app.run()


def test_card_has_the_merges_and_the_score_once_the_goal_is_reached() -> None:
    app = give(opened(), "merges", BEST[:-1])
    assert not any(data.get("slide") for data in payloads(app))
    app = give(app, "merges", BEST)
    (slide,) = [data["slide"] for data in payloads(app) if data.get("slide")]
    assert slide["title"] == "81 tokens with 18 merges of my own"
    assert slide["notes"][0].startswith("My merges in their order: e· ·d o· n· ·de· a·")
    assert slide["settings"] == "Par 20, best known 18"
    assert len(slide["score"]["rows"][0]["distinct"]) > 1


def test_typed_tasks_are_extras_of_the_last_page() -> None:
    app = app_pages.opened("Learn", {"chapter": "end"})
    asked = [data["task"] for data in payloads(app) if "task" in data]
    assert [task["act"] for task in asked] == ["type", "type"]
    app = give(app, "more", "1000", "end", asked[0])
    result = next(data["task"]["result"] for data in payloads(app) if "task" in data)
    assert result["kind"] == "right"
    assert prose.read("end").tasks["more"].why in [element.value for element in app.markdown]


def test_last_page_goes_on_without_vocabulary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[str] = []
    monkeypatch.setattr(download, "available", lambda name: False)
    monkeypatch.setattr(download, "fetch_in_background", lambda name, **_: fetched.append(name))
    give(opened(), "merges", BEST)
    assert not fetched
    app = app_pages.opened("Learn", {"chapter": "end"})
    assert {*fetched} >= {*golf.TWO}
    assert not any("task" in data for data in payloads(app))


def test_best_known_merges_play_beside_those_of_the_user() -> None:
    app = give(opened(), "merges", [0])
    (entry,) = app.session_state["learn_answers"].values()
    app.session_state["learn_answers"] = {"golf/merges/0": entry | {"shown": True}}
    data = next(data for data in payloads(app.run()) if "task" in data)
    assert data["plays"]
    assert (data["last"], data["task"]["places"], data["task"]["canShow"]) == (18, [], False)
    assert app.session_state["learn_answers"]["golf/merges/0"]["tries"] == [[0]]

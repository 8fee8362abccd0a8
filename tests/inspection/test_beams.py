"""Laws of the parts `steps` and `beams` of a document: what is translated with is what is shown."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.inspection.document import sentence
from headway.inspection.html_page import unpacked
from headway.inspection.inspected_model import InspectedModel, open_inspected

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

TEXTS = ("The dog is tired.", "I love cats and they love me.", "He sings.")


@pytest.fixture(scope="module")
def inspected(everyday_run: Path) -> InspectedModel:
    return open_inspected(everyday_run, device="cpu")


def parts(inspected: InspectedModel, text: str, **more: Any) -> dict[str, Any]:
    return sentence(inspected, text, parts=("steps", "beams"), **more)


def ids(part: dict[str, Any], place: int) -> list[int]:
    """Read from the columns, as the page does."""
    tokens = []
    while place >= 0:
        tokens.append(part["nodes"]["token"][place])
        place = part["nodes"]["parent"][place]
    return tokens[::-1]


@pytest.mark.parametrize("text", TEXTS)
def test_the_best_leaf_is_the_translation_and_the_others_are_its_alternatives(
    inspected: InspectedModel, text: str
) -> None:
    part = parts(inspected, text)["beams"]
    assert part["found"][0]["text"] == inspected.used.translate([text])[0]
    [expected] = inspected.used.translate_fully([text], n_best=2)
    assert [one["text"] for one in part["found"]] == [one.target for one in expected.n_best]
    scores = [one.score for one in expected.n_best]
    assert [one["score"] for one in part["found"]] == pytest.approx(scores, abs=1e-6)
    for one, alternative in zip(part["found"], expected.n_best, strict=True):
        assert ids(part, one["node"]) == [*alternative.ids, inspected.special.end]
        total, penalty = part["nodes"]["total"][one["node"]], part["penalties"][one["n_tokens"] - 1]
        assert total / penalty == pytest.approx(one["score"], abs=1e-5)
    assert [one["node"] for one in part["found"]] == part["finished"][:2]


@pytest.mark.parametrize("text", TEXTS)
def test_its_rivals_are_what_other_settings_translate(inspected: InspectedModel, text: str) -> None:
    part = parts(inspected, text)["beams"]
    others: dict[str, dict[str, Any]] = {
        "greedy": {"method": "greedy"},
        "unpenalized": {"length_penalty": 0.0},
    }
    for name, how in others.items():
        [expected] = inspected.used.translate([text], **how)
        assert part["rivals"][name]["text"] == expected
        same = expected == part["found"][0]["text"]
        assert part["rivals"][name]["wins"] == same


@pytest.mark.parametrize("text", TEXTS)
def test_courses_are_greedys_the_beams_and_a_target_that_is_given(
    inspected: InspectedModel, text: str
) -> None:
    free = parts(inspected, text)["steps"]
    assert list(free["courses"]) == ["greedy", "beam"]
    assert free["courses"]["greedy"]["text"] == inspected.used.translate([text], method="greedy")[0]
    assert free["courses"]["beam"]["text"] == inspected.used.translate([text])[0]
    led = parts(inspected, text, target="我爱学习。")["steps"]
    assert list(led["courses"]) == ["greedy", "beam", "target"]
    target = led["courses"]["target"]
    assert target["text"] == "我爱学习。"
    assert target["taken"] == [*inspected.vocabulary.encode("我爱学习。"), inspected.special.end]
    assert target["fed"] == [inspected.special.decoder_begin, *target["taken"][:-1]]
    for course in led["courses"].values():
        n_steps = len(course["taken"])
        assert {len(course[name]) for name in ("fed", "log_probs", "ranks", "likeliest")} == {
            n_steps
        }
        looked = unpacked(course["attention"]).astype(float)
        assert looked.shape == (n_steps, len(led["source"]))
        assert looked.sum(1) == pytest.approx(255, abs=len(led["source"]) / 2)
        for token in course["taken"]:
            assert led["pieces"][str(token)] == inspected.vocabulary.pieces([token])[0]


def test_a_hundred_tokens_stay_small(inspected: InspectedModel) -> None:
    wide = replace(inspected.settings.decoding, beam=5)
    inspected = replace(inspected, settings=replace(inspected.settings, decoding=wide))
    text, target = "the cat sees " * 7, "我爱学习。" * 25
    found = parts(inspected, text, target=target)
    assert len(found["steps"]["source"]) <= 100
    assert len(found["steps"]["courses"]["target"]["taken"]) >= 95
    assert len(json.dumps(found, allow_nan=False, separators=(",", ":"))) < 200_000

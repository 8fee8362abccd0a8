"""Laws of changes: what is shown is what the changed model does."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import headway
from headway.cli import main
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.inspection import document
from headway.inspection.ablation import common
from headway.inspection.inspected_model import InspectedModel, open_inspected

TEXT = "I love learning."


@pytest.fixture(scope="module")
def inspected(everyday_run: Path) -> InspectedModel:
    return open_inspected(everyday_run, device="cpu")


def test_common_tokens_are_those_of_both_in_order():
    assert common([1, 2, 3, 4], [1, 9, 3, 4, 4]) == (
        [True, False, True, True, True],
        [True, False, True, True, False, True],
    )


def test_the_document_has_both_outputs_and_both_models_view_of_each(inspected, everyday_run):
    off = ["decoder.0.feed_forward", "encoder.0.head.1"]
    found = document.sentence(inspected, TEXT, parts=["changes"], off=off)["changes"]
    whole, without = (headway.inspect(everyday_run, TEXT, off=o, device="cpu") for o in ((), off))
    original, changed = found["original"], found["changed"]
    assert original["translation"] == whole.translation
    assert changed["translation"] == without.translation
    assert original["pieces"][:-1] == whole.target_tokens[1:]
    assert original["log_probs"] == pytest.approx(whole.log_probs, abs=1e-4)
    assert changed["log_probs"] == pytest.approx(without.log_probs, abs=1e-4)
    again = headway.inspect(everyday_run, TEXT, whole.translation, off=off, device="cpu")
    assert original["without"] == pytest.approx(again.log_probs, abs=1e-4)
    again = headway.inspect(everyday_run, TEXT, without.translation, device="cpu")
    assert changed["with_all"] == pytest.approx(again.log_probs, abs=1e-4)
    assert found["off"] == off


def test_a_given_target_is_followed_without_the_parts_too(inspected, everyday_run):
    off = ["decoder.0.feed_forward"]
    found = document.sentence(inspected, TEXT, "那只狗", parts=["changes"], off=off)["changes"]
    original, changed = found["original"], found["changed"]
    assert original["pieces"] == changed["pieces"]
    assert all(changed["same"])
    again = headway.inspect(everyday_run, TEXT, "那只狗", off=off, device="cpu")
    assert changed["log_probs"] == original["without"] == pytest.approx(again.log_probs, abs=1e-4)
    assert changed["with_all"] == original["log_probs"] != changed["log_probs"]


def test_without_a_change_the_document_names_the_parts(inspected):
    found = document.sentence(inspected, TEXT, parts=["changes"])["changes"]
    assert found["changed"] is None
    assert "decoder.0.cross.head.1" in found["parts"]


def test_the_command_that_is_told_to_switch_a_part_off_does_so_for_that_text(inspected, tmp_path):
    text, out = 'It\'s `so` "too", Tom, for $1.', tmp_path / "page.html"
    told = document.sentence(inspected, text, parts=["changes"])["changes"]["try"]
    headway_, *words = shlex.split(told)  # as a shell takes it
    assert headway_ == "headway"
    assert main([*words, "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8").partition('id="document">')[2]
    [sentence] = json.loads(page.partition("</script>")[0])["sentences"]
    assert sentence["text"] == text
    assert sentence["changes"]["off"] == words[-1:]


def test_a_model_of_other_bricks_has_no_parts(inspected):
    config = RecurrentTranslatorConfig(d_model=4, d_embedding=4)
    other = RecurrentTranslator(config, vocabulary_size=len(inspected.vocabulary)).eval()
    found = document.sentence(replace(inspected, model=other), TEXT, "那", parts=["changes"])
    assert "Transformer's layers" in found["changes"]["missing"]["en"]


def test_tensors_are_those_of_the_model_without_the_parts(everyday_run):
    off = ["encoder.0.head.1"]
    found = headway.inspect(everyday_run, TEXT, "那", off=off, device="cpu")
    heads = found.tensors["encoder.0.self.heads"]
    assert heads.shape[:2] == (2, len(found.source_tokens))
    assert not heads[1].any()
    assert heads[0].any()
    assert found.tensors["logits"].shape[0] == len(found.target_tokens)

"""Laws of changes: what is shown is what the changed model does, and every part's worth is found
alone as in a batch."""

from pathlib import Path

import pytest
import torch

import headway
from headway.core.errors import ConfigError
from headway.core.transformer import Transformer, TransformerConfig
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.inspection import document
from headway.inspection.ablation import switched
from headway.inspection.changes import ablation_importance, changes, common
from headway.inspection.forced_decoding import beginning
from headway.inspection.inspected_model import InspectedModel, open_inspected
from headway.inspection.passage_analysis import PassageAnalysis
from headway.inspection.word_merging import words_of
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.language_models.recurrent import RecurrentConfig, RecurrentLanguageModel

TEXT = "I love learning."
SOURCE, FED, WANTED = [4, 5, 6, 7, 3], [2, 7, 8, 9, 4], [7, 8, 9, 4, 3]
SMALL = {"d_model": 12, "d_ff": 20, "heads": 3}


@pytest.fixture(scope="module")
def inspected(everyday_run: Path) -> InspectedModel:
    return open_inspected(everyday_run, device="cpu")


def log_prob(model, *ids) -> float:
    with torch.inference_mode():
        steps = model(*(torch.tensor([each]) for each in ids if each))[0].log_softmax(-1)
    return float(steps[range(len(WANTED)), WANTED].sum())


@pytest.mark.parametrize(
    ("model", "source"),
    [
        (Transformer(TransformerConfig(**SMALL, encoder_layers=2, decoder_layers=2),
                     vocabulary_size=13), SOURCE),
        (DecoderOnly(DecoderOnlyConfig(**SMALL, layers=2), vocabulary_size=13), []),
    ],
)  # fmt: skip
def test_a_parts_worth_is_what_a_pass_without_it_loses(model, source):
    model.eval()
    whole = log_prob(model, source, FED)
    places = ablation_importance(model, source, FED, WANTED)
    assert len(places) == (10 if source else 4)
    for place in places:
        with switched(model, [place.name]):
            assert whole - log_prob(model, source, FED) == pytest.approx(place.fall, abs=2e-5)
        for head, fall in enumerate(place.heads):
            with switched(model, [f"{place.name}.head.{head}"]):
                assert whole - log_prob(model, source, FED) == pytest.approx(fall, abs=2e-5)
    assert not [hook for module in model.modules() for hook in module._forward_hooks]
    assert log_prob(model, source, FED) == whole


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


def test_without_a_change_the_document_has_what_each_part_is_worth(inspected):
    found = document.sentence(inspected, TEXT, parts=["changes"])["changes"]
    assert found["changed"] is None
    names = [place["part"] for place in found["worth"]]
    assert names == [
        "encoder.0.self", "encoder.0.feed_forward",
        "decoder.0.self", "decoder.0.cross", "decoder.0.feed_forward",
    ]  # fmt: skip
    assert "decoder.0.cross.head.1" in found["parts"]


def test_a_model_of_other_bricks_has_no_parts_and_can_be_forced(inspected):
    config = RecurrentTranslatorConfig(d_model=4, d_embedding=4)
    other = RecurrentTranslator(config, vocabulary_size=len(inspected.vocabulary)).eval()
    fields = {**vars(inspected), "model": other}
    found = document.sentence(InspectedModel(**fields), TEXT, "那", parts=["changes"])["changes"]
    assert found["parts"] == []
    assert found["worth"] is None
    forced = document.sentence(InspectedModel(**fields), TEXT, parts=["changes"], force=["0=狗"])
    assert forced["changes"]["changed"]["pieces"][0] == "狗"
    config = RecurrentConfig(d_model=4)
    alone = RecurrentLanguageModel(
        config, recurrence="gru", vocabulary_size=len(inspected.vocabulary)
    )
    passage = inspected.passage_of(TEXT)._replace(source=[])
    fields = {**fields, "model": alone.eval(), "reads_source": False}
    missing = changes(PassageAnalysis(InspectedModel(**fields), passage))["missing"]
    assert "Transformer's layers" in missing["en"]


def test_a_forced_word_stands_at_its_step_behind_what_was_written_before(everyday_run, inspected):
    before = headway.inspect(everyday_run, TEXT, device="cpu").target_tokens
    found = headway.inspect(everyday_run, TEXT, force=["1=狗"], device="cpu")
    assert found.target_tokens[:2] == before[:2]
    assert found.target_tokens[2] == "狗"
    assert len(found.log_probs) == len(found.target_tokens)
    both = headway.inspect(everyday_run, TEXT, force=["1=狗", "0=猫"], device="cpu")
    assert both.target_tokens[1] == "猫"
    passage = inspected.passage_of(TEXT)
    begin = beginning(inspected, passage, ["1=狗", "3=。"])
    assert inspected.vocabulary.decode(begin).endswith("。")
    assert begin[:2] == [passage.target_ids[0], *inspected.vocabulary.encode("狗")]


def test_a_word_of_the_source_is_the_step_that_looks_most_at_it(everyday_run, inspected):
    looks = inspected.used.attention(TEXT).cross[-1].mean(0)  # [target, source]
    words = words_of(inspected.shown(inspected.passage_of(TEXT).source, {}))
    pieces = words.groups[words.labels.index("love")]
    step = looks[:-1, pieces].sum(1).argmax()
    begin = beginning(inspected, inspected.passage_of(TEXT), ["love=狗"])
    assert begin == beginning(inspected, inspected.passage_of(TEXT), [f"{step}=狗"])
    shown = document.sentence(inspected, TEXT, parts=["changes"], force=["love=狗"])["changes"]
    assert shown["changed"]["pieces"][: len(begin)] == inspected.shown(begin, {})


@pytest.mark.parametrize(
    ("force", "said"),
    [
        ("love", "STEP=WORD or SOURCEWORD=WORD"),
        ("=x", "STEP=WORD or SOURCEWORD=WORD"),
        ("99=x", "a number from 0 to"),
        ("lov=x", "Did you mean 'love'"),
    ],
)
def test_a_wish_that_cannot_be_read_is_refused(everyday_run, force, said):
    with pytest.raises(ConfigError, match=said):
        headway.inspect(everyday_run, TEXT, force=[force], device="cpu")


def test_a_translation_that_is_given_is_not_forced_as_well(everyday_run, inspected):
    with pytest.raises(ConfigError, match="Leave out target, or force"):
        headway.inspect(everyday_run, TEXT, "那", force=["0=x"], device="cpu")
    with pytest.raises(ConfigError, match="Leave out target, or force"):
        document.sentence(inspected, TEXT, "那", parts=["changes"], force=["0=x"])
    with pytest.raises(ConfigError, match="Leave out begin, or force"):
        document.sentence(inspected, TEXT, parts=["changes"], begin=[5], force=["0=x"])


def test_tensors_are_those_of_the_model_without_the_parts(everyday_run):
    off = ["encoder.0.head.1"]
    found = headway.inspect(everyday_run, TEXT, "那", off=off, device="cpu")
    heads = found.tensors["encoder.0.self.heads"]
    assert heads.shape[:2] == (2, len(found.source_tokens))
    assert not heads[1].any()
    assert heads[0].any()
    assert found.tensors["logits"].shape[0] == len(found.target_tokens)

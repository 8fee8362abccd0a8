"""The settings of a run: presets, sections, and the way through TOML."""

import pytest

from headway.core.config import format_toml, read_toml
from headway.core.errors import ConfigError
from headway.core.transformer import TransformerConfig
from headway.corpora.mixing import Use
from headway.models import PRESETS
from headway.runs.settings import Settings, preset, presets_of_type
from headway.translation.spec import SPEC


@pytest.mark.parametrize("name", PRESETS)
def test_a_presets_settings_come_back_from_toml_as_they_were(name, tmp_path):
    settings = Settings.of(PRESETS[name], SPEC)
    (tmp_path / "config.toml").write_text(format_toml(settings.sections()), encoding="utf-8")
    assert Settings.of(read_toml(tmp_path / "config.toml"), SPEC) == settings


def test_paths_languages_and_none_come_back_too(tmp_path):
    sections = {"data": {"source": ["a.en", "b 'x'.en"], "target": "a.de", "source_language": "en"}}
    settings = Settings.of(sections, SPEC)
    (tmp_path / "config.toml").write_text(format_toml(settings.sections()), encoding="utf-8")
    again = Settings.of(read_toml(tmp_path / "config.toml"), SPEC)
    assert again == settings
    assert again.data.target_language is None
    assert [str(path) for path in again.data.corpus().source] == ["a.en", "b 'x'.en"]


def test_the_key_text_unit_of_earlier_versions_is_read_and_forgotten():
    settings = Settings.of({"text": {"unit": "subwords", "vocabulary_size": 500}}, SPEC)
    assert settings == Settings.of({"text": {"vocabulary_size": 500}}, SPEC)
    assert "unit" not in settings.sections()["text"]
    with pytest.raises(ConfigError, match="unknown key 'unit'"):
        Settings.of({"text": {"unit": "words"}}, SPEC)


def test_the_papers_training_is_section_5():
    for name, n_steps, average, dropout in (
        ("paper-base", 100_000, 5, 0.1),
        ("paper-big", 300_000, 20, 0.3),
    ):
        settings = Settings.of(PRESETS[name], SPEC)
        training = settings.training
        assert (training.schedule, training.warmup_steps) == ("paper", 4000)
        assert (training.max_steps, training.average) == (n_steps, average)
        assert (training.adam_beta1, training.adam_beta2) == (0.9, 0.98)
        assert (training.adam_epsilon, training.clip_norm) == (1e-9, 0.0)
        assert (training.label_smoothing, training.batch_tokens) == (0.1, 25_000)
        assert (settings.model.dropout, settings.model.norm) == (dropout, "post")
        assert (settings.decoding.beam, settings.decoding.length_penalty) == (4, 0.6)
        assert settings.decoding.max_extra_length == 50
        assert settings.text.vocabulary_size == 37_000


def test_tiny_has_its_named_sizes():
    model = Settings.of(PRESETS["tiny"], SPEC).model
    assert (model.encoder_layers, model.decoder_layers) == (4, 4)
    assert (model.d_model, model.d_ff, model.heads) == (128, 256, 4)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="--preset must be one of tiny.*got 'hugh'"):
        preset(SPEC, "hugh", {})
    with pytest.raises(ConfigError, match="got 'tny'. Did you mean 'tiny'?"):
        preset(SPEC, "tny", {})
    with pytest.raises(ConfigError, match="type must be one of transformer, .*; got 'rnn'"):
        Settings.of({"model": {"type": "rnn"}}, SPEC)
    with pytest.raises(ConfigError, match="unknown key 'n_head' in .model.; did you mean 'heads'"):
        Settings.of({"model": {"n_head": 4}}, SPEC)


def test_validation_files_are_used_only_if_they_are_named():
    assert Settings.of({}, SPEC).data.validation() is None
    data = Settings.of({"data": {"valid_pairs": ["v.tsv"], "target_language": "de"}}, SPEC).data
    validation = data.validation()
    assert validation is not None
    assert [str(path) for path in validation.pairs] == ["v.tsv"]
    assert validation.target_language == "de"


def test_files_of_pairs_keep_their_weights_tags_and_languages(tmp_path):
    names = ["a.tsv@8:tag=mine", "b.tsv@0.5", "c.tsv:source=en:target=fr"]
    data = Settings.of({"data": {"pairs": names, "valid_pairs": ["v.tsv:tag=mine"]}}, SPEC).data
    corpus, validation = data.corpus(), data.validation()
    assert [str(path) for path in corpus.pairs] == ["a.tsv", "b.tsv", "c.tsv"]
    assert corpus.uses == (
        Use(8.0, "mine"), Use(0.5), Use(source_language="en", target_language="fr"),
    )  # fmt: skip
    assert validation is not None
    assert validation.uses == (Use(tag="mine"),)
    (tmp_path / "config.toml").write_text(format_toml({"data": {"pairs": names}}), encoding="utf-8")
    assert Settings.of(read_toml(tmp_path / "config.toml"), SPEC).data.corpus() == corpus


def test_validation_files_have_no_weight():
    data = Settings.of({"data": {"valid_pairs": ["v.tsv@2:tag=mine"]}}, SPEC).data
    with pytest.raises(ConfigError, match="scored once.*got --valid-pairs v.tsv@2.*Leave @2 out"):
        data.validation()


def test_presets_of_the_transformer_stand_in_the_order_of_their_size():
    sizes = [
        PRESETS[name]["model"].get("d_model", TransformerConfig().d_model)
        for name in presets_of_type(SPEC, "transformer")
    ]
    assert sizes == sorted(sizes)

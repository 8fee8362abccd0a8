"""What a run that begins with another's weights inherits, and what it must not change."""

from pathlib import Path

import pytest
from everyday_run import write_pairs

from headway.core.config import Sections, merge
from headway.core.disk import checksum
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.demo import generate
from headway.runs.parent import TUNED_RATE, Parent
from headway.runs.settings import Settings
from headway.translation.spec import SPEC
from headway.translation.tuning import HELD_BACK, inherited


def parent_with(path: Path, sections: Sections) -> Parent:
    """A run with these settings, whose texts are still there."""
    path.mkdir()
    files = write_pairs(path, "a", generate(30, seed=3))
    named = {side: [str(file)] for side, file in zip(("source", "target"), files, strict=True)}
    folder = RunFolder(path)
    folder.write_data({"sha256": {str(file.absolute()): checksum(file) for file in files}})
    folder.write_settings(Settings.of(merge({"data": named}, sections), SPEC).sections())
    return Parent(folder, "0" * 64)


PARENT: Sections = {
    "text": {"vocabulary_size": 700, "algorithm": "bpe"},
    "data": {"max_length": 99, "source_language": "en", "target_language": "zh"},
    "model": {"type": "transformer", "d_model": 32, "heads": 2, "dropout": 0.3, "norm": "pre"},
    "training": {"learning_rate": 0.003, "batch_tokens": 777, "max_steps": 9, "warmup_steps": 5},
    "decoding": {"beam": 3, "length_penalty": 1.4},
}


@pytest.fixture
def parent(tmp_path: Path) -> Parent:
    return parent_with(tmp_path / "parent", PARENT)


def test_vocabulary_text_shape_and_batches_are_the_parents_and_the_rate_is_a_third(parent):
    settings = Settings.of(inherited(SPEC, parent, {}), SPEC)
    before = Settings.of(parent.folder.settings(), SPEC)
    assert (settings.text, settings.model) == (before.text, before.model)
    assert settings.data.max_length == 99
    assert settings.training.batch_tokens == 777
    assert settings.training.learning_rate == pytest.approx(0.001)
    assert settings.decoding.beam == 3
    assert (settings.training.max_steps, settings.training.warmup_steps) == (0, 0), "fitted anew"
    assert "length_penalty" not in inherited(SPEC, parent, {})["decoding"], "found anew"


def test_what_the_user_gives_goes_on_top(parent):
    given: Sections = {
        "training": {"learning_rate": 0.5, "batch_tokens": 10},
        "model": {"dropout": 0.05},
        "decoding": {"length_penalty": 0.7},
        "data": {"max_length": 50},
    }
    settings = Settings.of(inherited(SPEC, parent, given), SPEC)
    assert settings.training.learning_rate == 0.5
    assert settings.training.batch_tokens == 10
    assert (settings.model.dropout, settings.model.d_model) == (0.05, 32)
    assert settings.decoding.length_penalty == 0.7
    assert settings.data.max_length == 50


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("model", "d_model", 64),
        ("model", "norm", "post"),
        ("model", "positions", "rotary"),
        ("text", "vocabulary_size", 800),
        ("text", "algorithm", "wordpiece"),
    ],
)
def test_another_shape_or_vocabulary_is_refused(parent, section, key, value):
    with pytest.raises(ConfigError, match=rf"\[{section}\] {key} is .* got {value!r}.*Leave it"):
        inherited(SPEC, parent, {section: {key: value}})
    had = getattr(getattr(Settings.of(PARENT, SPEC), section), key)
    inherited(SPEC, parent, {section: {key: had}})  # the same again is no contradiction


def test_another_type_of_model_is_refused(parent):
    with pytest.raises(ConfigError, match=r"is of type transformer, got recurrent\. Leave"):
        inherited(SPEC, parent, {"model": {"type": "recurrent"}})
    inherited(SPEC, parent, {"model": {"type": "transformer"}})


def test_of_a_run_that_names_no_texts_the_rate_is_lower_still(tmp_path: Path) -> None:
    (tmp_path / "imported").mkdir()
    folder = RunFolder(tmp_path / "imported")
    folder.write_settings(Settings.of(PARENT, SPEC).sections())
    found = Settings.of(inherited(SPEC, Parent(folder, "0" * 64), {}), SPEC)
    assert found.training.learning_rate == pytest.approx(HELD_BACK * TUNED_RATE * 0.003)
    source, target = write_pairs(tmp_path, "few", generate(8, seed=4))
    few: Sections = {"data": {"source": [str(source)], "target": [str(target)]}}
    with pytest.raises(ConfigError, match=r"pairs of .*imported; .*, or give 40 new pairs"):
        inherited(SPEC, Parent(folder, "0" * 64), few)
    own = {"valid_source": [str(source)], "valid_target": [str(target)]}
    inherited(SPEC, Parent(folder, "0" * 64), {"data": {**few["data"], **own}})


def test_what_was_not_compared_with_the_parents_texts_is_said(parent: Parent) -> None:
    texts, said = parent.folder.path / "a.en", list[str]()
    inherited(SPEC, parent, {}, said.append)
    assert not [line for line in said if "compared" in line]
    texts.unlink()
    inherited(SPEC, parent, {}, said.append)
    [line] = [line for line in said if "nor is it compared with what this run is valid" in line]
    assert f"{texts} is gone" in line


def test_a_rate_is_lowered_once_however_long_the_line_of_parents(tmp_path, parent):
    tuned = inherited(SPEC, parent, {"training": {"init_from": "somewhere"}})
    child = parent_with(tmp_path / "child", tuned)
    again = Settings.of(inherited(SPEC, child, {}), SPEC).training.learning_rate
    assert again == pytest.approx(TUNED_RATE * 0.003)


def test_what_was_held_back_from_a_parent_is_not_held_back_from_its_child(tmp_path, parent):
    held: Sections = {"training": {"init_from": "x", "learning_rate": 0.0003, "held_back": 0.3}}
    child = parent_with(tmp_path / "child", held)
    whole = Settings.of(inherited(SPEC, child, {}), SPEC).training
    assert (whole.learning_rate, whole.held_back) == (pytest.approx(0.001), 1.0)
    (tmp_path / "child" / "a.en").unlink()
    again = Settings.of(inherited(SPEC, child, {}), SPEC).training
    assert (again.learning_rate, again.held_back) == (pytest.approx(0.0003), HELD_BACK)
    given: Sections = {"training": {"learning_rate": 0.0005}}
    chosen = Settings.of(inherited(SPEC, child, given), SPEC).training
    assert (chosen.learning_rate, chosen.held_back) == (0.0005, 1.0)


def test_tags_of_the_parent_are_known_and_one_without_has_read_text_without(tmp_path, parent):
    assert inherited(SPEC, parent, {})["data"]["tags"] == ("",)
    tagged = parent_with(tmp_path / "tagged", {"data": {"tags": ["de", "fr"]}})
    assert list(inherited(SPEC, tagged, {})["data"]["tags"]) == ["de", "fr"]


def test_the_direction_is_the_parents_where_the_files_do_not_say_otherwise(tmp_path, parent):
    def direction(data: dict[str, object]) -> tuple[str | None, str | None]:
        found = Settings.of(inherited(SPEC, parent, {"data": data}), SPEC).data
        return found.source_language, found.target_language

    plain, turned, other = (tmp_path / f"{name}.tsv" for name in ("plain", "turned", "other"))
    plain.write_text("a\tb\n", encoding="utf-8")
    turned.write_text("zh\ten\na\tb\n", encoding="utf-8")
    other.write_text("en\tfr\na\tb\n", encoding="utf-8")
    assert direction({"pairs": [str(plain)]}) == ("en", "zh")
    assert direction({"pairs": [str(turned)]}) == ("en", "zh"), "the columns are turned"
    assert direction({"pairs": [str(other)]}) == (None, None), "the file says"
    assert direction({"pairs": [str(plain)], "target_language": "fr"}) == (None, "fr")
    source, target = write_pairs(tmp_path, "train", generate(3, seed=1))
    assert direction({"source": [str(target)], "target": [str(source)]}) == (None, None)

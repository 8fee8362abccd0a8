"""Settings: what may be written, what comes out, and what is said when it is wrong."""

import math
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.commands.arguments import parse_overrides
from headway.core.config import build, format_toml, merge, read_toml
from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings


@dataclass(frozen=True)
class Model:
    d_model: int = 512
    heads: int = 8
    dropout: float = 0.1
    tied: bool = True
    norm: Literal["post", "pre"] = "post"
    betas: tuple[float, ...] = (0.9, 0.98)
    d_k: int | None = None
    start_from: Path | None = None
    words: tuple[str, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if self.d_model % self.heads:
            raise ConfigError(f"d_model must be a multiple of heads; got {self.d_model}.")


@dataclass(frozen=True)
class Named:
    name: str


# -- flags


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["--model.d-model", "256"], {"model": {"d_model": "256"}}),
        (["--model.d-model=256"], {"model": {"d_model": "256"}}),
        (["--model.d_model", "256"], {"model": {"d_model": "256"}}),
        (["--model.tied"], {"model": {"tied": "true"}}),
        (["--no-model.tied"], {"model": {"tied": "false"}}),
        (["--model.tied", "--model.heads", "4"], {"model": {"tied": "true", "heads": "4"}}),
        (["--training.rate", "-1"], {"training": {"rate": "-1"}}),
        (["--data.note=--a=b"], {"data": {"note": "--a=b"}}),
        (["--data.note="], {"data": {"note": ""}}),
        (["--model.heads", "4", "--model.heads", "8"], {"model": {"heads": "8"}}),
        (["--model.a", "1", "--text.a", "2"], {"model": {"a": "1"}, "text": {"a": "2"}}),
        ([], {}),
    ],
)
def test_flags_become_sections(tokens: list[str], expected: dict[str, Any]) -> None:
    assert parse_overrides(tokens) == expected


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (["--modle.heads", "4"], "did you mean --model."),
        (["--weather.heads", "4"], "text, data, model, training, decoding, runtime"),
        (["--sorce", "a.en"], "did you mean --source?"),
        (["--frobnicate"], "--section.key VALUE"),
        (["-m"], "unknown option -m"),
        (["--.heads"], "unknown option"),
        (["--model."], "unknown option"),
        (["a.en"], "got 'a.en' on its own"),
        (["--model.heads", "4", "5"], "got '5' on its own"),
        (["--text.own-codes", "a", "b"], "have commas between"),
        (["--no-model.tied=true"], "takes no value"),
    ],
)
def test_a_wrong_flag_is_named_with_a_remedy(tokens: list[str], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_overrides(tokens, options=["--source", "--target", "--out"])
    assert says in str(caught.value)


# -- files


def test_a_file_gives_its_sections_with_either_spelling(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('\ufeff[model]\r\nd-model = 256\r\nnorm = "pre"\r\n[text]\r\n', "utf-8")
    assert read_toml(path) == {"model": {"d_model": 256, "norm": "pre"}, "text": {}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[model]\nheads = \n", "line 2"),
        (b"[modle]\nheads = 4\n", "did you mean [model]?"),
        (b"heads = 4\n", "every key belongs to a section"),
        (b"preset = 'tiny'\n", "on the command line: --preset tiny"),
        (b"seed = 3\n", "Put it below [runtime]."),
        (b"budget = '2h'\n", "Put it below [training]."),
        (b"[model]\n[model]\n", "not valid TOML"),
        (b"[model]\nnorm = '\xff'\n", "line 2 is not"),
        (b"a = " + b"[" * 100_000, "not valid TOML"),
    ],
)
def test_a_wrong_file_is_named_with_the_line(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "run.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_toml(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not found"):
        read_toml(tmp_path / "run.toml")
    with pytest.raises(ConfigError, match="directory"):
        read_toml(tmp_path)


def test_the_last_layer_wins_key_by_key_and_no_layer_is_changed() -> None:
    preset = {"model": {"heads": 4, "d_model": 128}}
    flags = {"model": {"heads": "8"}, "text": {"unit": "subwords"}}
    merged = merge(preset, flags)
    assert merged == {"model": {"heads": "8", "d_model": 128}, "text": {"unit": "subwords"}}
    merged["model"]["heads"] = 0
    assert preset == {"model": {"heads": 4, "d_model": 128}}


# -- dataclasses


def test_flags_and_toml_values_build_the_same_settings() -> None:
    from_flags = {
        "d_model": "256",
        "heads": "4",
        "dropout": "0.3",
        "tied": "false",
        "norm": "pre",
        "betas": "0.9, 0.997",
        "d_k": "32",
        "start_from": "runs/x",
        "words": "",
    }
    from_toml = {
        "d_model": 256,
        "heads": 4,
        "dropout": 0.3,
        "tied": False,
        "norm": "pre",
        "betas": [0.9, 0.997],
        "d_k": 32,
        "start_from": "runs/x",
        "words": [],
    }
    expected = Model(256, 4, 0.3, False, "pre", (0.9, 0.997), 32, Path("runs/x"), ())
    assert build(Model, from_flags, section="model") == expected
    assert build(Model, from_toml, section="model") == expected


def test_what_is_not_given_keeps_its_default_and_none_can_be_written() -> None:
    assert build(Model, {}, section="model") == Model()
    assert build(Model, {"d_k": "none", "start_from": "None"}, section="model") == Model()
    assert build(Model, {"dropout": 0}, section="model").dropout == 0.0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("heads", "four"),
        ("heads", "4.5"),
        ("heads", 4.5),
        ("heads", True),
        ("heads", [4]),
        ("heads", {"a": 1}),
        ("heads", "none"),
        ("heads", ""),
        ("dropout", "a lot"),
        ("dropout", "nan"),
        ("dropout", math.inf),
        ("dropout", False),
        ("tied", "maybe"),
        ("tied", 2),
        ("norm", "Post"),
        ("norm", 3),
        ("betas", "0.9,x"),
        ("betas", 0.9),
        ("d_k", "wide"),
        ("start_from", 3),
    ],
)
def test_a_wrong_value_is_refused_with_rule_value_and_remedy(key: str, value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        build(Model, {key: value}, section="model")
    message = str(caught.value)
    assert message.startswith(f"[model] {key} must be ")
    assert f"got {value!r}" in message
    assert f"--model.{key.replace('_', '-')}" in message or "Did you mean" in message


def test_a_near_miss_of_a_choice_is_suggested() -> None:
    with pytest.raises(ConfigError, match=r"one of 'post', 'pre'; got 'prre'. Did you mean 'pre'"):
        build(Model, {"norm": "prre"}, section="model")


def test_an_unknown_key_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ConfigError) as caught:
        build(Model, {"n_head": 8}, section="model")
    assert str(caught.value) == "unknown key 'n_head' in [model]; did you mean 'heads'?"
    with pytest.raises(ConfigError, match="did you mean 'd_model'"):
        build(Model, {"hidden_size": 8}, section="model")  # as others call it
    with pytest.raises(ConfigError, match="it has d_model, heads, dropout"):
        build(Model, {"zzz": 8}, section="model")


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigError, match=r"\[data\] needs 'name'; give it with --data.name"):
        build(Named, {}, section="data")


def test_the_dataclass_has_the_last_word() -> None:
    with pytest.raises(ConfigError, match="d_model must be a multiple of heads; got 100"):
        build(Model, {"d_model": "100", "heads": "8"}, section="model")


# -- writing

texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.one_of(
    texts, st.integers(), st.booleans(), st.floats(allow_nan=False), st.floats(0, 1e-6)
)
values = st.one_of(scalars, st.lists(scalars, max_size=4))


@given(st.dictionaries(texts, st.dictionaries(texts, values, max_size=5), max_size=4))
def test_what_is_written_is_read_back_the_same(sections: dict[str, dict[str, Any]]) -> None:
    read = tomllib.loads(format_toml(sections))
    assert read == sections
    assert repr(read) == repr(sections)  # also: True is not 1, 1 is not 1.0


def test_a_file_of_settings_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    settings = {"model": {"d_k": None, "start_from": Path("训练/a b"), "betas": (0.9, 0.98)}}
    path.write_text(format_toml(settings), encoding="utf-8")
    assert read_toml(path) == {"model": {"start_from": "训练/a b", "betas": [0.9, 0.98]}}
    assert b"\r" not in path.read_bytes()


def test_what_toml_cannot_say_is_refused() -> None:
    with pytest.raises(ConfigError, match="valid Unicode"):
        format_toml({"data": {"source": "\udcff"}})
    with pytest.raises(TypeError, match="no dict"):
        format_toml({"data": {"source": {}}})


@pytest.mark.parametrize(
    "value", [10**30, -(10**30), "9" * 30, 1 << 70_000], ids=["large", "below", "text", "long"]
)
def test_a_whole_number_that_nothing_can_hold_is_refused_whatever_its_length(value):
    with pytest.raises(ConfigError, match=r"beam must be a whole number between -2\^63 and 2\^63"):
        build(DecodingSettings, {"beam": value}, section="decoding")

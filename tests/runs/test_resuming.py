"""Going on with a run: what was prepared when it began is found again."""

import json
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from everyday_run import FLAGS, Finished, command, unfinish, write_pairs

from headway.core.config import merge
from headway.core.errors import ConfigError, StoppedError
from headway.core.run_folder import RunFolder
from headway.core.trainer import Trainer
from headway.demo import generate
from headway.language_models.spec import SPEC as LANGUAGE_MODEL
from headway.runs.resuming import refuse_changes
from headway.runs.settings import Settings
from headway.runs.task_spec import Request
from headway.runs.train import asked_for
from headway.translation.spec import SPEC

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
FOLDER = RunFolder(Path("run"))
SHORT = [*FLAGS, "--training.max-steps=4"]


def written(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """The same pairs in files of several kinds, and how each is named for `train`."""
    write_pairs(Path(), "a", pairs)
    rows = "".join(f"{source}\t{target}\n" for source, target in pairs)
    Path("a.tsv").write_text(f"en\tzh\n{rows}", encoding="utf-8")
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{source}</seg></tuv>'
        f'<tuv xml:lang="zh"><seg>{target}</seg></tuv></tu>\n'
        for source, target in pairs
    )
    header = '<header srclang="en"/>'
    text = f'<?xml version="1.0"?>\n<tmx version="1.4">{header}<body>\n{units}</body></tmx>\n'
    Path("a.tmx").write_text(text, encoding="utf-8")
    return {
        "text": ["--source", "a.en", "--target", "a.zh"],
        "tsv": ["--pairs", "a.tsv"],
        "tmx, tagged": ["--pairs", "a.tmx@2:tag=mine"],
    }


def stopped_at_once(_trainer: object, _stop_asked: object) -> None:
    raise StoppedError("all is prepared")


def resumed(out: Path, *more: str) -> Finished:
    unfinish(out)
    return command("train", "--out", str(out), "--resume", *more)


@pytest.mark.parametrize("kind", ["text", "tsv", "tmx, tagged"])
def test_nothing_is_prepared_again_when_a_run_is_gone_on_with(
    kind: str, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.corpora.prepared.IN_MEMORY", 0)  # as of a large corpus
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    files = written(generate(200, 3))[kind]
    began = command("train", *files, "--out", "run", *SHORT)
    assert began.status == 0, began.err
    made = {path.name: path.stat().st_mtime_ns for path in own_cache.iterdir()}
    assert len(made) >= 4  # cleaned, sub-words, two encoded
    run, model = Path("run"), Path("run/model.safetensors").read_bytes()
    (run / "model.safetensors").unlink()
    shutil.rmtree(run / "checkpoints")
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train", stopped_at_once)
        assert resumed(run).status == 130
    assert {path.name: path.stat().st_mtime_ns for path in own_cache.iterdir()} == made
    monkeypatch.chdir(tmp_path / "elsewhere")
    went_on = resumed(Path("../run"))
    assert went_on.status == 0, went_on.err
    assert {path.name: path.stat().st_mtime_ns for path in own_cache.iterdir()} == made
    assert Path("../run/model.safetensors").read_bytes() == model


def test_a_cached_corpus_is_named_as_it_is_named_now(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = generate(60, 3)
    write_pairs(Path(), "a", [*pairs, pairs[0], ("alone", "")])
    named = {}
    for folder in (Path(), tmp_path):
        files = [str(folder / "a.en"), str(folder / "a.zh")]
        done = command("prepare", "--source", files[0], "--target", files[1], "--json")
        assert done.status == 0, done.err
        report = json.loads(done.out)
        named[folder] = [one["file"] for some in report["examples"].values() for one in some]
    assert set(named[Path()]) == {"a.en"}
    assert named[tmp_path] == [str(tmp_path / "a.en")] * len(named[Path()])
    assert len(list(own_cache.iterdir())) == 1


def test_files_with_weights_may_be_named_again_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(generate(200, 3))
    began = command("train", "--data.pairs", "a.tsv@2", "--out", "run", *SHORT)
    assert began.status == 0, began.err
    again = resumed(Path("run"), "--data.pairs", "a.tsv@2")
    assert again.status == 0, again.err
    refused = resumed(Path("run"), "--data.pairs", "a.tsv@3")
    assert refused.status == 2
    assert "[data] pairs is" in refused.err


def test_a_presets_length_gives_way_to_a_budget_when_the_run_goes_on_too():
    given = {"training": {"budget": "2h"}}
    stored = merge(SPEC.presets["paper-base"], given, {"training": {"max_steps": 1200}})
    settings = Settings.of(stored, SPEC)
    refuse_changes(SPEC, Request(given, FOLDER, preset="paper-base"), settings, {})
    asked = merge(given, {"training": {"max_steps": 7}})
    with pytest.raises(ConfigError, match=r"\[training\] max_steps is 1200, got 7"):
        refuse_changes(SPEC, Request(asked, FOLDER, preset="paper-base"), settings, {})
    with pytest.raises(ConfigError, match="keeps its settings"):
        refuse_changes(SPEC, Request(given, FOLDER, preset="tiny"), settings, {})


OTHER_DATA = {
    "max_ratio": "3", "max_characters": "99", "deduplicate": "false", "skip_notes": "not ok",
    "max_length": "7", "workers": "1", "source": "b.en", "target": "b.zh", "pairs": "a.tsv@3",
    "valid_source": "b.en", "valid_target": "b.zh", "valid_pairs": "b.tsv", "valid_size": "9",
    "source_language": "fr", "target_language": "fr", "glossary": "b.tsv", "old_share": "0.5",
    "old_run": "b", "tags": "mine", "prepared": "b",
}  # fmt: skip
OTHER_TEXT = {"corpus": "b.txt", "valid_corpus": "b.txt", "documents": "true"}


@pytest.mark.parametrize(
    ("kind", "named", "others"),
    [
        (SPEC, {"source": "a.en", "pairs": "a.tsv@2:tag=new", "glossary": "t.tsv"}, OTHER_DATA),
        (LANGUAGE_MODEL, {"corpus": "a.txt,c.txt"}, OTHER_TEXT),
    ],
)
def test_the_same_files_go_on_under_any_path_and_whatever_else_is_refused_by_name(
    kind, named, others, tmp_path, monkeypatch
):
    assert others.keys() == {one.name for one in fields(kind.sections["data"])}
    monkeypatch.chdir(tmp_path)
    task = {"run": {"task": kind.name}}
    stored = kind.absolute(Settings.of(merge(task, {"data": named}), kind).data)
    settings = Settings.of(merge(task, {"data": stored}), kind)
    for key, value in named.items():
        for same in (value, stored[key]):
            refuse_changes(kind, Request({"data": {key: same}}, FOLDER), settings, {})
    for key, value in others.items():
        with pytest.raises(ConfigError, match=rf"\[data\] {key} is .*, got .*\. Leave it out"):
            refuse_changes(kind, Request({"data": {key: value}}, FOLDER), settings, {})


@pytest.mark.parametrize("name", [None, "paper-base"])
def test_what_was_asked_for_may_be_asked_again_whatever_came_of_it(name):
    given = {
        "text": {"codes": "auto"} if name else {"codes": "auto", "vocabulary_size": "8000"},
        "training": {"budget": "2h", "max_steps": "0"},
        "runtime": {"threads": "0"},
    }
    came: dict[str, dict[str, Any]] = {
        "text": {"codes": "keep", "vocabulary_size": 5321},
        "training": {"max_steps": 1600},
        "runtime": {"threads": 2},
    }
    request = Request(given, FOLDER, preset=name)
    began = merge(SPEC.presets[name] if name else {}, given)
    asked = json.loads(json.dumps(asked_for(SPEC, request, Settings.of(began, SPEC))))
    plans = {"training": {"plans": ((400, 2100),)}}
    settings = Settings.of(merge(began, came, plans), SPEC)
    for same in (request, Request(came, FOLDER), Request({}, FOLDER, preset=name)):
        refuse_changes(SPEC, same, settings, asked)
    for section, values in came.items():
        for key in values:
            other = {section: {key: "mask" if key == "codes" else "7"}}
            with pytest.raises(ConfigError, match=rf"\[{section}\] {key} is .*, got .*(mask|7)"):
                refuse_changes(SPEC, Request(other, FOLDER), settings, asked)
    with pytest.raises(ConfigError, match=r"keeps its settings and its files; \[text\]"):
        refuse_changes(SPEC, request, settings, {})
    request = Request({"model": {"type": "recurrent"}}, FOLDER)
    with pytest.raises(ConfigError, match=r"\[model\] type is 'transformer', got 'recurrent'"):
        refuse_changes(SPEC, request, settings, asked)


def test_the_command_that_began_a_run_goes_on_with_it_and_with_no_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = written(generate(200, 3))["text"]
    same = [*files, *SHORT, "--text.vocabulary-size=8000"]
    began = command("train", *same, "--out", "run")
    assert began.status == 0, began.err
    stored = RunFolder(Path("run")).settings()
    assert stored["text"]["vocabulary_size"] < 8000
    again = resumed(Path("run"), *same)
    assert again.status == 0, again.err
    assert RunFolder(Path("run")).settings() == stored
    refused = resumed(Path("run"), "--pairs", "nowhere.tsv")
    assert refused.status == 2
    assert "[data] pairs is [], got" in refused.err
    assert "nowhere.tsv" in refused.err

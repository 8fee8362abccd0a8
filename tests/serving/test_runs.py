"""Runs of a service: found by their languages, loaded once, unloaded and replaced while in use."""

import os
import threading
from pathlib import Path

import pytest
from served_runs import Loader, run_folder

from headway.core.errors import ConfigError, RunError
from headway.serving import run_memory, served_run
from headway.serving import runs as runs_module
from headway.serving.requests import CALLER, Caller, RefusedError
from headway.serving.runs import ServedRuns


@pytest.fixture(autouse=True)
def only_weights_take_memory(monkeypatch) -> None:
    monkeypatch.setattr(served_run, "BESIDE", 0)


def served(tmp_path: Path, *pairs: str, **settings):
    loader = Loader()
    folders = [run_folder(tmp_path / pair, *pair.split("-", 1)) for pair in pairs]
    return ServedRuns(folders, loader, **settings), loader


def changed(folder: Path, weights: bytes) -> None:
    """Other weights, in one instant."""
    (folder / "aside").write_bytes(weights)
    os.replace(folder / "aside", folder / "model.safetensors")


def stamp(runs: ServedRuns, source: str, target: str) -> str:
    with runs.using(runs.of(source, target)) as translator:
        return translator.stamp


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (("EN", "DE"), "en-de"),
        (("en-US", "de_AT"), "en-de"),
        (("eng", "deu"), "en-de"),
        (("en", "zh_Hans"), "en-zh"),
        (("en", "zh-CN"), "en-zh"),
        (("en", "ZH"), "en-zh"),
        (("en", "pt-BR"), "en-pt_BR"),
        (("en", "PT"), "en-pt"),
        (("en", "pt-PT"), "en-pt"),
    ],
)
def test_codes_match_whatever_their_case_region_or_letters(tmp_path, asked, found) -> None:
    runs, _ = served(tmp_path, "en-de", "en-zh", "en-pt_BR", "en-pt")
    assert runs.of(*asked).path.name == found


def test_a_second_run_of_a_pair_is_said_to_have_nothing_to_do(tmp_path) -> None:
    said: list[str] = []
    loader = Loader()
    folders = [run_folder(tmp_path / name, "en", "de") for name in ("old", "new")]
    runs = ServedRuns(folders, loader, say=said.append)
    assert runs.of("en", "de").path.name == "old"
    assert len(said) == 1
    assert "new is not served" in said[0]


def test_a_pair_that_is_not_there_is_refused_with_those_that_are(tmp_path) -> None:
    runs, _ = served(tmp_path, "en-de", "de-en")
    with pytest.raises(RefusedError, match="fr is not .* into en here.*en to de, de to en") as told:
        runs.of("fr", "en")
    assert told.value.reason == "language"


def test_a_folder_without_languages_is_refused_and_without_one_every_pair(tmp_path) -> None:
    folder = run_folder(tmp_path / "x", "en", "de")
    (folder / "config.toml").write_text("[model]\n", "utf-8")
    with pytest.raises(RunError, match="says its two languages"):
        ServedRuns([folder], Loader())
    folder = run_folder(tmp_path / "y", "en", "de")
    (folder / "config.toml").write_text('[model]\n[run]\ntask = "tagging"\n', "utf-8")
    with pytest.raises(RunError, match="is one of tagging. Ask it by: headway predict"):
        ServedRuns([folder], Loader())
    with pytest.raises(RefusedError, match="not translated"):
        ServedRuns([], Loader()).of("en", "de")  # of a service of language models alone


def test_nothing_is_loaded_before_it_is_needed_and_then_once_by_all_who_ask(tmp_path) -> None:
    runs, loader = served(tmp_path, "en-de", "de-en")
    assert loader.loaded == []
    loader.may_go_on.clear()
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(stamp(runs, "en", "de"))) for _ in range(8)
    ]
    for one in threads:
        one.start()
    loader.may_go_on.set()
    for one in threads:
        one.join()
    assert found == ["en-de"] * 8
    assert loader.loaded == ["en-de"]
    runs.load_all()
    assert loader.loaded == ["en-de", "de-en"]


def test_what_was_not_used_for_longest_is_unloaded_for_another(tmp_path) -> None:
    retired: list[str] = []
    runs, loader = served(
        tmp_path, "en-de", "de-en", "en-fr", memory_limit=4000,
        retire=lambda translator: retired.append(translator.stamp),
    )  # fmt: skip
    for pair in ("en-de", "de-en", "en-de", "en-fr"):
        stamp(runs, *pair.split("-"))
    assert [state.is_loaded for state in runs.states()] == [True, False, True]
    assert sum(state.n_bytes for state in runs.states()) <= 4000
    assert retired == ["de-en"]
    stamp(runs, "de", "en")
    assert loader.loaded == ["en-de", "de-en", "en-fr", "de-en"]
    assert retired == ["de-en", "en-de"]


def test_a_run_in_use_is_never_unloaded_and_who_needs_its_memory_waits_for_it(tmp_path) -> None:
    runs, _ = served(tmp_path, "en-de", "de-en", memory_limit=2500)
    found: list[str] = []
    with runs.using(runs.of("en", "de")) as translator:
        other = threading.Thread(target=lambda: found.append(stamp(runs, "de", "en")))
        other.start()
        other.join(0.2)
        assert other.is_alive()
        assert [state.is_loaded for state in runs.states()] == [True, False]
        assert translator.translate(["x"]) == ["en-de:x"]
    other.join(10)
    assert found == ["de-en"]
    assert [state.is_loaded for state in runs.states()] == [False, True]


def test_who_waits_for_memory_longer_than_its_deadline_is_told_so(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(run_memory, "WAIT_S", 0.1)
    runs, _ = served(tmp_path, "en-de", "de-en", memory_limit=2500)
    with runs.using(runs.of("en", "de")), pytest.raises(RefusedError, match="memory") as told:
        stamp(runs, "de", "en")
    assert told.value.reason == "busy"
    assert told.value.retry_after_s
    assert stamp(runs, "de", "en") == "de-en"  # nothing stayed reserved


def test_memory_that_searches_set_aside_counts_as_it_is(tmp_path) -> None:
    aside = {"en-de": 0, "de-en": 0}
    runs, _ = served(
        tmp_path, "en-de", "de-en", memory_limit=4100,
        set_aside=lambda translator: aside[translator.stamp],
    )  # fmt: skip
    stamp(runs, "en", "de")
    with runs.using(runs.of("de", "en")):
        assert [state.n_bytes for state in runs.states()] == [2000, 2000]
        aside["de-en"] = 150
    assert [state.is_loaded for state in runs.states()] == [False, True]
    assert runs.states()[1].n_bytes == 2150


def test_a_run_larger_than_memory_may_be_is_refused_at_once(tmp_path) -> None:
    with pytest.raises(ConfigError, match="Raise --memory-limit"):
        served(tmp_path, "en-de", memory_limit=1500)


def test_a_changed_run_is_swapped_while_the_old_one_is_in_use(tmp_path) -> None:
    retired: list[str] = []
    runs, _ = served(tmp_path, "en-de", retire=lambda one: retired.append(one.stamp))
    with runs.using(runs.of("en", "de")) as old:
        changed(tmp_path / "en-de", b"new" + bytes(997))
        runs.reload()
        assert stamp(runs, "en", "de") == "new"
        assert old.translate(["x"]) == ["en-de:x"]
        assert retired == []  # it has a user
    assert retired == ["en-de"]
    with runs.using(runs.of("en", "de")) as unchanged:
        runs.reload()
        assert runs.of("en", "de").loaded.translator is unchanged


def test_a_broken_new_run_leaves_the_old_one_serving_and_is_said(tmp_path) -> None:
    said: list[str] = []
    runs, loader = served(tmp_path, "en-de", say=said.append)
    stamp(runs, "en", "de")
    changed(tmp_path / "en-de", b"broken")
    runs.reload()
    assert stamp(runs, "en", "de") == "en-de"
    assert runs.states()[0].trouble == "it is broken"
    assert "cannot be served: it is broken" in said[-1]
    runs.reload(again=False)
    assert loader.loaded == ["en-de", "en-de"]  # not tried again while nothing changes
    changed(tmp_path / "en-de", b"mended" + bytes(994))
    runs.reload(again=False)
    assert stamp(runs, "en", "de") == "mended"
    assert runs.states()[0].trouble == ""


def test_a_run_that_is_gone_serves_on_until_another_lies_there(tmp_path) -> None:
    runs, _ = served(tmp_path, "en-de")
    stamp(runs, "en", "de")
    (tmp_path / "en-de").rename(tmp_path / "away")
    runs.reload()
    assert stamp(runs, "en", "de") == "en-de"
    assert "does not exist" in runs.states()[0].trouble
    run_folder(tmp_path / "en-de", "en", "fr")
    runs.reload()
    assert stamp(runs, "en", "fr") == "en-de"
    with pytest.raises(RefusedError):
        runs.of("en", "de")


def test_changes_are_seen_by_requests_but_looked_for_no_more_than_once_a_second(
    tmp_path, monkeypatch
) -> None:
    seconds = [100.0]
    monkeypatch.setattr(runs_module.time, "monotonic", lambda: seconds[0])
    runs, loader = served(tmp_path, "en-de")
    stamp(runs, "en", "de")
    changed(tmp_path / "en-de", b"new" + bytes(997))
    stamp(runs, "en", "de")
    assert loader.loaded == ["en-de"]
    seconds[0] += 1.1
    before = {*threading.enumerate()}  # those of other tests may never end
    stamp(runs, "en", "de")
    for one in {*threading.enumerate()} - before:
        one.join(10)
    assert stamp(runs, "en", "de") == "new"
    assert loader.loaded == ["en-de", "en-de"]


def test_a_run_that_cannot_be_loaded_is_not_tried_for_every_request(tmp_path) -> None:
    runs, loader = served(tmp_path, "en-de")
    changed(tmp_path / "en-de", b"broken")
    for _ in range(3):
        with pytest.raises(RefusedError, match="cannot be loaded") as told:
            stamp(runs, "en", "de")
        assert str(tmp_path) not in str(told.value)
    assert loader.loaded == ["en-de"]
    changed(tmp_path / "en-de", b"good" + bytes(996))
    assert stamp(runs, "en", "de") == "good"


def test_each_translator_is_prepared_before_it_serves(tmp_path) -> None:
    prepared: list[str] = []
    runs, _ = served(tmp_path, "en-de", prepare=lambda one: prepared.append(one.stamp))
    stamp(runs, "en", "de")
    assert prepared == ["en-de"]


def test_who_cannot_wait_gets_what_is_in_memory_and_loads_nothing(tmp_path) -> None:
    runs, loader = served(tmp_path, "en-de")
    run = runs.of("en", "de")
    with runs.using_loaded(run) as translator:
        assert translator is None
    assert loader.made == {}
    runs.load_all()
    with runs.using_loaded(run) as translator:
        assert translator is loader.made["en-de"]
        assert runs.states()[0].n_users == 1
    assert runs.states()[0].n_users == 0


def test_a_caller_who_left_or_is_late_is_not_served() -> None:
    caller = Caller()
    caller.refuse_over()
    caller.gone.set()
    with pytest.raises(RefusedError, match="nobody waits"):
        caller.refuse_over()
    with pytest.raises(RefusedError, match="in time"):
        Caller(deadline=0.0).refuse_over()
    assert not CALLER.get().gone.is_set()

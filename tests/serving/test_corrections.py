"""Corrections: on the disk before they are answered, at once in force, and a file to train with."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from headway.core.cleaning import Report
from headway.core.disk import DiskError
from headway.languages.codes import LanguagePair
from headway.localization.formats.tables import read_jsonl
from headway.operations.locks import TakenError
from headway.serving import corrections as module
from headway.serving.corrections import Corrections, KeptCorrection
from headway.serving.requests import RefusedError, ServedPair

EN_DE, EN_FR = ServedPair("en", "de"), ServedPair("en", "fr")


@pytest.fixture
def kept(tmp_path: Path):
    found = Corrections(tmp_path / "corrections")
    yield found
    found.close()


def n_texts(kept: Corrections) -> int:
    return len(kept._of(EN_DE))


def test_the_newest_correction_holds_for_its_pair_alone(kept: Corrections) -> None:
    kept.add(EN_DE, "Hello", "Hallo")
    kept.add(EN_DE, " Hello\n", "Guten Tag")
    assert kept.exact(EN_DE, "Hello ") == "Guten Tag"
    assert kept.exact(EN_DE, "hello") is None
    assert kept.exact(EN_FR, "Hello") is None
    assert n_texts(kept) == 1


def test_they_are_there_again_after_a_start_and_a_training_reads_them(tmp_path: Path) -> None:
    texts = [("a\tb\nc", "ä\tö\nü"), ("Hello", "Hallo"), ("“x”", "„x“\u2028\u0085y")]
    first = Corrections(tmp_path)
    for source, target in texts:
        first.add(EN_DE, source, target)
    file = first.file_of(EN_DE)
    first.close()
    again = Corrections(tmp_path)
    assert [again.exact(EN_DE, source) for source, _ in texts] == [target for _, target in texts]
    again.close()
    report = Report()
    pairs = read_jsonl(file, LanguagePair("en", "de"), report)
    assert [(pair.source, pair.target) for pair in pairs] == texts
    assert not report.dropped


def test_a_line_that_a_lost_power_supply_tore_costs_only_itself(tmp_path: Path) -> None:
    said: list[str] = []
    first = Corrections(tmp_path)
    first.add(EN_DE, "one", "eins")
    first.add(EN_DE, "two", "zwei")
    file = first.file_of(EN_DE)
    first.close()
    whole = file.read_bytes()
    for n in range(len(whole.splitlines()[0]) + 1, len(whole)):
        file.write_bytes(whole[:n])
        again = Corrections(tmp_path, said.append)
        assert again.exact(EN_DE, "one") == "eins"
        again.add(EN_DE, "three", "drei")
        again.close()
        last = Corrections(tmp_path)
        assert last.exact(EN_DE, "three") == "drei"
        last.close()
    assert any("1 lines that are no corrections" in one for one in said)


def test_it_is_on_the_disk_before_it_holds(kept: Corrections, monkeypatch) -> None:
    events: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        events.append(f"synced {kept.exact(EN_DE, 'a')}")
        real(handle)

    assert n_texts(kept) == 0
    monkeypatch.setattr(module.os, "fsync", fsync)
    kept.add(EN_FR, "x", "y")
    assert kept.exact(EN_DE, "a") is None
    kept.add(EN_DE, "a", "b")
    assert events[0] == "synced None"
    assert events[-1] == "synced None"
    assert kept.exact(EN_DE, "a") == "b"


def test_what_the_disk_refuses_is_not_kept_and_leaves_the_file_whole(kept, monkeypatch) -> None:
    kept.add(EN_DE, "a", "b")
    file = kept.file_of(EN_DE)
    before = file.read_bytes()

    def refuse(handle: int) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(module.os, "fsync", refuse)
    with pytest.raises(DiskError):
        kept.add(EN_DE, "c", "d")
    assert kept.exact(EN_DE, "c") is None
    assert file.read_bytes() == before


def test_a_second_process_is_refused(kept: Corrections) -> None:
    with pytest.raises(TakenError):
        Corrections(kept.folder)
    code = f"from headway.serving.corrections import *; Corrections(Path({str(kept.folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "TakenError" in done.stderr


def test_many_at_once_are_all_kept_each_on_a_line(kept: Corrections) -> None:
    def add(n: int) -> None:
        for i in range(20):
            kept.add(EN_DE, f"{n} {i}", f"{i} {n}")

    threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    lines = kept.file_of(EN_DE).read_text("utf-8").splitlines()
    assert len(lines) == len({json.loads(line)["source"] for line in lines}) == 160
    assert n_texts(kept) == 160


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [(" ", "x", "bad"), ("x", "\n", "bad"), ("x" * (1 << 20), "y", "too_long")],
)
def test_what_is_no_correction_is_refused(kept, source, target, reason) -> None:
    with pytest.raises(RefusedError) as told:
        kept.add(EN_DE, source, target)
    assert told.value.reason == reason
    assert not kept.file_of(EN_DE).exists()


def test_several_are_kept_at_once_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), real(handle)))
    with Corrections(tmp_path) as kept:
        with pytest.raises(RefusedError, match="one is blank"):
            kept.add_all(EN_DE, [KeptCorrection("a", "A"), KeptCorrection("b", " ")])
        assert n_texts(kept) == 0
        assert not synced
        kept.add_all(EN_DE, [KeptCorrection(f"text {n}", f"Text {n}") for n in range(50)])
        assert len(synced) <= 2  # the file, and the folder that it is new in
        assert kept.exact(EN_DE, "text 49") == "Text 49"
    with Corrections(tmp_path) as again:
        assert n_texts(again) == 50


def test_what_is_taken_back_is_neither_served_nor_learned_from(tmp_path: Path) -> None:
    with Corrections(tmp_path) as kept:
        kept.add_all(EN_DE, [KeptCorrection("a dog", "Hund"), KeptCorrection("a cat", "Katze")])
        kept.add(EN_DE, "a dog", "ein Hund")
        kept.withdraw(EN_DE, [KeptCorrection("a dog", "Hund")])  # another holds by now
        assert kept.exact(EN_DE, "a dog") == "ein Hund"
        kept.withdraw(
            EN_DE, [KeptCorrection("a dog", "ein Hund"), KeptCorrection("a bird", "Vogel")]
        )
        assert kept.exact(EN_DE, "a dog") is None
        assert "dog" not in kept.file_of(EN_DE).read_text("utf-8")
        kept.add(EN_DE, "a bird", "ein Vogel")
    with Corrections(tmp_path) as again:
        found = [again.exact(EN_DE, text) for text in ("a dog", "a cat", "a bird")]
        assert found == [None, "Katze", "ein Vogel"]


def test_what_does_not_hold_is_taken_back_without_a_look_at_all_others(
    kept: Corrections, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.add_all(EN_DE, [KeptCorrection("a dog", "Hund"), KeptCorrection("a cat", "Katze")])
    monkeypatch.setattr(module, "_all", None)
    kept.withdraw(EN_DE, [])
    kept.withdraw(EN_DE, [KeptCorrection("a dog", "ein Hund"), KeptCorrection("a bird", "Vogel")])
    assert n_texts(kept) == 2


def test_of_a_text_the_correction_with_one_key_is_taken_back(kept: Corrections) -> None:
    some = [KeptCorrection("Open", word, key) for word, key in (("Auf", "door"), ("Offen", ""))]
    kept.add_all(EN_DE, some)
    kept.withdraw(EN_DE, some[:1])
    assert kept.exact(EN_DE, "Open", key="door") is None
    assert kept.exact(EN_DE, "Open") == "Offen"
    kept.withdraw(EN_DE, some[1:])
    assert kept.exact(EN_DE, "Open") is None
    assert n_texts(kept) == 0
    assert kept.file_of(EN_DE).read_bytes() == b""


def test_corrections_of_one_text_with_other_keys_are_all_kept(tmp_path: Path) -> None:
    with Corrections(tmp_path) as kept:
        some = [
            KeptCorrection("Open", "Öffnen", "button"),
            KeptCorrection("Open", "Offen", "state"),
        ]
        kept.add_all(EN_DE, some)
        assert kept.exact(EN_DE, "Open") == "Offen"  # the newest, where no key is asked for
        kept.add_all(EN_DE, [some[0]])
    with Corrections(tmp_path) as again:
        assert again.exact(EN_DE, "Open") == "Öffnen"
        found = {key: again.exact(EN_DE, "Open", key=key) for key in ("button", "state", "", "x")}
        assert found == {"button": "Öffnen", "state": "Offen", "": None, "x": None}
        again.add(EN_DE, "Open", "Auf")
        again.withdraw(EN_DE, [some[1], KeptCorrection("Open", "Offen", "button")])
        assert again.exact(EN_DE, "Open", key="state") is None
        assert again.exact(EN_DE, "Open", key="button") == "Öffnen"
        again.add_all(EN_DE, [some[1]])
        assert again.exact(EN_DE, "Open") == "Auf"  # one without a key goes before the newest
        read = read_jsonl(again.file_of(EN_DE), LanguagePair("en", "de"), Report())
        assert {pair.target for pair in read} == {"Öffnen", "Offen", "Auf"}


@pytest.mark.parametrize("code", ["../x", "en/..", "", "e n", "en\0", "x" * 99])
def test_a_language_names_no_other_file(kept: Corrections, code: str) -> None:
    with pytest.raises(RefusedError):
        kept.add(ServedPair(code, "de"), "a", "b")

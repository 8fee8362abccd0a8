"""Review of a file: what a person approves stands in the same file, and is kept as a correction."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import PO, client_of, service_of, written
from starlette.testclient import TestClient

from headway.core.disk import DiskError
from headway.filling.judging import RunChecks
from headway.localization.checks.calibration import Verdict
from headway.serving import corrections
from headway.serving.corrections import Corrections
from headway.serving.memories import KnownTranslations, PairMemories
from headway.serving.requests import ServedPair
from headway.serving.service import Service
from headway.translator import Translator


@pytest.fixture(scope="module")
def service(everyday_run: Path) -> Service:
    return service_of(everyday_run)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Corrections]:
    with Corrections(tmp_path / "kept") as found:
        yield found


@pytest.fixture
def client(service: Service, tmp_path: Path, kept: Corrections) -> Iterator[TestClient]:
    keeping = Service(service.runs, known=KnownTranslations(kept))
    with client_of(keeping, tmp_path) as (found, _):
        yield found


class Reviewed:
    """A file that is reviewed, as a client sees it."""

    def __init__(self, client: TestClient, name: str, data: str, **more: str) -> None:
        form = {"source": "en", "target": "zh", **more}
        sent = client.post("/v1/review", data=form, files={"file": (name, data.encode())}).json()
        self.client, self.path = client, f"/v1/review/{sent['id']}"
        self.key = {"x-document-key": sent["key"]}

    def units(self) -> list[dict[str, Any]]:
        for _ in range(600):
            found = self.client.get(self.path, headers=self.key).json()
            if found["status"] in ("done", "error"):
                units: list[dict[str, Any]] = found["units"]
                return units
            time.sleep(0.05)
        raise AssertionError(found)

    def edit(self, *units: dict[str, Any]) -> Any:
        return self.client.post(self.path, headers=self.key, json={"units": units})

    def file(self) -> str:
        return self.client.get(f"{self.path}/result", headers=self.key).content.decode()


def test_each_unit_says_where_it_is_from_and_what_is_doubtful(client: TestClient) -> None:
    units = Reviewed(client, "a.po", PO).units()
    assert [one["source"] for one in units] == ["The dog runs.", "%d cats sleep."]
    assert [one["id"] for one in units] == [0, 1]
    for one in units:
        assert one["state"] == "open"
        assert one["target"] == one["output"]
        assert one["origin"] in ("model", "memory")
        assert {"flags", "confidence", "line", "key", "near"} <= one.keys()


def test_what_is_approved_stands_in_the_same_file(client: TestClient, kept: Corrections) -> None:
    reviewed = Reviewed(client, "a.po", PO)
    output = reviewed.units()[1]["output"]
    edited, accepted = reviewed.edit({"id": 0, "target": "狗跑了。"}, {"id": 1}).json()["units"]
    assert (edited["state"], edited["target"]) == ("edited", "狗跑了。")
    assert (accepted["state"], accepted["target"]) == ("accepted", output)
    whole = PO.replace('runs."\nmsgstr ""', 'runs."\nmsgstr "狗跑了。"')
    escaped = output.replace("\\", "\\\\").replace('"', '\\"')
    whole = whole.replace('sleep."\nmsgstr ""', f'sleep."\nmsgstr "{escaped}"')
    assert reviewed.file() == whole  # and nothing in it says that it were a machine's
    assert written(kept) == [("The dog runs.", "狗跑了。"), ("%d cats sleep.", output)]


def test_what_is_taken_back_is_as_it_was(client: TestClient, kept: Corrections) -> None:
    reviewed = Reviewed(client, "a.po", PO)
    reviewed.units()
    before = reviewed.file()
    reviewed.edit({"id": 0, "target": "别的"})
    assert "别的" in reviewed.file()
    [unit] = reviewed.edit({"id": 0, "accepted": False}).json()["units"]
    assert unit["state"] == "open"
    assert reviewed.file() == before
    assert not written(kept)


def test_a_blank_text_leaves_its_unit_and_is_no_correction(
    client: TestClient, kept: Corrections
) -> None:
    reviewed = Reviewed(client, "a.po", PO)
    output = reviewed.units()[1]["output"]
    reviewed.edit({"id": 1})
    assert written(kept) == [("%d cats sleep.", output)]
    [unit] = reviewed.edit({"id": 1, "target": " \n"}).json()["units"]
    assert (unit["state"], unit["target"], unit["flags"]) == ("left", "", [])
    assert reviewed.file().endswith('msgid "%d cats sleep."\nmsgstr ""\n')
    assert not written(kept)
    [unit] = reviewed.edit({"id": 1, "accepted": False}).json()["units"]
    assert (unit["state"], unit["target"]) == ("open", output)


def test_an_edit_is_looked_at_as_every_translation_is(client: TestClient) -> None:
    reviewed = Reviewed(client, "a.po", PO)
    reviewed.units()
    [unit] = reviewed.edit({"id": 1, "target": "猫睡觉。"}).json()["units"]
    assert "code" in {flag["name"] for flag in unit["flags"]}  # %d is gone
    [unit] = reviewed.edit({"id": 1, "target": "%d 只猫睡觉。"}).json()["units"]
    assert "code" not in {flag["name"] for flag in unit["flags"]}


def test_a_lost_code_is_flagged_even_where_training_pairs_lack_many(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunChecks, "judge", lambda *_: Verdict((), None))
    reviewed = Reviewed(client, "a.po", PO)
    reviewed.units()
    for target, names in (("猫睡觉。", ["code"]), ("%d 只猫睡觉。", [])):
        [unit] = reviewed.edit({"id": 1, "target": target}).json()["units"]
        assert [flag["name"] for flag in unit["flags"]] == names


@pytest.mark.parametrize("made", ["%d 只猫睡觉。", "猫睡觉。"])
def test_what_lacks_a_placeholder_is_for_its_file_alone(
    client: TestClient, kept: Corrections, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    monkeypatch.setattr(RunChecks, "judge", lambda *_: Verdict((), None))
    kept.add(ServedPair("en", "zh"), "%d cats sleep.", made)
    reviewed = Reviewed(client, "a.po", PO)
    [_, unit] = reviewed.units()
    assert unit["target"] == made
    reviewed.edit({"id": 1, "target": "%d 只猫睡着了。"})
    [unit] = reviewed.edit({"id": 1, "target": "猫睡觉。"}).json()["units"]  # may be what was made
    assert [flag["name"] for flag in unit["flags"]] == ["code"]
    assert unit["state"] in ("accepted", "edited")
    assert reviewed.file().endswith('msgstr "猫睡觉。"\n')
    assert not written(kept)


def test_another_language_has_other_branches_of_a_choice(
    client: TestClient, kept: Corrections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunChecks, "judge", lambda *_: Verdict((), None))
    source, target = "{n, plural, one {# dog} other {# dogs}}", "{n, plural, other {# 只狗}}"
    reviewed = Reviewed(client, "a.po", f'msgid "{source}"\nmsgstr ""\n')
    reviewed.units()
    [unit] = reviewed.edit({"id": 0, "target": target}).json()["units"]
    assert not unit["flags"]
    assert written(kept) == [(source, target)]


def test_a_correction_holds_for_its_context_first(client: TestClient) -> None:
    keys = ("button", "state", "")
    entry = 'msgid "Open"\nmsgstr ""\n\n'
    context = "".join(f'msgctxt "{key}"\n' * bool(key) + entry for key in keys)
    targets = ["打开", "开着的", "开"]
    reviewed = Reviewed(client, "a.po", context)
    reviewed.units()
    reviewed.edit(*({"id": n, "target": target} for n, target in enumerate(targets[:2])))
    found = [unit["target"] for unit in Reviewed(client, "a.po", context).units()]
    assert found == ["打开", "开着的", "开着的"]  # the newest, where there is no better one
    reviewed.edit({"id": 2, "target": "开"})
    found = [unit["target"] for unit in Reviewed(client, "a.po", context).units()]
    assert found == targets


def test_near_matches_are_those_of_the_services_memories_too(
    service: Service, tmp_path: Path
) -> None:
    memory, pair = tmp_path / "acme.tsv", ServedPair("en", "zh")
    memory.write_text("en\tzh\nStep 3: open the valve\t步骤 3：打开阀门\n", "utf-8")
    known = KnownTranslations(None, PairMemories([memory], [pair]))
    with client_of(Service(service.runs, known=known), tmp_path) as (client, _):
        [unit] = Reviewed(client, "a.txt", "Step 2: open the valve\n").units()
    [near] = unit["near"]
    assert (near["percent"], near["target"]) == (99, "步骤 2：打开阀门")
    assert near["place"] == "acme.tsv:2"  # its folder is nobody's business


def test_a_file_is_translated_and_corrected_with_a_tag_of_the_run(
    tagged_demo: Path, tmp_path: Path, kept: Corrections
) -> None:
    pair, source, text = ServedPair("en", "zh"), "The dog runs.", "The dog runs.\n"
    memory = tmp_path / "acme.tsv"
    memory.write_text(f"en\tzh\n{source}\t没有标签\n", "utf-8")
    known = KnownTranslations(kept, PairMemories([memory], [pair]))
    service = Service(service_of(tagged_demo).runs, known=known)
    with client_of(service, tmp_path) as (client, _):
        translator = Translator.load(tagged_demo, device="cpu")
        [wanted] = translator.translate([source], tag="formal")
        reviewed = Reviewed(client, "a.txt", text, tag="formal")
        [unit] = reviewed.units()
        assert (unit["target"], unit["origin"]) == (wanted, "model")
        reviewed.edit({"id": 0, "target": "狗跑了。"})
        assert Reviewed(client, "a.txt", text, tag="formal").units()[0]["target"] == "狗跑了。"
        assert Reviewed(client, "a.txt", text).units()[0]["target"] == "没有标签"
        reviewed.edit({"id": 0, "accepted": False})
        assert Reviewed(client, "a.txt", text, tag="formal").units()[0]["target"] == wanted
        form = {"source": "en", "target": "zh", "tag": "formall"}
        for place in ("documents", "review"):
            files = {"file": ("a.txt", text.encode())}
            refused = client.post(f"/v1/{place}", data=form, files=files)
            assert refused.status_code == 400
            assert "Its tags: formal" in refused.json()["error"]


def test_tags_of_a_page_stay_in_what_a_person_writes(client: TestClient) -> None:
    reviewed = Reviewed(client, "a.html", "<p>The <b>dog</b> runs.</p>\n<p>Hello, cat!</p>")
    reviewed.units()
    refused = reviewed.edit({"id": 0, "target": "狗跑了。"})
    assert refused.status_code == 400
    assert "<b>" in refused.json()["error"]
    assert reviewed.edit({"id": 0, "target": "<b>狗</b>跑<i>了</i>。"}).status_code == 200
    assert "<p><b>狗</b>跑&lt;i&gt;了&lt;/i&gt;。</p>" in reviewed.file()


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ({"id": 7}, "no unit with the id 7"),
        ({"id": -1}, "units.1.id"),
        ({"id": "0"}, "units.1.id"),
        ({"id": 0, "target": "a\x00b"}, "unit 1: control"),
        ({"id": 0, "target": "x" * 20_001}, "at most 20,000 characters"),
        ({"id": 0, "path": "/etc/passwd"}, "units.1.path"),
    ],
)
def test_a_wrong_edit_changes_nothing(
    client: TestClient, kept: Corrections, unit: dict[str, Any], said: str
) -> None:
    reviewed = Reviewed(client, "a.po", PO)
    before = reviewed.units()
    refused = reviewed.edit({"id": 1, "target": "%d 只猫"}, unit)
    assert refused.status_code == 400
    assert said in refused.json()["error"]
    assert reviewed.units() == before
    assert not written(kept)


def test_an_edit_that_the_disk_refuses_changes_nothing(
    client: TestClient, kept: Corrections, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: Path, lines: bytes) -> None:
        if "三".encode() in lines:
            raise DiskError(file, OSError(28, "No space left on device"))
        append(file, lines)

    append = corrections._append
    monkeypatch.setattr(corrections, "_append", full)
    reviewed = Reviewed(client, "a.txt", "I love tea.\n")
    reviewed.units()
    assert reviewed.edit({"id": 0, "target": "我爱茶。"}).status_code == 200
    before, file, lines = reviewed.units(), reviewed.file(), written(kept)
    assert reviewed.edit({"id": 0, "target": "三杯茶。"}).status_code == 503
    assert (reviewed.units(), reviewed.file(), written(kept)) == (before, file, lines)


@pytest.mark.parametrize("text", ["\ufeff", " \ufeff\t"])
def test_a_text_of_a_byte_order_mark_alone_is_blank(
    client: TestClient, kept: Corrections, text: str
) -> None:
    reviewed = Reviewed(client, "a.txt", "I love tea.\n")
    reviewed.units()
    (unit,) = reviewed.edit({"id": 0, "target": text}).json()["units"]
    assert (unit["state"], unit["target"]) == ("left", "")
    assert not written(kept)


def test_only_what_was_sent_to_be_reviewed_is(client: TestClient) -> None:
    form = {"source": "en", "target": "zh"}
    sent = client.post("/v1/documents", data=form, files={"file": ("a.po", PO.encode())}).json()
    key = {"x-document-key": sent["key"]}
    while client.get(f"/v1/documents/{sent['id']}", headers=key).json()["status"] != "done":
        time.sleep(0.05)
    assert client.get(f"/v1/review/{sent['id']}", headers=key).status_code == 400
    assert client.get(f"/v1/review/{sent['id']}").status_code == 404

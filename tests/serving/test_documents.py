"""Files that clients send come back filled in, or a client is told why not."""

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import PO, client_of, service_of
from starlette.testclient import TestClient

from headway.serving import bodies
from headway.serving.corrections import Corrections
from headway.serving.documents import STOPPED, DocumentLimits, Documents
from headway.serving.limits import Limits
from headway.serving.memories import KnownTranslations
from headway.serving.requests import Caller, RefusedError
from headway.serving.service import Service

HTML = "<!doctype html><html><body><p>The dog <b>runs</b>.</p><p>Hello!</p></body></html>"
KINDS = {
    "a.po": PO,
    "a.txt": "The dog runs.\n\nI love learning.\n",
    "A.JSON": '{"menu": {"dog": "The dog runs.", "n": 3}}',
    "a.html": HTML,
    "a.srt": "1\n00:00:01,000 --> 00:00:02,000\nThe dog runs.\n",
    "a.md": "# The dog\n\nIt runs.\n",
    "a.xlf": '<?xml version="1.0"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:'
    '1.2"><file source-language="en" target-language="zh" original="a" datatype="plaintext"><body>'
    '<trans-unit id="1"><source>The dog runs.</source></trans-unit></body></file></xliff>',
}
"""Of several kinds, each with something to translate."""


@pytest.fixture(scope="module")
def service(everyday_run: Path) -> Service:
    return service_of(everyday_run)


@pytest.fixture
def both(service: Service, tmp_path: Path) -> Iterator[tuple[TestClient, Documents]]:
    with client_of(service, tmp_path) as found:
        yield found


@pytest.fixture
def client(both: tuple[TestClient, Documents]) -> TestClient:
    return both[0]


def send(client: TestClient, name: str, data: str | bytes, **more: str) -> Any:
    form = {"source": "en", "target": "zh", **more}
    return client.post("/v1/documents", data=form, files={"file": (name, data)})


def done(client: TestClient, sent: dict[str, Any]) -> dict[str, Any]:
    """What is told of a document once it is finished."""
    headers = {"x-document-key": sent["key"]}
    for _ in range(600):
        found: dict[str, Any] = client.get(f"/v1/documents/{sent['id']}", headers=headers).json()
        if found["status"] in ("done", "error"):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def result(client: TestClient, sent: dict[str, Any]) -> Any:
    return client.get(f"/v1/documents/{sent['id']}/result", params={"document_key": sent["key"]})


@pytest.mark.parametrize("name", KINDS)
def test_a_file_of_any_kind_comes_back_translated(client: TestClient, name: str) -> None:
    sent = send(client, name, KINDS[name]).json()
    assert done(client, sent)["status"] == "done"
    got = result(client, sent)
    assert got.status_code == 200
    assert got.content != KINDS[name].encode()
    assert any("\u4e00" <= sign <= "\u9fff" for sign in got.text)
    assert got.headers["content-disposition"].startswith("attachment;")


def test_only_what_is_empty_in_a_po_file_is_filled(client: TestClient) -> None:
    sent = send(client, "x.po", PO).json()
    assert (sent["units"], sent["kind"]) == (2, ".po")
    done(client, sent)
    got = client.get(
        f"/v1/documents/{sent['id']}/result", params={"document_key": sent["key"]}
    ).text
    assert "# a comment that stays\n" in got
    assert 'msgstr "我爱学习。"' in got
    assert got.count('msgstr ""') == 1  # the header's


def test_the_language_of_a_file_is_found_from_its_text(client: TestClient) -> None:
    text = "The dog runs through the garden.\nI love learning about animals.\n"
    sent = send(client, "a.txt", text, source="auto").json()
    assert sent["source"] == "en"
    assert sent["sureness"] > 0.5
    refused = send(client, "a.txt", "Der Hund läuft durch den Garten und bellt.", source="auto")
    assert refused.status_code == 400
    assert "de" in refused.json()["error"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.pdf", b"%PDF-1.4", "one of .txt, .po"),
        ("a.exe", b"MZ", "one of .txt, .po"),
        ("noname", b"text", "without a suffix"),
        ("a.po.gz", b"\x1f\x8b", "Unpack it"),
        ("a.txt", b"", "empty"),
        ("a.txt", b"\n\n \n", "nothing to translate"),
        ("a.txt", b"\xff\xfe\x00", "UTF-8"),
        ("a.txt", b"x\n" * 50_001, "50,000 lines"),
        ("a.json", b'{"n": 1}', "nothing to translate"),
        ("a.json", b"[" * 200_000, "too deep"),
        ("a.json", b"{", "the file:"),
        ("a.xlf", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "the file"),
        ("a.po", b'msgid "x"\nmsgstr "y"\n', "nothing to translate"),
    ],
)
def test_what_cannot_be_translated_is_refused_and_never_returned(
    client: TestClient, name: str, data: bytes, said: str, tmp_path: Path
) -> None:
    refused = send(client, name, data)
    assert refused.status_code == 400, refused.text
    assert said in refused.json()["error"]
    assert str(tmp_path) not in refused.text
    assert not [one for one in tmp_path.rglob("*") if one.is_file()]


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd.txt", "/etc/passwd.txt", "a\x00b.txt", "C:\\x\\y.txt", "'.txt"]
)
def test_no_part_of_a_name_becomes_a_path(
    both: tuple[TestClient, Documents], tmp_path: Path, name: str
) -> None:
    import anyio

    async def send_it() -> str:
        found = await both[1].submit(name, b"The dog runs.", "en", "zh", caller=Caller())
        await both[1].finished(found)
        result = await both[1].result(found.id, found.key)
        return result.name

    assert anyio.run(send_it) == "translated.zh.txt"
    names = {one.name for one in tmp_path.rglob("*.txt")}
    assert names == {"document.txt", "result.txt"}


def test_languages_that_do_not_fit_are_said_in_the_services_words(client: TestClient) -> None:
    header = 'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "The dog runs."\nmsgstr ""\n'
    said = send(client, "a.po", header).json()["error"]
    assert said.startswith("the file says that its target language is de; zh was asked for.")
    said = send(client, "a.po", header, target="fr").json()["error"]
    assert "en is not translated into fr here" in said


def test_a_document_is_its_clients_alone(client: TestClient, tmp_path: Path) -> None:
    first, second = (send(client, "a.txt", "The dog runs.").json() for _ in range(2))
    assert first["id"] != second["id"]
    for key in ("", "x", second["key"], "\u00e9"):
        for place in ("", "/result"):
            path = f"/v1/documents/{first['id']}{place}"
            assert client.get(path, params={"document_key": key}).status_code == 404
    absent = client.get("/v1/documents/none", params={"document_key": first["key"]}).json()
    assert absent == client.get(f"/v1/documents/{first['id']}").json()
    [folder] = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_is_old_or_deleted_is_gone(service: Service, tmp_path: Path) -> None:
    with client_of(service, tmp_path, limits=DocumentLimits(kept_s=0.5)) as (client, _):
        sent = send(client, "a.txt", "The dog runs.").json()
        time.sleep(0.6)
        asked = client.get(f"/v1/documents/{sent['id']}", params={"document_key": sent["key"]})
        assert asked.status_code == 404
        assert not list(tmp_path.rglob("*.txt"))
    with client_of(service, tmp_path) as (client, _):
        sent = send(client, "a.txt", "The dog runs.").json()
        path, key = f"/v1/documents/{sent['id']}", {"document_key": sent["key"]}
        assert client.delete(path, params=key).status_code == 204
        assert client.get(path, params=key).status_code == 404
    assert not list(tmp_path.iterdir())


def test_space_and_the_queue_have_an_end(service: Service, tmp_path: Path) -> None:
    with client_of(service, tmp_path, limits=DocumentLimits(all_bytes=250)) as (client, _):
        assert send(client, "a.txt", "The dog runs. " * 6).status_code == 202
        full = send(client, "a.txt", "The dog runs. " * 6)
        assert full.status_code == 503
        assert int(full.headers["retry-after"]) > 0
    with client_of(service, tmp_path, limits=DocumentLimits(waiting_each=0)) as (client, _):
        assert send(client, "a.txt", "The dog runs.").status_code == 503


def test_a_file_is_as_large_as_the_service_allows(service: Service, tmp_path: Path) -> None:
    small = Service(service.runs, Limits(max_file_mb=1))
    with client_of(small, tmp_path) as (client, _):
        refused = send(client, "a.txt", "The dog runs.\n" * 80_000)
    assert refused.status_code == 413
    assert "1,048,576 bytes" in refused.json()["error"]


def test_after_a_stop_the_unfinished_say_so(service: Service, tmp_path: Path) -> None:
    import anyio

    documents = Documents(service, tmp_path)

    async def send_many() -> list[Any]:
        many = "\n".join(f"The dog runs {n} times." for n in range(3_000)).encode()
        return [
            await documents.submit("a.txt", many, "en", "zh", caller=Caller()) for _ in range(2)
        ]

    sent = anyio.run(send_many)
    documents.close()
    assert {one.status for one in sent} == {"error"}
    assert {one.error for one in sent} == {STOPPED}
    assert not list(tmp_path.iterdir())
    with pytest.raises(RefusedError, match="stopped"):
        anyio.run(send_many)


def test_what_people_corrected_goes_before_what_the_model_writes(
    service: Service, tmp_path: Path
) -> None:
    corrections = Corrections(tmp_path / "corrections")
    known = Service(service.runs, known=KnownTranslations(corrections))
    (tmp_path / "documents").mkdir()
    with client_of(known, tmp_path / "documents") as (client, _):
        body = {"source_text": "The dog runs.", "target_text": "狗在跑。"}
        client.post("/v1/correct", json={**body, "source": "en", "target": "zh"})
        sent = send(client, "a.po", PO).json()
        done(client, sent)
        assert 'msgid "The dog runs."\nmsgstr "狗在跑。"\n' in result(client, sent).text
    corrections.close()


def test_a_file_is_translated_with_the_terms_that_came_with_it(client: TestClient) -> None:
    form = {"source": "en", "target": "zh", "glossary": '[{"source": "dog", "target": "哈士奇"}]'}
    file = {"file": ("a.txt", b"The dog runs.")}
    sent = client.post("/v1/review", data=form, files=file).json()
    done(client, sent)
    [unit] = client.get(f"/v1/review/{sent['id']}", params={"document_key": sent["key"]}).json()[
        "units"
    ]
    lost = [flag["why"] for flag in unit["flags"] if flag["name"] == "term"]
    assert "哈士奇" in (unit["output"] if not lost else lost[0])
    for wrong in ('{"a": 1}', "[", '[{"source": ""}]'):
        assert send(client, "a.txt", "The dog.", glossary=wrong).status_code == 400
    many = [{"source": f"term{n}", "target": "x"} for n in range(bodies.MOST_TERMS + 1)]
    answer = send(client, "a.txt", "The dog.", glossary=json.dumps(many))
    assert "at most 2,000 terms" in answer.json()["error"]

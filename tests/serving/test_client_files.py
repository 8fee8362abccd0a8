"""Files by LibreTranslate's and DeepL's interfaces."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deepl
import httpx
import pytest
from deepl.translator import time as deepl_time
from served import PO, service_of
from services import address_of, status_and_json

from headway.serving.app import application
from headway.serving.keys import ApiKeys, new_key

TEXT = b"The dog runs.\n\nI love learning.\n"


@pytest.fixture(scope="module")
def place(everyday_run: Path) -> Iterator[str]:
    served = application(service_of(everyday_run))
    with address_of(served) as address:
        yield address
    served.documents.close()


@pytest.fixture
def real(place: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[deepl.DeepLClient]:
    """DeepL's own client, which asks more often than every five seconds."""
    monkeypatch.setattr(deepl.http_client, "max_network_retries", 0)
    sleep = deepl_time.sleep
    monkeypatch.setattr(deepl_time, "sleep", lambda _: sleep(0.02))
    found = deepl.DeepLClient("mine", server_url=place)
    yield found
    found.close()


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= sign <= "\u9fff" for sign in text)


def test_deepls_client_sends_waits_and_fetches(real: deepl.DeepLClient, tmp_path: Path) -> None:
    source, target = tmp_path / "a.po", tmp_path / "a.zh.po"
    source.write_text(PO, encoding="utf-8")
    status = real.translate_document_from_filepath(
        source, target, source_lang="EN", target_lang="ZH"
    )
    assert status.done
    assert status.billed_characters
    assert is_chinese(target.read_text(encoding="utf-8"))
    assert "msgstr" in target.read_text(encoding="utf-8")


def test_deepls_client_sends_bytes_with_a_glossary(real: deepl.DeepLClient) -> None:
    glossary = real.create_glossary("g", "EN", "ZH", {"dog": "犬"})
    made = io.BytesIO()
    real.translate_document(
        TEXT, made, source_lang="EN", target_lang="ZH", filename="a.txt",
        glossary=glossary, output_format="txt",
    )  # fmt: skip
    assert is_chinese(made.getvalue().decode())


def test_deepls_client_is_told_why_not(real: deepl.DeepLClient) -> None:
    def send(data: bytes, name: str, **more: Any) -> None:
        asked = {"source_lang": "EN", "target_lang": "ZH", **more}
        real.translate_document_upload(data, filename=name, **asked)

    with pytest.raises(deepl.DeepLException, match="a file that is translated is one of"):
        send(TEXT, "a.exe")
    with pytest.raises(deepl.DeepLException, match="Value for 'target_lang' not supported"):
        send(TEXT, "a.txt", target_lang="FR")
    with pytest.raises(deepl.DeepLException, match="is not converted"):
        send(TEXT, "a.txt", output_format="docx")
    with pytest.raises(deepl.DeepLException, match="Glossary not found"):
        send(TEXT, "a.txt", glossary="x")
    handle = real.translate_document_upload(
        TEXT, filename="a.txt", source_lang="EN", target_lang="ZH"
    )
    real.translate_document_wait_until_done(handle)
    wrong = deepl.DocumentHandle(handle.document_id, "another")
    for ask in (real.translate_document_get_status, real.translate_document_download):
        with pytest.raises(deepl.DeepLException, match="Not found"):
            ask(wrong)


def send(place: str, name: str = "a.txt", data: bytes = TEXT, **more: str) -> Any:
    form = {"source": "en", "target": "zh", **more}
    return httpx.post(f"{place}/translate_file", data=form, files={"file": (name, data)})


def test_libretranslate_tells_where_the_file_is(place: str) -> None:
    for source in ("en", "auto"):
        status, told = status_and_json(send(place, source=source))
        assert status == 200
        assert told.keys() == {"translatedFileUrl"}
        assert told["translatedFileUrl"].startswith(f"{place}/download_file/")
        got = httpx.get(told["translatedFileUrl"])
        assert is_chinese(got.text)
        assert got.headers["content-disposition"].startswith("attachment;")
    # the address is that by which the service was asked for, not what a proxy may say
    port = place.rpartition(":")[2]
    headers = {"host": f"localhost:{port}", "x-forwarded-host": "evil.example"}
    told = httpx.post(
        f"{place}/translate_file", data={"source": "en", "target": "zh"},
        files={"file": ("a.txt", TEXT)}, headers=headers,
    ).json()  # fmt: skip
    assert told["translatedFileUrl"].startswith(f"http://localhost:{port}/download_file/")


@pytest.mark.parametrize(
    ("name", "data", "more", "words"),
    [
        ("a.exe", TEXT, {}, "Invalid request: file format not supported"),
        ("a.txt", TEXT, {"source": ""}, "Invalid request: missing source parameter"),
        ("a.txt", TEXT, {"target": ""}, "Invalid request: missing target parameter"),
        ("a.txt", TEXT, {"source": "xx"}, "xx is not supported"),
        ("a.json", b"{", {}, "a.json"),
    ],
)
def test_libretranslate_refuses_in_its_words(
    place: str, name: str, data: bytes, more: dict[str, str], words: str
) -> None:
    status, told = status_and_json(send(place, name, data, **more))
    assert status == 400
    assert told.keys() == {"error"}
    assert told["error"] == words or name == "a.json"


def test_text_of_windows_comes_back_with_its_line_ends(place: str) -> None:
    def lines(data: bytes) -> list[bytes]:
        status, told = status_and_json(send(place, data=data))
        assert status == 200
        return httpx.get(told["translatedFileUrl"]).content.splitlines(keepends=True)

    plain, windows = lines(TEXT), lines(TEXT.replace(b"\n", b"\r\n"))
    assert windows == [line.replace(b"\n", b"\r\n") for line in plain]


def test_a_file_that_is_missing_or_asked_for_in_vain_is_said(place: str) -> None:
    asked = {"source": "en", "target": "zh"}
    for kind in ("data", "json"):
        answer = httpx.post(f"{place}/translate_file", **{kind: {**asked, "file": "a"}})
        assert status_and_json(answer) == (
            400, {"error": "Invalid request: missing file parameter"},
        )  # fmt: skip
    for name in ("x", "x.y", "x.y.txt", "%2e%2e%2fetc%2fpasswd", "a" * 5_000, "%00.%ff"):
        assert httpx.get(f"{place}/download_file/{name}").status_code == 404


def test_a_key_stands_in_the_form_and_its_characters_are_counted(
    everyday_run: Path, tmp_path: Path
) -> None:
    key = new_key(tmp_path / "keys.tsv", "me", print, characters=40)
    served = application(service_of(everyday_run), keys=ApiKeys(tmp_path / "keys.tsv"))
    with address_of(served) as address:
        assert send(address).status_code == 403
        assert send(address, api_key="x").status_code == 403
        first = send(address, api_key=key)
        assert first.status_code == 200
        assert httpx.get(first.json()["translatedFileUrl"]).status_code == 200
        assert send(address, api_key=key).status_code == 429
    served.documents.close()

"""Who may ask, how much, and what nobody is told."""

import logging
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from headway.core.disk import DiskError
from headway.core.errors import ConfigError, DataError
from headway.serving import guard
from headway.serving.app import Served, application
from headway.serving.keys import ApiKeys, new_key
from headway.serving.limits import Limits
from headway.serving.requests import Caller, RefusedError, ServedText, TranslationRequest
from headway.serving.runs import ServedRuns
from headway.serving.server import Server
from headway.serving.service import Service

ASK = {"texts": ["A dog runs."], "source": "en", "target": "zh"}
NO_OTHER = Limits()
OPEN = {"/health", "/ready"}


class Echo(Service):
    """A service whose translations are the texts."""

    async def translate(self, request: TranslationRequest, caller: Caller) -> list[ServedText]:
        caller.charge(self.limits.admit(request.texts))
        return [ServedText(text, request.source) for text in request.texts]


def served(limits: Limits = NO_OTHER, keys: ApiKeys | None = None, **guarded: list[str]) -> Served:
    return application(Echo(ServedRuns([], lambda _: None), limits), keys, **guarded)


def client(of: Served) -> TestClient:
    return TestClient(of.app, base_url="http://127.0.0.1:5000", client=("10.0.0.7", 4000))


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[tuple[TestClient, str, Path]]:
    file = tmp_path / "keys.tsv"
    key = new_key(file, "me", print, characters=100)
    with client(served(keys=ApiKeys(file, tmp_path / "usage.json"))) as found:
        yield found, key, file


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:5000", True), ("localhost:5000", True), ("LOCALHOST", True),
        ("[::1]:5000", True), ("192.168.1.20", True), ("mt.example.org", True),
        ("evil.example", False), ("localhost.evil.example", False), ("", False),
        ("127.0.0.1.evil.example:5000", False),
    ],
)  # fmt: skip
def test_a_name_that_leads_here_from_elsewhere_is_refused(host: str, allowed: bool) -> None:
    with client(served(names=["mt.example.org"])) as asked:
        answer = asked.get("/health", headers={"host": host})
    assert (answer.status_code == 200) == allowed


@pytest.mark.parametrize("host", ["mt.example.org", "mt.example.org:8443"])
def test_a_name_is_known_at_any_port(host: str) -> None:
    with client(served(names=["https://MT.example.org:8443/"])) as asked:
        assert asked.get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "name", ["https://mt.example.org/mt", "mt.example.org/mt/", "ftp://a.example", "*.example", ""]
)
def test_a_name_that_no_request_can_be_for_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="without a path; got"):
        served(names=[name])


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:5000", 200), ("https://ours.example", 200), ("http://evil.example", 403),
        ("null", 403), ("moz-extension://a-b-c", 200), ("http://127.0.0.1:5001", 403),
    ],
)  # fmt: skip
def test_pages_of_other_sites_may_not_ask(origin: str, status: int) -> None:
    with client(served(origins=["https://ours.example"])) as asked:
        answer = asked.post("/v1/translate", json=ASK, headers={"origin": origin})
        told = asked.options(
            "/v1/translate",
            headers={"origin": origin, "access-control-request-method": "POST"},
        )
    assert answer.status_code == status
    allowed = "https://ours.example" if origin == "https://ours.example" else None
    for one in (answer, told):
        assert one.headers.get("access-control-allow-origin") == allowed
        assert "access-control-allow-credentials" not in one.headers


@pytest.mark.parametrize("site", ["*", "https://*.example", "ours.example", "null", "https://a/b"])
def test_a_site_that_is_none_or_all_of_them_is_refused(site: str) -> None:
    with pytest.raises(ConfigError, match="such as https://example.org"):
        served(origins=[site])


def test_every_door_is_closed_without_a_key_but_those_that_tell_nothing(
    keyed: tuple[TestClient, str, Path],
) -> None:
    asked, key, _ = keyed
    for headers in ({}, {"authorization": f"Bearer {key}x"}, {"x-api-key": key[:-1]}):
        answer = asked.post("/v1/translate", json=ASK, headers=headers)
        assert answer.status_code == 403
        assert asked.get("/metrics", headers=headers).status_code == 403
    for path in OPEN:
        assert asked.get(path).status_code == 200


def test_a_key_is_taken_wherever_a_client_puts_it(keyed: tuple[TestClient, str, Path]) -> None:
    asked, key, file = keyed
    ways = [
        {"headers": {"authorization": f"Bearer {key}"}},
        {"headers": {"authorization": f"DeepL-Auth-Key {key}"}},
        {"headers": {"x-api-key": key}},
        {"params": {"token": key}},
        {"params": {"api_key": key}},
    ]
    for way in ways:
        assert asked.post("/v1/translate", json=ASK, **way).status_code == 200
    assert key not in file.read_text("utf-8")
    assert file.stat().st_mode & 0o077 == 0


def test_a_quota_is_kept_over_a_restart(keyed: tuple[TestClient, str, Path]) -> None:
    asked, key, file = keyed
    ask = {**ASK, "texts": ["x" * 90]}
    headers = {"x-api-key": key}
    assert asked.post("/v1/translate", json=ask, headers=headers).status_code == 200
    assert asked.post("/v1/translate", json=ask, headers=headers).status_code == 456
    usage = file.parent / "usage.json"
    asked.app.keys.save()  # type: ignore[attr-defined]
    again = ApiKeys(file, usage)
    with client(served(keys=again)) as later:
        assert later.post("/v1/translate", json=ask, headers=headers).status_code == 456
        less = {**ASK, "texts": ["x" * 10]}
        assert later.post("/v1/translate", json=less, headers=headers).status_code == 200


def test_who_comes_back_after_reloads_or_a_restart_has_used_what_was_used(tmp_path: Path) -> None:
    file, usage = tmp_path / "keys.tsv", tmp_path / "usage.json"
    new_key(file, "you", print)
    other = file.read_bytes()
    key = new_key(file, "me", print, characters=100)
    both, keys = file.read_bytes(), ApiKeys(file, usage)
    account = keys.account(key)
    assert account is not None
    account.charge(60)
    for rows in (other, b"", both):
        file.write_bytes(rows)
        keys.read()
        assert (keys.account(key) is None) == (rows is not both)
    file.write_bytes(other)
    keys.read()
    keys.save()
    later = ApiKeys(file, usage)
    later.save()
    file.write_bytes(both)
    for again in (keys, later):
        again.read()
        found = again.account(key)
        assert found is not None
        assert (found.used, found.monthly_characters) == (60, 100)


def test_what_keys_used_is_written_down_although_nobody_asks_again(
    keyed: tuple[TestClient, str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.serving.keys.SAVED_EACH_S", 0.3)
    asked, key, file = keyed
    for n in range(1, 4):
        asked.post("/v1/translate", json={**ASK, "texts": ["x"]}, headers={"x-api-key": key})
        if n == 2:
            continue  # the next one comes within the time
        end = time.monotonic() + 15
        while (again := ApiKeys(file, file.parent / "usage.json").account(key)) is None or (
            again.used != n
        ):
            assert time.monotonic() < end, "it is not written down"
            time.sleep(0.02)


@pytest.mark.parametrize("row", ["me\tabc\t0\t0", "me", "me\t" + "z" * 64 + "\t0\t0"])
def test_a_file_that_is_none_of_keys_is_refused(tmp_path: Path, row: str) -> None:
    file = tmp_path / "keys.tsv"
    file.write_text(row + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1"):
        ApiKeys(file)


def test_who_asks_too_often_is_told_when_to_come_again() -> None:
    with client(served(Limits(requests_per_minute=3))) as asked:
        found = [asked.post("/v1/translate", json=ASK) for _ in range(5)]
    assert [one.status_code for one in found] == [200, 200, 200, 429, 429]
    assert 1 <= int(found[-1].headers["retry-after"]) <= 60


def test_an_address_that_asks_again_is_not_forgotten_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "MAX_ACCOUNTS", 3)
    of = served(Limits(requests_per_minute=4))

    def asked_from(address: str) -> int:
        return TestClient(of.app, base_url="http://127.0.0.1:5000", client=(address, 4000)).post(
            "/v1/translate", json=ASK
        ).status_code  # fmt: skip

    found = []
    for n in range(6):
        found.append(asked_from("10.0.0.7"))
        assert asked_from(f"10.0.1.{n}") == 200
    assert found == [200] * 4 + [429] * 2


def test_what_is_open_to_all_is_no_request_of_a_client(tmp_path: Path) -> None:
    file = tmp_path / "keys.tsv"
    key = new_key(file, "me", print, requests=2)
    with client(served(keys=ApiKeys(file))) as asked:
        for path in ("/", "/page/main.js", "/languages", *OPEN):
            assert asked.get(path, headers={"x-api-key": key}).status_code == 200
        given = {"q": "A dog.", "source": "en", "target": "zh", "api_key": key}
        found = [asked.post("/translate", json=given).status_code for _ in range(3)]
    assert found == [400, 400, 429]


def test_what_is_too_long_is_refused_before_it_is_read() -> None:
    limits = Limits(max_characters=100, max_texts=3)
    with client(served(limits)) as asked:
        for texts in (["x" * 101], ["x"] * 4):
            answer = asked.post("/v1/translate", json={**ASK, "texts": texts})
            assert answer.status_code == 400, answer.text
        body = b'{"texts": ["' + b"x" * limits.max_body_bytes + b'"]}'
        headers = {"content-type": "application/json"}
        whole = asked.post("/v1/translate", content=body, headers=headers)
        pieces = (body[i : i + 9999] for i in range(0, len(body), 9999))
        in_pieces = asked.post("/v1/translate", content=pieces, headers=headers)
    assert (whole.status_code, in_pieces.status_code) == (413, 413)


@pytest.mark.parametrize("most", [3, 1_500])
def test_how_many_texts_a_request_has_is_said_by_the_operator_alone(most: int) -> None:
    with client(served(Limits(max_texts=most, max_characters=0))) as asked:
        for n, status in ((most, 200), (most + 1, 400)):
            answer = asked.post("/v1/translate", json={**ASK, "texts": ["x"] * n})
            assert answer.status_code == status, answer.text
    said = f"a request has at most {most:,} texts; got {most + 1:,}"
    assert answer.json() == {"error": said}


def test_beyond_the_room_requests_are_refused_and_those_inside_are_answered() -> None:
    inside = served(Limits(max_waiting=2))
    entered, gate = [], anyio.Event()

    async def slow(request: TranslationRequest, caller: Caller) -> list[ServedText]:
        entered.append(caller)
        await gate.wait()
        return [ServedText("done", "en")]

    inside.service.translate = slow  # type: ignore[method-assign]

    async def all_at_once() -> list[int]:
        transport = httpx.ASGITransport(inside.app)
        found: list[int] = []
        async with (
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as asked,
            anyio.create_task_group() as group,
        ):

            async def ask() -> None:
                answer = await asked.post("/v1/translate", json=ASK)
                found.append(answer.status_code)
                if answer.status_code == 503:
                    assert "retry-after" in answer.headers
                if len(found) == 3:
                    gate.set()

            for _ in range(5):
                group.start_soon(ask)
        return found

    assert anyio.run(all_at_once) == [503, 503, 503, 200, 200]
    assert len(entered) == 2


def test_one_client_leaves_places_to_others() -> None:
    inside = served(Limits(max_waiting=8))

    def place_of(client: str) -> dict[str, Any]:
        scope = {"headway.caller": Caller(client)}
        inside.app.enter(scope)
        return scope

    places = [place_of("many") for _ in range(7)]
    with pytest.raises(RefusedError, match="too many requests"):
        place_of("many")
    places.append(place_of("other"))
    with pytest.raises(RefusedError, match="too many requests"):
        place_of("a third")
    for place in places:
        inside.app._leave(place)
    assert (inside.app.working, inside.app.working_of) == (0, {})


def test_a_stream_keeps_its_place_until_its_last_event() -> None:
    inside = served(Limits(max_waiting=1))
    found: list[int] = []

    async def slow(request: TranslationRequest, caller: Caller) -> list[ServedText]:
        found.append(inside.app.working)
        return [ServedText("done", "en")]

    inside.service.translate = slow  # type: ignore[method-assign]
    with client(inside) as asked:
        answer = asked.post("/v1/translate", json={**ASK, "stream": True})
        assert answer.text.count("event: translation") == 1
        assert asked.post("/translate?langpair=en|zh&q=a").status_code == 400  # one place, not two
    assert found == [1]
    assert inside.app.working == 0


def test_without_a_deadline_nothing_comes_too_late() -> None:
    inside, found = served(Limits(deadline=0)), []

    async def told(request: TranslationRequest, caller: Caller) -> list[ServedText]:
        caller.refuse_over()
        found.append(caller.deadline)
        return [ServedText("done", "en")]

    inside.service.translate = told  # type: ignore[method-assign]
    with client(inside) as asked:
        assert asked.post("/v1/translate", json=ASK).status_code == 200
    assert found == [None]


@pytest.mark.parametrize(
    ("error", "status"),
    [(DiskError(Path("/srv/secret"), OSError(28, "full")), 503), (ValueError("secret"), 500)],
    ids=["disk", "unexpected"],
)
def test_what_goes_wrong_on_our_side_is_told_to_its_operator_alone(
    error: Exception, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    inside = served()

    async def broken(request: TranslationRequest, caller: Caller) -> list[ServedText]:
        raise error

    inside.service.translate = broken  # type: ignore[method-assign]
    with caplog.at_level(logging.ERROR), client(inside) as asked:
        answer = asked.post("/v1/translate", json=ASK)
    assert answer.status_code == status
    assert "secret" not in answer.text + caplog.text
    assert re.search(rf"/v1/translate: {type(error).__name__} at .*test_guard.py:\d+", caplog.text)


def test_characters_are_counted_once_whichever_threads_count_them(tmp_path: Path) -> None:
    file = tmp_path / "keys.tsv"
    key = new_key(file, "me", print, characters=3_000)
    keys = ApiKeys(file)
    account = keys.account(key)
    assert account is not None
    refused: list[RefusedError] = []

    def use() -> None:
        for _ in range(1_000):
            try:
                account.charge(1)
            except RefusedError as error:
                refused.append(error)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for one in threads:
        one.start()
    keys.read()  # who is asked to take up the file forgets nothing of what is under way
    for one in threads:
        one.join()
    assert len(refused) == 1_000
    assert keys.account(key) is account
    assert account.used == 3_000


def test_what_keys_used_that_cannot_be_written_costs_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "keys.tsv"
    key = new_key(file, "me", print)
    keys = ApiKeys(file, tmp_path / "usage.json")
    (tmp_path / "usage.json").mkdir()
    with client(served(keys=keys)) as asked:
        answer = asked.post("/v1/translate", json=ASK, headers={"x-api-key": key})
    assert answer.status_code == 200
    keys.save()
    assert "what keys used is not written down" in caplog.text


def test_metrics_tell_neither_keys_nor_addresses_nor_texts(
    keyed: tuple[TestClient, str, Path],
) -> None:
    asked, key, _ = keyed
    asked.post("/v1/translate", json={**ASK, "texts": ["secret"]}, headers={"x-api-key": key})
    asked.get("/secret/path?token=secret")
    text = asked.get("/metrics", headers={"x-api-key": key}).text
    for hidden in ("secret", key, "10.0.0.7", "me"):
        assert not re.search(rf'"[^"]*{hidden}[^"]*"', text)
    assert 'headway_requests_total{route="/v1/translate",status="200"} 1' in text
    line = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"\\\n]*"(,\w+="[^"\\\n]*")*\})? \S+)')
    assert all(line.fullmatch(one) for one in text.splitlines())


def test_while_it_ends_it_is_not_ready_and_what_still_comes_is_answered() -> None:
    inside = served()
    Server(inside).handle_exit(signal.SIGTERM, None)
    with client(inside) as asked:
        assert asked.post("/v1/translate", json=ASK).status_code == 200
        assert asked.get("/ready").status_code == 503
        assert asked.get("/health").status_code == 200


def test_a_form_is_utf_8_whether_or_not_its_client_writes_percent_signs() -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    with client(served()) as asked:
        for body in (
            "text=你好&source=en&target=zh",
            "text=%E4%BD%A0%E5%A5%BD&source=en&target=zh",
        ):
            answer = asked.post("/v1/translate", content=body.encode(), headers=headers)
            assert answer.json()["translations"][0]["text"] == "你好"
        answer = asked.post("/v1/translate", content=b"text=\xff", headers=headers)
        assert answer.status_code == 400


def test_behind_a_proxy_with_tls_addresses_that_are_told_say_so() -> None:
    def scheme(host: str) -> str:
        inside = served(names=["https://mt.example.org", "plain.example.org"])
        seen: list[str] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            seen.append(scope["scheme"])
            await PlainTextResponse("")(scope, receive, send)

        inside.app.app = app
        assert client(inside).get("/", headers={"host": host}).status_code == 200
        return seen[0]

    assert scheme("mt.example.org") == "https"
    assert scheme("plain.example.org") == scheme("localhost:5000") == "http"


def test_places_are_given_back_whatever_came_of_a_request():
    inside = served(Limits(max_waiting=2))
    client = TestClient(inside.app, base_url="http://localhost")
    for body in (
        b"{",
        b"{}",
        b'{"text": "a", "target": "xx"}',
        b'{"text": "a", "target": "zh"}',
    ) * 2:
        assert client.post("/v1/translate", content=body).status_code != 503
    assert inside.app.working == 0


def test_only_so_many_large_bodies_are_in_memory_at_a_time() -> None:
    inside = served()
    body = {"file": ("a.txt", b"x" * (guard.LARGE_BYTES + 99))}

    async def all_at_once() -> list[int]:
        entered, gate = [], anyio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            try:
                while (await receive()).get("more_body"):
                    pass
            except RefusedError as error:
                await PlainTextResponse(str(error), 503)(scope, receive, send)
                return
            entered.append(inside.app.uploading)
            await gate.wait()
            await PlainTextResponse("")(scope, receive, send)

        inside.app.app = app
        found: list[int] = []
        transport = httpx.ASGITransport(inside.app)
        async with (
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as asked,
            anyio.create_task_group() as group,
        ):

            async def ask() -> None:
                found.append((await asked.post("/", files=body)).status_code)
                if len(found) == 2:
                    gate.set()

            for _ in range(guard.MAX_UPLOADS + 2):
                group.start_soon(ask)
        return found

    assert anyio.run(all_at_once) == [503, 503] + [200] * guard.MAX_UPLOADS
    assert inside.app.uploading == 0

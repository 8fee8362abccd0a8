"""What a load of translations asks, in the words of each interface."""

import http.client
import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from headway.core.errors import ConfigError, HeadwayError
from headway.serving.bench import ServiceAddress

Interface = Literal["headway", "libretranslate", "deepl"]
THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def address(url: str, *, elsewhere: bool) -> ServiceAddress:
    """Of a service; `elsewhere`: it may be on another machine.

    Raises ConfigError for what is none, or is elsewhere.
    """
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
        raise ConfigError(
            f"a service's address is like http://127.0.0.1:5000; got {url!r}. Or name a run, "
            "and a service of its own is started for it."
        )
    if parts.hostname not in THIS_MACHINE and not elsewhere:
        raise ConfigError(
            f"load goes to this machine only; {parts.hostname} is another. If it is yours to load: "
            "--yes-elsewhere"
        )
    secure = parts.scheme == "https"
    path = parts.path.rstrip("/")
    return ServiceAddress(parts.hostname, port or (443 if secure else 80), secure, path)


def request(
    at: ServiceAddress, interface: Interface, text: str, source: str, target: str, key: str = ""
) -> bytes:
    """One sentence to be translated: a whole HTTP request."""
    body: Mapping[str, Any]
    headers = [f"Host: {at.host}:{at.port}", "Content-Type: application/json"]
    if interface == "deepl":
        path = "/v2/translate"
        body = {"text": [text], "target_lang": target.upper(), "source_lang": source.upper()}
        headers.append(f"Authorization: DeepL-Auth-Key {key or 'none'}")
    elif interface == "libretranslate":
        path = "/translate"
        body = {"q": text, "source": source, "target": target, "format": "text"}
        body = {**body, "api_key": key} if key else body
    else:
        path, body = "/v1/translate", {"text": text, "source": source, "target": target}
        headers += [f"Authorization: Bearer {key}"] if key else []
    sent = json.dumps(body, ensure_ascii=False).encode()
    head = [f"POST {at.base}{path} HTTP/1.1", *headers, f"Content-Length: {len(sent)}", "", ""]
    return "\r\n".join(head).encode() + sent


def first_pair(at: ServiceAddress, interface: Interface, key: str = "") -> tuple[str, str]:
    """A pair of languages that a service translates, as it tells them itself.

    Raises HeadwayError where it cannot be asked, ConfigError where it does not say.
    """
    path = {"headway": "/v1/languages", "libretranslate": "/languages"}.get(interface)
    if path is None:
        raise ConfigError("name the languages: --source en --target de")
    kind = http.client.HTTPSConnection if at.secure else http.client.HTTPConnection
    asked = kind(at.host, at.port, timeout=10)
    try:
        asked.request(
            "GET", at.base + path, headers={"Authorization": f"Bearer {key}"} if key else {}
        )
        told = json.loads(asked.getresponse().read())
        if interface == "headway":
            return told["pairs"][0]["source"], told["pairs"][0]["target"]
        for row in told:
            others = [code for code in row["targets"] if code != row["code"]]
            if others:
                return row["code"], others[0]
    except OSError as error:
        raise HeadwayError(
            f"nothing answers at {at.host}:{at.port} ({error.strerror or error})"
        ) from None
    except (ValueError, KeyError, IndexError, TypeError, http.client.HTTPException):
        pass
    finally:
        asked.close()
    raise ConfigError(
        f"the service does not say at {path} what it translates. Name it: --source en --target de, "
        "or another --interface"
    )

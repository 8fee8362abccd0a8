"""Nothing that somebody wrote runs in the page: as a text, a name, a term, a code."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import browser, dropped, needs_chromium, opened
from playwright.sync_api import Browser, Page, expect
from served import running, service_of

from headway.operations.shipped import SHIPPED
from headway.serving.requests import Caller, ServedPair, ServedText, TranslationRequest
from headway.serving.service import Service

RUN = "window.injected=1"
VECTORS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<ScRiPt>{RUN}</sCrIpT>",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    f"<img src=x onerror={RUN}>",
    f"<img src=x onerror=\"{RUN}\">",
    f"<img/src=x/onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg/onload={RUN}//",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 "
    f"onerror={RUN}&gt;\">",
    f"<body onload={RUN}>",
    f"<iframe src=\"javascript:parent.{RUN}\"></iframe>",
    f"<iframe srcdoc=\"<script>parent.{RUN}</script>\"></iframe>",
    f"<object data=\"data:text/html,<script>parent.{RUN}</script>\"></object>",
    f"<embed src=\"javascript:{RUN}\">",
    f"<a href=\"javascript:{RUN}\" autofocus onfocus={RUN}>x</a>",
    f"<input autofocus onfocus={RUN}>",
    f"<select autofocus onfocus={RUN}><option>x</select>",
    f"<textarea autofocus onfocus={RUN}></textarea>",
    f"</textarea><img src=x onerror={RUN}>",
    f"</title><img src=x onerror={RUN}>",
    f"</style><img src=x onerror={RUN}>",
    f"<style>@import 'javascript:{RUN}';</style>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<details open ontoggle={RUN}>x</details>",
    f"<marquee onstart={RUN}>x</marquee>",
    f"<form><button formaction=javascript:{RUN}>x</button></form>",
    f"<isindex type=image src=1 onerror={RUN}>",
    f"<base href=\"javascript:{RUN}//\">",
    f"<link rel=stylesheet href=\"javascript:{RUN}\">",
    f"<meta http-equiv=refresh content=\"0;url=javascript:{RUN}\">",
    f"<template><img src=x onerror={RUN}></template>",
    f"\"><img src=x onerror={RUN}>",
    f"' onmouseover='{RUN}' x='",
    f"\" autofocus onfocus=\"{RUN}\" x=\"",
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}//%0a{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"${{{RUN}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"&lt;img src=x onerror={RUN}&gt;",
    f"&#60;script&#62;{RUN}&#60;/script&#62;",
    f"\\u003cimg src=x onerror={RUN}\\u003e",
    f"<img src=x onerror\x00={RUN}>",
    f"<!--><img src=x onerror={RUN}>-->",
    f"<![CDATA[<img src=x onerror={RUN}>]]>",
    f"%3Cimg%20src%3Dx%20onerror%3D{RUN}%3E",
    f"\u2028{RUN}\u2029",
    f"__proto__; {RUN}",
]  # fmt: skip
ALL = "\n".join(VECTORS)
pytestmark = needs_chromium


class EchoService(Service):
    """Gives every text back as its translation."""

    async def translate(self, request: TranslationRequest, caller: Caller) -> list[ServedText]:
        return [
            ServedText(text, VECTORS[0], 0.5, alternatives=[text, VECTORS[4]], origin=VECTORS[7])
            for text in request.texts
        ]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running(service_of(SHIPPED)) as url:
        yield url


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    known = service_of(SHIPPED)
    for run in known.runs.all:
        run.pair = ServedPair(VECTORS[4], VECTORS[7])
    with running(EchoService(known.runs)) as url:
        yield url


def remember(page: Page, name: str, data: str) -> None:
    page.evaluate("([name, data]) => localStorage.setItem(name, data)", [f"headway-{name}", data])


def untouched(page: Page) -> None:
    """Every way to have something run has had its time: nothing did."""
    page.wait_for_timeout(300)
    assert page.evaluate("window.injected") is None
    assert page.locator("main :is(script, img, object, embed, video, audio, base)").count() == 0
    assert page.locator("iframe").count() == 1  # the inspector's


def test_texts_codes_and_translations_stay_text(chromium: Browser, echo: str) -> None:
    with opened(chromium, echo) as page:
        expect(page.locator("#target-language option")).to_have_text(VECTORS[7])
        for text in (ALL, *VECTORS[:6]):
            page.locator("#source").fill(text)
            expect(page.locator("#output")).to_have_text(text)
        untouched(page)
        page.locator("#output .word").first.click()
        expect(page.locator("#others")).to_be_visible()
        untouched(page)


def test_what_the_browser_remembers_stays_text(chromium: Browser, address: str) -> None:
    with opened(chromium, address) as page:
        entries = [{"source": one, "target": one, "text": one, "output": one} for one in VECTORS]
        terms = [{"source": one, "target": one} for one in VECTORS]
        kept = {
            "history": entries,
            "glossary": {"en-zh": terms, "-zh": terms},
            "page": dict.fromkeys(("language", "theme"), VECTORS[4]),
            "choices": dict.fromkeys(("source", "target", "shade"), VECTORS[4]),
        }
        for name, value in kept.items():
            remember(page, name, json.dumps(value))
        page.reload()
        expect(page.locator("#target-language option")).not_to_have_count(0)
        page.locator("#open-history").click()
        expect(page.locator("#history-list button")).to_have_count(len(VECTORS))
        untouched(page)
        page.keyboard.press("Escape")
        page.locator("#open-glossary").click()
        expect(page.locator(".term")).to_have_count(len(VECTORS))
        untouched(page)


@pytest.mark.parametrize("hostile", ["null", "3", '"x"', "[3]", '{"a": 3}', "{", '[{"text": {}}]'])
def test_what_is_not_ours_in_the_browsers_memory_is_passed_over(
    chromium: Browser, address: str, hostile: str
) -> None:
    with opened(chromium, address) as page:
        for name in ("page", "choices", "history", "glossary", "key"):
            page.evaluate(
                "([name, data]) => localStorage.setItem(name, data)", [f"headway-{name}", hostile]
            )
        page.reload()
        expect(page.locator("#target-language option")).not_to_have_count(0)
        page.locator("#open-history").click()
        page.keyboard.press("Escape")
        page.locator("#open-glossary").click()


def test_names_and_units_of_files_stay_text(
    chromium: Browser, address: str, tmp_path: Path
) -> None:
    with opened(chromium, address) as page:
        expect(page.locator("#target-language option")).not_to_have_count(0)
        dropped(page, f"{ALL}.txt", ALL.replace("\x00", ""))
        fields = page.locator(".units textarea")
        expect(fields).to_have_count(len(VECTORS), timeout=60_000)
        assert "onerror" in page.locator("h2", has_text="onerror").inner_text()
        for n in (0, 4):
            fields.nth(n).fill(VECTORS[n])
            fields.nth(n).press("Control+Enter")
            expect(page.locator("tr:is(.edited, .accepted)")).to_have_count(1 + n // 4)
        untouched(page)


def test_the_inspector_of_a_hostile_text_runs_nothing_of_it(
    chromium: Browser, address: str
) -> None:
    with opened(chromium, address) as page:
        expect(page.locator("#target-language option")).not_to_have_count(0)
        page.locator("#source-language").select_option("en")
        page.locator("#source").fill(VECTORS[1])
        page.locator("#tab-think").click()
        inner = page.frame_locator("#inspector")
        expect(inner.locator("#text")).to_have_value(VECTORS[1])
        frame = next(one for one in page.frames if "inspector" in one.url)
        assert frame.evaluate("window.injected ?? window.parent.injected") is None
        untouched(page)

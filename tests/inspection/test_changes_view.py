"""The view of changes in a real browser: both outputs, and wishes."""

import math
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PHONE, all_seen, needs_chromium, opened, seen
from playwright.sync_api import Browser, Route, expect

from headway.inspection import document
from headway.inspection.html_page import html
from headway.inspection.inspected_model import InspectedModel, open_inspected

pytestmark = needs_chromium
TEXT, OFF = "I love learning.", "decoder.0.cross"


@pytest.fixture(scope="module")
def inspected(everyday_run: Path) -> InspectedModel:
    return open_inspected(everyday_run, device="cpu")


@pytest.fixture(scope="module")
def found(inspected: InspectedModel) -> dict[str, Any]:
    changed = document.sentence(inspected, TEXT, parts=["tokens", "changes"], off=[OFF])
    return {"run": document.run(inspected), "sentences": [changed]}


@pytest.fixture(scope="module")
def file(found: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("changes") / "page.html"
    written.write_text(html(found), encoding="utf-8")
    return written


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_both_outputs_stand_side_by_side_with_both_probabilities(
    chromium: Browser, file: Path, found: dict[str, Any], width: int
) -> None:
    part = found["sentences"][0]["changes"]
    with opened(chromium, file, width=width) as page:
        seen(page, "changes")
        expect(page.locator("#changes .change")).to_contain_text(OFF)
        for group, name, other in ((0, "original", "without"), (1, "changed", "with_all")):
            tokens = page.locator("#changes .weighed").nth(group).locator("li")
            assert tokens.locator(".piece").all_text_contents() == part[name]["pieces"]
            marked = [
                "differs" in classes.split()
                for classes in tokens.evaluate_all("all => all.map((one) => one.className)")
            ]
            assert marked == [not same for same in part[name]["same"]]
            widths = tokens.locator(".fill").evaluate_all("all => all.map((e) => e.style.width)")
            whole, without = (
                (part[name]["log_probs"], part[name][other])
                if name == "original"
                else (part[name][other], part[name]["log_probs"])
            )
            for i in range(len(part[name]["pieces"])):
                shares = [float(each.removesuffix("%")) for each in widths[2 * i : 2 * i + 2]]
                expected = [100 * math.exp(whole[i]), 100 * math.exp(without[i])]
                assert shares == pytest.approx(expected, abs=1e-3)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_to_complain_of(
    chromium: Browser, found: dict[str, Any], tmp_path: Path, dark: bool
) -> None:
    live = tmp_path / "live.html"
    live.write_text(html({**found, "live": True}, live=True), encoding="utf-8")
    with opened(chromium, live, dark=dark) as page:
        seen(page, "changes")
        result = Axe().run(page)
        assert result.violations_count == 0, result.generate_report()


def test_on_the_live_page_parts_are_switched_off_and_back(
    chromium: Browser, inspected: InspectedModel, found: dict[str, Any]
) -> None:
    asked: list[dict[str, Any]] = []

    def answer(route: Route) -> None:
        if route.request.method == "GET":
            route.fulfill(body=html({**found, "live": True}, live=True), content_type="text/html")
            return
        given = route.request.post_data_json
        asked.append(given)
        parts = ["tokens", "changes"]
        other = document.sentence(inspected, given["text"], parts=parts, off=given["off"])
        route.fulfill(json=other)

    address = "http://127.0.0.1:5000/word/"
    with opened(chromium, "about:blank") as page:
        page.route(f"{address}**", answer)
        page.goto(address)
        all_seen(page)  # what is drawn above a view moves it
        view = seen(page, "changes")
        view.get_by_label("Part").scroll_into_view_if_needed()
        before = view.bounding_box() or {}
        view.get_by_label("Part").fill("encoder.0.head.1")
        view.get_by_label("Part").press("Enter")
        expect(view.locator(".change")).to_contain_text("encoder.0.head.1")
        after = view.bounding_box() or {}
        assert after["y"] == pytest.approx(before["y"], abs=2)  # the reader stays there
        expect(view.get_by_label("Part")).to_be_focused()
        assert asked[-1]["off"] == [OFF, "encoder.0.head.1"]
        view.get_by_role("button", name=f"put back {OFF}").click()
        expect(view.locator(".change")).not_to_contain_text(OFF)


@pytest.mark.parametrize("text", ["<img src=x onerror=\"document.title='broken'\">", "x" * 20_000])
def test_no_piece_and_no_wish_breaks_the_view(
    chromium: Browser, found: dict[str, Any], tmp_path: Path, text: str
) -> None:
    [sentence] = found["sentences"]
    part = sentence["changes"]
    outputs = {
        name: {**part[name], "translation": text, "pieces": [text] * len(part[name]["pieces"])}
        for name in ("original", "changed")
    }
    spoiled = {**sentence, "text": text, "changes": {**part, **outputs, "off": [text]}}
    file = tmp_path / "page.html"
    file.write_text(html({**found, "sentences": [spoiled]}), encoding="utf-8")
    with opened(chromium, file, width=PHONE) as page:
        seen(page, "changes")
        assert page.locator("main img").count() == 0
        assert page.title().startswith("headway: ")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE

"""Trainings on the page: drawn as logged, read off by keys."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PHONE, all_seen, needs_chromium, opened
from playwright.sync_api import Browser, Locator, Page, expect

from headway.core.run_folder import RunFolder
from headway.inspection.document import page as page_of
from headway.inspection.html_page import html

HOSTILE = "<img src=x onerror=document.title='broken'>"


@pytest.fixture(scope="module")
def document(everyday_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run with its checkpoints, one of an unkind name that goes on, and one that has no curve."""
    folder = tmp_path_factory.mktemp("trainings")
    going = RunFolder(shutil.copytree(everyday_run, folder / HOSTILE))
    going.config.unlink()
    of_500 = {"max_steps": 500, "budget": "30m"}
    going.write_settings({"run": {"finished": False}, "model": {}, "training": of_500})
    counted = RunFolder(folder / "counted")
    counted.path.mkdir()
    counted.model.touch()
    counted.write_settings({"model": {"type": "ngram"}, "run": {"finished": True}})
    runs = [everyday_run, going.path, counted.path]
    return page_of(runs)


@pytest.fixture(scope="module")
def file(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(html(document), encoding="utf-8")
    return file


def plot(page: Page, title: str) -> Locator:
    return page.locator("figure.charted").filter(has_text=title)


@needs_chromium
@pytest.mark.parametrize(("language", "dark"), [("en-US", False), ("zh-CN", True)])
@pytest.mark.parametrize("width", [PHONE, 1280])
def test_it_is_drawn_without_a_complaint_fits_the_screen_and_passes_axe(
    chromium: Browser, file: Path, language: str, dark: bool, width: int
) -> None:
    with opened(chromium, file, width=width, language=language, dark=dark) as page:
        all_seen(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.title() != "broken"
        assert page.locator(".runs tbody tr").count() == 3
        why = {"en-US": "by counting", "zh-CN": "计数"}[language]
        expect(page.locator(".runs tbody tr").nth(2)).to_contain_text(why)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


@needs_chromium
def test_the_arrow_keys_read_off_what_was_logged(
    chromium: Browser, file: Path, everyday_run: Path
) -> None:
    text = (everyday_run / "metrics.jsonl").read_text(encoding="utf-8")
    rates = [json.loads(line).get("learning_rate") for line in text.splitlines()]
    first, *_, last = [rate for rate in rates if rate is not None]
    with opened(chromium, file) as page:
        all_seen(page)
        rate = plot(page, "Learning rate")
        rate.locator(".curve-board").focus()
        for key, expected in (("Home", first), ("End", last)):
            page.keyboard.press(key)
            read = rate.locator(".read-off b").first.inner_text().replace("−", "-")
            assert float(read) == pytest.approx(expected, rel=0.01)


@needs_chromium
def test_the_runs_are_named_above_and_those_that_are_unfinished_below(
    chromium: Browser, file: Path, everyday_run: Path
) -> None:
    with opened(chromium, file) as page:
        all_seen(page)
        expect(page.locator("h1 .run")).to_have_text(f"{everyday_run.name}, {HOSTILE}, counted")
        note = page.locator("#training p.soft").last
        expect(note).to_contain_text("of 500 updates")
        expect(note).to_contain_text("it is not finished")
        told = note.inner_text()
    assert told.count("finished") == 1, told
    assert told.startswith(HOSTILE)
    assert "goes on" not in told


@needs_chromium
def test_runs_axes_and_scales_are_chosen(chromium: Browser, file: Path) -> None:
    with opened(chromium, file) as page:
        all_seen(page)
        loss = page.locator("#training .across figure")
        assert loss.locator("polyline").count() == 4  # training and validation of two runs
        page.locator(".choose-runs button").nth(1).click()
        assert loss.locator("polyline").count() == 2
        page.locator("#training").get_by_role("button", name="tokens", exact=True).click()
        expect(loss.locator("svg text.unit").last).to_have_text("tokens")
        before = loss.locator("polyline").first.get_attribute("points")
        page.get_by_role("button", name="logarithmic").click()
        assert loss.locator("polyline").first.get_attribute("points") != before

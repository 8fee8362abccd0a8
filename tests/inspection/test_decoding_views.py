"""The views of decoding in a real browser: step by step, and the beam tree."""

import re
from pathlib import Path
from typing import Any

import pytest
from browser import PHONE, needs_chromium, opened, seen
from playwright.sync_api import Browser, Page, expect

from headway.inspection.html_page import unpacked

pytestmark = needs_chromium


def pressed(page: Page) -> str:
    """The piece whose step is shown."""
    return page.locator("#steps .token[aria-pressed='true'] .piece").text_content() or ""


def pieces(part: dict[str, Any], course: str) -> list[str]:
    return [part["pieces"][str(token)] for token in part["courses"][course]["taken"]]


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_the_slider_goes_through_the_steps(
    chromium: Browser, page_file: Path, document: dict[str, Any], width: int
) -> None:
    part = document["sentences"][0]["steps"]
    beam = part["courses"]["beam"]
    looked = unpacked(beam["attention"]).astype(float)
    with opened(chromium, page_file, width=width) as page:
        seen(page, "steps")
        slider = page.locator("#steps-slider")
        expect(page.locator("#steps .fed")).to_have_text("<s>")
        slider.focus()
        shown = page.locator("#steps .looked .id")
        expect(shown.first).not_to_be_empty()
        for step, piece in enumerate(pieces(part, "beam")):
            assert pressed(page) == piece
            fed = part["pieces"][str(beam["fed"][step])]
            expect(page.locator("#steps .fed")).to_have_text(fed)
            names = page.locator("#steps .step-bars .name").all_text_contents()
            assert names[:-1] == [part["pieces"][str(one)] for one in beam["likeliest"][step]]
            shares = [
                int(share) for share in page.locator("#steps .looked .id").all_text_contents()
            ]
            assert shares == pytest.approx(100 * looked[step] / 255, abs=0.51)
            page.keyboard.press("ArrowRight")
        assert pressed(page) == "</s>"
        page.locator("#steps").get_by_role("button", name="Step before").click()
        assert pressed(page) == pieces(part, "beam")[-2]


def test_another_course_is_chosen_by_its_name_or_by_one_of_its_pieces(
    chromium: Browser, page_file: Path, document: dict[str, Any]
) -> None:
    part = document["sentences"][0]["steps"]
    with opened(chromium, page_file) as page:
        seen(page, "steps")
        page.locator("#steps").get_by_role("button", name="Greedy", exact=True).click()
        row = page.locator("#steps .course.here .piece")
        assert row.all_text_contents() == pieces(part, "greedy")
        page.locator("#steps .course").nth(1).locator(".token").last.click()
        assert page.locator("#steps .course.here .piece").all_text_contents() == pieces(
            part, "beam"
        )
        assert pressed(page) == "</s>"


def test_the_tree_has_every_node_and_says_of_each_what_it_is(
    chromium: Browser, page_file: Path, document: dict[str, Any]
) -> None:
    part = document["sentences"][0]["beams"]
    with opened(chromium, page_file) as page:
        seen(page, "beams")
        nodes = page.locator("#beams .node")
        expect(nodes).to_have_count(len(part["nodes"]["token"]))
        said = page.locator("#beams .hypothesis")
        expect(said).to_contain_text(part["found"][0]["text"])
        expect(said).to_contain_text("number 1 of the finished ones")
        page.locator("#beams .node[aria-pressed='true']").focus()
        for _ in range(len(part["found"][0]["text"]) + 2):
            page.keyboard.press("ArrowLeft")
        expect(page.locator("#beams .node[aria-pressed='true']")).to_have_attribute(
            "aria-label", re.compile("^step 0: ")
        )
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.classList.contains('node')")
        page.locator("#beams-pruned").uncheck()
        expect(nodes).to_have_count(sum(fate != "p" for fate in part["nodes"]["fate"]))


def test_a_row_of_the_table_leads_to_its_leaf(
    chromium: Browser, page_file: Path, document: dict[str, Any]
) -> None:
    part = document["sentences"][0]["beams"]
    with opened(chromium, page_file) as page:
        seen(page, "beams")
        rows = page.locator("#beams table .link")
        assert rows.count() >= len(part["found"])
        rows.nth(1).click()
        place = str(part["found"][1]["node"])
        assert page.evaluate("document.activeElement.dataset.place") == place
        expect(page.locator("#beams .so-far b")).to_have_text(part["found"][1]["text"].strip())

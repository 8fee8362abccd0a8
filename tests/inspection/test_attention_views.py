"""Maps, cells and layers in a real browser: what is written there is what the document has."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import needs_chromium, opened, seen
from playwright.sync_api import Browser, Locator, Page, expect

from headway.inspection.html_page import html, unpacked

pytestmark = needs_chromium


def attention_of(page: Page) -> Locator:
    """The view, when it is drawn."""
    view = seen(page, "attention")
    expect(view.locator(".board")).to_be_visible()
    return view


def percent_of(text: str) -> float:
    """The share at the end of a line."""
    return float(text.split("→")[-1].split("%")[0].split()[-1]) / 100


def test_each_layer_and_head_has_a_map_and_a_click_enlarges_it(
    chromium: Browser, page_file: Path, document: dict[str, Any]
) -> None:
    kind = document["sentences"][0]["attention"]["kinds"][-1]
    n_layers, n_heads = kind["shape"][:2]
    with opened(chromium, page_file) as page:
        view = attention_of(page)
        assert view.locator(".tile").count() == n_layers * (n_heads + 1)  # and the mean
        view.locator(".tile").nth(1).click()
        expect(view.locator("figcaption b")).to_have_text("Layer 0, Head 1")
        expect(view.locator(".tile[aria-pressed=true]")).to_have_count(1)


def test_the_keyboard_reads_every_weight(
    chromium: Browser, page_file: Path, document: dict[str, Any]
) -> None:
    kind = document["sentences"][0]["attention"]["kinds"][-1]
    weights = unpacked(kind["maps"])[0, 0] / 255
    with opened(chromium, page_file) as page:
        view = attention_of(page)
        view.get_by_role("button", name="Pieces").click()
        view.locator(".tile").first.click()
        view.locator(".board").focus()
        for row in range(3):
            for column in range(3):
                shown = view.locator(".readout").inner_text()
                assert percent_of(shown) == pytest.approx(weights[row, column], abs=6e-4)
                page.keyboard.press("ArrowRight")
            for _ in range(3):
                page.keyboard.press("ArrowLeft")
            page.keyboard.press("ArrowDown")


def test_words_take_the_sum_of_their_pieces(
    chromium: Browser, page_file: Path, document: dict[str, Any]
) -> None:
    sentence = document["sentences"][0]
    kind = sentence["attention"]["kinds"][0]
    words = np.array([token["word"] for token in sentence["tokens"]["source"]])
    weights = unpacked(kind["maps"])[0, 0] / 255
    expected = weights[words == 0][:, words == 1].sum(1).mean()
    with opened(chromium, page_file) as page:
        view = attention_of(page)
        view.get_by_role("button", name="Source looks at itself").click()
        view.locator(".tile").first.click()
        assert view.locator(".row-labels li").all_text_contents() == "The dog runs . </s>".split()
        view.locator(".board").focus()
        page.keyboard.press("ArrowRight")
        assert percent_of(view.locator(".readout").inner_text()) == pytest.approx(
            expected, abs=6e-4
        )


def test_markers_can_be_hidden_and_two_heads_held_side_by_side(
    chromium: Browser, page_file: Path
) -> None:
    with opened(chromium, page_file) as page:
        view = attention_of(page)
        expect(view.locator(".column-labels li").last).to_have_text("</s>")
        view.get_by_label("Show markers").uncheck()
        expect(view.locator(".column-labels li").last).not_to_have_text("</s>")
        view.locator(".tile").first.click()
        view.get_by_role("button", name="Hold beside").click()
        expect(view.locator(".panel")).to_have_count(2)
        view.locator(".tile").nth(1).click()
        captions = view.locator("figcaption b").all_text_contents()
        assert captions == ["Layer 0, Head 0", "Layer 0, Head 1"]
        view.get_by_role("button", name="Take away").click()
        expect(view.locator(".panel")).to_have_count(1)


def test_lines_say_what_a_word_looks_at_most(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as page:
        view = attention_of(page)
        view.get_by_role("button", name="Lines").click()
        view.locator(".from button").first.focus()
        expect(view.locator(".readout")).to_contain_text("<s> → ")


def test_a_chosen_cell_shows_its_numbers_and_they_agree(
    chromium: Browser, page_file: Path, document: dict[str, Any]
) -> None:
    cells = document["sentences"][0]["cells"]
    scores = unpacked(cells["tensors"]["decoder.0.cross.scores"])
    with opened(chromium, page_file) as page:
        view = attention_of(page)
        view.locator(".tile").nth(1).click()
        view.get_by_role("button", name="Pieces").click()
        view.locator(".board").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        view.get_by_role("link", name="Every number of this cell").click()
        shown = page.locator("#cells .sum").inner_text().replace("−", "-")
        computed, own = shown.split("=")[1].split()[0], shown.split(":")[1]
        assert float(computed) == float(own)
        assert float(own) == pytest.approx(scores[1, 1, 1], abs=1e-3)


def test_the_keyboard_stays_where_it_was(chromium: Browser, page_file: Path) -> None:
    """Though the view is drawn anew with every choice."""
    with opened(chromium, page_file) as page:
        view = seen(page, "cells")
        choice = view.get_by_label("Token looked at (j)")
        choice.focus()
        page.keyboard.press("Home")
        expect(choice).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(choice).to_have_value("1")
        expect(choice).to_be_focused()
        tiles = attention_of(page).locator(".tile")
        tiles.first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(tiles.nth(1)).to_have_attribute("aria-pressed", "true")
        expect(tiles.nth(1)).to_be_focused()


def test_numbers_can_be_read_instead_of_bars(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as page:
        view = seen(page, "cells")
        view.get_by_role("button", name="numbers").click()
        assert view.locator(".numbers").count() == view.locator(".strip").count()
        assert view.locator(".numbers").nth(1).locator("li").count() == 16  # d_k = 32 / 2


def test_what_had_no_room_is_said_to_be_missing(
    chromium: Browser, document: dict[str, Any], tmp_path: Path
) -> None:
    short = copy.deepcopy(document)
    cells = short["sentences"][0]["cells"]
    cells["left_out"] = [one["at"] for one in cells["sublayers"]]
    cells["sublayers"], cells["tensors"] = [], {}
    file = tmp_path / "page.html"
    file.write_text(html(short), encoding="utf-8")
    with opened(chromium, file) as page:
        view = seen(page, "cells")
        expect(view.locator(".missing")).to_contain_text("are not on this page")

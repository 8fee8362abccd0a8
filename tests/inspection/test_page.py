"""The page as a reader meets it, in a real browser: no view may break what holds for all."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PHONE, all_seen, needs_chromium, opened, seen
from playwright.sync_api import Browser, expect

from headway.inspection.document import run, sentence
from headway.inspection.html_page import FOLDER, html, joined
from headway.inspection.inspected_model import open_inspected
from headway.operations.shipped import SHIPPED

HOSTILE = {
    "markup": "<img src=x onerror=\"document.title='broken'\"> &lt;b&gt; <b>bold</b> "
    "<style>*{display:none}</style> <script>document.title='broken'</script> "
    "</script><script>document.title='broken'</script> <!--<script>",
    "code": "javascript:document.title='broken'//'\"`;document.title='broken'//"
    "${document.title='broken'}\u2028document.title='broken'\u2029",
    "signs": "مرحبا بالعالم \u202e reversed \u202c 👩‍👩‍👧‍👦 \x00 \x1b[31m \ufeff \ufffd",
    "long": "x" * 20_000,
}


@needs_chromium
@pytest.mark.parametrize(
    ("language", "dark", "width"),
    [
        ("en-US", False, PHONE),
        ("en-US", True, 1280),
        ("zh-CN", True, PHONE),
        ("zh-CN", False, 1280),
    ],
)
def test_all_views_are_drawn_without_a_complaint_fit_the_screen_and_pass_axe(
    chromium: Browser, page_file: Path, language: str, dark: bool, width: int
) -> None:
    with opened(chromium, page_file, width=width, language=language, dark=dark) as page:
        all_seen(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".missing").count() == 0
        lang = page.evaluate("document.documentElement.lang")
        assert lang == {"en-US": "en", "zh-CN": "zh-Hans"}[language]
        if width > PHONE:
            # axe looks at what a script may see: its own is put in by the driver, not by the page.
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()


BROKEN = r"""() => {
  const words = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (!parentElement.checkVisibility()) continue;
    for (const { 0: word, index } of data.matchAll(/[\p{Script=Latin}\p{N}.,]+/gu)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) words.push(word);
    }
  }
  return words;
}"""
"""Words in letters that are not broken, numbers and names of parts, that stand on two lines."""


@needs_chromium
def test_a_phone_breaks_no_word_and_no_number_in_two(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, width=PHONE) as page:
        all_seen(page)
        assert page.evaluate(BROKEN) == []


@needs_chromium
def test_language_and_colours_are_chosen_and_remembered(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as page:
        page.get_by_role("button", name="简体中文").click()
        expect(page.locator("h2").first).to_have_text("句子")
        page.get_by_role("button", name="深色").click()
        page.reload()
        expect(page.locator("h2").first).to_have_text("句子")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@needs_chromium
def test_the_other_sentence_is_shown_when_it_is_chosen(
    chromium: Browser, page_file: Path, document: dict[str, Any]
) -> None:
    with opened(chromium, page_file) as page:
        page.locator("#sentence-choice").select_option("1")
        view = seen(page, "sentence")
        wanted = [token["piece"] for token in document["sentences"][1]["tokens"]["source"]]
        shown = view.locator(".tokens").first.locator(".piece").all_text_contents()
        assert shown == wanted


@needs_chromium
def test_the_triangle_and_the_padding_are_those_of_the_notes_sentence(
    chromium: Browser, tmp_path: Path
) -> None:
    """Of the run that comes with headway, in a batch with a shorter sentence."""
    inspected = open_inspected(SHIPPED)
    parts = ("tokens", "ideas")
    sentences = [
        sentence(inspected, text, parts=parts) for text in ("It runs.", "I love learning.")
    ]
    file = tmp_path / "page.html"
    file.write_text(html({"run": run(inspected), "sentences": sentences}), encoding="utf-8")
    with opened(chromium, file) as page:
        page.locator("#sentence-choice").select_option("1")
        view = seen(page, "ideas")
        assert sentences[1]["translation"] == "我爱学习。"
        fed = [sentences[1]["tokens"]["fed"], *sentences[1]["tokens"]["target"][:-1]]
        rows = view.locator(".triangle tr")
        assert rows.locator("th").all_text_contents() == [token["piece"] for token in fed]
        for i in range(len(fed)):
            assert rows.nth(i).locator(".seen").count() == i + 1
            assert rows.nth(i).locator(".hidden").count() == len(fed) - i - 1
        lengths = [len(one["tokens"]["source"]) for one in sentences]
        painted = (
            view.locator("figure", has_text="Padding")
            .locator("canvas")
            .evaluate(
                """canvas => {
              const { width, height } = canvas;
              const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
              const at = (i, j) => data.slice(4 * (i * width + j), 4 * (i * width + j) + 3).join();
              const row = (i) => [...Array(width).keys()].map((j) => at(i, j));
              return [...Array(height).keys()].map(row);
            }"""
            )
        )
        real = painted[lengths.index(max(lengths))][0]
        assert [[pixel == real for pixel in row] for row in painted] == [
            [j < length for j in range(max(lengths))] for length in lengths
        ]


@needs_chromium
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_runs_or_breaks_the_page(
    chromium: Browser, document: dict[str, Any], tmp_path: Path, text: str
) -> None:
    spoiled = _everywhere(document, text)
    file = tmp_path / "page.html"
    file.write_text(html(spoiled), encoding="utf-8")
    with opened(chromium, file, width=PHONE) as page:
        all_seen(page)
        assert page.title().startswith("headway: ")
        assert page.locator("main script, main img, main style").count() == 0
        assert page.locator("main section").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE


def _everywhere(value: Any, text: str) -> Any:
    """The document with this text in the place of every piece, name and sentence."""
    if isinstance(value, dict):
        return {
            key: text
            if key in ("piece", "text", "translation", "name") and "where" not in value
            else _spoiled(one, text)
            if key in ("pieces", "source")
            else _everywhere(one, text)
            for key, one in value.items()
        }
    return [_everywhere(one, text) for one in value] if isinstance(value, list) else value


def _spoiled(pieces: Any, text: str) -> Any:
    """The same of pieces by id, or in a row."""
    if isinstance(pieces, dict):
        return dict.fromkeys(pieces, text)
    return [text if isinstance(one, str) else _everywhere(one, text) for one in pieces]


@needs_chromium
def test_numbers_keep_the_digits_that_matter(chromium: Browser, page_file: Path) -> None:
    source = (FOLDER / "numbers.js").read_text(encoding="utf-8").replace("export ", "")
    values = [0, 0.0091, -0.0004, 0.25, 0.99999, 1.5, -12.34, 999.4, 54321]
    with opened(chromium, page_file) as page:
        found = page.evaluate(
            f"(all) => {{ {source}; return all.map((one) => short(one)); }}", values
        )
        counts = page.evaluate(f"(all) => {{ {source}; return all.map(whole); }}", [999, 1234567])
    assert found == "0.00 0.00910 −4.00e−4 0.250 1.00 1.50 −12.3 999 54321".split()
    assert counts == ["999", "1,234,567"]


def test_modules_make_no_element_of_text() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|DOMParser"
        r"|setAttribute\(\"on|createContextualFragment"
    )
    for module in FOLDER.glob("*.js"):
        assert not forbidden.search(module.read_text(encoding="utf-8")), module.name


def test_modules_are_joined_behind_those_that_they_import() -> None:
    script = joined()
    assert "\nimport " not in script
    assert "\nexport " not in script
    for name in re.findall(r"= module_(\w+);", script):
        assert 0 <= script.index(f"const module_{name} = ") < script.index(f"= module_{name};")


def test_the_document_comes_back_from_the_page(document: dict[str, Any]) -> None:
    text = html(document).partition('id="document">')[2].partition("</script>")[0]
    assert json.loads(text) == document


def test_views_have_the_same_words_in_both_languages() -> None:
    """Each module's `words` names the same keys twice; read by their layout."""
    words = re.compile(
        r"(?:words|COMMON) = \{\n  en: \{\n(.*?)\n  \},\n  zh: \{\n(.*?)\n  \},\n", re.DOTALL
    )
    for module in FOLDER.glob("*.js"):
        source = module.read_text(encoding="utf-8")
        assert len(words.findall(source)) == len(re.findall(r"\b(?:words|COMMON) = ", source))
        for block in words.findall(source):
            english, chinese = (set(re.findall(r"\b(\w+): [\"`]", part)) for part in block)
            assert english == chinese, (module.name, english ^ chinese)

"""The page at `/` in a real browser: typed, clicked, dropped and reviewed, by everybody."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PHONE, browser, dropped, needs_chromium, opened
from playwright.sync_api import Browser, Page, Route, expect
from served import PO, running, service_of

import headway
from headway.filling.judging import TOO_WIDE
from headway.filling.report import CODES_AT_END, WHY_NOT
from headway.languages.numbers import odd_numbers
from headway.localization.checks.code_signs import odd_codes
from headway.localization.checks.number_words import odd_small_numbers
from headway.localization.checks.output_checks import CHECKS, UNCOVERED, UNKNOWN, UNSURE
from headway.localization.formats.units import FUZZY
from headway.localization.terms.keeping import in_words
from headway.operations.shipped import SHIPPED
from headway.serving.guard import CUT_OFF
from headway.serving.keys import ApiKeys, new_key
from headway.serving.limits import Limits
from headway.serving.page_routes import FOLDER
from headway.serving.requests import ServedPair
from headway.translator import Translator

TEXT = "The animal didn't cross the street because it was too tired."
TABS = ("text", "file", "think")
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running(service_of(SHIPPED)) as url:
        yield url


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(SHIPPED, device="cpu")


def typed(page: Page, text: str = TEXT) -> None:
    """Type a text, and wait for its translation."""
    expect(page.locator("#target-language option")).not_to_have_count(0)
    page.locator("#source").fill(text)
    expect(page.locator("#output .word").first).to_be_visible()
    expect(page.locator("#result")).to_have_attribute("aria-busy", "false")


def test_a_text_is_translated_as_it_is_typed(
    chromium: Browser, address: str, translator: Translator
) -> None:
    with opened(chromium, address) as page:
        typed(page)
        expect(page.locator("#output")).to_have_text(translator.translate(TEXT))
        expect(page.locator("#source-language")).to_have_value("auto")
        expect(page.locator("#source-language option").first).to_contain_text("English")
        expect(page.locator("#facts")).to_contain_text("% sure")
        expect(page.locator("#heard")).to_have_text(translator.translate(TEXT))
        page.locator("#clear").click()
        expect(page.locator("#output")).to_have_text("")
        expect(page.locator("#source")).to_be_focused()


def test_an_answer_that_comes_late_is_dropped(
    chromium: Browser, address: str, translator: Translator
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "The dog runs." in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    with opened(chromium, address) as page:
        page.route("**/v1/translate", hold)
        expect(page.locator("#target-language option")).not_to_have_count(0)
        with page.expect_request("**/v1/translate"):
            page.locator("#source").fill("The dog runs.")
        typed(page)
        for route in held:
            route.fulfill(json={"translations": [{"text": "late", "source": "en"}]})
        assert held
        expect(page.locator("#output")).to_have_text(translator.translate(TEXT))


def test_a_word_is_changed_and_the_rest_follows(chromium: Browser, address: str) -> None:
    with opened(chromium, address) as page:
        typed(page)
        before = page.locator("#output").inner_text()
        page.locator("#output .word").first.click()
        options = page.locator("#others [role=option]")
        expect(options.nth(1)).to_be_focused()
        chosen = options.nth(1).locator("b").inner_text()
        page.keyboard.press("Enter")
        expect(page.locator("#output")).not_to_have_text(before)
        expect(page.locator("#output")).to_have_text(re.compile(f"^{re.escape(chosen)}"))
        expect(page.locator("#output .word.kept").first).to_be_visible()
        page.locator("#facts button").click()  # the model begins anew
        expect(page.locator("#output")).to_have_text(before)


def test_a_word_shows_what_it_looks_at(chromium: Browser, address: str) -> None:
    with opened(chromium, address) as page:
        typed(page)
        marks = page.locator("#mirror mark")
        words = page.locator("#output .word")
        expect(marks).to_have_count(0)
        words.last.hover()
        expect(marks.first).to_be_attached()
        assert all(mark in TEXT for mark in marks.all_inner_texts())
        assert page.locator("#mirror").inner_text().strip() == TEXT


def test_languages_are_swapped_with_their_texts(chromium: Browser) -> None:
    both = service_of(SHIPPED, SHIPPED)
    both.runs.all[1].pair = ServedPair("zh", "en")
    with running(both) as url, opened(chromium, url) as page:
        expect(page.locator("#target-language option")).to_have_count(2)
        page.locator("#source-language").select_option("en")
        typed(page)
        output = page.locator("#output").inner_text()
        page.locator("#swap").click()
        expect(page.locator("#source-language")).to_have_value("zh")
        expect(page.locator("#target-language")).to_have_value("en")
        expect(page.locator("#source")).to_have_value(output)
        expect(page.locator("#output .word").first).to_be_visible()


def test_a_text_in_the_target_language_is_turned_round_by_a_swap(chromium: Browser) -> None:
    both = service_of(SHIPPED, SHIPPED)
    both.runs.all[1].pair = ServedPair("zh", "en")
    with running(both) as url, opened(chromium, url) as page:
        expect(page.locator("#target-language option")).to_have_count(2)
        page.locator("#target-language").select_option("zh")
        page.locator("#source").fill("老师在花园里看书，学生们在教室里写字。")
        expect(page.locator("#facts")).to_contain_text("left as it is")
        page.locator("#swap").click()
        expect(page.locator("#source-language")).to_have_value("zh")
        expect(page.locator("#target-language")).to_have_value("en")
        expect(page.locator("#source")).to_have_value("老师在花园里看书，学生们在教室里写字。")


def test_terms_and_history_stay_in_the_browser(chromium: Browser, address: str) -> None:
    with opened(chromium, address) as page:
        typed(page)
        expect(page.locator("#open-history")).to_have_text("History (1)")
        page.locator("#open-glossary").click()
        page.keyboard.type("street")
        page.keyboard.press("Tab")
        page.keyboard.type("街道")
        with page.expect_request("**/v1/translate") as asked:
            page.locator("#glossary [data-close]").click()
        assert asked.value.post_data_json["glossary"] == [{"source": "street", "target": "街道"}]
        expect(page.locator("#open-glossary")).to_have_text("Glossary (1)")
        page.locator("#clear").click()
        page.locator("#open-history").click()
        page.locator("#history-list button").first.click()
        expect(page.locator("#source")).to_have_value(TEXT)
        page.locator("#open-history").click()
        page.locator("#clear-history").click()
        assert page.evaluate("localStorage.getItem('headway-history')") is None


def test_a_file_is_reviewed_from_drop_to_download(chromium: Browser, address: str) -> None:
    with opened(chromium, address) as page:
        expect(page.locator("#target-language option")).not_to_have_count(0)
        dropped(page, "menu.po", PO)
        fields = page.locator(".units textarea")
        expect(fields).to_have_count(2)
        expect(page.locator("h2", has_text="menu.po")).to_be_visible()
        fields.first.fill("狗跑了。")
        fields.first.press("Control+Enter")
        expect(fields.nth(1)).to_be_focused()
        expect(page.locator("tr.edited")).to_have_count(1)
        output = fields.nth(1).input_value()
        page.keyboard.press("Control+Enter")
        expect(page.locator("tr.accepted")).to_have_count(1)
        page.get_by_role("button", name="Edited (1)").click()
        expect(fields).to_have_count(1)
        page.get_by_role("button", name="All (2)").click()
        with page.expect_download() as coming:
            page.locator("#download").click()
        assert coming.value.suggested_filename == "menu.zh.po"
        got = Path(coming.value.path()).read_text(encoding="utf-8")
        whole = PO.replace('runs."\nmsgstr ""', 'runs."\nmsgstr "狗跑了。"')
        assert got == whole.replace('sleep."\nmsgstr ""', f'sleep."\nmsgstr "{output}"')
        page.locator("tr.edited").get_by_role("button", name="Take back").click()
        expect(page.locator("tr.edited")).to_have_count(0)


def test_a_download_has_what_was_written_and_not_accepted_yet(
    chromium: Browser, address: str
) -> None:
    with opened(chromium, address) as page:
        expect(page.locator("#target-language option")).not_to_have_count(0)
        dropped(page, "menu.po", PO)
        fields = page.locator(".units textarea")
        expect(fields).to_have_count(2)
        fields.nth(1).fill("狗睡了。")
        with page.expect_download() as coming:
            page.locator("#download").click()
        assert "狗睡了。" in Path(coming.value.path()).read_text(encoding="utf-8")
        expect(page.locator("tr.edited")).to_have_count(1)
        expect(page.locator("tr.accepted")).to_have_count(0)  # the other was not touched


def test_a_field_that_is_emptied_leaves_its_unit_untranslated(
    chromium: Browser, address: str
) -> None:
    with opened(chromium, address) as page:
        expect(page.locator("#target-language option")).not_to_have_count(0)
        dropped(page, "menu.po", PO)
        field = page.locator(".units textarea").nth(1)
        output = field.input_value()
        field.fill("")
        with page.expect_download() as coming:
            page.locator("#download").click()
        got = Path(coming.value.path()).read_text(encoding="utf-8")
        assert got.endswith('msgid "%d cats sleep."\nmsgstr ""\n')
        page.locator("tr.left").get_by_role("button", name="Take back").click()
        expect(page.locator("tr.left")).to_have_count(0)
        expect(field).to_have_value(output)


def test_the_tag_that_is_chosen_is_asked_for(chromium: Browser, tagged_demo: Path) -> None:
    with running(service_of(tagged_demo)) as url, opened(chromium, url) as page:
        typed(page)
        tag = page.locator("#tag")
        expect(tag.locator("option")).to_have_text(["no tag", "formal"])
        with page.expect_request("**/v1/translate") as asked:
            tag.select_option("formal")
        assert asked.value.post_data_json["tag"] == "formal"
        dropped(page, "menu.po", PO)
        [wanted] = Translator.load(tagged_demo, device="cpu").translate(
            ["The dog runs."], tag="formal"
        )
        expect(page.locator(".units textarea").first).to_have_value(wanted)


def test_everything_is_done_with_the_keyboard_alone(chromium: Browser, address: str) -> None:
    with opened(chromium, address) as page:
        expect(page.locator("#target-language option")).not_to_have_count(0)
        press = page.keyboard.press
        press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        press("Enter")
        while not page.locator("#source").evaluate("one => one === document.activeElement"):
            press("Tab")
        page.keyboard.type("The dog runs.")
        expect(page.locator("#output .word").first).to_be_visible()
        press("Tab")  # clear
        press("Tab")
        words = page.locator("#output .word")
        expect(words.first).to_be_focused()
        press("End")
        expect(words.last).to_be_focused()
        press("Enter")
        expect(page.locator("#others [role=option]").nth(1)).to_be_focused()
        press("Escape")
        expect(words.last).to_be_focused()
        page.locator("#tab-text").focus()
        press("ArrowRight")
        expect(page.locator("#tab-file")).to_be_focused()
        expect(page.locator("#drop")).to_be_visible()
        press("End")
        expect(page.locator("#panel-think")).to_be_visible()


def test_how_it_thinks_is_the_inspector_of_the_text(chromium: Browser, address: str) -> None:
    with opened(chromium, address, language="zh-CN", dark=True) as page:
        typed(page, "The dog runs.")
        page.locator("#tab-think").click()
        inner = page.frame_locator("#inspector")
        expect(inner.locator("#text")).to_have_value("The dog runs.")
        expect(inner.locator("h2").first).to_have_text(re.compile("[\u4e00-\u9fff]"))
        inner.locator("#text").fill("The cat sleeps.")
        inner.get_by_role("button", name="查看").click()
        expect(inner.locator("#sentence-choice")).to_contain_text("The cat sleeps.")
        inner.get_by_role("button", name="English").click()  # one language for both, and no more
        expect(page.locator("#tab-file")).to_have_text("File")
        expect(inner.locator("#sentence-choice")).to_contain_text("The cat sleeps.")


@pytest.mark.parametrize(
    ("language", "tag", "dark"), [("en-US", "en", False), ("zh-CN", "zh-Hans", True)]
)
def test_it_fits_a_phone_and_axe_finds_nothing_to_complain_of(
    chromium: Browser, address: str, language: str, tag: str, dark: bool
) -> None:
    with opened(chromium, address, width=PHONE, language=language, dark=dark) as page:
        assert page.evaluate("document.documentElement.lang") == tag
        typed(page)
        for name in TABS:
            page.locator(f"#tab-{name}").click()
            if name == "file":
                dropped(page, "a.po", PO)
                expect(page.locator(".units textarea")).to_have_count(2)
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
            if name != "think":  # the inspector has a test of its own
                assert complaints(page) == []
        page.locator("#tab-text").click()
        for name in ("glossary", "history"):
            page.locator(f"#open-{name}").click()
            assert complaints(page) == []
            page.keyboard.press("Escape")
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 300) == dark


def complaints(page: Page) -> list[Any]:
    return [(one["id"], one["nodes"][0]["html"]) for one in Axe().run(page).response["violations"]]


def test_language_and_colours_are_chosen_and_kept(chromium: Browser, address: str) -> None:
    with opened(chromium, address) as page:
        typed(page)
        page.get_by_role("button", name="简体中文").click()
        expect(page.locator("#tab-file")).to_have_text("文件")
        expect(page.locator("#output .word").first).to_be_visible()
        page.locator("#choose-theme .is-dark").click()
        page.reload()
        expect(page.locator("#tab-file")).to_have_text("文件")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_service_that_is_busy_is_asked_again(chromium: Browser, address: str) -> None:
    refused: list[Route] = []

    def refuse(route: Route) -> None:
        refused.append(route)
        if len(refused) < 3:
            route.fulfill(status=503, json={"error": "busy"}, headers={"retry-after": "1"})
        else:
            route.fallback()

    context = chromium.new_context()
    page = context.new_page()
    page.route("**/v1/translate", refuse)
    page.goto(address)
    typed(page)
    assert len(refused) == 3
    context.close()


def test_a_text_that_nothing_here_translates_is_said_to_be_one(
    chromium: Browser, address: str
) -> None:
    context = chromium.new_context()  # its console says that a request was refused
    page = context.new_page()
    page.goto(address)
    typed(page, "Keep me.")  # its language is known when a term is added
    page.locator("#open-glossary").click()
    page.locator("#glossary-form input").first.fill("dog")
    page.keyboard.press("Escape")
    typed(page, "שלום עולם, הכלב רץ.")
    expect(page.locator("#flags")).to_contain_text("none of the languages")
    expect(page.locator("#flags")).to_contain_text("English")
    expect(page.locator("#source-language option").first).to_have_text("Detect language")
    expect(page.locator("#open-glossary")).to_have_text("Glossary (1)")
    for text in ("שלום עולם, הכלב רץ.", "那只狗在跑，因为它很累。"):
        page.locator("#tab-text").click()
        typed(page, text)
        page.locator("#tab-think").click()
        expect(page.locator("#think-said")).to_contain_text("it is left as it is")
        expect(page.locator("#inspector")).to_be_hidden()
    page.locator("#tab-text").click()
    typed(page)
    expect(page.locator("#flags")).not_to_contain_text("none of the languages")
    context.close()


def test_a_text_that_is_refused_has_no_answer_beside_it(chromium: Browser) -> None:
    service = service_of(SHIPPED)
    service.limits = Limits(max_characters=100)
    with running(service) as url:
        context = chromium.new_context()  # its console says that a request was refused
        page = context.new_page()
        page.goto(url)
        typed(page)
        expect(page.locator("#copy")).to_be_visible()
        page.locator("#source").fill(TEXT * 2)
        expect(page.locator("#empty")).to_have_text(re.compile("at most 100 characters; got 120"))
        expect(page.locator("#output")).to_have_text("")
        expect(page.locator("#facts")).to_have_text("")
        expect(page.locator("#copy")).to_be_hidden()
        expect(page.locator("#count")).to_have_text(re.compile("at most 100 are translated"))
        page.locator("#choose-language button").nth(1).click()
        expect(page.locator("#empty")).to_contain_text("未能完成")
        typed(page)
        expect(page.locator("#empty")).to_be_hidden()
        expect(page.locator("#count")).to_have_text("60 个字符")
        context.close()


def test_a_key_is_asked_for_and_kept_in_the_browser(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    key = new_key(file, "someone", lambda _: None)
    with running(service_of(SHIPPED), ApiKeys(file)) as url:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(url)
        expect(page.locator("#key")).to_be_visible()
        page.keyboard.type(key)
        page.keyboard.press("Enter")
        typed(page)
        page.reload()
        expect(page.locator("#target-language option")).not_to_have_count(0)
        context.close()


def test_every_flag_has_chinese_words() -> None:
    of_checks = {*CHECKS, UNCOVERED, UNKNOWN, UNSURE}
    documented = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \|", documented, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == of_checks
    flags = {*of_checks, *WHY_NOT, CODES_AT_END, FUZZY, TOO_WIDE, "term"}
    words = (FOLDER / "words.js").read_text(encoding="utf-8")
    chinese = re.search(r"const FLAGS = \{.*?\n  zh: \{(.*?)\},?\n\};", words, re.DOTALL)
    assert chinese is not None
    assert set(re.findall(r'(\w+): "', chinese[1])) == flags


def reasons_in(module: str) -> list[str]:
    """What flags and refusals of a module may say, with a 7 for whatever stands in it."""

    def said(node: ast.expr) -> list[str]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            return [node.value]
        if isinstance(node, ast.JoinedStr):
            parts = (
                str(one.value) if isinstance(one, ast.Constant) else "7" for one in node.values
            )
            return ["".join(parts)]
        if isinstance(node, ast.Name):
            return [one for given in named.get(node.id, ()) for one in said(given)]
        return []

    tree = ast.parse((Path(headway.__file__).parent / module).read_text(encoding="utf-8"))
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named.setdefault(node.targets[0].id, []).append(node.value)
    place = {"CheckResult": 1, "Flag": 2, "RefusedError": 1}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = [(place[one.func.id], one.args) for one in calls
            if isinstance(one.func, ast.Name) and one.func.id in place]  # fmt: skip
    return [text for n, args in made if n < len(args) for text in said(args[n])]


def test_reasons_are_told_in_chinese(chromium: Browser, address: str) -> None:
    modules = [
        "localization/checks/output_checks.py", "localization/checks/calibration.py",
        "filling/judging.py", "serving/with_run.py", "serving/limits.py", "serving/keys.py",
        "serving/documents.py", "serving/file_translation.py", "serving/scheduler.py",
        "serving/run_memory.py", "serving/page_routes.py", "serving/guard.py",
        "serving/requests.py", "serving/review.py", "serving/runs.py",
    ]  # fmt: skip
    names = {"7 seems": "the source seems", "7: ": "unit 7: "}  # that variables hold
    found = [
        re.sub("^7( seems|: )", lambda name: names[name[0]], text)
        for module in modules
        for text in reasons_in(module)
    ]
    assert len(found) >= 40, "they are found"
    for targets in (["狗"], []):
        term: Any = SimpleNamespace(targets=targets)
        asked: Any = SimpleNamespace(found="dog", wanted=SimpleNamespace(times=2), term=term)
        found.append(in_words(asked))
    found += [
        str(odd_numbers("3.5", "5")), str(odd_numbers("3.5", "")), str(odd_numbers("", "3.5")),
        odd_codes("a %s", "a", ())[1], odd_codes("<b>a</b>", "<b></b>", ())[1],
        odd_small_numbers("three dogs", "两只狗", ("en", "zh"))[1],
        *(words.format(limit=40) for words in WHY_NOT.values()),
        CUT_OFF,
    ]  # fmt: skip
    with opened(chromium, address) as page:
        said = page.evaluate(
            "async (texts) => { const { inChinese } = await import(new URL('page/reasons.js', "
            "location)); return texts.map((text) => [text, inChinese(text, (code) => code)]); }",
            found,
        )
    assert [text for text, words in said if words is None] == []
    assert [words for _, words in said if re.search(r"undefined|\{", words)] == []


def test_every_text_is_there_in_both_languages() -> None:
    words = (FOLDER / "words.js").read_text(encoding="utf-8")
    blocks = re.search(
        r"const WORDS = \{\n  en: \{(.*?)\n  \},\n  zh: \{(.*?)\n  \},\n\};", words, re.DOTALL
    )
    assert blocks is not None
    english, chinese = (
        set(re.findall(r'(?:^|[,{]\s*|\n\s+)(\w+): "', block)) for block in blocks.groups()
    )
    assert english == chinese
    modules = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.js"))
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    used = {*re.findall(r'\bt\("(\w+)"', modules), *re.findall(r'data-t(?:-\w+)?="(\w+)"', page)}
    assert used <= english
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", modules)
    assert json.dumps(re.findall(r"https?://(?!www\.w3\.org)\S+", modules + page)) == "[]"

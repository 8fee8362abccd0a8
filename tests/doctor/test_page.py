import re
from html.parser import HTMLParser

import pytest
from doctors_words import HOSTILE, nothing_said, said

from headway.doctor.report import page

VOID = {"meta", "line", "rect", "circle", "polyline"}


class Strict(HTMLParser):
    """Every tag is closed in its turn; collects tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


@pytest.mark.parametrize("found", [said(), nothing_said()])
def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(found: dict[str, object]) -> None:
    text = page(found)
    read = Strict(text)
    assert text.startswith("<!DOCTYPE html>")
    assert {"html", "head", "title", "style", "body"} <= set(read.seen)
    assert not {"script", "img", "link", "iframe", "object", "image", "use", "a"} & set(read.seen)
    names = {name for name, _ in read.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not {"src", "href", "xlink:href", "action", "srcset"} & names
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in read.attributes


def test_hostile_text_arrives_as_text() -> None:
    read = Strict(page(said()))
    # title, meaning, remedy, five examples of two findings with place, detail and both sides, ..
    assert read.text.count(HOSTILE) >= 40
    assert "onerror" not in {name for name, _ in read.attributes}


def test_it_says_what_is_wrong_first_and_ends_in_sizes() -> None:
    text = Strict(page(said())).text
    places = [text.index(words) for words in ("Look at this", "Will be dropped", "two")]
    assert places == sorted(places)
    assert text.index("For information") < text.index("three") < text.index("Sizes")
    assert "1,234 (12.34%)" in text


def test_nothing_wrong_is_said_too() -> None:
    text = Strict(page(nothing_said())).text
    assert "Nothing to look at." in text
    assert "Nothing is dropped." in text
    assert "Verdict: fit to train on." in text

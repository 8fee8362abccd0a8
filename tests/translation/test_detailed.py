"""Translations with all that is known of them, and what stands around a translator of texts."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from headway.core.hypothesis import SearchRequest
from headway.translation.detailed import DetailedTranslator, Translate, Translation, within
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def test_alone_it_gives_what_a_translator_gives(everyday_run: Path) -> None:
    plain, text = DetailedTranslator.load(everyday_run), "She reads a book."
    whole = Translator.load(everyday_run, device="cpu", engine="torch")
    assert plain([text], plain.request()) == whole.translate_fully([text])


def test_the_first_processor_is_outermost_and_may_translate_others(everyday_run: Path) -> None:
    heard: list[tuple[str, list[str]]] = []

    def doubling(
        texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        heard.append(("doubling", [*texts]))
        return translate([*texts, *texts], request)[len(texts) :]

    def capital(
        texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        heard.append(("capital", [*texts]))
        return translate([text.capitalize() for text in texts], request)

    plain = DetailedTranslator.load(everyday_run)
    translate = within([doubling, capital], plain)
    [found] = translate(["she reads a book."], plain.request())
    assert [found.target] == plain.translate(["She reads a book."])
    assert heard == [("doubling", ["she reads a book."]), ("capital", ["she reads a book."] * 2)]

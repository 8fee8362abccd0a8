"""Translations with all that is known of them, and what stands around a translator of texts."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from headway.core.hypothesis import Hypothesis, SearchRequest
from headway.translation.coded import spans_written
from headway.translation.detailed import DetailedTranslator, Translate, Translation, within
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def test_alone_it_gives_what_a_translator_gives(everyday_run: Path) -> None:
    plain, text = DetailedTranslator.load(everyday_run), "She reads a book."
    whole = Translator.load(everyday_run, device="cpu", engine="torch")
    assert plain([text], plain.request()) == whole.translate_fully([text])


def test_a_translation_neither_begins_nor_ends_with_white_space(everyday_run: Path) -> None:
    """As no target of training does: the model wrote a sub-word that stands behind a space."""
    plain = DetailedTranslator.load(everyday_run)
    written = plain.subwords.encode_targets(["a dog runs"])[0]
    spaced = [i for i in written if plain.subwords.pieces([i])[0].startswith("\u2581")]
    ids = [*map(int, (spaced[0], *written, spaced[-1])), *plain.subwords.encode_targets([" "])[0]]
    assert plain.subwords.decode(ids).startswith(" ")
    plain.decode = lambda *_: [[Hypothesis(ids, 0.0, 0.0, [], None)]]
    [found], [text] = plain(["x"], plain.request()), plain.translate(["x"])
    assert found.target == found.n_best[0].written == text == plain.subwords.decode(ids).strip()
    spans = spans_written(plain.subwords, ids)
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    pieces = plain.subwords.pieces(ids)
    for (start, end), piece in zip(spans, pieces, strict=True):
        assert text[start:end].strip() == piece.replace("\u2581", " ").strip()


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

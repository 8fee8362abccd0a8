"""Text to text by the core alone, and what stands around it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from headway.core.errors import RunError
from headway.core.search import SearchRequest
from headway.core.translate import TextTranslator, Translate, Translation
from headway.runs.copying import save_copy
from headway.translator import Translator

TEXTS = ["She reads a book.", "", "The dog runs  "]

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def test_it_translates_as_headway_does_by_torch(everyday_run: Path) -> None:
    core = TextTranslator.load(everyday_run)
    whole = Translator.load(everyday_run, device="cpu", engine="torch")
    assert core.translate(TEXTS) == whole.translate(TEXTS)
    [one], [other] = core(TEXTS[:1], core.request()), whole.translate_fully(TEXTS[:1])
    assert one == other
    assert core.longest == whole.longest


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

    core = TextTranslator.load(everyday_run)
    found = core.translate(["she reads a book."], [doubling, capital])
    assert found == core.translate(TEXTS[:1])
    assert heard == [("doubling", ["she reads a book."]), ("capital", ["she reads a book."] * 2)]


def test_a_run_without_its_sub_words_is_refused(everyday_run: Path, tmp_path: Path) -> None:
    """As an imported one has none."""
    run = save_copy(
        everyday_run, Translator.load(everyday_run, device="cpu").model, tmp_path / "run"
    )
    (run / "tokenizer.json").unlink()
    with pytest.raises(RunError, match="Load it with headway.Translator"):
        TextTranslator.load(run)

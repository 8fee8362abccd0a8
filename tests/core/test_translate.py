"""Text to text by the core alone."""

from pathlib import Path

import pytest

from headway.core.errors import RunError
from headway.core.translate import TextTranslator
from headway.runs.checking import save_copy
from headway.translator import Translator

TEXTS = ["She reads a book.", "", "The dog runs  "]

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def test_it_translates_as_headway_does_by_torch(everyday_run: Path) -> None:
    core = TextTranslator.load(everyday_run)
    whole = Translator.load(everyday_run, device="cpu", engine="torch")
    assert core.translate(TEXTS) == whole.translate(TEXTS)
    [one], [other] = core.search(TEXTS[:1], core.request()), whole.translate_fully(TEXTS[:1])
    assert [found.score for found in one.hypotheses] == [found.score for found in other.n_best]
    assert core.longest == whole.longest


def test_a_run_without_its_sub_words_is_refused(everyday_run: Path, tmp_path: Path) -> None:
    """As an imported one has none."""
    run = save_copy(
        everyday_run, Translator.load(everyday_run, device="cpu").model, tmp_path / "run"
    )
    (run / "tokenizer.json").unlink()
    with pytest.raises(RunError, match="Load it with headway.Translator"):
        TextTranslator.load(run)

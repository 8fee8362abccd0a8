"""A translator, opened to be looked into."""

from functools import partial
from pathlib import Path
from typing import Any

from headway.core.cleaning import Report
from headway.core.runtime import Device
from headway.corpora.corpus import read_pairs
from headway.inspection.inspected_model import Examples, InspectedModel, Passage
from headway.translation.attention import as_fed
from headway.translator import Translator


def opened(run: Path, device: Device, tag: str | None) -> InspectedModel:
    """A run of translation; `tag` is one of its tags."""
    translator = Translator.load(run, device=device)
    tag = translator.chosen_tag(tag)
    codes = translator.processors.codes(tag)

    def write(text: str) -> str:
        return translator.translate([text], tag=tag or None)[0]

    def passage(text: str, target: str) -> Passage:
        return Passage(text, target, *as_fed(codes, text, target))

    settings, longest = translator.settings, translator.longest
    return InspectedModel(
        run, settings.task, settings, translator.model, translator.subwords, translator.device,
        write, passage, None if longest is None else longest + 1, translator,
        partial(_examples, settings.data), reads_source=True,
    )  # fmt: skip


def _examples(data: Any) -> Examples:
    corpus = data.validation() or data.corpus()
    return Examples(corpus.files, (pair.source for pair in read_pairs(corpus, Report())))

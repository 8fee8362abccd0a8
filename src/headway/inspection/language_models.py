"""A language model, opened to be looked into."""

from functools import partial
from pathlib import Path
from typing import Any

from headway.core.lines import read_lines
from headway.core.runtime import Device
from headway.inspection.inspected_model import Examples, InspectedModel, Passage
from headway.language_models.trained import TrainedLanguageModel


def opened(run: Path, device: Device, _tag: str | None) -> InspectedModel:
    """A run of language modelling; it reads no tags."""
    used = TrainedLanguageModel.load(run, device=device)

    def passage(text: str, target: str) -> Passage:
        ids = used.vocabulary.encode(used.cut(target))
        return Passage(text, target, [], [used.vocabulary.special.decoder_begin, *ids])

    settings = used.settings
    return InspectedModel(
        run, settings.task, settings, used.decoder, used.vocabulary, used.device,
        lambda text: text, passage, None, used, partial(_examples, settings.data),
        whole_words=settings.text.unit == "words",
    )  # fmt: skip


def _examples(data: Any) -> Examples:
    files = data.valid_corpus or data.corpus
    return Examples(
        files, (line for path in files for line in read_lines(path) if line is not None)
    )

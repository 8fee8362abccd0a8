"""What a run of text classification says of texts, and how often it is right."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from jaxtyping import Float

from headway.classification.criterion import AT_ONCE, probabilities, scored
from headway.classification.reading import (
    SEVERAL,
    read_labelled,
    read_texts,
    refuse_several,
    refuse_unknown,
)
from headway.classification.spec import SPEC, examples_of
from headway.core.errors import DataError
from headway.labelling.predictions import Answer, Asked, OpenedLabeller
from headway.labelling.scores import LabelScores
from headway.labelling.task import Example


class TextClassifier(OpenedLabeller):
    """A `headway.labelling.predictions.Predictor`."""

    spec = SPEC

    def probabilities(self, texts: Sequence[str]) -> Float[np.ndarray, "texts labels"]:
        """Of each label, for each text."""
        settings, vocabulary, model, _ = self.opened
        rows = vocabulary.encode_batch(texts, settings.data.max_length)
        return probabilities(model, vocabulary, (Example(np.array(row), 0) for row in rows))

    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        """The label of each text (of several those that are likelier than not), and how likely the
        likeliest are; a blank line stays blank. Files with columns are read as in training, but for
        their labels."""
        if asked.file:
            lines = read_texts(asked.file, self.opened.settings.data) or lines
        while texts := [*islice(lines, AT_ONCE)]:
            self.refuse_labelled(texts[0])
            for text, probs in zip(texts, self.probabilities(texts), strict=True):
                if text.strip():
                    yield self.answer(text, probs, asked.top)
                else:
                    yield Answer("", {"text": text, "label": None, "labels": []})

    def refuse_labelled(self, text: str) -> None:
        """Raise DataError for a text with a label in front, which would be read as a word of it."""
        label, tab, _ = text.partition("\t")
        if tab and all(one in self.opened.vocabulary.labels for one in label.split(SEVERAL)):
            raise DataError(
                f"texts stand alone in what is predicted; {text[:40]!r} begins with a label and a "
                "tab. Score such a file with: headway evaluate RUN --corpus FILE; or cut labels "
                "off: cut -f2-"
            )

    def answer(self, text: str, probs: Float[np.ndarray, " labels"], top: int) -> Answer:
        """Of one text."""
        vocabulary = self.opened.vocabulary
        likeliest = self.likeliest(probs, top)
        label = said = likeliest[0]["label"]
        if vocabulary.facts.get("several"):
            label = [vocabulary.labels[i] for i in np.flatnonzero(probs > 0.5)]
            said = SEVERAL.join(label)
        each = " ".join(f"{one['label']} {one['prob']:.4f}" for one in likeliest)
        told = {"text": text, "label": label, "labels": likeliest}
        line = " ".join(text.splitlines())
        return Answer(f"{said}\t{each}\t{line}", told)


def evaluated(run: Path, files: Sequence[Path]) -> LabelScores:
    """How often a run is right on labelled files.

    Raises DataError for a label that it does not know, and what `refuse_several` does.
    """
    settings, vocabulary, model, _ = TextClassifier.load(run).opened
    rows = read_labelled(files, settings.data)
    refuse_unknown(rows, vocabulary.labels, "texts that a run is scored on")
    if not vocabulary.facts.get("several"):
        refuse_several(rows)
    return scored(model, vocabulary, examples_of(rows, vocabulary, settings.data.max_length))

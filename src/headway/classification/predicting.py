"""What a run of text classification says of texts, and how often it is right."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from headway.classification.reading import read_labelled
from headway.classification.spec import SPEC
from headway.core.errors import DataError
from headway.core.runtime import Device
from headway.labelling.predictions import Answer, Asked
from headway.labelling.scores import LabelScores, one_label_scores
from headway.labelling.task import Example, padded
from headway.runs.loading import LoadedRun, open_run

AT_ONCE = 64


class TextClassifier(NamedTuple):
    """A `headway.labelling.predictions.Predictor`."""

    opened: LoadedRun

    @classmethod
    def load(
        cls, run: Path, *, device: Device = "auto", precision: str = "auto"
    ) -> "TextClassifier":
        """Open a run; it computes in float32 whatever the `precision`."""
        return cls(open_run(SPEC, run, device=device, training=False))

    @torch.inference_mode()
    def probabilities(self, texts: Sequence[str]) -> Float[np.ndarray, "texts labels"]:
        """Of each label, for each text."""
        settings, vocabulary, model, device = self.opened
        rows = vocabulary.encode_batch(texts, settings.data.max_length)
        found = []
        for first in range(0, len(rows), AT_ONCE):
            some = [Example(np.array(row), 0) for row in rows[first : first + AT_ONCE]]
            ids = padded(some, vocabulary.special.padding).to(device)
            found.append(model(ids).float().softmax(-1).cpu())
        return torch.cat(found).double().numpy()

    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        """Label and probability of each text."""
        labels = self.opened.vocabulary.labels
        while texts := [*islice(lines, AT_ONCE)]:
            for text, probs in zip(texts, self.probabilities(texts), strict=True):
                best = np.argsort(-probs, kind="stable")[: asked.top or None]
                likeliest = [(labels[i], float(probs[i])) for i in best]
                shown = "\t".join(f"{label} {p:.4f}" for label, p in likeliest)
                told = {"text": text, "labels": [{"label": n, "prob": p} for n, p in likeliest]}
                yield Answer(f"{shown}\t{text}", told)


def evaluated(run: Path, files: Sequence[Path]) -> LabelScores:
    """How often a run is right on labelled files."""
    classifier = TextClassifier.load(run)
    labels = classifier.opened.vocabulary.labels
    rows = read_labelled(files)
    unknown = sorted({row.labels[0] for row in rows} - {*labels})
    if unknown:
        raise DataError(
            f"a run is scored on labels that it knows; {unknown[0]!r} is none of them "
            f"({', '.join(labels)}). Leave such lines out, or train on them."
        )
    there = np.array([labels.index(row.labels[0]) for row in rows])
    return one_label_scores(there, classifier.probabilities([row.text for row in rows]), labels)
